"""The golden models, byte for byte against `gguf`'s own reader, and what their metadata say."""

from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFReader, quants

from s2mlx.weights import open_checkpoint

TESTS = Path(__file__).parents[1]
FOLDERS = (TESTS.parent.parent / "shared" / "golden", TESTS / "golden")
MODELS = {path.name: path for folder in reversed(FOLDERS) for path in sorted(folder.glob("tiny-*.gguf"))}


@pytest.mark.skipif(not MODELS, reason="no golden models here")
@pytest.mark.parametrize("name", MODELS)
def test_every_tensor_is_what_gguf_reads(name):
    theirs = {t.name: t for t in GGUFReader(MODELS[name]).tensors}
    with open_checkpoint(MODELS[name]) as checkpoint:
        c = checkpoint.config
        assert (c.slow.layers, c.slow.dim, c.slow.qk_norm, c.fast.layers, c.fast.qk_norm) == (4, 256, True, 2, False)
        assert (c.codec.rvq.layers, c.codec.rvq.window, c.codec.frame_samples) == (2, 16, 2048)
        assert checkpoint.tensors.keys() == theirs.keys()
        for name, tensor in checkpoint.tensors.items():
            other = theirs[name]
            assert tensor.type == other.tensor_type
            assert tensor.data.tobytes() == other.data.tobytes()
            if name.startswith(("embeddings", "fast_output", "layers.0", "c.quantizer.pre_module.layers.0")):
                expected = np.asarray(quants.dequantize(other.data, other.tensor_type), np.float32)
                assert np.array_equal(np.array(tensor.dense()), expected.reshape(tensor.shape))
