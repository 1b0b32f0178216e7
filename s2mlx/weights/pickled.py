"""Dictionaries of tensors out of a pickle, without unpickling.

A pickle is a program; Python's own machine for it can be made to call anything, or to take all memory. This one knows
the few operations that torch.save writes for dictionaries of tensors. Nothing is called: a tensor is noted as where its
numbers lie, and whatever else turns up is an error.
"""

from __future__ import annotations

import pickletools
from typing import Any, NamedTuple


class Stored(NamedTuple):
    """A tensor as the pickle describes it. storage: torch's name of the type, key: which of the file's storages;
    offset, shape, stride: which numbers of that, counted in numbers. Unchecked."""

    storage: str
    key: str
    offset: Any
    shape: Any
    stride: Any


class _Name(str):
    """`module.name`, as a pickle refers to code."""


_TENSOR, _PARAMETER = "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_parameter"
_DICT = "collections.OrderedDict"
_MARK = object()
# The least operation takes one byte and makes an object of a hundred; a tensor takes about forty operations.
_MOST_OPERATIONS = 1 << 20
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_NUMBERS_AND_TEXTS = {"BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE"}
_SHORT_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


def read_pickle(data: bytes) -> dict:
    """Nested dictionaries of `Stored`, and of lists, tuples, texts and numbers. Raises ValueError."""
    stack: list[Any] = []
    memo: dict[int, Any] = {}
    try:
        for number, (operation, argument, _) in enumerate(pickletools.genops(data)):
            if number == _MOST_OPERATIONS:
                raise ValueError("too many operations for a dictionary of tensors")
            if operation.name == "STOP":
                return _dictionary(stack.pop())
            _step(operation.name, argument, stack, memo)
    except (IndexError, KeyError, TypeError, AttributeError) as error:  # too little on the stack, or the wrong thing
        raise ValueError(f"{type(error).__name__} in {operation.name}") from None
    raise ValueError("it has no end")


def _step(name, argument, stack, memo):
    if name in _CONSTANTS:
        stack.append(_CONSTANTS[name])
    elif name in _NUMBERS_AND_TEXTS:
        stack.append(argument)
    elif name == "EMPTY_DICT":
        stack.append({})
    elif name == "EMPTY_LIST":
        stack.append([])
    elif name == "MARK":
        stack.append(_MARK)
    elif name == "GLOBAL":
        stack.append(_Name(argument.replace(" ", ".")))
    elif name in ("BINPUT", "LONG_BINPUT", "MEMOIZE"):
        memo[len(memo) if argument is None else argument] = stack[-1]
    elif name in ("BINGET", "LONG_BINGET"):
        stack.append(memo[argument])
    elif name in _SHORT_TUPLES:
        items = [stack.pop() for _ in range(_SHORT_TUPLES[name])]
        stack.append(tuple(reversed(items)))
    elif name == "TUPLE":
        stack.append(tuple(_to_mark(stack)))
    elif name in ("APPEND", "APPENDS"):
        items = [stack.pop()] if name == "APPEND" else _to_mark(stack)
        stack[-1].extend(items)
    elif name in ("SETITEM", "SETITEMS"):
        items = [stack.pop(), stack.pop()][::-1] if name == "SETITEM" else _to_mark(stack)
        _fill(stack[-1], items)
    elif name == "BINPERSID":
        stack.append(_storage(stack.pop()))
    elif name == "REDUCE":
        arguments, function = stack.pop(), stack.pop()
        stack.append(_stand_in(function, arguments))
    elif name == "BUILD":  # attributes of a dictionary: nothing that weights need
        stack.pop()
    elif name not in ("PROTO", "FRAME"):
        raise ValueError(f"the operation {name}")


def _dictionary(value):
    if not isinstance(value, dict):
        raise ValueError(f"a {type(value).__name__} where a dictionary should be")
    return value


def _to_mark(stack):
    items = []
    while (item := stack.pop()) is not _MARK:
        items.append(item)
    return items[::-1]


def _fill(dictionary, items):
    for key, value in zip(items[::2], items[1::2], strict=True):
        if not isinstance(key, str):
            raise ValueError("a dictionary whose keys are no names")
        _dictionary(dictionary)[key] = value


def _storage(identity):
    kind, storage, key, *_ = identity
    if kind != "storage" or not isinstance(storage, _Name) or not isinstance(key, str):
        raise ValueError("a reference to something other than numbers")
    return storage.removeprefix("torch."), key


def _stand_in(function, arguments):
    """What stands for the result of a call."""
    if not isinstance(function, _Name):
        raise ValueError("a call of something unknown")
    if function == _DICT:
        return {}
    if function == _TENSOR:
        (storage, key), offset, shape, stride, *_ = arguments
        if not (isinstance(storage, str) and isinstance(key, str)):
            raise ValueError("a tensor without numbers")
        return Stored(storage, key, offset, shape, stride)
    if function == _PARAMETER:
        return arguments[0]
    raise ValueError(f"a call of {str(function):.60}")
