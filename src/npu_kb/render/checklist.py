"""Checklists as documents, terminal text and Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

from npu_kb.render.inert import inert
from npu_kb.render.markdown import both, fence
from npu_kb.render.page import Page, printable_lines
from npu_kb.render.text import EFFECT_NAMES, choose

if TYPE_CHECKING:
    from npu_kb.environment.ticks import Tick

SCHEMA = "npu-kb/checklist/1"
_MARKS = {"done": "[x]", "wrong": "[!]", "open": "[ ]"}
STEP_COLOURS = {"done": ["green"], "wrong": ["red"], "open": []}
_INDENT = 7
MOST_TOLD = 8
TEXTS = {
    "also": {"en": "If not", "zh": "若不满足"},
    "told": {"en": "Facts", "zh": "依据"},
    "sum": {
        "en": "{done} proved, {wrong} disproved, {open} to be looked at by you.",
        "zh": "已证实 {done} 项，不满足 {wrong} 项，其余 {open} 项需人工确认。",
    },
    "sum by hand": {
        "en": "{done} proved, {wrong} disproved, {hand} ticked by hand, {open} to be looked at by you.",
        "zh": "已证实 {done} 项，不满足 {wrong} 项，人工勾选 {hand} 项，其余 {open} 项需人工确认。",
    },
    "ticked": {"en": "ticked by hand", "zh": "人工勾选"},
    "doubted": {"en": "ticked by hand, but the facts speak against it", "zh": "已人工勾选，但与事实不符"},
}


def checklist_document(
    checklist: dict[str, Any],
    commands: dict[str, dict[str, Any]],
    ticks: list[Tick] | None = None,
    by_hand: Collection[str] = (),
) -> dict[str, Any]:
    """{"schema", "id", "title", "when", "checked", "steps": [{"title", "expect", "run", "effect", "state", "told"}]}

    `state` is `done`, `wrong` or `open`, by the facts alone; without `ticks` all are open. A step has `by_hand` if its
    English title is among those that somebody ticked. `checked` is false where there are neither.
    """
    steps = []
    for number, step in enumerate(checklist["steps"]):
        command = commands.get(step.get("command", ""), {"run": step.get("run"), "effect": step["effect"]})
        state, told = ticks[number] if ticks else ("open", [])
        kept = {name: step[name] for name in ("title", "why", "expect", "command", "entries") if name in step}
        hand = {"by_hand": True} if step["title"]["en"] in by_hand else {}
        steps.append({**kept, "run": command["run"], "effect": command["effect"], "state": state, "told": told, **hand})
    named = {name: checklist[name] for name in ("id", "title", "when")}
    return {"schema": SCHEMA, **named, "checked": ticks is not None or bool(by_hand), "steps": steps}


def step_mark(step: dict[str, Any]) -> str:
    """[x] of a step that the facts prove or somebody ticked, [!] of one that they disprove, whoever ticked it."""
    return _MARKS["done" if is_settled(step) else step["state"]]


def is_settled(step: dict[str, Any]) -> bool:
    """Whether nothing is left to do: the facts prove it, or somebody ticked it and they do not speak against it."""
    return step["state"] == "done" or (step["state"] == "open" and "by_hand" in step)


def hand_note(step: dict[str, Any], lang: str) -> str:
    """That somebody ticked it; empty where nobody did."""
    name = "doubted" if step["state"] == "wrong" else "ticked"
    return choose(TEXTS[name], lang)[0] if "by_hand" in step else ""


def is_disproved(document: dict[str, Any]) -> bool:
    """Whether a fact speaks against a step."""
    return any(step["state"] == "wrong" for step in document["steps"])


def checklists_text(checklists: dict[str, Any], lang: str, colour: bool, width: int) -> str:
    """A line or two for each checklist."""
    page = Page(lang, colour, width)
    for id, checklist in checklists.items():
        page.lines.append(page.style(id, "bold"))
        for text in [*choose(checklist["title"], lang), *choose(checklist["when"], lang)]:
            page.paragraph(text, 2)
    return page.text()


def checklist_text(document: dict[str, Any], lang: str, colour: bool, width: int) -> str:
    """The checklist with a mark for each step, and below it what to run, what must be seen and what tells it."""
    page = Page(lang, colour, width)
    for text in choose(document["title"], lang):
        page.paragraph(text, 0, "bold")
    for text in choose(document["when"], lang):
        page.paragraph(text)
    for number, step in enumerate(document["steps"], 1):
        page.blank()
        _step_text(page, number, step)
    if document["checked"]:
        page.blank()
        page.paragraph(sum_text(document, lang), 0, "bold")
    return page.text()


def _step_text(page: Page, number: int, step: dict[str, Any]) -> None:
    mark = page.style(step_mark(step), *STEP_COLOURS[step["state"]])
    first = len(page.lines)
    for text in choose(step["title"], page.lang):
        page.paragraph(text, _INDENT)
    page.lines[first] = f"{mark} {number:>2} {page.lines[first].lstrip()}"
    if step["run"]:
        page.lines += [" " * _INDENT + page.style(line, "cyan") for line in _command(step, page.lang)]
    for text in choose(step["expect"], page.lang):
        page.paragraph(text, _INDENT)
    if note := hand_note(step, page.lang):
        page.paragraph(note, _INDENT + 2, *STEP_COLOURS[step["state"]])
    for told in step["told"][:MOST_TOLD]:
        page.paragraph(choose(told, page.lang)[0], _INDENT + 2, *STEP_COLOURS[step["state"]])
    if step["state"] == "wrong" or not step["told"]:
        for id in step["entries"]:
            page.paragraph(f"npu-kb show {id}", _INDENT + 2, "dim")


def _command(step: dict[str, Any], lang: str) -> list[str]:
    """The command of a step to copy, never wrapped inside; behind it what it changes."""
    effect = "" if step["effect"] == "read" else f"  [{choose(EFFECT_NAMES[step['effect']], lang)[0]}]"
    *first, last = printable_lines(step["run"])
    return [f"$ {line}" for line in [*first, last + effect]]


def checklist_markdown(document: dict[str, Any], lang: str) -> str:
    """The checklist as a Markdown page of its own."""
    lines = [f"# {both(document['title'], lang)}", "", *markdown_lines(document, lang, _shows(lang))]
    if document["checked"]:
        lines += [inert(sum_text(document, lang)), ""]
    return "\n".join(lines).rstrip() + "\n"


def markdown_lines(document: dict[str, Any], lang: str, links: Callable[[list[str]], Iterable[str]]) -> list[str]:
    """The lines below the title; `links` writes the entries to read where a step is not so."""
    lines = [both(document["when"], lang), ""]
    for number, step in enumerate(document["steps"], 1):
        lines += [f"**{number}.** {both(step['title'], lang)}", ""]
        lines += [both(step["why"], lang), ""] if "why" in step else []
        if step["run"]:
            effect = "" if step["effect"] == "read" else choose(EFFECT_NAMES[step["effect"]], lang)[0]
            lines += [*fence(step["run"], "sh"), "", *([f"({effect})", ""] if effect else [])]
        lines += [f"- {step_mark(step)} {both(step['expect'], lang)}"]
        lines += [f"  - {inert(note)}"] if (note := hand_note(step, lang)) else []
        lines += [f"  - {both(told, lang)}" for told in step["told"][:MOST_TOLD]] + [""]
        lines += links(step["entries"])
    return lines


def _shows(lang: str) -> Callable[[list[str]], list[str]]:
    """Entries as the commands that show them."""
    heading = choose(TEXTS["also"], lang)[0] + ("：" if lang == "zh" else ": ")
    return lambda ids: [f"{heading}{', '.join(f'`npu-kb show {id}`' for id in ids)}", ""] if ids else []


def sum_text(document: dict[str, Any], lang: str) -> str:
    """How many steps the facts prove and disprove, how many somebody ticked, and how many are left."""
    steps = document["steps"]
    counts = Counter("hand" if "by_hand" in s and s["state"] == "open" else s["state"] for s in steps)
    texts = choose(TEXTS["sum by hand" if counts["hand"] else "sum"], lang)
    return " / ".join(texts).format(**{name: counts[name] for name in (*_MARKS, "hand")})
