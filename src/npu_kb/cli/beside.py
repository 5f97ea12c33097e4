"""What `why` says of versions beside its answer: those of a log, and of the machine that `--env` counts in."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from npu_kb.cli.options import colour, language, width
from npu_kb.environment.evidence import judged, known, snapshot_beside, unsupported
from npu_kb.environment.judge import Judgement, judge
from npu_kb.render.judgement import judgement_block, judgement_document, judgement_text

if TYPE_CHECKING:
    from npu_kb.knowledge.base import Knowledge


class Machine:
    """This machine, or a kept snapshot: what it adds to a diagnosis, and which versions do not go together."""

    def __init__(self, file: str, knowledge: Knowledge) -> None:
        self._snapshot = snapshot_beside(file)
        self._knowledge = knowledge
        self.known = known(self._snapshot)

    def wrong_pairs(self, versions: dict[str, str]) -> list[Judgement]:
        """Of the versions of a diagnosis (the log's before the machine's)."""
        return unsupported(judged(self._snapshot, self._knowledge, versions))


def wrong_pairs(versions: dict[str, str], knowledge: Knowledge) -> list[Judgement]:
    """Of versions that a log names."""
    return unsupported(judge(versions, [versions["chip"]] if "chip" in versions else [], {}, knowledge))


def document_with(wrong: list[Judgement], document: dict[str, Any]) -> dict[str, Any]:
    """A diagnosis document with the judgement."""
    return {**document, "judgement": judgement_document(wrong)}


def write_wrong_pairs(wrong: list[Judgement], options: argparse.Namespace) -> None:
    """Below the answer: plain in a terminal, as a block of code in Markdown."""
    if options.format == "text" and not options.issue:
        sys.stdout.write("\n" + judgement_text(wrong, language(options), colour(options), width()))
    else:
        sys.stdout.write(judgement_block(wrong, language(options), width()))
