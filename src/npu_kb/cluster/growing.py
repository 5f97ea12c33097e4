"""One log that grows: which of its bytes are new whole lines, and whether it was written anew."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO

from npu_kb.cluster.pieces import HEAD
from npu_kb.intake.archives import kind_of
from npu_kb.intake.clean import utf16_without_mark
from npu_kb.intake.sources import encoding_of, is_binary
from npu_kb.intake.tree import LogFile

_CHUNK = 1 << 19
_MARK = 64
"""Bytes at a log's start, and before what is read next; a log in which they changed was written anew."""
_TELLING = 2_000
"""Bytes at a log's start that tell its encoding."""
_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


class GrowingLog:
    """A log by its inode, so that it is the same one under a new name; what stands before `offset` is passed over."""

    __slots__ = (
        "_head",
        "_is_log",
        "_mark",
        "changed",
        "grew",
        "is_ended",
        "lines",
        "looked_at",
        "offset",
        "path",
        "told",
        "unread",
    )

    def __init__(self, offset: int = 0, changed: float = 0.0, head: bytes = b"", mark: bytes = b"") -> None:
        self.path = ""
        self.looked_at, self.changed = offset, changed
        """Its size, and when it had been changed, when it was looked at last."""
        self.grew = 0.0
        """When, as time.monotonic has it."""
        self.told: set[str] = set()
        """Entries of the knowledge that were told of it."""
        self._pass_over(offset, head, mark)

    def _pass_over(self, offset: int, head: bytes, mark: bytes) -> None:
        self.offset = self.unread = offset
        """Bytes that were read or passed over; that were passed over."""
        self.lines = 0
        """Lines that were read."""
        self.is_ended = False
        """Whether what stands behind its last whole line was read."""
        self._head, self._mark = head, mark
        self._is_log: bool | None = None
        """Not known before it is read; of data and archives nothing is read."""

    def begin_anew(self) -> None:
        """Forget what was read, and what was told of it: something else stands there now."""
        self.told.clear()
        self._pass_over(0, b"", b"")

    def read_again(self) -> None:
        """Forget what was read, but not what was passed over: something else may stand there now."""
        self._pass_over(self.unread, self._head[: self.unread], b"")

    @classmethod
    def from_its_end(cls, file: LogFile) -> GrowingLog:
        """A log of which only what comes is read."""
        try:
            with opened(file) as stream:
                length = min(_MARK, file.size)
                head = stream.read(length)
                stream.seek(file.size - length)
                return cls(file.size, file.changed, head, stream.read(length))
        except OSError:
            return cls(file.size, file.changed)

    def is_the_same(self, stream: FileIO) -> bool:
        """Whether what was read stands there still."""
        stream.seek(0)
        if stream.read(len(self._head)) != self._head:
            return False
        stream.seek(self.offset - len(self._mark))
        return stream.read(len(self._mark)) == self._mark

    def chunks(self, stream: FileIO) -> Iterator[bytes]:
        """Its new whole lines, in UTF-8."""
        head = _start_of(stream, HEAD if self._is_log is None else _TELLING)
        if self._is_log is None:
            self._is_log = not (kind_of(head) or is_binary(head))
        if not self._is_log:
            self.offset = os.fstat(stream.fileno()).st_size
        utf16 = _utf16_of(head)
        self.offset -= self.offset % 2 if utf16 else 0  # half of a character was there
        while self._is_log:
            stream.seek(self.offset)
            data = stream.read(_CHUNK)
            lines = data[: _end_of_lines(data, utf16)] or (data if len(data) == _CHUNK else b"")
            if not lines:
                return
            self._mark = (self._mark + lines)[-_MARK:]
            self.offset += len(lines)
            self._head = head[: min(_MARK, self.offset)]
            yield _in_utf8(lines, utf16)

    def rest(self, stream: FileIO) -> bytes:
        """What stands behind the last whole line, in UTF-8."""
        utf16 = _utf16_of(_start_of(stream, _TELLING))
        stream.seek(self.offset)
        return _in_utf8(stream.read(_CHUNK), utf16)

    def above(self, stream: FileIO, size: int) -> bytes:
        """The last bytes before what is read next, at most so many, in UTF-8."""
        utf16 = _utf16_of(_start_of(stream, _TELLING))
        start = max(0, self.offset - size)
        stream.seek(start)
        return _in_utf8(stream.read(self.offset - start), utf16)

    def lines_passed_over(self, stream: FileIO) -> int:
        """The ends of lines in what was passed over."""
        utf16, count, left = _utf16_of(_start_of(stream, _TELLING)), 0, self.unread
        stream.seek(0)
        while left > 0 and (data := stream.read(min(left, _CHUNK))):
            count += (data.decode(utf16, "replace").encode("utf-8", "replace") if utf16 else data).count(b"\n")
            left -= len(data)
        return count


@contextmanager
def opened(file: LogFile) -> Iterator[FileIO]:
    """The file that was listed; OSError if another one, or a pipe, has its name now."""
    handle = os.open(file.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with FileIO(handle) as stream:
        status = os.fstat(handle)
        if (status.st_dev, status.st_ino) != file.identity:
            raise FileNotFoundError(file.path)
        yield stream


def _start_of(stream: FileIO, size: int) -> bytes:
    stream.seek(0)
    return stream.read(size)


def _utf16_of(head: bytes) -> str | None:
    """The kind of UTF-16 in which a log is that begins so."""
    return _UTF16.get(head[:2]) or utf16_without_mark(head)


def _end_of_lines(data: bytes, utf16: str | None) -> int:
    """Bytes up to the end of the last whole line."""
    end_of_line = "\n".encode(utf16 or "utf-8")
    at = data.rfind(end_of_line)
    while at > 0 and at % len(end_of_line):
        at = data.rfind(end_of_line, 0, at + 1)
    return at + len(end_of_line) if at >= 0 else 0


def _in_utf8(lines: bytes, utf16: str | None) -> bytes:
    encoding = utf16 or encoding_of(lines)
    return lines.decode(encoding, "replace").lstrip("\ufeff").encode("utf-8", "replace") if encoding else lines
