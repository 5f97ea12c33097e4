"""Diagnose: the log with its evidence marked, beside the ranked causes."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widgets import OptionList, Static

from npu_kb.diagnosis.model import Diagnosis
from npu_kb.errors import NpuKbError
from npu_kb.findings.journal import Journal
from npu_kb.intake.clean import printable
from npu_kb.render.document import diagnosis_document
from npu_kb.render.markdown import diagnosis_markdown
from npu_kb.tui.causes import CauseItem, Place, cause_items
from npu_kb.tui.keys import Key, bindings
from npu_kb.tui.line_codes import full_meaning, short_meaning
from npu_kb.tui.logfile import LogFile
from npu_kb.tui.reports import keep_report, withdraw_report
from npu_kb.tui.screens.answer import AnswerDialog
from npu_kb.tui.screens.base import app_of
from npu_kb.tui.screens.dialogs import AskDialog, TextDialog
from npu_kb.tui.screens.opening import OpenDialog, PasteDialog
from npu_kb.tui.screens.reading import ReadingScreen
from npu_kb.tui.widgets.item_list import ItemList
from npu_kb.tui.widgets.line_view import LineView
from npu_kb.tui.widgets.log_panel import LogPanel
from npu_kb.tui.widgets.log_view import LogView

_LINE_CHARS = 2_000
_SMALL = (110, 32)
"""Below so many columns and rows, title, cause and first fix have to share few rows."""


class DiagnoseScreen(ReadingScreen):
    """Where a log is read beside its explanation."""

    NAME = "diagnose"
    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("p", "paste", "paste"), Key("o", "open", "open file"), Key("n", "trouble(1)", "next error"),
        Key("m", "evidence(1)", "next evidence", False), Key("c", "codes", "codes"), Key("r", "record", "record this"),
        Key("y", "copy", "copy"), Key("Y", "copy_answer", "copy answer", False), Key("x", "run", "run", False),
        Key("plus", "report('right')", "right", False), Key("minus", "report('wrong')", "wrong", False),
        Key("d", "not_it", "not it", False), Key("N", "trouble(-1)", "previous error", False),
        Key("M", "evidence(-1)", "previous evidence", False), Key("f", "only_evidence", "only evidence", False),
        Key("R", "next_rank", "one rank", False), Key("slash", "find", "find", False), Key("v", "mark", "mark", False),
        Key("s", "next_log", "next log", False), Key("ctrl+l", "forget", "forget", False),
        Key("z", "zoom", "zoom", False), Key("tab", "app.focus_next", "next part", False),
        Key("enter", "jump", "jump", False), Key("escape", "cancel", "cancel", False),
    )  # fmt: skip
    BINDINGS = bindings(KEYS)

    def __init__(self) -> None:
        super().__init__()
        self._document: dict[str, Any] | None = None
        self._read_logs: list[LogFile] = []
        """What the diagnosis shown is of."""
        self._columns = 0
        """What long texts are cut to; 0 where there is room."""

    def body(self) -> ComposeResult:
        with Container(id="diagnose"):
            with Vertical(id="why"):
                yield Static(id="why-title", classes="title", markup=False)
                yield ItemList[CauseItem](id="causes")
            yield LogPanel(id="logs")
        yield Static(id="no-log", markup=False)
        yield Static(id="explained", markup=False)

    def tell(self) -> None:
        super().tell()
        self.query_one("#no-log", Static).update(self.say("no log"))
        self._show_causes()
        self.show_log()

    def on_resize(self, event: events.Resize) -> None:
        """Cut long texts, or show them whole again."""
        is_small = event.size.width < _SMALL[0] and event.size.height < _SMALL[1]
        columns = event.size.width - 2 if is_small else 0
        if columns != self._columns:
            self._columns = columns
            self._list_causes()

    def on_screen_resume(self) -> None:
        self.session_changed()

    def session_changed(self) -> None:
        """Read again if logs have come since."""
        if self.session.logs != self._read_logs:
            added = [log for log in self.session.logs if log not in self._read_logs]
            self._read_logs = list(self.session.logs)
            self._panel.show(self._read_logs, self._evidence(), added[0] if added else None)
            if self._read_logs:
                self._view.focus()
                self.read(self._read_logs)
        self.show_log()

    def use(self, diagnosis: Diagnosis) -> None:
        """Show a diagnosis, with the cursor of the log on its first evidence, and keep it in the store.

        A log that was added to others stays the one shown; who has begun to read stays where they are.
        """
        session, is_first = self.session, self._document is None
        session.diagnosis = diagnosis
        self._document = diagnosis_document(diagnosis, app_of(self).knowledge)
        session.number = Journal().keep(diagnosis, [log.name for log in self._read_logs])
        self._show_causes()
        self.show_log()
        if self._view.has_focus and self._view.cursor:
            return
        places = [item.place for item in self._causes.items if item.place]
        here = [place for place in places if self._panel.place and place.source == self._panel.place.source]
        if here or (places and is_first):
            self._panel.go_to((here or places)[0])
        self._causes.focus()

    # showing

    @property
    def _causes(self) -> ItemList[CauseItem]:
        return self.query_one("#causes", ItemList)

    @property
    def _panel(self) -> LogPanel:
        return self.query_one(LogPanel)

    @property
    def _view(self) -> LogView:
        return self._panel.view

    def show_state(self, text: str) -> None:
        self.query_one("#why-title", Static).update(f"{self.say('ranked')}  {text}")

    def _show_causes(self) -> None:
        self.show_state("")
        self._list_causes()

    def _list_causes(self) -> None:
        if self._document is None:
            self._causes.show([])
            return
        commands = {command["run"]: id for id, command in app_of(self).knowledge.commands().items()}
        many = len(self._read_logs) > 1
        items = cause_items(self._document, self.session.set_aside, commands, many, self.lang, self._columns)
        self._causes.show(items, self._causes.highlighted or 0)

    def show_log(self) -> None:
        self.set_class(not self._read_logs, "empty")
        self._panel.show(self._read_logs, self._evidence())

    def _evidence(self) -> set[Place]:
        """The lines that speak for what was not set aside."""
        matches = self._document["matches"] if self._document else []
        shown = (match for match in matches if match["id"] not in self.session.set_aside)
        return {Place(e["source"], e["line"]) for match in shown for e in match["evidence"]}

    @on(LineView.Moved, "#log")
    def explain_line(self) -> None:
        """Say in the lines at the foot what the codes under the cursor mean, or else the line where it is long."""
        self._panel.show_title()
        meaning = short_meaning(self._view.line, app_of(self).knowledge, self.lang)
        shown = printable(meaning or self._view.line[:_LINE_CHARS])
        self.query_one("#explained", Static).update(Text(shown, "bold" if meaning else "dim", overflow="fold"))

    @on(OptionList.OptionHighlighted, "#causes")
    def follow_evidence(self) -> None:
        item = self._causes.chosen
        if item and item.place and self._causes.has_focus:
            self._panel.go_to(item.place)

    # acting on the cause or line under the cursor

    @on(OptionList.OptionSelected, "#causes")
    def open_cause(self) -> None:
        item = self._causes.chosen
        if item is None:
            return
        if item.place:
            self._panel.go_to(item.place)
            self._view.focus()
        elif item.match:
            document = next(match for match in (self._document or {})["matches"] if match["id"] == item.match)
            self.app.push_screen(AnswerDialog(document))
        elif item.command:
            app_of(self).run_command(item.command)

    @on(LineView.Chosen, "#log")
    def back_to_cause(self) -> None:
        """From a line of evidence to its cause; from another to what is in it."""
        for at, item in enumerate(self._causes.items):
            if item.place and item.place == self._panel.place:
                self._causes.highlighted = at
                self._causes.focus()
                return
        self.action_codes()

    def action_codes(self) -> None:
        """The whole line, and everything about its codes."""
        line = self._view.line
        place = self._panel.place
        if not place or not line.strip():
            return
        told = full_meaning(line, app_of(self).knowledge, self.lang) or self.say("no codes")
        title = self.say("line of", line=place.line, log=printable(place.source))
        self.app.push_screen(TextDialog(title, Text.assemble(line[:100_000], "\n\n", (told, "bold"))))

    def action_copy(self) -> None:
        item = self._causes.chosen
        if self._view.has_focus:
            app_of(self).copy(self._panel.marked_text or self._view.line)
        else:
            app_of(self).copy(item.copy if item else "")

    def action_copy_answer(self) -> None:
        app_of(self).copy(diagnosis_markdown(self._document, self.lang) if self._document else "")

    def action_run(self) -> None:
        item = self._causes.chosen
        checks = [c for m in (self._document or {"matches": []})["matches"] if item and m["id"] == item.match
                  for c in m["diagnose"] if c.get("command")]  # fmt: skip
        app_of(self).run_command((item.command if item else "") or (checks[0]["command"] if checks else ""))

    def action_report(self, verdict: str) -> None:
        """Keep that the cause under the cursor was right or wrong."""
        item = self._causes.chosen
        if item is None or not item.match:
            self.notify(self.say("no answer here"), markup=False)
        elif verdict == "wrong":
            ask = AskDialog(self.say("what instead"))
            self.app.push_screen(ask, partial(self._keep_wrong, item.match))
        else:
            keep_report(app_of(self), "right", item.match)

    def _keep_wrong(self, entry: str, note: object) -> None:
        if isinstance(note, str):
            keep_report(app_of(self), "wrong", entry, note)

    def action_not_it(self) -> None:
        """Set the cause under the cursor aside, and keep that it was wrong; again: take both back."""
        item = self._causes.chosen
        if item is None or not item.match:
            self.notify(self.say("no answer here"), markup=False)
            return
        aside = self.session.set_aside
        if item.match in aside:
            withdraw_report(app_of(self), item.match, aside.pop(item.match))
        else:
            aside[item.match] = keep_report(app_of(self), "wrong", item.match, "not it")
        self._show_causes()
        self.show_log()

    # moving in the log

    def action_trouble(self, step: int) -> None:
        self._panel.go_to_trouble(step)

    def action_find(self) -> None:
        self.app.push_screen(AskDialog(self.say("find what"), self._panel.sought), self._panel.go_to_text)

    def action_evidence(self, step: int) -> None:
        self._panel.go_to_evidence(step)

    def action_only_evidence(self) -> None:
        self._panel.toggle_evidence_only()

    def action_next_rank(self) -> None:
        lines = self.session.diagnosis.log.lines if self.session.diagnosis else []
        self._panel.show_next_rank(lines)

    def action_next_log(self) -> None:
        self._panel.show_next_log()

    def action_mark(self) -> None:
        self._panel.mark()

    # logs come and go

    def action_paste(self) -> None:
        self.app.push_screen(PasteDialog(), self._pasted)

    def _pasted(self, text: object) -> None:
        if isinstance(text, str):
            app_of(self).diagnose_text(text)
            self.session_changed()

    def action_open(self) -> None:
        self.app.push_screen(OpenDialog(), self._opened)

    def _opened(self, path: object) -> None:
        if isinstance(path, str):
            try:
                self.session.open(path)
            except NpuKbError as error:
                app_of(self).tell_error(error)
            self.session_changed()

    def action_forget(self) -> None:
        self.workers.cancel_group(self, "read")
        app_of(self).new_session()
        self._document, self._read_logs = None, []
        self.tell()

    def action_zoom(self) -> None:
        self.toggle_class("zoomed")

    def action_cancel(self) -> None:
        running = [worker for worker in self.workers if worker.node in (self, self._panel) and worker.is_running]
        for worker in running:
            worker.cancel()
        if running:
            self.show_state(self.say("cancelled"))
            self._panel.show_title()
        self.set_class(False, "zoomed")

    def action_record(self) -> None:
        """Make an entry of the marked lines, or of all."""
        marked = self._panel.marked_text
        if self._read_logs and not marked and self.session.diagnosis is None:
            self.notify(self.say("working"), markup=False)
        else:
            app_of(self).record(marked)
