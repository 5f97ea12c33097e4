"""What is being diagnosed: logs, pastes and outputs of commands, and the diagnosis of them all together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import BinaryIO

from npu_kb.diagnosis.diagnose import diagnose
from npu_kb.diagnosis.model import Diagnosis, Reports
from npu_kb.diagnosis.scan import LiteralInterest
from npu_kb.errors import NpuKbError
from npu_kb.intake.facts import Known
from npu_kb.intake.logtext import Line, LogText
from npu_kb.intake.sources import files_in, read_stream
from npu_kb.knowledge.base import Knowledge
from npu_kb.tui.logfile import Cancelled, LogFile


class Stopped(Exception):
    """The user cancelled it."""


class Session:
    """Logs in the order in which they came, and what was found in them."""

    def __init__(self) -> None:
        self.logs: list[LogFile] = []
        self.diagnosis: Diagnosis | None = None
        self.number: int | None = None
        """Of the diagnosis in the store."""
        self.set_aside: dict[str, int | None] = {}
        """Ids of the answers that the user said are not it, and the numbers of these reports in the store."""

    def open(self, name: str) -> None:
        """Add a file, or all files of a folder; NpuKbError if one cannot be read."""
        try:
            paths = files_in(name) if Path(name).is_dir() else [name]
        except OSError as error:
            raise NpuKbError(f"{name}: cannot be read: {error.strerror}; give a readable folder") from None
        self.logs += [LogFile.of_path(path) for path in paths]

    def add_text(self, name: str, text: str) -> LogFile:
        """Add a paste or the output of a command; a name that is taken gets a number."""
        taken = {log.name for log in self.logs}
        names = (name, *(f"{name} ({number})" for number in range(2, len(taken) + 3)))
        self.logs.append(LogFile.of_text(next(free for free in names if free not in taken), text))
        return self.logs[-1]

    @property
    def read_lines(self) -> LogText | None:
        """The lines of the logs that the diagnosis is of; not those of the machine, which may stand behind them."""
        names = {log.name for log in self.logs}
        return LogText([line for line in self.diagnosis.log.lines if line.source in names]) if self.diagnosis else None

    def close(self) -> None:
        """Let go of the files."""
        for log in self.logs:
            log.close()

    def read(
        self,
        knowledge: Knowledge,
        feedback: Mapping[str, Reports],
        progress: Callable[[float], None],
        cancelled: Cancelled,
        known: Known | None = None,
    ) -> Diagnosis:
        """The diagnosis of all logs, and of what is known beside them; raises Stopped once `cancelled` says so.

        Changes nothing.
        """
        interest = LiteralInterest(knowledge)
        total = sum(log.size for log in self.logs) or 1
        lines: list[Line] = []
        done = 0
        for log in list(self.logs):
            watched = _Watched(log.stream(), partial(_told, progress, done, total), cancelled)
            lines += read_stream(watched, log.name, interest)  # type: ignore[arg-type]
            done += log.size
        return diagnose(LogText(lines), knowledge, feedback=feedback, known=known)


def _told(progress: Callable[[float], None], done: int, total: int, at: int) -> None:
    progress((done + at) / total)


class _Watched:
    """A stream that tells how far it was read, and can be stopped."""

    def __init__(self, stream: BinaryIO, told: Callable[[int], None], cancelled: Cancelled) -> None:
        self._stream = stream
        self._told = told
        self._cancelled = cancelled
        self._at = 0

    def read(self, size: int) -> bytes:
        if self._cancelled():
            raise Stopped
        data = self._stream.read(size)
        self._at += len(data)
        self._told(self._at)
        return data
