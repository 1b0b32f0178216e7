"""The small words of languages: those that open a clause, those that join, and those that lead what follows. Data only.

Lower case, without a trailing apostrophe. They tell where a text without punctuation bears a cut, and which language it
is in; a word that is missing costs little.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class FunctionWords:
    """openers: a clause begins with them, such as "because". joiners: "and", before a clause or a mere word. leading:
    articles, prepositions and pronouns, which belong to the word behind them. others: verbs and the like, which tell the
    language only."""

    openers: frozenset[str]
    joiners: frozenset[str]
    leading: frozenset[str]
    others: frozenset[str]

    @cached_property
    def leads(self) -> frozenset[str]:
        return self.openers | self.joiners | self.leading

    @cached_property
    def all(self) -> frozenset[str]:
        return self.leads | self.others


def _words(openers: str, joiners: str, leading: str, others: str) -> FunctionWords:
    return FunctionWords(*(frozenset(text.split()) for text in (openers, joiners, leading, others)))


FUNCTION_WORDS: dict[str, FunctionWords] = {
    "en": _words(
        "then which who whom whose that because but while when whenever where wherever if although though until "
        "unless since after before as whereas so yet however therefore whether why how meanwhile afterwards "
        "otherwise",
        "and or nor plus",
        "the a an this these those of in on at by to from with without into onto over under about between through "
        "for during against toward towards i you he she it we they my your his her its our their some any every",
        "is are was were be been has have had do does did will would can could shall should may might must not no "
        "very there's",
    ),
    "de": _words(
        "dass weil aber denn sondern wenn als während obwohl nachdem bevor bis damit ob wo wohin woher wie warum "
        "dann danach was deshalb daher trotzdem sobald falls welcher welche welches doch jedoch",
        "und oder sowie",
        "der die das den dem des ein eine einen einem einer eines kein keine im in an am auf aus bei beim mit nach "
        "seit von vom zu zum zur für durch gegen ohne um über unter vor hinter zwischen ich du er sie es wir ihr "
        "mein dein sein unser",
        "ist sind bin bist war waren wird werden hat haben hatte nicht sehr auch noch sich",
    ),
    "fr": _words(
        "que qui dont où parce mais car quand lorsque si comme puisque tandis pendant puis ensuite alors donc "
        "quoique afin avant après pourtant cependant",
        "et ou ni",
        "le la les un une des du de d au aux à l en dans sur sous par pour avec sans chez vers entre contre je tu "
        "il elle on nous vous ils elles ce cette ces cet mon ma mes ton son sa ses notre leur leurs",
        "est sont était a ont avait ne pas très se plus",
    ),
    "es": _words(
        "que quien quienes cuyo porque pero sino cuando mientras aunque si como donde entonces luego después antes "
        "pues para hasta desde",
        "y e o u ni",
        "el la los las un una unos unas de del a al en con sin por sobre entre contra hacia yo tú él ella nosotros "
        "ellos ellas mi mis tu su sus nuestro este esta estos estas ese esa se lo le me",
        "es son era fue está están ha han había no muy más",
    ),
    "it": _words(
        "che chi cui perché ma però quando mentre se come dove poi quindi allora dopo prima sebbene finché poiché "
        "anche",
        "e ed o oppure né",
        "il lo la i gli le un uno una di del dello della dei degli delle a al allo alla ai agli alle da dal dalla "
        "in nel nella nei con su sul sulla per tra fra io tu lui lei noi voi loro mio mia tuo suo sua questo "
        "questa si",
        "è sono era erano ha hanno aveva non molto più",
    ),
    "pt": _words(
        "que quem cujo porque mas quando enquanto se como onde então depois antes pois até logo",
        "e ou nem",
        "o a os as um uma uns umas de do da dos das em no na nos nas ao à aos por pelo pela para com sem sobre "
        "entre eu tu ele ela nós eles elas meu minha seu sua este esta isso lhe",
        "é são era foi está estão há tinha não muito mais",
    ),
    "nl": _words(
        "dat die omdat maar want toen als terwijl hoewel nadat voordat totdat zodat of waar waarom hoe dan daarna "
        "daarom wie wanneer",
        "en ofwel",
        "de het een deze dit van in op aan bij met naar uit voor door over onder tegen tussen zonder om te ik jij "
        "je hij zij ze wij we jullie mijn zijn haar ons onze is",
        "was waren heeft hebben had wordt niet geen zeer er",
    ),
    "sv": _words(
        "att som eftersom men när medan om fast innan sedan då där varför hur därför så",
        "och eller samt",
        "en ett den det de i på av till från med utan för vid under över mellan mot jag du han hon vi ni min din sin",
        "är var har hade ska inte mycket",
    ),
    "da": _words(
        "at som fordi men når mens hvis før siden da hvor hvorfor hvordan derfor så der",
        "og eller samt",
        "en et den det de i på af til fra med uden for ved under over mellem mod jeg du han hun vi min din sin",
        "er var har havde skal ikke meget",
    ),
    "no": _words(
        "at som fordi men når mens hvis før siden da hvor hvorfor hvordan derfor så",
        "og eller samt",
        "en et ei den det de i på av til fra med uten for ved under over mellom mot jeg du han hun vi min din sin",
        "er var har hadde skal ikke veldig",
    ),
    "fi": _words(
        "että joka jotka koska mutta kun jos vaikka ennen sitten missä miksi miten jonka niin",
        "ja tai sekä eli",
        "minä sinä hän me te he se ne tämä en",
        "ei on oli ovat olivat hyvin kanssa",
    ),
    "pl": _words(
        "że żeby który która które którzy bo ale gdy kiedy jeśli jeżeli ponieważ dopóki zanim potem więc gdzie jak "
        "choć aby",
        "i oraz lub albo a",
        "w we z ze na do od po pod nad przed przez dla o u przy bez między ja ty on ona ono my wy oni to ten ta te",
        "nie się jest są był była było bardzo",
    ),
    "cs": _words(
        "že aby který která které protože ale když jestli pokud než potom kde jak ačkoli zatímco",
        "a i nebo ani",
        "v ve z ze na do od po pod nad před pro o u při bez mezi s se k já ty on ona ono my vy oni to ten ta ty",
        "ne je jsou byl byla bylo velmi si",
    ),
    "hu": _words(
        "hogy mert de amikor ha bár míg mielőtt miután ahol aki ami amely akkor aztán ezért pedig",
        "és vagy meg",
        "a az egy én te ő mi ti ők ez",
        "nem van volt voltak nagyon is",
    ),
    "ro": _words(
        "că să care pentru dar când dacă deși până apoi unde cum fiindcă deoarece iar",
        "și sau ori",
        "un o la în din de pe cu fără prin spre între eu tu el ea noi voi ei ele al ale",
        "este sunt era au a nu se foarte",
    ),
    "tr": _words(
        "çünkü ama fakat ancak ki eğer sonra oysa yani",
        "ve veya ya hem",
        "bir bu şu o ben sen biz siz onlar",
        "çok daha her gibi",
    ),
    "id": _words(
        "yang karena tetapi tapi ketika saat jika kalau walaupun sebelum setelah kemudian lalu sehingga bahwa agar",
        "dan atau serta",
        "di ke dari pada untuk dengan tanpa oleh dalam ini itu saya kamu dia kami kita mereka",
        "tidak sudah akan sangat",
    ),
    "vi": _words(
        "nhưng vì khi nếu mà rồi thì trong sau trước để nên cho",
        "và hoặc hay",
        "của ở với từ đến tôi bạn anh chị nó chúng họ này đó một các những",
        "là không đã sẽ rất được",
    ),
    "ru": _words(
        "что чтобы который которая которое которые которого потому но когда если пока хотя потом затем поэтому где "
        "куда как после прежде однако так",
        "и а или либо",
        "в во на с со к ко от из за по под над при про для без до о об у между через я ты он она оно мы вы они его "
        "её их мой твой свой этот эта это эти",
        "был была было были не ни очень",
    ),
    "uk": _words(
        "що щоб який яка яке які тому але коли якщо поки хоча потім де як після однак",
        "і й та або чи",
        "в у на з із зі до від за по під над при про для без о об між через я ти він вона воно ми ви вони його її "
        "їх цей ця це ці",
        "був була було були не дуже",
    ),
    "bg": _words(
        "че който която което които защото но когато ако докато преди после затова където как",
        "и или",
        "в във на с със към от из за по под над при без до между през аз ти той тя то ние вие те",
        "се си е са беше не много",
    ),
    "el": _words(
        "που ότι πως γιατί αλλά όταν αν ενώ επειδή αφού πριν μετά τότε ώστε όπου",
        "και κι ή",
        "ο η το οι τα του της των τον την σε στο στη στην από με για χωρίς εγώ εσύ αυτός αυτή",
        "είναι ήταν έχει δεν να θα πολύ",
    ),
    "ar": _words(
        "الذي التي الذين لأن لكن ولكن عندما حيث إذا لو ثم حتى بينما أن كما",
        "و أو",
        "في من إلى على عن مع هذا هذه ذلك تلك هو هي هم نحن أنا ما كل",
        "كان كانت قد لا لم لن",
    ),
    "he": _words(
        "כי אבל אם כאשר כש אז לכן אשר למרות עד",
        "ו או גם",
        "של את על אל עם מן זה זו הוא היא הם אני אנחנו כל",
        "היה לא",
    ),
    "hi": _words(
        "कि जो लेकिन मगर क्योंकि जब तब अगर यदि तो जिसने जिसका जहाँ फिर इसलिए ताकि",
        "और या तथा एवं",
        "यह वह ये वे मैं तुम हम आप एक इस उस",
        "नहीं बहुत",
    ),
    "fa": _words(
        "که زیرا اما ولی وقتی اگر تا سپس چون بنابراین",
        "و یا",
        "در از به با بر برای این آن من تو او ما شما هر",
        "است بود نه",
    ),
}
# Between words that no space parts: a clause begins before these, or ends behind those.
UNSPACED_OPENERS = (
    "然后 然後 但是 可是 不过 不過 因为 因為 所以 而且 并且 並且 如果 虽然 雖然 于是 於是 接着 接著 后来 後來 因此 同时 同時 另外 或者 以及 还有 還有 "
    "那么 那麼 そして それから しかし だから けれども แต่ เพราะ ดังนั้น และ ซึ่ง แล้วก็"
).split()
UNSPACED_CLOSERS = "から ので けど けれど のに ながら".split()
# Korean words that end so are followed by another clause.
KOREAN_CLOSERS = "지만 는데 은데 면서 니까 어서 아서 해서 으며 하고 되고 려고 도록 다가".split()
