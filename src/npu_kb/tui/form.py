"""A new entry in the making: the fields of the form, and all that `npu-kb record` says of them. Knows no widgets."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import get_args

from npu_kb.errors import NpuKbError, Problem
from npu_kb.findings.draft import Draft
from npu_kb.findings.duplicates import Near
from npu_kb.findings.recording import Recording
from npu_kb.findings.write import author_of, chosen_kb, companions, entry_path, place
from npu_kb.intake.logtext import LogText
from npu_kb.knowledge.base import Knowledge
from npu_kb.knowledge.entry import Effect, Layer, Severity

_SAID = ("title", "cause", "fix")
_QUOTED = ("symptom", "verify")


@dataclass
class Judged:
    """What is to be said of the fields as they are."""

    suggestions: dict[str, str] = field(default_factory=dict)
    near: list[Near] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    text: str = ""
    path: Path = field(default_factory=Path)
    checked: bool = False
    """Whether the gates were asked: they are once nothing is missing."""

    @property
    def is_clean(self) -> bool:
        """Whether it may be saved."""
        return self.checked and all(problem.is_warning for problem in self.problems)


class Form:
    """The form of one finding; its methods are slow and belong into a thread, one at a time."""

    def __init__(self, log: LogText, knowledge: Knowledge, given_kb: str | None) -> None:
        self.kb = chosen_kb(given_kb)
        draft = Draft.of(log)
        if not draft.excerpt:
            raise NpuKbError("these lines hold nothing to record; mark others")
        self._start = draft
        self._recording = Recording(draft, log, knowledge, companions(self.kb))
        self._author = author_of(self.kb)
        self._lock = Lock()
        self.choices: dict[str, tuple[str, ...]] = {
            "fix.effect": get_args(Effect),
            "layer": get_args(Layer),
            "topic": tuple(knowledge.topics()),
            "severity": get_args(Severity),
        }
        self.proposals = self._recording.proposals
        answer = self._recording.answer()
        self.answered = answer.entry["id"] if answer else ""
        """The entry or one-line fault that answers these lines already."""
        self.answered_in = self._recording.file_of(answer.entry) if answer else None
        """The file in which that stands."""

    @property
    def excerpt(self) -> list[str]:
        """The redacted lines that the entry is from."""
        return self._start.excerpt

    @staticmethod
    def paths(lang: str) -> list[str]:
        """The fields in the order in which they are asked for, the interface's language first."""
        langs = ("zh", "en") if lang == "zh" else ("en", "zh")
        said = [f"{name}.{lang}" for name in _SAID for lang in langs]
        quoted = [f"{name}.{lang}" for name in _QUOTED for lang in langs]
        return [*said, "fix.run", "fix.effect", *quoted, "layer", "topic", "severity", "id"]

    def judge(self, values: dict[str, str], picks: list[int]) -> Judged:
        """What `npu-kb record` says of these values; `picks` are numbers of proposals, from 1."""
        with self._lock:
            recording = self._recording
            recording.draft = Draft(self._start.excerpt, self._start.versions, names=self._start.names)
            for path, value in values.items():
                if value.strip():
                    recording.draft.set(path, value.strip())
            if picks:
                recording.choose(picks)
            near = recording.near()
            suggestions = recording.suggestions()
            for path, value in suggestions.items():
                recording.draft.set(path, value)
            judged = Judged(suggestions, near, recording.draft.missing(), text=recording.text(near, self._author))
            judged.path = entry_path(self.kb, judged.text)
            if not judged.missing:
                judged.problems, _ = recording.check(judged.text, judged.path)
                judged.checked = True
            return judged

    @staticmethod
    def save(judged: Judged) -> None:
        """Write a clean entry; NpuKbError if that is not possible."""
        place(judged.text, judged.path)
