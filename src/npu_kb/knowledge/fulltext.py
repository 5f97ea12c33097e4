"""Full text search over entries, in both languages, with Whoosh.

An entry is one Whoosh document: a bag of terms whose weight says in which field they stand (BM25F with one field).
A query is a list of wishes (wishes.py). An entry scores the best of each wish, and more if it answers many of them. An
entry that many others name as a cause or as related is a general one: it gains by that, which decides where a query
says little.

Whoosh unpickles its files, so an index is only ever read from a folder that belongs to the user alone, and is built
on the host that searches it.
"""

from __future__ import annotations

import json
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
from npu_kb.knowledge.synonyms import Synonyms, read_synonyms
from npu_kb.knowledge.tokens import terms
from npu_kb.knowledge.wishes import Wish, Wishes
from npu_kb.version import __version__

if TYPE_CHECKING:
    from npu_kb.knowledge.base import Knowledge

FORMAT = 3
"""Changes with what an index holds."""

_OPENING = Lock()

_COVERAGE_POWER = 0.25
_NAMED_BONUS = 1000.0
_GENERAL_BONUS, _FEW_WISHES = 4.0, 4
"""For each e-fold of links to an entry; it fades with the wishes beyond a few: a long query names what it is about."""
_BM25_B, _BM25_K1 = 0.75, 4.0


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
        self._wishes = Wishes(self._reader, synonyms)

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
        wishes = self._wishes.of(query)
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

    def _answers(self, wish: Wish, tallies: dict[int, _Tally]) -> dict[int, float]:
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
