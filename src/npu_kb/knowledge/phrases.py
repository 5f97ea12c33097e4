"""Search among one-line faults: those that hold all words of a query, and before all else those that print it."""

from __future__ import annotations

from npu_kb.knowledge.base import Document, Knowledge
from npu_kb.knowledge.fulltext import Hit
from npu_kb.patterns import squeeze

_LEAST_PHRASE = 8
"""Squeezed characters from which a query that stands in program text is taken for a piece of a log."""
_PRINTED, _SPOKEN_OF = 100.0, 1.0
"""Scores; those of entries lie between."""


def with_signatures(hits: list[Hit], query: str, knowledge: Knowledge) -> list[Hit]:
    """The hits; before them the one-line faults that print the query, behind them those that hold all its words."""
    if (named := knowledge.entry(query.strip())) and "signature" in named:
        return [_hit(named, _PRINTED), *hits]
    found = knowledge.signatures_with(query.split())
    phrase = squeeze(query)
    printed = [s for s in found if len(phrase) >= _LEAST_PHRASE and _prints(s, phrase)]
    others = [signature for signature in found if signature not in printed]
    return [*(_hit(s, _PRINTED) for s in printed), *hits, *(_hit(s, _SPOKEN_OF) for s in others)]


def _prints(signature: Document, phrase: str) -> bool:
    return any(phrase in squeeze(text) for block in signature["match"] for text in block["text"])


def _hit(signature: Document, score: float) -> Hit:
    return Hit(signature["id"], score, 1.0, frozenset())
