"""What a gate is: a small check of one entry that yields problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from npu_kb.errors import Problem
from npu_kb.gates.context import Context
from npu_kb.knowledge.entryfile import LoadedEntry

Check = Callable[[LoadedEntry, Context], Iterator[Problem]]


class Gate(NamedTuple):
    """A check under the name that reports give it."""

    name: str
    summary: str
    severity: str
    of_deprecated: bool
    check: Check

    def problems(self, item: LoadedEntry, context: Context) -> Iterator[Problem]:
        """What it finds in one entry."""
        if self.of_deprecated or item.entry.status != "deprecated":
            for problem in self.check(item, context):
                yield problem._replace(severity=self.severity, rule=self.name)


GATES: list[Gate] = []


def gate(severity: str = "problem", of_deprecated: bool = False) -> Callable[[Check], Check]:
    """Register a check; `npu-kb check` runs all of them on every entry, on deprecated ones those meant for them.

    A `problem` fails the check; a `warning` is for a person to judge.
    """

    def register(check: Check) -> Check:
        summary = (check.__doc__ or "").strip().splitlines()[0]
        GATES.append(Gate(check.__name__, summary, severity, of_deprecated, check))
        return check

    return register
