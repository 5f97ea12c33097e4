"""The entries to browse: how many there are of each layer and topic, and those that a search and filters leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from npu_kb.diagnosis.applies import applicability
from npu_kb.knowledge.base import Knowledge
from npu_kb.knowledge.fulltext import Hit, SearchIndex
from npu_kb.knowledge.phrases import with_signatures

Entry = dict[str, Any]

FILTERS = ("layer", "topic", "severity", "status", "chip")
"""What `name:value` in a search narrows to; `component:version` (`torch_npu:2.1.0`) does the same for versions."""
_FIELDS = ("severity", "status")


class Query(NamedTuple):
    """A search: its words, and {name: value} of its filters."""

    words: str
    filters: dict[str, str]

    @classmethod
    def of(cls, text: str, components: frozenset[str]) -> Query:
        """`hccl timeout severity:fault torch_npu:2.1.0` in its parts."""
        words, filters = [], {}
        for word in text.split():
            name, colon, value = word.partition(":")
            if colon and value and (name in FILTERS or name in components):
                filters[name] = value
            else:
                words.append(word)
        return cls(" ".join(words), filters)


class Found(NamedTuple):
    """An entry of a list, and what the search found it by; None where nothing was searched."""

    entry: Entry
    hit: Hit | None


class Links:
    """What links between entries need to show: the titles by id, and what brings an entry about."""

    def __init__(self, entries: list[Entry]) -> None:
        self.titles: dict[str, dict[str, str]] = {entry["id"]: entry["title"] for entry in entries}
        self.caused_by: dict[str, list[str]] = {}
        for entry in entries:
            for id in entry.get("causes", []):
                self.caused_by.setdefault(id, []).append(entry["id"])


class Catalog:
    """All entries of a knowledge base; the full-text index may come later."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self.entries = list(knowledge.entries())
        self._by_id = {entry["id"]: entry for entry in self.entries}
        self.topics = knowledge.topics()
        self.index: SearchIndex | None = None
        self.links = Links(self.entries)
        self.components = frozenset(name for entry in self.entries for name in _components(entry))

    def entry(self, id: str) -> Entry | None:
        """The entry or one-line fault with this id."""
        return self._by_id.get(id) or self._knowledge.entry(id)

    def counts(self) -> dict[str, Counter[str]]:
        """{layer: {topic: number of entries}}, both in the order of their names."""
        counted: dict[str, Counter[str]] = {}
        for entry in sorted(self.entries, key=lambda entry: (entry["layer"], entry["topic"])):
            counted.setdefault(entry["layer"], Counter())[entry["topic"]] += 1
        return counted

    def values(self) -> dict[str, Counter[str]]:
        """{filter: {value: number of entries}} of the filters that the tree does not offer."""
        counted = {name: Counter(entry[name] for entry in self.entries) for name in _FIELDS}
        counted["chip"] = Counter(chip for entry in self.entries for chip in entry["versions"].get("chip") or [])
        return counted

    def find(self, text: str, layer: str = "", topic: str = "") -> list[Found]:
        """The entries that answer a search within a layer and topic, the best first; without words all of them."""
        query = Query.of(text, self.components)
        filters = {"layer": layer, "topic": topic} | query.filters
        filters = {name: value for name, value in filters.items() if value}
        if not query.words:
            return [Found(entry, None) for entry in self.entries if _passes(entry, filters)]
        return [found for found in self._searched(query.words) if _passes(found.entry, filters)]

    def _searched(self, words: str) -> Iterator[Found]:
        """By the full text, with one-line faults; until its index is there, the entries with these words as title."""
        if self.index is not None:
            hits = with_signatures(self.index.search(words, len(self.entries)), words, self._knowledge)
            return (Found(entry, hit) for hit in hits if (entry := self.entry(hit.id)))
        wanted = words.lower()
        return (Found(e, None) for e in self.entries if wanted in " ".join([e["id"], *e["title"].values()]).lower())


def _components(entry: Entry) -> Iterator[str]:
    yield from entry["versions"].get("affected") or {}
    yield from entry["versions"].get("fixed") or {}


def _passes(entry: Entry, filters: dict[str, str]) -> bool:
    return all(_fits(entry, name, value) for name, value in filters.items())


def _fits(entry: Entry, name: str, value: str) -> bool:
    """Whether an entry has this value; of a version, whether the entry speaks of it and it is affected."""
    if name == "chip":
        return value.lower() in (chip.lower() for chip in entry["versions"].get("chip") or [])
    if name in FILTERS:
        return bool(entry[name] == value)
    return name in _components(entry) and applicability(entry["versions"], {name: value})["state"] == "applies"
