"""What a diagnosis is: ranked matches with their evidence, decoded codes, facts, versions and what to do next."""

from __future__ import annotations

from typing import Any, NamedTuple

from npu_kb.intake.facts import Fact
from npu_kb.intake.logtext import Line, LogText

SCHEMA = "npu-kb/diagnosis/1"
CLAIMS = ("certain", "likely")
VERDICTS = ("certain", "likely", "possible")
"""The surest first."""


class Reports(NamedTuple):
    """How often users reported an entry's answer as right and as wrong."""

    right: int = 0
    wrong: int = 0

    @property
    def demote(self) -> bool:
        """Whether the entry is to be shown a verdict less sure: at least two more say wrong than say right."""
        return self.wrong - self.right >= 2


class Evidence(NamedTuple):
    """The line that speaks for a match; `line` counts from 1 in its source."""

    source: str
    line: int
    text: str

    @classmethod
    def of(cls, line: Line) -> Evidence:
        """The evidence that a log line gives."""
        return cls(line.source, line.number, line.text.strip()[:400])


class Match(NamedTuple):
    """An entry that the log speaks for."""

    entry: dict[str, Any]
    verdict: str
    confidence: float
    evidence: list[Evidence]
    captures: dict[str, str]
    first_line: int
    weight: int
    applies: dict[str, Any]
    reports: Reports = Reports()

    @property
    def is_claim(self) -> bool:
        """Whether the match names a cause, and does not only suggest one."""
        return self.verdict in CLAIMS


class Diagnosis(NamedTuple):
    """The answer to one log."""

    matches: list[Match]
    codes: list[dict[str, Any]]
    facts: list[Fact]
    versions: dict[str, str]
    next: list[dict[str, Any]]
    log: LogText

    @property
    def claims(self) -> list[Match]:
        """The matches that name a cause."""
        return [match for match in self.matches if match.is_claim]
