"""kb/synonyms.yaml: words that search takes for each other, in both languages."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from npu_kb.errors import KnowledgeError
from npu_kb.knowledge.tokens import Term, terms

if TYPE_CHECKING:
    from npu_kb.errors import Problem
    from npu_kb.knowledge.yamlfile import Located, Where

_UNIT_KINDS = ("word", "code", "number", "single", "char")
_PARTS = ("same", "also", "noise")


class Span(NamedTuple):
    """A group of synonyms, by its name, and the part of the text that names it."""

    group: str
    start: int
    end: int


class _Unit(NamedTuple):
    """One word or one Chinese character of a text."""

    text: str
    start: int
    end: int
    is_character: bool


class _Phrases:
    """Phrases, and the groups that each belongs to."""

    def __init__(self) -> None:
        self._by_first: dict[str, dict[tuple[str, ...], list[str]]] = defaultdict(dict)

    def add(self, phrase: str, groups: Iterable[str]) -> None:
        """Let a phrase name these groups."""
        key = tuple(unit.text for unit in _units(terms(phrase)))
        if key:
            self._by_first[key[0]].setdefault(key, []).extend(groups)

    def groups(self, phrase: str) -> list[str]:
        """The groups that exactly this phrase names."""
        key = tuple(unit.text for unit in _units(terms(phrase)))
        return self._by_first.get(key[0], {}).get(key, []) if key else []

    def words(self) -> Iterator[str]:
        """Every word of every phrase."""
        for phrases in self._by_first.values():
            for key in phrases:
                yield from key

    def find(self, units: list[_Unit]) -> Iterator[Span]:
        """The phrases in a text; a single Chinese character inside a longer phrase is none."""
        covered_until = -1
        for place, unit in enumerate(units):
            for key in sorted(self._by_first.get(unit.text, {}), key=len, reverse=True):
                found = units[place : place + len(key)]
                if tuple(other.text for other in found) != key or not _adjacent(found):
                    continue
                if len(key) == 1 and unit.is_character and place <= covered_until:
                    continue
                covered_until = max(covered_until, place + len(key) - 1)
                for group in self._by_first[unit.text][key]:
                    yield Span(group, unit.start, found[-1].end)


@dataclass(frozen=True)
class Synonyms:
    """The groups of one file, found in a text by `of_text` (for entries) and `of_query` (one-way words too)."""

    key: str
    """Changes with the file's content."""
    _same: _Phrases
    _also: _Phrases
    _noise: _Phrases

    def of_text(self, found: Iterable[Term]) -> list[Span]:
        """The groups that a text names."""
        return list(self._same.find(_units(found)))

    def of_query(self, found: Iterable[Term], meant: Mapping[str, str]) -> list[Span]:
        """The groups that a query names, with misspelt words read as what they stand for."""
        units = [unit._replace(text=meant.get(unit.text, unit.text)) for unit in _units(found)]
        return [*self._same.find(units), *self._also.find(units)]

    def noise(self, found: Iterable[Term]) -> list[Span]:
        """The parts of a query that say nothing about the fault."""
        return list(self._noise.find(_units(found)))

    def words(self) -> set[str]:
        """All plain words that stand in a group."""
        both = {*self._same.words(), *self._also.words()}
        return {word for word in both if word.isascii() and word.isalpha()}


def read_synonyms(path: Path) -> Synonyms:
    """Read a synonyms.yaml; KnowledgeError with all of its problems if anything in it is wrong."""
    from npu_kb.knowledge.yamlfile import read_yaml

    file, problems = read_yaml(path)
    if file is None:
        raise KnowledgeError(problems)
    problems = list(_problems(file))
    if problems:
        raise KnowledgeError(problems)
    same, also, noise = _Phrases(), _Phrases(), _Phrases()
    for number, group in enumerate(file.value.get("same", [])):
        for phrase in group:
            same.add(phrase, [f"#{number}"])
    for left, rights in file.value.get("also", {}).items():
        for right in rights:
            if not same.groups(right):
                same.add(right, [f"#{right}"])
            also.add(left, same.groups(right))
    for phrases in file.value.get("noise", {}).values():
        for phrase in phrases:
            noise.add(phrase, ["noise"])
    return Synonyms(sha256(repr(file.value).encode()).hexdigest(), same, also, noise)


def _units(found: Iterable[Term]) -> list[_Unit]:
    """The words and characters of a text, one for each place."""
    units: list[_Unit] = []
    for term in found:
        if term.kind in _UNIT_KINDS and (not units or term.start >= units[-1].end):
            units.append(_Unit(term.text, term.start, term.end, term.kind in ("char", "single")))
    return units


def _adjacent(units: list[_Unit]) -> bool:
    """Whether nothing stands between the Chinese characters of a phrase."""
    pairs = itertools.pairwise(units)
    return all(not (one.is_character and two.is_character) or one.end == two.start for one, two in pairs)


def _problems(file: Located) -> Iterator[Problem]:
    if not isinstance(file.value, dict):
        yield file.problem((), f"must be a map with {', '.join(_PARTS)}")
        return
    for part, groups in file.value.items():
        if part not in _PARTS:
            yield file.problem((part,), f"is not a part; allowed are {', '.join(_PARTS)}")
        elif not isinstance(groups, list if part == "same" else dict):
            yield file.problem((part,), "must be a list of lists" if part == "same" else "must map names to lists")
        else:
            items = groups.items() if isinstance(groups, dict) else enumerate(groups)
            for name, phrases in items:
                yield from _group_problems(file, (part, name), phrases)


def _group_problems(file: Located, where: Where, phrases: object) -> Iterator[Problem]:
    if not isinstance(phrases, list) or len(phrases) < 1 + (where[0] == "same"):
        yield file.problem(where, "must be a list of words")
        return
    for number, phrase in enumerate(phrases):
        if not isinstance(phrase, str):
            kind = type(phrase).__name__
            yield file.problem((*where, number), f"YAML reads this as {kind} {phrase!r}; put it in quotes")
        elif not any(terms(phrase)):
            yield file.problem((*where, number), f"{phrase!r} holds no word; remove it")
        elif phrase in phrases[:number]:
            yield file.problem((*where, number), f"{phrase!r} stands twice in its group; remove it")
