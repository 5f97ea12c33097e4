"""A match or an entry as a plain document: captured words filled in, commands written out. Formats start from it."""

from __future__ import annotations

from typing import Any

from npu_kb.diagnosis.model import SCHEMA, Diagnosis, Match, Reports
from npu_kb.diagnosis.rank import explanations
from npu_kb.intake.structure import read_exceptions, read_names
from npu_kb.knowledge.base import Knowledge
from npu_kb.patterns import SLOT, captured_names


def diagnosis_document(diagnosis: Diagnosis, knowledge: Knowledge, in_full: bool = True) -> dict[str, Any]:
    """The JSON contract `npu-kb/diagnosis/1`; a match's echo of the log stands only under `evidence`.

    Without `in_full` the exceptions and names of the log are left out: a short answer does not show them.
    """
    explained = explanations(diagnosis.matches)
    return {
        "schema": SCHEMA,
        "matches": [match_document(m, knowledge, explained.get(m.entry["id"])) for m in diagnosis.matches],
        "codes": diagnosis.codes,
        "facts": _facts(diagnosis),
        "versions": diagnosis.versions,
        "next": diagnosis.next,
        "exceptions": _exceptions(diagnosis) if in_full else [],
        "names": read_names(diagnosis.log.lines) if in_full else {},
        "lines_read": len(diagnosis.log.lines),
    }


def match_document(match: Match, knowledge: Knowledge, explained_by: str | None = None) -> dict[str, Any]:
    """One match: the entry's texts, what in the log speaks for it, and the match that brings it about, if any."""
    entry = entry_document(match.entry, knowledge, match.captures)
    return {
        "id": entry["id"],
        "verdict": match.verdict,
        "confidence": match.confidence,
        **{name: entry[name] for name in ("severity", "role", "layer", "topic", "title", "symptom", "cause")},
        **{name: entry[name] for name in ("fix", "diagnose", "verify")},
        "applies": _with_commands(match.applies, knowledge),
        "feedback": _feedback(match.reports),
        "explained_by": explained_by,
        "captures": match.captures,
        "evidence": [{"source": e.source, "line": e.line, "text": e.text} for e in match.evidence],
        "references": entry["references"],
    }


def _feedback(reports: Reports) -> dict[str, Any] | None:
    """What users reported of the entry here, and whether that made the match less sure; None without reports."""
    return {**reports._asdict(), "demoted": reports.demote} if any(reports) else None


def _with_commands(applies: dict[str, Any], knowledge: Knowledge) -> dict[str, Any]:
    """The commands that would tell an unknown version, written out."""
    if "commands" not in applies:
        return applies
    found = (knowledge.command(id) for id in applies["commands"])
    return {**applies, "commands": [command["run"] for command in found if command]}


def entry_document(
    entry: dict[str, Any], knowledge: Knowledge, captures: dict[str, str] | None = None
) -> dict[str, Any]:
    """An entry with `{name}` slots filled and its diagnostic commands written out."""
    words = {**_slots(entry), **(captures or {})}
    document = {
        name: _filled(value, words) if name in ("title", "symptom", "cause", "fix", "verify") else value
        for name, value in entry.items()
    }
    document["diagnose"] = [_command(check, knowledge) for check in entry["diagnose"]]
    for name in ("fix", "diagnose"):
        document[name] = [_for_device(step, words) for step in document[name]]
    return document


def _for_device(step: dict[str, Any], words: dict[str, str]) -> dict[str, Any]:
    """The step with its command for the NPU and chip that a fact names, if one does."""
    if "npu" not in words or not step.get("run"):
        return step
    return {**step, "run": step["run"].replace("<npu>", words["npu"]).replace("<chip>", words["chip"])}


def _slots(entry: dict[str, Any]) -> dict[str, str]:
    """What stands in a text for a word that was not captured: its name."""
    patterns = [text for block in entry["match"] for text in [*block["text"], *block["any"], *block["regex"]]]
    return {name: f"<{name}>" for name in captured_names(patterns)}


def _filled(value: Any, words: dict[str, str]) -> Any:
    if isinstance(value, str):
        return SLOT.sub(lambda m: words.get(m.group(1), m.group()), value)
    if isinstance(value, dict):
        return {key: _filled(item, words) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, words) for item in value]
    return value


def _command(check: dict[str, Any], knowledge: Knowledge) -> dict[str, Any]:
    """{"run", "effect", "expect"} and, for a command of commands.yaml, its id and whether it needs root."""
    if "command" not in check:
        return {name: check[name] for name in ("run", "effect", "expect")}
    command = knowledge.command(check["command"]) or {}
    shown = {"command": check["command"], "run": command.get("run", check["command"])}
    return {
        **shown,
        "effect": command.get("effect", "read"),
        "root": command.get("root", ""),
        "expect": check["expect"],
    }


def _exceptions(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """The exceptions of the log; the first of a chain is its root."""
    lines = diagnosis.log.lines
    return [{**e._asdict(), "line": lines[e.line].number} for e in read_exceptions(lines)][:20]


def _facts(diagnosis: Diagnosis) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for fact in diagnosis.facts:
        value = "unlimited" if fact.value == float("inf") else fact.value
        facts.setdefault(fact.name, []).append({"value": value, "subject": fact.subject})
    return facts
