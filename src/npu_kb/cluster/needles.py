"""What a scan looks for: the texts of the knowledge, and the rules that they call up.

To collect them takes a second or more, so they are kept in the cache of the user.
"""

from __future__ import annotations

import marshal
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from npu_kb import locations
from npu_kb.intake.facts import signs_of
from npu_kb.knowledge import cachefolder
from npu_kb.knowledge.base import Knowledge
from npu_kb.patterns import fixed_parts, required_run, squeeze
from npu_kb.version import __version__

FORMAT = 6
"""Changes with what is kept."""
_WORD, _SHORT_WORD, _LONGEST = 8, 4, 12
"""Bytes: a word that is a good anchor, one that will do where there is none; the longest anchor."""
WHITE = b" \t\r\n\v\f"
"""What a squeezed literal is without."""
_NUMBER = 6
"""Digits; a number of fewer is met anywhere."""
_AFTER_PUNCTUATION = re.compile(r"(?<=[:=,;])")
"""Where a log may have a space in a text that is written as one word."""
_NEGATIVE = re.compile(rb"-\d{4,11}")
"""A code that is rare by itself, and the same however the words before it are spaced."""


class Spelling(NamedTuple):
    """A text as some pattern of the knowledge spaces it; others may space the same text otherwise."""

    pieces: tuple[bytes, ...]
    """What may be its anchor, in lower case: ends of its words, so that other white space in a log does no harm.

    The longest come first.
    """
    phrases: tuple[bytes, ...]
    """Its end and its start in lower case, with the spaces that are written there."""


class Needle(NamedTuple):
    """A text of the knowledge."""

    literal: bytes
    """Squeezed."""
    spellings: tuple[Spelling, ...]

    def ends_of(self, anchor: bytes) -> Iterator[int]:
        """Where in the literal a piece or a phrase ends, each time that it stands there."""
        squeezed = anchor.translate(None, WHITE)
        at = self.literal.find(squeezed)
        while at >= 0:
            yield at + len(squeezed)
            at = self.literal.find(squeezed, at + 1)


class Rule(NamedTuple):
    """A match block of an entry, and which needles it takes before it is worth a closer look."""

    entry: str
    number: int
    """Of the block in its entry, from 0."""
    groups: tuple[frozenset[int], ...]
    """Of each group at least one needle has to be seen."""
    ruling_out: frozenset[int]
    """Needles that may tell against it."""
    needs_lines_around: bool
    """Whether a regex of it has no literal to look for."""
    needs_facts: bool
    """Whether it asks for facts, which are read out of the lines below a sign."""

    @property
    def needles(self) -> frozenset[int]:
        """All needles of its groups."""
        return frozenset[int]().union(*self.groups)


class Needles:
    """All needles of the knowledge and the rules that they call up."""

    def __init__(self, all: list[Needle], rules: list[Rule], signs: frozenset[int], more: frozenset[int]) -> None:
        self.all, self.rules = all, rules
        self.signs = signs
        """Needles of outputs out of which facts are read: what they tell stands in the lines below."""
        self.more = more
        """Needles of literals that were asked for beside those of the knowledge."""

    @classmethod
    def of(cls, knowledge: Knowledge, more: Iterable[str] = ()) -> Needles:
        """Those of the knowledge; behind them `more` literals, each a needle."""
        collector = _Collector()
        for entry in (*knowledge.entries(), *knowledge.signatures()):
            pairs = zip(entry["match"], knowledge.blocks_of(entry["id"]), strict=True)
            for number, (written, block) in enumerate(pairs):
                collector.add_rule(entry["id"], number, written, block)
        others = frozenset(collector.add(squeeze(literal), literal) for literal in more)
        return cls(collector.needles, collector.rules, frozenset(collector.signs), others)

    @classmethod
    def load(cls, knowledge: Knowledge, more: Iterable[str] = ()) -> Needles:
        """The same, out of the cache where it is there and fits."""
        more = list(more)
        data = cachefolder.kept("needles", _key(knowledge, more), lambda: cls.of(knowledge, more)._to_bytes())
        needles, rules, signs, others = marshal.loads(data)  # only ever from a folder that belongs to the user alone
        spelt = [Needle(literal, tuple(map(Spelling._make, spellings))) for literal, spellings in needles]
        return cls(spelt, [*map(Rule._make, rules)], signs, others)

    def _to_bytes(self) -> bytes:
        needles = [(literal, tuple(map(tuple, spellings))) for literal, spellings in self.all]
        return marshal.dumps((needles, [*map(tuple, self.rules)], self.signs, self.more))

    @cached_property
    def fingerprint(self) -> int:
        """The same for the same needles in the same order, whatever host they are read on."""
        return crc32(b"\n".join(needle.literal for needle in self.all))


class Calls:
    """Which rules are worth a closer look where needles were seen; needles that are passed over count as seen."""

    def __init__(self, needles: Needles, passed_over: frozenset[int]) -> None:
        self._rules, self._passed_over = needles.rules, passed_over
        self._called_by: dict[int, list[int]] = {}
        for number, rule in enumerate(needles.rules):
            sure = [group for group in rule.groups if group.isdisjoint(passed_over)]
            for needle in min(sure, key=len) if sure else rule.needles:
                self._called_by.setdefault(needle, []).append(number)

    def rules(self, seen: Collection[int]) -> list[Rule]:
        """Those of which each group holds a needle that was seen."""
        numbers = sorted({number for needle in seen for number in self._called_by.get(needle, ())})
        called = [self._rules[number] for number in numbers]
        return [r for r in called if all(any(n in seen or n in self._passed_over for n in g) for g in r.groups)]


def _key(knowledge: Knowledge, more: list[str]) -> str:
    """Changes with the knowledge, with this program and with the Python that reads what it wrote."""
    packaged = locations.packaged_database()
    status = Path(packaged).stat() if packaged else None
    stamp = (status.st_mtime_ns, status.st_size) if status else ()
    parts = (FORMAT, __version__, sys.implementation.cache_tag, knowledge.source_key, stamp, more)
    return repr(parts)


class _Collector:
    """Numbers the needles as they come, each once."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self.signs: set[int] = set()
        self._spellings: list[dict[Spelling, None]] = []
        self._numbers: dict[bytes, int] = {}

    @property
    def needles(self) -> list[Needle]:
        """All of them, by number."""
        return [Needle(literal, tuple(self._spellings[number])) for literal, number in self._numbers.items()]

    def add_rule(self, id: str, number: int, written: dict[str, Any], block: dict[str, Any]) -> None:
        texts = self._texts("text", written, block)
        some = self._texts("any", written, block)
        regexes = [self.add(literal, required_run(source)) for literal, source in block["regex"] if literal]
        codes = [self._code(key) for _, key in block["code"]]
        singles = [frozenset({needle}) for needle in [*texts, *regexes, *codes] if needle is not None]
        signs = [self._signs(fact) for fact in block["fact"]]
        if groups := (*singles, *([frozenset(some)] if some else []), *filter(None, signs)):
            none = frozenset(self._texts("none", written, block))
            has_vague_regex = not all(literal for literal, _ in block["regex"])
            self.rules.append(Rule(id, number, groups, none, has_vague_regex, any(signs)))

    def _texts(self, kind: str, written: dict[str, Any], block: dict[str, Any]) -> list[int]:
        return [
            self.add(literal, next(part for part in fixed_parts(source) if squeeze(part) == literal))
            for (literal, *_), source in zip(block[kind], written[kind], strict=True)
        ]

    def _code(self, key: str) -> int | None:
        """The digits of a code, without what its spellings differ in."""
        digits = key.lower().removeprefix("0x").lstrip("-")
        return self.add(digits, digits) if len(digits) >= 4 and digits.isalnum() else None

    def _signs(self, condition: dict[str, Any]) -> frozenset[int]:
        signs = frozenset(
            self.add(squeeze(sign), sign) for sign in signs_of(condition["name"], condition.get("equals"))
        )
        self.signs |= signs
        return signs

    def add(self, literal: str, written: str) -> int:
        """The number of the needle of a literal."""
        number = self._numbers.setdefault(literal.encode(), len(self._numbers))
        if number == len(self._spellings):
            self._spellings.append({})
        self._spellings[number][_spelling(written)] = None
        return number


def _spelling(written: str) -> Spelling:
    raw = written.strip().encode().lower()
    phrases = tuple(dict.fromkeys((raw[-_LONGEST:].strip(), raw[:_LONGEST].strip())))
    words = written.split()
    parts = _AFTER_PUNCTUATION.split(words[0]) if len(words) == 1 else []
    ends = [*_ends_of_words(parts, _WORD)] or [*_ends_of_words(words, _WORD)] or [*_ends_of_words(words, _SHORT_WORD)]
    pieces = _NEGATIVE.findall(written.encode()) or ends or phrases[:1]
    return Spelling(tuple(sorted(pieces, key=len, reverse=True)), phrases)


def _ends_of_words(words: list[str], least: int) -> Iterator[bytes]:
    """The two ends of each word of at least so many bytes, in lower case."""
    for word in words:
        raw = word.encode().lower()
        is_common = len(raw) < least or (len(raw) < _NUMBER and raw.isdigit())
        if not is_common and (word.isascii() or word.lower() == word.upper()):
            yield raw[:_LONGEST]
            yield raw[-_LONGEST:]
