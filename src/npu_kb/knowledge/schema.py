"""kb/schema/entry.json: the entry model for editors, generated."""

from __future__ import annotations

import json
from pathlib import Path

from npu_kb.files import write_file
from npu_kb.knowledge.entry import Entry


def schema_text() -> str:
    """The JSON Schema of an entry as it stands in kb/schema/entry.json."""
    schema = Entry.model_json_schema()
    schema["$comment"] = "Generated from the entry model by `npu-kb check --write-schema`; do not edit."
    _allow_one_for_many(schema["$defs"]["Block"]["properties"])
    return json.dumps(schema, ensure_ascii=False, indent=2) + "\n"


def _allow_one_for_many(properties: dict[str, dict[str, object]]) -> None:
    """Lists of conditions may be written as a single value."""
    for name in ("text", "any", "regex", "none", "code", "fact"):
        many = properties[name]
        one = many["items"]
        properties[name] = {"description": many.get("description", ""), "anyOf": [one, {"type": "array", "items": one}]}


def write_schema(kb: Path) -> None:
    """Write the schema into a kb folder."""
    write_file(kb / "schema" / "entry.json", schema_text())
