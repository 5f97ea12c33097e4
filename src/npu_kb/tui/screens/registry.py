"""The screens of the app in the order of their keys, from F2 on; a new screen is a module here and a row below."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module

from npu_kb.tui.screens.base import PlaceScreen

_CLASSES = {
    "browse": "BrowseScreen", "diagnose": "DiagnoseScreen", "record": "RecordScreen",
    "environment": "EnvironmentScreen",
}  # fmt: skip
"""The class of each screen, by its name, which is that of its module too."""


def _made(name: str) -> PlaceScreen:
    """A screen, whose module is loaded when one goes there: the first frame waits for one screen only."""
    screen: PlaceScreen = getattr(import_module(f"npu_kb.tui.screens.{name}"), _CLASSES[name])()
    return screen


SCREENS: dict[str, Callable[[], PlaceScreen]] = {name: partial(_made, name) for name in _CLASSES}
