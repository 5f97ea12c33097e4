"""A check as the comment on a pull request: Markdown of bounded size in which foreign text does nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from npu_kb.gates.goodlogs import RULE as SILENCE
from npu_kb.render.check import shown, sum_line
from npu_kb.render.inert import inert, unlinked
from npu_kb.render.markdown import diagnosis_markdown

if TYPE_CHECKING:
    from npu_kb.errors import Problem
    from npu_kb.gates.review import EntryReview, Review
    from npu_kb.gates.run import Report

MARK = "<!-- npu-kb check -->"
"""First line, by which the comment is found again and renewed."""
LIMIT = 60_000
"""Bytes; a comment may hold 65,536 characters."""
_MOST_ROWS = 40
_CELL = 300
_LEFT_OUT = "\n_More does not fit here; `npu-kb check` shows all. 内容过长，其余请在本地运行查看。_\n"


def comment(report: Report, review: Review) -> str:
    """The sum, what is wrong, the entries with their counts, and the answer that each of them gives."""
    parts = [f"{MARK}\n### {inert(sum_line(report))}\n"]
    parts += [_accuracy(review)] if review.after else []
    parts += [_entries(review.entries)] if review.entries else []
    false = [problem for problem in report.problems if problem.rule == SILENCE]
    other = [problem for problem in report.problems if problem.rule != SILENCE]
    parts += _problems("New false hits 新增误报", false)
    parts += _problems("Problems 问题", other)
    parts += _problems("Warnings 警告", report.warnings)
    return _fitting([*parts, *map(_answer, review.entries)])


def _accuracy(review: Review) -> str:
    """How many of all samples are right, before and now."""
    return f"Right answers over all samples 全部样例准确率: {review.before or '-'} → **{review.after}**\n"


def _entries(entries: list[EntryReview]) -> str:
    """A row for each entry: how it changed, its counts, the nearest other entries."""
    rows = [
        "| entry 条目 | change 变更 | TP | TN | FP | FN | nearest entries 最接近的条目 |",
        "|---|---|--:|--:|--:|--:|---|",
    ]
    for entry in entries[:_MOST_ROWS]:
        counts = [str(number) for number in entry.tally[1:]] if entry.tally else ["-"] * 4
        near = ", ".join(f"{other.id} ({other.likeness})" for other in entry.neighbours)
        rows.append(f"| {' | '.join([inert(entry.id), entry.how, *counts, inert(near) or '-'])} |")
    return "\n".join([*rows, *_more(entries)]) + "\n"


def _problems(title: str, problems: list[Problem]) -> list[str]:
    """A list of problems with their places, if there are any."""
    if not problems:
        return []
    rows = [f"- {_place(problem)} {inert(_short(problem))}" for problem in problems[:_MOST_ROWS]]
    return ["\n".join([f"#### {title}", "", *rows, *_more(problems)]) + "\n"]


def _more(rows: list[EntryReview] | list[Problem]) -> list[str]:
    return [f"\n… {len(rows) - _MOST_ROWS} more 条未列出"] if len(rows) > _MOST_ROWS else []


def _place(problem: Problem) -> str:
    return inert(f"{shown(problem).path}:{problem.line}")


def _short(problem: Problem) -> str:
    text = f"{problem.field}: {problem.message}" if problem.field else problem.message
    return text if len(text) <= _CELL else text[:_CELL] + " ..."


def _answer(entry: EntryReview) -> str:
    """What somebody with the entry's first sample sees, folded away."""
    if entry.answer is None:
        return ""
    text = re.sub(r"^##(?= )", "####", diagnosis_markdown(entry.answer, "both"), count=1, flags=re.MULTILINE)
    return f"<details><summary>{inert(entry.id)}</summary>\n\n{unlinked(text)}\n</details>\n"


def _fitting(parts: Iterable[str]) -> str:
    """The parts as far as they fit."""
    text = ""
    for part in parts:
        if len((text + part).encode("utf-8", "replace")) > LIMIT:
            return text + _LEFT_OUT
        text += f"{part}\n" if part else ""
    return text
