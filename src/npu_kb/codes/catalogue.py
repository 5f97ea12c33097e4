"""Read kb/codes/*.yaml, naming every bad row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from npu_kb.codes.model import FAMILIES, CodeRow
from npu_kb.codes.spelling import normal_key

if TYPE_CHECKING:
    from pathlib import Path

    from npu_kb.errors import Problem
    from npu_kb.knowledge.yamlfile import Located

FIELDS: dict[str, tuple[type, str]] = {
    "family": (str, "family, where the file has none of its own"),
    "code": (str, "the code as it is printed, in quotes"),
    "symbol": (str, "its name in the headers"),
    "en": (str, "meaning in English"),
    "zh": (str, "meaning in Chinese"),
    "likely": (str, "usual cause, English"),
    "likely_zh": (str, "usual cause, Chinese"),
    "do": (str, "what to do, English"),
    "do_zh": (str, "what to do, Chinese"),
    "wrapper": (bool, "true: says only that something failed"),
    "module": (str, "part of the stack or of the chip"),
    "kind": (str, "kind of device event"),
    "list": (str, "list that the device code belongs to: dms-event, bbox, server-bmc, …"),
    "level": (str, "warning or inner, where it is no plain error"),
    "severity": (str, "severity in the driver's own list"),
    "handling": (str, "default handling level, one of the file's `handling` table"),
    "versions": (str, "CANN releases that know the code"),
    "acl": (str, "ACL code that a runtime code is turned into, in quotes"),
    "rt": (str, "runtime code that a driver result is turned into, in quotes"),
    "register": (int, "AI Core error register, 0 to 2"),
    "bit": (int, "AI Core error index over all registers"),
    "chips": (list, "chips that have it"),
    "default": (str, "default of the variable, in quotes"),
    "values": (str, "values that the variable takes"),
    "url": (str, "documentation page"),
    "source": (object, "short name(s) from the file's `sources`, or the source itself"),
}
_PROSE = {"meaning": ("en", "zh"), "likely": ("likely", "likely_zh"), "action": ("do", "do_zh")}
_COPIED = (
    "symbol", "module", "kind", "list", "level", "severity", "handling", "versions", "acl", "rt", "register",
    "bit", "chips", "default", "values", "url",
)  # fmt: skip


def read_catalogues(codes_dir: str | Path) -> list[CodeRow]:
    """All rows of DIR/*.yaml in file order; raises KnowledgeError that names every bad row and the mend."""
    from pathlib import Path

    from npu_kb.errors import KnowledgeError

    problems: list[Problem] = []
    seen: dict[tuple[str, str], str] = {}
    rows: list[CodeRow] = []
    for path in sorted(Path(codes_dir).glob("*.yaml")):
        for where, row in read_catalogue(path, problems):
            name = (row["family"], row["key"])
            if name in seen:
                problems.append(where("code", f"{row['code']} stands already in {seen[name]}; keep one of the two"))
            seen.setdefault(name, path.name)
            rows.append(row)
    if problems:
        raise KnowledgeError(problems)
    return rows


Where = Callable[[str, str], "Problem"]
"""Makes a problem of one row: field and what is wrong with it, with the mend."""


def read_catalogue(path: Path, problems: list[Problem]) -> Iterator[tuple[Where, CodeRow]]:
    """The good rows of one file in their JSON form; what is wrong with the others goes to `problems`."""
    from npu_kb.knowledge.yamlfile import read_yaml

    located, found = read_yaml(path)
    problems += found
    if located is None:
        return
    head = located.value if isinstance(located.value, dict) else {}
    if not isinstance(head.get("rows"), list):
        problems.append(located.problem(("rows",), "no list of rows; write `rows:` and one `- {code: ...}` per line"))
        return
    for index, raw in enumerate(head["rows"]):
        where = partial(_row_problem, located, index)
        bad = row_faults(raw, head)
        problems += [where(field, text) for field, text in bad]
        if not bad:
            yield where, _convert(raw, head)


def _row_problem(located: Located, index: int, field: str, text: str) -> Problem:
    return located.problem(("rows", index, field), text)


def row_faults(raw: object, head: dict[str, Any]) -> list[tuple[str, str]]:
    """(field, what is wrong and how to mend it) for one row."""
    if not isinstance(raw, dict):
        return [("code", "not a mapping; write {code: ..., en: ...}")]
    faults = [(str(field), fault) for field, value in raw.items() if (fault := _field_fault(str(field), value))]
    faults += [(field, f"missing; add {field}: {FIELDS[field][1]}") for field in ("code", "en") if field not in raw]
    return faults or _code_faults(raw, head)


def _field_fault(field: str, value: object) -> str:
    if field not in FIELDS:
        return f"unknown field{_nearest(field)}"
    kind, purpose = FIELDS[field]
    if kind is str and not isinstance(value, str):
        return f'not text; put it in quotes: {field}: "{value}"'
    if not isinstance(value, kind):
        return f"wrong kind of value; it holds: {purpose}"
    return "empty; leave the field out" if isinstance(value, str) and not value.strip() else ""


def _code_faults(raw: dict[str, Any], head: dict[str, Any]) -> list[tuple[str, str]]:
    faults = []
    family = raw.get("family", head.get("family"))
    if family not in FAMILIES:
        faults.append(("family", f"{family!r} is no family; use one of {', '.join(FAMILIES)}"))
    elif normal_key(family, raw["code"]) is None:
        faults.append(("code", f"{raw['code']!r} does not look like a code of family {family}; mend code or family"))
    faults += [
        (target, f"{raw[target]!r} is no code of family {target}; write it as its catalogue does")
        for target in ("acl", "rt")
        if target in raw and normal_key(target, raw[target]) is None
    ]
    levels = raw["handling"].split("+") if "handling" in raw else []
    known = head.get("handling") or {}
    missing = [level for level in levels if level not in known]
    return faults + [("handling", f"{level!r} is not in the file's handling table; add it there") for level in missing]


def _nearest(field: str) -> str:
    import difflib

    close = difflib.get_close_matches(field, FIELDS, 1)
    return f"; did you mean {close[0]}?" if close else f"; the fields are {', '.join(FIELDS)}"


def _convert(raw: dict[str, Any], head: dict[str, Any]) -> CodeRow:
    """The JSON form of a good row."""
    family: str = raw.get("family") or head["family"]
    row: CodeRow = {"family": family, "code": raw["code"], "key": normal_key(family, raw["code"])}
    row["wrapper"] = raw.get("wrapper", False)
    for name, fields in _PROSE.items():
        prose = {language: raw[field] for language, field in zip(("en", "zh"), fields, strict=True) if field in raw}
        if prose:
            row[name] = prose
    if "action" not in row and "handling" in raw:
        row["action"] = _handling(raw["handling"].split("+"), head["handling"])
    row.update({field: raw[field] for field in _COPIED if field in raw})
    row["source"] = _sources(raw.get("source"), head.get("sources") or {})
    return row


def _handling(levels: list[str], table: dict[str, dict[str, str]]) -> dict[str, str]:
    return {language: " / ".join(table[level][language] for level in levels) for language in ("en", "zh")}


def _sources(names: object, known: dict[str, str]) -> list[str]:
    """Sources written out; a file with one source need not repeat it in its rows."""
    if names is None:
        return list(known.values()) if len(known) == 1 else []
    return [known.get(str(name), str(name)) for name in (names if isinstance(names, list) else [names])]
