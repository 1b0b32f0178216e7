"""Sentences to read aloud for a voice: about ten seconds each, varied in sounds and melody. Text only."""

from __future__ import annotations

LANGUAGES = {
    "en": "English", "de": "Deutsch", "fr": "Français", "es": "Español", "it": "Italiano", "pt": "Português",
    "nl": "Nederlands", "zh": "中文", "ja": "日本語", "ko": "한국어",
}

SENTENCES = {
    "en": ("The harbour was quiet before dawn. A young fisherman checked his ropes, whistled for the dog, and asked "
           "himself whether the storm had really passed.",
           "Would you believe it? Just beyond the garden wall we found a huge orange pumpkin, three dusty chairs, and a "
           "jar of very good jam."),
    "de": ("Vor dem Morgengrauen lag der Hafen ganz still. Ein junger Fischer prüfte seine Leinen, pfiff nach dem Hund und "
           "fragte sich, ob der Sturm wirklich vorüber war.",),
    "fr": ("Avant l'aube, le port était silencieux. Un jeune pêcheur vérifia ses cordages, siffla son chien et se demanda "
           "si la tempête était vraiment passée.",),
    "es": ("Antes del amanecer el puerto estaba en silencio. Un joven pescador revisó sus cuerdas, llamó al perro y se "
           "preguntó si la tormenta había pasado de verdad.",),
    "it": ("Prima dell'alba il porto era silenzioso. Un giovane pescatore controllò le corde, fischiò al cane e si chiese "
           "se la tempesta fosse davvero passata.",),
    "pt": ("Antes do amanhecer, o porto estava em silêncio. Um jovem pescador verificou as cordas, chamou o cão e "
           "perguntou-se se a tempestade tinha mesmo passado.",),
    "nl": ("Voor zonsopgang was het stil in de haven. Een jonge visser controleerde zijn touwen, floot naar de hond en vroeg "
           "zich af of de storm echt voorbij was.",),
    "zh": ("天亮之前，港口十分安静。年轻的渔夫检查了绳子，吹口哨叫来小狗，心里想着：暴风雨真的过去了吗？",),
    "ja": ("夜明け前の港はとても静かでした。若い漁師はロープを確かめ、口笛で犬を呼び、嵐は本当に過ぎ去ったのだろうかと考えました。",),
    "ko": ("동이 트기 전 항구는 아주 조용했습니다. 젊은 어부는 밧줄을 살펴보고 휘파람으로 개를 부르며, 폭풍이 정말 지나갔는지 궁금해했습니다.",),
}


def sentence(language: str, turn: int = 0) -> str:
    """A sentence of that language, English when there is none; `turn` walks through them."""
    of = SENTENCES.get(language, SENTENCES["en"])
    return of[turn % len(of)]
