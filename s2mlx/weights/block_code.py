"""The same formats as machine code for the CPU, written in LLVM's language by llvmlite: two functions for each type.

    product(bytes, rows, row_bytes, blocks, x, y, stride)    y[i * stride + r] = sum of row r times vector x[i]
    open(bytes, rows, row_bytes, blocks, y)                  the exact floats of `block_formats.decode`

A block is opened 16 weights at a time in registers: integers become floats, and memory holds what the file has.
Sums run in 16 lanes, along a row, in one order on every machine; their rounding is the machine's (one that has no fused
instruction rounds products, too). Knows formats and instructions; who builds and calls
the functions is `compiled.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from llvmlite import ir

_T = GGMLQuantizationType
LANES = 16
_FLOAT, _HALF, _BYTE, _INT, _LONG = ir.FloatType(), ir.HalfType(), ir.IntType(8), ir.IntType(32), ir.IntType(64)
_POINTER, _NOTHING = ir.PointerType(), ir.VoidType()
_BYTES, _INTS, _FLOATS = (ir.VectorType(of, LANES) for of in (_BYTE, _INT, _FLOAT))
_FUSED = ("contract",)  # a product and a sum may be one instruction


class Sixteen(NamedTuple):
    """weight = scale * q + offset: q float32 [LANES], scale and offset the same in every lane, or None for 1 and 0."""

    q: ir.Value
    scale: ir.Value | None = None
    offset: ir.Value | None = None


class Code:
    """A function that is being written: LLVM's builder with the few words that blocks need."""

    def __init__(self, module: ir.Module, name: str, arguments: list[ir.Type]):
        function = ir.Function(module, ir.FunctionType(_NOTHING, arguments), name)
        self.arguments, self.module = function.args, module
        self.builder = ir.IRBuilder(function.append_basic_block())

    def loop(self, count: ir.Value, body: Callable[..., list[ir.Value]], *begin: ir.Value) -> list[ir.Value]:
        """body(index, *values) -> the next values, `count` times, from `begin` on; the last ones. count > 0."""
        b = self.builder
        before, inside = b.block, b.append_basic_block()
        b.branch(inside)
        b.position_at_end(inside)
        index, *values = nodes = [b.phi(_LONG), *(b.phi(v.type) for v in begin)]
        made = body(index, *values)
        following = [b.add(index, _LONG(1)), *made]
        for node, first, value in zip(nodes, (_LONG(0), *begin), following):
            node.add_incoming(first, before)
            node.add_incoming(value, b.block)
        after = b.append_basic_block()
        b.cbranch(b.icmp_unsigned("<", following[0], count), inside, after)
        b.position_at_end(after)
        return made

    def at(self, pointer: ir.Value, offset: ir.Value | int, of: ir.Type = _BYTE) -> ir.Value:
        return self.builder.gep(pointer, [_LONG(offset) if isinstance(offset, int) else offset], source_etype=of)

    def load(self, pointer: ir.Value, of: ir.Type, align: int = 1) -> ir.Value:
        return self.builder.load(pointer, align=align, typ=of)

    def store(self, value: ir.Value, pointer: ir.Value) -> None:
        self.builder.store(value, pointer, align=4)

    def every(self, value: ir.Value, lane: int = 0) -> ir.Value:
        """A number, or one of a vector's, in all lanes."""
        b = self.builder
        if not isinstance(value.type, ir.VectorType):
            value = b.insert_element(ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined), value, _INT(0))
        return b.shuffle_vector(value, value, ir.Constant(_INTS, [lane] * LANES))

    def half(self, block: ir.Value, at: int) -> ir.Value:
        """The float16 at byte `at` as float32."""
        return self.builder.fpext(self.load(self.at(block, at), _HALF), _FLOAT)

    def bytes(self, block: ir.Value, at: int) -> ir.Value:
        return self.load(self.at(block, at), _BYTES)

    def bits(self, value: ir.Value, shift: int, mask: int) -> ir.Value:
        """(value >> shift) & mask in every lane."""
        many = lambda n: ir.Constant(value.type, [n] * value.type.count)
        return self.builder.and_(self.builder.lshr(value, many(shift)) if shift else value, many(mask))

    def join(self, low: ir.Value, high: ir.Value, shift: int) -> ir.Value:
        return self.builder.or_(low, self.builder.shl(high, ir.Constant(high.type, [shift] * high.type.count)))

    def floats(self, value: ir.Value, signed: bool = False) -> ir.Value:
        """Bytes in lanes -> float32."""
        count = value.type.count
        wide = (self.builder.sext if signed else self.builder.zext)(value, ir.VectorType(_INT, count))
        return self.builder.sitofp(wide, ir.VectorType(_FLOAT, count))

    def times(self, a: ir.Value, b: ir.Value) -> ir.Value:
        return self.builder.fmul(a, b)

    def total(self, value: ir.Value) -> ir.Value:
        """The sum of the lanes, by halves."""
        b, n = self.builder, LANES
        while n > 1:
            n //= 2
            low, high = (b.shuffle_vector(value, value, ir.Constant(ir.VectorType(_INT, n), [*r]))
                         for r in (range(n), range(n, 2 * n)))  # fmt: skip
            value = b.fadd(low, high)
        return b.extract_element(value, _INT(0))


def _f32(c: Code, p: ir.Value) -> Iterator[Sixteen]:
    yield Sixteen(c.load(p, _FLOATS))


def _f16(c: Code, p: ir.Value) -> Iterator[Sixteen]:
    yield Sixteen(c.builder.fpext(c.load(p, ir.VectorType(_HALF, LANES)), _FLOATS))


def _bf16(c: Code, p: ir.Value) -> Iterator[Sixteen]:
    wide = c.builder.zext(c.load(p, ir.VectorType(ir.IntType(16), LANES)), _INTS)
    yield Sixteen(c.builder.bitcast(c.builder.shl(wide, ir.Constant(_INTS, [16] * LANES)), _FLOATS))


def _q8_0(c: Code, p: ir.Value) -> Iterator[Sixteen]:
    scale = c.every(c.half(p, 0))
    for at in (2, 18):
        yield Sixteen(c.floats(c.bytes(p, at), signed=True), scale)


def _pairs(c: Code, p: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Scales and offsets of Q4_K and Q5_K, float32 [8]: six bits each, packed into twelve bytes."""
    four = ir.VectorType(_BYTE, 4)
    first, second, third = (c.load(c.at(p, 4 + 4 * i), four) for i in range(3))
    beside = lambda a, b: c.builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_INT, 8), [*range(8)]))
    scale = beside(c.bits(first, 0, 63), c.join(c.bits(third, 0, 15), c.bits(first, 6, 3), 4))
    least = beside(c.bits(second, 0, 63), c.join(c.bits(third, 4, 15), c.bits(second, 6, 3), 4))
    eight = lambda x: c.builder.shuffle_vector(c.every(x), c.every(x), ir.Constant(ir.VectorType(_INT, 8), [0] * 8))
    less = c.builder.fneg(c.times(eight(c.half(p, 2)), c.floats(least)))
    return c.times(eight(c.half(p, 0)), c.floats(scale)), less


def _q4_k(c: Code, p: ir.Value) -> Iterator[Sixteen]:
    scale, offset = _pairs(c, p)
    for group in range(8):
        of_group = c.every(scale, group), c.every(offset, group)  # one value for both: so they are multiplied once
        for half in range(2):
            q = c.bits(c.bytes(p, 16 + 32 * (group // 2) + 16 * half), 4 * (group % 2), 15)
            yield Sixteen(c.floats(q), *of_group)


def _q5_k(c: Code, p: ir.Value) -> Iterator[Sixteen]:
    scale, offset = _pairs(c, p)
    for group in range(8):
        of_group = c.every(scale, group), c.every(offset, group)
        for half in range(2):
            low = c.bits(c.bytes(p, 48 + 32 * (group // 2) + 16 * half), 4 * (group % 2), 15)
            high = c.bits(c.bytes(p, 16 + 16 * half), group, 1)
            yield Sixteen(c.floats(c.join(low, high, 4)), *of_group)


def _q6_k(c: Code, p: ir.Value) -> Iterator[Sixteen]:
    scale = c.times(c.every(c.half(p, 208)), c.floats(c.bytes(p, 192), signed=True))
    middle = ir.Constant(_BYTES, [32] * LANES)
    for at in range(16):  # sixteens in a half of the block: [2, 4, 2]
        whole, quarter, half = at // 8, at % 8 // 2, at % 2
        low = c.bits(c.bytes(p, 64 * whole + 32 * (quarter % 2) + 16 * half), 4 * (quarter // 2), 15)
        high = c.bits(c.bytes(p, 128 + 32 * whole + 16 * half), 2 * quarter, 3)
        yield Sixteen(c.floats(c.builder.sub(c.join(low, high, 4), middle), signed=True), c.every(scale, at))


def _q3_k(c: Code, p: ir.Value) -> Iterator[Sixteen]:
    b, eight = c.builder, ir.VectorType(_BYTE, 8)
    packed, upper = c.load(c.at(p, 96), eight), c.load(c.at(p, 104), ir.VectorType(_BYTE, 4))
    order = ir.Constant(_INTS, [*range(16)])
    low = b.shuffle_vector(c.bits(packed, 0, 15), c.bits(packed, 4, 15), order)
    repeated = b.shuffle_vector(upper, upper, ir.Constant(_INTS, [i % 4 for i in range(16)]))
    high = b.and_(
        b.lshr(repeated, ir.Constant(_BYTES, [i // 4 * 2 for i in range(16)])), ir.Constant(_BYTES, [3] * LANES)
    )
    six = b.sub(c.join(low, high, 4), ir.Constant(_BYTES, [32] * LANES))
    scale = c.times(c.every(c.half(p, 108)), c.floats(six, signed=True))
    for at in range(16):
        whole, quarter, half = at // 8, at % 8 // 2, at % 2
        two = c.bits(c.bytes(p, 32 + 32 * whole + 16 * half), 2 * quarter, 3)
        q = c.join(two, c.bits(c.bytes(p, 16 * half), 4 * whole + quarter, 1), 2)
        signed = b.sub(q, ir.Constant(_BYTES, [4] * LANES))
        yield Sixteen(c.floats(signed, signed=True), c.every(scale, at))


def _q2_k(c: Code, p: ir.Value) -> Iterator[Sixteen]:
    both = c.bytes(p, 0)
    scale = c.times(c.every(c.half(p, 80)), c.floats(c.bits(both, 0, 15)))
    offset = c.builder.fneg(c.times(c.every(c.half(p, 82)), c.floats(c.bits(both, 4, 15))))
    for at in range(16):
        whole, quarter, half = at // 8, at % 8 // 2, at % 2
        q = c.bits(c.bytes(p, 16 + 32 * whole + 16 * half), 2 * quarter, 3)
        yield Sixteen(c.floats(q), c.every(scale, at), c.every(offset, at))


_OPEN: dict[GGMLQuantizationType, Callable[[Code, ir.Value], Iterator[Sixteen]]] = {
    _T.F32: _f32,
    _T.F16: _f16,
    _T.BF16: _bf16,
    _T.Q8_0: _q8_0,
    _T.Q2_K: _q2_k,
    _T.Q3_K: _q3_k,
    _T.Q4_K: _q4_k,
    _T.Q5_K: _q5_k,
    _T.Q6_K: _q6_k,
}
KINDS = frozenset(_OPEN)


def block(kind: GGMLQuantizationType) -> tuple[int, int]:
    """Weights and bytes of what is opened in one go: a block, or LANES floats."""
    weights, size = GGML_QUANT_SIZES[kind]
    return (LANES, LANES * size) if weights == 1 else (weights, size)


def write_product(module: ir.Module, kind: GGMLQuantizationType, name: str, vectors: int) -> None:
    """void name(bytes, rows, row_bytes, blocks, x [vectors, columns], y [vectors, stride], stride), none of them 0."""
    c = Code(module, name, [_POINTER, _LONG, _LONG, _LONG, _POINTER, _POINTER, _LONG])
    data, rows, row_bytes, blocks, x, y, stride = c.arguments
    b, (weights, size) = c.builder, block(kind)
    columns = b.mul(blocks, _LONG(weights))
    nothing = ir.Constant(_FLOATS, [0.0] * LANES)

    def row(r: ir.Value) -> list[ir.Value]:
        begin = c.at(data, b.mul(r, row_bytes))

        def one(i: ir.Value, *sums: ir.Value) -> list[ir.Value]:
            p, at = c.at(begin, b.mul(i, _LONG(size))), b.mul(i, _LONG(weights))
            made = list(sums)
            runs: list[list[ir.Value]] = [[] for _ in range(vectors)]  # products that wait for the scale they share
            sixteens = list(_OPEN[kind](c, p))
            for k, (q, scale, offset) in enumerate(sixteens):
                shared = k + 1 < len(sixteens) and scale is not None and scale is sixteens[k + 1].scale
                for v in range(vectors):
                    of_x = c.load(
                        c.at(x, b.add(b.add(b.mul(columns, _LONG(v)), at), _LONG(LANES * k)), _FLOAT), _FLOATS, 4
                    )
                    if scale is None:
                        made[v] = b.fadd(made[v], b.fmul(q, of_x, flags=_FUSED), flags=_FUSED)
                        continue
                    runs[v].append(b.fmul(q, of_x, flags=_FUSED))
                    if offset is not None:
                        made[v] = b.fadd(made[v], b.fmul(offset, of_x, flags=_FUSED), flags=_FUSED)
                    if not shared:
                        part = runs[v][0]
                        for other in runs[v][1:]:
                            part = b.fadd(part, other, flags=_FUSED)
                        made[v] = b.fadd(made[v], b.fmul(part, scale, flags=_FUSED), flags=_FUSED)
                        runs[v] = []
            return made

        for v, lanes in enumerate(c.loop(blocks, one, *[nothing] * vectors)):
            c.store(c.total(lanes), c.at(y, b.add(r, b.mul(stride, _LONG(v))), _FLOAT))
        return []

    c.loop(rows, row)
    b.ret_void()


def write_open(module: ir.Module, kind: GGMLQuantizationType, name: str) -> None:
    """void name(bytes, rows, row_bytes, blocks, y [rows, columns]); rows, blocks > 0."""
    c = Code(module, name, [_POINTER, _LONG, _LONG, _LONG, _POINTER])
    data, rows, row_bytes, blocks, y = c.arguments
    b, (weights, size) = c.builder, block(kind)

    def row(r: ir.Value) -> list[ir.Value]:
        begin, out = c.at(data, b.mul(r, row_bytes)), c.at(y, b.mul(r, b.mul(blocks, _LONG(weights))), _FLOAT)

        def one(i: ir.Value) -> list[ir.Value]:
            p, at = c.at(begin, b.mul(i, _LONG(size))), b.mul(i, _LONG(weights))
            for k, (q, scale, offset) in enumerate(_OPEN[kind](c, p)):
                value = q if scale is None else c.times(q, scale)
                value = value if offset is None else b.fadd(value, offset)
                c.store(value, c.at(out, b.add(at, _LONG(LANES * k)), _FLOAT))
            return []

        c.loop(blocks, one)
        return []

    c.loop(rows, row)
    b.ret_void()
