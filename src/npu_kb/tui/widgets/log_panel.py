"""Several logs, one of them shown, with filters, marks and ways to move; its evidence comes from a diagnosis."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static
from textual.worker import get_current_worker

from npu_kb.intake.clean import printable
from npu_kb.intake.logtext import Line
from npu_kb.tui.causes import Place
from npu_kb.tui.logfile import TROUBLE, LogFile
from npu_kb.tui.screens.base import app_of
from npu_kb.tui.widgets.log_view import LogView
from npu_kb.tui.words import say


class LogPanel(Vertical):
    """The log part of the diagnosis."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self.log_file: LogFile | None = None
        self._logs: list[LogFile] = []
        self._evidence: set[Place] = set()
        self._rank_lines: Sequence[int] = ()
        """Numbers of the lines of the rank that is filtered for."""
        self._only = ""
        """`evidence`, or a rank, where lines are filtered."""
        self._mark_start = 0
        self.sought = ""
        """The text that was looked for last."""

    def compose(self) -> ComposeResult:
        yield Static(id="log-title", classes="title", markup=False)
        yield LogView(id="log")

    @property
    def view(self) -> LogView:
        """The lines."""
        return self.query_one(LogView)

    @property
    def place(self) -> Place | None:
        """The line under the cursor."""
        return Place(self.log_file.name, self.view.line_number) if self.log_file else None

    @property
    def marked_text(self) -> str:
        """The lines that the user marked."""
        log = self.log_file
        return "\n".join(log.line(number - 1) for number in self.view.marked) if log else ""

    def show(self, logs: list[LogFile], evidence: set[Place], log: LogFile | None = None) -> None:
        """Show one of these logs: the given one, else the one shown before."""
        self._logs, self._evidence = logs, evidence
        wanted, before = log or self.log_file, self.log_file
        self.log_file = wanted if wanted in logs else next(iter(logs), None)
        if self.log_file is not before:
            self._only, self._mark_start = self._only if logs and self._only == "evidence" else "", 0
        self.view.show(self.log_file, self._evidence_lines(), self._filtered())
        self.show_title()

    def show_title(self) -> None:
        """Say which log it is, how long, and how it is filtered."""
        lang = app_of(self).lang
        if self.log_file is None:
            return
        at, count = self._logs.index(self.log_file) + 1, len(self._logs)
        parts = [printable(self.log_file.name), f"{at}/{count}" if count > 1 else ""]
        parts.append(say("lines", lang, count=f"{self.log_file.line_count:,}"))
        if self._only:
            is_evidence = self._only == "evidence"
            parts.append(say("matched lines", lang) if is_evidence else say("rank", lang, rank=self._only))
        if self.view.marked:
            parts.append(say("marked", lang, count=len(self.view.marked)))
        self.query_one("#log-title", Static).update("  ".join(part for part in parts if part))

    def _evidence_lines(self) -> set[int]:
        """The numbers of the evidence lines of the log shown."""
        return {place.line for place in self._evidence if self.log_file and place.source == self.log_file.name}

    def _filtered(self) -> Sequence[int] | None:
        if not self._only or self.log_file is None:
            return None
        return sorted(self._evidence_lines()) if self._only == "evidence" else self._rank_lines

    def _show_again(self) -> None:
        self.show(self._logs, self._evidence)

    def go_to(self, place: Place) -> None:
        """Show a line of a log."""
        log = next((log for log in self._logs if log.name == place.source), None)
        if log is not None:
            if log is not self.log_file:
                self.show(self._logs, self._evidence, log)
            self.view.go_to(place.line)

    def go_to_trouble(self, step: int) -> None:
        """Go to the next (1) or previous (-1) line that speaks of an error."""
        if self.log_file:
            self._search(self.log_file, TROUBLE, step)

    def go_to_text(self, text: object) -> None:
        """Go to the next line that holds a text; behind the last one comes the first again."""
        if isinstance(text, str) and text and self.log_file:
            self.sought = text
            self._search(self.log_file, self.log_file.pattern_of(text), 1, around=True)

    @work(thread=True, exclusive=True, group="search")
    def _search(self, log: LogFile, pattern: re.Pattern[bytes], step: int, around: bool = False) -> None:
        """Go to the next line that fits; a large log is looked through while the screen stays alive."""
        worker, start = get_current_worker(), self.view.line_number - 1 + step
        self.app.call_from_thread(self._say_searching)
        found = log.find(pattern, start, step, lambda: worker.is_cancelled)
        if found is None and around:
            found = log.find(pattern, 0, step, lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._go_to_found, log, found)

    def _say_searching(self) -> None:
        self.query_one("#log-title", Static).update(say("searching", app_of(self).lang))

    def _go_to_found(self, log: LogFile, line: int | None) -> None:
        self.show_title()
        if line is None:
            self._say_no_more()
        elif log is self.log_file:
            self.view.go_to(line + 1)
            if self.view.line_number != line + 1:  # the filter leaves it out
                self._only = ""
                self._show_again()
                self.view.go_to(line + 1)
            self.view.focus()

    def _say_no_more(self) -> None:
        self.notify(say("no more", app_of(self).lang), timeout=2, markup=False)

    def go_to_evidence(self, step: int) -> None:
        """Go to the next (1) or previous (-1) line of evidence."""
        here = self.view.line_number
        lines = sorted(self._evidence_lines(), reverse=step < 0)
        line = next((line for line in lines if (line - here) * step > 0), None)
        if line is None:
            self._say_no_more()
        else:
            self.view.go_to(line)
            self.view.focus()

    def toggle_evidence_only(self) -> None:
        """Show only the lines of evidence, or all again."""
        self._only = "" if self._only == "evidence" else "evidence"
        self._show_again()

    def show_next_rank(self, lines: Sequence[Line]) -> None:
        """Show only the lines of one rank, of the next one, of all again; the `lines` of a diagnosis name the ranks."""
        log = self.log_file
        named = {line.rank for line in lines if line.rank and log and line.source == log.name}
        ranks = sorted(named, key=lambda rank: (len(rank), rank))
        if not ranks:
            self.notify(say("no ranks", app_of(self).lang), markup=False)
        order = ["", *ranks]
        at = order.index(self._only) if self._only in order else 0
        rank = order[(at + 1) % len(order)]
        if log and rank:
            self._find_rank(log, rank)
        else:
            self._show_rank(log, "", ())

    @work(thread=True, exclusive=True, group="search")
    def _find_rank(self, log: LogFile, rank: str) -> None:
        worker = get_current_worker()
        self.app.call_from_thread(self._say_searching)
        found = log.all_with(log.pattern_of(f"[{rank}]:"), lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._show_rank, log, rank, array("Q", (line + 1 for line in found)))

    def _show_rank(self, log: LogFile | None, rank: str, lines: Sequence[int]) -> None:
        if log is self.log_file:
            self._only, self._rank_lines = rank, lines
            self._show_again()

    def show_next_log(self) -> None:
        """Show the log behind the one shown."""
        if self.log_file:
            after = self._logs[(self._logs.index(self.log_file) + 1) % len(self._logs)]
            self.show(self._logs, self._evidence, after)

    def mark(self) -> None:
        """Mark from here on; again: up to here; once more: nothing."""
        view, here = self.view, self.view.line_number
        if self._mark_start:
            first, last = sorted((self._mark_start, here))
            view.marked, self._mark_start = range(first, last + 1), 0
        elif view.marked:
            view.marked = range(0)
        else:
            view.marked, self._mark_start = range(here, here + 1), here
        view.focus()
        view.refresh()
        self.show_title()
