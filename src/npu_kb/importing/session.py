"""One run of an importer that makes drafts: options, duplicates, files, and what is said at the end."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from npu_kb import locations
from npu_kb.cli.options import add_kb, add_language, language, load_knowledge
from npu_kb.diagnosis.diagnose import diagnose
from npu_kb.errors import NpuKbError, Problem
from npu_kb.findings.proposals import Known, known_texts, propose
from npu_kb.importing.drafts import Redacted, digest, draft, redacted
from npu_kb.importing.files import tell
from npu_kb.importing.item import Item, shortened
from npu_kb.importing.outbox import Outbox
from npu_kb.intake.clean import printable
from npu_kb.render.text import choose, filled
from npu_kb.settings import overlay_sources

Reader = Callable[[argparse.Namespace], Iterable[Item | Problem]]
"""From the options (`files` are the paths) to what stands in the files."""
_OUTCOMES = {
    "new": {"en": "{n:draft}", "zh": "{n} 个草稿"},
    "imported": {"en": "{n} left out: imported before, or given twice", "zh": "{n} 条跳过：已导入过或重复给出"},
    "cited": {"en": "{n} left out: an entry of the knowledge cites it", "zh": "{n} 条跳过：知识库条目已引用"},
    "answered": {"en": "{n} left out: the knowledge names their cause", "zh": "{n} 条跳过：知识库已能给出原因"},
    "same": {"en": "{n} left out: the same fault as another one", "zh": "{n} 条跳过：与另一条故障相同"},
    "empty": {"en": "{n} left out: they tell no fault", "zh": "{n} 条跳过：没有故障内容"},
    "faulty": {"en": "{n} left out: faulty, named on stderr", "zh": "{n} 条跳过：有错误，见 stderr"},
}
_NEXT = {
    "en": "What each of them still lacks: npu-kb check {out}",
    "zh": "查看各草稿还缺什么：npu-kb check {out}",
}


def import_drafts(
    arguments: list[str],
    importer: str,
    doc: str | None,
    read: Reader,
    configure: Callable[[argparse.ArgumentParser], None] | None = None,
) -> int:
    """Make drafts of what `read` yields; exit status 1 if some of it was faulty.

    `doc` is the importer's docstring, `configure` adds its own options.
    """
    options = _parser(importer, doc or "", configure).parse_args(arguments)
    if not options.out and not options.dry_run:
        raise NpuKbError("no folder for the drafts is given; add --out DIR, or --dry-run to look first")
    run = _Run(importer, options)
    outcomes = Counter(run.take(item) for item in read(options))
    sys.stdout.writelines(f"{line}\n" for line in _summary(outcomes, options))
    return 1 if outcomes["faulty"] else 0


def _parser(
    importer: str, doc: str, configure: Callable[[argparse.ArgumentParser], None] | None
) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"npu-kb import {importer}", description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="what to read; `-` is standard input")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for the drafts, made if need be")
    parser.add_argument("--dry-run", action="store_true", help="write nothing; list what would be drafted")
    add_kb(parser)
    add_language(parser, "language of the summary (default: from the locale)")
    if configure:
        configure(parser)
    return parser


def add_source(parser: argparse.ArgumentParser) -> None:
    """The option for files that do not say where they are from."""
    parser.add_argument("--source", default="", help="where the file is from: an address or a name (default: its name)")


class _Run:
    """What the items of one run are compared with, and where they go."""

    def __init__(self, importer: str, options: argparse.Namespace) -> None:
        self._importer, self._is_dry = importer, options.dry_run
        self._outbox = Outbox(options.out, options.dry_run)
        self._knowledge = load_knowledge(options)
        self._folders = [locations.builtin_kb_directory(), *(s.path for s in overlay_sources(options.kb or []))]
        self._cited = {r["url"] for entry in self._knowledge.entries() for r in entry["references"] if "url" in r}

    def take(self, item: Item | Problem) -> str:
        """Draft an item or leave it out, and say which (a key of _OUTCOMES)."""
        if isinstance(item, Problem):
            tell(item)
            return "faulty"
        if item.url and item.url in self._outbox.urls:
            return "imported"
        if item.url in self._cited:
            return "cited"
        if not (item.error.strip() or item.match or item.cause or item.fix):
            return "empty"
        return self._compared(redacted(replace(item, error=shortened(item.error))))

    def _compared(self, words: Redacted) -> str:
        """Draft what neither this run nor an earlier one nor the knowledge has."""
        item, key = words.item, digest(words)
        if key in self._outbox.digests:
            return "same" if item.url else "imported"
        if diagnose(item.error, self._knowledge, suggest=False).claims:
            return "answered"
        made = draft(words, self._importer, *self._recognised(words))
        if not self._outbox.add(made, item.url):
            return "imported"
        if self._is_dry:
            sys.stdout.write(f"{made.id}  {printable(next(iter(item.title.values()), ''))[:100]}\n")
        return "new"

    def _recognised(self, words: Redacted) -> tuple[list[dict[str, Any]], list[str]]:
        """The blocks that recognise an item, its own or the best for its program text, and the lines of a log by which.

        What the source itself matches by is no log.
        """
        if words.item.match:
            return [*words.item.match], []
        best = next(iter(propose(words.excerpt, self._known) if words.excerpt else ()), None)
        if best is None:
            return [], words.excerpt
        return [{"text": best.texts, "proves": "possible"}], [words.excerpt[line] for line in best.lines]

    @cached_property
    def _known(self) -> list[Known]:
        return known_texts(self._knowledge, [Path(folder) for folder in self._folders])


def _summary(outcomes: Counter[str], options: argparse.Namespace) -> Iterator[str]:
    lang = language(options)
    for outcome, words in _OUTCOMES.items():
        if outcomes[outcome] or outcome == "new":
            yield filled(" / ".join(choose(words, lang)), n=outcomes[outcome])
    if outcomes["new"] and not options.dry_run:
        yield " / ".join(choose(_NEXT, lang)).format(out=printable(str(options.out)))
