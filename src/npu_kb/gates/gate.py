"""What a gate is: a small check of one entry that yields problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from npu_kb.errors import Problem
from npu_kb.knowledge.base import Knowledge
from npu_kb.knowledge.commands import Commands
from npu_kb.knowledge.load import LoadedEntry


@dataclass
class Context:
    """What gates may look at besides the entry."""

    knowledge: Knowledge
    commands: Commands


Gate = Callable[[LoadedEntry, Context], Iterator[Problem]]
GATES: list[Gate] = []
AnyGate = TypeVar("AnyGate", bound=Gate)


def gate(function: AnyGate) -> AnyGate:
    """Register a gate; `npu-kb check` runs all of them on every entry."""
    GATES.append(function)
    return function
