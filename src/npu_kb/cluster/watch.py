"""Follow logs as they grow, are rotated and are truncated, and tell each fault once for each log."""

from __future__ import annotations

import copy
import os
import stat
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import FileIO
from typing import NamedTuple

from npu_kb.cluster.growing import GrowingLog, opened
from npu_kb.cluster.observation import Observation
from npu_kb.cluster.scan import Scanner, plan_for
from npu_kb.cluster.sightings import ENDS, Sightings
from npu_kb.cluster.times import read_time
from npu_kb.cluster.who import Who
from npu_kb.diagnosis.model import CLAIMS
from npu_kb.errors import NpuKbError
from npu_kb.intake.tree import Globs, LogFile, log_files

_PATIENCE = 2.0
"""Seconds without growth after which what has no end of line is a line: its writer may have died."""
_MEMORY, _MOST_REMEMBERED = 4_000_000, 256
"""Bytes of a log in which conditions that belong together may stand, and in how many logs, those read last."""
_AT_ONCE = 1 << 26
"""Bytes of one log that are read before the others have their turn."""
_LISTINGS_SHARE = 10
"""The logs are listed for at most a tenth of the time."""
_Identity = tuple[int, int]


class Told(NamedTuple):
    """A fault that was not told of its log before, and the title of its entry by language."""

    observation: Observation
    title: dict[str, str]
    rank: int | None
    """Whose it is, where the log's name or content tells."""
    more_logs: list[str]
    """Other logs in which the same look at all of them found the same entry, later."""


class Watch:
    """Follows the logs at and below some paths.

    What stands in them already is passed over unless `from_start`. A path that is not there yet is waited for if its
    folder is. NpuKbError if a path cannot be read or followed.
    """

    def __init__(
        self,
        paths: Sequence[str],
        overlays: Sequence[str],
        globs: Globs | None = None,
        engine: str = "auto",
        from_start: bool = False,
    ) -> None:
        for path in paths:
            if path == "-" or (os.path.exists(path) and not _may_grow(path)):
                raise NpuKbError(f"{path}: cannot be followed; write it to a file (... | tee FILE), and give that")
        self.awaited = [path for path in paths if _is_awaited(path)]
        """Paths that are not there yet."""
        plan, _ = plan_for([path for path in paths if path not in self.awaited], overlays, globs, engine=engine)
        self._scanner = Scanner(plan)
        self._paths, self._globs = paths, globs
        self._logs: dict[_Identity, GrowingLog] = {}
        self._remembered: dict[_Identity, tuple[Sightings, int]] = {}
        """What was seen in logs of late, and from which byte on; that of the log read last is the last."""
        self._lines_told: set[int] = set()
        """Hashes of lines with a time: where they come again, a log was copied to rotate it."""
        self._listing = 0.0
        """Seconds that the last listing took."""
        self._is_behind = False
        files = {file.identity: file for file in self._listed()}
        self.files_at_start = len(files)
        for file in files.values():
            log = GrowingLog() if from_start else GrowingLog.from_its_end(file)
            self._logs[file.identity], log.path = log, file.path

    def follow(self, interval: float, until: float | None = None) -> Iterator[Told]:
        """Each new fault, until `until` (as time.monotonic has it); looks at the logs every `interval` seconds."""
        while True:
            is_last = until is not None and time.monotonic() >= until
            yield from self.look(0.0 if is_last else _PATIENCE)
            if is_last:
                return
            pause = 0.0 if self._is_behind else max(interval, _LISTINGS_SHARE * self._listing)
            time.sleep(pause if until is None else max(0.0, min(pause, until - time.monotonic())))

    def look(self, patience: float = _PATIENCE) -> Iterator[Told]:
        """The new faults since the last look, of each entry the first one, with the other logs that tell it.

        A line without an end counts after `patience` seconds.
        """
        found: dict[str, list[Told]] = {}
        for told in self._read_all(patience):
            found.setdefault(told.observation.entry, []).append(told)
        for of_entry in found.values():
            first, *others = sorted(of_entry, key=_when)
            yield first._replace(more_logs=[told.observation.source for told in others])

    def _read_all(self, patience: float) -> Iterator[Told]:
        now = time.monotonic()
        files = {file.identity: file for file in self._listed()}
        files.update({file.identity: file for file in self._renamed(self._logs.keys() - files.keys())})
        self._listing, self._is_behind = time.monotonic() - now, False
        for gone in self._logs.keys() - files.keys():
            self._forget(gone)
        for identity, file in files.items():
            log = self._logs.setdefault(identity, GrowingLog())
            log.path = file.path
            is_new = file.size != log.looked_at or file.changed != log.changed
            if is_new:
                log.grew, log.is_ended = now, False
            is_at_rest = not log.is_ended and log.offset < file.size and now - log.grew >= patience
            if is_new or is_at_rest:
                yield from self._read(file, log, is_at_rest)

    def _listed(self) -> Iterator[LogFile]:
        for path in self._paths:
            with suppress(OSError):  # rotated away; its successor comes
                yield from (file for file in log_files([path], self._globs) if isinstance(file, LogFile))

    def _renamed(self, gone: set[_Identity]) -> Iterator[LogFile]:
        """Logs that are no longer where they were, under another name in the same folder."""
        folders: dict[str, set[_Identity]] = defaultdict(set)
        for identity in gone:
            folders[os.path.dirname(self._logs[identity].path) or "."].add(identity)
        for folder, identities in folders.items():
            inodes = {inode for _, inode in identities}
            with suppress(OSError), os.scandir(folder) as items:
                for item in items:
                    if item.inode() in inodes and not item.is_symlink():
                        status = item.stat()
                        if (identity := (status.st_dev, status.st_ino)) in identities and stat.S_ISREG(status.st_mode):
                            yield LogFile(item.path, item.path, status.st_size, status.st_mtime, identity)

    def _forget(self, identity: _Identity) -> None:
        self._logs.pop(identity, None)
        self._remembered.pop(identity, None)

    def _read(self, file: LogFile, log: GrowingLog, is_ended: bool) -> Iterator[Told]:
        """The new faults in its new lines; if it `is_ended`, in what stands behind the last of them as well."""
        with suppress(OSError), opened(file) as stream:
            if file.size < log.offset or not log.is_the_same(stream):
                log.begin_anew()
                self._remembered.pop(file.identity, None)
            elif file.size == log.looked_at and file.changed != log.changed:
                log.read_again()
                self._remembered.pop(file.identity, None)
            log.looked_at, log.changed = file.size, file.changed
            if file.identity not in self._remembered:
                above = log.above(stream, ENDS)  # what is read next may go on with it
                self._remembered[file.identity] = Sightings(file.name, log.offset, log.lines, above), log.offset
            seen, since = self._remembered.pop(file.identity)
            seen.source = file.name
            before, stop = _size_kept(seen), log.offset + _AT_ONCE
            for chunk in log.chunks(stream):
                seen.read(chunk, self._scanner.probe)
                if log.offset >= stop:
                    self._is_behind, log.looked_at = True, log.offset
                    break
            log.lines = seen.lines
            if seen.counts and log.offset - since <= _MEMORY:
                self._remember(file.identity, seen, since)
            if _size_kept(seen) > before:
                yield from self._new_faults(seen, stream, log)
            if is_ended and (rest := log.rest(stream)):
                log.is_ended = True
                whole = copy.deepcopy(seen)  # it may go on, and is read again then
                whole.read(rest, self._scanner.probe)
                if _size_kept(whole) > _size_kept(seen):
                    yield from self._new_faults(whole, stream, log)

    def _remember(self, identity: _Identity, seen: Sightings, since: int) -> None:
        self._remembered[identity] = seen, since
        if len(self._remembered) > _MOST_REMEMBERED:
            del self._remembered[next(iter(self._remembered))]

    def _new_faults(self, seen: Sightings, stream: FileIO, log: GrowingLog) -> Iterator[Told]:
        for row in self._scanner.rows_of(seen):
            if isinstance(row, Observation) and row.verdict in CLAIMS and self._is_new(row, log):
                entry = self._scanner.knowledge.entry(row.entry) or {}
                if entry.get("severity") != "benign":
                    above = log.lines_passed_over(stream)
                    row = row._replace(line=row.line + above, last_line=row.last_line + above)
                    rank = Who([row.source], seen.clues.clues).writer(row.source, row.text).rank
                    yield Told(row, entry.get("title", {}), rank, [])

    def _is_new(self, row: Observation, log: GrowingLog) -> bool:
        """Whether its entry was not told of this log, nor its line of the log of which this is a rotated copy."""
        line = hash((row.entry, row.text, row.source.partition(".log")[0]))
        is_new = row.entry not in log.told and line not in self._lines_told
        log.told.add(row.entry)
        if read_time(row.text) is not None:
            self._lines_told.add(line)
        return is_new


def _when(told: Told) -> tuple[bool, float]:
    time = told.observation.time
    return time is None, time or 0.0


def _is_awaited(path: str) -> bool:
    return not os.path.exists(path) and os.path.isdir(os.path.dirname(path.rstrip("/")) or ".")


def _may_grow(path: str) -> bool:
    mode = os.stat(path).st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _size_kept(seen: Sightings) -> int:
    """Bytes that a judgement rests on: while they are the same, so is the judgement."""
    kept = [line for lines in (*seen.kept.values(), seen.near.values()) for line in lines]
    return sum(len(line.text) + 1 for line in kept)
