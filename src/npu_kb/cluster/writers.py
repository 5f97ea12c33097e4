"""Whose a line is in a log of several ranks: what launchers, PyTorch and torch_npu write before it or into it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from npu_kb.intake.clean import strip_prefixes

_RANK = re.compile(r"\[rank(\d{1,6})\]:")
_RANK_ID = re.compile(r"RankID:(\d{1,6})\)")
_LABELS = [
    r"\[\d{1,9},(?P<mpirun>\d{1,6})\]<std(?:out|err)>: ?",
    r" *(?P<srun>\d{1,6}): ",
    r"(?P<name>[\w.-]{1,60})[-_](?P<compose>\d{1,6}) +\| ",
]
_LABEL = re.compile("|".join(_LABELS))
_STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ][\d:.,]{8,20}(?:Z|[+-]\d\d:?\d\d)? (?! )")
_MOST = 100_000


def rank_of(text: str) -> int | None:
    """The rank that a line names as its writer."""
    if "[rank" in text:  # most lines have none, and this is asked of many
        if found := _RANK.match(text):
            return int(found[1])
        _, prefix = strip_prefixes(text)
        if prefix and prefix.startswith("rank"):
            return int(prefix.removeprefix("rank"))
    found = _RANK_ID.search(text) if "RankID:" in text else None
    return int(found[1]) if found else None


def label_of(text: str) -> tuple[str, int] | None:
    """The label of `srun --label`, `mpirun --tag-output` or docker compose before a line: what numbers, the number."""
    if not (found := _LABEL.match(text)):
        return None
    kind = str(found.lastgroup)
    return found["name"] or kind, int(found[kind])


def bare(text: str) -> str:
    """The line without labels, stamps and prefixes; its indentation stays."""
    if label := _LABEL.match(text):
        text = text[label.end() :]
    text, _ = strip_prefixes(_STAMP.sub("", text, count=1) if _STAMP.match(text) else text)
    return text


class Writers:
    """The ranks that the lines of one log are of, as far as those were looked at."""

    def __init__(self) -> None:
        self._ranks: set[int] = set()
        self._labels: dict[str, set[int]] = defaultdict(set)
        self.lines = self._labelled = 0
        """Lines that were looked at; those of them that bear a label."""
        self._are_other_numbers = False

    def look_at(self, lines: Iterable[str]) -> None:
        """Look at some lines."""
        for line in filter(str.strip, lines):
            rank, label = rank_of(line), label_of(line)
            self.lines += 1
            if rank is not None and rank < _MOST:
                self._ranks.add(rank)
            if label and label[1] < _MOST:
                self._labelled += 1
                self._labels[label[0]].add(label[1])
                self._are_other_numbers |= rank not in (None, label[1])

    def join(self, other: Writers) -> None:
        """Add what another part of the log tells."""
        self._ranks |= other._ranks
        for kind, numbers in other._labels.items():
            self._labels[kind] |= numbers
        self.lines += other.lines
        self._labelled += other._labelled
        self._are_other_numbers |= other._are_other_numbers

    @property
    def values(self) -> dict[str, str]:
        """The ranks, and whether the labels are ranks: one kind on nearly all lines that counts from 0."""
        numbers = next(iter(self._labels.values()), set[int]()) if len(self._labels) == 1 else set[int]()
        on_most_lines = self._labelled * 10 >= self.lines * 9
        are_ranks = len(numbers) > 1 and 0 in numbers and on_most_lines and not self._are_other_numbers
        ranks = self._ranks | numbers if are_ranks else self._ranks
        told = {"ranks": ",".join(map(str, sorted(ranks)))} if ranks else {}
        return told | ({"labels": "ranks"} if are_ranks else {})
