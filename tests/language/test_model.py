"""A real model of mlx-lm, of random weights: prompts, the cache between answers, and what ends an answer."""

import pytest

from s2mlx.errors import GenerationError, ModelError
from s2mlx.language.model import LanguageModel

from .conftest import TEMPLATE, make_language_model

USER = {"role": "user", "content": "Who are you?"}
SYSTEM = {"role": "system", "content": "Be brief."}


def whole(model, messages, **how):
    return "".join(part.text for part in model.write(messages, **{"max_tokens": 12, **how}))


@pytest.fixture(scope="module")
def model(tiny):
    return LanguageModel(tiny)


def test_a_seed_gives_the_same_answer(model):
    hot = [whole(model, [USER], temperature=2.0, seed=seed) for seed in (1, 1, 2)]
    assert hot[0] == hot[1] != hot[2] and whole(model, [USER]) == whole(model, [USER])


def test_the_last_piece_says_why(model):
    parts = list(model.write([USER], max_tokens=3))
    assert [part.finish_reason for part in parts] == [None] * (len(parts) - 1) + ["length"] and len(parts) == 3

    def end(seen, logits):
        import mlx.core as mx

        return mx.where(mx.arange(logits.shape[-1]) == model.ends[0], 0.0, -mx.inf)[None]

    assert [part.finish_reason for part in model.write([USER], max_tokens=3, constraint=end)] == ["stop"]


def test_what_two_prompts_begin_with_is_computed_once(model, tiny, monkeypatch):
    import mlx_lm

    lengths, stream_generate = [], mlx_lm.stream_generate

    def counted(network, tokenizer, prompt, **how):
        lengths.append(len(prompt))
        return stream_generate(network, tokenizer, prompt, **how)

    monkeypatch.setattr(mlx_lm, "stream_generate", counted)
    answer = whole(model, [SYSTEM, USER])
    talk = [SYSTEM, USER, {"role": "assistant", "content": answer}, {"role": "user", "content": "And why?"}]
    second = whole(model, talk)
    third = whole(model, [SYSTEM, {"role": "user", "content": "Something else."}])
    fresh = LanguageModel(tiny)
    lengths_here = lengths[:]
    assert second == whole(fresh, talk)
    assert third == whole(LanguageModel(tiny), [SYSTEM, {"role": "user", "content": "Something else."}])
    assert lengths_here[1] < len(fresh._ids(talk)) - 10 and lengths_here[2] < lengths[4]


def test_it_stops_when_it_is_not_wanted(model):
    asked = iter([True] * 4)
    parts = list(model.write([USER], max_tokens=50, keep_going=lambda: next(asked, False)))
    assert 1 <= len(parts) < 5
    assert list(model.write([USER], max_tokens=50, keep_going=lambda: False)) == []
    assert whole(model, [USER]) == whole(model, [USER])  # what was begun does no harm


@pytest.mark.parametrize(
    "template",
    [None, "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}" + TEMPLATE],
)
def test_models_without_a_template_or_a_system_message(tmp_path, template):
    model = LanguageModel(make_language_model(tmp_path / "other", template))
    assert whole(model, [SYSTEM, USER])
    said = model.tokenizer.decode(model._ids([SYSTEM, USER]))
    assert "Be brief." in said and "Who are you?" in said


def test_a_template_that_fails_is_the_model_s_fault(tmp_path):
    model = LanguageModel(make_language_model(tmp_path / "other", "{{ raise_exception('broken') }}"))
    with pytest.raises(ModelError, match="chat template fails: broken"):
        whole(model, [USER])


def test_the_prompt_may_begin_a_thought(tmp_path, model, monkeypatch):
    assert not model.opens_thought([USER])
    thinking = LanguageModel(make_language_model(tmp_path / "thinks", TEMPLATE + "<think>\n"))
    monkeypatch.setattr(type(thinking.tokenizer), "think_start", "<think>")
    assert thinking.opens_thought([USER])


def test_the_oldest_is_forgotten_where_there_is_no_room(tmp_path):
    model = LanguageModel(make_language_model(tmp_path / "short", max_position_embeddings=200))
    talk = [
        SYSTEM,
        *[{"role": role, "content": f"{n} " * 20} for n in range(5) for role in ("user", "assistant")],
        USER,
    ]
    kept = model.tokenizer.decode(model._prompt(talk, 50))
    assert "Be brief." in kept and "Who are you?" in kept and "4 4" in kept and "0 0" not in kept
    with pytest.raises(GenerationError, match="do not fit"):
        whole(model, [SYSTEM, {"role": "user", "content": "word " * 400}])
