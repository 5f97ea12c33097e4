"""The logs inside a file: itself, what it unpacks to, or the members of an archive, and of archives in that.

Kinds are told by content, not by name. Nothing is written to disk, memory is bounded, and a limit on what comes out
for what went in stops bombs.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from npu_kb.intake.pipes import is_pipe, told_if_it_waits
from npu_kb.intake.tree import LogFile, Skipped, log_files, why_not
from npu_kb.intake.unpack import PIECE, AsFarAsGood, Budget, Stretch, Unreadable, damaged, metered, unpacked

if TYPE_CHECKING:
    from tarfile import TarInfo

HEAD = 512
"""Bytes that tell the kind of a file."""
_MOST_MEMBERS = 1_000_000
_NESTED_ZIP = 64_000_000
"""Bytes up to which a zip inside an archive is read: it has to be held in memory."""
_DEEPEST = 2
_ZIP_MEMBER = b"PK\x03\x04"
_ZIP_END, _ZIP_END_SIZE = b"PK\x05\x06", 22
_LONGEST_ZIP_END = _ZIP_END_SIZE + 65_535
"""Bytes, with a comment behind it."""
COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_RECORD = "record"
"""A snapshot, a manifest, an answer: what npu-kb itself wrote shows no fault."""
_RECORD_REASON = "written by npu-kb, no log"
_ABOUT_THE_NEXT = (b"L", b"K", b"x", b"g", b"X")
"""Types of tar headers whose content tells of the next member: long names of GNU and pax."""
_LONGEST_HEADER = 65_536
_MOST_NAMES = 300
"""Of an archive: to come to the next name, what lies before it has to be unpacked."""


class Log(NamedTuple):
    """One log as a stream of bytes, to be read before the next one is asked for."""

    name: str
    """Its file's name; of a member `ARCHIVE!MEMBER`."""
    stream: BinaryIO


def logs_in(file: LogFile) -> Iterator[Log | Skipped]:
    """Every log in a file, one after the other; what cannot be opened is told and ends neither this file nor the run.

    Reading a log's stream raises OSError (Unreadable where it is damaged or a bomb).
    """
    try:
        with _opened(file.path) as stream:
            yield from logs_of(file.name, stream)
    except OSError as error:
        yield Skipped(file.name, why_not(error))


def logs_of(name: str, stream: io.BufferedReader) -> Iterator[Log | Skipped]:
    """Every log in an open file or pipe, as `logs_in`; OSError where it cannot be read."""
    yield from _logs(name, stream, Budget(_size_of(stream)), 0)


def _size_of(stream: io.BufferedReader) -> int:
    """Bytes of a stream; 0 where that is not known beforehand (a pipe)."""
    if not stream.seekable():
        return 0
    start = stream.tell()
    size = stream.seek(0, io.SEEK_END)
    stream.seek(start)
    return size


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
        return cast(io.BufferedReader, os.fdopen(os.dup(0), "rb", PIECE))
    with told_if_it_waits(path):
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | (0 if is_pipe(path) else os.O_NONBLOCK))
    mode = os.fstat(handle).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        os.close(handle)
        raise Unreadable("special file")
    return cast(io.BufferedReader, os.fdopen(handle, "rb", PIECE))


def _logs(name: str, stream: io.BufferedReader, budget: Budget, depth: int) -> Iterator[Log | Skipped]:
    kind = kind_of_stream(stream)
    if not kind:
        yield Log(name, stream)
    elif kind == _RECORD:
        yield Skipped(name, _RECORD_REASON)
    elif depth >= _DEEPEST:
        yield Skipped(name, "archive in an archive in an archive", is_loss=True)
    else:
        try:
            yield from _unpacked_logs(kind, name, stream, budget, depth)
        except Unreadable as error:
            yield Skipped(name, why_not(error), is_loss=True)
        except Exception as error:  # as in unpack.py
            yield Skipped(name, damaged(kind, error), is_loss=True)


def _unpacked_logs(
    kind: str, name: str, stream: io.BufferedReader, budget: Budget, depth: int
) -> Iterator[Log | Skipped]:
    if kind == "tar":
        yield from _tar(name, stream, budget, depth)
    elif kind == "zip":
        yield from _zip(name, stream, budget, depth)
    else:
        content = metered(kind, unpacked(kind, stream), budget)
        if kind_of_stream(content) == "tar":
            yield from _tar(name, content, budget, depth)
        else:
            yield from _logs(name, content, budget, depth + 1)


def kind_of_stream(stream: io.BufferedReader) -> str:
    """As `kind_of`; a zip may stand behind something, where it shows by its first member or its end."""
    head = stream.peek(HEAD)
    return kind_of(head) or ("zip" if _holds_a_zip(head) or (stream.seekable() and _ends_as_zip(stream)) else "")


def _holds_a_zip(head: bytes) -> bool:
    if _ZIP_MEMBER not in head:
        return False
    from npu_kb.intake.cutzip import FIRST_MEMBER

    return bool(FIRST_MEMBER.search(head))


def _ends_as_zip(stream: io.BufferedReader) -> bool:
    """Whether the record that ends a zip, and the comment of the length that it tells, end a stream."""
    start = stream.tell()
    stream.seek(max(0, _size_of(stream) - _LONGEST_ZIP_END))
    tail = stream.read(_LONGEST_ZIP_END)
    stream.seek(start)
    record = tail[tail.rfind(_ZIP_END) :]
    return record.startswith(_ZIP_END) and len(record) == _ZIP_END_SIZE + int.from_bytes(record[20:22], "little")


def kind_of(head: bytes) -> str:
    """What a file or stream that begins so holds: tar, zip, gzip, bzip2, xz, zstd or a record of ours; empty: a log."""
    if head[257:262] == b"ustar":
        return "tar"
    if head.startswith(_ZIP_MEMBER):
        return "zip"
    if head.lstrip(b"{ \n").startswith(b'"schema": "npu-kb/'):
        return _RECORD
    return next((kind for magic, kind in COMPRESSED.items() if head.startswith(magic)), "")


def _tar(name: str, stream: io.BufferedReader, budget: Budget, depth: int) -> Iterator[Log | Skipped]:
    packed = AsFarAsGood(stream)
    try:
        yield from _tar_members(name, packed, budget, depth)
    except Exception:
        if not packed.trouble:
            raise
    if packed.trouble:
        raise packed.why_short()


def _tar_members(name: str, packed: AsFarAsGood, budget: Budget, depth: int) -> Iterator[Log | Skipped]:
    import tarfile

    with tarfile.open(fileobj=cast(IO[bytes], packed), mode="r|", tarinfo=_bounded_header()) as archive:
        for number, member in enumerate(archive):
            cast(Any, archive).members.clear()  # tarfile would remember them all
            if number >= _MOST_MEMBERS:
                yield Skipped(name, f"holds more than {_MOST_MEMBERS} members", is_loss=True)
                return
            inner = f"{name}!{member.name}"
            if member.issparse():
                yield Skipped(inner, "sparse")
            elif member.isfile():  # read past tarfile, which drops what stands before a cut
                content = cast(IO[bytes], Stretch(cast(Any, archive).fileobj, member.size, packed.why_short))
                yield from _logs(inner, metered("tar", content, budget), budget, depth + 1)
            elif not member.isdir():
                yield Skipped(inner, "link" if member.issym() or member.islnk() else "special file")


def _bounded_header() -> type[TarInfo]:
    """A tar header of bounded memory; Unreadable where neither one nor the end of the archive stands."""
    import tarfile

    class Header(tarfile.TarInfo):
        @classmethod
        def fromtarfile(cls, archive: tarfile.TarFile) -> Any:
            faults = cast(Any, tarfile)
            try:
                return super().fromtarfile(archive)
            except (faults.EmptyHeaderError, faults.TruncatedHeaderError):
                raise Unreadable(damaged("tar", EOFError())) from None
            except faults.InvalidHeaderError:
                raise Unreadable("damaged tar (bad header)") from None

        def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
            if self.type in _ABOUT_THE_NEXT and self.size > _LONGEST_HEADER:
                raise Unreadable(f"tar header of more than {_LONGEST_HEADER} bytes")
            if self.type == tarfile.GNUTYPE_SPARSE and self._sparse_structs[1]:  # type: ignore[attr-defined]
                raise Unreadable("tar with a sparse member of many parts")
            return cast(tarfile.TarInfo, super()._proc_member(archive))  # type: ignore[misc]

        def _proc_gnusparse_10(self, member: tarfile.TarInfo, *_: object) -> None:
            """Only marks it as sparse: the list of its parts may be as long as the archive."""
            member.sparse = b""

    return Header


def _zip(name: str, stream: io.BufferedReader, budget: Budget, depth: int) -> Iterator[Log | Skipped]:
    import zipfile

    seekable: IO[bytes] = stream
    if not stream.seekable():
        seekable = io.BytesIO(stream.read(_NESTED_ZIP + 1))
        if seekable.getbuffer().nbytes > _NESTED_ZIP:
            raise Unreadable("zip of more than 64 MB in an archive or a pipe")
    try:
        archive = zipfile.ZipFile(seekable)
    except zipfile.BadZipFile:
        yield from _cut_zip(name, seekable, budget, depth)
        raise
    with archive:
        for member in archive.infolist()[:_MOST_MEMBERS]:
            inner = f"{name}!{member.filename}"
            if member.flag_bits & 1:
                yield Skipped(inner, "encrypted", is_loss=True)
            elif not member.is_dir():
                with archive.open(member) as content:
                    yield from _logs(inner, metered("zip", content, budget), budget, depth + 1)


def _cut_zip(name: str, stream: IO[bytes], budget: Budget, depth: int) -> Iterator[Log | Skipped]:
    from npu_kb.intake.cutzip import members

    for member in islice(members(stream), _MOST_MEMBERS):
        inner = f"{name}!{member.name}"
        if member.content is None:
            yield Skipped(inner, member.reason, is_loss=True)
            continue
        content = metered("zip", member.content, budget)
        if not f"/{member.name}".endswith("/"):
            yield from _logs(inner, content, budget, depth + 1)
        while content.read(PIECE):  # behind it the next one begins
            pass
