"""A machine, two of them compared, or a checklist, beside the tree of them all: what is shown, not what keys do."""

from __future__ import annotations

import os
from typing import Any

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static, Tree

from npu_kb.intake.clean import printable
from npu_kb.render.checklist import checklist_document
from npu_kb.render.document import entry_document
from npu_kb.render.text import choose
from npu_kb.tui.environment_items import (
    Part,
    checklist_parts,
    counts,
    difference_parts,
    list_parts,
    machine_parts,
    shown_items,
    text_parts,
)
from npu_kb.tui.machines import identity
from npu_kb.tui.screens.answer import AnswerDialog
from npu_kb.tui.screens.base import app_of
from npu_kb.tui.screens.machines import MachinesScreen
from npu_kb.tui.widgets.entry_view import EntryView
from npu_kb.tui.widgets.machine_tree import CHECKLISTS, CHOSEN, SNAPSHOTS, THIS, MachineTree, Spot


class MachineViewScreen(MachinesScreen):
    """Shows the spot of the tree; checklists are held against the machine that was chosen by Enter."""

    def __init__(self) -> None:
        super().__init__()
        self.spot = THIS
        self.chosen = ""
        """The machine whose facts count in the checklists."""
        self.marked: list[str] = []
        """Machines to compare, two at most."""
        self.compared: tuple[str, ...] = ()
        """The two whose differences are shown in place of the spot."""
        self._parts: list[Part] = []

    @property
    def path(self) -> str:
        """The machine that is shown, or against which what is shown is held."""
        return self.spot.key if self.spot.kind == "machine" else self.chosen

    def body(self) -> ComposeResult:
        with Horizontal(id="environment"):
            yield MachineTree(id="tree")
            with Vertical(id="right"):
                yield Static(id="about", classes="title", markup=False)
                yield Input(id="sift", compact=True)
                yield EntryView(id="facts")

    def on_mount(self) -> None:
        self.query_one(MachineTree).focus()
        self.look()
        self.need("")

    def tell(self) -> None:
        super().tell()
        self.query_one("#sift", Input).placeholder = self.say("sift")
        self.snapshots_changed()
        self.show()

    # the tree

    def snapshots_changed(self) -> None:
        checklists = list(app_of(self).knowledge.checklists())
        self.query_one(MachineTree).fill(self.snapshots, checklists, self.spot)
        self._name_spots()

    def _name_spots(self) -> None:
        """Say what each spot is called, how far each checklist is, and which machines are marked and chosen."""
        knowledge = app_of(self).knowledge
        checklists, commands = knowledge.checklists(), knowledge.commands()
        labels = {SNAPSHOTS: (self.say("snapshots"), str(len(self.snapshots))),
                  CHECKLISTS: (self.say("checklists"), str(len(checklists)))}  # fmt: skip
        for path in ("", *self.snapshots):
            marks = ["*"] * (path in self.marked) + [CHOSEN] * (path == self.chosen)
            labels[Spot("machine", path)] = (self.name_of_machine(path), " ".join(marks))
        for id, checklist in checklists.items():
            title = choose(checklist["title"], self.lang)[0]
            labels[Spot("checklist", id)] = (printable(title), counts(self._ticked(checklist, commands)))
        self.query_one(MachineTree).name_all(labels)

    def name_of_machine(self, path: str) -> str:
        """What a machine is called: by its file, where it has one."""
        return printable(os.path.basename(path)) if path else self.say("this machine")  # noqa: PTH119

    @on(Tree.NodeHighlighted)
    def go_to(self, event: Tree.NodeHighlighted[Spot]) -> None:
        """Show what the cursor of the tree stands on."""
        spot = event.node.data
        if spot is None or not spot.kind or (spot == self.spot and not self.compared):
            return
        self.spot, self.compared = spot, ()
        self.need(self.path)
        self.show()

    @on(Tree.NodeSelected)
    def choose(self, event: Tree.NodeSelected[Spot]) -> None:
        """Go to what is shown; of a machine, hold the checklists against it from now on."""
        if event.node.data and event.node.data.kind == "machine":
            self.choose_machine(event.node.data.key)
        self.query_one("#facts").focus()

    def choose_machine(self, path: str) -> None:
        """Hold the checklists against this machine."""
        if path != self.chosen:
            self.chosen = path
            self.notify(self.say("chosen machine", name=self.name_of_machine(path)), timeout=3, markup=False)
            self._name_spots()

    # what is shown

    def machines_changed(self) -> None:
        self.need_compared()
        self._name_spots()
        self.show(self.query_one(EntryView).highlighted or 0)

    def need_compared(self) -> None:
        """Read those that are compared, one after the other."""
        unread = [path for path in self.compared if path not in self.machines and path not in self.failures]
        if unread:
            self.need(unread[0])

    def knowledge_changed(self) -> None:
        super().knowledge_changed()
        self.need(self.path)
        self.tell()

    def show(self, cursor: int = 0) -> None:
        self._parts = self._parts_of_spot()
        self.query_one("#about", Static).update(self._about())
        self._list(cursor)

    def _about(self) -> str:
        """Which machine is shown, and what is being done."""
        if self.compared:
            return " -> ".join(map(self.name_of_machine, self.compared))
        if self.spot.kind == "machine":
            return f"{self.name_of_machine(self.path)}  {self._state_of_machine()}"
        return f"{CHOSEN} {self.facts_of()}"

    def facts_of(self) -> str:
        """Against which machine what is shown is held, and when it stood so."""
        return f"{self.say('facts of', name=self.name_of_machine(self.path))}  {self._state_of_machine()}"

    def _state_of_machine(self) -> str:
        """When the machine stood so, or what is being done."""
        if self.is_reading(self.path):
            return self.say("reading now")
        machine = self.machines.get(self.path)
        return printable(machine.snapshot.taken or "") if machine else self.say("not read")

    def _list(self, cursor: int = 0) -> None:
        """Those parts that the filter leaves."""
        items = shown_items(self._parts, self.query_one("#sift", Input).value, self.lang)
        self.query_one(EntryView).show(items, cursor)

    def _parts_of_spot(self) -> list[Part]:
        spot = self.spot
        unread = [path for path in self.compared or (self.path,) if path not in self.machines]
        if unread and (self.compared or spot.kind == "machine"):
            return text_parts(self._why_unread(unread[0]))
        if self.compared:
            first, second = (self.machines[path] for path in self.compared)
            return difference_parts(first, second, self.lang)
        if spot.kind == "checklist":
            return checklist_parts(self.document(spot.key), app_of(self).catalog.links.titles, self.lang)
        if spot == CHECKLISTS:
            return list_parts(app_of(self).knowledge.checklists(), self.lang)
        if spot == SNAPSHOTS:
            return text_parts(self.say("about snapshots"))
        return machine_parts(self.machines[self.path], self.lang)

    def _why_unread(self, path: str) -> str:
        """Why nothing of a machine can be shown."""
        if self.is_reading(path):
            return self.say("reading file" if path else "reading machine")
        reason = self.failures.get(path)
        return self.say("read failed", reason=reason) if reason else self.say("how to read")

    def document(self, checklist: str) -> dict[str, Any]:
        """A checklist as the facts of the machine and its user tick it."""
        knowledge = app_of(self).knowledge
        return self._ticked(knowledge.checklists()[checklist], knowledge.commands())

    def _ticked(self, checklist: dict[str, Any], commands: dict[str, dict[str, Any]]) -> dict[str, Any]:
        machine, id = self.machines.get(self.chosen), checklist["id"]
        told = machine.ticks.get(id) if machine else None
        return checklist_document(checklist, commands, told, app_of(self).hand_ticks.of(identity(self.chosen), id))

    @on(Input.Changed, "#sift")
    def sift(self) -> None:
        self._list()

    @on(Input.Submitted, "#sift")
    def to_items(self) -> None:
        self.query_one(EntryView).focus()

    def on_key(self, event: events.Key) -> None:
        if event.key == "down" and self.focused is self.query_one("#sift"):
            event.stop()
            self.query_one(EntryView).focus()

    @on(EntryView.Follow)
    def follow(self, event: EntryView.Follow) -> None:
        if entry := app_of(self).catalog.entry(event.id):
            self.app.push_screen(AnswerDialog(entry_document(entry, app_of(self).knowledge)))
