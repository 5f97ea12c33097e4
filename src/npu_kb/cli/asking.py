"""Questions on a terminal, and texts in the user's editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import termios
from contextlib import suppress
from pathlib import Path

from npu_kb.errors import NpuKbError
from npu_kb.intake.clean import printable


def ask(question: str, default: str = "") -> str:
    """One line from the terminal, or the default if it is empty; EOFError where the input ends."""
    shown = f" [{default}]" if default else ""
    sys.stderr.write(f"{question}{printable(shown)}: ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        sys.stderr.write("\n")
        raise EOFError
    return printable(line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")).strip() or default


def ask_until(question: str, refusal: str) -> str:
    """An answer that is not empty; `refusal` is said of one that is."""
    while not (answer := ask(question)):
        sys.stderr.write(f"{refusal}\n")
    return answer


def ask_one_of(question: str, choices: list[str], default: str, refusal: str) -> str:
    """An answer that is one of the choices, or nothing; `refusal` is said of any other."""
    while (answer := ask(question, default)) and answer not in choices:
        sys.stderr.write(f"{refusal}\n")
    return answer


def agrees(question: str) -> bool:
    """Whether the answer is yes; Enter means yes."""
    return ask(question, "y").lower() in ("y", "yes", "是")


def forget_typed() -> None:
    """Let go of what was typed while nobody asked, so that it answers no question."""
    with suppress(OSError, termios.error):  # no terminal
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def edited(text: str, name: str) -> str:
    """The text as the user leaves it in $VISUAL or $EDITOR, in a file of this name."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise NpuKbError("no editor is named; set VISUAL or EDITOR")
    with tempfile.TemporaryDirectory(prefix="npu-kb-") as folder:
        path = Path(folder) / name
        path.write_text(text, "utf-8")
        try:
            done = subprocess.run([*shlex.split(editor), str(path)], check=False)
            if done.returncode:
                raise NpuKbError(f"the editor {editor!r} failed; set VISUAL or EDITOR to another one")
            return path.read_text("utf-8")
        except (OSError, ValueError) as error:
            raise NpuKbError(f"the editor {editor!r} cannot be used: {error}; set VISUAL or EDITOR") from None
