"""A `.pth` file of tensors, read without torch and without running anything that is in it.

Such a file is an uncompressed zip: `NAME/data.pkl`, a pickle that describes the tensors, and `NAME/data/0`, `/1`, ...,
their numbers. The pickle is data from a stranger. Only operations that build dictionaries, tuples and numbers are let
through, and the only names it may call are those that rebuild a tensor, which here merely note where it lies.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
import zipfile
from collections import OrderedDict
from typing import NamedTuple

from gguf.constants import GGMLQuantizationType

from ..errors import ModelError
from .assemble import Found
from .mapped import MappedFile, Region

MAX_PICKLE = 16 << 20
_STORAGES = {"FloatStorage": (GGMLQuantizationType.F32, 4), "HalfStorage": (GGMLQuantizationType.F16, 2),
             "BFloat16Storage": (GGMLQuantizationType.BF16, 2)}
_OTHER_STORAGES = {"DoubleStorage", "LongStorage", "IntStorage", "ShortStorage", "CharStorage", "ByteStorage",
                   "BoolStorage", "ComplexFloatStorage"}
# What torch.save writes for nested dictionaries of tensors. Not among them: anything that makes an instance by other
# ways (NEWOBJ, INST, OBJ, EXT*), or a name out of the stack (STACK_GLOBAL).
_OPERATIONS = {"PROTO", "GLOBAL", "EMPTY_DICT", "EMPTY_TUPLE", "EMPTY_LIST", "MARK", "BINPUT", "LONG_BINPUT", "BINGET",
               "LONG_BINGET", "MEMOIZE", "BINUNICODE", "SHORT_BINUNICODE", "BININT", "BININT1", "BININT2", "LONG1",
               "BINFLOAT", "NONE", "NEWTRUE", "NEWFALSE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "LIST", "APPEND", "APPENDS",
               "SETITEM", "SETITEMS", "BINPERSID", "REDUCE", "BUILD", "FRAME", "STOP"}


class _Stored(NamedTuple):
    """A tensor as the pickle describes it: which storage, and which numbers of it."""

    kind: str
    key: str
    offset: int
    shape: tuple
    stride: tuple


def read_torch(path) -> dict[str, Found]:
    """Name -> tensor for all contiguous tensors of a floating type in the (perhaps nested) state dictionary."""
    file = MappedFile(path)
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename: info for info in archive.infolist()}
            pickled = [name for name in members if name.endswith("/data.pkl")]
            if len(pickled) != 1 or members[pickled[0]].file_size > MAX_PICKLE:
                raise ModelError(f"{path}: no checkpoint that torch.save wrote (no data.pkl of a possible size)")
            state = _unpickle(archive.read(pickled[0]), path)
    except (zipfile.BadZipFile, OSError, NotImplementedError, EOFError, RuntimeError) as error:
        raise ModelError(f"{path}: damaged, or not a checkpoint in torch's zip format: {error}") from None
    root = pickled[0][:-len("data.pkl")] + "data/"
    return {name: _locate(file, members.get(root + stored.key), name, stored)
            for name, stored in _flatten(state) if stored.kind in _STORAGES}


def _unpickle(data: bytes, path):
    try:
        for operation, argument, _ in pickletools.genops(data):
            if operation.name not in _OPERATIONS:
                raise pickle.UnpicklingError(f"operation {operation.name}")
        return _Unpickler(io.BytesIO(data)).load()
    except (pickle.UnpicklingError, ValueError, TypeError, KeyError, IndexError, AttributeError, EOFError,
            UnicodeDecodeError, OverflowError) as error:
        reason = " ".join(str(error).split())[:120]
        raise ModelError(f"{path}: its pickle is damaged or holds more than tensors ({reason}); "
                         "it was not run") from None


class _Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        if module == "torch" and (name in _STORAGES or name in _OTHER_STORAGES):
            return name
        allowed = {("collections", "OrderedDict"): OrderedDict, ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor,
                   ("torch._utils", "_rebuild_parameter"): _rebuild_parameter}
        if (module, name) not in allowed:
            raise pickle.UnpicklingError(f"{module}.{name}")
        return allowed[module, name]

    def persistent_load(self, identity):
        kind, storage, key, *_ = identity
        if kind != "storage" or not isinstance(storage, str) or not isinstance(key, str):
            raise pickle.UnpicklingError("an unknown reference")
        return storage, key


def _rebuild_tensor(storage, offset, shape, stride, *_):
    return _Stored(*storage, offset, shape, stride)


def _rebuild_parameter(data, *_):
    return data


def _flatten(state, prefix="", depth=0):
    """(dotted name, tensor) of nested dictionaries."""
    if isinstance(state, _Stored):
        yield prefix, state
    elif isinstance(state, dict) and depth < 4:
        for key, value in state.items():
            if isinstance(key, str):
                yield from _flatten(value, f"{prefix}.{key}" if prefix else key, depth + 1)


def _locate(file, member, name, stored) -> Found:
    """The region of the file that holds the tensor, or `ModelError`."""
    def fail(reason):
        raise ModelError(f"{file.path}: tensor {name!r}: {reason}")

    kind, width = _STORAGES[stored.kind]
    numbers = (stored.offset, *stored.shape, *stored.stride) if isinstance(stored.shape, tuple) and \
        isinstance(stored.stride, tuple) else (None,)
    if not all(type(n) is int and 0 <= n < 1 << 48 for n in numbers) or 0 in stored.shape or len(stored.shape) > 4:
        fail("impossible shape")
    if not _in_order(stored.shape, stored.stride):
        fail("its numbers are not in order; save the checkpoint with contiguous tensors")
    if member is None or member.compress_type != zipfile.ZIP_STORED:
        fail("its data are missing or compressed")
    begin = _data_begin(file, member) + stored.offset * width
    end = begin + math.prod(stored.shape) * width
    if end > _data_begin(file, member) + member.file_size or end > len(file.bytes):
        fail("its data are cut off; download the file again")
    return Found(stored.shape or (1,), kind, Region(file, begin, end))


def _in_order(shape, stride) -> bool:
    """Whether the numbers lie one after another (what a dimension of 1 says of its stride means nothing)."""
    step = 1
    for n, distance in zip(reversed(shape), reversed(stride)):
        if n > 1 and distance != step:
            return False
        step *= n
    return len(shape) == len(stride)


def _data_begin(file, member) -> int:
    """A zip entry's data follow its local header, whose two variable fields have lengths of their own."""
    header = file.map[member.header_offset:member.header_offset + 30]
    if len(header) < 30 or header[:4] != b"PK\3\4":
        raise ModelError(f"{file.path}: damaged zip entry {member.filename!r}")
    return member.header_offset + 30 + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
