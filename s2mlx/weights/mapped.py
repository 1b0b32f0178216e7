"""Files mapped into memory, and stretches of them as arrays: copied, shared with the GPU, or let go again."""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..errors import ModelError, reason
from ..files.regular import open_regular

if TYPE_CHECKING:
    import mlx.core as mx

_PAGE = mmap.PAGESIZE


class Rows(Protocol):
    """Rows of bytes that are there, or are made, by slices."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> np.ndarray:
        """uint8 [some rows, row_bytes]."""
        ...


class TensorBytes(Protocol):
    """The bytes of one tensor: a `Region` of a file, or what stands for one and makes them when asked."""

    @property
    def data(self) -> np.ndarray:
        """uint8 [n]."""
        ...

    @property
    def nbytes(self) -> int: ...

    def rows(self, count: int) -> Rows:
        """`data` as so many rows of equal length."""
        ...

    def array(self, align: int = 1) -> mx.array:
        """mx.uint8 [n] for the GPU."""
        ...

    def release(self, begin: int = 0, end: int | None = None) -> None:
        """Let go of the memory that reading took."""
        ...


class MappedFile:
    """A whole file as read-only memory: `map` (an mmap), `bytes` (uint8 [size])."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        try:
            with open_regular(path) as file:
                if os.fstat(file.fileno()).st_size == 0:
                    raise ModelError(f"{path}: the file is empty; download it again")
                self.map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise ModelError(f"{path}: cannot be read: {reason(error)}") from None
        self.bytes = np.frombuffer(self.map, np.uint8)


@dataclass(frozen=True, eq=False)
class Region:
    """Bytes [begin, end) of a mapped file."""

    file: MappedFile
    begin: int
    end: int

    @property
    def data(self) -> np.ndarray:
        """A view, uint8 [n]; nothing is read before it is touched."""
        return self.file.bytes[self.begin : self.end]

    @property
    def nbytes(self) -> int:
        return self.end - self.begin

    def rows(self, count: int) -> np.ndarray:
        """`data` as so many rows of equal length."""
        return self.data.reshape(count, -1)

    def array(self, align: int = 1) -> mx.array:
        """mx.uint8 [n] for the GPU: the mapped pages themselves where Metal takes them and the region begins at a
        multiple of `align` bytes, otherwise a copy.

        Metal shares whole pages only, so the neighbours' bytes in the first and last page are lent along.
        """
        import mlx.core as mx

        if self.begin % align:
            return mx.array(self.data)
        first = self.begin // _PAGE * _PAGE
        last = min(-(-self.end // _PAGE) * _PAGE, len(self.file.bytes))
        try:
            pages = mx.from_dlpack(self.file.bytes[first:last])
        except BufferError:  # NumPy 1 does not lend read-only memory
            return mx.array(self.data)
        return pages[self.begin - first : self.end - first]

    def read_ahead(self) -> None:
        """Have the system read it now, all of it will be wanted."""
        begin = self.begin // _PAGE * _PAGE
        if hasattr(mmap, "MADV_WILLNEED") and self.end > begin:
            self.file.map.madvise(mmap.MADV_WILLNEED, begin, self.end - begin)

    def release(self, begin: int = 0, end: int | None = None) -> None:
        """Let go of the memory that reading took, of all of `data` or of the bytes [begin, end) of it. Who reads again
        fetches it from the file again."""
        last = self.end if end is None else self.begin + end
        begin, end = -(-(self.begin + begin) // _PAGE) * _PAGE, last // _PAGE * _PAGE
        if end > begin and hasattr(mmap, "MADV_DONTNEED"):
            self.file.map.madvise(mmap.MADV_DONTNEED, begin, end - begin)
