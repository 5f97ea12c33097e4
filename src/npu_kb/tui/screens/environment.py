"""Environment: a machine's facts and whether its versions go together, two machines compared, checklists to tick."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.widgets import Input

from npu_kb.intake.clean import printable
from npu_kb.render.checklist import checklist_markdown
from npu_kb.render.inert import inert
from npu_kb.render.judgement import judgement_text
from npu_kb.tui.keys import Key, bindings
from npu_kb.tui.machines import Machine, free_name, identity
from npu_kb.tui.screens.base import app_of
from npu_kb.tui.screens.dialogs import AskDialog, TextDialog
from npu_kb.tui.screens.machine_view import MachineViewScreen
from npu_kb.tui.screens.opening import OpenDialog, typed_path
from npu_kb.tui.widgets.entry_view import EntryView
from npu_kb.tui.widgets.machine_tree import SNAPSHOTS, MachineTree, Spot

_JUDGEMENT_WIDTH = 90


class EnvironmentScreen(MachineViewScreen):
    """Where one looks at machines."""

    NAME = "environment"
    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("slash", "sift", "filter"), Key("o", "open", "open link"), Key("s", "save", "save"),
        Key("m", "mark", "mark machine"), Key("c", "compare", "compare"), Key("space", "tick", "tick"),
        Key("e", "export", "export"), Key("r", "read_again", "read again"), Key("a", "all_pairs", "all pairs", False),
        Key("y", "copy", "copy", False), Key("Y", "copy_all", "copy all", False), Key("x", "run", "run", False),
        Key("z", "zoom", "zoom", False), Key("tab", "app.focus_next", "next part", False),
        Key("enter", "choose", "open item", False), Key("escape", "back", "cancel", False),
    )  # fmt: skip
    BINDINGS = bindings(KEYS)

    def _shown_machine(self) -> Machine | None:
        """The machine that is shown; where it is not there yet, that is said."""
        if (machine := self.machines.get(self.path)) is None:
            why = "still reading" if self.is_reading(self.path) else "no machine yet"
            self.notify(self.say(why, name=self.name_of_machine(self.path)), markup=False)
        return machine

    def action_sift(self) -> None:
        self.query_one("#sift").focus()

    def action_open(self) -> None:
        self.app.push_screen(OpenDialog(), self._opened)

    def _opened(self, path: object) -> None:
        if isinstance(path, str):
            self.spot, self.compared = SNAPSHOTS if os.path.isdir(path) else Spot("machine", path), ()  # noqa: PTH112
            if self.spot.key:
                self.choose_machine(path)
                self.read_machine(path)
            self.open(path)
            self.show()

    def action_save(self) -> None:
        if machine := self._shown_machine():
            folder = app_of(self).state_path("snapshots") or Path.cwd()
            name = free_name(folder, time.strftime("%Y-%m-%d-%H%M"), ".json")
            question = self.say("save where", name=self.name_of_machine(self.path))
            self._ask_where(question, name, machine.as_json)

    def action_export(self) -> None:
        """Write the checklist as Markdown."""
        if not self._shows_checklist:
            self.notify(self.say("no checklist here"), markup=False)
            return
        page = checklist_markdown(self.document(self.spot.key), self.lang)
        text = f"{page}\n{inert(self.facts_of())}\n"
        self._ask_where(self.say("export where"), free_name(Path(), self.spot.key, ".md"), lambda: text)

    @property
    def _shows_checklist(self) -> bool:
        return self.spot.kind == "checklist" and not self.compared

    def _ask_where(self, question: str, name: Path, text: Callable[[], str]) -> None:
        def answered(path: object) -> None:
            if isinstance(path, str) and path.strip():
                self.write(typed_path(path), text)

        self.app.push_screen(AskDialog(question, str(name)), answered)

    def action_mark(self) -> None:
        """Mark the machine that is shown, to compare it, or take its mark back; a third one replaces the first."""
        taken, others = self.path in self.marked, [path for path in self.marked if path != self.path]
        self.marked = others if taken else [*others, self.path][-2:]
        told = "mark taken" if taken else "marked both" if others else "marked machine"
        names = [self.path] if taken else self.marked
        self.notify(self.say(told, name=", ".join(map(self.name_of_machine, names))), markup=False)
        self.compared = ()
        self.machines_changed()

    def action_compare(self) -> None:
        """Compare the marked machines, one alone with the one that is shown; again: show that one."""
        pair = tuple(dict.fromkeys([*self.marked, self.path]))[:2]
        if not self.marked or len(pair) < 2:
            self.notify(self.say("mark two"), markup=False)
        else:
            self.compared = () if self.compared else pair
            self.need_compared()
            self.show()

    def action_tick(self) -> None:
        """Tick the step under the cursor by hand, or take its tick back."""
        step, ticks = self.query_one(EntryView).chosen, app_of(self).hand_ticks
        if not self._shows_checklist or not step or not step.key:
            self.notify(self.say("no step here"), markup=False)
            return
        if not ticks.toggle(identity(self.chosen), self.spot.key, step.key):
            self.notify(self.say("tick not kept"), severity="warning", markup=False)
        if ticks.aside:
            told = self.say("ticks aside", path=printable(str(ticks.aside)))
            self.notify(told, severity="warning", timeout=12, markup=False)
        self.machines_changed()

    def action_read_again(self) -> None:
        """Read the machine that is shown anew, and look for snapshots."""
        self.read_machine(self.path, anew=True)
        self.look()
        self.show()

    def action_all_pairs(self) -> None:
        """Every pair of versions with its reason and source, as `npu-kb env judge` tells it."""
        if machine := self._shown_machine():
            width = max(20, min(_JUDGEMENT_WIDTH, self.size.width * 9 // 10 - 6))
            text = judgement_text(machine.judgements, self.lang, False, width)
            self.app.push_screen(TextDialog(self.name_of_machine(self.path), Text(text)))

    def action_copy(self) -> None:
        self.query_one(EntryView).copy()

    def action_copy_all(self) -> None:
        self.query_one(EntryView).copy(False)

    def action_run(self) -> None:
        self.query_one(EntryView).run()

    def action_zoom(self) -> None:
        self.toggle_class("zoomed")
        self.query_one(EntryView).focus()

    def action_back(self) -> None:
        """Stop reading, or else clear the filter, or else go back to the whole screen and the tree."""
        line = self.query_one("#sift", Input)
        if self.stop_reading():
            self.notify(self.say("cancelled"), timeout=3, markup=False)
        elif line.value:
            line.value = ""
            self.query_one(EntryView).focus()
        else:
            self.set_class(False, "zoomed")
            self.query_one(MachineTree).focus()
