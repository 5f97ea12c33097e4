"""What a scan looks for: the texts of the knowledge, and the short bytes that must stand in a line for each of them.

A needle's literal is squeezed and would be dear to look for in raw bytes. Its anchor is a piece of it without white
space, as it stands in a log but for its case. Any piece will do; the one chosen is rare in the logs at hand, so that
few lines have to be looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple
from zlib import crc32

from npu_kb.cluster.engines import AhoCorasick
from npu_kb.knowledge.base import Knowledge
from npu_kb.patterns import fixed_parts, required_run, squeeze

LEVELS = (b"[error]", b"- error -", b"\nerror ", b"\nerror:")
"""Anchors of lines that were written as errors: plog, Python logging, vLLM."""
_WORD, _LONGEST = 8, 12
"""Bytes: a word that is long enough to be an anchor by itself; the longest anchor."""
_SHORT = 6
"""An anchor shorter than this costs more than it tells."""
_COMMON = 16_000
"""A word that stands more often than once in so many bytes gives way to a piece of the phrase, with its spaces."""
_TOO_COMMON = 20_000
"""So does a needle to the others of its rule, if its rarest anchor stands so often."""

_BEARABLE = 4_000
"""Unless its rule would have no other; then it may stand once in so many bytes, or the rule is left out."""
_SLICE = 1 << 17
_LEAST_SAMPLE = 2_000_000
"""Bytes: a smaller sample says little about what is common."""


class Needle(NamedTuple):
    """A text of the knowledge."""

    literal: bytes
    """Squeezed."""
    pieces: tuple[bytes, ...]
    """What may be its anchor, in lower case: ends of its long words."""
    phrase: bytes
    """Its end in lower case, with the spaces that are written there."""


class Rule(NamedTuple):
    """A match block of an entry, and which needles it takes before it is worth a closer look."""

    block: dict[str, Any]
    entry: str
    groups: tuple[frozenset[int], ...]
    """Of each group at least one needle has to be seen."""
    ruling_out: frozenset[int]
    """Needles that may tell against it."""

    @property
    def needles(self) -> frozenset[int]:
        """All needles of its groups."""
        return frozenset[int]().union(*self.groups)


class Anchors(NamedTuple):
    """What an engine looks for."""

    needles: dict[bytes, tuple[int, ...]]
    """The needles of each anchor; none for those that only tell a line's level."""
    passed_over: frozenset[int]
    """Needles without an anchor, too common or too short: they count as seen, and are looked for near others."""
    in_company: frozenset[int]
    """Needles whose rules have such others too, so that the lines around them are wanted."""


class Needles:
    """All needles of the knowledge and the rules that they call up; behind them `more` literals, each a needle."""

    def __init__(self, knowledge: Knowledge, more: Iterable[str] = ()) -> None:
        self.all: list[Needle] = []
        self.rules: list[Rule] = []
        self._numbers: dict[bytes, int] = {}
        self._rules_of: dict[int, list[int]] = {}
        for entry in knowledge.entries():
            for written, block in zip(entry["match"], knowledge.blocks_of(entry["id"]), strict=True):
                self._add_rule(entry["id"], written, block)
        self.more = frozenset(self._add(squeeze(literal), literal) for literal in more)

    @property
    def fingerprint(self) -> int:
        """The same for the same needles in the same order, whatever host they are read on."""
        return crc32(b"\n".join(needle.literal for needle in self.all))

    def called(self, seen: Collection[int], passed_over: Collection[int]) -> list[Rule]:
        """The rules to look at where these needles were seen."""
        numbers = sorted({number for needle in seen for number in self._rules_of.get(needle, ())})
        called = [self.rules[number] for number in numbers]
        return [r for r in called if all(any(n in seen or n in passed_over for n in group) for group in r.groups)]

    def _add_rule(self, id: str, written: dict[str, Any], block: dict[str, Any]) -> None:
        texts = [self._text(pattern[0], source) for pattern, source in zip(block["text"], written["text"], strict=True)]
        some = [self._text(pattern[0], source) for pattern, source in zip(block["any"], written["any"], strict=True)]
        regexes = [self._regex(literal, source) for literal, source in block["regex"] if literal]
        codes = [self._code(key) for _, key in block["code"]]
        none = [self._text(pattern[0], source) for pattern, source in zip(block["none"], written["none"], strict=True)]
        singles = [{number} for number in [*texts, *regexes, *codes] if number is not None]
        groups = [*singles, *([set(some)] if some else [])]
        if groups:
            rule = Rule(block, id, tuple(map(frozenset, groups)), frozenset(none))
            for needle in rule.needles:
                self._rules_of.setdefault(needle, []).append(len(self.rules))
            self.rules.append(rule)

    def _text(self, literal: str, source: str) -> int:
        return self._add(literal, next(part for part in fixed_parts(source) if squeeze(part) == literal))

    def _regex(self, literal: str, source: str) -> int:
        return self._add(literal, required_run(source))

    def _code(self, key: str) -> int | None:
        """The digits of a code, without what its spellings differ in."""
        digits = key.lower().removeprefix("0x").lstrip("-")
        return self._add(digits, digits) if len(digits) >= 4 and digits.isalnum() else None

    def _add(self, literal: str, written: str) -> int:
        key = literal.encode()
        if key not in self._numbers:
            self._numbers[key] = len(self.all)
            phrase = written.strip().encode().lower()[-_LONGEST:]
            self.all.append(Needle(key, tuple(_ends_of_words(written)) or (phrase,), phrase))
        return self._numbers[key]

    def anchors(self, sample: bytes) -> Anchors:
        """Anchors that are rare in a sample of the logs at hand (bytes of any size, also none)."""
        choices = sorted({piece for needle in self.all for piece in (*needle.pieces, needle.phrase)})
        engine, seen = AhoCorasick(choices, dense=False), Counter[bytes]()
        for start in range(0, len(sample), _SLICE):
            seen.update(choices[number] for number, _ in engine.hits(sample[start : start + _SLICE]))
        size = max(len(sample), _LEAST_SAMPLE)
        chosen = [_rarest(needle, seen, size) for needle in self.all]
        dull = {n for n, anchor in enumerate(chosen) if _is_dull(anchor, seen, size)}
        bearable = {n for n in dull if seen[chosen[n]] * _BEARABLE <= size}
        for rule in self.rules:
            if all(group & dull for group in rule.groups):
                dull -= min(rule.groups, key=lambda group: sum(seen[chosen[n]] for n in group & dull)) & bearable
        needles: dict[bytes, tuple[int, ...]] = dict.fromkeys(LEVELS, ())
        for number, anchor in enumerate(chosen):
            if number not in dull:
                needles[anchor] = (*needles.get(anchor, ()), number)
        company = {n for rule in self.rules if rule.needles & dull for n in rule.needles - dull}
        return Anchors(needles, frozenset(dull), frozenset(company))


def _rarest(needle: Needle, seen: Counter[bytes], size: int) -> bytes:
    anchor = min(needle.pieces, key=lambda piece: (seen[piece], -len(piece)))
    return needle.phrase if seen[anchor] * _COMMON > size else anchor


def _is_dull(anchor: bytes, seen: Counter[bytes], size: int) -> bool:
    return len(anchor) < _SHORT or seen[anchor] * _TOO_COMMON > size


def _ends_of_words(text: str) -> Iterator[bytes]:
    """The two ends of each long word, in lower case."""
    for word in text.split():
        raw = word.encode().lower()
        if len(raw) >= _WORD and (word.isascii() or word.lower() == word.upper()):
            yield raw[:_LONGEST]
            yield raw[-_LONGEST:]
