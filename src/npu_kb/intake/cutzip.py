"""A zip whose directory is missing, as an interrupted copy leaves it, read by the header before each member."""

from __future__ import annotations

import io
import re
import struct
import zlib
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from npu_kb.intake.unpack import PIECE, Stretch

_HEADER = struct.Struct("<4s2x2H8xL4x2H")
"""Of a member: flags, method, packed size, lengths of its name and of further fields."""
_MEMBER, _DIRECTORY = b"PK\x03\x04", b"PK\x01\x02"
FIRST_MEMBER = re.compile(rb"PK\x03\x04[\n-?]\0..[\0\x08]\0", re.DOTALL)
"""The header of a member that is stored or deflated; no text of a log is like it."""
_NEXT = re.compile(rb"PK(?:\x03\x04|\x01\x02)")
_LONGEST_DESCRIPTOR = 24
"""Bytes behind a member that was packed before its size was known."""
_ENCRYPTED, _UTF8 = 1, 1 << 11
_STORED, _DEFLATED = 0, 8
_LONG, _LONG_SIZES = 0xFFFFFFFF, 1
"""A size that stands in the further field of this number (zip64)."""


class Member(NamedTuple):
    """A member of a zip."""

    name: str
    content: IO[bytes] | None
    """To be read to its end before the next member is asked for, EOFError where the zip is cut off in it; or None."""
    reason: str = ""
    """Why it has no content."""


def members(stream: IO[bytes]) -> Iterator[Member]:
    """The members of a seekable zip, which may stand behind something; EOFError where it is cut off.

    It returns where something else than a member or the directory follows.
    """
    stream.seek(0)
    first = FIRST_MEMBER.search(stream.read(PIECE))
    stream.seek(first.start() if first else 0)
    while (header := stream.read(_HEADER.size))[:4] == _MEMBER:
        yield _member(header, stream)
        behind = stream.read(_LONGEST_DESCRIPTOR + 4)
        found = _NEXT.search(behind)
        stream.seek(found.start() - len(behind) if found else 0, io.SEEK_CUR)
    if len(header) < _HEADER.size or header[:4] == _DIRECTORY:
        raise EOFError


def _member(header: bytes, stream: IO[bytes]) -> Member:
    """The member of a header behind which the stream stands; without content the stream stands behind the member."""
    if len(header) < _HEADER.size:
        raise EOFError
    _, flags, method, size, name_length, fields_length = _HEADER.unpack(header)
    name = stream.read(name_length).decode("utf-8" if flags & _UTF8 else "cp437", "replace")
    fields = stream.read(fields_length)
    size = _long_size(fields) if size == _LONG else size
    if method == _DEFLATED and not flags & _ENCRYPTED:
        return Member(name, _Inflated(stream))  # type: ignore[arg-type]
    if method == _STORED and not flags & _ENCRYPTED:
        return Member(name, Stretch(stream, size))  # type: ignore[arg-type]
    stream.seek(size, io.SEEK_CUR)
    return Member(name, None, "encrypted" if flags & _ENCRYPTED else f"packed by method {method}")


def _long_size(fields: bytes) -> int:
    """The packed size that further fields tell, each with its number and length before it."""
    while len(fields) >= 4:
        number, length = struct.unpack_from("<2H", fields)
        if number == _LONG_SIZES and len(fields) >= 20:
            return int(struct.unpack_from("<Q", fields, 12)[0])
        fields = fields[4 + length :]
    return 0


class _Inflated(io.RawIOBase):
    """What the next bytes of a stream unpack to; at the end the stream stands behind them."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._inflater = stream, zlib.decompressobj(-zlib.MAX_WBITS)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._inflater.eof:
            packed = self._inflater.unconsumed_tail or self._stream.read(PIECE)
            data = self._inflater.decompress(packed, len(buffer))
            if self._inflater.eof:
                self._stream.seek(-len(self._inflater.unused_data), io.SEEK_CUR)
            elif not packed and not data:
                raise EOFError
            if data:
                buffer[: len(data)] = data
                return len(data)
        return 0
