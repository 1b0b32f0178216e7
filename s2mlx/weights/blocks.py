"""GGML block formats -> float32, exactly. Knows bytes and numpy only."""

from __future__ import annotations

import numpy as np
from gguf import quants
from gguf.constants import GGMLQuantizationType

_T = GGMLQuantizationType
SUPPORTED = frozenset({_T.F32, _T.F16, _T.BF16, _T.Q4_0, _T.Q4_1, _T.Q5_0, _T.Q5_1, _T.Q8_0,
                       _T.Q2_K, _T.Q3_K, _T.Q4_K, _T.Q5_K, _T.Q6_K})


def decode(data: np.ndarray, kind: GGMLQuantizationType) -> np.ndarray:
    """Rows of blocks, uint8 [rows, row_bytes] -> float32 [rows, columns]."""
    return np.asarray(quants.dequantize(data, kind), np.float32)
