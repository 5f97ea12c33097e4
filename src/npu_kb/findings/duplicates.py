"""Entries that come near a new one: by their error text, and by what they say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from npu_kb.findings.clues import clues
from npu_kb.findings.masking import PLACEHOLDER, masked
from npu_kb.intake.salient import bare
from npu_kb.knowledge.base import Document, Knowledge
from npu_kb.patterns import squeeze

MOST = 5
_LINES = 8
"""Lines of the excerpt that are compared, the most telling ones."""
_LEAST_TEXT = 12
"""Squeezed characters; shorter texts are alike by chance."""
_LEAST_PERCENT = 60


class Near(NamedTuple):
    """An entry that comes near: how near (0 to 100), and by what: `text` (its error text) or `meaning` (its words)."""

    entry: Document
    percent: int
    why: str
    line: str
    """The line of a hit sample that comes nearest, or nothing."""


def nearest(found: Iterable[Near]) -> list[Near]:
    """The five nearest entries, each once, the nearest first."""
    best: dict[str, Near] = {}
    for near in found:
        known = best.get(near.entry["id"])
        if known is None or near.percent > known.percent:
            best[near.entry["id"]] = near._replace(line=near.line or (known.line if known else ""))
    return sorted(best.values(), key=lambda near: -near.percent)[:MOST]


def skeleton(text: str) -> str:
    """What two runs of the same fault print alike: squeezed, without stamps and volatile parts."""
    return squeeze(PLACEHOLDER.sub("", masked(bare(text))))


def by_text(excerpt: list[str], knowledge: Knowledge) -> Iterator[Near]:
    """Entries with a line of a sample, or a text of a pattern, like a line of the excerpt; other lengths count less."""
    from rapidfuzz import fuzz, process

    known = [(entry, line, text) for entry in knowledge.entries() for line, text in _texts_of(entry)]
    choices = [text for _, _, text in known]
    for clue in sorted(clues(excerpt), key=lambda clue: -clue.worth)[:_LINES]:
        mine = skeleton(clue.text)
        found = process.extract(mine, choices, scorer=fuzz.WRatio, score_cutoff=_LEAST_PERCENT, limit=4 * MOST)
        for text, percent, at in found if len(mine) >= _LEAST_TEXT else []:
            likeness = percent * (min(len(text), len(mine)) / max(len(text), len(mine))) ** 0.25
            if likeness >= _LEAST_PERCENT:
                yield Near(known[at][0], round(likeness), "text", known[at][1])


def _texts_of(entry: Document) -> Iterator[tuple[str, str]]:
    """(line of a hit sample or nothing, its skeleton or that of a pattern) of an entry."""
    lines = [line for sample in entry["samples"]["hit"] for line in sample.splitlines()]
    found = [(line, skeleton(line)) for line in lines]
    found += [("", squeeze(PLACEHOLDER.sub("", text))) for block in entry["match"] for text in block["text"]]
    return ((line, text) for line, text in found if len(text) >= _LEAST_TEXT)


def by_meaning(words: str, knowledge: Knowledge) -> Iterator[Near]:
    """Entries that speak of most of the words; those behind the best one count less as they score less."""
    from npu_kb.knowledge.fulltext import open_index

    hits = open_index(knowledge).search(words, MOST) if words else []
    for hit in hits:
        percent = round(100 * hit.coverage * hit.score / hits[0].score)
        if percent >= _LEAST_PERCENT and (entry := knowledge.entry(hit.id)):
            yield Near(entry, percent, "meaning", "")
