"""Groups of weights -> the few integers and the scales that give them back with the least error. Knows no block format.

    affine      w ~ scale * q - minimum,  q in 0 .. levels,  scale and minimum >= 0
    symmetric   w ~ scale * q,            q in low .. high,  scale of any sign

A block holds several groups, whose scales are small integers times one float16 (two with minima). The search has the
same steps for both: a few roundings of each group, each with its scale by least squares, and the best one again
(`_free`); then the float16 of the block, refined by least squares over all its groups; then, group by group, the
neighbouring integers of the scale, each with its own rounding. All sums are unweighted: the error that counts is that
of x @ W.T for inputs of any direction.

Arrays are [weights of a group, groups of a block, blocks] and [groups, blocks]: sums run along contiguous memory.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

# Roundings tried: levels + t steps between a group's least and greatest weight, or to its largest.
_SPREAD, _FEW = np.linspace(-0.9, 0.9, 5), np.linspace(-0.9, 0.9, 3)
_TINY = np.float32(1e-30)


class Fitted(NamedTuple):
    """scale, minimum: float16 [blocks], of the block; scales, minima: integers [groups, blocks], as float32;
    q: [weights, groups, blocks], as float32. `symmetric` has no minima."""

    scale: np.ndarray
    scales: np.ndarray
    q: np.ndarray
    minimum: np.ndarray | None = None
    minima: np.ndarray | None = None


class _Groups:
    """The weights, and what of them is needed again and again."""

    def __init__(self, x: np.ndarray):
        self.x, self.n = x, np.float32(len(x))
        self.sum, self.square = x.sum(0), np.square(x).sum(0)
        self.q, self.product = np.empty_like(x), np.empty_like(x)

    def round(self, factor, shift, low, high):
        """q = x * factor + shift to the nearest integer in low .. high; the sums of q * q and q * x."""
        q, product = self.q, self.product
        np.multiply(self.x, factor, out=q)
        if shift is not None:
            q += shift
        np.rint(q, out=q)
        np.maximum(q, low, out=q)
        np.minimum(q, high, out=q)
        return np.multiply(q, q, out=product).sum(0), np.multiply(q, self.x, out=product).sum(0)


class _Best:
    """What has the least error so far, element by element: `keep(error, *values)`."""

    def __init__(self) -> None:
        self.error: np.ndarray | None = None
        self.values: list[np.ndarray] = []

    def keep(self, error: np.ndarray, *values: np.ndarray) -> None:
        if self.error is None:
            self.error, self.values = error, [np.array(v) for v in values]
            return
        better = error < self.error
        for old, new in zip((self.error, *self.values), (error, *values)):
            np.copyto(old, new, where=better)


def affine(x: np.ndarray, levels: int, most: int) -> Fitted:
    """x float32 [weights, groups, blocks]; q in 0 .. levels; scales and minima in 0 .. most."""
    g = _Groups(x)
    scale, minimum = _free_affine(g, levels)
    d, least = _half(scale.max(0) / most), _half(minimum.max(0) / most)
    scales, minima = _nearest(scale, d, 0, most), _nearest(minimum, least, 0, most)
    d, least, scales, minima = _refine_affine(g, levels, most, d, least, scales, minima)
    scales, minima = _neighbours_affine(g, levels, most, d, least, scales, minima)
    _rounded(g, d * scales, least * minima, levels)
    return Fitted(d.astype(np.float16), scales, g.q, least.astype(np.float16), minima)


def symmetric(x: np.ndarray, low: int, high: int, least: int, most: int, reach: int) -> Fitted:
    """As `affine`; q in low .. high; scales in least .. most, tried `reach` steps to each side.

    With many integers the error hangs on where the weights happen to fall between them: a far reach finds luck."""
    g = _Groups(x)
    scale = _free_symmetric(g, low, high)
    extreme = np.take_along_axis(scale, np.abs(scale).argmax(0)[None], 0)[0]
    d = _half(extreme / least)  # the largest scale becomes `least`, which reaches one step further than `most`
    scales = _nearest(scale, d, least, most)
    d, scales = _refine_symmetric(g, low, high, least, most, d, scales)
    best = _Best()
    for step in _outwards(reach):
        tried = np.clip(scales + np.float32(step), least, most)
        error = _error_symmetric(g, d * tried, *g.round(_inverse(d * tried), None, low, high))
        best.keep(error, tried)
    (scales,) = best.values
    g.round(_inverse(d * scales), None, low, high)
    return Fitted(d.astype(np.float16), scales, g.q)


def _free_affine(g, levels):
    """Scale and minimum of each group, of any value."""
    low = np.minimum(g.x.min(0), 0)
    width, best = np.maximum(g.x.max(0) - low, _TINY), _Best()
    for t in _SPREAD:
        factor = np.float32(levels + t) / width
        sums = _sums(g, factor, -low * factor, levels)
        scale, minimum = _solve(g, *sums)
        best.keep(_error_affine(g, scale, minimum, *sums), scale, minimum)
    for _ in range(2):
        sums = _rounded(g, *best.values, levels)
        scale, minimum = _solve(g, *sums)
        best.keep(_error_affine(g, scale, minimum, *sums), scale, minimum)
    return best.values


def _free_symmetric(g, low, high):
    """Scale of each group; the weight of the largest magnitude lies at the long end of the integers."""
    at = np.abs(g.x).argmax(0)[None]
    extreme, best = np.take_along_axis(g.x, at, 0)[0], _Best()
    for t in _FEW:
        squares, products = g.round(np.float32(low + t) * _inverse(extreme), None, low, high)
        scale = products / np.maximum(squares, _TINY)
        best.keep(g.square - scale * products, scale)
    squares, products = g.round(_inverse(best.values[0]), None, low, high)
    scale = products / np.maximum(squares, _TINY)
    best.keep(g.square - scale * products, scale)
    return best.values[0]


def _solve(g, q, squares, products):
    """Scale and minimum >= 0 of the least square error, for given integers."""
    spread = g.n * squares - q * q
    scale = np.where(spread > 0, (g.n * products - g.sum * q) / np.maximum(spread, _TINY), 0)
    minimum = (scale * q - g.sum) / g.n
    alone = products / np.maximum(squares, _TINY)
    scale = np.where(minimum < 0, alone, scale)
    return np.maximum(scale, 0), np.where(scale > 0, np.maximum(minimum, 0), np.maximum(-g.sum / g.n, 0))


def _refine_affine(g, levels, most, d, least, scales, minima):
    """One turn: integers of the groups from their own least squares, then the block's two floats from theirs."""
    q, squares, products = sums = _rounded(g, d * scales, least * minima, levels)
    before = _error_affine(g, d * scales, least * minima, *sums).sum(0)
    scale, _ = _solve(g, *sums)
    new_scales = _nearest(scale, d, 0, most)
    new_minima = _nearest((d * new_scales * q - g.sum) / g.n, least, 0, most)
    aa, ab = (new_scales**2 * squares).sum(0), -(new_scales * new_minima * q).sum(0)
    bb, ax, bx = (new_minima**2 * g.n).sum(0), (new_scales * products).sum(0), -(new_minima * g.sum).sum(0)
    spread = aa * bb - ab * ab
    regular = spread > 1e-5 * aa * bb
    spread = np.where(regular, spread, 1)
    new_d = _half(np.where(regular, np.maximum((ax * bb - bx * ab) / spread, 0), d))
    new_least = _half(np.where(regular, np.maximum((aa * bx - ab * ax) / spread, 0), least))
    sums = _rounded(g, new_d * new_scales, new_least * new_minima, levels)
    after = _error_affine(g, new_d * new_scales, new_least * new_minima, *sums).sum(0)
    return [
        np.where(after < before, new, old)
        for new, old in zip((new_d, new_least, new_scales, new_minima), (d, least, scales, minima))
    ]


def _neighbours_affine(g, levels, most, d, least, scales, minima):
    """The same scales and minima, or better ones a step away. With another scale the minimum moves first, so that the
    middle of the weights stays where it is."""
    best, middle = _Best(), np.float32(0)
    for step, further in product(_outwards(1), _outwards(1)):
        tried = np.clip(scales + np.float32(step), 0, most)
        moved = _nearest(least * minima + d * (tried - scales) * middle, least, 0, most)
        moved = np.clip(moved + np.float32(further), 0, most)
        sums = _rounded(g, d * tried, least * moved, levels)
        if best.error is None:
            middle = sums[0] / g.n
        best.keep(_error_affine(g, d * tried, least * moved, *sums), tried, moved)
    return best.values


def _outwards(reach):
    """0, -1, 1, -2, 2, ..."""
    return sorted(range(-reach, reach + 1), key=abs)


def _refine_symmetric(g, low, high, least, most, d, scales):
    squares, products = g.round(_inverse(d * scales), None, low, high)
    before = _error_symmetric(g, d * scales, squares, products).sum(0)
    new_scales = _nearest(products / np.maximum(squares, _TINY), d, least, most)
    weight = (new_scales**2 * squares).sum(0)
    new_d = _half(np.where(weight > 0, (new_scales * products).sum(0) / np.maximum(weight, _TINY), d))
    squares, products = g.round(_inverse(new_d * new_scales), None, low, high)
    after = _error_symmetric(g, new_d * new_scales, squares, products).sum(0)
    return np.where(after < before, new_d, d), np.where(after < before, new_scales, scales)


def _rounded(g, scale, minimum, levels):
    """Rounds with these scales and minima; the sums of q, q * q and q * x."""
    factor = _inverse(scale)
    return _sums(g, factor, minimum * factor, levels)


def _sums(g, factor, shift, levels):
    squares, products = g.round(factor, shift, 0, levels)
    return g.q.sum(0), squares, products


def _error_affine(g, scale, minimum, q, squares, products):
    return g.square + scale * (scale * squares - 2 * products) + minimum * (g.n * minimum + 2 * (g.sum - scale * q))


def _error_symmetric(g, scale, squares, products):
    return g.square + scale * (scale * squares - 2 * products)


def _nearest(value, unit, low, high):
    """value / unit as an integer in low .. high; 0 where the unit is 0."""
    return np.clip(np.rint(value * _inverse(unit)), low, high)


def _inverse(value):
    """1 / value, 0 where that is next to 0: all weights of such a group round to 0."""
    usable = np.abs(value) > _TINY
    return np.where(usable, 1 / np.where(usable, value, 1), 0).astype(np.float32)


def _half(value):
    """As float16 will hold it, in float32."""
    return value.astype(np.float16).astype(np.float32)
