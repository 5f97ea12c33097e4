"""Why an entry did or did not match: condition by condition, with the lines that come nearest."""

from __future__ import annotations

from typing import Any

from npu_kb.diagnosis.diagnose import scene_of
from npu_kb.diagnosis.match import Scene, conditions, evaluate
from npu_kb.intake.facts import Known
from npu_kb.intake.logtext import LogText
from npu_kb.knowledge.base import Knowledge

_MIN_NEARNESS = 75.0


def account(log: LogText, id: str, knowledge: Knowledge, known: Known | None = None) -> dict[str, Any] | None:
    """What held of an entry, the nearest block first; None if there is no such entry.

    {"id", "title", "matches", "blocks": [{"holds", "proves", "conditions": [{"kind", "what", "holds", ...}]}]}
    """
    entry = knowledge.entry(id)
    if entry is None:
        return None
    scene = scene_of(log, knowledge, known)
    blocks = [
        _account_of_block(written, compiled, scene)
        for written, compiled in zip(entry["match"], knowledge.blocks_of(entry["id"]), strict=True)
    ]
    blocks.sort(key=_nearness, reverse=True)
    return {
        "id": entry["id"],
        "title": entry["title"],
        "matches": any(block["holds"] for block in blocks),
        "blocks": blocks,
    }


def _account_of_block(written: dict[str, Any], compiled: dict[str, Any], scene: Scene) -> dict[str, Any]:
    rows = [
        _account_of_condition(kind, what, lines, scene) for kind, what, lines in conditions(written, compiled, scene)
    ]
    holds = evaluate(compiled, scene) is not None
    needed = _needed(rows)
    too_far = not holds and all(row["holds"] for row in needed)
    return {
        "holds": holds,
        "proves": written["proves"],
        "conditions": needed,
        "within": written.get("within"),
        "too_far_apart": too_far,
    }


def _nearness(block: dict[str, Any]) -> tuple[bool, float]:
    """How near a block is to holding: its conditions' mean, a text not found counting by its nearest line."""
    rows = _needed(block["conditions"])
    scores = [100.0 if row["holds"] else row.get("nearest", {}).get("nearness", 0.0) for row in rows]
    return block["holds"], sum(scores) / max(len(scores), 1)


def _needed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The conditions that must hold: of alternatives (`any`) only the best, of exclusions (`none`) those that hit."""
    alternatives = [row for row in rows if row["kind"] == "any"]
    best = sorted(alternatives, key=lambda r: (r["holds"], r.get("nearest", {}).get("nearness", 0)), reverse=True)[:1]
    others = [row for row in rows if row["kind"] != "any" and not (row["kind"] == "none" and row["holds"])]
    return [*others, *best]


def _account_of_condition(kind: str, what: str, lines: list[int], scene: Scene) -> dict[str, Any]:
    """One condition: whether it holds, on which lines, and if it does not, the nearest line and how near (0 to 100)."""
    found = [scene.log.lines[index] for index in lines[:3]]
    row: dict[str, Any] = {"kind": kind, "what": what, "holds": bool(lines) != (kind == "none")}
    row["lines"] = [{"source": line.source, "line": line.number, "text": line.text.strip()[:200]} for line in found]
    if not lines and kind in ("text", "any", "regex") and (near := _nearest(what, scene.log)):
        row["nearest"] = near
    return row


def _nearest(pattern: str, log: LogText) -> dict[str, Any] | None:
    from rapidfuzz import fuzz, process

    texts = [line.text.lower()[:2_000] for line in log.lines[:20_000]]
    best = process.extractOne(pattern.lower(), texts, scorer=fuzz.partial_ratio, score_cutoff=_MIN_NEARNESS)
    if best is None:
        return None
    line = log.lines[best[2]]
    return {"source": line.source, "line": line.number, "text": line.text.strip()[:200], "nearness": round(best[1])}
