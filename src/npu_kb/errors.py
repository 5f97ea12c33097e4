"""What can go wrong, as values that name the place and the mend."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path


class Problem(NamedTuple):
    """One fault in a file: where it is, what is wrong and how to mend it. Lines and columns count from 1."""

    path: Path
    line: int
    column: int
    field: str
    message: str
    severity: str = "problem"
    """`problem`, or `warning` for what a person has to judge."""
    rule: str = ""
    """The name of the gate that found it; empty where the file could not be read or breaks the model."""

    @property
    def is_warning(self) -> bool:
        """Whether it does not fail a check."""
        return self.severity == "warning"

    def __str__(self) -> str:
        field = f" {self.field}:" if self.field else ""
        warning = " warning:" if self.is_warning else ""
        return f"{self.path}:{self.line}:{self.column}:{warning}{field} {self.message}"


class NpuKbError(Exception):
    """A failure that the user can mend; its text is one line that says how."""


class KnowledgeError(NpuKbError):
    """Knowledge files that cannot be used; `problems` holds all of them, not only the first."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        more = f" (and {len(problems) - 1} more: run `npu-kb check`)" if len(problems) > 1 else ""
        super().__init__(f"{problems[0]}{more}")


class StoreError(NpuKbError):
    """A store of diagnoses and findings that cannot be used."""
