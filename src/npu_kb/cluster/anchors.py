"""The short bytes that an engine looks for, one piece of each needle: those that are rare in the logs at hand.

A needle's literal is squeezed and would be dear to look for in raw bytes. Its anchor is a piece of it without white
space, as it stands in a log but for its case. Any piece will do; a rare one means that few lines have to be looked at.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from typing import NamedTuple

from npu_kb.cluster.engines import AhoCorasick
from npu_kb.cluster.needles import Needle, Needles

LEVELS = (b"[error]", b"- error -", b"\nerror ", b"\nerror:")
"""Anchors of lines that were written as errors: plog, Python logging, vLLM."""
_SHORT = 4
"""Bytes; an anchor shorter than this costs more than it tells."""
_COMMON = 16_000
"""A word that stands more often than once in so many bytes gives way to a piece of the phrase, with its spaces."""
_TOO_COMMON, _TOLD_APART = 20_000, 12
"""So does a needle of at most so many bytes to the others of its rule, if its rarest anchor stands so often.

A longer one never does: where it is common, a fault repeats itself.
"""
_BEARABLE, _WORD = 4_000, re.compile(rb"[a-z_=:,]*")
"""A word that stands oftener than once in so many bytes is no needle, even if its rule has no other and is left out."""
_FEW_LOGS = 16_000_000
"""Bytes; in no more of them nothing is too common."""
_SLICE = 1 << 17
_LEAST_SAMPLE = 1_000_000
"""Bytes: a smaller sample says little about what is common."""


class Anchors(NamedTuple):
    """What an engine looks for."""

    needles: dict[bytes, tuple[int, ...]]
    """The needles of each anchor; none for those that only tell a line's level."""
    passed_over: frozenset[int]
    """Needles without an anchor, too common or too short: they count as seen, and are looked for near others."""
    in_company: frozenset[int]
    """Needles whose rules have such others too, or a regex without a needle: the lines around them are wanted."""


def anchors_of(needles: Needles, sample: bytes, total: int = 0) -> Anchors:
    """Anchors that are rare in a sample (lower-case bytes of any size, also none) of logs of `total` bytes."""
    size = max(len(sample), _LEAST_SAMPLE)
    chosen, seen = _chosen(needles.all, sample, size)
    often = [sum(seen[anchor] for anchor in anchors) for anchors in chosen]
    common = {n for n, count in enumerate(often) if total > _FEW_LOGS and count * _TOO_COMMON > size}
    dull = {n for n in common if len(needles.all[n].literal) <= _TOLD_APART}
    bearable = {n for n in dull if often[n] * _BEARABLE <= size or not _WORD.fullmatch(needles.all[n].literal)}
    short = {n for n, anchors in enumerate(chosen) if len(anchors[0]) < _SHORT}
    dull |= short
    bearable |= short - common
    for rule in needles.rules:
        if not any(map(dull.isdisjoint, rule.groups)):
            dull -= min(rule.groups, key=lambda group: sum(often[n] for n in group & dull)) & bearable
    found: dict[bytes, tuple[int, ...]] = dict.fromkeys(LEVELS, ())
    for number, anchors in enumerate(chosen):
        for anchor in dict.fromkeys(chain(*map(_spaced, anchors))) if number not in dull else ():
            found[anchor] = (*found.get(anchor, ()), number)
    wanting = [rule for rule in needles.rules if rule.needs_lines_around or not all(map(dull.isdisjoint, rule.groups))]
    company = {n for rule in wanting for n in rule.needles - dull}
    return Anchors(found, frozenset(dull), frozenset(company))


def _chosen(needles: list[Needle], sample: bytes, size: int) -> tuple[list[list[bytes]], dict[bytes, int]]:
    """Anchors for each needle, one for each spelling: its rarest piece, or a phrase where that is common.

    And how often those stand in the sample.
    """
    spellings = [spelling for needle in needles for spelling in needle.spellings]
    seen = _counts({piece for spelling in spellings for piece in spelling.pieces}, sample)
    rarest = {spelling: min(spelling.pieces, key=seen.__getitem__) for spelling in spellings}
    common = [spelling for spelling, piece in rarest.items() if seen[piece] * _COMMON > size]
    seen |= _counts({phrase for spelling in common for phrase in spelling.phrases}, sample)
    rarest |= {spelling: min(spelling.phrases, key=seen.__getitem__) for spelling in common}
    anchors = [[*dict.fromkeys(rarest[spelling] for spelling in needle.spellings)] for needle in needles]
    return [[anchor for anchor in each if len(anchor) >= _SHORT] or each[:1] for each in anchors], seen


def _spaced(anchor: bytes) -> list[bytes]:
    """The anchor, and as it stands with other spaces, or where a line breaks at one of them."""
    breaks = (anchor[:at] + b"\n" + anchor[at + 1 :] for at, byte in enumerate(anchor) if byte == ord(" "))
    return [anchor, anchor.replace(b" ", b"  "), anchor.replace(b" ", b"\t"), *breaks]


def _counts(pieces: set[bytes], sample: bytes) -> dict[bytes, int]:
    """How often each of the pieces stands in the sample."""
    choices = sorted(pieces)
    engine, seen = AhoCorasick(choices, dense=False), Counter[int]()
    for start in range(0, len(sample), _SLICE):
        seen.update(number for number, _ in engine.hits(sample[start : start + _SLICE]))
    return {piece: seen[number] for number, piece in enumerate(choices)}
