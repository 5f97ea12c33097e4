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
from npu_kb.tui.widgets.machine_tree import CHECKLISTS, SNAPSHOTS, THIS, MachineTree, Spot


class MachineViewScreen(MachinesScreen):
    """Shows the spot of the tree; checklists are held against the machine that was shown last."""

    def __init__(self) -> None:
        super().__init__()
        self.spot = THIS
        self.path = ""
        """The machine shown last, whose facts count in the checklists."""
        self.marked: str | None = None
        """The machine to compare with."""
        self.compared = False
        self._parts: list[Part] = []

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
        """Say what each spot is called, how far each checklist is, and which machine is marked."""
        knowledge = app_of(self).knowledge
        checklists, commands = knowledge.checklists(), knowledge.commands()
        labels = {SNAPSHOTS: (self.say("snapshots"), str(len(self.snapshots))),
                  CHECKLISTS: (self.say("checklists"), str(len(checklists)))}  # fmt: skip
        for path in ("", *self.snapshots):
            labels[Spot("machine", path)] = (self.name_of_machine(path), "*" if path == self.marked else "")
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
        if spot is None or (spot == self.spot and not self.compared):
            return
        self.spot, self.compared = spot, False
        if spot.kind == "machine":
            self.path = spot.key
            self._name_spots()
        self.need(self.path)
        self.show()

    @on(Tree.NodeSelected)
    def to_facts(self) -> None:
        self.query_one("#facts").focus()

    # what is shown

    def machines_changed(self) -> None:
        self._name_spots()
        self.show(self.query_one(EntryView).highlighted or 0)

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
        names = [self.name_of_machine(self.marked)] if self.compared and self.marked is not None else []
        name = " -> ".join([*names, self.name_of_machine(self.path)])
        if self.spot.kind != "machine":
            name = self.say("facts of", name=name)
        machine = self.machines.get(self.path)
        taken = machine.snapshot.taken or "" if machine else ""
        if self.is_reading(self.path):
            return f"{name}  {self.say('reading now')}"
        return f"{name}  {printable(taken) if machine else self.say('not read')}"

    def _list(self, cursor: int = 0) -> None:
        """Those parts that the filter leaves."""
        items = shown_items(self._parts, self.query_one("#sift", Input).value, self.lang)
        self.query_one(EntryView).show(items, cursor)

    def _parts_of_spot(self) -> list[Part]:
        machine, spot = self.machines.get(self.path), self.spot
        if spot.kind == "checklist":
            return checklist_parts(self.document(spot.key), app_of(self).catalog.links.titles, self.lang)
        if spot == CHECKLISTS:
            return list_parts(app_of(self).knowledge.checklists(), self.lang)
        if spot == SNAPSHOTS:
            return text_parts(self.say("about snapshots"))
        if machine is None:
            reading = "reading file" if self.path else "reading machine"
            return text_parts(self.say(reading if self.is_reading(self.path) else "how to read"))
        if self.compared and self.marked is not None:
            return difference_parts(self.machines[self.marked], machine, self.lang)
        return machine_parts(machine, self.lang)

    def document(self, checklist: str) -> dict[str, Any]:
        """A checklist as the facts of the machine and its user tick it."""
        knowledge = app_of(self).knowledge
        return self._ticked(knowledge.checklists()[checklist], knowledge.commands())

    def _ticked(self, checklist: dict[str, Any], commands: dict[str, dict[str, Any]]) -> dict[str, Any]:
        machine, id = self.machines.get(self.path), checklist["id"]
        told = machine.ticks.get(id) if machine else None
        return checklist_document(checklist, commands, told, app_of(self).hand_ticks.of(identity(self.path), id))

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
        if entry := app_of(self).catalog.by_id.get(event.id):
            self.app.push_screen(AnswerDialog(entry_document(entry, app_of(self).knowledge)))
