"""The pages of a runbook: contents, symptom index, checklists, topics, entries, one-line faults, codes.

A page refers to another by its name, such as `entries/some-id`; `forms` turns names into links.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from npu_kb.knowledge.base import Knowledge
from npu_kb.render.checklist import TEXTS as CHECKLIST_TEXTS
from npu_kb.render.checklist import checklist_document, markdown_lines
from npu_kb.render.conditions import condition_lines
from npu_kb.render.document import entry_document
from npu_kb.render.entry import versions_text
from npu_kb.render.inert import code_span
from npu_kb.render.markdown import both, fence, paragraphs, plain, remedies, row, sources
from npu_kb.render.text import SEVERITY_NAMES, choose, label

Entry = dict[str, Any]
Link = Callable[[str, str], str]
"""(text, name of a page) -> Markdown link, seen from the page that is being written."""

TEXTS = {
    "runbook": {"en": "Ascend NPU runbook", "zh": "昇腾 NPU 故障处理手册"},
    "counts": {
        "en": "Entries: {entries} in topics: {topics}. One-line faults: {lines}. Error codes: {codes}. "
        "Checklists: {checklists}.",
        "zh": "共 {entries} 个条目（{topics} 个主题），{lines} 条单行故障，{codes} 个错误码，{checklists} 份检查清单。",
    },
    "use": {
        "en": "Start from the symptom, or look a code up. The mildest fix stands first; what it changes is marked.",
        "zh": "可从现象索引入手，也可按错误码查找。处理办法由轻到重排列，并标明影响。",
    },
    "symptoms": {"en": "From symptom to entry", "zh": "现象索引"},
    "checklists": {"en": "Checklists", "zh": "检查清单"},
    "topics": {"en": "Topics", "zh": "主题"},
    "lines": {"en": "One-line faults", "zh": "单行故障"},
    "line": {"en": "Line of the log", "zh": "日志原文"},
    "codes": {"en": "Error codes", "zh": "错误码"},
    "entry": {"en": "Entry", "zh": "条目"},
    "meaning": {"en": "Meaning", "zh": "含义"},
    "family": {"en": "Family", "zh": "类别"},
    "causes": {"en": "Brings about", "zh": "会引发"},
    "caused-by": {"en": "May be brought about by", "zh": "可能由其引发"},
    "sources": {"en": "Sources", "zh": "来源"},
}


class Page(NamedTuple):
    """One page: its name, its title, and a function that writes its lines with the links of its place."""

    name: str
    title: str
    lines: Callable[[Link], list[str]]


class Book(NamedTuple):
    """What all pages are made from."""

    knowledge: Knowledge
    entries: list[Entry]
    lines: list[Entry]
    """One-line faults."""
    codes: list[dict[str, Any]]
    checklists: dict[str, dict[str, Any]]
    lang: str

    def text(self, name: str, **values: Any) -> str:
        """A text of the book itself in its language."""
        return " / ".join(choose(TEXTS[name], self.lang)).format(**values)


def pages(book: Book) -> Iterator[Page]:
    """All pages in reading order; the first is the contents."""
    by_topic: dict[str, list[Entry]] = defaultdict(list)
    for entry in book.entries:
        by_topic[entry["topic"]].append(entry)
    topics = {id: names for id, names in sorted(book.knowledge.topics().items()) if id in by_topic}
    tables = _tables(book)
    yield Page("index", book.text("runbook"), lambda link: _contents(book, topics, by_topic, tables, link))
    yield Page("symptoms", book.text("symptoms"), lambda link: _symptoms(book, link))
    for id, checklist in book.checklists.items():
        yield Page(f"checklists/{id}", both(checklist["title"], book.lang), _bound(_checklist, book, checklist))
    causes = _caused_by(book.entries)
    for id, names in topics.items():
        yield Page(f"topics/{id}", both(names, book.lang), _bound(_topic, book, by_topic[id]))
        for entry in by_topic[id]:
            title = both(entry_document(entry, book.knowledge)["title"], book.lang)
            yield Page(f"entries/{entry['id']}", title, _bound(_entry, book, entry, causes[entry["id"]]))
    for name, signatures in tables.items():
        yield Page(f"lines/{name}", both(signatures[0]["component"], book.lang), _bound(_lines, book, signatures))
    for family in _families(book):
        rows = [code for code in book.codes if code["family"] == family]
        yield Page(f"codes/{family}", f"{book.text('codes')}: {family}", _bound(_codes, book, rows))


def _bound(write: Callable[..., list[str]], *values: Any) -> Callable[[Link], list[str]]:
    return lambda link: write(*values, link)


def _families(book: Book) -> list[str]:
    return sorted({code["family"] for code in book.codes})


def _tables(book: Book) -> dict[str, list[Entry]]:
    """The one-line faults by the table that they stand in."""
    tables: dict[str, list[Entry]] = defaultdict(list)
    for signature in book.lines:
        tables[signature["id"].partition(".")[0]].append(signature)
    return dict(sorted(tables.items()))


def _contents(
    book: Book, topics: dict[str, Any], by_topic: dict[str, list[Entry]], tables: dict[str, list[Entry]], link: Link
) -> list[str]:
    counts = {name: len(getattr(book, name)) for name in ("entries", "lines", "codes", "checklists")}
    lines = [book.text("counts", topics=len(topics), **counts), "", book.text("use"), ""]
    lines += [f"- {link(book.text('symptoms'), 'symptoms')}", ""]
    if book.checklists:
        lines += [f"**{book.text('checklists')}**", ""]
        lines += [f"- {link(both(c['title'], book.lang), f'checklists/{id}')}" for id, c in book.checklists.items()] + [
            ""
        ]
    lines += [f"**{book.text('topics')}**", ""]
    lines += [f"- {link(both(names, book.lang), f'topics/{id}')} ({len(by_topic[id])})" for id, names in topics.items()]
    if tables:
        lines += ["", f"**{book.text('lines')}**", ""]
        lines += [
            f"- {link(both(t[0]['component'], book.lang), f'lines/{name}')} ({len(t)})" for name, t in tables.items()
        ]
    if book.codes:
        lines += ["", f"**{book.text('codes')}**", ""]
        lines += [f"- {link(family, f'codes/{family}')}" for family in _families(book)]
    return lines


def _symptoms(book: Book, link: Link) -> list[str]:
    rows = []
    for entry in book.entries:
        document = entry_document(entry, book.knowledge)
        rows.append((both(document["symptom"], book.lang), both(document["title"], book.lang), entry["id"]))
    head = [row(label("symptom", book.lang), book.text("entry")), "|---|---|"]
    return [*head, *(row(symptom, link(title, f"entries/{id}")) for symptom, title, id in sorted(rows))]


def _topic(book: Book, entries: list[Entry], link: Link) -> list[str]:
    lines = []
    for entry in entries:
        document = entry_document(entry, book.knowledge)
        lines.append(f"- {link(both(document['title'], book.lang), 'entries/' + entry['id'])}")
    return lines


def _entry(book: Book, entry: Entry, caused_by: list[str], link: Link) -> list[str]:
    lang, document = book.lang, entry_document(entry, book.knowledge)
    severity = choose(SEVERITY_NAMES[entry["severity"]], lang)[0]
    lines = [f"`{entry['id']}` · {entry['layer']} · {severity} · {entry['status']}", ""]
    lines += paragraphs("symptom", document["symptom"], lang)
    if span := versions_text(entry["versions"]):
        lines += [f"**{label('applies', lang)}** {plain(span)}", ""]
    if entry["match"]:
        conditions = "\n".join(condition_lines(entry["match"], lang))
        lines += [f"**{label('match', lang)}**", "", *fence(conditions, "text"), ""]
    lines += [*paragraphs("cause", document["cause"], lang), *remedies(document, lang)]
    for name, ids in (("causes", entry["causes"]), ("caused-by", caused_by), ("related", entry["related"])):
        heading = label(name, lang) if name == "related" else book.text(name)
        lines += _links(book, heading, ids, link)
    return [*lines, f"**{book.text('sources')}**", "", *sources(entry["references"])] if entry["references"] else lines


def _links(book: Book, heading: str, ids: list[str], link: Link) -> list[str]:
    """Links to entries of the book; those that it does not hold are left out."""
    held = {entry["id"]: entry for entry in book.entries}
    found = [held[id] for id in dict.fromkeys(ids) if id in held]
    titles = [(both(entry_document(e, book.knowledge)["title"], book.lang), e["id"]) for e in found]
    return [f"**{heading}**", "", *(f"- {link(t, f'entries/{id}')}" for t, id in titles), ""] if titles else []


def _caused_by(entries: list[Entry]) -> dict[str, list[str]]:
    """Of each entry, those that bring it about."""
    causes: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        for id in entry["causes"]:
            causes[id].append(entry["id"])
    return causes


def _checklist(book: Book, checklist: dict[str, Any], link: Link) -> list[str]:
    document = checklist_document(checklist, book.knowledge.commands())
    also = " / ".join(choose(CHECKLIST_TEXTS["also"], book.lang))
    return markdown_lines(document, book.lang, lambda ids: _links(book, also, ids, link))


def _lines(book: Book, signatures: list[Entry], link: Link) -> list[str]:
    lines = [row(book.text("line"), label("cause", book.lang), label("fix", book.lang)), "|---|---|---|"]
    for signature in signatures:
        texts = " / ".join(code_span(text) for block in signature["match"] for text in block["text"])
        cause = f"{both(signature['title'], book.lang)} {both(signature['cause'], book.lang)}"
        lines.append(row(texts, cause, " ".join(both(step, book.lang) for step in signature["fix"])))
    return lines


def _codes(book: Book, codes: list[dict[str, Any]], link: Link) -> list[str]:
    concerned = book.knowledge.entries_by_code()
    held = {entry["id"] for entry in book.entries}
    lines = [row(book.text("codes"), book.text("meaning"), book.text("entry")), "|---|---|---|"]
    for code in codes:
        ids = [id for id in concerned.get((code["family"], code["key"]), []) if id in held]
        name = " ".join(filter(None, [code["code"], code.get("symbol")]))
        links = ", ".join(link(id, f"entries/{id}") for id in ids)
        lines.append(row(plain(name), both(code["meaning"], book.lang), links))
    return lines
