"""What the store holds, as terminal text: diagnoses, unfinished findings, and reports on answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from npu_kb.render.page import Page
from npu_kb.render.text import VERDICT_NAMES, Say, choose

Row = dict[str, Any]

_MOST_CODES = 5
_TEXTS = {
    "none": {"en": "Nothing was diagnosed here yet.", "zh": "本机还没有诊断记录。"},
    "unanswered": {"en": "no answer", "zh": "无结论"},
    "unfinished": {
        "en": "Unfinished findings (npu-kb record --resume N)",
        "zh": "未完成的记录（npu-kb record --resume N）",
    },
    "no feedback": {"en": "No feedback was given yet.", "zh": "还没有反馈。"},
    "right": {"en": "right", "zh": "正确"},
    "wrong": {"en": "wrong", "zh": "误判"},
    "marked": {
        "en": "Marked as {verdict}: {entry} (feedback {id}).",
        "zh": "已标为{verdict}：{entry}（反馈 {id}）。",
    },
    "counts": {"en": "Right {right}, wrong {wrong} in all", "zh": "累计正确 {right} 次，误判 {wrong} 次"},
    "demoted": {"en": ": from now on shown a step less sure", "zh": "，今后结论降一级显示"},
    "undo": {"en": "To take it back: npu-kb feedback --undo {id}", "zh": "撤销：npu-kb feedback --undo {id}"},
    "withdrawn": {"en": "Feedback {id} is withdrawn.", "zh": "反馈 {id} 已撤销。"},
    "diagnosis": {"en": "diagnosis {number}", "zh": "诊断 {number}"},
}
say = Say(_TEXTS)
"""The texts of these commands."""


def history_text(diagnoses: list[Row], findings: list[Row], feedback: list[Row], page: Page) -> str:
    """Diagnoses, the last one first, two lines each; then the unfinished findings."""
    if not diagnoses:
        page.paragraph(say("none", page.lang))
    for row in diagnoses:
        _diagnosis(page, row, [report for report in feedback if report["diagnosis"] == row["id"]])
    if findings:
        from npu_kb.render.record import findings_text

        page.blank()
        page.paragraph(say("unfinished", page.lang), 0, "bold")
        page.lines += findings_text(findings, page.lang, page.width).splitlines()
    return page.text()


def _diagnosis(page: Page, row: Row, reports: list[Row]) -> None:
    first = next(iter(row["matches"]), None)
    verdict = choose(VERDICT_NAMES[first["verdict"]], page.lang)[0] if first else say("unanswered", page.lang)
    page.paragraph(f"{row['id']:>5}  {local_time(row['time'])}  {verdict}  {first['id'] if first else ''}".rstrip())
    versions = [f"{component} {version}" for component, version in row["versions"].items()]
    marks = [f"{say(report['verdict'], page.lang)}: {report['entry']}" for report in reports]
    page.paragraph("; ".join([", ".join(row["sources"]), *versions, *row["codes"][:_MOST_CODES], *marks]), 7, "dim")


def reported_text(report: Row, lang: str) -> str:
    """What was marked, what that changes, and how to take it back."""
    verdict = say(report["verdict"], lang)
    lines = [say("marked", lang, **{**report, "verdict": verdict})]
    lines.append(say("counts", lang, **report) + (say("demoted", lang) if report["demoted"] else "") + _stop(lang))
    lines.append(say("undo", lang, id=report["id"]))
    return "\n".join(lines) + "\n"


def feedback_text(feedback: list[Row], page: Page) -> str:
    """All reports, the last one first."""
    if not feedback:
        page.paragraph(say("no feedback", page.lang))
    for row in feedback:
        page.paragraph(f"{row['id']:>5}  {local_time(row['time'])}  {say(row['verdict'], page.lang)}  {row['entry']}")
        number = say("diagnosis", page.lang, number=row["diagnosis"]) if row["diagnosis"] else ""
        if details := "; ".join(part for part in (number, row["note"]) if part):
            page.paragraph(details, 7, "dim")
    return page.text()


def local_time(utc: str) -> str:
    """A time of the store on this machine's clock, to the minute."""
    return datetime.fromisoformat(utc.replace("Z", "+00:00")).astimezone().strftime("%Y-%m-%d %H:%M")


def _stop(lang: str) -> str:
    return "。" if lang == "zh" else "."
