"""Questions and answers: what the model is told, what is spoken, and both models on one thread."""

import threading

import pytest

from s2mlx import SpeechInput
from s2mlx.errors import ModelError
from s2mlx.language import Chat
from s2mlx.worker import Closed
from tests.synthetic import make_model

from ..fakes import FakeSynthesizer
from .conftest import TOKENIZER
from .scripted import ScriptedModel


@pytest.fixture
def chat(monkeypatch):
    """chat(answer, ...) -> a conversation, its model and a voice that is no model."""

    def use(*answers, voice=None, **how):
        model = ScriptedModel(*answers)
        monkeypatch.setattr("s2mlx.language.chat.LanguageModel", lambda path: model)
        return Chat(voice or FakeSynthesizer(), "any", **how), model

    return use


def words(spoken):
    return "".join(piece for piece in spoken.take().pieces if piece is not None)


def test_words_go_to_the_voice_as_they_are_written(chat):
    talk, _ = chat("**One** two.\n```\nx\n```\nThree.")
    spoken = SpeechInput()
    written = talk.ask("Count.", spoken).written
    shown, heard = "", ""
    for part in written:
        shown += part.text
        heard += words(spoken)
        if shown == "**One** two.\n":
            assert heard.startswith("One two.")
    came = spoken.take()
    assert came.ended and came.fault is None
    assert shown == "**One** two.\n```\nx\n```\nThree." and (heard + words(spoken)).split() == ["One", "two.", "Three."]


def test_a_stopped_answer_is_kept_as_far_as_it_went(chat):
    talk, model = chat("One two three.", "Yes.")
    cancel, spoken = threading.Event(), SpeechInput()
    for part in talk.ask("Count.", spoken, cancel=cancel).written:
        if part.text == "w":
            cancel.set()
    assert spoken.take().ended
    list(talk.ask("Go on.", SpeechInput()).written)
    assert [each["content"] for each in model.asked[-1].messages[-3:]] == ["Count.", "One tw", "Go on."]


def test_a_voice_that_has_gone_ends_the_writing(chat):
    talk, _ = chat("One two. Three four.")
    spoken = SpeechInput()
    spoken.leave()
    assert "".join(part.text for part in talk.ask("Count.", spoken).written) in ("", "O")
    with pytest.raises(Closed):
        spoken.write("more")


def test_each_answer_has_a_seed_of_its_own(chat):
    talk, model = chat("One.", "Two.", seed=5)
    for _ in range(2):
        list(talk.ask("Count.", SpeechInput()).written)
    assert len({asked.seed for asked in model.asked}) == 2


def test_stage_directions_are_for_voices_that_take_them(chat, monkeypatch):
    from dataclasses import replace

    voice = FakeSynthesizer()
    voice.config = replace(voice.config, tags=False)
    for talk, told in ((chat("A.")[0], True), (chat("A.", voice=voice)[0], False)):
        assert ("[laughing]" in talk._messages[0]["content"]) == told
    talk, model = chat("A.", system="")
    list(talk.ask("Hi.", SpeechInput()).written)
    assert [each["role"] for each in model.asked[0].messages] == ["user"]


@pytest.fixture(scope="module")
def voice(tmp_path_factory):
    import s2mlx

    path = make_model(tmp_path_factory.mktemp("voice") / "tiny.gguf", context=2048)
    with s2mlx.load(path, tokenizer=TOKENIZER) as tts:
        yield tts


def test_both_models_on_one_thread(voice, tiny):
    talk = Chat(voice, tiny, temperature=1.0, max_tokens=60, seed=3)
    for question in ("Who is there?", "And now?"):
        spoken, shown = SpeechInput(), []
        answer = talk.ask(question, spoken, lead=lambda: 2.0)
        reader = threading.Thread(target=lambda shown=shown, answer=answer: shown.extend(answer.written))
        reader.start()
        chunks = []
        for chunk in voice.stream(spoken, min_frames=2, max_frames=3):
            answer.heard(chunk.span[1])
            chunks.append(chunk)
        reader.join(60)
        assert shown[-1].finish_reason in ("stop", "length") and "".join(part.text for part in shown)
        assert chunks[-1].span[1] == spoken.characters > 0
        assert talk._messages[-1] == {"role": "assistant", "content": "".join(part.text for part in shown)}


def test_a_model_that_cannot_be_read_leaves_the_voice_as_it_was(voice, tmp_path):
    pytest.importorskip("mlx_lm", reason="needs mlx-lm: pip install 's2mlx[lm]'")
    with pytest.raises(ModelError, match="cannot load the language model"):
        Chat(voice, tmp_path)
    assert voice.say("Hello.", min_frames=2, max_frames=2).seconds > 0
