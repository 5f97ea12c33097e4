"""What was diagnosed here, counted: by topic, entry, version and week, and what never occurred."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import Any

from npu_kb.diagnosis.model import CLAIMS, Reports
from npu_kb.knowledge.base import Knowledge

SCHEMA = "npu-kb/stats/1"
Row = dict[str, Any]


def statistics(diagnoses: list[Row], reports: dict[str, Reports], knowledge: Knowledge) -> Row:
    """Counts over rows of the store (the last one first), the largest first.

    {"schema", "diagnoses", "repeats", "unanswered", "topics": [{"topic", "title", "count"}],
    "entries": [{"id", "title", "count"}], "versions": [{"component", "version", "count"}],
    "weeks": [{"week", "count", "unanswered"}], "reported_wrong": [{"id", "right", "wrong"}], "entries_known",
    "never_named": [ids]}

    A log that was given several times counts once, by its last diagnosis; the others are the repeats. A diagnosis
    counts for its first answer, if that is a claim.
    """
    given, diagnoses = len(diagnoses), _last_of_each_log(diagnoses)
    entries = {entry["id"]: entry for entry in knowledge.entries()}
    known = entries | {signature["id"]: signature for signature in knowledge.signatures()}
    causes = [cause for row in diagnoses if (cause := cause_of(row))]
    named = {match["id"] for row in diagnoses for match in row["matches"]}
    return {
        "schema": SCHEMA,
        "diagnoses": len(diagnoses),
        "repeats": given - len(diagnoses),
        "unanswered": len(diagnoses) - len(causes),
        "topics": _topics(causes, known, knowledge.topics()),
        "entries": [{"id": id, "title": _title(id, known), "count": n} for id, n in _counted(causes)],
        "versions": [
            {"component": component, "version": version, "count": n}
            for (component, version), n in _counted(pair for row in diagnoses for pair in row["versions"].items())
        ],
        "weeks": _weeks(diagnoses),
        "reported_wrong": _reported_wrong(reports),
        "entries_known": len(entries),
        "never_named": [id for id in entries if id not in named],
    }


def _last_of_each_log(diagnoses: list[Row]) -> list[Row]:
    """Of rows with the last one first; those that older releases kept have no check sum and stand for themselves."""
    return list({row["checksum"] or row["id"]: row for row in reversed(diagnoses)}.values())


def cause_of(diagnosis: Row) -> str | None:
    """The entry that a diagnosis claims, or None."""
    first = next(iter(diagnosis["matches"]), None)
    return first["id"] if first and first["verdict"] in CLAIMS else None


def _counted(values: Iterable[Any]) -> list[tuple[Any, int]]:
    """Each value and how often it occurs, the most frequent first."""
    return sorted(Counter(values).items(), key=lambda item: (-item[1], item[0]))


def _title(id: str, entries: dict[str, Row]) -> Row | None:
    """The title of an entry; None of one that is no longer there, or comes from a folder that is not given now."""
    return entries[id]["title"] if id in entries else None


def _topics(causes: list[str], entries: dict[str, Row], names: dict[str, dict[str, str]]) -> list[Row]:
    topics = _counted(entries[id]["topic"] for id in causes if id in entries)
    return [{"topic": topic, "title": names.get(topic), "count": n} for topic, n in topics]


def _weeks(diagnoses: list[Row]) -> list[Row]:
    """ISO weeks in UTC, the last one first."""
    weeks = Counter(_week(row) for row in diagnoses)
    unanswered = Counter(_week(row) for row in diagnoses if not cause_of(row))
    return [
        {"week": week, "count": weeks[week], "unanswered": unanswered[week]} for week in sorted(weeks, reverse=True)
    ]


def _week(row: Row) -> str:
    year, week, _ = date.fromisoformat(row["time"][:10]).isocalendar()
    return f"{year}-W{week:02d}"


def _reported_wrong(reports: dict[str, Reports]) -> list[Row]:
    wrong = sorted(((id, said) for id, said in reports.items() if said.wrong), key=lambda item: -item[1].wrong)
    return [{"id": id, **said._asdict()} for id, said in wrong]
