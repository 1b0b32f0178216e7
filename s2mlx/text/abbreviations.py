"""Words that a full stop follows without ending the sentence. Data only; lower case, without the last stop.

A missing sentence end costs nothing but a longer pass, a wrong one is heard as a pause: when in doubt a word is here.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Always followed by what they belong to: titles, "for example", "compare".
NEVER_LAST = _words("""
    mr mrs ms mx dr prof rev fr sr sra srta dra dras hon pres gov sen rep gen col maj capt cmdr adm lt sgt cpl pvt
    messrs mme mmes mlle
    med phil jur rer nat h.c al mgr st ste mt ft vs cf viz approx ca resp incl excl esp gov asst assoc dept univ
    e.g i.e eg ie
    z.b d.h u.a s.o s.u o.ä bzw vgl evtl ggf sog zzgl inkl exkl hr fr frl dipl ing str bd
    p.ex c.-à-d env tél boul
    d dª dña ud uds sres pág págs tel ej p.ej
    sig sig.ra sig.na dott dott.ssa avv arch prof.ssa es pag
    exmo exma av eng ex
    dhr mevr mej drs ir bijv o.a d.w.z m.b.t t.a.v
    hr fru bl.a t.ex f.eks d.v.s dvs
    ul pl np tzn tj m.in mgr inż hab ks
    tzv např resp doc
    sayın sn doç yrd bkz örn
    г гг ул пр просп пер пл д кв корп стр стор обл р рис табл см ср напр т.е т.н т.к акад проф доц им св тов гр ст
    вул буд кв див напр
    tp ts ths pgs gs bs ks
    डॉ श्री प्रो पं कु मो सं रु
    د أ م ا.د آ
    ดร ศ รศ ผศ นพ พญ พล.อ
    ค.ศ พ.ศ
    κ κα κος δρ π.χ δηλ βλ
""")

# End a sentence now and then: only when the next word is one that begins sentences.
SELDOM_LAST = _words("""
    inc ltd corp co bros llc plc jr esq phd ph.d m.d b.a m.a d.c u.s u.k u.n e.u a.m p.m a.d b.c ave blvd rd sq
    gmbh e.v str nachf geb verh gest
    s.a s.l s.r.l ee uu s.p.a
    и.о н.э
""")

# Followed by a number: "No. 5", "S. 12", "Jan. 3".
BEFORE_NUMBER = _words("""
    no nos nr núm num n p pp pg s ss f ff vol ch chap sec sect art abs fig figs eq ref tab ex op bd kap cap ver v
    jan feb mar apr jun jul aug sep sept oct nov dec okt dez ene abr ago dic janv févr avr juil août déc
    ст п с д кв корп рис табл № стр гл
""")

# English words that a count follows, not an ordinal: "He is 42." Languages that write ordinals with a full stop lack
# them.
BEFORE_COUNT = _words("""
    is are were be been of to the than about number chapter page room age aged over under by and or for only just
    with from until
    at on channel section part step level year day
""")

# Capitalised words that begin a sentence far more often than they are part of a name. Single letters are left out:
# they are initials as well.
STARTERS = frozenset(
    [
        "The",
        "This",
        "That",
        "These",
        "Those",
        "There",
        "Then",
        "They",
        "Their",
        "He",
        "She",
        "It",
        "Its",
        "We",
        "You",
        "Your",
        "But",
        "And",
        "So",
        "Or",
        "If",
        "When",
        "While",
        "What",
        "Where",
        "Why",
        "Who",
        "How",
        "His",
        "Her",
        "My",
        "Our",
        "In",
        "On",
        "At",
        "As",
        "After",
        "Before",
        "For",
        "From",
        "With",
        "Without",
        "Now",
        "Not",
        "Yes",
        "Yet",
        "Once",
        "Here",
        "Some",
        "Many",
        "Most",
        "Every",
        "Everyone",
        "Nobody",
        "Nothing",
        "Perhaps",
        "Maybe",
        "However",
        "Although",
        "Because",
        "Since",
        "Until",
        "During",
        "Let",
        "Do",
        "Did",
        "Does",
        "Is",
        "Are",
        "Was",
        "Were",
        "Can",
        "Could",
        "Would",
        "Der",
        "Die",
        "Das",
        "Er",
        "Sie",
        "Es",
        "Wir",
        "Ihr",
        "Ich",
        "Aber",
        "Und",
        "Oder",
        "Dann",
        "Da",
        "Doch",
        "Ein",
        "Eine",
        "Einer",
        "Im",
        "Auf",
        "Nach",
        "Als",
        "Wenn",
        "Was",
        "Wer",
        "Wie",
        "Wo",
        "Warum",
        "Diese",
        "Dieser",
        "Dieses",
        "Danach",
        "Heute",
        "Jetzt",
        "Nun",
        "Man",
        "Mit",
        "Vor",
        "Bei",
        "Le",
        "La",
        "Les",
        "Il",
        "Elle",
        "Ils",
        "Elles",
        "On",
        "Nous",
        "Vous",
        "Je",
        "Mais",
        "Et",
        "Ou",
        "Un",
        "Une",
        "Ce",
        "Cette",
        "Ces",
        "Puis",
        "Alors",
        "Dans",
        "Pour",
        "Quand",
        "El",
        "Los",
        "Las",
        "Ella",
        "Ellos",
        "Pero",
        "Una",
        "En",
        "Este",
        "Esta",
        "Entonces",
        "Cuando",
        "Por",
        "Para",
        "Yo",
        "Lo",
        "Gli",
        "Ma",
        "Poi",
        "Quando",
        "Questo",
        "Questa",
        "Os",
        "Mas",
        "Ele",
        "Ela",
        "Eles",
        "Um",
        "Uma",
        "Quando",
        "Então",
        "De",
        "Het",
        "Een",
        "Maar",
        "Hij",
        "Zij",
        "Wij",
        "Dan",
        "Toen",
        "Он",
        "Она",
        "Оно",
        "Они",
        "Мы",
        "Вы",
        "Но",
        "Это",
        "Этот",
        "Эта",
        "Там",
        "Тогда",
        "Потом",
        "Когда",
        "Если",
        "На",
        "По",
        "За",
        "Что",
        "Как",
        "Где",
        "Затем",
        "Теперь",
    ]
)
