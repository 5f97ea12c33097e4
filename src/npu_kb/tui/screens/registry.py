"""The screens of the app in the order of their keys, from F2 on; a new screen is a module here and a row below."""

from __future__ import annotations

from npu_kb.tui.screens.base import PlaceScreen
from npu_kb.tui.screens.browse import BrowseScreen
from npu_kb.tui.screens.diagnose import DiagnoseScreen
from npu_kb.tui.screens.record import RecordScreen

SCREENS: dict[str, type[PlaceScreen]] = {screen.NAME: screen for screen in (BrowseScreen, DiagnoseScreen, RecordScreen)}
