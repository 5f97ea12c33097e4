"""A log of any size to look at: which block holds which line is counted once, and only the lines shown are read."""

from __future__ import annotations

import io
import os
import re
import stat
import tempfile
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from npu_kb.errors import NpuKbError
from npu_kb.intake.clean import decode, printable
from npu_kb.intake.sources import encoding_of, utf8_chunks

_BLOCK = 65_536
"""Bytes of a block; the number of lines before each is all that is kept of a log."""
_OVERLAP = 256
"""Bytes of the next block that are read with one, for what begins in it and ends in the next."""
_STEP = 64
"""Blocks that are counted between two reports of progress."""
_LONGEST = 1_000_000
"""Bytes of a line that are shown."""
_CACHED_LINES = 2_000
_IN_MEMORY = 64_000_000
TROUBLE = re.compile(
    rb"error|exception|fail|fatal|cannot|unable|refused|timed ?out|abort|killed|"
    + "|".join(("错误", "失败", "异常", "超时")).encode()
)
"""What a line that speaks of an error holds, in small letters."""

Cancelled = Callable[[], bool]
"""Asked now and then: whether to stop."""


class LogFile:
    """The lines of a file or text. Lines count from 0; `name` is what the diagnosis calls it.

    A file that changes while it is shown gives other or empty lines, never an error.
    """

    def __init__(self, name: str, stream: BinaryIO, encoding: str | None = None) -> None:
        self.name = name
        self._stream = stream
        self._encoding = encoding
        self.size = stream.seek(0, os.SEEK_END)
        self._before: list[int] = [0]
        """Number of line ends before each block that was counted."""
        self._lines: OrderedDict[int, str] = OrderedDict()

    @classmethod
    def of_path(cls, path: str) -> LogFile:
        """The log in a regular file; NpuKbError with the mend if it is none, or cannot be read."""
        try:
            if not stat.S_ISREG(Path(path).stat().st_mode):
                raise NpuKbError(f"{path}: is no regular file; give a file or folder of logs")
            stream = Path(path).open("rb")  # noqa: SIM115
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "no such name"
            raise NpuKbError(f"{path}: cannot be read: {reason}; give a readable file") from None
        encoding = encoding_of(stream.read(_BLOCK))
        log = cls(path, stream, encoding)
        if log.size == 0:  # as files of /proc seem
            with stream:
                stream.seek(0)
                return cls.of_text(path, decode(stream.read(_IN_MEMORY)))
        return log._in_utf8() if encoding == "utf-16" else log

    @classmethod
    def of_text(cls, name: str, text: str) -> LogFile:
        """A text as a log."""
        return cls(name, io.BytesIO(text.encode("utf-8", "replace")))

    def _in_utf8(self) -> LogFile:
        """The same in an encoding in which a line's end is one byte."""
        copy = tempfile.TemporaryFile(prefix="npu-kb-")  # noqa: SIM115
        with self._stream:
            self._stream.seek(0)
            for chunk in utf8_chunks(self._stream.read(_BLOCK), self._stream):
                copy.write(chunk)
        return LogFile(self.name, copy)

    def stream(self) -> BinaryIO:
        """Its bytes from the start, independent of what is shown at the same time."""
        return io.BufferedReader(_Window(self._read, self.size), _BLOCK)

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()

    def count_lines(self, progress: Callable[[float], None], cancelled: Cancelled) -> None:
        """Find out where lines are; those found so far can be shown meanwhile. `progress` is told 0 to 1."""
        while (at := (len(self._before) - 1) * _BLOCK) < self.size and not cancelled():
            data = self._read(at, _STEP * _BLOCK) or b"\0" * (self.size - at)
            for start in range(0, len(data), _BLOCK):
                self._before.append(self._before[-1] + data.count(b"\n", start, start + _BLOCK))
            progress(min(1.0, at / self.size))

    @property
    def line_count(self) -> int:
        """Lines as far as they are counted; text behind the last line end is one."""
        counted = (len(self._before) - 1) * _BLOCK
        ends = self._before[-1]
        whole = counted >= self.size
        return ends + (1 if whole and self.size and self._read(self.size - 1, 1) != b"\n" else 0)

    def line(self, number: int) -> str:
        """A line without what could harm a terminal."""
        if (known := self._lines.get(number)) is not None:
            return known
        text = self._lines[number] = self._text(self._bytes(number))
        if len(self._lines) > _CACHED_LINES:
            self._lines.popitem(last=False)
        return text

    def _text(self, data: bytes) -> str:
        return printable(data.decode(self._encoding, "replace") if self._encoding else decode(data))

    def _bytes(self, number: int) -> bytes:
        """The bytes of a line without its end."""
        if not 0 <= number <= self._before[-1]:
            return b""
        block = max(0, bisect_left(self._before, number) - 1)
        start = self._start(block, number - self._before[block])
        parts, length = [], 0
        while length < _LONGEST and (data := self._read(start + length, _BLOCK)):
            end = data.find(b"\n")
            parts.append(data if end < 0 else data[:end])
            if end >= 0:
                break
            length += len(data)
        return b"".join(parts)[:_LONGEST].removesuffix(b"\r")

    def _start(self, block: int, line_ends: int) -> int:
        """Where the text behind so many line ends of a block starts."""
        data, at = self._read(block * _BLOCK, _BLOCK), 0
        for _ in range(line_ends):
            at = data.find(b"\n", at) + 1
            if not at:
                return self.size
        return block * _BLOCK + at

    def find(self, pattern: re.Pattern[bytes], start: int, step: int, cancelled: Cancelled) -> int | None:
        """The next line from `start` on (`step` 1) or before it (-1) that holds the pattern, wherever in the log.

        The pattern meets all ASCII letters as small ones: six times as fast as one that ignores case.
        """
        block = min(max(0, bisect_left(self._before, start + (step < 0)) - 1), len(self._before) - 2)
        while 0 <= block < len(self._before) - 1 and not cancelled():
            lines = self._lines_of(block, pattern)
            fitting = [line for line in lines if (line >= start if step > 0 else line <= start)]
            if fitting:
                return fitting[0 if step > 0 else -1]
            block += step
        return None

    def pattern_of(self, text: str) -> re.Pattern[bytes]:
        """What `find` needs to find a text."""
        return re.compile(re.escape(text.encode(self._encoding or "utf-8", "replace").lower()))

    def all_with(self, pattern: re.Pattern[bytes], cancelled: Cancelled) -> array[int]:
        """All lines that hold the pattern, as `find` finds them, as far as it was not cancelled."""
        found = array("Q")
        for block in range(len(self._before) - 1):
            if cancelled():
                break
            for line in self._lines_of(block, pattern):
                if not found or found[-1] < line:
                    found.append(line)
        return found

    def _lines_of(self, block: int, pattern: re.Pattern[bytes]) -> list[int]:
        data = self._read(block * _BLOCK, _BLOCK + _OVERLAP).lower()
        found, line, at = [], self._before[block], 0
        for match in pattern.finditer(data):
            if match.start() >= _BLOCK:
                break
            line += data.count(b"\n", at, match.start())
            at = match.start()
            found.append(line)
        return found

    def _read(self, at: int, size: int) -> bytes:
        """Bytes at a place; less or none where the file has shrunk or cannot be read any more."""
        size = max(0, min(size, self.size - at))
        if isinstance(self._stream, io.BytesIO):
            return bytes(self._stream.getbuffer()[at : at + size])
        try:
            return os.pread(self._stream.fileno(), size, at)
        except (OSError, ValueError):
            return b""


def is_trouble(text: str) -> bool:
    """Whether a line speaks of an error."""
    return TROUBLE.search(text[:2_000].encode("utf-8", "replace").lower()) is not None


class _Window(io.RawIOBase):
    """Bytes that a function reads at a place, as a stream."""

    def __init__(self, read: Callable[[int, int], bytes], size: int) -> None:
        self._read_at = read
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        data = self._read_at(self._at, min(len(view), self._size - self._at))
        view[: len(data)] = data
        self._at += len(data)
        return len(data)
