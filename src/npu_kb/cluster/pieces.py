"""How the files of a tree are shared out: large logs in parts, small ones in batches."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from npu_kb.intake.archives import kind_of, logs_in
from npu_kb.intake.sources import encoding_of, is_binary
from npu_kb.intake.tree import LogFile, Skipped

HEAD = 65_536
"""Bytes by which the kind and the encoding of a log are told."""
CHUNK = 1 << 21
"""Bytes that are looked at together; what is done once for each chunk should weigh little."""
_PART = 64_000_000
"""Bytes of a large log that one process reads at a time."""
_BATCH_BYTES, _BATCH_FILES = 32_000_000, 500
_SAMPLE_FILES, _SAMPLE_SHARES, _SAMPLE_SPOTS, _SAMPLE_BYTES = 500, 32, 4, 1_000_000
"""So many bytes of the largest files: of each a share, from several spots, so that of small ones more are read."""
_LONGEST_LINE = 1_000_000


class Piece(NamedTuple):
    """A file, or the lines of a large one from byte `start` to `end`."""

    file: LogFile
    start: int = 0
    end: int | None = None
    """None: the whole file, whatever is in it."""
    is_last: bool = True


class Batch(NamedTuple):
    """Pieces that are scanned together, their bytes, and what was met beside them and is not read."""

    pieces: list[Piece]
    size: int
    skipped: list[Skipped]


def batches(files: Iterable[LogFile | Skipped]) -> Iterator[Batch]:
    """All files, in their order."""
    batch = Batch([], 0, [])
    for file in files:
        if isinstance(file, Skipped):
            batch.skipped.append(file)
        elif file.size > _PART and (parts := _parts(file)):
            yield from (Batch([part], int(part.end or 0) - part.start, []) for part in parts)
        else:
            batch.pieces.append(Piece(file))
            batch = batch._replace(size=batch.size + file.size)
        if batch.size >= _BATCH_BYTES or len(batch.pieces) + len(batch.skipped) >= _BATCH_FILES:
            yield batch
            batch = Batch([], 0, [])
    yield batch


def _parts(file: LogFile) -> list[Piece]:
    """The parts of a large plain log, cut at ends of lines; none if it has to be read as a whole."""
    parts: list[Piece] = []
    try:
        with open(file.path, "rb", 0) as stream:
            head = stream.read(HEAD)
            if kind_of(head) or encoding_of(head) or is_binary(head):
                return []
            start = 0
            while start < file.size:
                stream.seek(start + _PART)
                end = start + _PART + stream.read(_LONGEST_LINE).find(b"\n") + 1
                end = file.size if end >= file.size - _PART // 2 else end
                parts.append(Piece(file, start, end, end == file.size))
                start = end
    except OSError:
        return []  # whoever reads it will say why not
    return parts


def sample_of(files: Iterable[LogFile | Skipped]) -> tuple[bytes, int]:
    """Lower-cased bytes of the largest files, for what is common in them; and the size of all files."""
    largest: list[tuple[int, LogFile]] = []
    total = 0
    for file in files:
        if isinstance(file, LogFile) and file.size:  # a pipe has none, and could be read only once
            total += file.size
            heapq.heappush(largest, (file.size, file))
            if len(largest) > _SAMPLE_FILES:
                heapq.heappop(largest)
    size = _SAMPLE_BYTES // min(_SAMPLE_SHARES, max(1, len(largest))) // _SAMPLE_SPOTS
    spots: list[bytes] = []
    for _, file in sorted(largest, reverse=True):
        if sum(map(len, spots)) < _SAMPLE_BYTES:
            spots += _spots_of(file, size)
    return b"\n".join(spots).lower(), total


def _spots_of(file: LogFile, size: int) -> Iterator[bytes]:
    """Bytes from several spots of a file, or from the first log in it."""
    try:
        for log in logs_in(file):
            if isinstance(log, Skipped):
                continue
            for spot in range(_SAMPLE_SPOTS):
                if log.stream.seekable() and file.size > size * _SAMPLE_SPOTS:
                    log.stream.seek(file.size * spot // _SAMPLE_SPOTS)
                yield log.stream.read(size)
            return
    except OSError:
        return  # whoever reads it will say why not
