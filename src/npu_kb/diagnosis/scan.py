"""Which literals stand in a text: one pass for all of them."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

_SMALL = 20_000
"""Characters; below this, asking for each literal in turn is faster than building an automaton."""
_WORDS_OF_INTEREST = ["error", "fail", "exception", "traceback", "killed", "fatal", "npu-smi", "错误", "失败"]
_PER_LITERAL = 100
"""Lines kept for each literal of a large log."""
_WHITE = b" \t\r\n\v\f"
_LOWER = bytes(range(256)).lower()


def literals_in(literals: list[str], squeezed: str) -> list[int]:
    """Numbers of the literals that stand in the squeezed text."""
    if len(squeezed) >= _SMALL:
        try:
            from ahocorasick_rs import AhoCorasick
        except ImportError:
            pass
        else:
            hits = AhoCorasick(literals).find_matches_as_indexes(squeezed, overlapping=True)
            return sorted({hit[0] for hit in hits})
    return [number for number, literal in enumerate(literals) if literal in squeezed]


class LiteralInterest:
    """Picks the lines of a large log that hold a literal of the knowledge or a word that tells of an error."""

    def __init__(self, literals: list[str]) -> None:
        self._needles = [literal.encode() for literal in [*literals, *_WORDS_OF_INTEREST]]
        self._left = [_PER_LITERAL] * len(self._needles)
        self._automaton: object = None

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
