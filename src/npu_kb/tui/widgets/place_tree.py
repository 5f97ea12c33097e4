"""The tree of layers and topics, with the number of entries of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from rich.text import Text
from textual.widgets.tree import TreeNode

from npu_kb.tui.catalog import Catalog
from npu_kb.tui.widgets.label_tree import LabelTree


class TreePlace(NamedTuple):
    """A layer, a topic of it, or all entries where both are empty."""

    layer: str = ""
    topic: str = ""


class PlaceTree(LabelTree[TreePlace]):
    """The data of a node is its place, its number stands behind the name."""

    def __init__(self, id: str) -> None:
        super().__init__(id, TreePlace())
        self._counts: dict[TreePlace, int] = {}

    def fill(self, catalog: Catalog, here: TreePlace, name: Callable[[TreePlace], str]) -> None:
        """Show the places of a catalog by their names, the one of `here` in sight; as it is where it has them all."""
        counts = dict(_places(catalog))
        if counts.keys() != self._counts.keys():
            self._grow(counts, here)
        self._counts = counts
        for node in self._place_nodes():
            node.set_label(Text(name(node.data or TreePlace())))

    def _grow(self, counts: dict[TreePlace, int], here: TreePlace) -> None:
        self.clear()
        parent = self.root
        for place in counts:
            if place.topic:
                parent.add_leaf("", place)
            elif place.layer:
                parent = self.root.add("", place, expand=place.layer == here.layer)
        self.root.expand()
        found = next((node for node in self._place_nodes() if node.data == here), self.root)
        self.call_after_refresh(self.move_cursor, found)

    def _place_nodes(self) -> Iterator[TreeNode[TreePlace]]:
        yield self.root
        for layer in self.root.children:
            yield layer
            yield from layer.children

    def tail(self, node: TreeNode[TreePlace]) -> str:
        return f" {self._counts.get(node.data or TreePlace(), 0)}"


def _places(catalog: Catalog) -> Iterator[tuple[TreePlace, int]]:
    yield TreePlace(), len(catalog.entries)
    for layer, topics in catalog.counts().items():
        yield TreePlace(layer), topics.total()
        yield from ((TreePlace(layer, topic), count) for topic, count in topics.items())
