"""Follow logs as they grow, are rotated and are truncated, and tell each fault once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from npu_kb.cluster.observation import Observation
from npu_kb.cluster.pieces import HEAD, is_binary
from npu_kb.cluster.scan import Scanner, plan_for
from npu_kb.cluster.sightings import Sightings
from npu_kb.diagnosis.model import CLAIMS
from npu_kb.intake.archives import kind_of
from npu_kb.intake.tree import Globs, LogFile, Skipped, log_files

_CHUNK = 1 << 19
_MEMORY = 4_000_000
"""Bytes of a log in which conditions that belong together may stand; after that what was seen is forgotten."""
_AT_ONCE = 1 << 26
"""Bytes of one log that are read before the others have their turn."""
_WALKS_SHARE = 10
"""The logs are listed for at most a tenth of the time."""


class _Followed:
    """A log by its inode, so that it is the same one under a new name."""

    def __init__(self, offset: int) -> None:
        self.offset, self.lines = offset, 0
        self.unread = offset
        """Bytes at its start that were passed over; their lines are counted only when a fault is told."""
        self.seen: Sightings | None = None
        self.seen_from = offset
        self.is_log = True


class Told(NamedTuple):
    """A fault that was not told before, and the title of its entry by language."""

    observation: Observation
    title: dict[str, str]


class Watch:
    """Follows the logs at and below some paths.

    What stands in them already is passed over unless `from_start`. NpuKbError if a path cannot be read.
    """

    def __init__(
        self,
        paths: Sequence[str],
        overlays: Sequence[str],
        globs: Globs | None = None,
        engine: str = "auto",
        from_start: bool = False,
    ) -> None:
        plan, _ = plan_for(paths, overlays, globs, engine=engine)
        self._scanner = Scanner(plan)
        self._paths, self._globs = paths, globs
        self._logs: dict[tuple[int, int], _Followed] = {}
        self._told: set[str] = set()
        files = list(self._files())
        self.files_at_start = len({file.identity for file in files})
        if not from_start:
            self._logs = {file.identity: _Followed(file.size) for file in files}

    def follow(self, interval: float, until: float | None = None) -> Iterator[Told]:
        """Each new fault, until `until` (as time.monotonic has it); looks at the logs every `interval` seconds."""
        while True:
            start = time.monotonic()
            yield from self.look()
            pause = max(interval, _WALKS_SHARE * (time.monotonic() - start))
            if until is not None and time.monotonic() + pause >= until:
                time.sleep(max(0.0, until - time.monotonic()))
                yield from self.look()
                return
            time.sleep(pause)

    def look(self) -> Iterator[Told]:
        """The new faults since the last look."""
        there = set()
        for file in self._files():
            there.add(file.identity)
            log = self._logs.setdefault(file.identity, _Followed(0))
            if file.size < log.offset:
                self._logs[file.identity] = log = _Followed(0)
            if log.is_log and file.size > log.offset:
                yield from self._read(file, log)
        for gone in self._logs.keys() - there:
            del self._logs[gone]

    def _files(self) -> Iterator[LogFile]:
        for path in self._paths:
            try:
                for file in log_files([path], self._globs):
                    if not isinstance(file, Skipped):
                        yield file
            except OSError:
                continue  # rotated away; its successor comes

    def _read(self, file: LogFile, log: _Followed) -> Iterator[Told]:
        seen = log.seen or Sightings(file.name, log.offset, log.lines)
        before = dict(seen.counts)
        try:
            with open(file.path, "rb", 0) as stream:
                if log.offset == 0 and (kind_of(head := stream.read(HEAD)) or is_binary(head)):
                    log.is_log = False
                    return
                stream.seek(log.offset)
                stop = log.offset + _AT_ONCE
                while seen.offset < stop and (chunk := _whole_lines(stream.read(_CHUNK))):
                    seen.read(chunk, self._scanner.probe)
                    stream.seek(seen.offset)
        except OSError:
            return
        if log.seen is None:
            log.seen_from = log.offset
        log.offset, log.lines, log.seen = seen.offset, seen.lines, seen
        if seen.offset - log.seen_from > _MEMORY or not seen.counts:
            log.seen = None
        if seen.counts != before:
            yield from self._new_faults(seen, file.path, log.unread)

    def _new_faults(self, seen: Sightings, path: str, unread: int) -> Iterator[Told]:
        for row in self._scanner.rows_of(seen):
            if isinstance(row, Observation) and row.verdict in CLAIMS and row.entry not in self._told:
                entry = self._scanner.knowledge.entry(row.entry) or {}
                self._told.add(row.entry)
                if entry.get("severity") != "benign":
                    above = _lines_in(path, unread)
                    row = row._replace(line=row.line + above, last_line=row.last_line + above)
                    yield Told(row, entry.get("title", {}))


def _lines_in(path: str, size: int) -> int:
    """The ends of lines in a file's first bytes, as far as they can be read."""
    count = 0
    with suppress(OSError), open(path, "rb", 0) as stream:
        while size > 0 and (data := stream.read(min(size, _CHUNK))):
            count += data.count(b"\n")
            size -= len(data)
    return count


def _whole_lines(data: bytes) -> bytes:
    """The data up to its last line's end; all of a line that is as long as a chunk."""
    return data[: data.rfind(b"\n") + 1] or (data if len(data) == _CHUNK else b"")
