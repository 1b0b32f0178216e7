"""The CPU's ways to multiply a matrix of S2 Pro by a few vectors, in one run: `python -m tests.bench.cpu_products`.

Milliseconds of CPU time, the least of some tries: other programs on the machine hardly change it.
"""

import time

import mlx.core as mx
import numpy as np
from gguf.constants import GGMLQuantizationType as T

from s2mlx.kernels.blocks import sample_blocks
from s2mlx.layers import matmul
from s2mlx.weights import affine, compiled

ROWS, COLUMNS, TRIES = 19456, 2560, 5
VECTORS = (1, 2, 4)
KINDS = (T.Q8_0, T.Q6_K, T.Q4_K, T.F16)


def least(work) -> float:
    times = []
    for _ in range(TRIES):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return 1e3 * min(times)


def main() -> None:
    mx.set_default_device(mx.Device(mx.cpu))
    assert matmul.host_blas() and compiled.available(), "needs the CPU backend and llvmlite"
    blocks = {kind: _repeated(np.array(sample_blocks(int(kind), 64, COLUMNS))) for kind in KINDS}
    floats = np.empty((ROWS, COLUMNS), np.float32)
    compiled.open_rows(blocks[T.Q8_0], T.Q8_0, floats)
    halves, room = floats.astype(np.float16), np.empty((64, COLUMNS), np.float32)
    packed = affine.pack(mx.array(blocks[T.Q8_0]), T.Q8_0)
    mx.eval(packed)

    def widened(x):  # half precision made float32 in the cache, a piece at a time
        for at in range(0, ROWS, len(room)):
            np.copyto(room, halves[at : at + len(room)])
            room @ x.T

    ways = {"float32, NumPy's BLAS": lambda x: matmul.host_product(x, (floats,))}
    for kind in KINDS:
        ways[f"{kind.name} blocks, machine code"] = lambda x, k=kind: matmul.blocks_product(x, ((blocks[k], k),))
    ways["float16, made float32 by NumPy in pieces"] = widened
    ways["MLX's quantized_matmul, 8 bits in groups of 32"] = lambda x: mx.eval(
        mx.quantized_matmul(mx.array(x), *packed, transpose=True, group_size=affine.GROUP, bits=affine.BITS[T.Q8_0])
    )
    print(
        "| ms of CPU time | "
        + " | ".join(f"{n} vector{'s' * (n > 1)}" for n in VECTORS)
        + " |\n|---|"
        + "--:|" * len(VECTORS)
    )
    for name, way in ways.items():
        given = [np.random.default_rng(n).standard_normal((n, COLUMNS), np.float32) for n in VECTORS]
        print(f"| {name} | " + " | ".join(f"{least(lambda x=x: way(x)):.1f}" for x in given) + " |", flush=True)


def _repeated(rows: np.ndarray) -> np.ndarray:
    return np.tile(rows, (ROWS // len(rows), 1))


if __name__ == "__main__":
    main()
