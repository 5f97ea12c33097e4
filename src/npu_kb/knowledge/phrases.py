"""Search among one-line faults, and where they stand among the entries that answer a query."""

from __future__ import annotations

import re
from collections.abc import Iterator

from npu_kb.knowledge.base import Document, Knowledge
from npu_kb.knowledge.fulltext import Hit
from npu_kb.patterns import squeeze

_NAMED = 100.0
_SCATTERED = 0.8
"""What the fit is multiplied by for each word but the first, where the words are there but not one behind the other."""
_BEHIND = 0.7
"""What the first entry's score is multiplied by for a line that fits no better: behind the entries that are near it."""
_HOLE = re.compile(r"<[^<>]*>")


def with_signatures(hits: list[Hit], query: str, knowledge: Knowledge) -> list[Hit]:
    """The hits with the one-line faults that hold all words of the query among them.

    A line fits the better, the more of its program text was asked for; one that fits better than the first entry comes
    before all of them.
    """
    if (named := knowledge.entry(query.strip())) and "signature" in named:
        return [_hit(named, _NAMED), *hits]
    words = query.split()
    top = hits[0].score if hits else 0.0
    best = _fit_of_entry(hits[0], words, knowledge) if hits else 0.0
    lines = []
    for signature in knowledge.signatures_with(words):
        fit = _fit_of_line(signature, words)
        lines.append(_hit(signature, top + fit if fit > best else top * fit * _BEHIND))
    return sorted([*hits, *lines], key=lambda hit: -hit.score)


def _fit_of_entry(hit: Hit, words: list[str], knowledge: Knowledge) -> float:
    """How much of the query an entry answers: 0 to 1."""
    entry = knowledge.entry(hit.id)
    return hit.coverage * max((_order(squeeze(text), words) for text in _texts(entry)), default=0.0) if entry else 0.0


def _texts(entry: Document) -> Iterator[str]:
    """Where an entry quotes what is seen."""
    yield from (*entry["title"].values(), *entry["symptom"].values(), *entry["samples"]["hit"])
    yield from (text for block in entry["match"] for text in [*block["text"], *block["any"]])


def _fit_of_line(signature: Document, words: list[str]) -> float:
    """How much of a line's program text was asked for: 0 to 1."""
    texts = (squeeze(_HOLE.sub("", text)) for block in signature["match"] for text in block["text"])
    return max(_share(text, words) * _order(text, words) for text in texts)


def _share(text: str, words: list[str]) -> float:
    """The part of a squeezed text that some words make up."""
    asked = sum(len(word) for word in {squeeze(word) for word in words} if word in text)
    return min(asked / max(len(text), 1), 1.0)


def _order(text: str, words: list[str]) -> float:
    """1 where a squeezed text says the words one behind the other, else the less the more they are."""
    return 1.0 if squeeze("".join(words)) in text else float(_SCATTERED ** (len(words) - 1))


def _hit(signature: Document, score: float) -> Hit:
    return Hit(signature["id"], round(score, 3), 1.0, frozenset())
