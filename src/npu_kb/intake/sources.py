"""Read what the user gave, small or huge, into lines in bounded memory."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from io import BufferedReader
from typing import BinaryIO, Protocol, cast

from npu_kb.errors import NpuKbError
from npu_kb.intake.clean import decode, utf16_without_mark
from npu_kb.intake.logtext import MAX_LINE, Line, LogText, lines_of

WHOLE_BYTES = 2_000_000
"""Up to this size a log is read whole; of a larger one the lines around possible evidence are kept."""
_CHUNK = 1 << 19
_OVERLAP = 2_000
_CONTEXT = 12
"""Lines kept before and after a line of interest."""
_LINE = re.compile(rb"[^\r\n][^\n]*")
"""That is not empty: a bomb may hold a hundred million that are."""
_KEPT_BYTES = 4_000_000
_KEPT_OF_ARCHIVE = 64_000_000
"""Characters, after which an archive is read no further."""
_MOST_FILES = 2_000
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Interest(Protocol):
    """Says which lines of a chunk could matter."""

    def lines(self, chunk: list[bytes]) -> list[int]:
        """Indexes of the lines of interest, at most some of each kind over the whole log."""


def read_logs(names: list[str], interest: Interest, warn: Callable[[str], None] = lambda text: None) -> LogText:
    """All files (`-` is standard input, a folder all files in it) as one log; NpuKbError with the mend if one fails.

    `warn` is told of what could not be read in an archive or a folder, and why.
    """
    lines: list[Line] = []
    for name in names or ["-"]:
        try:
            if name != "-" and os.path.isdir(name):
                lines += _read_folder(name, interest, warn)
            elif (found := _read_one(name, interest, warn)) is None:
                warn(f"{name}: is a binary and no log; give what the terminal shows, or a log file")
            else:
                lines += found
        except OSError as error:
            raise NpuKbError(f"{name}: cannot be read: {error.strerror}; give a readable file or `-`") from None
    return LogText(lines)


def _read_folder(folder: str, interest: Interest, warn: Callable[[str], None]) -> list[Line]:
    """The lines of all logs in a folder; of a file that cannot be read it is told why; OSError if none can be."""
    lines: list[Line] = []
    fault: OSError | None = None
    for path in files_in(folder):
        try:
            lines += _read_one(path, interest, warn) or []
        except OSError as error:
            fault = error
            warn(f"left out: {path}: {error.strerror}")
    if fault and not lines:
        raise fault
    return lines


def _read_one(name: str, interest: Interest, warn: Callable[[str], None]) -> list[Line] | None:
    if name == "-":
        if sys.stdin is None:
            raise NpuKbError("standard input is closed; give a file, or paste into it")
        return _read_opened(name, cast(BufferedReader, sys.stdin.buffer), interest, warn)
    from npu_kb.intake.pipes import told_if_it_waits

    with told_if_it_waits(name):
        stream = open(name, "rb")  # noqa: SIM115
    with stream:
        return _read_opened(name, stream, interest, warn)


def _read_opened(
    name: str, stream: BufferedReader, interest: Interest, warn: Callable[[str], None]
) -> list[Line] | None:
    """The lines of a log, or of all logs in an archive; None of a binary.

    What is typed in a terminal is a log, and read but once.
    """
    from npu_kb.intake.archives import HEAD, kind_of_stream

    if stream.isatty():
        return read_stream(stream, name, interest)
    if kind_of_stream(stream):
        return _read_members(name, stream, interest, warn)
    return None if is_binary(stream.peek(HEAD)) else read_stream(stream, name, interest)


def is_folder_or_archive(name: str) -> bool:
    """Whether several logs may be in it; a pipe is not looked into."""
    if not os.path.isfile(name):
        return os.path.isdir(name)
    from npu_kb.intake.archives import kind_of_stream

    try:
        with open(name, "rb") as stream:
            return bool(kind_of_stream(stream))
    except OSError:
        return False


def _read_members(name: str, stream: BufferedReader, interest: Interest, warn: Callable[[str], None]) -> list[Line]:
    """The lines of all logs in an archive, as far as they are not too many; OSError if there are none at all."""
    from npu_kb.intake.archives import logs_of
    from npu_kb.intake.tree import Skipped
    from npu_kb.intake.unpack import AsFarAsGood, Unreadable

    lines: list[Line] = []
    reasons: list[str] = []
    lost: dict[str, list[str]] = {}
    size = 0
    for log in logs_of(name, stream):
        if isinstance(log, Skipped):
            reasons.append(log.reason)
            if log.is_loss:
                lost.setdefault(log.reason, []).append(log.name)
            continue
        whole = AsFarAsGood(log.stream)
        found = read_stream(cast(BinaryIO, whole), log.name, interest)
        if whole.trouble:
            reasons.append(whole.trouble)
            warn(f"{log.name}: not read to its end: {whole.trouble}")
        lines += found
        size += sum(len(line.text) for line in found)
        if size > _KEPT_OF_ARCHIVE:
            break
    if reasons and not lines:
        raise Unreadable(reasons[0])
    for reason, names in lost.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        warn(f"{names[0]}{more}: not read, or not to its end: {reason}")
    return lines


def files_in(folder: str) -> list[str]:
    """The regular files below a folder, the last changed first; links are not followed."""
    from npu_kb.intake.tree import LogFile, log_files

    found = [(-file.changed, file.path) for file in log_files([folder]) if isinstance(file, LogFile)]
    if not found:
        raise NpuKbError(f"{folder}: holds no files; give the folder that holds the logs")
    return [path for _, path in sorted(found)[:_MOST_FILES]]


def is_binary(head: bytes) -> bool:
    """Whether a file that begins so is no log, but data.

    NUL bytes tell nothing: a crash leaves them behind in a log, and one that was truncated while written begins so.
    """
    sample = head.replace(b"\0", b"")[:4096].translate(None, b"\t\n\r\x1b\x08\x0c")
    controls = sum(byte < 32 for byte in sample)
    return head.startswith(b"\x7fELF") or (head[:2] not in _UTF16_MARKS and controls > 1 + len(sample) // 16)


def read_stream(stream: BinaryIO, source: str, interest: Interest) -> list[Line]:
    """The lines of a stream: all of a small one, those around possible evidence of a large one."""
    head = stream.read(WHOLE_BYTES + 1)
    if len(head) <= WHOLE_BYTES:
        return lines_of(head, source)
    return _interesting_lines(utf8_chunks(head, stream), source, interest)


class Reader(Protocol):
    """A stream as far as it is read here."""

    def read(self, size: int = -1, /) -> bytes:
        """At most so many bytes; none at the end."""


def utf8_chunks(head: bytes, stream: Reader, size: int = _CHUNK) -> Iterator[bytes]:
    """The stream in chunks that end at a line's end where there is one, re-encoded if it is not UTF-8.

    `size` bytes are read at a time; a line that is longer is cut.
    """
    import codecs

    encoding = encoding_of(head)
    decoder = codecs.getincrementaldecoder(encoding)("replace") if encoding else None
    rest = b""
    for raw in _raw_chunks(head, stream, size):
        data = decoder.decode(raw).encode("utf-8", "replace") if decoder else raw
        cut = data.rfind(b"\n") + 1
        if not cut and len(rest) + len(data) < size:
            rest += data
            continue
        cut = cut or len(data)
        yield b"".join((rest, memoryview(data)[:cut]))
        rest = data[cut:]
    if rest:
        yield rest


def _raw_chunks(head: bytes, stream: Reader, size: int) -> Iterator[bytes]:
    for at in range(0, len(head), size):
        yield head[at : at + size]
    while chunk := stream.read(size):
        yield chunk


def encoding_of(head: bytes) -> str | None:
    """Name of the encoding if it is not UTF-8."""
    if head[:2] in _UTF16_MARKS:
        return "utf-16"
    if guess := utf16_without_mark(head):
        return guess
    try:
        head[:65_536].decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return "gb18030" if "\ufffd" not in decode(head[:65_536]) else None
    return None


def _interesting_lines(chunks: Iterator[bytes], source: str, interest: Interest) -> list[Line]:
    kept: list[Line] = []
    number, size = 1, 0
    for chunk in chunks:
        pieces, numbers = _pieces(chunk, number)
        for index in _with_context(interest.lines(pieces), len(pieces)):
            if size < _KEPT_BYTES:
                size += len(pieces[index])
                kept += [line._replace(number=numbers[index]) for line in lines_of(pieces[index], source)]
        number += chunk.count(b"\n")
    return kept


def _pieces(chunk: bytes, first: int) -> tuple[list[bytes], list[int]]:
    """The chunk's lines but empty ones, long ones cut into overlapping pieces, with their numbers."""
    pieces: list[bytes] = []
    numbers: list[int] = []
    number, counted = first, 0
    for found in _LINE.finditer(chunk):
        line, start = found[0], found.start()
        number += chunk.count(b"\n", counted, start)
        counted = start
        for at in range(0, len(line), MAX_LINE - _OVERLAP):
            pieces.append(line[at : at + MAX_LINE])
            numbers.append(number)
    return pieces, numbers


def _with_context(indexes: list[int], total: int) -> list[int]:
    wanted: set[int] = set()
    for index in indexes:
        wanted.update(range(max(0, index - _CONTEXT), min(total, index + _CONTEXT + 1)))
    return sorted(wanted)
