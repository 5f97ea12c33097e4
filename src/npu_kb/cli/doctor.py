"""`npu-kb doctor`."""

from __future__ import annotations

import argparse
import sys

from npu_kb.cli.env import add_source, snapshot_of
from npu_kb.cli.options import FOUND, NONE, add_output, colour, language, load_knowledge, print_json, width


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="show every match at length")
    add_source(parser)
    add_output(parser, ["text", "json"])


def run(options: argparse.Namespace) -> int:
    from npu_kb.diagnosis.diagnose import diagnose
    from npu_kb.environment.evidence import judged, known, unsupported
    from npu_kb.intake.logtext import LogText
    from npu_kb.render.document import diagnosis_document

    knowledge = load_knowledge(options)
    snapshot = snapshot_of(options)
    diagnosis = diagnose(LogText([]), knowledge, suggest=False, known=known(snapshot))
    judgements = judged(snapshot, knowledge)
    if options.format == "json":
        from npu_kb.render.judgement import judgement_document

        document = diagnosis_document(diagnosis, knowledge)
        print_json({**document, "judgement": judgement_document(judgements), "missing": snapshot.document()["missing"]})
    else:
        from npu_kb.render.doctor import doctor_text

        document = diagnosis_document(diagnosis, knowledge, options.all)
        style = (language(options), colour(options), width(), options.all)
        sys.stdout.write(doctor_text(document, judgements, snapshot, *style))
    return FOUND if diagnosis.claims or unsupported(judgements) else NONE
