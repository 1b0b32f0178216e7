"""Sentences to read aloud for a reference: about ten seconds each, everyday words, many of the language's sounds.

Written for this project, neutral in content, so that a recorded voice says nothing its owner would not say.
"""

from __future__ import annotations

import math
import os

from .pace import estimate_seconds

SENTENCES_TO_READ: dict[str, tuple[str, ...]] = {
    "en": (
        "On Thursday morning I usually walk through the old park, watch the ducks by the bridge, and choose a quiet"
        " bench where I can enjoy my tea before the busy day begins.",
        "My neighbour fixes bicycles in a small garage, and whenever the weather is pleasant he leaves the door "
        "wide open, so the whole street hears his cheerful radio.",
        "We measured the kitchen twice, yet the new shelf was still a thumb too short; finally we just moved the "
        "jars, and oddly enough it looks better now.",
    ),
    "de": (
        "Am frühen Nachmittag ging ich zum Fluss hinunter, hörte den Fröschen zu und überlegte, ob das schöne "
        "Wetter wohl noch bis zum nächsten Wochenende bleibt.",
        "Meine Nachbarin backt jeden Freitag Brötchen mit Kürbiskernen, und der Duft zieht so kräftig durch das "
        "ganze Treppenhaus, dass auch die Jüngsten freiwillig früh aufstehen.",
        "Zwischen den Büchern fand ich gestern einen alten Zettel mit einer Zeichnung: ein Haus, ein Apfelbaum und "
        "zwei Vögel, die vergnügt auf dem Dach sitzen.",
    ),
    "fr": (
        "Chaque dimanche, je traverse le jardin public avec un bon livre, je choisis un banc à l'ombre et j'écoute "
        "les oiseaux jusqu'à ce que le soleil passe derrière les toits.",
        "Ma voisine prépare une soupe aux légumes qui embaume tout l'immeuble ; hier, elle m'en a offert un grand "
        "bol, avec du pain frais et un peu de beurre.",
        "Nous avons pris le train de huit heures quinze, puis longé la rivière à vélo, et le soir, fatigués mais "
        "heureux, nous avons joué aux cartes.",
    ),
    "es": (
        "Los jueves por la mañana paseo junto al río, saludo a los vecinos y compro fruta en el mercado pequeño que"
        " hay detrás de la iglesia antes de volver a casa.",
        "Mi abuelo guardaba en el garaje una bicicleta roja, un paraguas viejo y una caja llena de fotografías que "
        "nadie se había atrevido a ordenar hasta ayer.",
        "Cuando llueve mucho, el perro se esconde debajo de la mesa, el agua golpea los cristales y nosotros "
        "preparamos chocolate caliente para todos.",
    ),
    "it": (
        "Ogni giovedì mattina passeggio lungo il fiume, saluto i vicini e compro le arance al piccolo mercato "
        "dietro la chiesa, prima di tornare a casa con calma.",
        "Mia zia conserva in soffitta una bicicletta azzurra, molti vecchi giornali e una scatola piena di "
        "fotografie che nessuno aveva mai messo in ordine.",
        "Quando piove forte, il gatto si nasconde sotto il tavolo, l'acqua batte sui vetri e noi prepariamo una "
        "cioccolata calda per gli ospiti.",
    ),
    "pt": (
        "Às quintas-feiras de manhã caminho junto ao rio, cumprimento os vizinhos e compro laranjas no pequeno "
        "mercado atrás da igreja antes de voltar para casa.",
        "A minha avó guardava no sótão uma bicicleta verde, muitos jornais antigos e uma caixa cheia de fotografias"
        " que ninguém tinha organizado até ontem.",
        "Quando chove muito, o cão esconde-se debaixo da mesa, a água bate nas janelas e nós preparamos chocolate "
        "quente para toda a gente.",
    ),
    "nl": (
        "Op donderdagochtend wandel ik graag langs de rivier, groet ik de buren en koop ik verse sinaasappels op de"
        " kleine markt achter de kerk voordat ik naar huis ga.",
        "Mijn oom bewaarde in de schuur een blauwe fiets, een heleboel oude kranten en een doos vol foto's die tot "
        "gisteren nog niemand had uitgezocht.",
    ),
    "pl": (
        "W czwartek rano lubię spacerować wzdłuż rzeki, pozdrawiam sąsiadów i kupuję świeże jabłka na małym targu "
        "za kościołem, zanim wrócę do domu.",
        "Moja ciocia trzymała na strychu niebieski rower, mnóstwo starych gazet i pudełko pełne zdjęć, których do "
        "wczoraj nikt nie chciał uporządkować.",
    ),
    "ru": (
        "В четверг утром я люблю гулять вдоль реки, здороваюсь с соседями и покупаю свежие яблоки на маленьком "
        "рынке за углом, прежде чем вернуться домой.",
        "Моя тётя хранила на чердаке голубой велосипед, много старых газет и большую коробку с фотографиями, "
        "которые до вчерашнего дня никто не разбирал.",
    ),
    "tr": (
        "Perşembe sabahları nehir boyunca yürümeyi severim, komşulara selam veririm ve eve dönmeden önce köşedeki "
        "küçük pazardan taze portakal alırım.",
        "Teyzem tavan arasında mavi bir bisiklet, bir yığın eski gazete ve düne kadar kimsenin düzenlemediği "
        "fotoğraflarla dolu bir kutu saklıyordu.",
    ),
    "ja": (
        "木曜日の朝は、川沿いの道をゆっくり歩いて、近所の人に挨拶をしながら、小さな市場で新鮮な果物を買ってから家に帰ります。",
        "雨が強く降る日は、猫がテーブルの下に隠れ、窓をたたく水の音を聞きながら、家族みんなで温かいお茶を飲んで過ごします。",
        "先週、押し入れの奥から古い写真の箱が出てきたので、祖母と一緒に一枚ずつ眺めて、昔の話をたくさん聞きました。",
    ),
    "zh": (
        "每个星期四的早晨，我喜欢沿着河边慢慢散步，跟邻居们打个招呼，然后去小市场买一些新鲜的水果再回家。",
        "下大雨的时候，小猫总是躲在桌子底下，雨水敲着窗户，我们就坐在厨房里喝热茶，听奶奶讲从前的故事。",
        "上个周末，我们坐早班火车去山里，爬了两个小时的石阶，中午在树荫下吃面包，傍晚才高高兴兴地回来。",
    ),
    "ko": (
        "목요일 아침이면 강가를 천천히 걸으면서 이웃들에게 인사를 하고, 작은 시장에서 싱싱한 과일을 조금 산 다음"
        " 집으로 돌아옵니다.",
        "비가 많이 오는 날에는 고양이가 책상 밑에 숨고, 우리는 따뜻한 차를 마시면서 창문을 두드리는 빗소리를"
        " 오랫동안 듣습니다.",
        "지난주에 할머니 댁에서 오래된 사진 상자를 찾았는데, 한 장씩 꺼내 보면서 옛날 이야기를 아주 많이 들었습니다.",
    ),
    "ar": (
        "في صباح كل يوم خميس أحب أن أمشي قرب النهر، وأسلم على الجيران، ثم أشتري بعض الفاكهة الطازجة من السوق الصغير"
        " قبل أن أعود إلى البيت.",
        "عندما يهطل المطر بغزارة تختبئ القطة تحت الطاولة، ونجلس نحن في المطبخ نشرب الشاي الساخن ونستمع إلى حكايات "
        "جدتي القديمة.",
    ),
    "hi": (
        "हर गुरुवार की सुबह मैं नदी के किनारे धीरे-धीरे टहलता हूँ, पड़ोसियों से बातें करता हूँ और घर लौटने से पहले "
        "छोटे बाज़ार से ताज़े फल ख़रीदता हूँ।",
        "जब ज़ोर से बारिश होती है, तब बिल्ली मेज़ के नीचे छिप जाती है और हम सब रसोई में बैठकर गरम चाय पीते हुए दादी"
        " की पुरानी कहानियाँ सुनते हैं।",
    ),
}

# For models that follow a few seconds of a voice only: about five seconds each.
_SHORT: dict[str, tuple[str, ...]] = {
    "en": (
        "On Thursday I walk through the old park, choose a quiet bench, and enjoy a cup of tea.",
        "My neighbour fixes bicycles in a small garage, and the whole street hears his radio.",
        "We measured the kitchen twice, yet the new shelf was still a thumb too short for it.",
    ),
}


def languages() -> list[str]:
    """Codes of the languages there are sentences for, in the order above."""
    return list(SENTENCES_TO_READ)


def sentences_to_read(language: str | None = None, longest: float = math.inf) -> tuple[str, ...]:
    """Sentences for a code like "de", "pt-BR" or "zh_CN.UTF-8"; None takes the system's; an unknown one English.

    longest: seconds of a voice that the model follows. Where these are few, the sentences are short, as far as the
    language has such."""
    if language is None:
        language = next((os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), "en")
    code = language.replace("-", "_").split(".")[0].split("_")[0].lower()
    usual = SENTENCES_TO_READ.get(code, SENTENCES_TO_READ["en"])
    if any(estimate_seconds(sentence) <= longest for sentence in usual):
        return usual
    return _SHORT.get(code if code in SENTENCES_TO_READ else "en", usual)
