"""`explain` as terminal text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from npu_kb.codes.explain import ExplainStore, Explanation, Finding, explain
from npu_kb.intake.clean import printable
from npu_kb.render.text import VERDICT_NAMES, Style, choose, clipped, colon, side_by_side, width_of, wrap

SCHEMA = "npu-kb/explain/1"
_NONE: Mapping[str, Killed] = MappingProxyType({})
FOUND, NOTHING, BAD_USE = 0, 1, 2
_INDENT = 2
_LABEL_WIDTH = 11
_LISTED = 60
_LABELS = {
    "likely": {"en": "Likely", "zh": "可能原因"},
    "action": {"en": "Do", "zh": "处理"},
    "wrapper": {"en": "Wrapper", "zh": "外层码"},
    "becomes": {"en": "See also", "zh": "对应码"},
    "where": {"en": "Where", "zh": "位置"},
    "level": {"en": "Level", "zh": "级别"},
    "layout": {"en": "Bits", "zh": "位域"},
    "values": {"en": "Values", "zh": "取值"},
    "default": {"en": "Default", "zh": "默认值"},
    "versions": {"en": "CANN", "zh": "CANN 版本"},
    "chips": {"en": "Chips", "zh": "芯片"},
    "entries": {"en": "Entries", "zh": "相关条目"},
    "source": {"en": "Source", "zh": "来源"},
}
_TEXTS = {
    "wrapper": {
        "en": "says only that something failed; look at the code below it or printed with it",
        "zh": "只表示有失败发生，请看其下方或同处的错误码",
    },
    "unlisted": {"en": "has the form of a code, but no catalogue lists it", "zh": "符合错误码格式，但未收录"},
    "nothing": {"en": "nothing known", "zh": "未找到相关信息"},
    "near": {"en": "spelt alike:", "zh": "相近的码："},
    "listing": {"en": "codes start so", "zh": "个码以此开头"},
    "more": {"en": "more; give a longer prefix", "zh": "个未列出，请给更长的前缀"},
    "several": {"en": "The number alone fits several families:", "zh": "仅凭数字可能属于多个类别："},
    "device": {"en": "device event not in the catalogue, read from its bits", "zh": "未收录的设备事件，按位域解析"},
    "killed": {
        "en": "as an exit status: 128 + {number}, the process was killed by {signal}",
        "zh": "作为退出码：128 + {number}，进程被信号 {signal} 终止",
    },
    "no_words": {
        "en": "explain: give a code, such as 507018, EZ9999 or 0x7020016",
        "zh": "explain：请给出错误码，如 507018、EZ9999、0x7020016",
    },
}


_VERSIONS_ZH = {
    "8.1 and later": "8.1 及以上",
    "after 8.1": "8.1 之后",
    "up to 8.1": "8.1 及以下",
    "reported in code": "仅见于代码",
}
"""What the catalogues say of versions, which is in English."""


class Killed(NamedTuple):
    """What an exit status says of a process that a signal ended: which one, and id and title of entries on it."""

    number: int
    signal: str
    entries: list[dict[str, Any]]


def explain_command(
    words: Sequence[str],
    store: ExplainStore,
    lang: str,
    fmt: str,
    colour: bool,
    width: int = 80,
    killed: Mapping[str, Killed] = _NONE,
) -> tuple[str, int]:
    """The answer to `npu-kb explain WORDS` in `text` or `json`, and 0 (found), 1 (nothing known) or 2 (bad use).

    `killed` holds those of the words that are exit statuses.
    """
    if fmt not in ("text", "json"):
        return f"explain: no format {printable(fmt)!r}; use text or json\n", BAD_USE
    if not any(word.strip() for word in words):
        return choose(_TEXTS["no_words"], lang)[0] + "\n", BAD_USE
    explanations = explain(words, store)
    status = FOUND if killed or any(explanation.found for explanation in explanations) else NOTHING
    if fmt == "json":
        return explanations_json(explanations, killed), status
    return explanations_text(explanations, lang, colour, width, killed), status


def explanations_json(explanations: Sequence[Explanation], killed: Mapping[str, Killed] = _NONE) -> str:
    """The JSON form: {"schema": "npu-kb/explain/1", "words": [...]}; the input stands only under `word`."""
    words = [explanation.to_dict() for explanation in explanations]
    for document in words:
        if exit_status := killed.get(document["word"]):
            document["exit_status"] = exit_status._asdict()
    document = {"schema": SCHEMA, "words": words}
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def explanations_text(
    explanations: Sequence[Explanation], lang: str, colour: bool, width: int = 80, killed: Mapping[str, Killed] = _NONE
) -> str:
    """Text of at most so many columns; `lang` is en, zh or both."""
    page = _Page(lang, colour, width)
    for explanation in explanations:
        if exit_status := killed.get(explanation.word):
            page.killed(explanation.word, exit_status)
        page.explanation(explanation)
    return "\n".join(page.lines).rstrip() + "\n"


class _Page:
    """Lines of one answer in one language, or both."""

    def __init__(self, lang: str, colour: bool, width: int) -> None:
        self.lang = lang
        self.style = Style(colour)
        self.width = width
        self.lines: list[str] = []

    def explanation(self, explanation: Explanation) -> None:
        """Everything about one word."""
        word = clipped(printable(explanation.word), 40)
        unsure = [finding for finding in explanation.findings if finding.sure == "possible"]
        for finding in explanation.findings:
            if unsure and finding is unsure[0] and len(unsure) > 1:
                self.note("several", f"{word}: ")
            self.finding(finding)
        for reading in explanation.unlisted:
            self.note("unlisted", f"{printable(reading.key)} ({reading.family}): ")
        if explanation.listing:
            self.listing(word, explanation)
        for line in explanation.lines[:_LISTED]:
            self.line(line)
        if not explanation.found:
            if not explanation.unlisted:
                self.note("nothing", f"{word}: ")
            if explanation.near:
                self.note("near", "")
                self.rows(explanation.near)
        self.lines.append("")

    def killed(self, word: str, exit_status: Killed) -> None:
        """What a number says as an exit status."""
        for text in choose(_TEXTS["killed"], self.lang):
            said = text.format(number=exit_status.number, signal=exit_status.signal)
            self.paragraph(f"{word} {said}", 0, "bold")
        self.entries(exit_status.entries)
        self.lines.append("")

    def finding(self, finding: Finding) -> None:
        """One meaning: heading, meaning, then a line per field that it has."""
        row = finding.row or {}
        sure = choose(VERDICT_NAMES[finding.sure], self.lang)[0]
        name = " ".join(str(part) for part in (row.get("code", finding.key), row.get("symbol")) if part)
        heading = ((printable(name), "bold"), (f"{finding.family}, {sure}", "dim"))
        self.lines += side_by_side(heading, self.width, self.style)
        texts = choose(row["meaning"], self.lang) if row else choose(_TEXTS["device"], self.lang)
        for text in texts:
            self.paragraph(text, _INDENT)
        self.fields(finding, row)

    def fields(self, finding: Finding, row: dict[str, Any]) -> None:
        """The labelled lines of a meaning; a documentation address is never broken."""
        if row.get("wrapper"):
            self.field("wrapper", choose(_TEXTS["wrapper"], self.lang))
        for name in ("likely", "action"):
            if name in row:
                self.field(name, choose(row[name], self.lang))
        self.field("becomes", [self.brief(other) for other in finding.related])
        self.field("where", [", ".join(str(row[name]) for name in ("module", "kind", "list") if name in row)])
        self.field("level", [", ".join(str(row[name]) for name in ("level", "severity", "handling") if name in row)])
        if finding.layout:
            self.field("layout", [_layout_text(finding.layout, self.lang)])
        for name in ("values", "default"):
            self.field(name, [str(row.get(name, ""))])
        versions = str(row.get("versions", ""))
        self.field("versions", [_VERSIONS_ZH.get(versions, versions) if self.lang == "zh" else versions])
        self.field("chips", [", ".join(row.get("chips", []))])
        self.entries(finding.entries)
        if "url" in row:
            self.lines.append(" " * _INDENT + printable(str(row["url"])))
        self.field("source", ["; ".join(_short_source(source) for source in row.get("source", []))])

    def entries(self, entries: Sequence[dict[str, Any]]) -> None:
        """The entries that concern it."""
        titles = [f"{e['id']}{colon(self.lang)}{' / '.join(choose(e['title'], self.lang))}" for e in entries]
        self.field("entries", titles)

    def field(self, name: str, texts: list[str]) -> None:
        """A labelled paragraph; nothing if there is no text."""
        label = choose(_LABELS[name], self.lang)[0]
        indent = " " * (_INDENT + _LABEL_WIDTH)
        first = " " * _INDENT + self.style(label, "cyan") + " " * max(1, _LABEL_WIDTH - width_of(label))
        for text in filter(None, texts):
            for line in wrap(printable(text), self.width - len(indent)):
                self.lines.append(first + line)
                first = indent

    def line(self, line: dict[str, Any]) -> None:
        """A one-line fault that prints the word."""
        self.paragraph(line["id"], 0, "bold")
        for text in choose(line["title"], self.lang):
            self.paragraph(text, _INDENT)
        self.field("likely", choose(line["cause"], self.lang))
        self.field("action", [text for step in line["fix"] for text in choose(step, self.lang)])

    def listing(self, word: str, explanation: Explanation) -> None:
        """The codes that start with a prefix, one per line."""
        count = len(explanation.listing)
        text = choose(_TEXTS["listing"], self.lang)[0]
        self.paragraph(f"{word}: {count} {text}", 0, "bold")
        self.rows(explanation.listing[:_LISTED])
        if count > _LISTED:
            self.note("more", f"{count - _LISTED} ")

    def rows(self, rows: Sequence[dict[str, Any]]) -> None:
        """One clipped line per row."""
        for row in rows:
            self.lines.append(" " * _INDENT + clipped(self.brief(row), self.width - _INDENT))

    def brief(self, row: dict[str, Any]) -> str:
        """A row on one line."""
        name = f"{row['code']} {row['symbol']}" if "symbol" in row else row["code"]
        return printable(f"{name} ({row['family']}){colon(self.lang)}{' / '.join(choose(row['meaning'], self.lang))}")

    def note(self, name: str, before: str) -> None:
        """A sentence of the interface."""
        self.paragraph(before + choose(_TEXTS[name], self.lang)[0], 0)

    def paragraph(self, text: str, indent: int, *styles: str) -> None:
        """Wrapped text behind an indent."""
        for line in wrap(printable(text), self.width - indent):
            self.lines.append(" " * indent + self.style(line, *styles))


def _short_source(source: str) -> str:
    """Repository and file name of a source; its whole path stands in the JSON form."""
    repository, _, path = source.partition(":")
    return source if "//" in path[:2] else f"{repository} {path.rsplit('/', 1)[-1]}".strip()


_BITS = {
    "side": "侧", "node": "节点类型", "sensor": "传感器类型", "state": "状态", "component": "部件", "kind": "种类",
    "event": "事件", "level": "级别", "module": "模块", "submodule": "子模块", "function": "功能码",
}  # fmt: skip
_HEX_BITS = ("node", "sensor", "module", "submodule", "function")


def _layout_text(layout: dict[str, Any], lang: str) -> str:
    """The bit fields of a device code in words; numbers as the headers write them."""
    parts = []
    if layout.get("recovery"):
        parts.append("恢复事件" if lang == "zh" else "recovery event")
    for name, chinese in _BITS.items():
        if layout.get(name) is not None and layout[name] != "":
            value = f"{layout[name]:#x}" if name in _HEX_BITS else layout[name]
            parts.append(f"{chinese if lang == 'zh' else name} {value}")
    return ", ".join(parts)
