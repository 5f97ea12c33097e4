"""`npu-kb explain`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from npu_kb.cli.options import (
    add_output,
    colour,
    language,
    load_knowledge,
    width,
)

if TYPE_CHECKING:
    from npu_kb.knowledge.base import Knowledge
    from npu_kb.render.codes import Killed

_SIGNALS = ("SIGABRT", "SIGBUS", "SIGKILL", "SIGSEGV", "SIGTERM")
_SHELL_BASE = 128
"""What a shell or container engine adds to the signal that ended a process."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("codes", nargs="+", metavar="CODE", help="507018, EZ9999, 0x7020016, ERR00100, -8020, EI ...")
    add_output(parser, ["text", "json"])


def run(options: argparse.Namespace) -> int:
    from npu_kb.render.codes import explain_command

    knowledge = load_knowledge(options)
    text, status = explain_command(
        options.codes,
        knowledge,
        language(options),
        options.format,
        colour(options),
        width(),
        _killed(options.codes, knowledge),
    )
    sys.stdout.write(text)
    return status


def _killed(words: list[str], knowledge: Knowledge) -> dict[str, Killed]:
    """Of the words that are exit statuses of killed processes: by what, and the entries that `why` has for it."""
    import signal

    from npu_kb.diagnosis.diagnose import diagnose
    from npu_kb.intake.logtext import LogText
    from npu_kb.render.codes import Killed

    found = {}
    for name in _SIGNALS:
        number = int(signal.Signals[name])
        if (word := str(_SHELL_BASE + number)) in words:
            said = f"exit code {word}\nexitcode  : -{number} (pid: 1)\n{signal.strsignal(number)} (core dumped)"
            matches = diagnose(LogText.of(said), knowledge, suggest=False).matches
            found[word] = Killed(
                number, name, [{key: match.entry[key] for key in ("id", "title")} for match in matches]
            )
    return found
