"""A tree of places by name, with something behind each name that is never cut."""

from __future__ import annotations

from typing import TypeVar

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

T = TypeVar("T")


class LabelTree(Tree[T]):
    """Subclasses say what stands behind a name, such as a number; the name is cut before that is."""

    ICON_NODE = "+ "
    ICON_NODE_EXPANDED = "- "

    def __init__(self, id: str, data: T) -> None:
        super().__init__("", data, id=id)
        self.show_guides, self.guide_depth = False, 2

    def tail(self, node: TreeNode[T]) -> str:
        """What stands behind the name of a node."""
        raise NotImplementedError

    def render_label(self, node: TreeNode[T], base_style: Style, style: Style) -> Text:
        label, tail = super().render_label(node, base_style, style), self.tail(node)
        room = self.scrollable_content_region.width - self.guide_depth * self._depth(node) - cell_len(tail)
        label.truncate(max(1, room), overflow="ellipsis")
        return label.append(tail, base_style + style + Style(dim=True))

    def _depth(self, node: TreeNode[T]) -> int:
        above, depth = node.parent, 0 if self.show_root else -1
        while above is not None:
            above, depth = above.parent, depth + 1
        return max(0, depth)
