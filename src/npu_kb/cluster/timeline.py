"""From what was seen in all logs to the first fault, its followers, and the ranks that fell silent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from math import floor
from typing import NamedTuple

from npu_kb.cluster.ahead import Ahead, seems_ahead
from npu_kb.cluster.clocks import Clocks
from npu_kb.cluster.events import Entries, Event, event_of, not_after, unexplained
from npu_kb.cluster.faults import Fault, told_once
from npu_kb.cluster.gaps import Gaps, Lines
from npu_kb.cluster.gather import gathered, tells_whose
from npu_kb.cluster.observation import Clue, Observation, Row, SourceSummary
from npu_kb.cluster.runs import Run, rows_by_run, runs_of
from npu_kb.cluster.silence import silent_suspects
from npu_kb.cluster.suspects import ENTRIES, Suspect, Testimony
from npu_kb.cluster.who import Party, Who
from npu_kb.diagnosis.model import CLAIMS
from npu_kb.knowledge.base import Knowledge

_MOST_EARLIER = 5
"""Earlier runs whose faults are named."""
_OUTLIVED = 60.0
"""Seconds after a fault at which a rank that waits for others has outlived it."""

_MOST_WORK = 10
"""Times the rows of all logs that are looked through in search of the last run with a fault."""


class EarlierRun(NamedTuple):
    """A run before the one that is told: its first fault, and a time (UTC seconds) at which the next had not begun."""

    fault: Fault
    until: float


class Story(NamedTuple):
    """What happened in a cluster."""

    who: Who
    clocks: Clocks
    events: list[Event]
    """In the order of time; those without one last."""
    faults: list[Fault]
    """The first one first."""
    followers: list[Event]
    summaries: list[SourceSummary]
    unheard: frozenset[int]
    """Ranks of whose logs lines may be missing."""
    only: list[Lines]
    """The only lines that were read, of some logs or all."""
    raised: frozenset[int] = frozenset()
    """The ranks whose logs tell of an exception."""
    ahead: Ahead | None = None
    """A log whose times seem to be wrong."""
    earlier_runs: int = 0
    """Runs before this one of which there are logs."""
    earlier: tuple[EarlierRun, ...] = ()
    """The last of them that have a fault, the last one first."""


def story_of(rows: Iterable[Row], knowledge: Knowledge, gaps: Gaps | None = None) -> Story:
    """The story that the rows of one or more scans tell, in whatever order and how often they come.

    Where they are of several runs of a job it is the last one that has a fault. `gaps` are those that the rows have,
    known when all rows were read.
    """
    entries = Entries(knowledge)
    every = gathered(rows, entries.is_benign)
    gaps = gaps or Gaps()
    story = _story(every, Clocks.of(every), entries, gaps)
    runs = runs_of(every, story.who, story.clocks)
    if len(runs) < 2:
        return story
    stories = islice(_stories_of_runs(every, runs, story, entries, gaps), 1 + _MOST_EARLIER)
    last, *earlier = [*stories] or [story]
    return last._replace(earlier=tuple(_earlier_run(told, runs) for told in earlier))


def _earlier_run(story: Story, runs: list[Run]) -> EarlierRun:
    following = runs[len(runs) - 2 - story.earlier_runs]
    return EarlierRun(story.faults[0], floor(following.start) - 1)


def _stories_of_runs(every: list[Row], runs: list[Run], story: Story, entries: Entries, gaps: Gaps) -> Iterator[Story]:
    """The stories of runs that have a fault, the last one first, as far as that is little work beside the whole."""
    suspicious = {event.key for event in story.events if _may_tell_a_fault(event)}
    of_runs, of_any = rows_by_run(every, runs, story.clocks)
    work = 0
    for number, own in enumerate(of_runs):
        if number == 0 or any(_is_suspicious(row, suspicious) for row in own):
            work += len(own) + len(of_any)
            if work > _MOST_WORK * len(every):
                return
            told = _story([*own, *of_any], story.clocks, entries, gaps)
            if told.faults:
                yield told._replace(earlier_runs=len(runs) - 1 - number)


def _may_tell_a_fault(event: Event) -> bool:
    """Whether a fault, or a suspect where nobody names one, may come of it."""
    return event.part in ("waiting", "testimony") or event.observation.verdict in CLAIMS


def _is_suspicious(row: Row, keys: set[tuple[str, int, str]]) -> bool:
    if isinstance(row, Observation):
        return (row.source, row.line, row.entry) in keys
    return isinstance(row, Clue) and row.tells != "raised" and not tells_whose(row)


def _story(rows: list[Row], clocks: Clocks, entries: Entries, gaps: Gaps) -> Story:
    clues = [row for row in rows if isinstance(row, Clue)]
    summaries = [row for row in rows if isinstance(row, SourceSummary)]
    who = Who(sorted({row.source for row in rows}), clues)
    events = sorted(
        (event_of(row, who, clocks, entries) for row in rows if isinstance(row, Observation)),
        key=lambda event: (event.time is None, event.time or 0.0, event.party.order, event.key),
    )
    suspects = Testimony(who, clocks, clues).suspects()
    own = [event for event in events if event.part in ("root", "effect") and event.severity != "benign"]
    roots = unexplained([event for event in own if event.observation.verdict in CLAIMS], events, entries)
    suspects = suspects or ([] if roots else silent_suspects(who, clocks, events, summaries, gaps))
    if not roots and not suspects:
        roots = [event for event in events if event.part == "testimony" and event.observation.verdict in CLAIMS]
    hints = [event for event in own if event.observation.verdict not in CLAIMS]
    unheard = gaps.unheard(who, summaries)
    raised = {who.writer(clue.source, clue.text): clue for clue in clues if clue.tells == "raised"}
    faults = _in_order(told_once(_faults(events, roots, hints, suspects, who, unheard), entries), who)
    faults = [
        fault if fault.events else fault._replace(raised=_raised_by(fault.parties[0], raised)) for fault in faults
    ]
    told = {event.key for fault in faults for event in fault.events}
    followers = [event for event in events if event.key not in told and _follows(event)]
    ranks = frozenset(party.rank for party in raised if party.rank is not None)
    only, ahead = sorted(gaps.only), seems_ahead(faults, events)
    return Story(who, clocks, events, faults, followers, summaries, unheard, only, ranks, ahead)


def _follows(event: Event) -> bool:
    return event.part != "wrapper" and event.severity != "benign" and event.observation.verdict in CLAIMS


def _faults(
    events: list[Event],
    roots: list[Event],
    hints: list[Event],
    suspects: list[Suspect],
    who: Who,
    unheard: frozenset[int],
) -> list[Fault]:
    """A fault for each cause that logs tell of their own party, and for each suspect whose own log tells none.

    What parties outlived is a fault apart from the same thing on others.
    """
    last_waits = {event.party.without_process: event.time for event in events if event.part == "waiting"}
    groups: dict[tuple[str, bool], list[Event]] = defaultdict(list)
    for event in roots:
        groups[_group(event, last_waits)].append(event)
    named: dict[tuple[str, bool], list[Suspect]] = defaultdict(list)
    faults = []
    for suspect in suspects:
        if own := _first_of(roots, suspect):
            named[_group(own, last_waits)].append(suspect)
        else:
            faults.append(_of_suspect(suspect, _first_of(hints, suspect), who, unheard))
    faults = _without_logs_together(faults)
    return faults + [_of_events(group, events, named[group]) for group, events in groups.items()]


def _without_logs_together(faults: list[Fault]) -> list[Fault]:
    """Parties of which there are no logs are one finding: where one host was collected they are most of the job."""
    missing = [fault for fault in faults if fault.reason == "no-logs" and not fault.events]
    if len(missing) < 2:
        return faults
    together = missing[0]._replace(parties=tuple(party for fault in missing for party in fault.parties))
    return [together, *(fault for fault in faults if fault not in missing)]


def _group(event: Event, last_waits: dict[Party, float | None]) -> tuple[str, bool]:
    """The entry, and whether the party still waited for others a good while later."""
    last = last_waits.get(event.party.without_process)
    outlived = last is not None and event.time is not None and last > event.time + _OUTLIVED
    return event.observation.entry, outlived


def _first_of(events: list[Event], suspect: Suspect) -> Event | None:
    """The first event of the suspect's own before it was named."""
    own = (e for e in events if _concerns(e.party, suspect.party) and not_after(e.time, suspect.time))
    return next(own, None)


def _concerns(party: Party, suspect: Party) -> bool:
    """Whether a fault of `party` may be what `suspect` is named for: its own, or its whole host's."""
    if party.rank is not None and suspect.rank is not None:
        return party.rank == suspect.rank
    same_device = party.device is None or suspect.device is None or party.device == suspect.device
    same_process = party.pid is None or suspect.pid is None or party.pid == suspect.pid
    return bool(party.host) and party.host == suspect.host and same_device and same_process


def _of_suspect(suspect: Suspect, hint: Event | None, who: Who, unheard: frozenset[int]) -> Fault:
    waited_for = suspect.reason == "waited-for"
    without_logs = waited_for and not hint and not _has_logs(suspect.party, who)
    is_unheard = waited_for and not without_logs and suspect.party.rank in unheard
    sure = suspect.reason in ENTRIES or (waited_for and len(suspect.by) > 1 and not without_logs and not is_unheard)
    return Fault(
        entry=hint.observation.entry if hint else ENTRIES.get(suspect.reason, ""),
        reason=suspect.reason,
        parties=(suspect.party,),
        time=hint.time if hint else suspect.time,
        verdict="likely" if sure else "possible",
        events=(hint,) if hint else (),
        named_by=suspect.by,
        clue=suspect.clue,
        without_logs=without_logs,
        unheard=is_unheard,
    )


def _raised_by(suspect: Party, raised: dict[Party, Clue]) -> Clue | None:
    """The last exception of a suspect; that of a host is of any of its ranks."""
    of_rank = suspect.rank is not None
    own = (c for p, c in raised.items() if (p.rank == suspect.rank if of_rank else _concerns(p, suspect)))
    return next(own, None)


def _has_logs(party: Party, who: Who) -> bool:
    if party.rank is not None:
        return party.rank in who.logged
    return any(_concerns(logged, party) for logged in who.parties.values())


def _of_events(group: tuple[str, bool], events: list[Event], suspects: list[Suspect]) -> Fault:
    parties = tuple(dict.fromkeys(event.party.without_process for event in events))
    if suspects:  # the party that others name comes before one that tells the same of itself
        parties = tuple(sorted(parties, key=lambda p: not any(_concerns(p, s.party) for s in suspects)))
    return Fault(
        entry=group[0],
        reason=suspects[0].reason if suspects else "",
        parties=parties,
        time=events[0].time,
        verdict=min((event.observation.verdict for event in events), key=CLAIMS.index),
        events=tuple(events),
        named_by=frozenset().union(*(suspect.by for suspect in suspects)),
        clue=suspects[0].clue if suspects else None,
        outlived=group[1],
    )


def _in_order(faults: list[Fault], who: Who) -> list[Fault]:
    """By time, but behind the others: what its parties outlived, what most ranks tell of themselves, what slows."""
    half = max(len(who.ranks), 2) / 2
    named = any(fault.named_by for fault in faults)

    def order(fault: Fault) -> tuple[object, ...]:
        outlived = fault.outlived and not fault.named_by
        widespread = named and not fault.named_by and len(fault.parties) > half
        slow = bool(fault.events) and all(event.severity != "fault" for event in fault.events)
        return outlived, widespread, slow, fault.time is None, fault.time or 0.0, fault.entry, fault.parties[0].order

    return sorted(faults, key=order)
