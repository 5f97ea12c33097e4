"""Full text search over entries, in both languages, with Whoosh.

An entry is one Whoosh document: a bag of terms whose weight says in which field they stand (BM25F with one field).
A query is a list of wishes: each is a term of the query with what may stand in its place (a synonym group, the
spelling that was meant). An entry scores the best of each wish, and more if it answers many of them. An entry that many
others name as a cause or as related is a general one: it gains by that, which decides where a query says little.

Whoosh unpickles its files, so an index is only ever read from a folder that belongs to the user alone, and is built
on the host that searches it.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from math import log1p
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from npu_kb import locations
from npu_kb.knowledge import cachefolder
from npu_kb.knowledge.indexing import FIELD, Document, in_memory, write
from npu_kb.knowledge.synonyms import Span, Synonyms, read_synonyms
from npu_kb.knowledge.tokens import Term, terms
from npu_kb.version import __version__

if TYPE_CHECKING:
    from npu_kb.knowledge.base import Knowledge

FORMAT = 3
"""Changes with what an index holds."""

_OPENING = Lock()

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
_COVERAGE_POWER = 0.25
_NAMED_BONUS = 1000.0
_GENERAL_BONUS, _FEW_WISHES = 4.0, 4
"""For each e-fold of links to an entry; it fades with the wishes beyond a few: a long query names what it is about."""
_BM25_B, _BM25_K1 = 0.75, 4.0

_LEAST_FUZZY = 5
_LEAST_TELLING_NUMBER = 4
_QUERY_CHARS = 2000
_ERROR_CODE = re.compile(r"=(?:0x[0-9a-f]{3,}|[a-z]{1,6}\d{3,})|\d{4,}")
_OPPOSITE = re.compile(r"^(?:un|in|im|non|dis)")


@dataclass(frozen=True)
class Hit:
    """An entry that answers a query: how well, how much of the query, and by which terms."""

    id: str
    score: float
    coverage: float
    """The part of the query, by weight, that the entry speaks of: 0 to 1."""
    highlights: frozenset[str]
    """Terms (see tokens.py) that matched, to mark them where the entry is shown."""


@dataclass
class _Wish:
    """A term of the query, and what may stand in its place at which discount."""

    term: str
    weight: float
    instead: dict[str, float] = field(default_factory=dict)

    def alternatives(self) -> dict[str, float]:
        return {**self.instead, self.term: 1.0}


@dataclass
class _Tally:
    """What an entry answers of a query so far."""

    score: float = 0.0
    answered: float = 0.0
    terms: set[str] = field(default_factory=set)

    def hit(self, id: str, asked: float, bonus: float) -> Hit:
        coverage = self.answered / asked if asked else 1.0
        score = self.score * coverage**_COVERAGE_POWER + bonus * coverage
        return Hit(id, round(score, 3), round(coverage, 3), frozenset(self.terms))


def open_index(knowledge: Knowledge) -> SearchIndex:
    """The index over a knowledge base, kept in the user's cache; built once, whichever threads ask for it."""
    with _OPENING:
        return _opened_index(knowledge)


@lru_cache(maxsize=2)
def _opened_index(knowledge: Knowledge) -> SearchIndex:
    topics = knowledge.topics()
    documents = ({**entry, "topic_names": topics.get(entry["topic"], {})} for entry in knowledge.entries())
    return SearchIndex.open(documents, locations.cache_directory(), knowledge.source_key or None)


class SearchIndex:
    """Entries by their words."""

    def __init__(self, index: Any, synonyms: Synonyms) -> None:
        from whoosh.scoring import BM25F

        self._synonyms = synonyms
        self._searcher = index.searcher(weighting=BM25F(B=_BM25_B, K1=_BM25_K1))
        self._reader = self._searcher.reader()
        stored = dict(self._reader.iter_docs())
        self._ids: dict[int, str] = {number: fields["id"] for number, fields in stored.items()}
        self._generality: dict[int, float] = {number: log1p(fields["links"]) for number, fields in stored.items()}
        self._vocabulary: list[str] | None = None

    @classmethod
    def open(cls, documents: Iterable[Document], directory: Path | str | None, key: str | None = None) -> SearchIndex:
        """The index of these documents, from `directory` or built there, in memory where that is not possible.

        Documents with the same key are the same; without a key they are compared by their content.
        """
        from whoosh import versionstring

        synonyms = read_synonyms(Path(locations.builtin_kb_directory()) / "synonyms.yaml")
        if key is None:
            documents = list(documents)
            key = json.dumps(documents, sort_keys=True)
        folder = cachefolder.private_folder(directory, "search") if directory else None
        if folder is None:
            return cls(in_memory(documents, synonyms), synonyms)
        name = sha256(f"{FORMAT} {__version__} {versionstring()} {synonyms.key} {key}".encode()).hexdigest()[:16]
        return cls._open(folder / name, synonyms) or cls._build(folder / name, list(documents), synonyms)

    @classmethod
    def _open(cls, path: Path, synonyms: Synonyms) -> SearchIndex | None:
        """The index at `path`, or None where there is none or it is damaged."""
        from whoosh.index import IndexError as UnusableIndex
        from whoosh.index import open_dir

        if not cachefolder.is_whole(path):
            return None
        try:
            return cls(open_dir(str(path), readonly=True), synonyms)
        except (OSError, UnusableIndex):
            return None

    @classmethod
    def _build(cls, path: Path, documents: list[Document], synonyms: Synonyms) -> SearchIndex:
        """A new index at `path`; in memory where the disk is full or read-only."""
        try:
            write(path, documents, synonyms)
        except OSError:
            return cls(in_memory(documents, synonyms), synonyms)
        return cls._open(path, synonyms) or cls(in_memory(documents, synonyms), synonyms)

    def close(self) -> None:
        """Let go of the index's files."""
        self._searcher.close()

    def search(self, query: str, limit: int = 10) -> list[Hit]:
        """The entries that answer the query best; an exact id, former id or code comes first."""
        tallies: dict[int, _Tally] = defaultdict(_Tally)
        asked = 0.0
        wishes = self._wishes(query)
        for wish in wishes:
            answers = self._answers(wish, tallies)
            most = max(answers.values(), default=0.0)
            asked += most
            for number, score in answers.items():
                tallies[number].score += score
                tallies[number].answered += most
        for number in self._named(query):
            tallies[number].score += _NAMED_BONUS
            tallies[number].answered = asked
        bonus = _GENERAL_BONUS * min(1.0, _FEW_WISHES / max(len(wishes), 1))
        hits = [
            tally.hit(self._ids[number], asked, bonus * self._generality[number]) for number, tally in tallies.items()
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]

    def spans(self, text: str, hit: Hit) -> list[tuple[int, int]]:
        """The parts of a text that a hit was found by, in order and apart from each other."""
        found = list(terms(text))
        places = [(term.start, term.end) for term in found if term.text in hit.highlights]
        places += [(span.start, span.end) for span in self._synonyms.of_text(found) if span.group in hit.highlights]
        merged: list[tuple[int, int]] = []
        for start, end in sorted(places):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((start, end))
        return merged

    def _answers(self, wish: _Wish, tallies: dict[int, _Tally]) -> dict[int, float]:
        """The score of each entry for one wish: that of its best alternative."""
        best: dict[int, float] = {}
        for term, factor in wish.alternatives().items():
            for number, score in self._scores(term).items():
                tallies[number].terms.add(term)
                best[number] = max(best.get(number, 0.0), score * factor * wish.weight)
        return best

    def _scores(self, term: str) -> dict[int, float]:
        """The BM25 score of one term in each entry that has it."""
        from whoosh.reading import TermNotFound

        try:
            matcher = self._searcher.postings(FIELD, term)
        except TermNotFound:
            return {}
        scores: dict[int, float] = {}
        while matcher.is_active():
            scores[matcher.id()] = matcher.score()
            matcher.next()
        return scores

    def _named(self, query: str) -> set[int]:
        """The entries whose id or former id stands in the query."""
        words = {word.lower().removesuffix(".yaml") for word in query.split()[:8]}
        return {number for word in words for number in self._scores(f"@{word}")}

    def _wishes(self, query: str) -> list[_Wish]:
        """What the query asks for, one wish for each of its terms."""
        found = list(terms(query[:_QUERY_CHARS]))
        meant = self._spellings(found)
        groups = self._synonyms.of_query(found, meant)
        noise = self._synonyms.noise(found)
        asked = [term for term in found if term.kind != "char"]
        shares = {span: _share(span, asked) for span in groups}
        wishes = {span.group: _Wish(span.group, _LONE_CHARACTER_WEIGHT) for span in groups if not shares[span]}
        for term in asked:
            inside = {span.group: shares[span] for span in groups if _covers(span, term)}
            if not inside and any(_touches(span, term) for span in noise):
                continue
            torn = term.kind == "pair" and not inside and any(_touches(span, term) for span in groups)
            weight = _TORN_PAIR_WEIGHT if torn else self._weight(term, asked)
            wish = wishes.setdefault(term.text, _Wish(term.text, weight))
            wish.instead.update(inside)
            if term.kind == "word":
                wish.instead[f"={term.text}"] = 1.0
                if spelling := meant.get(term.text):
                    wish.instead[spelling] = _TYPO_FACTOR
            if _ERROR_CODE.fullmatch(term.text):
                wishes.setdefault(f"!{term.text}", _Wish(f"!{term.text}", _OWN_CODE_WEIGHT))
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
