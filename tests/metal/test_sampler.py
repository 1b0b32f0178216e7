"""The sampler kernel: the same draws as plain MLX, and both as the rule says, spelled out in float64."""

import mlx.core as mx
import numpy as np
import pytest

from s2mlx.kernels import sampler
from s2mlx.kernels.sampler import SamplerSettings

from .harness import Case, kernels, normal


def inputs(n, batch, spread, dtype, seed, digits=1):
    """Logits with ties, since rounded to `digits`; a window that holds the best of each second row; rows that may not
    end."""
    random = np.random.default_rng(seed)
    logits = np.round(random.standard_normal((batch, n)) * spread, digits).astype(np.float32)
    logits[0, n - 1] = logits.max() + 1  # the end is the best of row 0
    window = random.integers(-1, n, (batch, 10)).astype(np.int32)
    window[::2, 4] = logits[::2].argmax(axis=1)
    uniforms = random.random((batch, 2)).astype(np.float32)
    uniforms[-1] = 0
    return (
        mx.array(logits).astype(dtype),
        mx.array(uniforms),
        mx.array(window),
        mx.array(np.arange(batch) % 3 > 0, mx.int32),
    )


def case(n, settings, spread=3, dtype=mx.float32, batch=4, seed=0, digits=1):
    return Case(
        f"n{n}-{settings}-{dtype}",
        sampler.draw_semantic,
        lambda: (*inputs(n, batch, spread, dtype, seed, digits), settings),
        tolerance=0,
    )


SETTINGS = [
    SamplerSettings(0.8, 0.8, 30),
    SamplerSettings(0, 0.8, 30),
    SamplerSettings(1.5, 1.0, 256),
    SamplerSettings(0.7, 0.95, 1),
    SamplerSettings(0.7, 1e-6, 50),
    SamplerSettings(1.0, 0.3, 30, 2.0, 0.99),
]
CASES = [case(40, s) for s in SETTINGS] + [case(4097, s, batch=2) for s in SETTINGS if s.top_k <= 50]
CASES += [
    case(40, SETTINGS[0], batch=11),  # whatever is handed over in another way for so many, see `metal.few`
    case(8, SETTINGS[4], batch=1),
    case(4096, SETTINGS[0], dtype=mx.float16),
    Case("plain", sampler.draw, lambda: (normal(3, 40), mx.array([[0.1], [0.5], [0.999]]), SETTINGS[0]), tolerance=0),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_kernel_equals_reference(case, compiled):
    case.check()


def rule(logits, uniforms, window, may_end, s):
    """One row in float64."""
    logits = logits.astype(np.float64)
    if not may_end:
        logits[-1] = -np.inf
    order = np.lexsort((np.arange(len(logits)), -logits))
    mass = np.cumsum(np.exp(logits[order] - logits[order[0]]))
    mass /= np.exp(logits - logits[order[0]]).sum()

    def pick(u, temperature, top_p):
        kept = [o for i, o in enumerate(order[: s.top_k]) if i == 0 or top_p >= 1 or mass[i] <= top_p]
        if temperature == 0:
            return kept[0]
        weight = np.cumsum(np.exp((logits[kept] - logits[kept[0]]) / temperature))
        return kept[int(np.sum(weight < u * weight[-1]))]

    token = pick(uniforms[0], s.temperature, s.top_p)
    if token in window and token != len(logits) - 1:
        token = pick(uniforms[1], s.again_temperature, s.again_top_p)
    return token


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("launched", [False, True], ids=["reference", "kernel"])
def test_draws_follow_the_rule(settings, launched, request):
    if launched:
        request.getfixturevalue("compiled")
    arguments = inputs(40, 7, 2, mx.float32, seed=3)
    wanted = [rule(*row, settings) for row in zip(*map(np.array, arguments))]
    if launched:
        with kernels():
            tokens, window = sampler.draw_semantic(*arguments, settings)
    else:
        tokens, window = sampler.sampler_reference(*arguments, settings, True)
    assert tokens.tolist() == wanted
    assert mx.array_equal(window, mx.concatenate([arguments[2][:, 1:], tokens[:, None]], axis=1))


def test_plain_draw_ignores_window(compiled):
    logits, uniforms, *_ = inputs(40, 3, 2, mx.float32, seed=4)
    settings = SamplerSettings(0.8, 0.9, 20)
    with kernels():
        tokens = sampler.draw(logits, uniforms[:, :1], settings)
    nobody = np.full(10, -1)
    assert tokens.tolist() == [
        rule(row, u, nobody, True, settings) for row, u in zip(np.array(logits), np.array(uniforms))
    ]


def every_place():
    """The best token at each place of the window in turn, and nowhere; where it is, it is drawn again."""
    logits = inputs(40, 11, 2, mx.float32, seed=5)[0][1:2]
    window = np.full((11, 10), -1, np.int32)
    window[np.arange(10), np.arange(10)] = int(mx.argmax(logits))
    settings = SamplerSettings(0, 0.8, 30, 5.0, 1.0)
    uniforms = mx.broadcast_to(mx.array([0.1, 0.99]), (11, 2))
    return mx.broadcast_to(logits, (11, 40)), uniforms, mx.array(window), mx.ones(11, mx.int32), settings


def only_the_best_stays():
    """A redraw whose top-p keeps nothing but the best, which always stays."""
    window = mx.array([[*range(8), 0, 1]], mx.int32)  # all that can be drawn, but the end
    uniforms, settings = mx.array([[0.99, 0.99]]), SamplerSettings(1.0, 0.7, 30, 1.0, 1e-6)
    return mx.array([[0.0, 0.5, 1.0, 0.2, 0.1, 0.3, 0.4, 0.0]]), uniforms, window, mx.array([1], mx.int32), settings


@pytest.mark.parametrize("launched", [False, True], ids=["reference", "kernel"])
def test_every_place_of_the_window_counts(launched, request):
    """The best token is drawn again wherever it stands among the last ten, the oldest and the newest included."""
    if launched:
        request.getfixturevalue("compiled")
    logits, uniforms, window, may_end, settings = every_place()
    best = int(mx.argmax(logits[0]))
    with kernels() if launched else kernels(None):
        tokens, moved = sampler.draw_semantic(logits, uniforms, window, may_end, settings)
    other = rule(np.array(logits[0]), np.array(uniforms[0]), [best], True, settings)
    assert other != best and tokens.tolist() == [other] * 10 + [best]
    assert mx.array_equal(moved, mx.concatenate([window[:, 1:], tokens[:, None]], axis=1))


@pytest.mark.parametrize("launched", [False, True], ids=["reference", "kernel"])
def test_the_best_entry_is_never_cut_away(launched, request):
    """Neither by top-p of the first draw nor by that of the second."""
    if launched:
        request.getfixturevalue("compiled")
    logits, uniforms, window, may_end, settings = only_the_best_stays()
    nobody, strict = mx.full((1, 10), -1, mx.int32), SamplerSettings(1.0, 1e-6, 30, 1.0, 1.0)
    with kernels() if launched else kernels(None):
        first, _ = sampler.draw_semantic(logits, uniforms, nobody, may_end, strict)
        second, _ = sampler.draw_semantic(logits, uniforms, window, may_end, settings)
    assert first.item() == second.item() == 2


def test_top_k_beyond_the_kernel_takes_the_reference():
    logits = normal(1, 500)
    with kernels(launch=lambda *a, **k: pytest.fail("launched")):
        for top_k in (0, sampler.MAX_TOP_K + 1):
            token = sampler.draw(logits, mx.array([[0.5]]), SamplerSettings(1.0, 1.0, top_k))
            assert 0 <= token.item() < 500
