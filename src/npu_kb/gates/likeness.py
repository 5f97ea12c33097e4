"""Gates on entries that say the same, and the entries nearest to one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from rapidfuzz import fuzz, process

from npu_kb.errors import Problem
from npu_kb.gates.context import Context, block_key
from npu_kb.gates.gate import gate
from npu_kb.knowledge.entryfile import LoadedEntry

_TOO_ALIKE = 75
"""Percent of likeness of title and symptom from which two entries are likely to be one."""


class Neighbour(NamedTuple):
    """Another entry and how alike its title and symptom are, from 0 to 100."""

    id: str
    likeness: int


def neighbours(id: str, context: Context) -> list[Neighbour]:
    """The three other entries whose title and symptom share the most telling words with this one's, nearest first."""
    return _nearest(id, context, fuzz.token_set_ratio, 0)[:3]


def _nearest(id: str, context: Context, scorer: Callable[..., float], least: float) -> list[Neighbour]:
    found = process.extract(context.words[id], context.words, scorer=scorer, score_cutoff=least, limit=5)
    return [Neighbour(other, round(likeness)) for _, likeness, other in found if other != id]


@gate("warning")
def no_near_duplicate(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """No other entry has nearly the same title and symptom without being linked to it."""
    id = item.entry.id
    for other, likeness in _nearest(id, context, fuzz.ratio, _TOO_ALIKE):
        if context.is_told_at(id, other) and not context.are_linked(id, other):
            message = f"reads like {other} ({likeness} of 100); make them one entry, or name it under `related`"
            yield item.file.problem(("title",), message)


@gate()
def no_pattern_twice(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """No two entries are recognised by the same block without being linked."""
    id = item.entry.id
    for i, block in enumerate(context.entries[id]["match"]):
        for other in context.recognised_by[block_key(block)]:
            if other != id and context.is_told_at(id, other) and not context.are_linked(id, other):
                message = f"recognises {other} too; add what tells the two apart, or name it under `related`"
                yield item.file.problem(("match", i), message)
