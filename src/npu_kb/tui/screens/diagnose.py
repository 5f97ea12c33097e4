"""Diagnose: the log with its evidence marked, beside the ranked causes."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widgets import OptionList, Static
from textual.worker import Worker, WorkerState, get_current_worker

from npu_kb.codes.explain import explain
from npu_kb.codes.mentions import find_codes
from npu_kb.diagnosis.model import Diagnosis
from npu_kb.errors import NpuKbError
from npu_kb.findings.journal import Journal
from npu_kb.intake.clean import printable
from npu_kb.render.codes import explanations_text
from npu_kb.render.document import diagnosis_document
from npu_kb.render.markdown import diagnosis_markdown
from npu_kb.render.text import choose
from npu_kb.tui.causes import CauseItem, Place, cause_items
from npu_kb.tui.keys import Key, bindings
from npu_kb.tui.logfile import LogFile
from npu_kb.tui.screens.answer import AnswerDialog
from npu_kb.tui.screens.base import PlaceScreen, app_of
from npu_kb.tui.screens.dialogs import AskDialog, TextDialog
from npu_kb.tui.screens.opening import OpenDialog, PasteDialog
from npu_kb.tui.session import Session, Stopped
from npu_kb.tui.widgets.item_list import ItemList
from npu_kb.tui.widgets.line_view import LineView
from npu_kb.tui.widgets.log_panel import LogPanel
from npu_kb.tui.widgets.log_view import LogView

_LINE_CHARS = 2_000


class DiagnoseScreen(PlaceScreen):
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
        self._show_log()

    def on_screen_resume(self) -> None:
        self.session_changed()

    @property
    def _session(self) -> Session:
        return app_of(self).session

    def session_changed(self) -> None:
        """Read again if logs have come since."""
        if self._session.logs != self._read_logs:
            added = [log for log in self._session.logs if log not in self._read_logs]
            self._read_logs = list(self._session.logs)
            self._panel.show(self._read_logs, self._evidence(), added[0] if added else None)
            if self._read_logs:
                self._read()
        self._show_log()

    # reading

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read(self) -> Diagnosis:
        """Count the lines of the logs and diagnose them, telling how far it is."""
        worker = get_current_worker()

        def cancelled() -> bool:
            return worker.is_cancelled

        for log in self._read_logs:
            log.count_lines(self._progress("reading", 0.0, 0.3), cancelled)
            self._from_thread(self._show_log)
        feedback = Journal().feedback
        return self._session.read(app_of(self).knowledge, feedback, self._progress("reading", 0.3, 0.7), cancelled)

    def _progress(self, name: str, start: float, share: float) -> Any:
        told = [-1]

        def tell(part: float) -> None:
            percent = int(100 * (start + share * part))
            if percent > told[0]:
                told[0] = percent
                text = self.say(name, percent=percent) if percent < 100 else self.say("working")
                self._from_thread(self._show_state, text)

        return tell

    def _from_thread(self, call: Any, *arguments: Any) -> None:
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(call, *arguments)

    @on(Worker.StateChanged)
    def read_ended(self, event: Worker.StateChanged) -> None:
        if event.worker.group != "read":
            return
        if event.state is WorkerState.SUCCESS:
            self._use(event.worker.result)
        elif event.state is WorkerState.ERROR and event.worker.error and not isinstance(event.worker.error, Stopped):
            app_of(self).tell_error(event.worker.error)

    def _use(self, diagnosis: Any) -> None:
        """Show a diagnosis, with the cursor of the log on its first evidence, and keep it in the store.

        A log that was added to others stays the one shown.
        """
        session, is_first = self._session, self._document is None
        session.diagnosis = diagnosis
        self._document = diagnosis_document(diagnosis, app_of(self).knowledge)
        session.number = Journal().keep(diagnosis, [log.name for log in self._read_logs])
        self._show_causes()
        self._show_log()
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

    def _show_state(self, text: str) -> None:
        self.query_one("#why-title", Static).update(f"{self.say('ranked')}  {text}")

    def _show_causes(self) -> None:
        self._show_state("")
        if self._document is None:
            self._causes.show([])
            return
        commands = {command["run"]: id for id, command in app_of(self).knowledge.commands().items()}
        many = len(self._read_logs) > 1
        items = cause_items(self._document, self._session.set_aside, commands, many, self.lang)
        self._causes.show(items, self._causes.highlighted or 0)

    def _show_log(self) -> None:
        self.set_class(not self._read_logs, "empty")
        self._panel.show(self._read_logs, self._evidence())

    def _evidence(self) -> set[Place]:
        """The lines that speak for what was not set aside."""
        matches = self._document["matches"] if self._document else []
        shown = (match for match in matches if match["id"] not in self._session.set_aside)
        return {Place(e["source"], e["line"]) for match in shown for e in match["evidence"]}

    @on(LineView.Moved, "#log")
    def explain_line(self) -> None:
        """Say in the lines at the foot what the codes under the cursor mean, or else the line where it is long."""
        line = self._view.line[:_LINE_CHARS]
        self._panel.show_title()
        rows = []
        for mention in find_codes(line, app_of(self).knowledge):
            row = app_of(self).knowledge.lookup(mention.family, mention.key)
            if row:
                rows.append(f"{row['code']} ({row['family']}): {choose(row['meaning'], self.lang)[0]}")
        shown = "; ".join(dict.fromkeys(rows)) or line
        self.query_one("#explained", Static).update(Text(printable(shown), "bold" if rows else "dim", overflow="fold"))

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
        knowledge = app_of(self).knowledge
        spellings = dict.fromkeys(mention.code for mention in find_codes(line[:_LINE_CHARS], knowledge))
        found = explain(list(spellings), knowledge, knowledge.entries_for_code)
        told = explanations_text(found, self.lang, False) if found else self.say("no codes")
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
            self.app.push_screen(
                ask, lambda note: self._keep_report(item.match, "wrong", note) if isinstance(note, str) else None
            )
        else:
            self._keep_report(item.match, "right", "")

    def action_not_it(self) -> None:
        """Set the cause under the cursor aside, and keep that it was wrong."""
        item = self._causes.chosen
        if item is None or not item.match:
            self.notify(self.say("no answer here"), markup=False)
            return
        self._session.set_aside ^= {item.match}
        if item.match in self._session.set_aside:
            self._keep_report(item.match, "wrong", "not it")
        self._show_causes()
        self._show_log()

    def _keep_report(self, entry: str, verdict: Any, note: str) -> None:
        from npu_kb.findings.feedback import report
        from npu_kb.findings.store import Store

        try:
            with Store.open() as store:
                row = report(store, verdict, entry, self._session.number, note)
        except NpuKbError as error:
            app_of(self).tell_error(error)
            return
        told = self.say("kept report", id=entry, verdict=self.say(verdict), right=row["right"], wrong=row["wrong"])
        self.notify(told, markup=False)

    # moving in the log

    def action_trouble(self, step: int) -> None:
        self._panel.go_to_trouble(step)

    def action_find(self) -> None:
        self.app.push_screen(AskDialog(self.say("find what")), self._panel.go_to_text)

    def action_evidence(self, step: int) -> None:
        self._panel.go_to_evidence(step)

    def action_only_evidence(self) -> None:
        self._panel.toggle_evidence_only()

    def action_next_rank(self) -> None:
        lines = self._session.diagnosis.log.lines if self._session.diagnosis else []
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
                self._session.open(path)
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
        running = [worker for worker in self.workers if worker.node is self and worker.is_running]
        for worker in running:
            worker.cancel()
        if running:
            self._show_state(self.say("cancelled"))
        self.set_class(False, "zoomed")

    def action_record(self) -> None:
        """Make an entry of the marked lines, or of all."""
        marked = self._panel.marked_text
        if self._read_logs and not marked and self._session.diagnosis is None:
            self.notify(self.say("working"), markup=False)
        else:
            app_of(self).record(marked)
