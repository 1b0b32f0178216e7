"""Faults for `mutate.py`: a place in the kernels or in what launches them, what it would be, and the case or test that
must see it. `WHY` explains those that nothing can see."""

from __future__ import annotations

from typing import NamedTuple

from . import test_attention as at
from . import test_codec as co
from . import test_qmv as qm
from . import test_sampler as sa
from .harness import Case
from .test_mutants import qmv


class Fault(NamedTuple):
    """`old` replaced by `new` in one file, wherever it stands; a case that must fail, or tests by their names."""

    name: str
    file: str
    old: str
    new: str
    case: Case | None = None
    tests: tuple[str, ...] = ()


NONE = "mem_flags::mem_none"
GROUP = "mem_flags::mem_threadgroup"
open_12, open_13, open_14 = (next(c for c in qm.CASES if c.id == f"dequantize-{f}-{qm.F32}") for f in (12, 13, 14))
rows_8 = next(c for c in qm.CASES if c.id == "rows-8")
long_norm = qm.case("qmv_norm", 8, 8, qm.F32, 70, 1056)
long_add = qm.case("qmv_add", 8, 5, qm.F32, 70, 1056)
small = qm.case("qmv_norm", 12, 1, qm.F32, 3, 512, size=1e-3)
fast = at.fast(128, 8, 2, 2, 2, True)
fast_80 = at.fast(80, 6, 2, 3, 2, True, at.BF16, at.F32)
fast_small = at.fast(64, 2, 1, 1, 2, True, size=1e-3)
step = at.step(64, 2, 1, [9], 16, True)
parts = at.step(64, 4, 2, [40, 37], 16, True, shared=20, body=15)
wide = at.step(192, 2, 1, [20], 32, True, at.BF16, at.BF16)
alone = at.step(64, 2, 1, [0], 8, True, at.F32, at.F16)
rounded = at.step(64, 2, 1, [1], 8, False, at.F32, at.BF16)
draws = [sa.case(40, s) for s in sa.SETTINGS]
many = sa.case(4097, sa.SETTINGS[2], batch=2, spread=0.35, digits=0)
window = Case("window", sa.sampler.draw_semantic, sa.every_place, tolerance=0)
redrawn = Case("redrawn", sa.sampler.draw_semantic, sa.only_the_best_stays, tolerance=0)
strict = Case(
    "strict", sa.sampler.draw, lambda: (sa.normal(3, 40), sa.normal(3, 1) * 0 + 0.5, sa.SETTINGS[4]), tolerance=0
)
snake = co.conv(37, 40, 24, 7, 3, snake=True)
plain = co.conv(11, 50, 33, 1, gamma=True, residual=True)
gelu = co.conv(3, 64, 100, 1, activation="gelu", weight=co.mx.float16)
tanh = co.conv(40, 16, 1, 7, snake=True, activation="tanh")
depth, depth_small = co.depthwise(4, 130), co.depthwise(5, 40, taps=3, size=2e-4)


def in_blocks(*faults: tuple[str, str, str, Case]) -> list[Fault]:
    return [Fault(name, "blocks.metal", old, new, case) for name, old, new, case in faults]


def kernel(file: str, *faults: tuple[str, str, str, Case]) -> list[Fault]:
    return [Fault(name, file, old, new, case) for name, old, new, case in faults]


KERNELS = [
    *in_blocks(
        ("f16: neighbours swapped", "float(b.x), float(b.y));\n    }\n    return r;", "float(b.y), float(b.x));\n    }\n    return r;", qmv(1)),
        ("bf16: shifted by 15", "as_type<float>(a << 16)", "as_type<float>(a << 15)", qmv(30)),
        ("f32: the first word again", "as_type<float4>(words[f])", "as_type<float4>(words[0])", qmv(0)),
        ("float product without its last column", "fma(q.w, v.w, fma(q.z", "fma(q.w, 0.0f, fma(q.z", qmv(0)),
        ("q8_0: one sign not turned", "^ 0x80808080u", "^ 0x00808080u", qmv(8)),
        ("q8_0: offset 127", "-128.0f * DOWN", "-127.0f * DOWN", qmv(8)),
        ("units of the wrong columns", "((column >> 3) & 3)", "((column >> 2) & 3)", qmv(12)),
        ("all fours even", "((column >> 2) & 1)", "0", qmv(12)),
        ("position of a unit", "(unit & 3) * 8", "(unit & 3) * 4", open_12),
        ("position of a half", "(unit >> 2) * 128", "(unit >> 2) * 64", open_12),
        ("q2_k: rows lifted too much", "48 - (four >> 1) * 2", "48 - (four >> 1)", qmv(10)),
        ("q2_k: minima lifted too little", "127 - 28 + 2 * row", "127 - 28 + row", qmv(10)),
        ("q2_k: scales of the first 16 columns", "shift = (c >> 2) * 8", "shift = 0 * c", qmv(10)),
        ("q2_k: the first word of a pair", "words[4 + 8 * h + c + i]", "words[4 + 8 * h + c]", qmv(10)),
        ("q2_k: d for dmin", "r.least = float(d.y);\n    return r;", "r.least = float(d.x);\n    return r;", qmv(10)),
        ("q3_k: high bit of row 0", "((top << 2) & 0x04040404u)", "((top << 1) & 0x04040404u)", qmv(11)),
        ("q3_k: high bits of the other half", "word(block + c + 4 * i) >> (4 * h)", "word(block + c + 4 * i)", qmv(11)),
        ("q3_k: scales without their offset", "- 32.0f * DOWN;\n    r.d", "- 31.0f * DOWN;\n    r.d", qmv(11)),
        ("q3_k: scales of the first 16 columns", "shift = (c >> 4) * 8", "shift = 0 * c", qmv(11)),
        ("q4_k: rows of the first half", "words + 4 + 16 * h + 8 * p", "words + 4 + 8 * p", qmv(12)),
        ("q4_k: odd rows lifted too much", "UP * UP / 16.0f", "UP * UP / 8.0f", qmv(12)),
        ("q4_k: odd minima", "? DOWN * 16.0f : DOWN", "? DOWN : DOWN", qmv(12)),
        ("scales of the second half", "(h ? head.w : head.y)", "head.y", qmv(12)),
        ("minima of the second half", "h ? head.w >> 4 : head.z", "h ? head.w : head.z", qmv(12)),
        ("rows woven the other way", "float(a.x), float(b.x), float(a.y)", "float(b.x), float(a.x), float(a.y)", qmv(12)),
        ("q5_k: high bit of row 0", "((t << 4) & 0x10101010u)", "((t << 3) & 0x10101010u)", qmv(13)),
        ("q5_k: high bits of the first half", "top[i] >> (4 * h)", "top[i]", qmv(13)),
        ("q5_k: rows 2 and 3 as 0 and 1", "words + 20 + 16 * h", "words + 12 + 16 * h", open_13),
        ("q6_k: offset 31", "-32.0f * DOWN; }", "-31.0f * DOWN; }", qmv(14)),
        ("q6_k: scales of the first 16 columns", "8 * h + (c >> 4))", "8 * h)", qmv(14)),
        ("q6_k: high bits of row 1", "((top << 2) & 0x30303030u)", "((top << 4) & 0x30303030u)", qmv(14)),
        ("q6_k: high bits of the first half", "block + 128 + 32 * h", "block + 128", open_14),
        ("columns 1 and 2 swapped", "fma(float(odd.x), x.y, sum)", "fma(float(odd.x), x.z, sum)", qmv(12)),
        ("side not multiplied", "sum * B::side(g)", "sum", qmv(12)),
        ("d left out", "fma(w.d, scaled, sum)", "scaled + sum", qmv(12)),
        ("scale left out", "fma(w.scale[g], part, scaled)", "part + scaled", qmv(14)),
        ("the upper half of a pair", "i < 2 ? pair.x : pair.y", "pair.x", open_12),
    ),
    *kernel(
        "qmv.metal",
        ("both teams compute the same rows", "int(lane / TEAM) * rows_each", "0", qmv(12, rows=8)),
        ("every other unit", "unit += TEAM)", "unit += 2 * TEAM)", qmv(12, k=1024)),
        ("half of the lanes meet", "int step = TEAM / 2;", "int step = TEAM / 4;", qmv(12)),
        ("a simdgroup's rows overlap the next one's", "(int(group) * simdgroups + int(simdgroup)) * 2", "(int(group) * simdgroups + int(simdgroup))", qmv(12, rows=32)),
        ("stages beyond the row", "c < min(K, begin + CHUNK)", "c < begin + CHUNK", qmv(8, k=96)),
        ("stages twice", "c += 4 * THREADS", "c += 2 * THREADS", qmv(12, "qmv_norm", k=2560)),
        ("no squares", "squares[m] += dot(v, v);", "", qmv(12, "qmv_norm")),
        ("squares after the gain", "        squares[m] += dot(v, v);\n        v = v * float4(float(gain[c]), float(gain[c + 1]), float(gain[c + 2]), float(gain[c + 3]));", "        v = v * float4(float(gain[c]), float(gain[c + 1]), float(gain[c + 2]), float(gain[c + 3]));\n        squares[m] += dot(v, v);", qmv(12, "qmv_norm")),
        ("the second piece is staged behind the first", "(c - begin) / B::WEIGHTS", "c / B::WEIGHTS", long_norm),
        ("the second piece takes the first one's weights", "size_t(begin / B::WEIGHTS + unit / IN_BLOCK)", "size_t(unit / IN_BLOCK)", long_add),
        ("the last piece counts as whole", "min(CHUNK, K - begin)", "CHUNK", long_add),
        ("eps left out", "whole / float(K) + eps", "whole / float(K)", small),
        ("sum of squares for the mean", "rsqrt(whole / float(K) + eps)", "rsqrt(whole + eps)", qmv(12, "qmv_norm")),
        ("squares of the first piece only", "if (NORM && begin + CHUNK >= K)", "if (NORM && begin == 0)", long_norm),
        ("norm of one simdgroup's columns", "for (int s = 0; s < SIMDGROUPS; s++) whole", "for (int s = 0; s < 1; s++) whole", qmv(12, "qmv_norm")),
        ("residual of the first vector", "float(residual[at])", "float(residual[first + r])", long_add),
        ("the gate's matrix twice", "row_starts(w3, first, H", "row_starts(w1, first, H", qmv(12, "qmv_norm_swiglu")),
        ("gate's sign", "exp(-gate)", "exp(gate)", qmv(12, "qmv_norm_swiglu")),
        ("the first vector for all", "x + size_t(min(m, vectors - 1)) * K", "x", qmv(12, m=2)),
        ("vectors past the end are read", "x + size_t(min(m, vectors - 1)) * K", "x + size_t(m) * K", qmv(12, m=3)),
        ("all vectors into the first row", "y[m * rows + first + r] = T(sum", "y[first + r] = T(sum", qmv(12, m=2)),
        ("a barrier that orders nothing", GROUP, NONE, qmv(12)),
        ("a barrier that orders device memory", GROUP, "mem_flags::mem_device", qmv(12, "qmv_norm")),
        ("x not lifted", "v * B::lift(four)", "v", qmv(12)),
        ("unit of a block", "const int part = unit % IN_BLOCK;", "const int part = 0;", qmv(12)),
    ),
    *kernel(
        "dequantize.metal",
        ("fours on top of each other", "to[B::position(part, f) + i]", "to[B::position(part, 0) + i]", open_12),
        ("blocks on top of each other", "to += block * B::WEIGHTS;", "", open_12),
        ("row by its place", "size_t(ids[at.y])", "size_t(at.y)", rows_8),
        ("all rows into the first", "y + at.y * columns", "y", rows_8),
    ),
    *kernel(
        "heads.metal",
        ("eps left out", "/ float(D) + eps", "/ float(D)", fast_small),
        ("gain left out", "pair[j] * g.pair[j] * scale", "pair[j] * scale", fast),
        ("rotated the other way", "p.x * r.x - p.y * r.y, p.x * r.y + p.y * r.x", "p.x * r.x + p.y * r.y, p.y * r.x - p.x * r.y", fast),
        ("older sums keep their weight", "keep = exp(peak - higher)", "keep = 1.0f", fast),
        ("scores not scaled", "add(q.dot(k) * rsqrt(float(D)), v)", "add(q.dot(k), v)", step),
        ("lanes beyond the head", "i < D ? float2", "i >= 0 ? float2", fast_80),
        ("one pair for all", "const int i = 2 * (int(lane) + 32 * j);\n      pair", "const int i = 2 * int(lane);\n      pair", wide),
        ("nothing rounded", "float2(float(E(pair[j].x)), float(E(pair[j].y)))", "pair[j]", rounded),
        ("values are keys", "v.load(values + size_t(p) * D, lane)", "v.load(keys + size_t(p) * D, lane)", step),
    ),
    *kernel(
        "step_attention.metal",
        ("a barrier that orders nothing", GROUP, NONE, step),
        ("a barrier that orders device memory", GROUP, "mem_flags::mem_device", step),
        ("the next head's keys", "kv = head / GROUP;", "kv = head % KV_HEADS;", parts),
        ("prefix not counted", "if (PREFIX) newest -= lengths[0];", "", parts),
        ("own key not rounded", "k.template round_to<C>();", "", rounded),
        ("own value not rounded", "v.template round_to<C>();", "", alone),
        ("own position left out", "    softmax.add(q.dot(k) * rsqrt(float(D)), v);\n  }\n  if", "  }\n  if", alone),
        ("totals without weights", "total += weight * totals[s]", "total += totals[s]", step),
        ("new key at the beginning", "* CAPACITY + newest) * D", "* CAPACITY) * D", step),
        ("rotated by the place in the tail", "q.rotate(table + size_t(past) * D", "q.rotate(table + size_t(newest) * D", parts),
        ("prefix as long as the body's array", "prefix_keys_shape[2] * D", "body_keys_shape[2] * D", parts),
        ("tail as long as the new one", "keys_shape[2] * D, to", "CAPACITY * D, to", parts),
        ("keys for values", "softmax.add_rows(q, keys + at, values + at", "softmax.add_rows(q, keys + at, keys + at", step),
        ("one row of the tail not moved", "i < newest * D;", "i < (newest - 1) * D;", step),
        ("each head moves the first share", "head % GROUP * 32 * SIMDGROUPS + int(thread", "int(thread", at.step(128, 4, 1, [40], 64, True)),
        ("another sequence's token", "qkv + size_t(b) * (HEADS", "qkv + size_t(0) * (HEADS", at.step(16, 4, 4, [3, 0, 7], 8, False)),
        ("the peak of one", "peak = max(peak, peaks[s])", "peak = peaks[s]", step),
        ("every head stores the key", "if (head % GROUP == 0) {", "if (head >= 0) {", parts),
    ),
    *kernel(
        "fast_attention.metal",
        ("a barrier that orders threadgroup memory", "mem_flags::mem_device", GROUP, fast),
        ("a barrier that orders nothing", "mem_flags::mem_device", NONE, fast),
        ("keys not copied", "k_all[i] = C(keys[old + i]);", "", fast),
        ("new values over the old ones", "v.store(v_all + (past + i) * D", "v.store(v_all + i * D", fast),
        ("tasks by the other side", "const int i = task / GROUP, head = kv * GROUP + task % GROUP;", "const int i = task % N, head = kv * GROUP + task % GROUP;", fast),
        ("all keys are the first head's", "token + (HEADS + kv) * D", "token + HEADS * D", fast),
        ("not divided", "(1.0f / softmax.total)", "1.0f", fast),
        ("queries not normalised", "if (NORM) q.normalize(q_gain, eps, lane);", "", fast),
        ("keys by the queries' gain", "k.normalize(k_gain", "k.normalize(q_gain", fast),
        ("past of the first head", "old = size_t(b * KV_HEADS + kv) * past * D", "old = 0 * size_t(past) * D", fast),
    ),
    *kernel(
        "sampler.metal",
        ("a barrier that orders nothing", GROUP, NONE, draws[0]),
        ("oldest of the window left out", "int i = 0; i < WINDOW; i++) repeated", "int i = 1; i < WINDOW; i++) repeated", window),
        ("newest of the window left out", "i < WINDOW; i++) repeated", "i + 1 < WINDOW; i++) repeated", window),
        ("redraw by the first top-p", "mass <= again_top_p", "mass <= top_p", draws[5]),
        ("the redraw's best entry cut away", "AGAIN && (rank == 0 || mass", "AGAIN && (mass", redrawn),
        ("the best entry cut away", "first_keeps = rank == 0 || top_p", "first_keeps = top_p", strict),
        ("redraw by the first number", "b * uniforms_shape[1] + 1]", "b * uniforms_shape[1]]", window),
        ("the end may always come", "i == n - 1 && !may_end", "false", draws[0]),
        ("redraw at the first temperature", "again_count, again_temperature", "again_count, temperature", draws[5]),
        ("the window stands still", "window[b * WINDOW + i + 1] : token", "window[b * WINDOW + i] : token", draws[0]),
        ("one entry too few", "rank < top_k", "rank + 1 < top_k", draws[3]),
        ("mass of the kept ones", "exp(best.logit - peak) / total", "exp(best.logit - peak)", draws[0]),
        ("a tie goes to the later thread", "best.index % THREADS / 32", "best.index / 32", many),
        ("strictly above", "cumulative >= u * total", "cumulative > u * total", draws[0]),
        ("all or nothing at top-p 1", "top_p >= 1.0f || ", "", draws[2]),
        ("first number of the first row", "uniforms[b * uniforms_shape[1]]", "uniforms[0]", draws[0]),
    ),
    *kernel(
        "conv.metal",
        ("a barrier that orders nothing", GROUP, NONE, snake),
        ("Snake divides by zero", "alpha + 1e-9f", "alpha", snake),
        ("Snake not squared", "x + s * s /", "x + s /", snake),
        ("columns of a fragment", "lane % 2 * 2", "lane % 2", snake),
        ("past of the wrong rows", "past[(REACH + time) * in + i % in]", "past[(REACH + time - 1) * in + i % in]", co.conv(1, 20, 12, 7)),
        ("erf's first number", "0.254829592f", "0.264829592f", gelu),
        ("erf even", "copysign(1.0f - t", "fabs(1.0f - t", gelu),
        ("tanh left out", "return tanh(x)", "return x", tanh),
        ("gain left out", "value *= float(gamma[column])", "value *= 1.0f", plain),
        ("residual left out", "value += float(residual[time * out + column])", "value += 0.0f", plain),
        ("bias left out", "+ float(bias[column])", "", plain),
        ("channels beyond the last", "channel < in && column < out ?", "column < out ?", plain),
        ("staged by the next step too early", "}\n    threadgroup_barrier(mem_flags::mem_threadgroup);\n  }", "}\n  }", co.conv(66, 50, 48, 3, 9, snake=True)),
        ("depth not cut", "d < s2::DEPTH && c0 + d < in", "d < s2::DEPTH", plain),
    ),
    *kernel(
        "convnext.metal",
        ("barriers that order nothing", GROUP, NONE, depth),
        ("eps left out", "variance / float(C) + eps", "variance / float(C)", depth_small),
        ("mean not taken off", "(row[c] - mean) * scale", "row[c] * scale", depth),
        ("mean of one simdgroup", "s < simdgroups; s++) mean", "s < 1; s++) mean", depth),
        ("shift left out", "+ float(shift[c])", "", depth),
        ("the past's rows", "past[(K - 1 + t) * C + c]));\n    }\n    row", "past[(K - 2 + t) * C + c]));\n    }\n    row", depth),
        ("next past too old", "length - (K - 1) + r", "length - K + r", depth),
    ),
]  # fmt: skip

TRUST, QMV, CACHE = "tests/metal/test_trust.py", "tests/metal/test_qmv.py", "tests/layers/test_cache.py"
ROWS_TEST, CHUNK_TEST = f"{QMV}::test_as_many_threads_as_there_are_rows", f"{QMV}::test_what_is_staged_fits"
PIECES_TEST = f"{QMV}::test_a_batch_takes_several_launches_and_a_prompt_none"


def dispatch(file: str, *faults: tuple[str, str, str, Case | str]) -> list[Fault]:
    return [
        Fault(name, file, old, new, *((None, (where,)) if isinstance(where, str) else (where,)))
        for name, old, new, where in faults
    ]


DISPATCH = [
    *dispatch(
        "qmv.py",
        ("a row's group of threads left out", "threads * metal.groups(rows, rows_of_group", "threads * (rows // rows_of_group", ROWS_TEST),
        ("groups for nobody", "grid=(threads * metal.groups(rows, rows_of_group(vectors", "grid=(2 * threads * metal.groups(rows, rows_of_group(vectors", ROWS_TEST),
        ("vectors not rounded up", "return 1 << (vectors - 1).bit_length()", "return vectors", PIECES_TEST),
        ("one vector less a launch", "range(MAX_VECTORS, vectors, MAX_VECTORS)", "range(7, vectors, 7)", PIECES_TEST),
        ("a prompt by kernels", "not 0 < vectors <= MOST_VECTORS", "not 0 < vectors", PIECES_TEST),
        ("staged twice as much", "_STAGED // (4 * vectors)", "_STAGED // (2 * vectors)", CHUNK_TEST),
        ("norm for few rows", "return 8 if norm else 4", "return 4 if norm else 8", ROWS_TEST),
        ("a team's rows", "2 * (4 if vectors == 1 else 2) // matrices", "2 * (4 if vectors <= 2 else 2) // matrices", ROWS_TEST),
        ("both matrices' rows", "// matrices", "", ROWS_TEST),
        ("one verdict for all types", "_padded(vectors), x.dtype, _chunk", "_padded(vectors), mx.float32, _chunk", f"{TRUST}::test_each_type_length_and_number_of_rows_is_tried_by_itself"),
        ("one verdict for all numbers of rows", "int(format), _padded(vectors), x.dtype", "int(format), 1, x.dtype", f"{TRUST}::test_each_type_length_and_number_of_rows_is_tried_by_itself"),
        ("the same residual for each piece", "(piece,) for piece in pieces(rest[0])", "(pieces(rest[0])[0],) for piece in pieces(rest[0])", qm.case("qmv_add", 8, 20, qm.F32, 5, 64)),
        ("eps of another kernel", "metal.scalar(rest[1])", "metal.scalar(0.0)", small),
    ),
    *dispatch(
        "attention.py",
        ("most threads only", "_SIMDGROUPS = (32, 16, 8)", "_SIMDGROUPS = (32,)", f"{TRUST}::test_a_step_s_attention_is_tried_with_fewer_threads_first"),
        ("each refusal told", "last=n == sizes[-1]", "last=True", f"{TRUST}::test_a_step_s_attention_is_tried_with_fewer_threads_first"),
        ("more threads than memory", "_MOST_MERGED = 4096", "_MOST_MERGED = 9999", wide),
        ("one sequence", "threadgroup=(32 * simdgroups, 1, 1),\n        outputs=[((*qkv.shape[:-1], heads * head_dim), qkv.dtype), grown", "threadgroup=(32 * simdgroups, 1, 2),\n        outputs=[((*qkv.shape[:-1], heads * head_dim), qkv.dtype), grown", parts),
        ("half of the heads", "grid=(32 * simdgroups, heads, batch)", "grid=(32 * simdgroups, heads // 2, batch)", parts),
        ("lengths swapped", "_lengths(first.length, middle.length)", "_lengths(middle.length, first.length)", parts),
        ("no norm", "NORM=norm,\n        PREFIX", "NORM=False,\n        PREFIX", step),
        ("gains swapped", "q_gain if norm else unused,\n            k_gain if norm else unused,\n            metal.scalar(eps),\n        ],\n        grid=(32 * simdgroups, kv_heads", "k_gain if norm else unused,\n            q_gain if norm else unused,\n            metal.scalar(eps),\n        ],\n        grid=(32 * simdgroups, kv_heads", fast),
        ("one place too few", "CAPACITY=capacity", "CAPACITY=capacity - 1", parts),
        ("the past does not count", "PAST=bool(past)", "PAST=False", fast),
        ("one head of the Fast-AR", "grid=(32 * simdgroups, kv_heads, batch)", "grid=(32 * simdgroups, 1, batch)", fast),
    ),
    *dispatch(
        "sampler.py",
        ("top-k beyond the memory", "0 < settings.top_k <= MAX_TOP_K", "0 <= settings.top_k", "tests/metal/test_sampler.py::test_top_k_beyond_the_kernel_takes_the_reference"),
        ("never again", "AGAIN=again", "AGAIN=False", window),
        ("a smaller window", "WINDOW=length", "WINDOW=length - 1", window),
        ("memory for fewer entries", "LIMIT=MAX_TOP_K", "LIMIT=8", draws[2]),
        ("one sequence", "grid=(32 * _SIMDGROUPS, batch, 1)", "grid=(32 * _SIMDGROUPS, 1, 1)", draws[0]),
    ),
    *dispatch(
        "conv.py",
        ("a time left out", "metal.groups(length, 8 * tm * wm)", "length // (8 * tm * wm)", snake),
        ("a column left out", "metal.groups(out, 8 * tn * wn)", "out // (8 * tn * wn)", snake),
        ("activation by another number", "ACTIVATIONS.index(activation)", "ACTIVATIONS.index(activation) // 2", tanh),
        ("dilation left out", "DILATION=dilation", "DILATION=1", snake),
    ),
    *dispatch(
        "dequantize.py",
        ("units of 16", "k // FORMATS[int(format)].unit, w.shape[0]", "k // 16, w.shape[0]", open_12),
        ("ids of one row", ".unit, ids.size, 1)", ".unit, ids.shape[0], 1)", rows_8),
    ),
    *dispatch(
        "metal.py",
        ("tolerance of 3 %", "TOLERANCE = 1e-2", "TOLERANCE = 3e-2", f"{TRUST}::test_a_tolerance_that_bites"),
        ("tolerance of 0.1 %", "TOLERANCE = 1e-2", "TOLERANCE = 1e-3", f"{TRUST}::test_a_tolerance_that_bites"),
        ("tried at every call", "if key not in _verdicts:", "if True:", f"{TRUST}::test_right_kernel_is_used"),
        ("integers may be near", "if not mx.issubdtype(a.dtype, mx.floating):", "if False:", f"{TRUST}::test_integers_must_be_equal"),
        ("a rehearsal believes all", "if right.item())", ")", f"{TRUST}::test_a_rehearsal_tries_all_in_one_evaluation"),
        ("references take kernels", "if _trying or not", "if not", f"{TRUST}::test_each_type_length_and_number_of_rows_is_tried_by_itself"),
    ),
    *dispatch(
        "../layers/cache.py",
        ("the tail one step too long", "self.tail_length == _TAIL", "self.tail_length > _TAIL", CACHE),
        ("the tail not merged before a pass", "            return rope.upto(self.offset + 1).view(mx.float32)\n        self._merge_tail()\n", "            return rope.upto(self.offset + 1).view(mx.float32)\n", CACHE),
        ("own positions of the prefix too", "self.offset - self.tail_length - (0 if", "self.offset - self.tail_length - 0 * (0 if", CACHE),
        ("a fork forgets its tail", "twin.tail_length = self.tail_length", "twin.tail_length = 0", CACHE),
    ),
]  # fmt: skip

# What no test can see, and why it does no harm.
WHY = {
    "step_attention.metal: every head stores the key": "all heads of a group store the same numbers",
    "sampler.metal: the redraw's best entry cut away": "the best entry is kept by the first draw, and a draw among none "
    "gives the first that is kept",
    "sampler.metal: strictly above": "the sum equals u times the whole only where u is 0 and the best has no weight",
    "sampler.metal: all or nothing at top-p 1": "the mass of all entries is above 1 by a rounding at most",
    "conv.metal: depth not cut": "what is staged and read beyond the last channel is zero",
    "attention.py: more threads than memory": "24 KB fit into a threadgroup too, but leave no room for a second one",
}
