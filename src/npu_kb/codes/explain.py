"""What the codes given to `npu-kb explain` mean: readings joined with the catalogues, as plain data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from npu_kb.codes.model import FAMILIES, CodeLookup, CodeRow
from npu_kb.codes.readings import Reading, interpret
from npu_kb.codes.spelling import device_layout

_MAX_WORDS = 50
_LEAST_PRINTED = 5
"""Characters; a shorter word stands in lines by chance."""
_NEAR = 5


class ExplainStore(CodeLookup, Protocol):
    """The knowledge that codes are explained from."""

    def entries_for_code(self, family: str, key: str) -> Sequence[dict[str, Any]]:
        """Entries (documents) that concern a code."""

    def signatures_with(self, words: Sequence[str]) -> Sequence[dict[str, Any]]:
        """One-line faults (documents as of entries) whose texts hold all of these words."""


@dataclass(frozen=True)
class Finding:
    """One meaning of a word: the catalogue row, or what the bits of an unlisted device code say."""

    family: str
    key: str
    sure: str
    """certain, likely or possible."""
    row: CodeRow | None
    layout: dict[str, Any] | None = None
    related: tuple[CodeRow, ...] = ()
    """Rows of the codes that this one is turned into, or of its twin."""
    entries: tuple[dict[str, Any], ...] = ()
    """Id and title of the knowledge entries that concern it or a related code."""

    def to_dict(self) -> dict[str, Any]:
        """JSON form: the row's fields beside family, code, sure, layout, related and entries."""
        document: dict[str, Any] = {"family": self.family, "code": self.key, "key": self.key, **(self.row or {})}
        document["sure"] = self.sure
        document["listed"] = self.row is not None
        if self.layout:
            document["layout"] = self.layout
        document["related"] = [_brief(row) for row in self.related]
        document["entries"] = list(self.entries)
        return document


@dataclass(frozen=True)
class Explanation:
    """All that is known about one word."""

    word: str
    findings: list[Finding] = field(default_factory=list)
    listing: list[CodeRow] = field(default_factory=list)
    """Rows whose code or symbol starts with the word."""
    unlisted: list[Reading] = field(default_factory=list)
    """Codes that the word surely is, but which no catalogue has."""
    near: list[CodeRow] = field(default_factory=list)
    """Rows that are spelt alike, if nothing was found."""
    lines: list[dict[str, Any]] = field(default_factory=list)
    """The one-line faults that print the word: id, title, cause and fix."""

    @property
    def found(self) -> bool:
        """Whether anything is known."""
        return bool(self.findings or self.listing or self.lines)

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "word": self.word,
            "found": self.found,
            "codes": [finding.to_dict() for finding in self.findings],
            "listing": [_brief(row) for row in self.listing],
            "unlisted": [{"family": reading.family, "code": reading.key} for reading in self.unlisted],
            "near": [_brief(row) for row in self.near],
            "lines": self.lines,
        }


def _brief(row: CodeRow) -> dict[str, Any]:
    return {name: row[name] for name in ("family", "code", "symbol", "meaning") if name in row}


def explain(words: Sequence[str], store: ExplainStore) -> list[Explanation]:
    """One explanation per word; `hcclRet -> 4` in three words counts as one."""
    return [_explain_word(word, store) for word in joined_words(words)[:_MAX_WORDS]]


def joined_words(words: Sequence[str]) -> list[str]:
    """Words with a label and its number put together: ['hcclRet', '->', '4', 'EI'] gives ['hcclRet -> 4', 'EI']."""
    joined: list[str] = []
    for word in words:
        if joined and (_is_open(joined[-1]) or word in ("->", "=", ":", "is")):
            joined[-1] += " " + word
        elif word.strip():
            joined.append(word)
    return joined


def _is_open(word: str) -> bool:
    return word.endswith(("->", "=", ":", " is")) or word.count("(") > word.count(")")


def _explain_word(word: str, store: ExplainStore) -> Explanation:
    explanation = Explanation(word)
    readings = interpret(word)
    for reading in readings:
        if reading.family == "symbol":
            _add_symbol(explanation, reading, store)
        elif reading.family != "prefix":
            _add_code(explanation, reading, store)
    if any(finding.row and finding.sure == "certain" for finding in explanation.findings):
        explanation.findings[:] = [finding for finding in explanation.findings if finding.sure == "certain"]
    for reading in readings:
        if reading.family == "prefix" and _is_worth_listing(reading.key, explanation):
            found = [finding.row for finding in explanation.findings]
            explanation.listing.extend(row for row in _rows_with_prefix(reading.key, store) if row not in found)
    if not explanation.findings and len(word) >= _LEAST_PRINTED:
        explanation.lines.extend(_printing(word, store.signatures_with([word])))
    if not explanation.found:
        explanation.near.extend(_near_rows(word, store))
    return explanation


def _add_code(explanation: Explanation, reading: Reading, store: ExplainStore) -> None:
    row = store.lookup(reading.family, reading.key)
    layout = None
    if reading.family == "device" and reading.sure == "certain" and (row is None or row.get("list") == "dms-event"):
        layout = _named_layout(reading.key, store, listed=row is not None)
    sure = reading.sure
    if row is None and layout and not layout.get("component"):
        sure = "possible"
    if row or layout:
        related = tuple(_related_rows(reading.key, row, layout, store))
        places = [(reading.family, reading.key), *((other["family"], other["key"]) for other in related)]
        entries = _brief_entries(
            entry
            for family, key in places
            for entry in sorted(store.entries_for_code(family, key), key=partial(_peculiarity, key=key))
        )
        explanation.findings.append(Finding(reading.family, reading.key, sure, row, layout, related, entries))
    elif reading.sure == "certain":
        explanation.unlisted.append(reading)


def _add_symbol(explanation: Explanation, reading: Reading, store: ExplainStore) -> None:
    """A name: a symbol of any family, an environment variable, or the start of several."""
    rows = _rows_with_prefix(reading.key, store)
    exact = [row for row in rows if reading.key in (row.get("symbol"), row["code"])]
    for row in exact:
        found = Reading(row["family"], row["key"], reading.sure)
        _add_code(explanation, found, store)
    if not exact:
        explanation.listing.extend(rows)


def _printing(word: str, signatures: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Those whose program text holds the word, and not only a piece of a longer one."""
    whole = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
    for signature in signatures:
        if any(whole.search(text) for block in signature["match"] for text in block["text"]):
            yield {name: signature[name] for name in ("id", "title", "cause", "fix")}


def _peculiarity(entry: dict[str, Any], key: str) -> tuple[bool, bool, int]:
    """How far an entry is from being about a code as such: least where the code alone is one of its conditions."""
    blocks = entry["match"]
    asking = [block for block in blocks if any(str(code["value"]).lower() == key.lower() for code in block["code"])]
    conditions = (
        sum(len(block[kind]) for kind in ("text", "regex", "code", "fact")) + bool(block["any"]) + bool(block["none"])
        for block in asking or blocks
    )
    return not asking, entry["status"] != "confirmed", min(conditions)


def _brief_entries(entries: Iterable[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Id and title of each entry, once."""
    return tuple({entry["id"]: {"id": entry["id"], "title": entry["title"]} for entry in entries}.values())


def _related_rows(
    key: str, row: CodeRow | None, layout: dict[str, Any] | None, lookup: CodeLookup
) -> Iterator[CodeRow]:
    """The ACL code of a runtime code, the runtime code of a driver result, the fault of a recovery event."""
    for family in ("acl", "rt"):
        target = row and family in row and lookup.lookup(family, row[family])
        if target:
            yield target
    if layout and layout.get("recovery") and (target := lookup.lookup("device", "0xA" + key[3:])):
        yield target


# --- unlisted device codes --------------------------------------------------------------------------------------


def _named_layout(key: str, lookup: CodeLookup, listed: bool) -> dict[str, Any] | None:
    """The fields of a device code, named after the listed codes that share them."""
    layout = device_layout(key)
    if layout is None or listed:
        return layout
    if layout["layout"] == "bbox":
        same = [row for row, other in _device_rows("0xA", lookup) if other.get("module") == layout["module"]]
        return {**layout, "component": _commonest(row.get("module") for row in same)}
    rows = list(_device_rows(key[:3], lookup))
    node = [row for row, other in rows if other.get("node") == layout["node"]]
    sensor = [row for row, other in rows if other.get("sensor") == layout["sensor"]]
    event = (layout["sensor"], layout["state"])
    alike = [row for row, other in rows if (other.get("sensor"), other.get("state")) == event]
    return {
        **layout,
        "component": _commonest(row.get("module") for row in node),
        "kind": _commonest(row.get("kind") for row in sensor),
        "event": _commonest(str(row["meaning"]["en"]).partition(": ")[2] for row in alike),
    }


def _device_rows(prefix: str, lookup: CodeLookup) -> Iterator[tuple[CodeRow, dict[str, Any]]]:
    for row in lookup.with_prefix(prefix):
        if row["family"] == "device" and (layout := device_layout(row["key"])):
            yield row, layout


def _commonest(names: Any) -> str | None:
    counted = Counter(name for name in names if name)
    return counted.most_common(1)[0][0] if counted else None


# --- prefixes and near spellings --------------------------------------------------------------------------------


def _is_worth_listing(prefix: str, explanation: Explanation) -> bool:
    """One letter or a short number that has its own readings is no prefix."""
    if any(finding.sure == "certain" for finding in explanation.findings):
        return False
    digits = prefix[2:] if prefix[:2].lower() == "0x" else prefix
    return len(digits) >= (3 if explanation.findings else 2)


def _rows_with_prefix(prefix: str, lookup: CodeLookup) -> list[CodeRow]:
    """Rows that start so, whichever case and with or without 0x; each once."""
    digits = prefix[2:] if prefix[:2].lower() == "0x" else prefix
    spellings = [prefix, digits.upper()] if digits == prefix else []
    if re.fullmatch(r"[0-9A-Fa-f]{2,8}", digits):
        spellings += ["0x" + digits.upper(), "[0x" + digits.lower()]
    rows = {(row["family"], row["key"]): row for spelling in spellings for row in lookup.with_prefix(spelling)}
    return sorted(rows.values(), key=_natural_order)


def _natural_order(row: CodeRow) -> tuple[int, int, str]:
    """Families in their usual order, numbers by size."""
    family, key = str(row["family"]), str(row["key"])
    return FAMILIES.index(family), 0 if family == "env" else len(key), key


def _near_rows(word: str, lookup: CodeLookup) -> list[CodeRow]:
    """Rows whose code differs from the word by a slip."""
    import difflib

    wanted = word.strip().upper()[:40]
    rows = {str(row["code"]): row for row in _rows_with_prefix(wanted[:2], lookup)} if len(wanted) > 3 else {}
    close = difflib.get_close_matches(wanted, rows, _NEAR, 0.75)
    return [rows[code] for code in close]
