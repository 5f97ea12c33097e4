"""Packed streams, unpacked with bounded memory and a limit on what comes out for what went in."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import IO, Any, BinaryIO, cast

from npu_kb.intake.tree import why_not

_FREE_BYTES = 256_000_000
_MOST_RATIO = 250
"""A file may unpack to this many times its size, and to 256 MB anyway."""
_WINDOW = 1 << 27
"""Bytes of memory that a packed stream may ask for."""
PIECE = 1 << 18
"""Bytes that are read at a time."""
_CUT_TAR = "unexpected end of data"
"""What tarfile says of it."""
_SIP = 1 << 11
"""Bytes of a zstd stream that are unpacked at a time, to 64 MB at most."""


class Unreadable(OSError):
    """A stream that cannot be read to its end; `strerror` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(0, reason)


class Budget:
    """How many bytes may still come out of a file."""

    def __init__(self, size: int) -> None:
        self.left = max(_FREE_BYTES, size * _MOST_RATIO)

    def spend(self, count: int) -> None:
        """Count bytes that came out; Unreadable if they are too many."""
        self.left -= count
        if self.left < 0:
            raise Unreadable(f"unpacks to more than {_MOST_RATIO} times its size and {_FREE_BYTES // 1_000_000} MB")


class _Metered(io.RawIOBase):
    """What an unpacker gives, as long as the budget lasts; whatever goes wrong in it is an Unreadable."""

    def __init__(self, kind: str, unpacker: IO[bytes], budget: Budget) -> None:
        self._kind, self._budget = kind, budget
        self._read: Callable[[int], bytes] = getattr(unpacker, "read1", unpacker.read)
        """One step at a time, so that nothing of what comes before a damaged place is lost."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._read(min(len(buffer), PIECE))
        except Unreadable:
            raise
        except Exception as error:  # what damaged data makes the unpackers raise has no common class
            raise Unreadable(damaged(self._kind, error)) from None
        self._budget.spend(len(data))
        buffer[: len(data)] = data
        return len(data)


class AsFarAsGood:
    """A stream that ends where it cannot be read on: a log that was cut off while it was packed still tells much."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = cast(io.BufferedReader, stream)
        self.trouble = ""
        """Why it could not be read to its end."""

    def why_short(self) -> Exception:
        """What to raise where more was expected of it."""
        return Unreadable(self.trouble) if self.trouble else EOFError()

    def read(self, size: int = -1, /) -> bytes:
        """As of the stream, and nothing once that failed."""
        parts: list[bytes] = []
        left = size
        try:
            while left > 0 and not self.trouble and (part := self._stream.read1(left)):
                parts.append(part)
                left -= len(part)
        except OSError as error:
            self.trouble = why_not(error)
        return b"".join(parts)


class Stretch(io.RawIOBase):
    """The next bytes of a stream; where it ends before, EOFError or what `why_short` gives."""

    def __init__(self, stream: IO[bytes], size: int, why_short: Callable[[], Exception] = EOFError) -> None:
        self._stream, self._left, self._why_short = stream, size, why_short

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(min(len(buffer), self._left))
        if self._left and not data:
            raise self._why_short()
        self._left -= len(data)
        buffer[: len(data)] = data
        return len(data)


class _Frames(io.RawIOBase):
    """Packed frames behind each other, unpacked with bounded memory; EOFError where the last one is cut off.

    `new` makes what unpacks one frame, with the face of lzma.LZMADecompressor (lzma.LZMAFile would take what memory
    a file asks for).
    """

    def __init__(self, packed: IO[bytes], new: Callable[[], Any], piece: int = PIECE) -> None:
        self._packed, self._new, self._piece = packed, new, piece
        self._frame = new()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            rest = b""
            if self._frame.eof:
                rest = self._frame.unused_data or self._packed.read(self._piece)
                if not rest.strip(b"\0"):
                    return 0
                self._frame = self._new()
            elif self._frame.needs_input and not (rest := self._packed.read(self._piece)):
                raise EOFError
            if data := self._frame.decompress(rest, len(buffer)):
                buffer[: len(data)] = data
                return len(data)


class _ZstdFrame:
    """A frame of zstd with the face of lzma.LZMADecompressor, as compression.zstd has it from Python 3.14 on."""

    def __init__(self) -> None:
        import zstandard

        self._frame = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
        self._unpacked = memoryview(b"")

    @property
    def eof(self) -> bool:
        return bool(self._frame.eof) and not self._unpacked

    @property
    def needs_input(self) -> bool:
        return not self._unpacked

    @property
    def unused_data(self) -> bytes:
        return bytes(self._frame.unused_data)

    def decompress(self, data: bytes, most: int) -> memoryview:
        unpacked = self._unpacked or memoryview(self._frame.decompress(data))
        self._unpacked = unpacked[most:]
        return unpacked[:most]


def metered(kind: str, unpacker: IO[bytes], budget: Budget) -> io.BufferedReader:
    """What an unpacker gives, as far as the budget allows."""
    return io.BufferedReader(_Metered(kind, unpacker, budget), PIECE)


def damaged(kind: str, error: Exception) -> str:
    """Why a stream could not be read on: what an unpacker raised, in a few words."""
    is_cut = isinstance(error, EOFError) or str(error) == _CUT_TAR
    return f"{kind} cut off" if is_cut else f"damaged {kind} ({type(error).__name__})"


def unpacked(kind: str, stream: IO[bytes]) -> IO[bytes]:
    """The content of a gzip, bzip2, xz or zstd stream; all of several behind each other."""
    if kind == "gzip":
        import gzip

        return cast(IO[bytes], gzip.GzipFile(fileobj=stream))
    if kind == "bzip2":
        import bz2

        return bz2.BZ2File(stream)
    return cast(IO[bytes], _xz(stream) if kind == "xz" else _zstd(stream))


def _xz(stream: IO[bytes]) -> _Frames:
    import lzma

    return _Frames(stream, lambda: lzma.LZMADecompressor(memlimit=_WINDOW))


def _zstd(stream: IO[bytes]) -> _Frames:
    if sys.version_info >= (3, 14):
        from compression import zstd

        options = {zstd.DecompressionParameter.window_log_max: 27}
        return _Frames(stream, lambda: zstd.ZstdDecompressor(options=options))
    return _Frames(stream, _ZstdFrame, _SIP)
