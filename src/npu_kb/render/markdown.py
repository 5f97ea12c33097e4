"""A diagnosis as Markdown, for an issue or a ticket."""

from __future__ import annotations

import re
from typing import Any

from npu_kb.intake.clean import printable
from npu_kb.render.terminal import applies_note, feedback_note, waiting_notes
from npu_kb.render.text import EFFECT_NAMES, VERDICT_NAMES, choose, label

_SPECIAL = str.maketrans({**{char: "\\" + char for char in "\\`*[]#"}, "<": "&lt;", ">": "&gt;", "&": "&amp;"})
_CODE = re.compile(r"(`[^`\s](?:[^`]*[^`\s])?`)")
_EDGE_UNDERSCORE = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


def diagnosis_markdown(document: dict[str, Any], lang: str) -> str:
    """A diagnosis document as Markdown: every match with evidence, cause, fix and checks; then codes and next steps."""
    lines: list[str] = []
    if not any(m["verdict"] != "possible" for m in document["matches"]):
        lines += [f"**{label('nothing', lang)}**", ""]
    for match in document["matches"]:
        lines += _match(match, lang)
    if document["codes"]:
        lines += [f"## {label('codes', lang)}", "", "| code | family | meaning |", "|---|---|---|"]
        lines += [row(code["code"], code["family"], both(code["meaning"], lang)) for code in document["codes"]]
        lines.append("")
    if document["next"]:
        lines += [f"## {label('capture', lang)}", ""]
        for step in document["next"]:
            lines += [f"{both(step['why'], lang)}", "", *fence(step["run"], "sh"), ""]
    return "\n".join(lines).rstrip() + "\n"


def _match(match: dict[str, Any], lang: str) -> list[str]:
    verdict = choose(VERDICT_NAMES[match["verdict"]], lang)[0]
    lines = [f"## {both(match['title'], lang)}", "", f"{verdict} · `{match['id']}`", ""]
    evidence = "\n".join(f"{e['source']}:{e['line']}: {e['text']}" for e in match["evidence"])
    lines += [*fence(evidence, "text"), ""] if evidence else []
    lines += [part for note in waiting_notes(match, lang) for part in (plain(note), "")]
    lines += paragraphs("cause", match["cause"], lang)
    if note := applies_note(match["applies"], lang):
        lines += [f"**{label('applies', lang)}** {plain(note)}", ""]
    if note := feedback_note(match, lang):
        lines += [f"**{label('feedback', lang)}** {plain(note)}", ""]
    return [*lines, *remedies(match, lang), *sources(match["references"])]


def remedies(document: dict[str, Any], lang: str) -> list[str]:
    """Fix, checks and verification: the same for a match and for an entry."""
    lines = [f"**{label('fix', lang)}**", ""]
    for number, fix in enumerate(document["fix"], 1):
        effect = choose(EFFECT_NAMES[fix["effect"]], lang)[0]
        lines += [f"**{number}.** {both(fix, lang)} ({effect})", ""]
        lines += [*fence(fix["run"], "sh"), ""] if fix.get("run") else []
    lines += [f"**{label('check', lang)}**", ""] if document["diagnose"] else []
    for check in document["diagnose"]:
        lines += [*fence(check["run"], "sh"), "", both(check["expect"], lang), ""]
    return lines + paragraphs("verify", document["verify"], lang)


def sources(references: list[dict[str, Any]]) -> list[str]:
    """Where the knowledge is from, one address or description an item."""
    return [*(f"- <{r['url']}>" if r.get("url") else f"- {plain(r['source'])}" for r in references), ""]


def paragraphs(name: str, texts: dict[str, str], lang: str) -> list[str]:
    """A labelled paragraph; with both languages the second stands below."""
    first, *more = [plain(text) for text in choose(texts, lang)]
    return [f"**{label(name, lang)}** {first}", "", *(line for text in more for line in (text, ""))]


def both(texts: dict[str, str], lang: str) -> str:
    """The text in the wanted language or both, on one line."""
    return " / ".join(plain(text) for text in choose(texts, lang))


def plain(text: str) -> str:
    """The text with nothing live in it but its `code`: no other Markdown and no HTML."""
    flat = printable(" ".join(text.split()))
    parts = _CODE.split(flat) if flat.count("`") % 2 == 0 else [flat]
    return "".join(part if i % 2 else _escaped(part) for i, part in enumerate(parts))


def _escaped(text: str) -> str:
    return _EDGE_UNDERSCORE.sub(r"\\_", text.translate(_SPECIAL))


def row(*cells: str) -> str:
    """A line of a table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def fence(text: str, language: str) -> list[str]:
    """A code block whose fence is longer than any run of backticks inside."""
    marks = "```"
    while marks in text:
        marks += "`"
    return [f"{marks}{language}", *(printable(line) for line in text.strip("\n").split("\n")), marks]
