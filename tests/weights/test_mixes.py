"""Which matrices of a mix get more bits."""

from gguf.constants import GGMLQuantizationType as T

from s2mlx.config import ModelConfig
from s2mlx.weights.mixes import MIXES, TYPES, type_of

CONFIG = ModelConfig()


def test_w2_of_half_of_the_layers():
    fine = [i for i in range(36) if type_of(f"layers.{i}.feed_forward.w2.weight", "q4_k_m", CONFIG) is T.Q6_K]
    assert fine == [0, 1, 2, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 31, 32, 33, 34, 35]
    fast = [i for i in range(4) if type_of(f"fast_layers.{i}.feed_forward.w2.weight", "q5_k_m", CONFIG) is T.Q6_K]
    assert fast == [2, 3]


def test_attention_outputs_and_the_rest():
    for mix, (base, more) in MIXES.items():
        assert type_of("layers.5.attention.wqkv.weight", mix, CONFIG) is more
        assert type_of("fast_layers.1.attention.wo.weight", mix, CONFIG) is base
        assert type_of("embeddings.weight", mix, CONFIG) is type_of("fast_output.weight", mix, CONFIG) is T.Q6_K


def test_every_type_is_known():
    assert {type_of("layers.0.attention.wo.weight", t, CONFIG).name.lower() for t in TYPES} == set(TYPES) - set(MIXES)
