"""Gates on what an entry says: both languages, references, commands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from npu_kb.errors import Problem
from npu_kb.gates.gate import Context, gate
from npu_kb.knowledge.entry import Bilingual
from npu_kb.knowledge.load import LoadedEntry
from npu_kb.knowledge.yamlfile import Where
from npu_kb.patterns import SLOT, captured_names

_CHINESE = re.compile(r"[\u3400-\u9fff]")


def _texts(item: LoadedEntry) -> Iterator[tuple[Where, Bilingual]]:
    """Every bilingual text of an entry and its place."""
    entry = item.entry
    for name in ("title", "symptom", "cause", "verify"):
        yield (name,), getattr(entry, name)
    for i, fix in enumerate(entry.fix):
        yield ("fix", i), fix
    for i, check in enumerate(entry.diagnose):
        yield ("diagnose", i, "expect"), check.expect


@gate
def both_languages(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """English texts are English and Chinese texts Chinese."""
    for where, text in _texts(item):
        if not _CHINESE.search(text.zh):
            yield item.file.problem((*where, "zh"), "holds no Chinese; translate it")
        if len(_CHINESE.findall(text.en)) > 0.3 * len(text.en):
            yield item.file.problem((*where, "en"), "is Chinese; translate it")


@gate
def references_present(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """A confirmed entry has an address that others can read; any other at least says where it is from."""
    references = item.entry.references
    if item.entry.status == "confirmed" and not any(r.url for r in references):
        yield item.file.problem(("references",), "a confirmed entry needs a url; add one, or set status: reported")
    elif not references:
        yield item.file.problem(("references",), "says not where it is from; add a url or a source")


@gate
def slots_are_captured(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """Every {name} in a text is captured by every block, so that no answer shows a bare slot."""
    captured = [
        captured_names([*b.text, *b.any, *b.regex]) | ({"device"} if b.fact else set()) for b in item.entry.match
    ]
    for where, text in _texts(item):
        for name in {*SLOT.findall(text.en), *SLOT.findall(text.zh)}:
            if any(name not in names for names in captured) or not captured:
                yield item.file.problem(where, f"{{{name}}} is not captured by every block; capture it or write it out")


@gate
def commands_exist(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """Commands named by id are in commands.yaml."""
    for i, check in enumerate(item.entry.diagnose):
        if check.command and context.commands.get(check.command) is None:
            yield item.file.problem(("diagnose", i, "command"), f"{check.command!r} is not in kb/commands.yaml")


@gate
def no_refused_command(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """No command line is one of the wrong forms that public guides spread."""
    lines: list[tuple[Where, str]] = [(("fix", i, "run"), f.run) for i, f in enumerate(item.entry.fix) if f.run]
    lines += [(("diagnose", i, "run"), c.run) for i, c in enumerate(item.entry.diagnose) if c.run]
    lines += [((*where, "en"), text.en) for where, text in _texts(item)]
    for where, line in lines:
        if refusal := context.commands.refusal(line):
            yield item.file.problem(where, f"wrong command: {refusal.why['en']} Use: {refusal.instead}")
