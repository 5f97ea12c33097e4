"""A snapshot as what the diagnosis knows beside a log: a line for each fact, so that it can be shown as evidence."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from npu_kb.environment.running import Cancelled, never
from npu_kb.environment.snapshot import Fact as SnapshotFact
from npu_kb.environment.snapshot import Snapshot, read_snapshot
from npu_kb.intake.facts import UNLIMITED, Fact, Known
from npu_kb.intake.logtext import MAX_LINE, Line

if TYPE_CHECKING:
    from npu_kb.environment.judge import Judgement
    from npu_kb.knowledge.base import Knowledge


def snapshot_beside(file: str) -> Snapshot:
    """A kept snapshot; without a file, that of this machine."""
    return read_snapshot(file) if file else snapshot_here()


def snapshot_here(cancelled: Cancelled = never) -> Snapshot:
    """That of this machine; Stopped once `cancelled` says so."""
    from npu_kb.environment.probe import probe
    from npu_kb.environment.root import Root
    from npu_kb.knowledge.base import Knowledge

    return probe(Knowledge.load([]), Root(), os.environ, cancelled=cancelled)


def known(snapshot: Snapshot) -> Known:
    """The facts with the lines that say them, the settings, and what failing commands said."""
    lines: dict[Line, int] = {}
    facts: list[Fact] = []
    for fact in snapshot.facts:
        value = UNLIMITED if fact.value == "unlimited" else fact.value
        index = lines.setdefault(Line((fact.text or _told(fact))[:MAX_LINE], fact.line, fact.source), len(lines))
        facts.append(Fact(fact.name, value, index, fact.subject))
    for number, (name, setting) in enumerate(snapshot.environment.items(), 1):
        lines.setdefault(Line(f"{name}={setting}"[:MAX_LINE], number, "environment"), len(lines))
    for row in snapshot.missing:
        if row.detail:
            lines.setdefault(Line(row.detail[:MAX_LINE], 1, row.what), len(lines))
    return Known(list(lines), facts, snapshot.plain_versions)


def _told(fact: SnapshotFact) -> str:
    """A fact that no line says, in words of our own."""
    value = f"{fact.value:g}" if isinstance(fact.value, float) else fact.value
    return f"{fact.name} = {value}" + (f" [{fact.subject}]" if fact.subject else "")


def unsupported(judgements: list[Judgement]) -> list[Judgement]:
    """Those that say that two versions do not go together, or only with a drawback that can be mended.

    Beside a trial that failed stand those that did not.
    """
    failed = any(judgement.is_fault for judgement in judgements if judgement.pair[0] == "tried")
    return [item for item in judgements if item.is_fault or (failed and item.pair[0] == "tried")]


def judged(snapshot: Snapshot, knowledge: Knowledge, seen: dict[str, str] | None = None) -> list[Judgement]:
    """Whether the versions of a snapshot go together, pair by pair; those `seen` in a log count before its own."""
    from npu_kb.environment.judge import judge

    arch = {"arch": snapshot.arch} if snapshot.arch else {}
    versions = {**snapshot.plain_versions, **arch, **(seen or {})}
    return judge(versions, [chip.family or chip.name for chip in snapshot.chips], snapshot.compatibility, knowledge)
