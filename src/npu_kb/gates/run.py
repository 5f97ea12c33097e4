"""`npu-kb check`: all gates on the chosen entries, all that they find in one report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from npu_kb import locations
from npu_kb.errors import KnowledgeError, Problem
from npu_kb.gates import commands, ids, likeness, patterns, prose, references, samples  # noqa: F401  they register
from npu_kb.gates.context import STALE_AFTER, Context
from npu_kb.gates.gate import GATES
from npu_kb.gates.goodlogs import silence
from npu_kb.gates.history import History, history_since
from npu_kb.gates.selection import Selection, kb_directories, select
from npu_kb.gates.signatures import signature_problems
from npu_kb.gates.tally import Tally, tally
from npu_kb.knowledge.base import Knowledge
from npu_kb.knowledge.commands import Commands, read_commands
from npu_kb.knowledge.entryfile import LoadedEntry


class Request(NamedTuple):
    """What to check."""

    paths: Sequence[Path] = ()
    """Entry files and folders; none: all."""
    kb: Path | None = None
    """The kb folder; none: the built-in one."""
    base: str | None = None
    """A git revision: only what changed since."""
    stale_after: int = STALE_AFTER
    links: bool = False
    """Whether addresses are asked for over the network."""


@dataclass
class Report:
    """What a check found."""

    items: list[LoadedEntry]
    """The entries that were checked."""
    signatures: int
    """How many one-line faults were checked."""
    context: Context
    found: list[Problem]
    """Problems and warnings, in the order of files and lines."""
    tallies: list[Tally] = field(default_factory=list)
    history: History | None = None

    @property
    def problems(self) -> list[Problem]:
        """What fails the check."""
        return [problem for problem in self.found if not problem.is_warning]

    @property
    def warnings(self) -> list[Problem]:
        """What a person has to judge."""
        return [problem for problem in self.found if problem.is_warning]


def check(request: Request) -> Report:
    """Check what is asked for; NpuKbError where there is no such path or revision."""
    directories = kb_directories(request.kb)
    history = history_since(request.base, directories[-1], request.paths) if request.base is not None else None
    selection = _selected(request, history, directories)
    context = _context(selection, request.stale_after)
    found, claims = _gated(selection, context, directories)
    found += history.problems(selection.items, context) if history else []
    if request.links:
        from npu_kb.gates.links import dead_links

        found += dead_links(selection.items)
    tallies = [
        tally(context.entries[id], context.answers, claims[id] + len(context.claims_on_others.get(id, ())))
        for id in sorted(context.checked)
    ]
    signatures = sum(len(table.rows) for table in selection.tables)
    return Report(selection.items, signatures, context, in_order([*selection.problems, *found]), tallies, history)


def _selected(request: Request, history: History | None, directories: list[Path]) -> Selection:
    if history is None:
        return select(request.paths, directories)
    if history.concerns_all:
        return select([], directories)
    changed = [change.path for change in history.entries]
    return select(changed, directories) if changed else Selection([], [], Knowledge.load(directories[1:]), [])


def check_entries(selection: Selection, directories: list[Path]) -> list[Problem]:
    """What is wrong with the selected entries, in the company of all others, and what they claim on good logs."""
    found, _ = _gated(selection, _context(selection, STALE_AFTER), directories)
    return in_order([*selection.problems, *found])


def _context(selection: Selection, stale_after: int) -> Context:
    live = frozenset(item.entry.id for item in selection.items if item.entry.status != "deprecated")
    return Context(selection.knowledge, _refusals(), live, stale_after=stale_after)


def _refusals() -> Commands:
    """The commands that no entry may use; none where the file that lists them is wrong, which its own check says."""
    with suppress(KnowledgeError):
        return read_commands(Path(locations.builtin_kb_directory()) / "commands.yaml")
    return Commands({}, [])


def _gated(selection: Selection, context: Context, directories: list[Path]) -> tuple[list[Problem], Counter[str]]:
    """What the gates find, and how many good texts each entry claims."""
    found = [problem for item in selection.items for gate in GATES for problem in gate.problems(item, context)]
    found += signature_problems(selection.tables, context)
    checked = context.checked | {id for table in selection.tables for id in table.rows}
    quiet = [silence(folder, context.answers, checked) for folder in directories]
    claims = Counter(false.claim.id for part in quiet for false in part.claims)
    return found + [problem for part in quiet for problem in part.problems], claims


def in_order(found: Iterable[Problem]) -> list[Problem]:
    """Each problem once, by file and line; what two checks say in the same words is said once."""
    once = {problem[:5]: problem for problem in found}
    return sorted(once.values(), key=lambda p: (str(p.path), p.line, p.column))
