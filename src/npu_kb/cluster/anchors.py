"""The short bytes that an engine looks for, one piece of each needle: those that are rare in the logs at hand.

A needle's literal is squeezed and would be dear to look for in raw bytes. Its anchor is a piece of it without white
space, as it stands in a log but for its case. Any piece will do; a rare one means that few lines have to be looked at.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from npu_kb.cluster.engines import AhoCorasick
from npu_kb.cluster.needles import Needle, Needles

LEVELS = (b"[error]", b"- error -", b"\nerror ", b"\nerror:")
"""Anchors of lines that were written as errors: plog, Python logging, vLLM."""
_SHORT = 4
"""Bytes; an anchor shorter than this costs more than it tells."""
_COMMON = 16_000
"""A word that stands more often than once in so many bytes gives way to a piece of the phrase, with its spaces."""
_TOO_COMMON = 20_000
"""So does a needle to the others of its rule, if its rarest anchor stands so often."""
_BEARABLE = 4_000
"""Unless its rule would have no other; then it may stand once in so many bytes, or the rule is left out."""
_SLICE = 1 << 17
_LEAST_SAMPLE = 2_000_000
"""Bytes: a smaller sample says little about what is common."""


class Anchors(NamedTuple):
    """What an engine looks for."""

    needles: dict[bytes, tuple[int, ...]]
    """The needles of each anchor; none for those that only tell a line's level."""
    passed_over: frozenset[int]
    """Needles without an anchor, too common or too short: they count as seen, and are looked for near others."""
    in_company: frozenset[int]
    """Needles whose rules have such others too, or a regex without a needle: the lines around them are wanted."""


def anchors_of(needles: Needles, sample: bytes) -> Anchors:
    """Anchors that are rare in a sample of the logs at hand (lower-case bytes of any size, also none)."""
    seen = _counts({piece for needle in needles.all for piece in (*needle.pieces, needle.phrase)}, sample)
    size = max(len(sample), _LEAST_SAMPLE)
    chosen = [_rarest(needle, seen, size) for needle in needles.all]
    dull = {n for n, anchor in enumerate(chosen) if len(anchor) < _SHORT or seen[anchor] * _TOO_COMMON > size}
    bearable = {n for n in dull if seen[chosen[n]] * _BEARABLE <= size}
    for rule in needles.rules:
        if all(not group.isdisjoint(dull) for group in rule.groups):
            dull -= min(rule.groups, key=lambda group: sum(seen[chosen[n]] for n in group & dull)) & bearable
    found: dict[bytes, tuple[int, ...]] = dict.fromkeys(LEVELS, ())
    for number, anchor in enumerate(chosen):
        if number not in dull:
            found[anchor] = (*found.get(anchor, ()), number)
    wanting = [rule for rule in needles.rules if rule.needs_lines_around or not rule.needles.isdisjoint(dull)]
    company = {n for rule in wanting for n in rule.needles - dull}
    return Anchors(found, frozenset(dull), frozenset(company))


def _counts(pieces: set[bytes], sample: bytes) -> Counter[bytes]:
    """How often each of the pieces stands in the sample."""
    choices = sorted(pieces)
    engine, seen = AhoCorasick(choices, dense=False), Counter[int]()
    for start in range(0, len(sample), _SLICE):
        seen.update(number for number, _ in engine.hits(sample[start : start + _SLICE]))
    return Counter({choices[number]: count for number, count in seen.items()})


def _rarest(needle: Needle, seen: Counter[bytes], size: int) -> bytes:
    anchor = min(needle.pieces, key=lambda piece: (seen[piece], -len(piece)))
    return needle.phrase if seen[anchor] * _COMMON > size else anchor
