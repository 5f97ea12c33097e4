"""The desk at which a finding becomes an entry: shows, asks where it may, keeps what is unfinished, writes."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, get_args

import yaml

from npu_kb.cli.asking import agrees, ask, ask_one_of, ask_until, edited, forget_typed
from npu_kb.cli.options import FOUND, NONE, language, width
from npu_kb.errors import NpuKbError, StoreError
from npu_kb.findings.draft import REQUIRED
from npu_kb.findings.recording import Recording
from npu_kb.findings.store import Store
from npu_kb.findings.write import author_of, entry_path, is_read, place, repository_of
from npu_kb.knowledge.entry import Effect, Layer, Severity
from npu_kb.render.record import (
    answer_text,
    filed_text,
    missing_text,
    near_text,
    problems_text,
    proposals_text,
    say,
    written_text,
)


class _Checked(NamedTuple):
    """The text of an entry, its place, whether it may not be written, and the id then claimed first on the log."""

    text: str
    path: Path
    faulty: bool
    first: str | None


class Desk:
    """One run of `npu-kb record`; `kb` is the folder that the entry goes to, None with --out.

    What is said while somebody is asked goes to the terminal. Else it is the answer, and given at the end, so that a
    reader who leaves early stops nothing.
    """

    def __init__(self, options: argparse.Namespace, recording: Recording, kb: Path | None) -> None:
        self.options = options
        self.recording = recording
        self.draft = recording.draft
        self.kb = kb
        self.lang = language(options)
        self.number: int | None = options.resume
        self.asks = not options.yes and sys.stdin is not None and sys.stdin.isatty()
        self._guessed: list[str] = []
        """Of layer and topic those that nobody named."""
        self._unsaid: list[str] = []

    def run(self) -> int:
        """Write the entry or keep the finding; the exit status."""
        try:
            status = self._record()
        except KeyboardInterrupt:
            sys.stderr.write(f"\n{self._keep()}\n")
            raise
        except (EOFError, NpuKbError) as error:
            with suppress(OSError):  # what went wrong matters more than a reader who left
                self._tell()
            raise NpuKbError("; ".join(filter(None, (str(error) or "the input ended", self._keep())))) from None
        self._tell()
        return status

    def _tell(self) -> None:
        """Say what was not said yet."""
        (sys.stderr if self.options.out == "-" else sys.stdout).write("".join(self._unsaid))

    def _say(self, text: str) -> None:
        self._unsaid.append(text)
        if self.asks:
            print(*self._unsaid, sep="", end="", file=sys.stderr, flush=True)
            self._unsaid.clear()

    def _record(self) -> int:
        if self.asks:
            self._keep()
        self._show()
        if not self.draft.text:
            self._complete()
        author = author_of(self.kb) if self.kb else None
        return self._finish(self.recording.text(self.recording.near(), author))

    def _show(self) -> None:
        """What answers the log already, what could recognise it (and which of that is taken), and what comes near."""
        if answer := self.recording.answer():
            file = self.recording.file_of(answer.entry)
            self._say(answer_text(answer, file, self.lang))
            decided = self.asks or self.options.yes or self.options.dry_run
            if answer.is_claim and answer.entry["role"] == "root" and not decided:
                known = f"{answer.entry['id']} ({file})" if file else answer.entry["id"]
                raise NpuKbError(f"already answered by {known}; extend that one, or say --yes for a new entry")
        if not self.draft.text and (self.options.pick or not self.draft.get("match")):
            self._propose()
        self._say(near_text(self.recording.near(), self.lang, width()))

    def _propose(self) -> None:
        """Show what could recognise the log, and take what is picked."""
        if self.asks:
            self._say(say("trying", self.lang) + "\n")
        proposals = self.recording.proposals
        self._say(proposals_text(proposals, self.recording.known, self.lang, width()))
        usable = bool(proposals) and not proposals[0].good_logs
        if usable and self.asks and not self.options.pick:
            self._pick()
        elif usable or (proposals and not self.options.edit):
            self.recording.choose(_numbers(self.options.pick or "1"), self.options.proves)
        elif self.asks and not self.options.edit:
            raise NpuKbError(say("no proposals", self.lang))

    def _pick(self) -> None:
        """Ask until the answer names proposals."""
        forget_typed()
        while not self.draft.get("match"):
            try:
                self.recording.choose(_numbers(ask(say("which", self.lang), "1")), self.options.proves)
            except NpuKbError as error:
                sys.stderr.write(f"{error}\n")

    def _complete(self) -> None:
        """Ask for what is missing, or leave that to the editor; take what is suggested where nobody is asked."""
        told = [f"{name}.{lang}" for name in ("title", "cause", "fix") for lang in self._languages()]
        quoted = [f"{name}.{lang}" for name in ("symptom", "verify") for lang in self._languages()]
        asks = self.asks and not self.options.edit
        if asks:
            self._ask(told, {})
        suggestions = self.recording.suggestions()
        if asks:
            self._ask(["fix.run", "fix.effect", *quoted, "layer", "topic", "severity", "id"], suggestions)
        missing = [path for path in self.draft.missing() if path not in suggestions]
        if missing and not self.options.edit:
            raise NpuKbError(missing_text(missing, self.lang))
        for path, value in suggestions.items():
            if not self.draft.get(path):
                self.draft.set(path, value)
                self._guessed += [path] if path in ("layer", "topic") and not self.options.edit else []

    def _languages(self) -> tuple[str, str]:
        """The languages of an entry, the interface's first."""
        return ("zh", "en") if self.lang == "zh" else ("en", "zh")

    def _ask(self, paths: list[str], suggestions: dict[str, str]) -> None:
        """Ask for each field that is not filled; an empty answer leaves it, unless no entry goes without."""
        choices = {
            "layer": list(get_args(Layer)),
            "topic": list(self.recording.knowledge.topics()),
            "severity": list(get_args(Severity)),
            "fix.effect": list(get_args(Effect)),
        }
        for path in paths:
            if self.draft.get(path):
                continue
            question, default = say(path, self.lang), suggestions.get(path, "")
            if path in choices:
                refusal = say("allowed", self.lang, choices=", ".join(choices[path]))
                answer = ask_one_of(question, choices[path], default, refusal)
            elif path in REQUIRED and not default:
                answer = ask_until(question, say("needed", self.lang))
            else:
                answer = ask(question, default)
            if answer:
                self.draft.set(path, answer)
                self._keep()

    def _finish(self, text: str) -> int:
        """Check the entry, let it be edited, and write it if nothing is wrong with it."""
        checked = self._edited(text) if self.options.edit else self._checked(text)
        if self.options.dry_run:
            sys.stdout.write(checked.text)
        elif checked.faulty or (self.asks and not agrees(say("write?", self.lang))):
            self._say(self._keep() + "\n")
            return NONE
        else:
            self._write(checked)
        return NONE if checked.faulty else FOUND

    def _checked(self, text: str) -> _Checked:
        """The text with what is wrong with it, which is shown."""
        path = entry_path(self.kb, text)
        if self.asks and not self.options.edit:
            self._say(f"\n{text}\n{say('checking', self.lang)}\n")
        problems, first = self.recording.check(text, path)
        if self.asks:
            forget_typed()
        self._say(problems_text(problems, self.lang))
        return _Checked(text, path, any(not problem.is_warning for problem in problems), first)

    def _edited(self, text: str) -> _Checked:
        """The text after as many rounds in the editor as it takes to be clean, or to be given up."""
        checked = None
        while True:
            before, text = text, edited(text, entry_path(None, text).name)
            self.draft.text = text
            if checked and text == before:
                return checked
            checked = self._checked(text)
            if not checked.faulty or (self.asks and not agrees(say("edit?", self.lang))):
                return checked

    def _write(self, checked: _Checked) -> None:
        """Put the entry where it goes, and drop the finding."""
        if self.options.out == "-":
            sys.stdout.write(checked.text)
        else:
            target = Path(self.options.out or checked.path)
            place(checked.text, target)
            repository = repository_of(target.parent)
            home = None if self.kb and is_read(self.kb) else self.kb or target.parent
            self._unsaid.append(written_text(target, repository, checked.path.stem, checked.first, home, self.lang))
            self._unsaid.append(filed_text(yaml.safe_load(checked.text), self._guessed, self.lang))
        if self.number:
            with suppress(StoreError), Store.open() as store:
                store.drop_finding(self.number)

    def _keep(self) -> str:
        """Keep the finding as unfinished and say under which number, or why not; nothing with --dry-run."""
        if self.options.dry_run:
            return ""
        try:
            with Store.open() as store:
                self.number = store.save_finding(self.draft.document(), self.number)
        except StoreError as error:
            return say("not kept", self.lang, error=error)
        return say("kept", self.lang, number=self.number)


def _numbers(text: str) -> list[int]:
    """The numbers of a list such as `1,3`."""
    parts = text.replace(",", " ").split()
    if not parts or not all(part.isdecimal() for part in parts):
        raise NpuKbError(f"{text!r} is no list of numbers; write such as 1 or 1,2")
    return [int(part) for part in parts]
