"""Checklists as documents, terminal text and Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from npu_kb.render.inert import inert
from npu_kb.render.markdown import both, fence
from npu_kb.render.page import Page, printable_lines
from npu_kb.render.text import EFFECT_NAMES, choose

if TYPE_CHECKING:
    from npu_kb.environment.ticks import Tick

SCHEMA = "npu-kb/checklist/1"
_MARKS = {"done": "[x]", "wrong": "[!]", "open": "[ ]"}
_COLOURS = {"done": ["green"], "wrong": ["red"], "open": []}
_INDENT = 7
_MOST_TOLD = 8
TEXTS = {
    "also": {"en": "If not", "zh": "若不满足"},
    "told": {"en": "Facts", "zh": "依据"},
    "sum": {
        "en": "{done} proved, {wrong} disproved, {open} to be looked at by you.",
        "zh": "已证实 {done} 项，不满足 {wrong} 项，其余 {open} 项需人工确认。",
    },
}


def checklist_document(
    checklist: dict[str, Any], commands: dict[str, dict[str, Any]], ticks: list[Tick] | None = None
) -> dict[str, Any]:
    """{"schema", "id", "title", "when", "checked", "steps": [{"title", "expect", "run", "effect", "state", "told"}]}

    `state` is `done`, `wrong` or `open`; without `ticks` all are open and `checked` is false.
    """
    steps = []
    for number, step in enumerate(checklist["steps"]):
        command = commands.get(step.get("command", ""), {"run": step.get("run"), "effect": step["effect"]})
        state, told = ticks[number] if ticks else ("open", [])
        kept = {name: step[name] for name in ("title", "why", "expect", "entries") if name in step}
        steps.append({**kept, "run": command["run"], "effect": command["effect"], "state": state, "told": told})
    named = {name: checklist[name] for name in ("id", "title", "when")}
    return {"schema": SCHEMA, **named, "checked": ticks is not None, "steps": steps}


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
        page.paragraph(_sum(document, lang), 0, "bold")
    return page.text()


def _step_text(page: Page, number: int, step: dict[str, Any]) -> None:
    mark = page.style(_MARKS[step["state"]], *_COLOURS[step["state"]])
    first = len(page.lines)
    for text in choose(step["title"], page.lang):
        page.paragraph(text, _INDENT)
    page.lines[first] = f"{mark} {number:>2} {page.lines[first].lstrip()}"
    if step["run"]:
        page.lines += [" " * _INDENT + page.style(line, "cyan") for line in _command(step, page.lang)]
    for text in choose(step["expect"], page.lang):
        page.paragraph(text, _INDENT)
    for told in step["told"][:_MOST_TOLD]:
        page.paragraph(choose(told, page.lang)[0], _INDENT + 2, *_COLOURS[step["state"]])
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
        lines += [inert(_sum(document, lang)), ""]
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
        lines += [f"- {_MARKS[step['state']]} {both(step['expect'], lang)}"]
        lines += [f"  - {both(told, lang)}" for told in step["told"][:_MOST_TOLD]] + [""]
        lines += links(step["entries"])
    return lines


def _shows(lang: str) -> Callable[[list[str]], list[str]]:
    """Entries as the commands that show them."""
    heading = choose(TEXTS["also"], lang)[0] + ("：" if lang == "zh" else ": ")
    return lambda ids: [f"{heading}{', '.join(f'`npu-kb show {id}`' for id in ids)}", ""] if ids else []


def _sum(document: dict[str, Any], lang: str) -> str:
    states = [step["state"] for step in document["steps"]]
    return " / ".join(choose(TEXTS["sum"], lang)).format(**{state: states.count(state) for state in _MARKS})
