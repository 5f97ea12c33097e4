"""The answer on one screen: cause, evidence, fix, checks, verification."""

from __future__ import annotations

from typing import Any

from npu_kb.intake.clean import printable
from npu_kb.render.page import Page, references, remedies
from npu_kb.render.text import SEVERITY_NAMES, VERDICT_NAMES, choose, clipped, colon, filled, label, line_label

_NEAREST = 2
"""Suggestions that are shown where no cause is known: of the third, one in twelve was right."""
_MOST_WAITED_FOR = 3
_WAITED_FOR = {
    "en": "{by:rank waits|ranks wait} for {party} ({line}): its own logs tell why, read them first.",
    "zh": "{by} 个 rank 在等待 {party}（{line}）：原因在它自己的日志里，请先查看。",
}
_VERDICT_COLOURS = {"certain": "green", "likely": "yellow", "possible": "cyan"}


def diagnosis_text(document: dict[str, Any], lang: str, colour: bool, width: int = 80, full: bool = False) -> str:
    """A diagnosis document as text; `full` shows every match at length."""
    page = Page(lang, colour, width)
    claims = [m for m in document["matches"] if m["verdict"] != "possible"]
    if not claims:
        _nothing_certain(page, document)
        return page.text()
    shown = document["matches"] if full else claims[:1]
    for match in shown:
        _match_block(page, match, full)
    others = [m for m in document["matches"] if m not in shown]
    _short_list(page, "independent", [m for m in others if _is_independent(m, claims[0])][:3])
    _short_list(page, "follows", [m for m in others if m in claims and not _is_independent(m, claims[0])][:3])
    _short_list(page, "others", [m for m in others if m not in claims][:2])
    _codes(page, document["codes"])
    _structure(page, document)
    return page.text()


def _structure(page: Page, document: dict[str, Any]) -> None:
    """Exceptions in their order and what the log names: operators, devices, ranks."""
    rows = [
        f"{line_label(e['line'], page.lang)}{colon(page.lang)}{e['type']}: {e['message']}"
        for e in document["exceptions"][:6]
    ]
    rows += [f"{name}: {', '.join(values)}" for name, values in document["names"].items() if values]
    if rows:
        page.blank()
        page.lines.append(page.style(label("structure", page.lang), "bold"))
    for row in rows:
        page.paragraph(clipped(row, 2 * page.width - 20), 2)


def _placed(evidence: dict[str, Any], lang: str) -> str:
    """A line of evidence behind its file and number."""
    source = "" if evidence["source"] == "-" else f"{evidence['source']} "
    return f"{source}{line_label(evidence['line'], lang)}{colon(lang)}{printable(evidence['text'])}"


def _is_independent(match: dict[str, Any], first: dict[str, Any]) -> bool:
    """A claim of a fault of its own: nothing in the log explains it."""
    own = match["role"] == "root" and not match["explained_by"] and match["severity"] != "benign"
    return own and match["verdict"] != "possible" and match["id"] != first["id"]


def _match_block(page: Page, match: dict[str, Any], full: bool) -> None:
    page.blank()
    verdict = choose(VERDICT_NAMES[match["verdict"]], page.lang)[0].upper()
    kind = "" if match["severity"] == "fault" else f"({choose(SEVERITY_NAMES[match['severity']], page.lang)[0]})"
    page.heading((verdict, "bold", _VERDICT_COLOURS[match["verdict"]]), (kind,), (match["id"], "dim"))
    for title in choose(match["title"], page.lang):
        page.paragraph(title, 0, "bold")
    page.blank()
    for evidence in match["evidence"][: None if full else 3]:
        page.paragraph(clipped(_placed(evidence, page.lang), 3 * page.width - 20), 0, "red")
    for note in waiting_notes(match, page.lang):
        page.paragraph(note, 0, "bold")
    page.blank()
    page.field("cause", choose(match["cause"], page.lang))
    if note := applies_note(match["applies"], page.lang):
        page.field("applies", [note])
    if note := feedback_note(match, page.lang):
        page.field("feedback", [note])
    remedies(page, match)
    if full:
        references(page, match["references"])


def waiting_notes(match: dict[str, Any], lang: str) -> list[str]:
    """Whom the ranks of the log wait for, a sentence for each; none where no line says it."""
    return [
        filled(_WAITED_FOR["zh" if lang == "zh" else "en"], **waited | {"line": line_label(waited["line"], lang)})
        for waited in match.get("waited_for", [])[:_MOST_WAITED_FOR]
    ]


def applies_note(applies: dict[str, Any], lang: str) -> str:
    """What the versions at hand mean for a match, in one sentence; nothing where no version matters."""
    state, zh = applies["state"], lang == "zh"
    if state == "any":
        return ""
    if state == "unknown":
        names, commands = ", ".join(applies["needed"]), "; ".join(applies["commands"])
        if zh:
            return f"取决于 {names} 的版本，日志中没有；可执行：{commands}"
        return f"depends on the version of {names}, not in the log; it is told by: {commands}"
    seen, span = f"{applies['component']} {applies['version']}", applies["range"]
    if state == "applies":
        return f"{seen} 在受影响范围内（{span}）。" if zh else f"{seen} is affected ({span})."
    if state == "fixed":
        if zh:
            return f"{seen} 已修复（{span}）；若仍出现，说明加载的是旧版本，请确认实际加载路径。"
        return f"fixed in your {seen} ({span}); if you still see it, an old copy is being loaded: check which one."
    return f"{seen} 不在受影响范围内（{span}）。" if zh else f"{seen} is outside the affected range ({span})."


def feedback_note(match: dict[str, Any], lang: str) -> str:
    """What the team reported of the match's entry, in one sentence; nothing where that moved nothing."""
    feedback, zh = match["feedback"], lang == "zh"
    if feedback and feedback["demoted"]:
        wrong, verdict = feedback["wrong"], choose(VERDICT_NAMES[match["verdict"]], lang)[0]
        if zh:
            return f"团队已 {wrong} 次标为误判，降为“{verdict}”。"
        return f"your team marked this wrong {wrong} times: shown as {verdict}."
    if feedback and feedback["right"] > feedback["wrong"]:
        right = feedback["right"]
        return f"团队已 {right} 次确认正确。" if zh else f"your team marked this right {right}x."
    return ""


def _short_list(page: Page, heading: str, matches: list[dict[str, Any]]) -> None:
    if not matches:
        return
    page.blank()
    page.lines.append(page.style(label(heading, page.lang), "bold"))
    for match in matches:
        verdict = choose(VERDICT_NAMES[match["verdict"]], page.lang)[0]
        for title in choose(match["title"], page.lang):
            page.paragraph(f"{verdict}{colon(page.lang)}{title}", 2)
        if note := feedback_note(match, page.lang):
            page.paragraph(note, 4)
        if match["verdict"] != "possible":
            evidence = match["evidence"][0]
            page.paragraph(clipped(_placed(evidence, page.lang), 74), 4, "red")
        page.paragraph(f"npu-kb show {match['id']}", 4, "dim")


def _codes(page: Page, codes: list[dict[str, Any]]) -> None:
    if not codes:
        return
    page.blank()
    page.lines.append(page.style(label("codes", page.lang), "bold"))
    for row in codes[:6]:
        meaning = " / ".join(choose(row["meaning"], page.lang))
        place = f"({row['family']}, {line_label(row['line'], page.lang)})"
        page.paragraph(f"{row['code']} {place}{colon(page.lang)}{meaning}", 2)


def _nothing_certain(page: Page, document: dict[str, Any]) -> None:
    page.lines.append(page.style(label("nothing" if document["lines_read"] else "empty", page.lang), "bold"))
    _codes(page, document["codes"])
    _short_list(page, "nearest", document["matches"][:_NEAREST])
    if document["next"]:
        page.blank()
        page.lines.append(page.style(label("capture", page.lang), "bold"))
        for step in document["next"]:
            page.command(step["run"], " / ".join(choose(step["why"], page.lang)))
