"""Words for the sentence templates of text.py: everyday English, our own choice."""


def _w(text):
    return text.split()


def _p(text):
    return [x.strip() for x in text.split("|")]


LISTS = dict(
    PER=_w("I we they you"),
    NAME=_w(
        "Anna Tom Mary John Lucy Peter Sara Mark Emma David Julia Paul Kate Henry Nora Frank Rose Adam Claire George "
        "Alice Simon Helen Oscar Laura Martin Susan Robert Linda James Karen Daniel Sophie Michael Elena Thomas"
    ),
    FAM=_p(
        "my brother|my sister|the teacher|the farmer|her uncle|our neighbor|the baker|his father|the doctor|my cousin|the "
        "driver|the captain|the singer|a young man|the old woman|the little girl|the boy|the artist|the cook|the "
        "sailor|her mother|the student|the nurse|the painter|my friend|our aunt|the waiter|the manager|the children|"
        "my parents|the visitors|the gardener|her husband|his wife|their son|your daughter|the engineer|somebody|nobody"
    ),
    ADJ=_w(
        "small large big red green blue yellow white black grey brown old new warm cold quiet loud bright dark heavy light soft "
        "hard clean fresh sweet long short tall wide narrow round square smooth rough quick slow simple strange gentle "
        "brave cheap fine thin thick deep empty full early happy lovely broken golden silver wooden plain rich rare "
        "sharp steady beautiful difficult different important interesting modern dirty expensive friendly funny "
        "careful wet dry young good bad great nice perfect special terrible useful wonderful favorite closed open"
    ),
    OBJ=_w(
        "box chair table lamp book letter cup plate spoon knife bottle basket bag coat hat shoe shirt ring watch clock "
        "phone radio map picture door window key wheel boat bicycle train bus car truck bridge house garden fence tree "
        "flower leaf apple orange lemon peach cherry potato carrot onion cake pie bread cheese butter egg fish chicken "
        "soup salad sandwich horse dog cat bird mouse sheep goat cow duck rabbit fox bear wolf frog turtle stone rock "
        "shell feather rope ladder hammer nail brush pencil paper pillow blanket candle mirror drum piano guitar violin "
        "bell ball kite puzzle toy coin stamp ticket package engine magnet camera model computer movie newspaper "
        "sweater jacket umbrella kitchen floor roof wall street message present question answer story song voice sound "
        "machine paint sugar salt rice breakfast dinner lunch glass pan path bench boot button carpet chain circle cloth "
        "corner cottage desk drawer dress field flag glove handle island kettle kitten lake magazine meal moon needle "
        "notebook oven page pocket pond pool river road rose sand scarf screen shelf shop sign sister soap sofa star step "
        "stove sun towel tower tunnel vegetable village wagon waterfall wheat wing yard ice snow grass coffee"
    ),
    PLU=_w(
        "boxes chairs books letters cups plates bottles bags shoes keys wheels boats trains trees flowers leaves apples "
        "oranges lemons peaches cherries potatoes carrots onions eggs horses dogs cats birds mice sheep ducks stones "
        "shells ropes nails pencils pillows candles drums bells kites coins stamps tickets clouds stars mountains "
        "rivers roads villages windows gardens songs stories pictures questions answers minutes hours days weeks months "
        "years people friends neighbors visitors machines tables lamps shirts gloves pages words streets shops"
    ),
    PLACE=_p(
        "the market|the store|the park|the beach|the river|the lake|the school|the station|the library|the kitchen|the "
        "office|the garden|the museum|the village|the city|the mountain|the harbor|the island|the forest|the farm|the "
        "bakery|the theater|the airport|the valley|the hotel|the church|the bank|the corner|the yard|the bridge|the "
        "hill|the sea|the restaurant|the hospital|the post office|the bus stop|the street|the house|the bathroom"
    ),
    TIME=_p(
        "today|tomorrow|tonight|this morning|this evening|every day|on Monday|on Tuesday|on Wednesday|on Thursday|on "
        "Friday|on Saturday|on Sunday|next week|in the afternoon|after lunch|before dinner|at noon|in the winter|in the "
        "summer|all day long|right now|once again|at seven o'clock|in an hour|later|last year|yesterday|in the spring|"
        "this afternoon|next month|in May|at night|every week|soon|at half past eight|in ten minutes|for two weeks"
    ),
    VP=_p(
        "carried|found|bought|sold|painted|opened|closed|moved|washed|fixed|lost|watched|dropped|borrowed|wanted|needed|"
        "liked|made|took|brought|kept|left|cleaned|touched|picked up|looked at|thought about|asked for|pointed at|pushed|"
        "pulled|lifted|shared|drew|measured|covered|hid|chose|saved|showed me|forgot|remembered|repaired|visited|heard|"
        "ordered|started|finished|loved|read|wrote|cooked|built|sent|received|threw away|paid for|talked about|stopped"
    ),
    VB=_w(
        "carry find buy sell paint open close move wash fix lose watch drop borrow want need like make take bring keep leave "
        "clean touch see hear order start finish read write cook build send show give tell help use hold change check "
        "choose count cut draw explain fill follow forget grow hide hit hope know learn lift love measure mention offer "
        "pack pass pay pick plan plant play pour prepare press print pull push put raise reach remember repair repeat "
        "replace save share sing spell stop study teach throw tie touch try turn understand visit wear"
    ),
    VI=_p(
        "walk|go|run|drive|ride|travel|come back|return|move|hurry|swim|sing|work|play|rest|meet|wait|study|stay|sleep|"
        "dance|jump|talk|listen|leave|arrive|begin|sit down|stand up|speak|laugh|smile|eat|drink|call you|help you"
    ),
    ING=_w(
        "walking running singing reading writing cooking cleaning painting swimming driving working playing waiting "
        "sleeping dancing talking laughing listening looking building growing sitting standing thinking fishing "
        "shopping smiling going coming leaving making getting moving raining eating drinking speaking learning"
    ),
    WEA=_w("nice cold warm sunny cloudy windy rainy foggy cool hot dry wet calm lovely terrible mild snowy icy"),
    NUM=_w(
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
        "nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred"
    ),
    DRINK=_p("coffee|tea|water|milk|juice|hot chocolate|lemonade|soup|cold water|green tea|apple juice"),
    ADV=_w(
        "slowly quickly quietly loudly carefully happily gently easily often always never really usually suddenly already "
        "almost probably finally certainly clearly simply perhaps again together alone outside inside early late soon"
    ),
    PREP=_p(
        "in|on|under|behind|in front of|near|next to|between|over|with|without|for|from|through|around|across|beside|above"
    ),
    POSS=_w("my your his her our their its the this that"),
    COL=_w("red green blue yellow white black grey brown orange purple pink"),
    MONTH=_w("January February March April May June July August September October November December"),
    DAY=_w("Monday Tuesday Wednesday Thursday Friday Saturday Sunday"),
)

TEMPLATES = """
The {ADJ} {OBJ} is in {PLACE}.
The {OBJ} is {ADV} {ADJ}.
The {ADJ} {OBJ} was {ADJ} and {ADJ}.
{FAM} {VP} the {ADJ} {OBJ}.
{FAM} {VP} {POSS} {OBJ} {TIME}.
{NAME} {VP} a {OBJ} and two {PLU}.
{PER} would like a cup of {DRINK}.
{PER} would like to {VB} the {OBJ}, please.
Would you like some {DRINK}, {NAME}?
Could you {VB} the {OBJ} for me?
Can you {VB} me {POSS} {OBJ}?
We are going to {PLACE} {TIME}.
They will {VI} to {PLACE} {TIME}.
I want to {VI} {TIME}.
I need to {VB} some {PLU} {TIME}.
Please {VI} with me {TIME}.
Please {VB} {POSS} {ADJ} {OBJ}.
The weather is {WEA} {TIME}.
It was a {WEA} and {WEA} day.
It will {ADV} be {WEA} {TIME}.
How are you {ING} {TIME}?
How is {FAM} doing {TIME}?
How many {PLU} do you have?
{NAME} is {ING} in {PLACE}.
{FAM} was {ING} {PREP} the {OBJ}.
They are {ING} {PREP} {PLACE}.
{FAM} sells {PLU} at {PLACE}.
There are {NUM} {PLU} on the {OBJ}.
There is a {ADJ} {OBJ} {PREP} {PLACE}.
I can see {NUM} {ADJ} {PLU}.
Please bring me the {ADJ} {OBJ}.
Please call {FAM} when you get to {PLACE}.
Thank you for the {ADJ} {OBJ}.
Thank you very much, {NAME}.
Hello {NAME}, and welcome to {PLACE}.
Hello, my name is {NAME}.
Hello, this is {NAME} from {PLACE}.
Good morning, {NAME}.
Good evening, {NAME}, how was the {OBJ}?
Where is the {ADJ} {OBJ}?
Where did {FAM} put the {PLU}?
When does the {OBJ} {VB}?
Why is the {OBJ} so {ADJ}?
What do you think of the {OBJ}?
What is {PREP} the {ADJ} {OBJ}?
Who {VP} my {OBJ}?
Do you have {NUM} {PLU}?
Do you know where {FAM} {VP} the {OBJ}?
This is a {ADJ} {OBJ}, and that is a {ADJ} {OBJ}.
My {OBJ} is {ADJ}, but your {OBJ} is {ADJ}.
The {PLU} near {PLACE} are {ADJ}.
{ADJ} {PLU} and {ADJ} {PLU}.
She {VP} {NUM} {PLU} {TIME}.
He {VP} the {OBJ} {ADV}.
He {ADV} {VP} {POSS} {OBJ}.
The {OBJ} fell into the {ADJ} {OBJ}.
If it is {WEA}, {PER} will {VI} {TIME}.
If you {VB} the {OBJ}, {FAM} will {VB} it.
When {FAM} {VP} the {OBJ}, we were {ING}.
{PER} could not find the {OBJ} in {PLACE}.
{PER} have never seen such a {ADJ} {OBJ}.
Put the {OBJ} {PREP} the {ADJ} {OBJ}.
Turn left at {PLACE}, then turn right.
I think the {OBJ} is too {ADJ}.
I do not know why {FAM} {VP} it.
I hope that {FAM} will {VI} {TIME}.
{NAME} and {NAME} like {ING} {TIME}.
It takes {NUM} minutes to {VI} home.
It takes {NUM} hours from {PLACE} to {PLACE}.
The train leaves at {NUM} o'clock.
The {OBJ} costs {NUM} dollars.
Tell me a story about the {ADJ} {OBJ}.
Can you hear the {OBJ}?
Let us {VI} before it gets {WEA}.
Let us {VB} the {OBJ} together.
Her {OBJ} was made of {ADJ} {OBJ}.
{FAM} has {NUM} {ADJ} {PLU}.
You should {VI} {ADV}.
You should {VB} the {OBJ} {TIME}.
No, {PER} did not see the {OBJ}.
Yes, the {PLU} are ready.
The number is {NUM} {NUM} {NUM}.
{POSS} {OBJ} is {COL} and {COL}.
{POSS} birthday is in {MONTH}.
We will meet on {DAY}, the {NUM} of {MONTH}.
{NAME} said that the {OBJ} is {ADJ}.
{FAM} told us to {VB} the {PLU}.
{PER} {VP} the {OBJ} because it was {ADJ}.
It is {ADJ} to {VB} a {OBJ}.
Nobody knows who {VP} the {OBJ}.
I have {NUM} {PLU} and a {OBJ}.
{FAM} does not like {ADJ} {PLU}.
Everything in {PLACE} was {ADJ}.
I am sorry, the {OBJ} is {ADJ}.
{PER} had a {ADJ} {OBJ} {PREP} {PLACE}.
""".strip().splitlines()

# X stands for any common word
SALADS = """
The X X was X.
X X X X.
X and X, X and X.
The X of the X X.
My X is X and X.
The X is not X.
I X the X X.
Do you X the X X?
This X was very X.
A X X with the X.
We X to the X X.
He said X and X.
From X to X and X.
They are X X X.
A X for your X X.
No X, X X.
She can X the X.
What is the X of X?
It will X the X X.
You have X and X X.
Her X and his X.
X X in the X.
There is a X X X.
All X are X.
If the X is X, X.
Why X the X X?
X X X X X.
Our X, X, and X.
One X by the X.
X by X, X by X.
X X X X X X.
X, X, X, X.
""".strip().splitlines()

# words (and beginnings of words) that our sentences do without
AVOID = [
    "porn",
    "sex",
    "fuck",
    "shit",
    "damn",
    "hell",
    "bitch",
    "cock",
    "dick",
    "cunt",
    "slut",
    "whore",
    "nude",
    "naked",
    "rape",
    "kill",
    "murder",
    "nazi",
    "hitler",
    "terror",
    "suicide",
    "drug",
    "cocaine",
    "gay",
    "lesbian",
    "nigg",
    "fag",
    "tits",
    "boob",
    "penis",
    "vagin",
    "cumm",
    "dead",
    "death",
    "gun",
    "bomb",
    "weapon",
    "blood",
    "slave",
    "jew",
    "muslim",
    "islam",
    "christ",
    "jesus",
    "attack",
    "abuse",
    "victim",
    "viol",
    "crim",
    "prison",
    "corpse",
    "cancer",
    "racis",
    "bastard",
    "crap",
    "piss",
    "nipple",
    "orgasm",
    "erotic",
    "breast",
    "incest",
    "pedo",
    "hate",
    "fascis",
    "genocid",
    "holocaust",
    "shoot",
    "shot",
    "stab",
    "trump",
    "biden",
    "putin",
    "obama",
    "israel",
    "gaza",
    "palest",
    "ukrain",
    "russia",
    "republican",
    "democrat",
]
AVOID_EXACT = set(["war", "wars", "ass", "asses", "god", "gods", "die", "died", "dies", "dying", "anal", "cum"])
