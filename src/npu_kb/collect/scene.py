"""Keep the scene: run the plan, read the logs, redact all of it, and write it down with a manifest."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timezone
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from npu_kb.collect.archive import Archive, checksum
from npu_kb.collect.logfiles import Excerpt, LogFile, excerpt_of, is_binary, read_excerpt
from npu_kb.collect.plan import KERNEL_LOG, LeftOut, Plan, Step
from npu_kb.environment.root import Root
from npu_kb.environment.running import Output, Patience, command, missing, reading, together
from npu_kb.environment.snapshot import COLLECTED, Snapshot
from npu_kb.intake.clean import decode, printable
from npu_kb.intake.redact import names_in, redact
from npu_kb.version import __version__

SCHEMA = "npu-kb/scene/1"
MANIFEST = "manifest.json"
COMMANDS_SECONDS, LOGS_SECONDS = 90.0, 120.0
"""In all; what is not done by then is left out."""
_FILES_SECONDS = 4.0
_COMMAND_BYTES, _KERNEL_LOG_BYTES = 1_000_000, 16_000_000
_LOGS_AT_ONCE = 8
_MOST_NAMES = 500
"""Of people and machines that one file tells and that are looked for in the others."""
_CONTROL = re.compile(r"[^\n\t -~\u00a0-\u200a\u2010-\u2027\u2030-\u2060\u2070-\U0010ffff]")

Progress = Callable[[int, int, str], None]
"""Told how many of how many are done, and what comes next."""
T = TypeVar("T")


class Taken(NamedTuple):
    """A member of the archive: what it is of, how that went, when (UTC), and its bytes as they stand there."""

    name: str
    what: str
    status: str
    """`ok`, `cut` (the middle is left out), or what a missing part of a snapshot says: `failed`, `no answer` ..."""
    detail: str
    at: str
    seconds: float
    bytes: int
    sha256: str


class _Run(NamedTuple):
    output: Output
    began: float
    seconds: float


class Scene:
    """Puts everything into an archive, redacted, as long as there is room for it, and remembers what it did."""

    def __init__(self, archive: Archive, room: int, names: dict[str, str], progress: Progress) -> None:
        """`room` is for bytes before they are packed; `names` are people and machines to take out everywhere."""
        self._archive, self._room, self._names, self._progress = archive, room, names, progress
        self.patience = Patience()
        self.taken: list[Taken] = []
        self.left_out: list[LeftOut] = []

    def add_snapshot(self, snapshot: Snapshot) -> None:
        """The facts of the machine, and the files they were read from."""
        self._keep(COLLECTED, "npu-kb env save", _json(snapshot.document()))

    def add_files(self, root: Root, paths: list[str]) -> None:
        """The small files that say versions and limits, each below the command that would print it."""
        tasks = {path: partial(reading, path, partial(root.read, path)) for path in paths}
        for path, output in together(tasks, time.monotonic() + _FILES_SECONDS).items():
            self._keep_output(f"files{path}", f"cat {path}", _Run(output, time.time(), 0.0))

    def run(self, plan: Plan, root: Root) -> None:
        """The commands of a plan, many at once; a program that does not answer is soon left alone."""
        self.left_out += plan.left_out
        deadline, begun = time.monotonic() + COMMANDS_SECONDS, [""]

        def run_step(step: Step) -> _Run:
            begun.append(step.shown)
            return _run(step, deadline, root, self.patience)

        def tell() -> bool:
            self._progress(len(begun) - 1, len(plan.steps), begun[-1])
            return False

        runs = together({step.name: partial(run_step, step) for step in _by_turns(plan.steps)}, deadline, tell)
        for step in plan.steps:
            run = runs.get(step.name) or _Run(missing(step.shown, "no answer"), time.time(), 0.0)
            self._keep_output(f"commands/{step.name}.txt", step.shown, run)

    def add_logs(self, logs: list[LogFile]) -> None:
        """The logs in their order, until there is no room or no time left for more."""
        deadline, done = time.monotonic() + LOGS_SECONDS, 0
        for some in _batches(logs, _LOGS_AT_ONCE):
            if self._room <= 0 or time.monotonic() > deadline:
                break
            self._progress(done, len(logs), some[0].name)
            read = together({log.path: partial(_read, log.path) for log in some}, deadline)
            for log in some:
                self._keep_log(log, read.get(log.path, "no answer"))
            done += len(some)
        if rest := logs[done:]:
            size = sum(log.size for log in rest) / 1e6
            why = "the limit of the archive is reached (--max-mb)" if self._room <= 0 else "no time was left"
            self.left_out.append(LeftOut(f"{len(rest)} older log files, {size:.1f} MB", why))

    def finish(self, about: dict[str, Any]) -> dict[str, Any]:
        """Add the manifest, which is returned: what was taken, and what was not."""
        document = {
            "schema": SCHEMA,
            "made_by": f"npu-kb {__version__}",
            "at": _utc(time.time()),
            **about,
            "taken": [row._asdict() for row in self.taken],
            "left_out": [{"what": self._plain(row.what), "why": self._plain(row.why)} for row in self.left_out],
        }
        self._archive.add(MANIFEST, _json(document))
        return document

    def _keep_output(self, name: str, shown: str, run: _Run) -> None:
        """What a command printed, below its line; where it printed nothing and failed, that it is missing."""
        output = run.output
        if output.missing and not output.data.strip():
            self.left_out.append(LeftOut(shown, _reason(output)))
            return
        excerpt = excerpt_of(output.data)
        status = output.missing.why if output.missing else "cut" if excerpt.left_out else "ok"
        detail = output.missing.detail if output.missing else ""
        text = f"$ {shown}\n".encode("utf-8", "replace") + excerpt.data
        self._keep(name, shown, text, status, detail, run.began, run.seconds)

    def _keep_log(self, log: LogFile, read: Excerpt | str) -> None:
        if isinstance(read, str):
            self.left_out.append(LeftOut(log.path, read))
        else:
            self._keep(f"logs/{log.name}", log.path, read.data, "cut" if read.left_out else "ok", at=log.changed)

    def _keep(
        self, name: str, what: str, data: bytes, status: str = "ok", detail: str = "", at: float = 0, seconds: float = 0
    ) -> None:
        if is_binary(data):
            self.left_out.append(LeftOut(what, "is no text"))
        elif len(data) > self._room:
            self._room = 0
            self.left_out.append(LeftOut(what, "the limit of the archive is reached (--max-mb)"))
        else:
            self._room -= len(data)
            kept = self._plain(decode(data)).encode("utf-8", "replace")
            member = self._archive.add(self._plain(name), kept, at or None)
            texts = (member, self._plain(what), status, self._plain(detail), _utc(at or time.time()))
            self.taken.append(Taken(*texts, round(seconds, 2), len(kept), checksum(kept)))

    def _plain(self, text: str) -> str:
        """The text without escape sequences, people and machines."""
        if _CONTROL.search(text):
            text = "\n".join(printable(line) for line in text.split("\n"))
        if len(self._names) < _MOST_NAMES:
            self._names |= dict(islice(names_in(text).items(), _MOST_NAMES))
        return redact(text, self._names)


def _by_turns(steps: list[Step]) -> list[Step]:
    """The first step of each program, then the second ones: one that hangs does not keep the others waiting."""
    turns = Counter[str]()
    numbered: list[tuple[int, Step]] = []
    for step in steps:
        numbered.append((turns[step.line.arguments[0]], step))
        turns[step.line.arguments[0]] += 1
    return [step for _, step in sorted(numbered, key=lambda row: row[0])]


def _run(step: Step, deadline: float, root: Root, patience: Patience) -> _Run:
    most = _KERNEL_LOG_BYTES if step.name == KERNEL_LOG else _COMMAND_BYTES
    began, start = time.time(), time.monotonic()
    program, *words = step.line.arguments
    if program == "cat":
        output = _files(step.shown, words, root)
    else:
        run = partial(command, step.shown, step.line.runnable, deadline, most_bytes=most)
        output = patience.ask(program, step.shown, run)
    if not output.missing or output.missing.why == "too long":
        output = output._replace(data=step.line.filtered(output.data))
    return _Run(output, began, time.monotonic() - start)


def _files(shown: str, paths: list[str], root: Root) -> Output:
    """What `cat` would print of those files that are there: that one is not there is no failure of anything."""
    outputs = [reading(path, partial(root.read, path)) for path in paths]
    whole = b"".join(output.data for output in outputs)
    return Output(shown, whole, None if whole else outputs[0].missing)


def _read(path: str) -> Excerpt | str:
    """What is kept of a log, or why nothing is."""
    try:
        return read_excerpt(path)
    except OSError as error:
        return error.strerror or "cannot be read"


def _reason(output: Output) -> str:
    gone = output.missing
    return "" if gone is None else gone.why + (f" ({gone.detail})" if gone.detail else "")


def _batches(items: list[T], size: int) -> Iterator[list[T]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _json(document: Mapping[str, Any]) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")
