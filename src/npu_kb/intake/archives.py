"""The logs inside a file: itself, what it unpacks to, or the members of an archive, and of archives in that.

Kinds are told by content, not by name. Nothing is written to disk, memory is bounded, and a limit on what comes out
for what went in stops bombs.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator
from itertools import islice
from typing import IO, Any, BinaryIO, NamedTuple, cast

from npu_kb.intake.tree import LogFile, Skipped, log_files, why_not

HEAD = 512
"""Bytes that tell the kind of a file."""
_FREE_BYTES = 256_000_000
_MOST_RATIO = 250
"""A file may unpack to this many times its size, and to 256 MB anyway."""
_MOST_MEMBERS = 1_000_000
_NESTED_ZIP = 64_000_000
"""Bytes up to which a zip inside an archive is read: it has to be held in memory."""
_WINDOW = 1 << 27
"""Bytes of memory that a packed stream may ask for."""
_DEEPEST = 2
_COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_RECORD = "record"
"""A snapshot, a manifest, an answer: what npu-kb itself wrote shows no fault."""
_RECORD_REASON = "written by npu-kb, no log"
_MOST_NAMES = 300
"""Of an archive: to come to the next name, what lies before it has to be unpacked."""
_PIECE = 1 << 18


class Log(NamedTuple):
    """One log as a stream of bytes, to be read before the next one is asked for."""

    name: str
    """Its file's name; of a member `ARCHIVE!MEMBER`."""
    stream: BinaryIO


class Unreadable(OSError):
    """A stream that cannot be read to its end; `strerror` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(0, reason)


class _Budget:
    """How many bytes may still come out of a file."""

    def __init__(self, size: int) -> None:
        self.left = max(_FREE_BYTES, size * _MOST_RATIO)

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise Unreadable(f"unpacks to more than {_MOST_RATIO} times its size")


class _Metered(io.RawIOBase):
    """What an unpacker gives, as long as the budget lasts; whatever goes wrong in it is an Unreadable."""

    def __init__(self, kind: str, unpacker: IO[bytes], budget: _Budget) -> None:
        self._kind, self._unpacker, self._budget = kind, unpacker, budget

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._unpacker.read(min(len(buffer), _PIECE))
        except Unreadable:
            raise
        except Exception as error:  # what damaged data makes the unpackers raise has no common class
            raise Unreadable(_damaged(self._kind, error)) from None
        self._budget.spend(len(data))
        buffer[: len(data)] = data
        return len(data)


class _Xz(io.RawIOBase):
    """An xz stream, unpacked with bounded memory (lzma.LZMAFile would take what the file asks for)."""

    def __init__(self, packed: IO[bytes]) -> None:
        self._packed, self._decompressor = packed, self._new()

    def _new(self) -> Any:
        import lzma

        return lzma.LZMADecompressor(memlimit=_WINDOW)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            rest = b""
            if self._decompressor.eof:
                rest = self._decompressor.unused_data or self._packed.read(_PIECE)
                if not rest.strip(b"\0"):
                    return 0
                self._decompressor = self._new()
            elif self._decompressor.needs_input and not (rest := self._packed.read(_PIECE)):
                raise EOFError
            if data := self._decompressor.decompress(rest, len(buffer)):
                buffer[: len(data)] = data
                return len(data)


def logs_in(file: LogFile) -> Iterator[Log | Skipped]:
    """Every log in a file, one after the other; what cannot be opened is told and ends neither this file nor the run.

    Reading a log's stream raises OSError (Unreadable where it is damaged or a bomb).
    """
    try:
        with _opened(file.path) as stream:
            yield from _logs(file.name, stream, _Budget(os.fstat(stream.fileno()).st_size), 0)
    except OSError as error:
        yield Skipped(file.name, why_not(error))


def names_below(path: str) -> list[str]:
    """The names of the logs in a folder, or of the first ones in an archive; none of an archive that npu-kb made."""
    if os.path.isdir(path):
        return [os.path.relpath(file.name, path) for file in log_files([path])]
    names = []
    for log in islice(logs_in(LogFile(path, path, 0)), _MOST_NAMES):
        if isinstance(log, Log):
            names.append(log.name.removeprefix(f"{path}!"))
        elif log.reason == _RECORD_REASON:
            return []
    return names


def _opened(path: str) -> io.BufferedReader:
    """A file that is regular or a pipe, whatever else it was when it was listed."""
    if path == "-":
        return cast(io.BufferedReader, os.fdopen(os.dup(0), "rb", _PIECE))
    pipe = stat.S_ISFIFO(os.stat(path).st_mode)
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | (0 if pipe else os.O_NONBLOCK))
    mode = os.fstat(handle).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        os.close(handle)
        raise Unreadable("special file")
    return cast(io.BufferedReader, os.fdopen(handle, "rb", _PIECE))


def _logs(name: str, stream: io.BufferedReader, budget: _Budget, depth: int) -> Iterator[Log | Skipped]:
    kind = _kind(stream)
    if not kind:
        yield Log(name, stream)
    elif kind == _RECORD:
        yield Skipped(name, _RECORD_REASON)
    elif depth >= _DEEPEST:
        yield Skipped(name, "archive in an archive in an archive")
    else:
        try:
            yield from _unpacked_logs(kind, name, stream, budget, depth)
        except Unreadable as error:
            yield Skipped(name, why_not(error))
        except Exception as error:  # as in _Metered
            yield Skipped(name, _damaged(kind, error))


def _damaged(kind: str, error: Exception) -> str:
    return f"{kind} cut off" if isinstance(error, EOFError) else f"damaged {kind} ({type(error).__name__})"


def _unpacked_logs(
    kind: str, name: str, stream: io.BufferedReader, budget: _Budget, depth: int
) -> Iterator[Log | Skipped]:
    if kind == "tar":
        yield from _tar(name, stream, budget, depth)
    elif kind == "zip":
        yield from _zip(name, stream, budget, depth)
    else:
        unpacked = _metered(kind, _unpacked(kind, stream), budget)
        if _kind(unpacked) == "tar":
            yield from _tar(name, unpacked, budget, depth)
        else:
            yield from _logs(name, unpacked, budget, depth + 1)


def _metered(kind: str, unpacker: IO[bytes], budget: _Budget) -> io.BufferedReader:
    return io.BufferedReader(_Metered(kind, unpacker, budget), _PIECE)


def _kind(stream: io.BufferedReader) -> str:
    return kind_of(stream.peek(HEAD))


def kind_of(head: bytes) -> str:
    """What a file or stream that begins so holds: tar, zip, gzip, bzip2, xz, zstd or a record of ours; empty: a log."""
    if head[257:262] == b"ustar":
        return "tar"
    if head.startswith(b"PK\x03\x04"):
        return "zip"
    if head.lstrip(b"{ \n").startswith(b'"schema": "npu-kb/'):
        return _RECORD
    return next((kind for magic, kind in _COMPRESSED.items() if head.startswith(magic)), "")


def _unpacked(kind: str, stream: IO[bytes]) -> IO[bytes]:
    if kind == "gzip":
        import gzip

        return cast(IO[bytes], gzip.GzipFile(fileobj=stream))
    if kind == "bzip2":
        import bz2

        return bz2.BZ2File(stream)
    return cast(IO[bytes], _Xz(stream) if kind == "xz" else _zstd(stream))


def _zstd(stream: IO[bytes]) -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdFile(stream, options={zstd.DecompressionParameter.window_log_max: 27})
    import zstandard

    return zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(stream, read_across_frames=True)


def _tar(name: str, stream: io.BufferedReader, budget: _Budget, depth: int) -> Iterator[Log | Skipped]:
    import tarfile

    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for number, member in enumerate(archive):
            cast(Any, archive).members.clear()  # tarfile would remember them all
            if number >= _MOST_MEMBERS:
                yield Skipped(name, f"holds more than {_MOST_MEMBERS} members")
                return
            inner = f"{name}!{member.name}"
            if member.isfile() and (content := archive.extractfile(member)):
                yield from _logs(inner, _metered("tar", content, budget), budget, depth + 1)
            elif not member.isdir():
                yield Skipped(inner, "link" if member.issym() or member.islnk() else "special file")


def _zip(name: str, stream: io.BufferedReader, budget: _Budget, depth: int) -> Iterator[Log | Skipped]:
    import zipfile

    seekable: IO[bytes] = stream
    if not stream.seekable():
        seekable = io.BytesIO(stream.read(_NESTED_ZIP + 1))
        if seekable.getbuffer().nbytes > _NESTED_ZIP:
            raise Unreadable("zip of more than 64 MB in an archive or a pipe")
    with zipfile.ZipFile(seekable) as archive:
        for member in archive.infolist()[:_MOST_MEMBERS]:
            inner = f"{name}!{member.filename}"
            if member.flag_bits & 1:
                yield Skipped(inner, "encrypted")
            elif not member.is_dir():
                with archive.open(member) as content:
                    yield from _logs(inner, _metered("zip", content, budget), budget, depth + 1)
