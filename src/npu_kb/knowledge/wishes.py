"""What a search asks for: each term of the query, with the synonym groups and spellings that may stand in its place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from npu_kb.knowledge.indexing import FIELD
from npu_kb.knowledge.synonyms import Span, Synonyms
from npu_kb.knowledge.tokens import Term, terms

_WISH_WEIGHTS = {
    "word": 1.0, "code": 1.5, "number": 1.5, "joined": 0.5, "part": 0.7, "pair": 0.6, "single": 0.4, "negated": 0.3,
}  # fmt: skip
_SHORT_NUMBER_WEIGHT = 0.2
_KNOWN_PART_WEIGHT = 0.15
_OWN_CODE_WEIGHT = 3.0
_LONE_CHARACTER_WEIGHT = 0.5
_TORN_PAIR_WEIGHT = 0.2
"""A pair of characters of which only one belongs to a word of a synonym group."""
_SYNONYM_DAMPING = 0.25
_SYNONYM_FACTOR = 0.8
_TYPO_FACTOR = 0.7

_LEAST_FUZZY = 5
_LEAST_TELLING_NUMBER = 4
_QUERY_CHARS = 2000
_ERROR_CODE = re.compile(r"=(?:0x[0-9a-f]{3,}|[a-z]{1,6}\d{3,})|\d{4,}")
_OPPOSITE = re.compile(r"^(?:un|in|im|non|dis)")


@dataclass
class Wish:
    """A term of the query, and what may stand in its place at which discount."""

    term: str
    weight: float
    instead: dict[str, float] = field(default_factory=dict)

    def alternatives(self) -> dict[str, float]:
        return {**self.instead, self.term: 1.0}


class Wishes:
    """Reads queries beside an index: which words it knows decides what is a slip of the pen."""

    def __init__(self, reader: Any, synonyms: Synonyms) -> None:
        self._reader, self._synonyms = reader, synonyms
        self._vocabulary: list[str] | None = None

    def of(self, query: str) -> list[Wish]:
        """What the query asks for, one wish for each of its terms."""
        found = list(terms(query[:_QUERY_CHARS]))
        meant = self._spellings(found)
        groups = self._synonyms.of_query(found, meant)
        noise = self._synonyms.noise(found)
        asked = [term for term in found if term.kind != "char"]
        shares = {span: _share(span, asked) for span in groups}
        wishes = {span.group: Wish(span.group, _LONE_CHARACTER_WEIGHT) for span in groups if not shares[span]}
        for term in asked:
            inside = {span.group: shares[span] for span in groups if _covers(span, term)}
            if not inside and any(_touches(span, term) for span in noise):
                continue
            torn = term.kind == "pair" and not inside and any(_touches(span, term) for span in groups)
            weight = _TORN_PAIR_WEIGHT if torn else self._weight(term, asked)
            wish = wishes.setdefault(term.text, Wish(term.text, weight))
            wish.instead.update(inside)
            if term.kind == "word":
                wish.instead[f"={term.text}"] = 1.0
                if spelling := meant.get(term.text):
                    wish.instead[spelling] = _TYPO_FACTOR
            if _ERROR_CODE.fullmatch(term.text):
                wishes.setdefault(f"!{term.text}", Wish(f"!{term.text}", _OWN_CODE_WEIGHT))
        return list(wishes.values())

    def _weight(self, term: Term, asked: list[Term]) -> float:
        """What a term of the query counts; the parts of a name count little where the name itself is known."""
        if term.kind == "number" and len(term.text) < _LEAST_TELLING_NUMBER:
            return _SHORT_NUMBER_WEIGHT
        if term.kind == "part" and any(
            (FIELD, whole.text) in self._reader
            for whole in asked
            if (whole.start, whole.end) == (term.start, term.end) and whole.kind in ("code", "word")
        ):
            return _KNOWN_PART_WEIGHT
        return _WISH_WEIGHTS[term.kind]

    def _spellings(self, found: list[Term]) -> dict[str, str]:
        """What the misspelt words of a query stand for."""
        words = {term.text for term in found if term.kind == "word"}
        return {word: meant for word in words if (meant := self._meant(word))}

    def _meant(self, word: str) -> str | None:
        """The word of the index that a misspelt word stands for; only words of five letters or more, never codes."""
        if len(word) < _LEAST_FUZZY or not word.isascii() or not word.isalpha() or self._knows(word):
            return None
        from rapidfuzz.distance import OSA

        most = 1 if len(word) < 8 else 2
        near = []
        for other in self._words():
            if other[0] in word[:2] and abs(len(other) - len(word)) <= most and not _opposite(word, other):
                distance = OSA.distance(word, other, score_cutoff=most)
                if distance <= most:
                    near.append((distance, -self._frequency(other), other))
        return min(near)[-1] if near else None

    def _knows(self, word: str) -> bool:
        known = any((FIELD, term) in self._reader for term in (word, f"={word}"))
        return known or word in self._synonyms.words()

    def _frequency(self, word: str) -> int:
        return int(self._reader.doc_frequency(FIELD, word))

    def _words(self) -> list[str]:
        """All plain words of the index and of the synonyms."""
        if self._vocabulary is None:
            texts = (term.decode() for term in self._reader.lexicon(FIELD))
            own = {text for text in texts if text.isascii() and text.isalpha() and len(text) >= _LEAST_FUZZY - 1}
            self._vocabulary = sorted(own | self._synonyms.words())
        return self._vocabulary


def _covers(span: Span, term: Term) -> bool:
    return span.start <= term.start and term.end <= span.end


def _touches(span: Span, term: Term) -> bool:
    return term.start < span.end and span.start < term.end


def _share(span: Span, asked: list[Term]) -> float:
    """The factor of a synonym for each of the terms that it names: less the more they are, 0 if it names none."""
    covered = sum(_covers(span, term) for term in asked)
    return _SYNONYM_FACTOR * covered**-_SYNONYM_DAMPING if covered else 0.0


def _opposite(one: str, other: str) -> bool:
    """Whether two near words differ by a prefix that negates."""
    return bool(_OPPOSITE.match(one)) != bool(_OPPOSITE.match(other))
