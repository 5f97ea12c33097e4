"""What gates may look at besides the entry: all knowledge, its answers, and what is derived from them."""

from __future__ import annotations

import datetime
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from npu_kb.gates.answers import Answer, Answers
from npu_kb.knowledge.base import Document, Knowledge
from npu_kb.knowledge.commands import Commands

_WORD = re.compile(r"[\w.+-]*\w")
_FEW_ENTRIES, _FEW_IN_ALL = 5, 0.03
"""Entries that may share a telling word, and their share of all."""
STALE_AFTER = 18
"""Months after which an entry should be read again."""


@dataclass
class Context:
    """All knowledge with the checked entries in it."""

    knowledge: Knowledge
    commands: Commands
    checked: frozenset[str]
    """Ids of the entries that are checked."""
    today: datetime.date = field(default_factory=datetime.date.today)
    stale_after: int = STALE_AFTER

    @cached_property
    def entries(self) -> dict[str, Document]:
        """All live entries by id."""
        return {entry["id"]: entry for entry in self.knowledge.entries()}

    @cached_property
    def former(self) -> dict[str, dict[str, str]]:
        """Former ids, and those of deprecated entries: the ids to which they lead, by the entries that name them."""
        former: dict[str, dict[str, str]] = {}
        for alias, id, named_by in self.knowledge.aliases():
            former.setdefault(alias, {})[named_by] = id
        return former

    def leads_to(self, id: str) -> str | None:
        """The live entry to which an id leads, its own or a former one."""
        if id in self.entries:
            return id
        return next((other for other in self.former.get(id, {}).values() if other in self.entries), None)

    @cached_property
    def answers(self) -> Answers:
        """What the knowledge answers to texts."""
        return Answers(self.knowledge)

    @cached_property
    def words(self) -> dict[str, str]:
        """The telling words of each entry's title and symptom: those that few other entries use."""
        texts = ((id, f"{e['title']['en']} {e['symptom']['en']}") for id, e in self.entries.items())
        words = {id: set(_WORD.findall(text.lower())) for id, text in texts}
        users = Counter(word for used in words.values() for word in used)
        most = max(_FEW_ENTRIES, _FEW_IN_ALL * len(words))
        return {id: " ".join(sorted(word for word in used if users[word] <= most)) for id, used in words.items()}

    @cached_property
    def recognised_by(self) -> dict[str, list[str]]:
        """The ids of the entries that each block recognises."""
        found: dict[str, list[str]] = {}
        for id, entry in self.entries.items():
            for key in {block_key(block) for block in entry["match"]}:
                found.setdefault(key, []).append(id)
        return found

    @cached_property
    def claims_on_others(self) -> dict[str, list[tuple[str, int, Answer]]]:
        """What checked entries claim on hit samples of entries that are not linked: (entry, sample, claim) by id."""
        found: dict[str, list[tuple[str, int, Answer]]] = {}
        for id, entry in self.entries.items():
            for n, sample in enumerate(entry["samples"]["hit"]):
                for claim in self.answers.claims(sample, self.checked):
                    if claim.id != id and not self.are_linked(id, claim.id):
                        found.setdefault(claim.id, []).append((id, n, claim))
        return found

    def is_told_at(self, id: str, other: str) -> bool:
        """Whether what is wrong between two entries is told at this one; where both are checked, at one only."""
        return other not in self.checked or other < id

    def are_linked(self, id: str, other: str) -> bool:
        """Whether one of the entries names the other."""
        one, two = self.entries[id], self.entries[other]
        return other in (*one["causes"], *one["related"]) or id in (*two["causes"], *two["related"])


def block_key(block: Document) -> str:
    """The conditions of a block, whatever a match is worth."""
    conditions = {name: value for name, value in block.items() if name not in ("proves", "within")}
    return json.dumps(conditions, sort_keys=True)
