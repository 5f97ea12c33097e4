"""Gates on what an entry says: both languages, and no word that was not captured."""

from __future__ import annotations

import re
from collections.abc import Iterator

from npu_kb.errors import Problem
from npu_kb.gates.context import Context
from npu_kb.gates.gate import gate
from npu_kb.knowledge.entry import Bilingual
from npu_kb.knowledge.entryfile import LoadedEntry
from npu_kb.knowledge.yamlfile import Where
from npu_kb.patterns import SLOT, captured_names

_CHINESE = re.compile(r"[\u3400-\u9fff]")


def texts_of(item: LoadedEntry) -> Iterator[tuple[Where, Bilingual]]:
    """Every bilingual text of an entry and its place."""
    entry = item.entry
    for name in ("title", "symptom", "cause", "verify"):
        yield (name,), getattr(entry, name)
    for i, fix in enumerate(entry.fix):
        yield ("fix", i), fix
    for i, check in enumerate(entry.diagnose):
        yield ("diagnose", i, "expect"), check.expect


@gate()
def both_languages(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """English texts are English and Chinese texts Chinese."""
    for where, text in texts_of(item):
        if not _CHINESE.search(text.zh):
            yield item.file.problem((*where, "zh"), "holds no Chinese; translate it")
        if len(_CHINESE.findall(text.en)) > 0.3 * len(text.en):
            yield item.file.problem((*where, "en"), "is Chinese; translate it")


@gate()
def slots_are_captured(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """Every {name} in a text is captured by every block, so that no answer shows a bare slot."""
    captured = [
        captured_names([*b.text, *b.any, *b.regex]) | ({"device"} if b.fact else set()) for b in item.entry.match
    ]
    for where, text in texts_of(item):
        for name in {*SLOT.findall(text.en), *SLOT.findall(text.zh)}:
            if any(name not in names for names in captured) or not captured:
                yield item.file.problem(where, f"{{{name}}} is not captured by every block; capture it or write it out")
