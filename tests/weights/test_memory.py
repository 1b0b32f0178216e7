"""What loading takes at its peak, measured in a process of its own on 64 MB of weights of each kind."""

import os
import subprocess
import sys

import pytest

# Loads the file as matrices of the types named; a watcher notes the most memory seen. The libraries are in memory by
# then: a first matrix has brought them in.
LOAD = """
import resource, sys, threading, time
import mlx.core as mx
mx.set_default_device(mx.cpu)
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType as T
from s2mlx.layers.linear import Linear
from s2mlx.weights.tensor import Storage, Tensor
from s2mlx.weights.mapped import MappedFile, Region

COLUMNS, ROWS = 2048, 1024
file = MappedFile(sys.argv[1])

def tensors(kinds):
    at = i = 0
    while True:
        kind = T[kinds[i % len(kinds)]]
        block, size = GGML_QUANT_SIZES[kind]
        end = at + ROWS * COLUMNS // block * size
        if end > len(file.bytes):
            return
        yield Tensor(str(i), (ROWS, COLUMNS), kind, Region(file, at, end), Storage.PACKED)
        at, i = end, i + 1

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

def measure(kinds):
    done, peak, before = threading.Event(), 0, resident()
    def watch():
        nonlocal peak
        while not done.is_set():
            peak = max(peak, resident())
            time.sleep(0.001)
    watcher = threading.Thread(target=watch)
    watcher.start()
    made, packed = [], 0
    for tensor in tensors(kinds):
        made.append(Linear(tensor))
        packed += tensor.nbytes
    peak = max(peak, resident())
    done.set()
    watcher.join()
    return (peak - before) / packed

kinds = sys.argv[2].split(",")
Linear(next(tensors(kinds)))
print(measure(kinds))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_loading_takes_at_most_a_third_more_than_the_file(tmp_path):
    path = tmp_path / "weights.bin"
    path.write_bytes(os.urandom(1 << 20) * 64)
    for kinds in ("Q8_0", "Q6_K", "Q2_K", "F16", "Q4_K,Q5_K,Q6_K"):
        child = subprocess.run([sys.executable, "-c", LOAD, path, kinds], capture_output=True, text=True, check=True)
        assert float(child.stdout) < 1.3, kinds
