"""Suspects where no rank names one: who began again, who says nothing, of whom there are no logs, who came late."""

from __future__ import annotations

from collections import defaultdict
from statistics import median

from npu_kb.cluster.clocks import Clocks
from npu_kb.cluster.events import Event
from npu_kb.cluster.gaps import Gaps
from npu_kb.cluster.observation import SourceSummary
from npu_kb.cluster.suspects import Suspect, merged_hosts
from npu_kb.cluster.who import Party, Who

_LATE = 10.0
"""Seconds after the others' time-outs at which the last rank's speaks of a rank that came late."""


def silent_suspects(
    who: Who, clocks: Clocks, events: list[Event], summaries: list[SourceSummary], gaps: Gaps
) -> list[Suspect]:
    """Suspects where nobody names one: who began again, complains of nothing while others do, or complains last.

    No silence counts that `gaps` in the logs may have made.
    """
    complaints: dict[int, float | None] = {}
    for event in events:
        if event.party.rank is not None and event.part in ("waiting", "testimony"):
            complaints.setdefault(event.party.rank, event.time)
    if not complaints or len(complaints) * 2 < len(who.logged):
        return []
    by = frozenset(f"rank {rank}" for rank in complaints)
    restarted = _restarts(who, clocks, summaries)
    quiet = _quiet(who, clocks, summaries, gaps.unheard(who, summaries) | complaints.keys())
    lost = [] if gaps.may_hide_ranks else sorted(set(range(who.world)) - who.logged)
    found = (
        [Suspect("restarted", party, time, by, None) for party, time in restarted]
        or [Suspect("silent", party, time, by, None) for party, time in quiet]
        or [Suspect("no-logs", who.rank(rank), None, by, None) for rank in lost]
        or [Suspect("late", who.ranks[rank], time, by - {f"rank {rank}"}, None) for rank, time in _late(complaints)]
    )
    return merged_hosts(who, [suspect._replace(party=suspect.party.without_process) for suspect in found])


def _quiet(
    who: Who, clocks: Clocks, summaries: list[SourceSummary], others: frozenset[int]
) -> list[tuple[Party, float | None]]:
    """Ranks with logs but the others, with the time of their last line; the first to fall silent first."""
    last: dict[int, float] = {}
    for summary in summaries:
        party = who.parties[summary.source]
        time = clocks.true_time(summary.source, summary.last_time)
        if party.rank is not None and time is not None:
            last[party.rank] = max(time, last.get(party.rank, time))
    quiet = [(who.ranks[rank], last.get(rank)) for rank in who.apart if rank not in others]
    return sorted(quiet, key=lambda pair: (pair[1] is None, pair[1] or 0.0, pair[0].order))


def _restarts(who: Who, clocks: Clocks, summaries: list[SourceSummary]) -> list[tuple[Party, float]]:
    """Ranks of which a second process began after the first one's last line."""
    lives: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for summary in summaries:
        party = who.parties[summary.source]
        if party.rank is not None and party.pid is not None:
            times = [clocks.true_time(summary.source, time) for time in (summary.first_time, summary.last_time)]
            lives[party.rank][party.pid] += [time for time in times if time is not None]
    found = []
    for rank, processes in lives.items():
        spans = sorted((min(times), max(times)) for times in processes.values() if times)
        if len(spans) > 1 and spans[0][1] <= spans[1][0]:
            found.append((who.ranks[rank], spans[0][1]))
    return sorted(found, key=lambda pair: pair[1]) if len(found) * 2 <= len(who.ranks) else []


def _late(complaints: dict[int, float | None]) -> list[tuple[int, float]]:
    """The ranks whose time-out came well after that of most: each waits equally long, so they began last."""
    times = {rank: time for rank, time in complaints.items() if time is not None}
    if len(times) < 3:
        return []
    usual = median(times.values())
    return sorted((rank, time) for rank, time in times.items() if time > usual + _LATE)
