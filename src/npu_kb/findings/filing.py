"""Under which layer and topic a new entry belongs: where those are that speak of the same."""

from __future__ import annotations

from collections import defaultdict

from npu_kb.findings.clues import clues
from npu_kb.knowledge.base import Knowledge

_HITS, _LINES = 12, 3
_LOG_SHARE = 0.5
"""What the words of the log count beside those that were said of it."""


def filing(words: str, excerpt: list[str], knowledge: Knowledge) -> dict[str, str]:
    """{"layer", "topic"} by a vote of the entries that a search for the words and for the telling lines finds."""
    from npu_kb.knowledge.fulltext import open_index

    telling = " ".join(clue.text for clue in sorted(clues(excerpt), key=lambda clue: -clue.worth)[:_LINES])
    votes: dict[str, dict[str, float]] = {"layer": defaultdict(float), "topic": defaultdict(float)}
    for query, share in ((words, 1.0), (telling, _LOG_SHARE)):
        hits = open_index(knowledge).search(query, _HITS) if query else []
        for hit in hits:
            entry = knowledge.entry(hit.id) or {}
            for name in votes if entry else ():
                votes[name][entry[name]] += share * (hit.score / hits[0].score) ** 2
    return {name: max(sums, key=sums.__getitem__) for name, sums in votes.items() if sums}
