"""The tree of what the environment screen can show: this machine, snapshots, checklists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rich.text import Text
from textual.widgets.tree import TreeNode

from npu_kb.tui.widgets.label_tree import LabelTree


class Spot(NamedTuple):
    """A machine (its file; this one has none), a checklist (its id), or the heading of `snapshots` or `checklists`."""

    kind: str
    key: str = ""


THIS, SNAPSHOTS, CHECKLISTS = Spot("machine"), Spot("snapshots"), Spot("checklists")


CHOSEN = "(o)"
"""Marks the machine against which checklists are held."""


class MachineTree(LabelTree[Spot]):
    """The data of a node is its spot."""

    def __init__(self, id: str) -> None:
        super().__init__(id, Spot(""))
        self._filled: tuple[list[str], list[str]] | None = None
        self._labels: Mapping[Spot, tuple[str, str]] = {}
        self.show_root = False

    def fill(self, snapshots: list[str], checklists: list[str], here: Spot) -> None:
        """List these files and checklists with the cursor on this spot; as it is where it has them all."""
        if self._filled != (snapshots, checklists):
            self._filled = (list(snapshots), list(checklists))
            self.clear()
            self.root.add_leaf("", THIS)
            for heading, kind, keys in ((SNAPSHOTS, "machine", snapshots), (CHECKLISTS, "checklist", checklists)):
                branch = self.root.add("", heading, expand=True)
                for key in keys:
                    branch.add_leaf("", Spot(kind, key))
            self.root.expand()
            found = next((node for node in self._spots() if node.data == here), self.root.children[0])
            self.call_after_refresh(self.move_cursor, found)

    def name_all(self, labels: Mapping[Spot, tuple[str, str]]) -> None:
        """Say what each spot is called, and what stands behind its name."""
        self._labels = labels
        for node in self._spots():
            node.set_label(Text(labels[node.data or THIS][0]))

    def _spots(self) -> Iterator[TreeNode[Spot]]:
        for node in self.root.children:
            yield node
            yield from node.children

    def tail(self, node: TreeNode[Spot]) -> str:
        _, tail = self._labels.get(node.data or THIS, ("", ""))
        return f" {tail}" if tail else ""
