"""A language model as small as they come: random weights in a folder that mlx-lm opens like any other."""

import json
import shutil
from pathlib import Path

import pytest

TOKENIZER = Path(__file__).parents[1] / "golden" / "tokenizer.json"
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def make_language_model(folder, template=TEMPLATE, **config):
    """A Qwen3 of two small layers with the tokenizer of the tests."""
    import mlx.core as mx
    from mlx.utils import tree_flatten
    from mlx_lm.models.qwen3 import Model, ModelArgs

    folder.mkdir(parents=True)
    config = {
        "model_type": "qwen3",
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "intermediate_size": 64,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 16,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "vocab_size": 1280,
        "max_position_embeddings": 8192,
        "tie_word_embeddings": True,
        **config,
    }
    mx.random.seed(1)
    model = Model(ModelArgs.from_dict(config))
    mx.save_safetensors(str(folder / "model.safetensors"), dict(tree_flatten(model.parameters())))
    (folder / "config.json").write_text(json.dumps(config))
    shutil.copy(TOKENIZER, folder / "tokenizer.json")
    told = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>", "model_max_length": 8192}
    if template is not None:
        told["chat_template"] = template
    (folder / "tokenizer_config.json").write_text(json.dumps(told))
    return folder


@pytest.fixture(scope="package")
def tiny(tmp_path_factory):
    """The folder of a tiny model."""
    pytest.importorskip("mlx_lm", reason="needs mlx-lm: pip install 's2mlx[lm]'")
    return make_language_model(tmp_path_factory.mktemp("language") / "tiny-qwen3")
