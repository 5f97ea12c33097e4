"""`npu-kb watch`: follow growing logs and tell each new fault once."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

from npu_kb.cli.options import FOUND, NONE, add_output, colour, language, load_knowledge, overlay_folders, positive

if TYPE_CHECKING:
    from npu_kb.cluster.watch import Told, Watch

SCHEMA = "npu-kb/watch/1"
_STATUS = """\
It ends with --first, --for, Ctrl-C or SIGTERM. Exit status: 0 a fault was told, 1 none was, 2 bad usage or a path that
cannot be followed. A path that is not there yet is waited for; its folder must be there."""
_AWAITED = {"en": "{path} is not there yet: waiting for it.", "zh": "{path} 尚不存在，等待其出现。"}
_FOLLOWING = {"en": "following {files:file}.", "zh": "正在跟踪 {files} 个文件。"}
_PASSED_OVER = {
    "en": "What stands there already is not told; --from-start tells it, too.",
    "zh": "已有内容不再提示；如需一并提示，请加 --from-start。",
}

_MORE = {"en": " (+{logs:more log|more logs})", "zh": "（另有 {logs} 份日志）"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="logs, and folders in which logs grow")
    parser.add_argument("--from-start", action="store_true", help="tell what stands in the logs already, too")
    parser.add_argument("--first", action="store_true", help="end with the first fault")
    parser.add_argument("--for", type=positive, dest="seconds", metavar="SECONDS", help="end after so long")
    parser.add_argument("--interval", type=positive, default=1, metavar="SECONDS", help="between looks (default: 1)")
    parser.add_argument("--include", action="append", default=[], metavar="GLOB", help="of folders only such files")
    parser.add_argument("--exclude", action="append", default=[], metavar="GLOB", help="of folders no such files")
    add_output(parser, ["text", "json"])
    parser.epilog = _STATUS


def run(options: argparse.Namespace) -> int:
    from npu_kb.cluster.progress import told_if_it_prepares
    from npu_kb.cluster.watch import Watch
    from npu_kb.intake.tree import Globs

    with told_if_it_prepares():
        load_knowledge(options)  # tells what is wrong with it, once
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    until = time.monotonic() + options.seconds if options.seconds else None
    status = NONE
    try:
        globs = Globs(options.include, options.exclude)
        watch = Watch(options.paths, overlay_folders(options), globs, from_start=options.from_start)
        _announce(watch, options)
        for told in watch.follow(options.interval, until):
            status = FOUND
            sys.stdout.write(_line(told) if options.format == "json" else _text(told, options))
            sys.stdout.flush()
            if options.first:
                break
    except KeyboardInterrupt:
        pass  # the usual end of a watch
    return status


def _announce(watch: Watch, options: argparse.Namespace) -> None:
    """What is waited for, how many files are followed, and that what stands in them is passed over."""
    from npu_kb.intake.clean import printable
    from npu_kb.render.text import choose, filled

    for path in watch.awaited:
        said = filled(choose(_AWAITED, language(options))[0], path=printable(path))
        print(f"npu-kb: {said}", file=sys.stderr, flush=True)
    if len(watch.awaited) == len(options.paths):
        return
    texts = [_FOLLOWING] if options.from_start else [_FOLLOWING, _PASSED_OVER]
    said = " ".join(filled(choose(text, language(options))[0], files=watch.files_at_start) for text in texts)
    print(f"npu-kb: {said}", file=sys.stderr, flush=True)


def _line(told: Told) -> str:
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "told": _now(),
        **told.observation._asdict(),
        "rank": told.rank,
        "more_logs": told.more_logs,
        "title": told.title,
    }
    return json.dumps(document, ensure_ascii=False) + "\n"


def _text(told: Told, options: argparse.Namespace) -> str:
    from npu_kb.intake.clean import printable
    from npu_kb.render.text import Style, choose, colon, filled, line_label

    row, style, lang = told.observation, Style(colour(options)), language(options)
    title = " / ".join(choose(told.title, lang))
    rank = "" if told.rank is None else f"rank {told.rank}  "
    when = "" if row.time is None else f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(row.time))}  "
    more = filled(choose(_MORE, lang)[0], logs=len(told.more_logs)) if told.more_logs else ""
    return (
        f"{_now()}  {style(row.verdict.upper(), 'bold', 'red')}  {style(row.entry, 'bold')}  {title}\n"
        f"    {rank}{when}{printable(row.source)} {line_label(row.line, lang)}{colon(lang)}{row.text}{more}\n"
    )


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
