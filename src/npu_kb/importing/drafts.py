"""An item as a draft entry: redacted, in the language of its source, and without what the source does not say."""

from __future__ import annotations

import datetime
import re
from hashlib import sha256
from typing import Any, NamedTuple, get_args

from npu_kb.findings.draft import Draft as Finding
from npu_kb.findings.masking import masked
from npu_kb.findings.write import entry_yaml
from npu_kb.importing.item import Item, Said
from npu_kb.intake.clean import printable
from npu_kb.intake.logtext import LogText
from npu_kb.intake.redact import names_in, redact
from npu_kb.knowledge.entry import Layer, Severity
from npu_kb.patterns import squeeze

_TITLE_CHARS, _PROSE_CHARS = 200, 4_000
_SAMPLE_LINES, _NOTE_LINES = 12, 60
_MOST_FIXES = 20
_SLUG_CHARS = 40
_HEAD = """\
# A draft, imported by `npu-kb import {importer}` on {today}. The words are the source's own.
# To make an entry of it: say it in your own words in English and in Chinese, add what `npu-kb check` of this file
# names, and move it to entries/<layer>/ of a kb folder under an id that names the cause.
# 草稿，由 `npu-kb import {importer}` 于 {today} 导入，文字为来源原文。
# 转为正式条目：用自己的话写出中英文，补齐 `npu-kb check` 对本文件指出的内容，再以点出原因的 id 移入 entries/<layer>/。
"""


class Draft(NamedTuple):
    """A draft entry: its id, the digest that tells its fault from others, and the text of its file."""

    id: str
    digest: str
    text: str


class Redacted(NamedTuple):
    """An item whose words are read without what tells whose they are."""

    item: Item
    names: dict[str, str]
    """Hosts and users that the item tells, and their marks."""
    excerpt: list[str]
    """The lines of its program text that tell most of the error."""

    def said(self, text: Said, limit: int = _PROSE_CHARS) -> Said:
        """A text of the item; nothing of a language in which it is too short to say something."""
        plain = {lang: self.plain(words, limit) for lang, words in sorted(text.items())}
        return {lang: words for lang, words in plain.items() if len(words) > 1}

    def plain(self, text: str, limit: int = _PROSE_CHARS) -> str:
        """Printable lines, of several blank ones the first."""
        lines = (printable(line).rstrip() for line in text[: 4 * limit].split("\n"))
        return redact(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()[:limit], self.names).strip()


def redacted(item: Item) -> Redacted:
    """The item with the names that it tells and the telling lines of its program text."""
    log = LogText.of(item.error)
    names = names_in("\n".join([log.text, *item.title.values(), *item.symptom.values(), *item.notes]))
    return Redacted(item, names, [redact(line, names) for line in Finding.of(log).excerpt] if log.lines else [])


def digest(words: Redacted) -> str:
    """Equal for items that tell the same fault: its program text and its cause, without what varies."""
    item = words.item
    told = words.excerpt or [*words.said(item.symptom or item.title).values()]
    text = masked("\n".join([*told, *words.said(item.cause).values()]))
    return sha256(squeeze(text).encode()).hexdigest()[:16]


def draft(words: Redacted, importer: str, match: list[dict[str, Any]], sample: list[str]) -> Draft:
    """The draft of an item; `match` are the blocks that recognise it, `sample` the lines of a log by which they do."""
    key = digest(words)
    id = _id(words, importer, key)
    today = datetime.date.today()
    hit = "\n".join(sample[:_SAMPLE_LINES])
    fields = {"id": id, "status": "draft", "match": match, "samples": {"hit": [hit]} if hit else {}, **_told(words)}
    fields["references"] = [{**_origin(words), "read": today}]
    body = entry_yaml({name: value for name, value in fields.items() if value})
    return Draft(id, key, _HEAD.format(importer=importer, today=today) + body + _notes(words, hit))


def _id(words: Redacted, importer: str, key: str) -> str:
    """`draft-`, what the source or the title calls it, and a few digits that tell it from its namesakes."""
    title = words.said(words.item.title).get("en", "")
    slug = re.sub(r"[^a-z0-9]+", "-", (words.item.name or title).lower()).strip("-") or importer
    unique = sha256(words.item.url.encode("utf-8", "replace")).hexdigest() if words.item.url else key
    return f"draft-{slug[:_SLUG_CHARS].strip('-')}-{unique[:8]}"


def _told(words: Redacted) -> dict[str, Any]:
    """The fields that stand in the source."""
    item = words.item
    return {
        "title": words.said({lang: text.strip().split("\n")[0] for lang, text in item.title.items()}, _TITLE_CHARS),
        **_given(item),
        "symptom": words.said(item.symptom),
        "cause": words.said(item.cause),
        "fix": [said for fix in item.fix[:_MOST_FIXES] if (said := words.said(fix))],
        "verify": words.said(item.verify),
        "author": words.plain(item.author, 100),
    }


def _given(item: Item) -> dict[str, str]:
    """Layer, topic and severity where they are what an entry may say."""
    given = {name: item.given.get(name, "").strip().lower() for name in ("layer", "topic", "severity")}
    fits = {
        "layer": given["layer"] in get_args(Layer),
        "topic": re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+){0,9}", given["topic"][:100]),
        "severity": given["severity"] in get_args(Severity),
    }
    return {name: word for name, word in given.items() if fits[name]}


def _origin(words: Redacted) -> dict[str, str]:
    """The url or source of a reference."""
    told = words.plain(words.item.url or words.item.source, 500)
    if re.fullmatch(r"https?://\S+", told):
        return {"url": told}
    return {"source": told if len(told) > 1 else f"file {words.plain(words.item.path.name, 200)}"}


def _notes(words: Redacted, hit: str) -> str:
    """What else the source says and prints, as comments."""
    notes = [words.plain("\n".join(words.item.notes))]
    if not words.item.match and not set(words.excerpt) <= set(hit.split("\n")):
        notes += ["", "Log:", *words.excerpt]
    lines = "\n".join(notes).strip().split("\n")[:_NOTE_LINES]
    return "".join(f"# {line}".rstrip() + "\n" for line in ["From the source:", *lines]) if any(lines) else ""
