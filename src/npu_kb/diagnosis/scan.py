"""Which literals stand in a text: one pass for all of them."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import Any

_SMALL = 20_000
"""Characters; below this, asking for each literal in turn is faster than building an automaton."""
_OFTEN = 20
"""Texts after which the automaton is built, however small they are."""
_WORDS_OF_INTEREST = ["error", "fail", "exception", "traceback", "killed", "fatal", "npu-smi", "错误", "失败"]
_PER_LITERAL = 100
"""Lines kept for each literal of a large log."""
_WHITE = b" \t\r\n\v\f"
_LOWER = bytes(range(256)).lower()


class Literals:
    """The literals of a knowledge, and the automaton that finds all of them at once when it is worth building."""

    def __init__(self, literals: list[str]) -> None:
        self._literals = literals
        self._asked = 0

    def found_in(self, squeezed: str) -> list[int]:
        """Numbers of the literals that stand in the squeezed text."""
        self._asked += 1
        if (len(squeezed) >= _SMALL or self._asked > _OFTEN) and self._automaton is not None:
            hits = self._automaton.find_matches_as_indexes(squeezed, overlapping=True)
            return sorted({hit[0] for hit in hits})
        return [number for number, literal in enumerate(self._literals) if literal in squeezed]

    @cached_property
    def _automaton(self) -> Any:
        try:
            from ahocorasick_rs import AhoCorasick
        except ImportError:
            return None
        return AhoCorasick(self._literals)


class LiteralInterest:
    """Picks the lines of a large log that hold a literal of the knowledge or a word that tells of an error."""

    def __init__(self, literals: list[str]) -> None:
        self._literals = literals
        self._left = [_PER_LITERAL] * (len(literals) + len(_WORDS_OF_INTEREST))
        self._automaton: object = None

    @cached_property
    def _needles(self) -> list[bytes]:
        """Encoded when the first large log is met: for a small one that would be a fiftieth of the whole run."""
        return [literal.encode() for literal in [*self._literals, *_WORDS_OF_INTEREST]]

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
