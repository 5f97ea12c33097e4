"""The answer on one screen: cause, evidence, fix, checks, verification."""

from __future__ import annotations

from typing import Any

from npu_kb.intake.clean import printable
from npu_kb.render.text import (
    EFFECT_NAMES,
    SEVERITY_NAMES,
    VERDICT_NAMES,
    Style,
    choose,
    clipped,
    label,
    width_of,
    wrap,
)

_LABEL_WIDTH = 9
_VERDICT_COLOURS = {"certain": "green", "likely": "yellow", "possible": "cyan"}


class Page:
    """Collects lines of at most `width` cells in one language (or both)."""

    def __init__(self, lang: str, colour: bool, width: int) -> None:
        self.lang = lang
        self.style = Style(colour)
        self.width = width
        self.lines: list[str] = []

    def blank(self) -> None:
        """An empty line, never two."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def paragraph(self, text: str, indent: int = 0, *styles: str) -> None:
        """Wrapped text behind an indent."""
        for line in wrap(printable(text), self.width - indent):
            self.lines.append(" " * indent + self.style(line, *styles))

    def field(self, name: str, texts: list[str]) -> None:
        """A labelled paragraph; further texts stand below the first."""
        heading = label(name, self.lang)
        pad = " " * max(1, _LABEL_WIDTH - width_of(heading))
        lines = [line for text in texts for line in wrap(printable(text), self.width - _LABEL_WIDTH)]
        for i, line in enumerate(lines):
            self.lines.append((self.style(heading, "bold") + pad if i == 0 else " " * _LABEL_WIDTH) + line)

    def command(self, run: str, note: str = "") -> None:
        """A command line to copy, never wrapped inside, and a remark behind it where it fits."""
        for line in printable_lines(run):
            self.lines.append(" " * _LABEL_WIDTH + self.style(f"$ {line}", "cyan"))
        if note:
            self.paragraph(note, _LABEL_WIDTH + 2, "dim")

    def text(self) -> str:
        """All lines."""
        return "\n".join(self.lines).rstrip() + "\n"


def printable_lines(text: str) -> list[str]:
    """The lines of a command without control characters."""
    return [printable(line) for line in text.strip().split("\n")]


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
    rows = [f"{label('line', page.lang)} {e['line']}: {e['type']}: {e['message']}" for e in document["exceptions"][:6]]
    rows += [f"{name}: {', '.join(values)}" for name, values in document["names"].items() if values]
    if rows:
        page.blank()
        page.lines.append(page.style(label("structure", page.lang), "bold"))
    for row in rows:
        page.paragraph(clipped(row, 2 * page.width - 20), 2)


def _is_independent(match: dict[str, Any], first: dict[str, Any]) -> bool:
    """A claim of a fault of its own: nothing in the log explains it."""
    own = match["role"] == "root" and not match["explained_by"] and match["severity"] != "benign"
    return own and match["verdict"] != "possible" and match["id"] != first["id"]


def _match_block(page: Page, match: dict[str, Any], full: bool) -> None:
    page.blank()
    verdict = page.style(VERDICT_NAMES[match["verdict"]]["zh" if page.lang == "zh" else "en"].upper(), "bold",
                         _VERDICT_COLOURS[match["verdict"]])  # fmt: skip
    kind = "" if match["severity"] == "fault" else f" ({choose(SEVERITY_NAMES[match['severity']], page.lang)[0]})"
    page.lines.append(f"{verdict}{kind}  {page.style(match['id'], 'dim')}")
    for title in choose(match["title"], page.lang):
        page.paragraph(title, 0, "bold")
    page.blank()
    for evidence in match["evidence"][: None if full else 3]:
        source = "" if evidence["source"] == "-" else f"{evidence['source']} "
        place = f"{source}{label('line', page.lang)} {evidence['line']}: "
        page.paragraph(clipped(place + printable(evidence["text"]), 3 * page.width - 20), 0, "red")
    page.blank()
    page.field("cause", choose(match["cause"], page.lang))
    if note := applies_note(match["applies"], page.lang):
        page.field("applies", [note])
    _remedies(page, match)
    if full:
        _references(page, match["references"])


def _remedies(page: Page, document: dict[str, Any]) -> None:
    """Fix, checks and verification: the same for a match and for an entry."""
    page.blank()
    for i, fix in enumerate(document["fix"], 1):
        _remedy(page, "fix" if i == 1 else "", i, len(document["fix"]), fix)
    page.blank()
    for i, check in enumerate(document["diagnose"]):
        if i == 0:
            page.lines.append(page.style(label("check", page.lang), "bold"))
        effect = "" if check["effect"] == "read" else f"[{choose(EFFECT_NAMES[check['effect']], page.lang)[0]}] "
        page.command(check["run"], effect + " / ".join(choose(check["expect"], page.lang)))
    page.blank()
    page.field("verify", choose(document["verify"], page.lang))


def _remedy(page: Page, name: str, number: int, total: int, fix: dict[str, Any]) -> None:
    effect = "" if fix["effect"] == "read" else f" [{choose(EFFECT_NAMES[fix['effect']], page.lang)[0]}]"
    texts = choose(fix, page.lang)
    texts[-1] += effect
    if total > 1:
        texts[0] = f"{number}. {texts[0]}"
    if name:
        page.field(name, texts)
    else:
        for text in texts:
            page.paragraph(text, _LABEL_WIDTH)
    if fix.get("run"):
        page.command(fix["run"])


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


def _references(page: Page, references: list[dict[str, Any]]) -> None:
    if references:
        page.blank()
        page.field("sources", [r.get("url") or r["source"] for r in references])


def _short_list(page: Page, heading: str, matches: list[dict[str, Any]]) -> None:
    if not matches:
        return
    page.blank()
    page.lines.append(page.style(label(heading, page.lang), "bold"))
    for match in matches:
        verdict = VERDICT_NAMES[match["verdict"]]["zh" if page.lang == "zh" else "en"]
        for title in choose(match["title"], page.lang):
            page.paragraph(f"{verdict}: {title}", 2)
        if match["verdict"] != "possible":
            evidence = match["evidence"][0]
            page.paragraph(clipped(f"{label('line', page.lang)} {evidence['line']}: {evidence['text']}", 74), 4, "red")
        page.paragraph(f"npu-kb show {match['id']}", 4, "dim")


def _codes(page: Page, codes: list[dict[str, Any]]) -> None:
    if not codes:
        return
    page.blank()
    page.lines.append(page.style(label("codes", page.lang), "bold"))
    for row in codes[:6]:
        meaning = " / ".join(choose(row["meaning"], page.lang))
        page.paragraph(f"{row['code']} ({row['family']}, {label('line', page.lang)} {row['line']}): {meaning}", 2)


def _nothing_certain(page: Page, document: dict[str, Any]) -> None:
    page.lines.append(page.style(label("nothing", page.lang), "bold"))
    _codes(page, document["codes"])
    _short_list(page, "nearest", document["matches"][:3])
    if document["next"]:
        page.blank()
        page.lines.append(page.style(label("capture", page.lang), "bold"))
        for step in document["next"]:
            page.command(step["run"], " / ".join(choose(step["why"], page.lang)))


def entry_text(document: dict[str, Any], lang: str, colour: bool, width: int = 80) -> str:
    """An entry at length, for `show`."""
    page = Page(lang, colour, width)
    zh = "zh" if lang == "zh" else "en"
    heading = (
        f"{document['layer']} / {document['topic']} / {SEVERITY_NAMES[document['severity']][zh]} / {document['status']}"
    )
    page.lines.append(f"{page.style(document['id'], 'dim')}  {heading}")
    for title in choose(document["title"], lang):
        page.paragraph(title, 0, "bold")
    page.blank()
    page.field("symptom", choose(document["symptom"], lang))
    page.blank()
    page.field("cause", choose(document["cause"], lang))
    if span := versions_text(document["versions"]):
        page.field("applies", [span])
    _remedies(page, document)
    texts = [t for block in document["match"] for t in [*block["text"], *block["any"], *block["regex"]]]
    if texts:
        page.blank()
        page.field("match", texts)
    if links := [*document["causes"], *document["related"]]:
        page.blank()
        page.field("related", links)
    _references(page, document["references"])
    return page.text()


_SHOWN_BLOCKS = 4
_ACCOUNT = {
    True: {"en": "holds", "zh": "成立"},
    False: {"en": "does not hold", "zh": "不成立"},
}


def account_text(document: dict[str, Any], lang: str, colour: bool, width: int = 80) -> str:
    """Which conditions of an entry held in a log, for `why --explain`."""
    page = Page(lang, colour, width)
    tongue = "zh" if lang == "zh" else "en"
    page.lines.append(
        f"{page.style(document['id'], 'dim')}  {label('matched' if document['matches'] else 'unmatched', lang)}"
    )
    for title in choose(document["title"], lang):
        page.paragraph(title, 0, "bold")
    for number, block in enumerate(document["blocks"][:_SHOWN_BLOCKS], 1):
        page.blank()
        proves = VERDICT_NAMES[block["proves"]][tongue]
        page.lines.append(f"{number}. {_ACCOUNT[block['holds']][tongue]} ({proves})")
        for row in block["conditions"]:
            _condition(page, row, tongue)
        if block["too_far_apart"]:
            page.paragraph(f"{label('far', lang)} {block['within']}", 3)
    if not document["blocks"]:
        page.paragraph(label("wordless", lang), 0)
    return page.text()


def _condition(page: Page, row: dict[str, Any], tongue: str) -> None:
    mark = page.style("+", "green") if row["holds"] else page.style("-", "red")
    page.lines.append(f"   {mark} {clipped(row['kind'] + ': ' + printable(row['what']), page.width - 5)}")
    for line in row["lines"][:1]:
        page.paragraph(clipped(f"{label('line', tongue)} {line['line']}: {line['text']}", page.width - 8), 7, "dim")
    if near := row.get("nearest"):
        text = f"{label('near', tongue)} {near['nearness']}%: {label('line', tongue)} {near['line']}: {near['text']}"
        page.paragraph(clipped(text, page.width - 8), 7, "yellow")


def versions_text(versions: dict[str, Any]) -> str:
    """The version conditions of an entry in one line; empty where there are none."""
    parts = [f"{name} {span}" for name, span in versions.get("affected", {}).items()]
    parts += [f"chip {', '.join(versions['chip'])}"] if versions.get("chip") else []
    parts += [f"fixed in {name} {version}" for name, version in versions.get("fixed", {}).items()]
    return "; ".join(parts)
