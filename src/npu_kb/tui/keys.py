"""Keys of a screen: one table feeds its bindings, the line at its foot, its help and the command palette."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from textual.binding import Binding, BindingType


class Key(NamedTuple):
    """A key, the action it calls, and the name of its text in words.py."""

    key: str
    action: str
    name: str
    shown: bool = True
    """Whether it stands in the line at the foot; the help names all."""

    @property
    def label(self) -> str:
        """The key as people write it."""
        first = self.key.split(",")[0]
        named = {"question_mark": "?", "slash": "/", "plus": "+", "minus": "-", "escape": "Esc", "enter": "Enter",
                 "space": "Space"}  # fmt: skip
        if first.startswith("ctrl+"):
            return f"^{first.removeprefix('ctrl+').upper()}"
        return named.get(first, first.upper() if first[0] == "f" and first[1:].isdigit() else first)


def bindings(keys: Iterable[Key]) -> list[BindingType]:
    """The keys as Textual wants them."""
    return [Binding(key.key, key.action, show=False) for key in keys]
