"""Draft entries from fault entities of MindCluster Ascend FaultDiag (ascend-fd): JSON.

    npu-kb import ascend-fd custom-ascend-kg-config.json --out drafts

It reads the file that `ascend-fd entity --update` takes (code: {"attribute.cause_zh": ..., "regex.in": [...]}) and the
one that the tool keeps ({"knowledge-repository": {code: {"attribute": {...}, "regex": {...}}}}). Keywords become the
texts to match: those of one list must all be there, lists are alternatives.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from npu_kb.errors import NpuKbError, Problem
from npu_kb.importing.files import read_text
from npu_kb.importing.item import Item, Said, remedies
from npu_kb.importing.patterns import text_block
from npu_kb.importing.session import add_source, import_drafts

_LANGUAGES = ("zh", "en")
_NONE = ("", "-", "--")
"""What stands for nothing."""
_NOTED = ("class", "component", "module", "error_case", "fixed_case")
_LINES = 10
"""Lines among which the tool looks for the keywords of one list in a training log."""


def main(arguments: list[str]) -> int:
    """Make drafts of the entities; exit status 1 if some were faulty."""
    return import_drafts(arguments, "ascend-fd", __doc__, _read, add_source)


def _read(options: argparse.Namespace) -> Iterator[Item | Problem]:
    for path in options.files:
        text = read_text(path)
        for code, entity in _entities(path, text).items():
            at = text.find(json.dumps(code, ensure_ascii=False))
            yield _item(path, text.count("\n", 0, max(at, 0)) + 1, code, entity, options.source)


def _entities(path: Path, text: str) -> dict[str, Any]:
    try:
        entities = json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        raise NpuKbError(f"{path}:{error.lineno}: is no JSON: {error.msg}; mend it (it takes no comments)") from None
    except (ValueError, RecursionError) as error:
        raise NpuKbError(f"{path}: cannot be read: {error}; mend it") from None
    if isinstance(entities, dict):
        entities = entities.get("knowledge-repository", entities)
    if not isinstance(entities, dict) or not entities:
        raise NpuKbError(f"{path}: holds no fault entities; give a map of fault codes to entities")
    return entities


def _item(path: Path, line: int, code: str, entity: Any, source: str) -> Item | Problem:
    if not isinstance(entity, dict):
        return Problem(path, line, 1, code, "is no entity; it must be a map of fields")
    said = {name: _both(entity, name) for name in ("cause", "description", "suggestion")}
    lists = _keywords(_field(entity, "regex", "in"))
    if not said["cause"]:
        return Problem(path, line, 1, code, "has no name; fill attribute.cause_zh or attribute.cause_en")
    return Item(
        path=path,
        line=line,
        where=code,
        title=said["cause"],
        error="\n".join(" ".join(words) for words in lists),
        cause=said["description"] or said["cause"],
        fix=remedies(said["suggestion"]),
        match=tuple(block for words in lists if (block := text_block(words, _LINES))),
        name=f"ascend-fd-{code}",
        source=source or f"{path.name}, fault code {code}",
        notes=tuple(_notes(entity)),
    )


def _field(entity: dict[str, Any], group: str, name: str) -> Any:
    """A field, written flat (`attribute.class`) or inside its group."""
    inside = entity.get(group)
    return entity.get(f"{group}.{name}", inside.get(name) if isinstance(inside, dict) else None)


def _both(entity: dict[str, Any], name: str) -> Said:
    """An attribute in the languages in which it is filled."""
    texts = {lang: _text(_field(entity, "attribute", f"{name}_{lang}")) for lang in _LANGUAGES}
    return {lang: text for lang, text in texts.items() if text.strip() not in _NONE}


def _text(value: Any) -> str:
    """A paragraph, which may be a list of its lines."""
    if isinstance(value, list):
        return "\n".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _keywords(value: Any) -> list[list[str]]:
    """The alternatives of `regex.in`: one list of keywords, or several."""
    lists = value if isinstance(value, list) and value and isinstance(value[0], list) else [value]
    return [words for item in lists if isinstance(item, list) and (words := [w for w in item if isinstance(w, str)])]


def _notes(entity: dict[str, Any]) -> Iterator[str]:
    """What has no field in an entry."""
    for name in _NOTED:
        if (text := _text(_field(entity, "attribute", name))).strip() not in _NONE:
            yield f"{name}: {text}"
    if source := _text(entity.get("source_file")):
        yield f"log: {source}"
    rules = entity.get("rule")
    codes = [str(rule.get("dst_code")) for rule in rules if isinstance(rule, dict)] if isinstance(rules, list) else []
    if codes:
        yield f"brings about: {', '.join(codes)}"
