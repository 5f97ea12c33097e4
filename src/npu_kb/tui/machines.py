"""Machines to look at: this one, read once for all screens, and those of kept snapshots and pasted outputs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from npu_kb.tui.logfile import Cancelled
from npu_kb.tui.session import Stopped

if TYPE_CHECKING:
    from npu_kb.environment.judge import Judgement
    from npu_kb.environment.snapshot import Snapshot
    from npu_kb.environment.ticks import Tick
    from npu_kb.knowledge.base import Knowledge

_MOST_LOOKED_AT = 5_000
"""Items of a folder that are looked at."""
_MOST_LISTED = 200
_HEAD_BYTES = 200
"""Of a file, in which the schema of a snapshot stands."""


class Machine(NamedTuple):
    """A machine as it stood, and what its facts tell."""

    path: str
    """The file it was read from; empty: this machine."""
    snapshot: Snapshot
    findings: dict[str, Any]
    """The document of the diagnosis of its facts alone."""
    judgements: list[Judgement]
    """Which of its versions go together."""
    ticks: dict[str, list[Tick]]
    """Of each checklist, by id."""

    @classmethod
    def of(cls, path: str, snapshot: Snapshot, knowledge: Knowledge) -> Machine:
        """With all that is known of a snapshot."""
        from npu_kb.diagnosis.diagnose import diagnose
        from npu_kb.environment.evidence import judged, known
        from npu_kb.environment.ticks import all_ticks
        from npu_kb.intake.logtext import LogText
        from npu_kb.render.document import diagnosis_document

        checklists, judgements = knowledge.checklists(), judged(snapshot, knowledge)
        ticks = all_ticks(checklists.values(), snapshot, judgements)
        diagnosis = diagnose(LogText([]), knowledge, suggest=False, known=known(snapshot))
        findings = diagnosis_document(diagnosis, knowledge)
        return cls(path, snapshot, findings, judgements, dict(zip(checklists, ticks, strict=True)))

    @classmethod
    def in_file(cls, path: str, knowledge: Knowledge) -> Machine:
        """That of a kept snapshot or of pasted outputs; NpuKbError if the file cannot be read."""
        from npu_kb.environment.pasted import snapshot_from

        return cls.of(path, snapshot_from([path]), knowledge)

    def as_json(self) -> str:
        """The snapshot as `npu-kb env save` writes it."""
        from npu_kb.environment.snapshot import as_json

        return as_json(self.snapshot)


class ThisMachine:
    """The snapshot of this machine, read once, and anew when asked for."""

    def __init__(self) -> None:
        self.snapshot: Snapshot | None = None
        self._reading = Lock()

    def read(self, cancelled: Cancelled, anew: bool = False) -> Snapshot:
        """Takes up to ten seconds, so it belongs into a thread; raises Stopped once `cancelled` says so."""
        from npu_kb.environment import running
        from npu_kb.environment.evidence import snapshot_here

        with self._reading:
            if anew or self.snapshot is None:
                try:
                    self.snapshot = snapshot_here(cancelled)
                except running.Stopped:
                    raise Stopped from None
            return self.snapshot


def identity(path: str) -> str:
    """A name for a machine under which its ticks are kept, and which does not tell who it is."""
    name = os.path.realpath(path) if path else os.uname().nodename
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def kept_snapshots(folders: Iterable[str]) -> list[str]:
    """The paths of the snapshots in these folders, the newest first; folders that cannot be read have none."""
    found = {os.path.realpath(item.path): (item.stat().st_mtime, item.path) for f in folders for item in _snapshots(f)}
    return [path for _, path in sorted(found.values(), reverse=True)[:_MOST_LISTED]]


def _snapshots(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as items:
            return [item for item in islice(items, _MOST_LOOKED_AT) if _is_snapshot(item)]
    except OSError:
        return []


def _is_snapshot(item: os.DirEntry[str]) -> bool:
    """Whether a file begins as `npu-kb env save` writes it; it is never waited for."""
    try:
        if not item.name.endswith(".json") or not item.is_file():
            return False
        with os.fdopen(os.open(item.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return b'"npu-kb/snapshot/' in file.read(_HEAD_BYTES)
    except OSError:
        return False


def free_name(folder: Path, stem: str, ending: str) -> Path:
    """A path in a folder that is not taken: STEM.json, STEM-2.json, ..."""
    names = (stem, *(f"{stem}-{number}" for number in range(2, 1_000)))
    paths = (folder / f"{name}{ending}" for name in names)
    return next((path for path in paths if not os.path.lexists(path)), folder / f"{stem}{ending}")
