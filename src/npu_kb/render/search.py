"""Search results, as text and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from npu_kb.intake.clean import printable
from npu_kb.knowledge.phrases import with_signatures
from npu_kb.render.document import entry_document
from npu_kb.render.text import SEVERITY_NAMES, Style, choose, clipped, wrap

if TYPE_CHECKING:
    from npu_kb.knowledge.base import Knowledge
    from npu_kb.knowledge.fulltext import Hit, SearchIndex

FOUND, NOTHING = 0, 1

_WIDTH = 80
_INDENT = "    "
_SHOWN = (
    "id",
    "title",
    "layer",
    "topic",
    "severity",
    "role",
    "status",
    "symptom",
    "cause",
    "fix",
    "diagnose",
    "verify",
)
_NOTHING_FOUND = {
    "en": "Nothing found. Try fewer words, or the exact code or error text.",
    "zh": "没有找到。请减少关键词，或直接输入错误码、报错原文。",
}


def search_command(
    query: str, index: SearchIndex, store: Knowledge, lang: str, fmt: str, limit: int, colour: bool
) -> tuple[str, int]:
    """The answer to a search and the exit status: 0 found, 1 nothing."""
    hits = with_signatures(index.search(query, limit), query, store)[:limit]
    found = [(hit, entry) for hit in hits if (entry := store.entry(hit.id))]
    status = FOUND if found else NOTHING
    if fmt == "json":
        results = [_result(hit, entry, store) for hit, entry in found]
        return json.dumps({"results": results}, ensure_ascii=False, indent=2) + "\n", status
    if not found:
        return "\n".join(choose(_NOTHING_FOUND, lang)) + "\n", status
    style = Style(colour)
    blocks = [
        _block(number, hit, entry_document(entry, store), index, lang, style)
        for number, (hit, entry) in enumerate(found, 1)
    ]
    return "\n".join(blocks), status


def _result(hit: Hit, entry: dict[str, Any], store: Knowledge) -> dict[str, Any]:
    document = entry_document(entry, store)
    return {**{name: document[name] for name in _SHOWN}, "score": hit.score, "coverage": hit.coverage}


def _block(number: int, hit: Hit, entry: dict[str, Any], index: SearchIndex, lang: str, style: Style) -> str:
    """One result: what it is called and where it belongs, its title, and a line of what the user sees."""
    severity = choose(SEVERITY_NAMES[entry["severity"]], lang)[0]
    place = f"{entry['layer']}/{entry['topic']}, {severity}"
    lines = [f"{number:2}. {style(entry['id'], 'bold', 'cyan')}  {style(place, 'dim')}"]
    for title in choose(entry["title"], lang):
        lines += [_INDENT + _marked(line, hit, index, style, "bold") for line in _wrapped(title)]
    for symptom in choose(entry["symptom"], lang):
        lines.append(_INDENT + _marked(clipped(printable(symptom), _WIDTH - len(_INDENT)), hit, index, style))
    return "\n".join(lines) + "\n"


def _wrapped(text: str) -> list[str]:
    return wrap(printable(text), _WIDTH - len(_INDENT))


def _marked(line: str, hit: Hit, index: SearchIndex, style: Style, *plain: str) -> str:
    """The line with the words that answer the query in colour, the rest in the `plain` style."""
    if not style.colour:
        return line
    parts, end = [], 0
    for start, stop in index.spans(line, hit):
        parts += [style(line[end:start], *plain), style(line[start:stop], "bold", "yellow")]
        end = stop
    return "".join([*parts, style(line[end:], *plain)])
