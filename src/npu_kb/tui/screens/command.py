"""Run a read-only command: shown exactly, confirmed, within limits, its output to read."""

from __future__ import annotations

from typing import Any

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Button, Input, Static
from textual.worker import get_current_worker

from npu_kb.intake.clean import printable
from npu_kb.render.text import choose
from npu_kb.tui.keys import Key, bindings
from npu_kb.tui.logfile import LogFile
from npu_kb.tui.running import OUTPUT_BYTES, SECONDS, Output, Pipeline, filled, pipeline, placeholders, run
from npu_kb.tui.screens.base import Dialog, app_of
from npu_kb.tui.widgets.log_view import LogView


class ConfirmDialog(Dialog):
    """Answers the argument lists that the user agreed to run."""

    def __init__(self, command: dict[str, Any]) -> None:
        super().__init__()
        self._command = command
        self._values: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Static(self.say("run this"), classes="title", markup=False)
            with VerticalScroll(can_focus=False):
                yield Static(id="exactly", markup=False)
                for name in placeholders(self._command["run"]):
                    yield Input(name=name, placeholder=f"<{name}>: {self._meaning(name)}")
            with Horizontal(classes="buttons"):
                yield Button(self.say("yes run"), id="yes", compact=True)
                yield Button(self.say("no"), id="no", compact=True)

    def on_mount(self) -> None:
        self._show()
        first = self.query(Input).first() if self.query(Input) else self.query_one("#no")
        first.focus()

    def _meaning(self, name: str) -> str:
        meaning = (self._command.get("placeholders") or {}).get(name)
        return printable(choose(meaning, self.lang)[0]) if meaning else ""

    @property
    def _stages(self) -> Pipeline | None:
        line = filled(self._command["run"], self._values)
        return pipeline(line) if line else None

    def _show(self) -> None:
        """The argument lists as they would be run, and what to mind."""
        limits = self.say("arguments", seconds=SECONDS, bytes=f"{OUTPUT_BYTES:,}")
        shown = Text.assemble((f"$ {printable(self._command['run'])}\n\n", "cyan"), (limits + "\n", "dim"))
        stages = self._stages
        for number, stage in enumerate(stages or []):
            if number:
                shown.append(f"  | {self.say('reads into')}\n", "dim")
            shown.append(f"  {[printable(word) for word in stage]!r}\n", "bold")
        if self._command.get("root"):
            shown.append(self.say("needs root") + "\n", "yellow")
        if note := self._command.get("note"):
            shown.append(printable(choose(note, self.lang)[0]) + "\n")
        self.query_one("#exactly", Static).update(shown)
        self.query_one("#yes", Button).disabled = stages is None

    @on(Input.Changed)
    def fill(self, event: Input.Changed) -> None:
        self._values[str(event.input.name)] = event.value
        self._show()

    @on(Input.Submitted)
    def to_button(self) -> None:
        if self._stages:
            self.query_one("#yes").focus()

    @on(Button.Pressed, "#yes")
    def agree(self) -> None:
        self.dismiss(self._stages)

    @on(Button.Pressed, "#no")
    def refuse(self) -> None:
        self.dismiss(None)


class OutputDialog(Dialog):
    """Runs argument lists and shows what they print; answers the output as text."""

    BINDINGS = bindings([Key("q", "close", "back"), Key("y", "copy", "copy")])

    def __init__(self, command: dict[str, Any], stages: Pipeline) -> None:
        super().__init__()
        self._command, self._stages = command, stages
        self._output: Output | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Static(self.say("running"), id="state", classes="title", markup=False)
            yield LogView()
            if trouble := self._command.get("trouble"):
                text = f"{self.say('trouble')}: {printable(choose(trouble, self.lang)[0])}"
                yield Static(text, id="trouble", markup=False)

    def on_mount(self) -> None:
        self.query_one(LogView).focus()
        self._run()

    @work(thread=True, exclusive=True)
    def _run(self) -> None:
        worker = get_current_worker()
        output = run(self._stages, lambda: worker.is_cancelled)
        self.app.call_from_thread(self._show, output)

    def _show(self, output: Output) -> None:
        self._output = output
        log = LogFile.of_text("output", output.text)
        log.count_lines(lambda part: None, lambda: False)
        self.query_one(LogView).show(log, set())
        ended = self.say(f"ended {output.end}", status=output.status)
        self.query_one("#state", Static).update(f"$ {printable(self._command['run'])}   {ended}")

    def action_copy(self) -> None:
        if self._output:
            app_of(self).copy(self._output.text)

    def action_close(self) -> None:
        """Stop it if it still runs; else give its output back, unless there was no such command."""
        if self._output is None:
            self.workers.cancel_node(self)
        output = self._output
        self.dismiss(output.text if output and output.end != "failed" and output.text.strip() else None)
