"""Read-only commands of commands.yaml as argument lists, run without a shell within limits of time and output."""

from __future__ import annotations

import glob
import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from npu_kb.tui.logfile import Cancelled

SECONDS = 20
OUTPUT_BYTES = 1_000_000
_PLACEHOLDER = re.compile(r"<([a-z]+(?:-[a-z]+)*)>")
_VALUE = re.compile(r"[\w.:/@%+,-]{1,200}", re.ASCII)
_SHELL = re.compile(r"[;&<>`\n]|\$|(?<!\S)[({]")
"""What only a shell understands, and we therefore do not run."""

Pipeline = list[list[str]]
"""Argument lists, each reading what the one before prints."""


class Output(NamedTuple):
    """What a command printed, both streams together; `end` is `done`, `time`, `size`, `cancelled` or `failed`."""

    text: str
    end: str
    status: int | None = None


def placeholders(run: str) -> list[str]:
    """The names that are to be filled in before a command can run, each once."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(run)))


def filled(run: str, values: dict[str, str]) -> str | None:
    """The command with its placeholders replaced; None while one is missing, or holds what is no plain word."""
    if not all(_VALUE.fullmatch(values.get(name, "")) and values[name][0] != "-" for name in placeholders(run)):
        return None
    return _PLACEHOLDER.sub(lambda found: values[found[1]], run)


def is_runnable(command: dict[str, Any]) -> bool:
    """Whether it reads only and needs no shell (once its placeholders are filled)."""
    example = filled(command["run"], dict.fromkeys(placeholders(command["run"]), "0"))
    return command.get("effect") == "read" and example is not None and pipeline(example) is not None


def pipeline(run: str) -> Pipeline | None:
    """A command line as argument lists, `~` and file patterns written out; None if it takes a shell."""
    if "\n" in run:
        return None
    lexer = shlex.shlex(run, posix=False, punctuation_chars="|")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        return None
    stages: Pipeline = [[]]
    for word in words:
        if word == "|":
            stages.append([])
        elif set(word) == {"|"} or _takes_shell(word):
            return None
        else:
            stages[-1] += _expanded(word)
    return stages if all(stages) else None


def _takes_shell(word: str) -> bool:
    """Whether something outside of quotes, or a `$` or backquote in double ones, is left to a shell."""
    outside = re.sub(r"'[^']*'", "", re.sub(r'"(?:\\.|[^"\\$`])*"', "", word))
    return bool(_SHELL.search(outside)) or '"' in outside or "'" in outside


def _expanded(word: str) -> list[str]:
    """The arguments that a shell would make of a word."""
    plain = shlex.split(word, comments=False)
    if any(quote in word for quote in "\"'\\") or not plain:
        return plain or [""]
    path = str(Path(plain[0]).expanduser()) if plain[0].startswith("~") else plain[0]
    return sorted(glob.glob(path))[:500] or [path] if glob.has_magic(path) else [path]  # noqa: PTH207


def run(stages: Pipeline, cancelled: Cancelled, seconds: float = SECONDS, most: int = OUTPUT_BYTES) -> Output:
    """Run them side by side; what was printed within the limits, however they end."""
    missing = next((stage[0] for stage in stages if shutil.which(stage[0]) is None), None)
    if missing:
        return Output(f"{missing}: command not found", "failed", 127)
    processes: list[subprocess.Popen[bytes]] = []
    try:
        return _collected(_started(stages, processes), processes[-1], cancelled, seconds, most)
    except OSError as error:
        return Output(
            f"{stages[len(processes)][0] if len(processes) < len(stages) else ''}: {error.strerror}", "failed"
        )
    finally:
        for process in processes:
            _end(process)


def _started(stages: Pipeline, processes: list[subprocess.Popen[bytes]]) -> int:
    """Start all stages; the descriptor from which all that is printed can be read."""
    read_end, write_end = os.pipe()
    source: Any = subprocess.DEVNULL
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "PAGER": "cat", "SYSTEMD_PAGER": ""}
    try:
        for number, stage in enumerate(stages, 1):
            target = write_end if number == len(stages) else subprocess.PIPE
            process = subprocess.Popen(
                stage, stdin=source, stdout=target, stderr=write_end, env=environment, start_new_session=True
            )
            processes.append(process)
            if source is not subprocess.DEVNULL:
                source.close()
            source = process.stdout
    except BaseException:
        os.close(read_end)
        raise
    finally:
        os.close(write_end)
    return read_end


def _collected(
    descriptor: int, last: subprocess.Popen[bytes], cancelled: Cancelled, seconds: float, most: int
) -> Output:
    end_time = time.monotonic() + seconds
    data, end = b"", "done"
    with os.fdopen(descriptor, "rb", 0) as stream, selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            if cancelled() or time.monotonic() > end_time or len(data) > most:
                end = "cancelled" if cancelled() else "size" if len(data) > most else "time"
                break
            if selector.select(0.1):
                piece = os.read(descriptor, 65_536)
                if not piece:
                    break
                data += piece
    status = last.wait(1) if end == "done" and _ends(last) else None
    return Output(data[:most].decode("utf-8", "replace"), end, status)


def _ends(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(1)
    except subprocess.TimeoutExpired:
        return False
    return True


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process of ours and what it started."""
    if process.stdout:
        process.stdout.close()
    if process.poll() is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGTERM)
        if not _ends(process):
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
