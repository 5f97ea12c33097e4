"""`npu-kb env`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from npu_kb.cli.options import FOUND, NONE, add_output, colour, language, load_knowledge, print_json, warn, width
from npu_kb.errors import NpuKbError

if TYPE_CHECKING:
    from npu_kb.environment.snapshot import Snapshot

_ACTIONS = {"show": (), "save": ("first",), "compare": ("first", "second"), "judge": ()}
"""What can be done, and the names of files that may follow."""
_USES = "npu-kb env, npu-kb env save [FILE], npu-kb env compare A B, npu-kb env judge"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Exit status: 0 if there is something to say (show, save: anything found; compare: a difference; judge: two "
        "versions that could be judged, whatever the judgement), 1 if not, 2 for bad usage or input."
    )
    parser.usage = f"npu-kb env [{'|'.join(_ACTIONS)}] [FILE] [FILE] [options]"
    positionals = (
        parser.add_argument(
            "action",
            choices=[*_ACTIONS],
            default="show",
            help="show it (default), save it as JSON, compare two saved ones, or judge if the versions go together",
        ),
        parser.add_argument("first", metavar="FILE", help="save: the file; compare: a snapshot"),
        parser.add_argument("second", metavar="FILE", help="compare: the other snapshot"),
    )
    for positional in positionals:
        positional.required = False  # where nargs says so, options may not stand between them
    parser.add_argument("--all", action="store_true", help="compare also what changes by the minute")
    add_source(parser)
    add_output(parser, ["text", "json"])


def add_source(parser: argparse.ArgumentParser) -> None:
    """The options that say which machine is meant."""
    parser.add_argument(
        "--from", nargs="+", dest="pasted", metavar="FILE", help="read pasted outputs or a snapshot, not this machine"
    )
    parser.add_argument("--root", default="/", metavar="DIR", help="read files below this folder (default: /)")
    parser.add_argument("--name", help="what to call the machine in the snapshot (default: <host>)")


def run(options: argparse.Namespace) -> int:
    given = tuple(name for name in ("first", "second") if getattr(options, name) is not None)
    if given != _ACTIONS[options.action] and (options.action, given) != ("save", ()):
        raise NpuKbError(f"env {options.action}: wrong number of files; use {_USES}")
    _check_order(options)
    if options.action == "compare":
        return _compare(options)
    if options.action == "judge":
        return _judge(options)
    snapshot = snapshot_of(options)
    if options.action == "save":
        from npu_kb.environment.snapshot import write_snapshot

        name = options.first or "-"
        write_snapshot(snapshot, name)
        if name != "-":
            from npu_kb.render.environment import saved_text

            print(f"npu-kb: {saved_text(snapshot, name, language(options))}", file=sys.stderr)
    elif options.format == "json":
        print_json(snapshot.document())
    else:
        _show(snapshot, options)
    return FOUND if snapshot.versions or snapshot.facts or snapshot.chips else NONE


def _check_order(options: argparse.Namespace) -> None:
    """NpuKbError where --from, which takes all words behind it, took what is to be done."""
    from pathlib import Path

    if action := next((name for name in options.pasted or () if name in _ACTIONS and not Path(name).exists()), None):
        raise NpuKbError(f"--from: there is no file {action}; to {action}, write `npu-kb env {action} --from FILE`")


def _show(snapshot: Snapshot, options: argparse.Namespace) -> None:
    """The snapshot, and behind it the versions that do not go together."""
    from npu_kb.environment.evidence import judged, unsupported
    from npu_kb.render.environment import snapshot_text
    from npu_kb.render.judgement import judgement_text

    style = (language(options), colour(options), width())
    sys.stdout.write(snapshot_text(snapshot, *style))
    if wrong := unsupported(judged(snapshot, load_knowledge(options))):
        sys.stdout.write("\n" + judgement_text(wrong, *style))


def snapshot_of(options: argparse.Namespace) -> Snapshot:
    """The snapshot of this machine, of pasted outputs, or the kept one that is given in their place."""
    if options.pasted:
        from npu_kb.environment.pasted import snapshot_from

        return snapshot_from(options.pasted, options.name, warn)
    import os
    from pathlib import Path

    from npu_kb.environment.probe import probe
    from npu_kb.environment.root import Root
    from npu_kb.knowledge.base import Knowledge

    if not Path(options.root).is_dir():
        raise NpuKbError(f"{options.root}: is no folder; --root names one that holds usr/, etc/ and dev/ of a machine")
    return probe(Knowledge.load([]), Root(options.root), os.environ, options.name)


def _judge(options: argparse.Namespace) -> int:
    from npu_kb.environment.evidence import judged
    from npu_kb.render.judgement import judgement_document, judgement_text

    knowledge = load_knowledge(options)
    judgements = judged(snapshot_of(options), knowledge)
    if options.format == "json":
        print_json(judgement_document(judgements))
    else:
        sys.stdout.write(judgement_text(judgements, language(options), colour(options), width()))
    return FOUND if judgements else NONE


def _compare(options: argparse.Namespace) -> int:
    from npu_kb.environment.compare import compare
    from npu_kb.environment.snapshot import read_snapshot
    from npu_kb.render.environment import differences_text

    first, second = read_snapshot(options.first), read_snapshot(options.second)
    differences = compare(first, second, options.all)
    if options.format == "json":
        print_json({"schema": "npu-kb/comparison/1", "differences": [row._asdict() for row in differences]})
    else:
        names = (options.first, options.second)
        sys.stdout.write(differences_text(differences, names, language(options), colour(options), width()))
    return FOUND if differences else NONE
