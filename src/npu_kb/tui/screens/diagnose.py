"""Diagnose: the log with its evidence marked, beside the ranked causes."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widgets import OptionList, Static

from npu_kb.findings.journal import Journal
from npu_kb.tui.causes import CauseItem, Place, cause_items
from npu_kb.tui.keys import Key, bindings
from npu_kb.tui.logfile import LogFile
from npu_kb.tui.reports import keep_report, report_wrong, withdraw_report
from npu_kb.tui.screens.answer import AnswerDialog
from npu_kb.tui.screens.base import app_of
from npu_kb.tui.screens.logs import LogsScreen
from npu_kb.tui.screens.reading import Answer
from npu_kb.tui.widgets.item_list import ItemList
from npu_kb.tui.widgets.line_view import LineView
from npu_kb.tui.widgets.log_panel import LogPanel

_LINE_CHARS = 2_000
_SMALL = (110, 32)
"""Below so many columns and rows, title, cause and first fix have to share few rows."""


class DiagnoseScreen(LogsScreen):
    """Where a log is read beside its explanation."""

    NAME = "diagnose"
    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("p", "paste", "paste"), Key("o", "open", "open file"), Key("n", "trouble(1)", "next error"),
        Key("m", "evidence(1)", "next evidence", False), Key("c", "codes", "codes"), Key("r", "record", "record this"),
        Key("e", "with_machine", "with machine"), Key("y", "copy", "copy"),
        Key("Y", "copy_answer", "copy answer", False), Key("x", "run", "run", False),
        Key("plus", "report('right')", "right", False), Key("minus", "report('wrong')", "wrong", False),
        Key("d", "not_it", "not it", False), Key("N", "trouble(-1)", "previous error", False),
        Key("M", "evidence(-1)", "previous evidence", False), Key("f", "only_evidence", "only evidence", False),
        Key("R", "next_rank", "one rank", False), Key("slash", "find", "find", False), Key("v", "mark", "mark", False),
        Key("s", "next_log", "next log", False), Key("ctrl+l", "forget", "forget", False),
        Key("w", "whole_lines", "whole lines", False), Key("z", "zoom", "zoom", False),
        Key("tab", "app.focus_next", "next part", False),
        Key("enter", "jump", "jump", False), Key("escape", "cancel", "cancel", False),
    )  # fmt: skip
    BINDINGS = bindings(KEYS)

    def __init__(self) -> None:
        super().__init__()
        self._answer: Answer | None = None
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
        """Read again if logs have come since, or another state of this machine."""
        machine = self._answer.machine if self._answer else None
        if machine is not None and machine is not app_of(self).this_machine.snapshot:
            self.read(self._read_logs)
        if self.session.logs != self._read_logs:
            added = [log for log in self.session.logs if log not in self._read_logs]
            self._read_logs = list(self.session.logs)
            self.panel.show(self._read_logs, self._evidence(), added[0] if added else None)
            if self._read_logs:
                self.view.focus()
                self.read(self._read_logs)
        self.show_log()

    def use(self, answer: Answer) -> None:
        """Show an answer, with the cursor of the log on its first evidence, and keep it in the store.

        A log that was added to others stays the one shown; who has begun to read stays where they are.
        """
        session, is_first = self.session, self._answer is None
        self._answer, session.diagnosis = answer, answer.diagnosis
        session.number = Journal().keep(answer.diagnosis, [log.name for log in self._read_logs])
        self._show_causes()
        self.show_log()
        if self.view.has_focus and self.view.cursor:
            return
        places = [item.place for item in self._causes.items if item.place]
        here = [place for place in places if self.panel.place and place.source == self.panel.place.source]
        if here or (places and is_first):
            self.panel.go_to((here or places)[0])
        self._causes.focus()

    # showing

    @property
    def _causes(self) -> ItemList[CauseItem]:
        return self.query_one("#causes", ItemList)

    @property
    def _matches(self) -> list[dict[str, Any]]:
        return self._answer.document["matches"] if self._answer else []

    def show_state(self, text: str) -> None:
        facts = self.say("with facts") if self._answer and self._answer.machine else ""
        self.query_one("#why-title", Static).update("  ".join(filter(None, [self.say("ranked"), facts, text])))

    def _show_causes(self) -> None:
        self.show_state("")
        self._list_causes()

    def _list_causes(self) -> None:
        if self._answer is None:
            self._causes.show([])
            return
        commands = {command["run"]: id for id, command in app_of(self).knowledge.commands().items()}
        logs, wrong, aside = [log.name for log in self._read_logs], self._answer.wrong_pairs, self.session.set_aside
        items = cause_items(self._answer.document, wrong, aside, commands, logs, self.lang, self._columns)
        self._causes.show(items, self._causes.highlighted or 0)

    def show_log(self) -> None:
        self.set_class(not self._read_logs and not self.with_machine, "empty")
        self.panel.show(self._read_logs, self._evidence())

    def _evidence(self) -> set[Place]:
        """The lines that speak for what was not set aside."""
        shown = (match for match in self._matches if match["id"] not in self.session.set_aside)
        return {Place(e["source"], e["line"]) for match in shown for e in match["evidence"]}

    @on(OptionList.OptionHighlighted, "#causes")
    def follow_evidence(self) -> None:
        item = self._causes.chosen
        if item and item.place and self._causes.has_focus:
            self.panel.go_to(item.place)

    # acting on the cause or line under the cursor

    @on(OptionList.OptionSelected, "#causes")
    def open_cause(self) -> None:
        item = self._causes.chosen
        if item is None:
            return
        if item.place:
            self.panel.go_to(item.place)
            self.view.focus()
        elif item.match:
            document = next(match for match in self._matches if match["id"] == item.match)
            self.app.push_screen(AnswerDialog(document))
        elif item.command:
            app_of(self).run_command(item.command)

    @on(LineView.Chosen, "#log")
    def back_to_cause(self) -> None:
        """From a line of evidence to its cause; from another to what is in it."""
        for at, item in enumerate(self._causes.items):
            if item.place and item.place == self.panel.place:
                self._causes.highlighted = at
                self._causes.focus()
                return
        self.action_codes()

    def action_copy(self) -> None:
        item = self._causes.chosen
        if self.view.has_focus:
            app_of(self).copy(self.panel.marked_text or self.view.line)
        else:
            app_of(self).copy(item.copy if item else "")

    def action_copy_answer(self) -> None:
        app_of(self).copy(self._answer.markdown(self.lang) if self._answer else "")

    def action_run(self) -> None:
        item = self._causes.chosen
        checks = [c for m in self._matches if item and m["id"] == item.match
                  for c in m["diagnose"] if c.get("command")]  # fmt: skip
        app_of(self).run_command((item.command if item else "") or (checks[0]["command"] if checks else ""))

    def action_report(self, verdict: str) -> None:
        """Keep that the cause under the cursor was right or wrong."""
        item = self._causes.chosen
        if item is None or not item.match:
            self.notify(self.say("no answer here"), markup=False)
        elif verdict == "wrong":
            report_wrong(app_of(self), item.match)
        else:
            keep_report(app_of(self), "right", item.match)

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

    # logs go, or become an entry

    def action_forget(self) -> None:
        self.workers.cancel_group(self, "read")
        app_of(self).new_session()
        self._answer, self._read_logs, self.with_machine = None, [], False
        self.tell()

    def action_with_machine(self) -> None:
        """Count this machine's facts in, as `npu-kb why --env` does, or leave them out again."""
        self.with_machine = not self.with_machine
        if self._read_logs or self.with_machine:
            self.show_log()
            self.read(self._read_logs)
        else:
            self.action_forget()

    def action_cancel(self) -> None:
        super().action_cancel()
        self.with_machine = bool(self._answer and self._answer.machine)
        self.show_log()

    def action_record(self) -> None:
        """Make an entry of the marked lines, or of all."""
        marked = self.panel.marked_text
        if self._read_logs and not marked and self.session.diagnosis is None:
            self.notify(self.say("working"), markup=False)
        else:
            app_of(self).record(marked)
