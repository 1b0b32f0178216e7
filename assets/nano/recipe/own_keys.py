"""What the file says of itself beyond the S2 format: the keys s2mlx.*, and a way to change them without the tensors.

python -m recipe.own_keys [FILE]    # gives FILE (the shipped one) the keys below; its tensors stay byte for byte
"""

import sys
from pathlib import Path

import gguf

from . import config

PREFIX = "s2mlx."
KEYS = {  # a float, a whole number, a truth, a text or a list of texts each
    "s2mlx.sampling.temperature": 0.3,
    "s2mlx.sampling.top_p": 0.6,
    "s2mlx.sampling.top_k": 10,
    "s2mlx.speech.pass_seconds": 7.0,  # of speech in one pass, by the product's estimate: longer texts are cut
    "s2mlx.speech.reference_seconds": 20.0,  # longer references are cut at a sentence end, with their words
    "s2mlx.speech.dialogue": False,
    "s2mlx.speech.languages": "en",  # ISO 639 codes with spaces between
    "s2mlx.speech.tags": False,  # [laugh] is left out
}


def add(writer):
    for key, value in KEYS.items():
        if isinstance(value, bool):
            writer.add_bool(key, value)
        elif isinstance(value, int):
            writer.add_uint32(key, value)
        elif isinstance(value, float):
            writer.add_float32(key, value)
        elif isinstance(value, str):
            writer.add_string(key, value)
        else:
            writer.add_array(key, list(value))


def rewrite(path):
    """The file with its other keys and its tensors as they are, and KEYS; in place, whole or not at all."""
    path = Path(path)
    reader = gguf.GGUFReader(path)
    architecture = reader.fields["general.architecture"].contents()
    made = path.with_suffix(".tmp")
    writer = gguf.GGUFWriter(str(made), architecture)
    for name, field in reader.fields.items():
        if name.startswith(("GGUF.", PREFIX)) or name == "general.architecture":
            continue
        kind = field.types[0]
        writer.add_key_value(
            name, field.contents(), kind, field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        )
    add(writer)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    made.replace(path)


if __name__ == "__main__":
    rewrite(sys.argv[1] if len(sys.argv) > 1 else config.SHIPPED / "s2-nano.gguf")
