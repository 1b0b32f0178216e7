"""One draw per sequence in NumPy: `kernels.sampler` for the CPU, where each of MLX's small operations costs more than
all of these together.

It takes the same entries as the reference there, and answers every uniform number with the same one.
"""

from __future__ import annotations

import numpy as np

from ..kernels.sampler import SamplerSettings


def draw(logits: np.ndarray, uniforms: np.ndarray, settings: SamplerSettings) -> np.ndarray:
    """logits float32 [B, n], uniforms float32 [B, 1] -> int32 [B]."""
    return _pick(*_sorted(logits, settings.top_k), uniforms, settings.temperature, settings.top_p)[:, 0]


def draw_semantic(
    logits: np.ndarray, uniforms: np.ndarray, window: np.ndarray, may_end: np.ndarray, settings: SamplerSettings
) -> tuple[np.ndarray, np.ndarray]:
    """logits float32 [B, n], uniforms float32 [B, 2], window int32 [B, w], may_end bool [B] (no closes the last column)
    -> tokens int32 [B], window with the token at its end and its oldest gone."""
    logits = logits.copy()
    logits[~may_end, -1] = -np.inf
    best = _sorted(logits, settings.top_k)
    tokens = _pick(*best, uniforms[:, :1], settings.temperature, settings.top_p)
    again = np.any(window == tokens, axis=1, keepdims=True) & (tokens != logits.shape[1] - 1)
    if again.any():
        other = _pick(*best, uniforms[:, 1:], settings.again_temperature, settings.again_top_p)
        tokens = np.where(again, other, tokens)
    return tokens[:, 0], np.concatenate([window[:, 1:], tokens], axis=1)


def _sorted(logits: np.ndarray, top_k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The entries that top_k leaves, best first, [B, k]: their numbers, logits, and the softmax's sum up to each."""
    order = np.argsort(-logits, axis=1, kind="stable")
    if 0 < top_k < logits.shape[1]:
        order = order[:, :top_k]
    values = np.take_along_axis(logits, order, axis=1)
    whole = np.exp(logits - values[:, :1]).sum(axis=1, keepdims=True)
    return order, values, np.cumsum(np.exp(values - values[:, :1]) / whole, axis=1)


def _pick(
    order: np.ndarray, values: np.ndarray, mass: np.ndarray, u: np.ndarray, temperature: float, top_p: float
) -> np.ndarray:
    """-> int32 [B, 1]."""
    if temperature == 0:
        return order[:, :1].astype(np.int32)
    weight = np.exp((values - values[:, :1]) / np.float32(temperature))
    if top_p < 1:
        weight[:, 1:] = np.where(mass[:, 1:] <= np.float32(top_p), weight[:, 1:], 0)
    cumulative = np.cumsum(weight, axis=1)
    rank = np.sum(cumulative < u * cumulative[:, -1:], axis=1, keepdims=True)
    return np.take_along_axis(order, rank, axis=1).astype(np.int32)
