"""How an entry stands: answers to its own samples that are right, and claims where it should be quiet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from npu_kb.gates.answers import Answers
from npu_kb.gates.samples import fault_of_hit, matches_miss
from npu_kb.knowledge.base import Document


class Tally(NamedTuple):
    """Counts of one entry."""

    id: str
    true_positives: int
    """Hit samples that are answered with it first."""
    true_negatives: int
    """Near-misses on which it is quiet."""
    false_positives: int
    """Near-misses, good texts and other entries' samples on which it is not."""
    false_negatives: int
    """Hit samples that are answered otherwise."""

    @property
    def is_clean(self) -> bool:
        """Whether all is right."""
        return not (self.false_positives or self.false_negatives)


class Accuracy(NamedTuple):
    """How many of all samples are answered rightly."""

    right: int
    samples: int

    def __str__(self) -> str:
        share = 100 * self.right / self.samples if self.samples else 100.0
        return f"{share:.2f}% of {self.samples:,}"


def tally(entry: Document, answers: Answers, false_claims: int) -> Tally:
    """The counts of an entry that claims so many texts of others falsely."""
    samples = entry["samples"]
    found = sum(not fault_of_hit(entry, sample, answers) for sample in samples["hit"])
    matched = sum(matches_miss(entry, sample, answers) for sample in samples["miss"])
    quiet = len(samples["miss"]) - matched
    return Tally(entry["id"], found, quiet, matched + false_claims, len(samples["hit"]) - found)


def accuracy(entries: Iterable[Document], answers: Answers) -> Accuracy:
    """The share of right answers over the samples of all entries."""
    counts = [tally(entry, answers, 0) for entry in entries]
    right = sum(c.true_positives + c.true_negatives for c in counts)
    return Accuracy(right, right + sum(c.false_positives + c.false_negatives for c in counts))
