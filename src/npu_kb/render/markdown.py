"""A diagnosis as Markdown, for an issue or a ticket."""

from __future__ import annotations

from typing import Any

from npu_kb.intake.clean import printable
from npu_kb.render.terminal import applies_note
from npu_kb.render.text import EFFECT_NAMES, VERDICT_NAMES, choose, label

_SPECIAL = str.maketrans({char: "\\" + char for char in "\\`*_[]<>#|"})


def diagnosis_markdown(document: dict[str, Any], lang: str) -> str:
    """A diagnosis document as Markdown: every match with evidence, cause, fix and checks; then codes and next steps."""
    lines: list[str] = []
    if not any(m["verdict"] != "possible" for m in document["matches"]):
        lines += [f"**{label('nothing', lang)}**", ""]
    for match in document["matches"]:
        lines += _match(match, lang)
    if document["codes"]:
        lines += [f"## {label('codes', lang)}", "", "| code | family | meaning |", "|---|---|---|"]
        lines += [_row(row["code"], row["family"], _both(row["meaning"], lang)) for row in document["codes"]]
        lines.append("")
    if document["next"]:
        lines += [f"## {label('capture', lang)}", ""]
        for step in document["next"]:
            lines += [f"{_both(step['why'], lang)}", "", *fence(step["run"], "sh"), ""]
    return "\n".join(lines).rstrip() + "\n"


def _match(match: dict[str, Any], lang: str) -> list[str]:
    verdict = choose(VERDICT_NAMES[match["verdict"]], lang)[0]
    lines = [f"## {_both(match['title'], lang)}", "", f"{verdict} · `{match['id']}`", ""]
    evidence = "\n".join(f"{e['source']}:{e['line']}: {e['text']}" for e in match["evidence"])
    lines += [*fence(evidence, "text"), ""] if evidence else []
    lines += [f"**{label('cause', lang)}** {_both(match['cause'], lang)}", ""]
    if note := applies_note(match["applies"], lang):
        lines += [f"**{label('applies', lang)}** {_plain(note)}", ""]
    lines += [f"**{label('fix', lang)}**", ""]
    for number, fix in enumerate(match["fix"], 1):
        effect = choose(EFFECT_NAMES[fix["effect"]], lang)[0]
        lines.append(f"{number}. {_both(fix, lang)} ({effect})")
        lines += ["", *("   " + line for line in fence(fix["run"], "sh")), ""] if fix.get("run") else []
    lines += ["", f"**{label('check', lang)}**", ""] if match["diagnose"] else [""]
    for check in match["diagnose"]:
        lines += [*fence(check["run"], "sh"), "", _both(check["expect"], lang), ""]
    lines += [f"**{label('verify', lang)}** {_both(match['verify'], lang)}", ""]
    urls = [r.get("url") or r["source"] for r in match["references"]]
    return [*lines, *(f"- {url}" for url in urls), ""]


def _both(texts: dict[str, str], lang: str) -> str:
    return _plain(" / ".join(choose(texts, lang)))


def _plain(text: str) -> str:
    return printable(" ".join(text.split())).translate(_SPECIAL)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def fence(text: str, language: str) -> list[str]:
    """A code block whose fence is longer than any run of backticks inside."""
    marks = "```"
    while marks in text:
        marks += "`"
    return [f"{marks}{language}", *(printable(line) for line in text.strip().split("\n")), marks]
