"""An entry at length, for `show`."""

from __future__ import annotations

from typing import Any

from npu_kb.render.conditions import condition_lines
from npu_kb.render.page import Page, references, remedies
from npu_kb.render.text import SEVERITY_NAMES, choose


def entry_text(document: dict[str, Any], lang: str, colour: bool, width: int = 80) -> str:
    """An entry at length, for `show`."""
    page = Page(lang, colour, width)
    severity = choose(SEVERITY_NAMES[document["severity"]], lang)[0]
    heading = f"{document['layer']} / {document['topic']} / {severity} / {document['status']}"
    page.heading((document["id"], "dim"), (heading,))
    for title in choose(document["title"], lang):
        page.paragraph(title, 0, "bold")
    page.blank()
    page.field("symptom", choose(document["symptom"], lang))
    page.blank()
    page.field("cause", choose(document["cause"], lang))
    if span := versions_text(document["versions"]):
        page.field("applies", [span])
    remedies(page, document)
    if document["match"]:
        page.blank()
        page.field("match", condition_lines(document["match"], lang))
    if links := [*document["causes"], *document["related"]]:
        page.blank()
        page.field("related", links)
    references(page, document["references"])
    return page.text()


def versions_text(versions: dict[str, Any]) -> str:
    """The version conditions of an entry in one line; empty where there are none."""
    parts = [f"{name} {span}" for name, span in versions.get("affected", {}).items()]
    parts += [f"chip {', '.join(versions['chip'])}"] if versions.get("chip") else []
    parts += [f"fixed in {name} {version}" for name, version in versions.get("fixed", {}).items()]
    return "; ".join(parts)
