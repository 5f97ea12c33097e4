"""What of the logs was not read: where lines may be missing, silence tells nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from npu_kb.cluster.observation import SourceSummary
from npu_kb.cluster.who import Who

_NO_LOGS = {"binary", "link", "special file"}
"""Reasons for which things are skipped that hold no lines of their own."""


class Lines(NamedTuple):
    """The only lines that were read: from a time on and up to one, as they were given; empty for no bound."""

    since: str = ""
    until: str = ""


class Gaps:
    """Where lines may be missing; it grows while scans are read."""

    def __init__(self) -> None:
        self.only: set[Lines] = set()
        """What logs were read in windows of time."""
        self.may_hide_ranks = False
        """Whether there may be ranks of which nothing is known for that."""
        self._beginnings: tuple[str, ...] = ()

    def add(self, sources: str, only: Lines | None = None) -> None:
        """Lines may be missing in all sources that begin so."""
        self.may_hide_ranks = True
        self._beginnings = (*dict.fromkeys((*self._beginnings, sources)),)
        if only:
            self.only.add(only)

    def unheard(self, who: Who, summaries: Iterable[SourceSummary]) -> frozenset[int]:
        """The ranks of whose logs lines may be missing."""
        cut = {summary.source for summary in summaries if summary.skipped and summary.skipped not in _NO_LOGS}
        return frozenset(
            party.rank
            for source, party in who.parties.items()
            if party.rank is not None and (source in cut or source.startswith(self._beginnings))
        )
