"""What one does with the logs themselves: bring them, move in them, filter, mark and explain their lines."""

from __future__ import annotations

from rich.text import Text
from textual import on
from textual.widgets import Static

from npu_kb.errors import NpuKbError
from npu_kb.intake.clean import printable
from npu_kb.tui.line_codes import full_meaning, short_meaning
from npu_kb.tui.screens.base import app_of
from npu_kb.tui.screens.dialogs import AskDialog, TextDialog
from npu_kb.tui.screens.opening import OpenDialog, PasteDialog
from npu_kb.tui.screens.reading import ReadingScreen
from npu_kb.tui.widgets.line_view import LineView
from npu_kb.tui.widgets.log_panel import LogPanel
from npu_kb.tui.widgets.log_view import LogView

_LINE_CHARS = 2_000


class LogsScreen(ReadingScreen):
    """Subclasses hold a LogPanel, and below it a line `#explained`."""

    @property
    def panel(self) -> LogPanel:
        """The logs."""
        return self.query_one(LogPanel)

    @property
    def view(self) -> LogView:
        """The lines of the log shown."""
        return self.panel.view

    @on(LineView.Moved, "#log")
    def explain_line(self) -> None:
        """Say in the lines at the foot what the codes under the cursor mean, or else the line where it is long."""
        self.panel.show_title()
        meaning = short_meaning(self.view.line, app_of(self).knowledge, self.lang)
        shown = printable(meaning or self.view.line[:_LINE_CHARS])
        self.query_one("#explained", Static).update(Text(shown, "bold" if meaning else "dim", overflow="fold"))

    def action_codes(self) -> None:
        """The whole line, and everything about its codes."""
        line = self.view.line
        place = self.panel.place
        if not place or not line.strip():
            return
        told = full_meaning(line, app_of(self).knowledge, self.lang) or self.say("no codes")
        title = self.say("line of", line=place.line, log=printable(place.source))
        self.app.push_screen(TextDialog(title, Text.assemble(line[:100_000], "\n\n", (told, "bold"))))

    def action_trouble(self, step: int) -> None:
        self.panel.go_to_trouble(step)

    def action_find(self) -> None:
        self.app.push_screen(AskDialog(self.say("find what"), self.panel.sought), self.panel.go_to_text)

    def action_evidence(self, step: int) -> None:
        self.panel.go_to_evidence(step)

    def action_only_evidence(self) -> None:
        self.panel.toggle_evidence_only()

    def action_whole_lines(self) -> None:
        self.view.toggle_whole_lines()

    def action_next_rank(self) -> None:
        lines = self.session.diagnosis.log.lines if self.session.diagnosis else []
        self.panel.show_next_rank(lines)

    def action_next_log(self) -> None:
        self.panel.show_next_log()

    def action_mark(self) -> None:
        self.panel.mark()

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

    def action_zoom(self) -> None:
        self.toggle_class("zoomed")

    def action_cancel(self) -> None:
        running = [worker for worker in self.workers if worker.node in (self, self.panel) and worker.is_running]
        for worker in running:
            worker.cancel()
        if running:
            self.show_state(self.say("cancelled"))
            self.panel.show_title()
        self.set_class(False, "zoomed")
