"""Read the logs of a tree, however large, once; in several processes, in bounded memory."""

from __future__ import annotations

import gc
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import NamedTuple

from npu_kb.cluster import tracebacks
from npu_kb.cluster.anchors import Anchors, anchors_of
from npu_kb.cluster.candidates import Candidates
from npu_kb.cluster.clues import LITERALS, rank_table_clues
from npu_kb.cluster.confirm import rows_of
from npu_kb.cluster.engines import engine_of
from npu_kb.cluster.needles import Calls, Needles
from npu_kb.cluster.observation import Row, SourceSummary
from npu_kb.cluster.pieces import CHUNK, HEAD, Batch, Piece, batches, sample_of
from npu_kb.cluster.processes import own_pool
from npu_kb.cluster.progress import told_if_it_prepares
from npu_kb.cluster.sightings import ENDS, Probe, Sightings, Window
from npu_kb.errors import NpuKbError
from npu_kb.intake.archives import Log, logs_in
from npu_kb.intake.clean import decode
from npu_kb.intake.sources import is_binary, utf8_chunks
from npu_kb.intake.tree import Globs, LogFile, Skipped, log_files, why_not
from npu_kb.intake.unpack import AsFarAsGood
from npu_kb.knowledge.base import Knowledge

_WORTH_A_PROCESS = 64_000_000
"""Bytes; less than this is read by one process."""
_MOST_JOBS = 16
_AHEAD = 3
"""Batches that each process is given beforehand."""


class Plan(NamedTuple):
    """All that a process needs to know to scan; can be pickled."""

    overlays: tuple[str, ...]
    fingerprint: int
    """Of the needles, by number of which everything is counted."""
    engine: str
    anchors: Anchors
    window: Window = (None, None)


class _Known(NamedTuple):
    """The knowledge with these folders laid over it."""

    overlays: tuple[str, ...]
    knowledge: Knowledge
    needles: Needles


_known: _Known | None = None
"""As it was loaded last."""


def _load(overlays: tuple[str, ...]) -> _Known:
    global _known
    with told_if_it_prepares():
        knowledge = Knowledge.load(overlays)
        if not _known or _known.knowledge.source_key != knowledge.source_key:
            _known = _Known(overlays, knowledge, Needles.load(knowledge, [*LITERALS, tracebacks.HEADER]))
    return _known


def _known_to(plan: Plan) -> _Known:
    """What the plan was made for; NpuKbError if it is not there in this process."""
    if _known and (_known.overlays, _known.needles.fingerprint) == (plan.overlays, plan.fingerprint):
        return _known
    known = _load(plan.overlays)
    if known.needles.fingerprint != plan.fingerprint:
        raise NpuKbError("the knowledge differs between the processes of a scan; install one version everywhere")
    return known


@contextmanager
def _no_collecting() -> Iterator[None]:
    """All that a start makes is kept: to look through it for garbage would take longer than to make it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.freeze()
            gc.enable()


class Scanner:
    """Scans logs according to a plan."""

    @_no_collecting()
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        _, self.knowledge, needles = _known_to(plan)
        engine = engine_of(plan.engine, list(plan.anchors.needles))
        candidates = [Candidates(*anchor, needles.all) for anchor in plan.anchors.needles.items()]
        calls = Calls(needles, plan.anchors.passed_over)
        self.probe = Probe(needles, plan.anchors, engine, candidates, calls, plan.window)

    def scan(self, batch: Batch) -> list[Row | Sightings]:
        """The rows of the files; of a part of one what was seen in it."""
        rows: list[Row | Sightings] = [_skipped_row(skipped) for skipped in batch.skipped]
        for piece in batch.pieces:
            rows += [self._part(piece)] if piece.end is not None else self.rows_in(piece.file)
        return rows

    def rows_in(self, file: LogFile) -> list[Row]:
        """The rows of all logs in a file."""
        return [row for log in logs_in(file) for row in self._rows(log)]

    def _rows(self, log: Log | Skipped) -> list[Row]:
        if isinstance(log, Skipped):
            return [_skipped_row(log)]
        seen, stream = Sightings(log.name), AsFarAsGood(log.stream)
        head = stream.read(HEAD)
        if is_binary(head):
            return [_skipped_row(Skipped(log.name, "binary"))]
        for chunk in utf8_chunks(head, stream, CHUNK):
            seen.read(chunk, self.probe)
        seen.trouble = stream.trouble
        table = rank_table_clues(log.name, decode(head)) if b'"rank_id"' in seen.head else []
        return [*table, *self.rows_of(seen)]

    def rows_of(self, seen: Sightings) -> list[Row]:
        """The rows of a log that was read."""
        return rows_of(seen, self.probe, self.knowledge)

    def _part(self, piece: Piece) -> Sightings:
        seen = Sightings(piece.file.name, piece.start)
        try:
            with open(piece.file.path, "rb", 0) as stream:
                stream.seek(max(0, piece.start - ENDS))
                seen.tail = stream.read(min(piece.start, ENDS))  # what is read next may go on with it
                rest = _Rest(stream, int(piece.end or 0) - piece.start)
                for chunk in utf8_chunks(rest.read(HEAD), rest, CHUNK):
                    seen.read(chunk, self.probe)
                seen.trouble = "truncated while it was read" if rest.left else ""
        except OSError as error:
            seen.trouble = why_not(error)
        return seen


class _Rest:
    """A stream up to some point."""

    def __init__(self, stream: object, left: int) -> None:
        self._read, self.left = stream.read, left  # type: ignore[attr-defined]

    def read(self, size: int = -1, /) -> bytes:
        data: bytes = self._read(min(size, self.left))
        self.left -= len(data)
        return data


def _skipped_row(skipped: Skipped) -> SourceSummary:
    return SourceSummary(skipped.name, 0, 0, None, None, 0, skipped.reason)


_scanner: Scanner | None = None
"""Of this process: built for the first batch, or there already in a process that was forked off."""


def scan_batch(plan: Plan, batch: Batch) -> list[Row | Sightings]:
    """Scan in whatever process this is called."""
    return _scanner_for(plan).scan(batch)


def _scan_forked(batch: Batch) -> list[Row | Sightings]:
    """Scan in a process that was forked off one with a scanner."""
    assert _scanner
    return _scanner.scan(batch)


def _scanner_for(plan: Plan) -> Scanner:
    global _scanner
    if _scanner is None or _scanner.plan != plan:
        _scanner = Scanner(plan)
    return _scanner


@_no_collecting()
def plan_for(
    paths: Sequence[str],
    overlays: Sequence[str],
    globs: Globs | None = None,
    window: Window = (None, None),
    engine: str = "auto",
) -> tuple[Plan, int]:
    """A plan that fits what stands at these paths, and its bytes; NpuKbError if a path cannot be read."""
    try:
        sample, total = sample_of(log_files(paths, globs))
    except OSError as error:
        raise NpuKbError(f"{error.filename}: cannot be read: {error.strerror}; give a readable path") from None
    folders = tuple(map(str, overlays))
    needles = _load(folders).needles
    return Plan(folders, needles.fingerprint, engine, anchors_of(needles, sample, total), window), total


def state_of(overlays: Sequence[str]) -> int:
    """A number for what a scan with the knowledge looks for: the same on all hosts."""
    return _load(tuple(map(str, overlays))).needles.fingerprint


def scan(
    paths: Sequence[str],
    overlays: Sequence[str],
    *,
    globs: Globs | None = None,
    window: Window = (None, None),
    engine: str = "auto",
    jobs: int | None = None,
    pool: Executor | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[Row]:
    """The rows of all logs at and below the paths, in a fixed order.

    The work is done in `pool` (any executor that can pickle, such as that of dask.distributed), else in `jobs`
    processes (default: one for each core that this process may use). `progress` is told the bytes done and of all,
    as they are on disk. NpuKbError if a path cannot be read.
    """
    plan, total = plan_for(paths, overlays, globs, window, engine)
    scanner = _scanner_for(plan)
    if jobs is None:
        jobs = min(_MOST_JOBS, len(os.sched_getaffinity(0))) if total > _WORTH_A_PROCESS else 1
    done = 0
    parts: Sightings | None = None
    for batch, found in _scanned(batches(log_files(paths, globs)), plan, jobs, pool):
        done += batch.size
        progress(done, total)
        for row in found:
            if not isinstance(row, Sightings):
                yield row
                continue
            if parts is None:
                parts = row
            else:
                parts.extend(row)
            if batch.pieces[0].is_last:
                yield from scanner.rows_of(parts)
                parts = None


def _scanned(
    work: Iterator[Batch], plan: Plan, jobs: int, pool: Executor | None
) -> Iterator[tuple[Batch, list[Row | Sightings]]]:
    """Each batch with what was found in it, in their order."""
    if jobs == 1 and not pool:
        for batch in work:
            yield batch, scan_batch(plan, batch)
        return
    ahead: deque[tuple[Batch, Future[list[Row | Sightings]]]] = deque()
    with own_pool(jobs) if not pool else _lent(pool) as executor:
        for batch in work:
            with _told_of_a_killed_process(batch):
                future = executor.submit(scan_batch, plan, batch) if pool else executor.submit(_scan_forked, batch)
            ahead.append((batch, future))
            if len(ahead) > jobs * _AHEAD:
                yield _first_of(ahead)
        while ahead:
            yield _first_of(ahead)


def _first_of(
    ahead: deque[tuple[Batch, Future[list[Row | Sightings]]]],
) -> tuple[Batch, list[Row | Sightings]]:
    batch, future = ahead.popleft()
    with _told_of_a_killed_process(batch):
        return batch, future.result()


@contextmanager
def _told_of_a_killed_process(batch: Batch) -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool:
        near = f" near {batch.pieces[0].file.path}" if batch.pieces else ""
        mend = "give it more memory, or fewer --jobs"
        raise NpuKbError(f"a process of the scan was killed{near}; {mend}") from None


@contextmanager
def _lent(pool: Executor) -> Iterator[Executor]:
    yield pool
