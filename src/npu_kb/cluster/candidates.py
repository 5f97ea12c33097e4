"""Which needles may stand where an anchor was hit: of hundreds that share it, a few are left to look at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from npu_kb.cluster.needles import WHITE, Needle

_BESIDE = 3
"""Bytes beside an anchor by which its needles are told apart."""


class Candidate(NamedTuple):
    """A needle that an anchor is a piece of."""

    needle: int
    literal: bytes
    """Squeezed, in lower case."""
    end: int
    """Bytes from its start to the anchor's end."""


class Candidates:
    """The needles of one anchor, by their bytes behind it, or by those before it where too few follow."""

    def __init__(self, anchor: bytes, numbers: Iterable[int], needles: Sequence[Needle]) -> None:
        """Of the needles with these numbers, each at each place where it holds the anchor."""
        self._size = len(anchor.translate(None, WHITE)) + _BESIDE
        self._alone: list[Candidate] = []
        self._behind: dict[bytes, list[Candidate]] = {}
        self._before: dict[bytes, list[Candidate]] = {}
        for number in numbers:
            literal = needles[number].literal
            for end in needles[number].ends_of(anchor):
                self._add(Candidate(number, literal, end))
        self._all_before = [*chain(*self._before.values())]
        self._all_behind = [*self._alone, *chain(*self._behind.values())]
        self._behind = {key: [*self._alone, *candidates] for key, candidates in self._behind.items()}

    def _add(self, candidate: Candidate) -> None:
        _, literal, end = candidate
        if len(literal) - end >= _BESIDE:
            self._behind.setdefault(literal[end : end + _BESIDE], []).append(candidate)
        elif (start := end - self._size) >= 0:
            self._before.setdefault(literal[start : start + _BESIDE], []).append(candidate)
        else:
            self._alone.append(candidate)

    def __bool__(self) -> bool:
        return bool(self._alone or self._behind or self._before)

    def at(self, line: bytes, place: int) -> list[Candidate]:
        """Those that may stand there, if the anchor ends at this place of a squeezed line.

        Where the line has too few bytes beside it, they may go on in the lines above and below.
        """
        behind = line[place : place + _BESIDE]
        found = self._behind.get(behind, self._alone) if len(behind) == _BESIDE else self._all_behind
        if not self._before:
            return found
        start = place - self._size
        return [*found, *(self._before.get(line[start : start + _BESIDE], ()) if start >= 0 else self._all_before)]
