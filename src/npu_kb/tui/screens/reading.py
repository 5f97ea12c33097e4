"""What a screen needs to diagnose logs in a thread, telling how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual import on, work
from textual.worker import Worker, WorkerState, get_current_worker

from npu_kb.diagnosis.model import Diagnosis
from npu_kb.findings.journal import Journal
from npu_kb.tui.logfile import LogFile
from npu_kb.tui.screens.base import PlaceScreen, app_of
from npu_kb.tui.session import Session, Stopped

_COUNTING = 0.3
"""The share of the work that counting lines is."""


class ReadingScreen(PlaceScreen):
    """Subclasses show the state, the log as far as it is counted, and the diagnosis."""

    def show_state(self, text: str) -> None:
        """Say how far it is."""
        raise NotImplementedError

    def show_log(self) -> None:
        """Show what there is of the logs."""
        raise NotImplementedError

    def use(self, diagnosis: Diagnosis) -> None:
        """Show a diagnosis."""
        raise NotImplementedError

    @property
    def session(self) -> Session:
        """The logs, and what was found in them."""
        return app_of(self).session

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def read(self, logs: list[LogFile]) -> Diagnosis:
        """Count the lines of the logs, and diagnose all of the session together."""
        worker = get_current_worker()

        def cancelled() -> bool:
            return worker.is_cancelled

        for log in logs:
            log.count_lines(self._progress(0.0, _COUNTING), cancelled)
            self._from_thread(self.show_log)
        feedback = Journal().feedback
        return self.session.read(app_of(self).knowledge, feedback, self._progress(_COUNTING, 1 - _COUNTING), cancelled)

    def _progress(self, start: float, share: float) -> Callable[[float], None]:
        told = -1

        def tell(part: float) -> None:
            nonlocal told
            percent = int(100 * (start + share * part))
            if percent > told:
                told = percent
                text = self.say("reading", percent=percent) if percent < 100 else self.say("working")
                self._from_thread(self.show_state, text)

        return tell

    def _from_thread(self, call: Any, *arguments: Any) -> None:
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(call, *arguments)

    @on(Worker.StateChanged)
    def read_ended(self, event: Worker.StateChanged) -> None:
        if event.worker.group != "read":
            return
        if isinstance(event.worker.result, Diagnosis):
            self.use(event.worker.result)
        elif event.state is WorkerState.ERROR and event.worker.error and not isinstance(event.worker.error, Stopped):
            app_of(self).tell_error(event.worker.error)
