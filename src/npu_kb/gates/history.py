"""What changed in a kb folder since a git revision, and what must not change: ids stay, new entries start low."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from npu_kb.errors import Problem
from npu_kb.gates.context import Context
from npu_kb.gates.revision import Change, Revision
from npu_kb.gates.selection import compiled, kb_directories
from npu_kb.knowledge.base import Knowledge
from npu_kb.knowledge.entryfile import LoadedEntry
from npu_kb.knowledge.load import entry_files, load_entries
from npu_kb.knowledge.yamlfile import read_yaml

IDS_STAY, START_LOW = "ids_stay", "new_entries_start_low"
_KNOWLEDGE = (".yaml", ".log")


def history_since(base: str, folder: Path, paths: Sequence[Path]) -> History:
    """The changes of a kb folder since a git revision, of these files and folders only if any are named."""
    revision = Revision(folder, base)
    roots = [path.resolve() for path in paths]
    changes = [
        change
        for change in revision.changes()
        if change.path.suffix in _KNOWLEDGE
        and (not roots or any(root == change.path or root in change.path.parents for root in roots))
    ]
    return History(revision, folder.resolve(), changes)


class History:
    """The changes of a kb folder, and the folder as it was."""

    def __init__(self, revision: Revision, folder: Path, changes: list[Change]) -> None:
        self._revision, self._folder = revision, folder
        files = [change for change in changes if change.path.suffix == ".yaml"]
        self.entries = [change for change in files if entry_files(folder, [change.path])]
        """Entry files that were added, changed or removed."""
        all_there = all(change.how != "removed" for change in self.entries)
        self.concerns_all = len(self.entries) < len(changes) or not all_there
        """Whether an entry went, or what entries rest on changed, so that all have to be checked."""

    def problems(self, items: list[LoadedEntry], context: Context) -> list[Problem]:
        """Ids that are gone, and new entries that claim to be more than new."""
        return [*self._lost_ids(items, context), *self._unproven(items)]

    @cached_property
    def _former(self) -> dict[Path, dict[str, Any]]:
        """What stood at the paths of changed and removed entries, as plain values."""
        with tempfile.TemporaryDirectory(prefix="npu-kb-") as name:
            self._revision.export(Path(name))
            before = ((c.path, Path(name) / c.path.relative_to(self._folder)) for c in self.entries)
            files = {path: read_yaml(old)[0] for path, old in before if old.is_file()}
            return {path: file.value for path, file in files.items() if file and isinstance(file.value, dict)}

    def former_ids(self, path: Path) -> list[str]:
        """The id and aliases that an entry file had."""
        value = self._former.get(path, {})
        aliases = value.get("aliases")
        return [str(id) for id in (value.get("id"), *(aliases if isinstance(aliases, list) else ())) if id]

    def knowledge_before(self) -> Knowledge:
        """All knowledge as it was."""
        with tempfile.TemporaryDirectory(prefix="npu-kb-") as name:
            self._revision.export(Path(name))
            company = [d for d in kb_directories(self._folder) if d.resolve() != self._folder]
            return compiled(load_entries([*company, Path(name)], trusted=True))

    def _lost_ids(self, items: list[LoadedEntry], context: Context) -> Iterator[Problem]:
        loaded = {item.file.path.resolve() for item in items}
        for change in self.entries:
            if change.how == "added" or (change.how == "changed" and change.path not in loaded):
                continue
            for id in self.former_ids(change.path):
                if context.leads_to(id) is None:
                    message = (
                        f"the id {id} is gone; keep its file with `status: deprecated` and `superseded_by:`,"
                        " or name it under `aliases` of the entry that took its place"
                    )
                    yield Problem(change.path, 1, 1, "id", message, rule=IDS_STAY)

    def _unproven(self, items: list[LoadedEntry]) -> Iterator[Problem]:
        known = {id for change in self.entries for id in self.former_ids(change.path)}
        added = {change.path for change in self.entries if change.how == "added"}
        for item in items:
            entry = item.entry
            if item.file.path.resolve() not in added or known & {entry.id, *entry.aliases}:
                continue
            if entry.status == "deprecated":
                message = "is new and deprecated; a new entry starts as draft or reported"
                yield item.file.problem(("status",), message)._replace(rule=START_LOW)
            elif entry.status == "confirmed" and entry.verified is None and len(entry.references) < 2:
                message = "is new and from one source only; start as reported, or add a second source or `verified`"
                yield item.file.problem(("status",), message)._replace(rule=START_LOW, severity="warning")
