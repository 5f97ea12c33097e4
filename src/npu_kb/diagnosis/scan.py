"""Which literals stand in a text: one pass for all of them."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import Any

from npu_kb.knowledge.base import Knowledge
from npu_kb.patterns import grams

_LARGE = 60_000
"""Characters from which an automaton of all literals is worth building; below, they are looked up by their pieces."""
_OFTEN = 20
"""Texts after which the automaton is built, however small they are."""
_WORDS_OF_INTEREST = ["error", "fail", "exception", "traceback", "killed", "fatal", "npu-smi", "错误", "失败"]
_PER_LITERAL = 100
"""Lines kept for each literal of a large log."""
_WHITE = b" \t\r\n\v\f"
_LOWER = bytes(range(256)).lower()


class Literals:
    """The literals of a knowledge, and the automaton that finds all of them at once when it is worth building."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._asked = 0

    def found_in(self, squeezed: str) -> list[int]:
        """Numbers of the literals that stand in the squeezed text."""
        self._asked += 1
        if (len(squeezed) >= _LARGE or self._asked > _OFTEN) and self._automaton is not None:
            hits = self._automaton.find_matches_as_indexes(squeezed, overlapping=True)
            return sorted({hit[0] for hit in hits})
        near = self._knowledge.literals_with(grams(squeezed))
        return sorted(number for number, literal in near if literal in squeezed)

    @cached_property
    def _automaton(self) -> Any:
        try:
            from ahocorasick_rs import AhoCorasick
        except ImportError:
            return None
        return AhoCorasick(self._knowledge.literals)


class LiteralInterest:
    """Picks the lines of a large log that hold a literal of the knowledge or a word that tells of an error."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._automaton: object = None

    @cached_property
    def _needles(self) -> list[bytes]:
        """Read when the first large log is met: for a small one that would be a tenth of the whole run."""
        return [literal.encode() for literal in [*self._knowledge.literals, *_WORDS_OF_INTEREST]]

    @cached_property
    def _left(self) -> list[int]:
        return [_PER_LITERAL] * len(self._needles)

    def lines(self, chunk: list[bytes]) -> list[int]:
        """Indexes of the lines of interest, at most 100 for each literal over the whole log."""
        squeezed = [line.translate(_LOWER, _WHITE) for line in chunk]
        starts = [0, *accumulate(map(len, squeezed))]
        found: set[int] = set()
        for needle, offset in self._hits(b"".join(squeezed)):
            if self._left[needle]:
                self._left[needle] -= 1
                found.add(bisect_right(starts, offset) - 1)
        return sorted(index for index in found if index < len(chunk))

    def _hits(self, text: bytes) -> list[tuple[int, int]]:
        try:
            from ahocorasick_rs import BytesAhoCorasick
        except ImportError:
            return [(n, at) for n, needle in enumerate(self._needles) if (at := text.find(needle)) >= 0]
        self._automaton = self._automaton or BytesAhoCorasick(self._needles)
        hits = self._automaton.find_matches_as_indexes(text, overlapping=True)  # type: ignore[attr-defined]
        return [(hit[0], hit[1]) for hit in hits]
