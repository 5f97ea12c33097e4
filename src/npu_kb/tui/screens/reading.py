"""What a screen needs to diagnose logs in a thread, telling how far it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from textual import on, work
from textual.worker import Worker, WorkerState, get_current_worker

from npu_kb.diagnosis.model import Diagnosis
from npu_kb.findings.journal import Journal
from npu_kb.intake.facts import Known
from npu_kb.render.document import diagnosis_document
from npu_kb.render.judgement import judgement_block
from npu_kb.render.markdown import diagnosis_markdown
from npu_kb.tui.logfile import Cancelled, LogFile
from npu_kb.tui.screens.base import PlaceScreen, app_of
from npu_kb.tui.session import Session, Stopped

if TYPE_CHECKING:
    from npu_kb.environment.judge import Judgement
    from npu_kb.environment.snapshot import Snapshot

_BLOCK_WIDTH = 80
_COUNTING = 0.3
"""The share of the work that counting lines is."""


class Answer(NamedTuple):
    """A diagnosis and its document, the machine that counts in, and which versions of both do not go together."""

    diagnosis: Diagnosis
    document: dict[str, Any]
    machine: Snapshot | None = None
    wrong_pairs: Sequence[Judgement] = ()

    def markdown(self, lang: str) -> str:
        """The whole of it, as `npu-kb why --format markdown` writes it."""
        pairs = judgement_block([*self.wrong_pairs], lang, _BLOCK_WIDTH) if self.wrong_pairs else ""
        return diagnosis_markdown(self.document, lang) + pairs


class ReadingScreen(PlaceScreen):
    """Subclasses show the state, the log as far as it is counted, and the answer."""

    with_machine = False
    """Whether this machine's facts count in."""

    def show_state(self, text: str) -> None:
        """Say how far it is."""
        raise NotImplementedError

    def show_log(self) -> None:
        """Show what there is of the logs."""
        raise NotImplementedError

    def use(self, answer: Answer) -> None:
        """Show an answer."""
        raise NotImplementedError

    @property
    def session(self) -> Session:
        """The logs, and what was found in them."""
        return app_of(self).session

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def read(self, logs: list[LogFile]) -> Answer:
        """Count the lines of the logs, and diagnose all of the session together, with the machine where it counts."""
        worker = get_current_worker()

        def cancelled() -> bool:
            return worker.is_cancelled

        for log in logs:
            log.count_lines(self._progress(0.0, _COUNTING), cancelled)
            self._from_thread(self.show_log)
        if not self.with_machine:
            return self._answer_of(cancelled)
        from npu_kb.environment.evidence import judged, known, unsupported

        self._from_thread(self.show_state, self.say("reading facts"))
        machine = app_of(self).this_machine.read(cancelled)
        answer = self._answer_of(cancelled, known(machine))
        wrong = unsupported(judged(machine, app_of(self).knowledge, answer.diagnosis.versions))
        return answer._replace(machine=machine, wrong_pairs=wrong)

    def _answer_of(self, cancelled: Cancelled, known: Known | None = None) -> Answer:
        knowledge, progress = app_of(self).knowledge, self._progress(_COUNTING, 1 - _COUNTING)
        diagnosis = self.session.read(knowledge, Journal().feedback, progress, cancelled, known)
        return Answer(diagnosis, diagnosis_document(diagnosis, knowledge))

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
        if isinstance(event.worker.result, Answer):
            self.use(event.worker.result)
        elif event.state is WorkerState.ERROR and event.worker.error and not isinstance(event.worker.error, Stopped):
            app_of(self).tell_error(event.worker.error)
