"""A cluster's story as a plain document, the JSON contract `npu-kb/cluster/1`; text and picture start from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from npu_kb.cluster.clocks import Clocks
from npu_kb.cluster.events import Event
from npu_kb.cluster.faults import Fault
from npu_kb.cluster.timeline import EarlierRun, Story
from npu_kb.cluster.times import written, zone_name
from npu_kb.cluster.who import Party
from npu_kb.intake.clean import printable
from npu_kb.knowledge.base import Knowledge
from npu_kb.render.document import entry_document

if TYPE_CHECKING:
    from npu_kb.cluster.scans import LeftOut

SCHEMA = "npu-kb/cluster/1"
_SURE_APART = 5.0
"""Seconds between two faults from which their order is sure."""
_MOST_FAULTS, _MOST_EVIDENCE = 20, 3


def cluster_document(story: Story, knowledge: Knowledge, left_out: Iterable[LeftOut] = ()) -> dict[str, Any]:
    """All that the story tells; times are UTC seconds of one clock, with their text in `zone` beside them.

    `left_out` is what could not be read of the scans.
    """
    who = story.who
    complaining = {event.party.rank for event in story.events if event.severity != "benign"}
    zone = story.clocks.zone
    quiet = who.apart - complaining - story.unheard
    erring = {*story.raised, *(who.parties[summary.source].rank for summary in story.summaries if summary.errors)}
    skipped = sorted((s.source, s.skipped, s.logs) for s in story.summaries if s.skipped)
    return {
        "schema": SCHEMA,
        "ranks": {
            "expected": who.world,
            "with_logs": len(who.logged),
            "without_logs": sorted(set(range(who.world)) - who.logged),
            "without_error": sorted(quiet - erring),
            "without_known_fault": sorted(quiet & erring),
            "unheard": sorted(story.unheard),
        },
        "hosts": sorted({p.host for p in who.ranks.values() or who.parties.values() if p.host}),
        "earlier_runs": story.earlier_runs,
        "earlier": [_earlier(run, story.clocks) for run in story.earlier],
        "zone": _zone(story),
        "only": [lines._asdict() for lines in story.only],
        "sources": {
            "read": sum(summary.logs for summary in story.summaries if not summary.skipped),
            "bytes": sum(summary.bytes for summary in story.summaries),
            "skipped": [{"source": source, "why": why, "logs": logs} for source, why, logs in skipped],
            "left_out": [damage._asdict() for damage in sorted(left_out)],
        },
        "clocks": [difference._asdict() for difference in story.clocks.differences],
        "order_is_sure": _order_is_sure(story.faults) and not story.ahead,
        "ahead": story.ahead._asdict() if story.ahead else None,
        "faults": [_fault(fault, story, knowledge) for fault in story.faults[:_MOST_FAULTS]],
        "followers": _followers(story, knowledge),
        "timeline": [_event(event, zone) | {"role": who.role(event.observation.source)} for event in story.events],
    }


def _zone(story: Story) -> str:
    """That in which times are told: of all logs, else UTC; empty where no log names one: as the logs tell them."""
    if story.clocks.zone is not None:
        return zone_name(story.clocks.zone)
    return zone_name(0) if story.clocks.zones_differ else ""


def _earlier(run: EarlierRun, clocks: Clocks) -> dict[str, Any]:
    """An earlier run's first fault; logs read with `--until` this time tell that run."""
    fault = run.fault
    return {
        "party": fault.parties[0].name,
        "entry": fault.entry,
        "reason": fault.reason,
        "verdict": fault.verdict,
        **_moment(fault.time, clocks.zone),
        "until": written(run.until + (clocks.zone or 0)).split(".")[0] + ("Z" if clocks.zones_differ else ""),
    }


def _order_is_sure(faults: list[Fault]) -> bool:
    if len(faults) < 2:
        return True
    first, second = faults[0].time, faults[1].time
    return first is not None and second is not None and abs(second - first) > _SURE_APART


def _fault(fault: Fault, story: Story, knowledge: Knowledge) -> dict[str, Any]:
    entry = knowledge.entry(fault.entry)
    captures = fault.events[0].observation.captures if fault.events else {}
    written = entry_document(entry, knowledge, captures) if entry else {}
    names = ("title", "severity", "cause", "fix", "diagnose", "verify")
    return {
        "entry": fault.entry,
        "reason": fault.reason,
        "verdict": fault.verdict,
        "outlived": fault.outlived,
        "without_logs": fault.without_logs,
        "unheard": fault.unheard,
        "beside": [{"entry": id, "title": _titled(id, knowledge)} for id in fault.beside],
        **_moment(fault.time, story.clocks.zone),
        "parties": [_party(party) for party in fault.parties],
        "last_exception": fault.raised.values["error"] if fault.raised else "",
        "named_by": sorted(fault.named_by, key=_natural),
        "evidence": _evidence(fault, story),
        **{name: written[name] for name in names if name in written},
    }


def _evidence(fault: Fault, story: Story) -> list[dict[str, Any]]:
    """The lines that tell the fault, or what its party raised last, and one that names its party."""
    told = [event.observation for event in fault.events[:_MOST_EVIDENCE]]
    times = [event.time for event in fault.events[:_MOST_EVIDENCE]]
    for clue in filter(None, (fault.raised, fault.clue)):
        told.append(clue)  # type: ignore[arg-type]  # it has a source, a line and a text as well
        times.append(story.clocks.true_time(clue.source, clue.time))
    return [
        {
            "source": row.source,
            "line": row.line,
            "text": printable(row.text.strip()),
            **_moment(time, story.clocks.zone),
        }
        for row, time in zip(told, times, strict=True)
    ]


def _followers(story: Story, knowledge: Knowledge) -> list[dict[str, Any]]:
    """What follows, by entry: the most widespread first."""
    groups: dict[str, list[Event]] = defaultdict(list)
    for event in story.followers:
        groups[event.observation.entry].append(event)
    rows = [
        {
            "entry": id,
            "title": _titled(id, knowledge),
            "parties": len({event.party.without_process for event in events}),
            "lines": sum(event.observation.count for event in events),
            **_moment(events[0].time, story.clocks.zone),
        }
        for id, events in groups.items()
    ]
    return sorted(rows, key=lambda row: (-row["parties"], row["time"] is None, row["time"] or 0.0, row["entry"]))


def _titled(id: str, knowledge: Knowledge) -> Any:
    """The title of an entry; of others' knowledge there is only its id."""
    return (knowledge.entry(id) or {}).get("title", {"en": id})


def _event(event: Event, zone: int | None) -> dict[str, Any]:
    row = event.observation
    return {
        **_moment(event.time, zone),
        **_party(event.party),
        "entry": row.entry,
        "part": event.part,
        "severity": event.severity,
        "verdict": row.verdict,
        "source": row.source,
        "line": row.line,
        "count": row.count,
        "text": printable(row.text.strip()),
    }


def _party(party: Party) -> dict[str, Any]:
    return {"party": party.name, **party._asdict()}


def _moment(seconds: float | None, zone: int | None) -> dict[str, Any]:
    if seconds is None or not 0 <= seconds < 253_402_300_800:  # the year 10,000
        return {"time": None, "time_text": ""}
    return {"time": round(seconds, 6), "time_text": written(seconds + (zone or 0))}


def _natural(name: str) -> tuple[str, int]:
    word, _, number = name.rpartition(" ")
    return (word, int(number)) if number.isdigit() else (name, -1)


def first_events(document: dict[str, Any], by: str) -> list[dict[str, Any]]:
    """The first event of each rank, host or device, in the order of time, with how many more it has (`more`).

    The name of a group (`group`) is empty where nothing tells whose its events are. Benign lines and bare wrappers are
    not counted.
    """
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for event in document["timeline"]:
        if event["severity"] != "benign" and event["part"] != "wrapper":
            groups[_group(event, by)].append(event)
    return [{**events[0], "group": name, "more": len(events) - 1} for name, events in groups.items()]


def _group(event: dict[str, Any], by: str) -> str:
    if by == "host":
        return str(event["host"])
    if by == "device" and event["device"] is not None:
        return f"{event['host']} device {event['device']}"
    return str(event["party"])


def number_ranges(numbers: Iterable[int]) -> str:
    """Numbers in ascending order as `0-3, 7, 9-12`."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(f"{first}-{last}" if last > first else str(first) for first, last in ranges)
