"""What the knowledge answers to samples and good texts, each asked once."""

from __future__ import annotations

from typing import Any, NamedTuple

from npu_kb.diagnosis.diagnose import diagnose, scene_of
from npu_kb.diagnosis.match import evaluate
from npu_kb.diagnosis.model import CLAIMS, Match
from npu_kb.intake.logtext import LogText
from npu_kb.knowledge.base import Knowledge

_FEW = 30
"""Entries for which it is quicker to try their blocks on a text than to diagnose it."""


class Answer(NamedTuple):
    """One match of a diagnosis: entry, verdict and the first line that speaks for it."""

    id: str
    verdict: str
    severity: str
    evidence: str

    @classmethod
    def of(cls, match: Match) -> Answer:
        """What a gate needs to know of a match."""
        evidence = match.evidence[0].text if match.evidence else ""
        return cls(match.entry["id"], match.verdict, match.entry["severity"], evidence)

    @property
    def is_claim(self) -> bool:
        """Whether it names a cause, and does not only suggest one."""
        return self.verdict in CLAIMS


class Answers:
    """The answers of one knowledge."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._known: dict[tuple[str, bool], list[Answer]] = {}
        self._blocks: dict[frozenset[str], list[dict[str, Any]]] = {}

    def to(self, text: str, suggest: bool = False) -> list[Answer]:
        """The matches of a text, the first answer first; with `suggest` also what only comes near."""
        if (text, suggest) not in self._known:
            matches = diagnose(text, self._knowledge, suggest).matches
            self._known[text, suggest] = [Answer.of(match) for match in matches]
        return self._known[text, suggest]

    def claims(self, text: str, ids: frozenset[str]) -> list[Answer]:
        """What these entries claim on a text."""
        if len(ids) <= _FEW and not self._can_match(text, ids):
            return []
        return [answer for answer in self.to(text) if answer.is_claim and answer.id in ids]

    def _can_match(self, text: str, ids: frozenset[str]) -> bool:
        """Whether any block of these entries holds on the text."""
        if ids not in self._blocks:
            self._blocks[ids] = [block for id in ids for block in self._knowledge.blocks_of(id)]
        scene = scene_of(LogText.of(text), self._knowledge)
        return any(evaluate(block, scene) for block in self._blocks[ids])
