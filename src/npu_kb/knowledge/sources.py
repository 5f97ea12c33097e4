"""The folders of knowledge in the order in which they are merged, and what each of them holds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from npu_kb import locations
from npu_kb.knowledge.base import Knowledge
from npu_kb.knowledge.load import load_entries
from npu_kb.settings import Source


def knowledge_sources(overlays: Iterable[Source]) -> list[dict[str, Any]]:
    """One row for each folder, the last wins.

    {"path", "named_by", "found", "entries", "signatures", "codes", "commands": counts, "replaces": ids of entries
    that stand in an earlier folder too, "problems": what is wrong with files that are left out}
    """
    builtin = Knowledge.load([])
    known = {entry["id"] for entry in builtin.entries()}
    rows = [_row(Source(locations.builtin_kb_directory(), "built-in"), known, builtin.counts(), [])]
    for source in overlays:
        if not Path(source.path).is_dir():
            rows.append({**_row(source, set(), {}, []), "found": False})
            continue
        loaded = load_entries([Path(source.path)])
        signatures = sum(len(table.rows) for table in loaded.signatures.values())
        counts = {"signatures": signatures, "codes": len(loaded.codes), "commands": len(loaded.commands)}
        rows.append(_row(source, set(loaded.entries), counts, [str(problem) for problem in loaded.problems]))
        rows[-1]["replaces"] = sorted(known & loaded.entries.keys())
        known |= loaded.entries.keys()
    return rows


def _row(source: Source, ids: set[str], counts: dict[str, int], problems: list[str]) -> dict[str, Any]:
    counted = {"entries": len(ids), "signatures": 0, "codes": 0, "commands": 0, **counts}
    return {**source._asdict(), "found": True, **counted, "replaces": [], "problems": problems}
