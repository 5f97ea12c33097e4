"""Error codes of the Ascend stack: their catalogues, how they look in logs, and what a spelling could mean.

A code has a `family` (acl, aclnn, rt, ts, aicpu, cann, torch_npu, hccl, drv, dcmi, device, aicore; env for environment
variables) and a `key`, its one normal spelling in that family. `why` imports this module on every start: it compiles
each pattern when it is first needed, and only `read_catalogues` reads YAML.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from npu_kb.errors import Problem
    from npu_kb.knowledge.yamlfile import Located

FAMILIES = (
    "acl", "aclnn", "rt", "ts", "aicpu", "cann", "torch_npu", "hccl", "drv", "dcmi", "device", "aicore", "env",
)  # fmt: skip

CodeRow = dict[str, Any]
"""One catalogue row as JSON: family, code, key, wrapper, meaning {en, zh?}, likely and action alike, source, …"""


class CodeLookup(Protocol):
    """Where catalogue rows come from: the compiled store or a table in memory."""

    def lookup(self, family: str, key: str) -> CodeRow | None:
        """The row of one code, or None."""

    def with_prefix(self, prefix: str) -> list[CodeRow]:
        """Rows whose code or symbol starts with the prefix; the case of letters does not matter."""


class CodeTable:
    """Catalogue rows in memory."""

    def __init__(self, rows: Iterable[CodeRow]) -> None:
        self._rows = {(row["family"], row["key"]): row for row in rows}

    def lookup(self, family: str, key: str) -> CodeRow | None:
        """The row of one code, or None."""
        return self._rows.get((family, key))

    def with_prefix(self, prefix: str) -> list[CodeRow]:
        """Rows whose code or symbol starts with the prefix; the case of letters does not matter."""
        return [row for row in self._rows.values() if _starts_with(row, prefix)]


class CodeStore:
    """Catalogue rows in SQLite: table code(family TEXT, key TEXT, code TEXT, doc JSON, PRIMARY KEY(family, key))."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def lookup(self, family: str, key: str) -> CodeRow | None:
        """The row of one code, or None."""
        found = self._connection.execute("SELECT doc FROM code WHERE family = ? AND key = ?", (family, key)).fetchone()
        return json.loads(found[0]) if found else None

    def with_prefix(self, prefix: str) -> list[CodeRow]:
        """Rows whose code or symbol starts with the prefix; the case of letters does not matter."""
        like = re.sub(r"([%_\\])", r"\\\1", prefix)
        query = r"SELECT doc FROM code WHERE code LIKE ? ESCAPE '\' OR doc LIKE ? ESCAPE '\'"
        rows = (json.loads(doc) for (doc,) in self._connection.execute(query, (like + "%", f'%"{like}%')))
        return [row for row in rows if _starts_with(row, prefix)]


def _starts_with(row: CodeRow, prefix: str) -> bool:
    wanted = prefix.lower()
    return str(row["code"]).lower().startswith(wanted) or str(row.get("symbol", "")).lower().startswith(wanted)


# --- catalogues -------------------------------------------------------------------------------------------------

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
        for where, row in _read_catalogue(path, problems):
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


def _read_catalogue(path: Path, problems: list[Problem]) -> Iterator[tuple[Where, CodeRow]]:
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
        bad = _faults(raw, head)
        problems += [where(field, text) for field, text in bad]
        if not bad:
            yield where, _convert(raw, head)


def _row_problem(located: Located, index: int, field: str, text: str) -> Problem:
    return located.problem(("rows", index, field), text)


def _faults(raw: object, head: dict[str, Any]) -> list[tuple[str, str]]:
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


# --- normal spellings -------------------------------------------------------------------------------------------

_HEX_FAMILIES = {"rt": 0xFFFFFFFF, "ts": 0xFFF}
_DECIMAL_FAMILIES = {"acl": 999_999, "aclnn": 999_999, "aicpu": 99_999, "hccl": 9_999, "drv": 65_535}


def normal_key(family: str, spelling: str) -> str | None:
    """The key of a spelling in its family (0x07020016 and 117571606 give 0x7020016), or None if it cannot be one."""
    word = spelling.strip()
    if family in ("cann", "torch_npu", "env"):
        return word.upper() if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]+", word) else None
    if family == "aicore":
        return _aicore_key(word.lower())
    if family == "device":
        return _device_key(word)
    value = _integer(word)
    if value is None:
        return None
    if family == "dcmi":
        return _dcmi_key(value)
    if family in _HEX_FAMILIES:
        return f"0x{value:X}" if 0 <= value <= _HEX_FAMILIES[family] else None
    return str(value) if 0 <= value <= _DECIMAL_FAMILIES.get(family, -1) else None


def code_key(family: str, spelling: str) -> str:
    """The key of a spelling in its family; a spelling that cannot be one (a symbol) is its own key, in upper case."""
    return normal_key(family, spelling) or spelling.strip().upper()


def _integer(word: str) -> int | None:
    """The value of a decimal or 0x number of at most 20 digits."""
    if re.fullmatch(r"0[xX][0-9a-fA-F]{1,20}", word):
        return int(word, 16)
    return int(word) if re.fullmatch(r"-?[0-9]{1,20}", word) else None


def _dcmi_key(value: int) -> str | None:
    """-8020 from itself, from its 32-bit form 0xFFFFE0AC, or from a lost sign."""
    if value >= 1 << 31:
        value -= 1 << 32
    value = -abs(value)
    return str(value) if -9999 <= value <= -8000 else None


def _device_key(word: str) -> str | None:
    """0x80E01801 with or without 0x, decimal public and DPU codes, and [alarm,fault,peer,port] of the L1 switch."""
    if re.fullmatch(r"\[0x[0-9a-f]{8}(, ?\w+){3}\]", word, re.IGNORECASE):
        return word.lower().replace(" ", "")
    if re.fullmatch(r"[0-9]{9}|2[12]0000[0-9]{2}", word):
        return word
    found = re.fullmatch(r"(?:0x)?([0-9a-f]{8})", word, re.IGNORECASE)
    return f"0x{found[1].upper()}" if found else None


def _aicore_key(word: str) -> str | None:
    """0x800000 (register 0), 0x80@reg1, 0x8@reg2 with one bit set, or 95@950."""
    found = re.fullmatch(r"([0-9]{1,3})@950", word)
    if found:
        return f"{int(found[1])}@950"
    found = re.fullmatch(r"(0x[0-9a-f]{1,16})(?:@reg([012]))?", word)
    if not found:
        return None
    keys = aicore_bits(int(found[2] or 0), int(found[1], 16))
    return keys[0] if len(keys) == 1 else None


def aicore_bits(register: int, value: int) -> list[str]:
    """Keys of the bits that are set in one AI Core error register (64 bits); ['0x0'] if there are none."""
    suffix = f"@reg{register}" if register else ""
    keys = [f"0x{1 << bit:x}{suffix}" for bit in range(64) if value >> bit & 1]
    return keys or ["0x0"]


def _readable_bits(register: int, value: int) -> list[str]:
    """Like aicore_bits, but nothing for a register that reads as (nearly) all ones: it could not be read."""
    keys = aicore_bits(register, value)
    return keys if len(keys) <= 16 else []


# --- codes in a text --------------------------------------------------------------------------------------------


class CodeMention(NamedTuple):
    """A code found in a text: text[start:end] == spelling; context is how it was known."""

    family: str
    code: str
    """As the catalogue prints it, if a catalogue was given; else the key."""
    key: str
    start: int
    end: int
    spelling: str
    context: str
    """label: a word before it says so; shape: its form alone; listed: its form and the catalogue; name: its symbol."""


_NUMBER_END = r"(?![\w/-]|[.:]\w)"
_PATTERNS = {
    "torch_npu": r"\bERR(?:0[0-4]|99)\d{3}\b",
    "cann": r"(?<![\w.#-])[EW](?:[A-Z]\d{4}|[1-9]\d{4}|21\d{2}[0-9A-F])(?![\w-])",
    "acl": r"(?<![\w.:/#$-])(?:10[07]|14[58]|20[07]|245|300|345|50[07]|545|[135]61)\d{3}" + _NUMBER_END,
    "rt_hex": r"\b0x0?7(?:0[1-9a-e]|1[0-9a-f]|20)00[0-9a-f]{2}\b",
    "rt_decimal": r"(?<![\w.-])11(?:7[5-9]|8\d|9[0-5])\d{5}(?![\w-]|\.\d)",
    "label": (
        r"(?:err(?:or)?[ _]?(?:code|no)?|ret(?:urn)?[ _]?(?:code|val(?:ue)?)?|result)\w{0,16}\s{0,3}"
        r"(?:->|=|:|\[|\(|is\b)\s{0,3}(?P<value>0x[0-9a-f]{1,20}|-?\d{1,10})(?!\w|\.\d)"
    ),
    "registers": r"err(?:or)?[ _]?code\s{0,3}[:=]?\s{0,3}\((?P<list>(?:0x[0-9a-f]{1,16}|\d{1,3}|[, ]){1,80})\)",
    "dcmi": r"(?<![\w.-])-(?:80[0-2]\d|8255|90[0-2]\d|925[56])(?!\w|\.\d|-)",
    "device": (
        r"(?<![0-9a-z_.#-])(?:0x)?(?:8[01cf][0-9a-f]{6}|4[01c][0-9a-f]{6}|[9ab][2468][0-9a-f]{6})(?![0-9a-z_]|-[0-9a-f])"
    ),
    "fault_id": r"(?:fault|event|alarm|error)[ _]?(?:code|id)s?\W{1,6}(?P<value>0x[0-9a-f]{8}|\d{9}|[0-9a-f]{8})(?!\w)",
    "switch": r"\[0x[0-9a-f]{8}(?:, ?(?:\d{1,9}|na|l2|cpu|npu)){3}\]",
    "name": (
        r"\b(?:HCCL_E|ACL_ERROR|ACLNN_ERR|DRV_ERROR|RT_ERROR|TS_ERROR|AICPU_SCHEDULE_ERROR|DCMI_ERR_CODE"
        r"|NPU_ERR_CODE)_[A-Z0-9_]{2,60}\b"
    ),
    "says_code": (
        r"err(?:or)?[ _]?(?:code|no)|acl_?error|error\W{0,3}$|错误码|返回"
        r"|(?<![a-z])ret(?:urn(?:s|ed)?|[ _]?code|val)?(?![a-z])"
    ),
    "counts": (
        r"(?:step|iter|iteration|seed|port|pid|tid|epoch|token|sample|line|len|length|size|timeout|batch)s?\W{0,3}$"
    ),
    "process": r"(?:\b[A-Z][A-Z0-9_]*\(|:\d{1,6}\] ?)$",
    "unit_after": r" ?(?:steps?|iters?|it|ms|us|tokens?|samples?|bytes|[kmg]i?b)\b",
    "hal_call": r"\bhal[A-Z]\w{2,40}\b[^\n]*$",
    "core_before": r"\b(?:aic(?:ore)?|aiv(?:ec)?|ai core|vector core)\b",
    "fault_before": r"fault|event|alarm|health|err(?:or)?[ _]?(?:code|id|no)|故障|告警|事件|错误码",
}  # fmt: skip
_SURE_ACL = ("507", "107", "207", "561")
_CANN_MODULES = frozenset("ABCDEFHIJKLMNOPUZ")


@cache
def _regex(name: str) -> re.Pattern[str]:
    return re.compile(_PATTERNS[name], re.ASCII)


class _Scan:
    """One pass over one text; every number is claimed once, by the rule that knows most about it."""

    def __init__(self, text: str, lookup: CodeLookup | None) -> None:
        self.text = text
        self.lower = _ascii_lower(text)
        self.lookup = lookup
        self.found: list[CodeMention] = []
        self._claimed: set[int] = set()

    def add(self, family: str, key: str, start: int, end: int, context: str) -> None:
        """Record a mention; several bits of one number may share its place."""
        row = self.row(family, key)
        code = str(row["code"]) if row else key
        self.found.append(CodeMention(family, code, key, start, end, self.text[start:end], context))
        self._claimed.add(end)

    def is_free(self, end: int) -> bool:
        """Whether no rule took the number that ends here."""
        return end not in self._claimed

    def row(self, family: str, key: str) -> CodeRow | None:
        """The catalogue row, if there is a catalogue."""
        return self.lookup.lookup(family, key) if self.lookup else None

    def before(self, start: int, width: int) -> str:
        """Lower-case text of the same line, at most `width` characters before a place."""
        left = max(0, start - width, self.lower.rfind("\n", max(0, start - width), start) + 1)
        return self.lower[left:start]


def find_codes(text: str, lookup: CodeLookup | None = None) -> list[CodeMention]:
    """Codes in a text, in its order; with a catalogue, look-alikes that it does not list are left out."""
    scan = _Scan(text, lookup)
    for rule in _RULES:
        rule(scan)
    scan.found.sort(key=lambda mention: (mention.start, mention.family))
    return scan.found


def _ascii_lower(text: str) -> str:
    """Lower case of the same length, so that offsets stay true."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return text.translate({upper: upper + 32 for upper in range(65, 91)})


def _find_registers(scan: _Scan) -> None:
    """errcode:(0x800000, 0, 0) is three registers; errcode:(95, 320) is a list of indexes."""
    if "code" not in scan.lower:
        return
    for found in _regex("registers").finditer(scan.lower):
        numbers = list(re.finditer(r"0x[0-9a-f]+|\d+", found["list"]))
        indexes = all(not number[0].startswith("0x") for number in numbers) and any(int(n[0]) for n in numbers)
        values = [int(number[0], 0 if number[0].startswith("0x") else 10) for number in numbers]
        silent = not any(values)
        for register, (number, value) in enumerate(zip(numbers, values, strict=True)):
            start, end = found.start("list") + number.start(), found.start("list") + number.end()
            if indexes and value:
                scan.add("aicore", f"{value}@950", start, end, "label")
            elif not indexes and register < 3 and (value or (silent and register == 0)):
                for key in _readable_bits(register, value):
                    scan.add("aicore", key, start, end, "label")


def _find_labelled(scan: _Scan) -> None:
    """Numbers that a word such as `errorCode=` or `hcclRet ->` introduces."""
    if "err" not in scan.lower and "ret" not in scan.lower and "result" not in scan.lower:
        return
    for found in _regex("label").finditer(scan.lower):
        start, end = found.span("value")
        value = int(found["value"], 16 if found["value"].startswith("0x") else 10)
        if value == 0 or not scan.is_free(end):
            continue
        name = _whole_word(scan.lower, found.start()) + scan.lower[found.start() : start].rstrip(" \t->=:[(")
        for family, key in _labelled(scan, name, found["value"], value, found.start()):
            scan.add(family, key, start, end, "label")


def _whole_word(lower: str, start: int) -> str:
    """The part of an identifier that stands before a place in it, at most 24 characters."""
    left = start
    while left > 0 and start - left < 24 and (lower[left - 1].isalnum() or lower[left - 1] == "_"):
        left -= 1
    return lower[left:start]


def _labelled(scan: _Scan, name: str, spelling: str, value: int, at: int) -> list[tuple[str, str]]:
    """Families and keys of a labelled number; `name` is the label with its whole identifier."""
    is_hex = spelling.startswith("0x")
    plain = name.removesuffix(" is").replace(" ", "").replace("_", "")
    says_code = plain in ("errcode", "errorcode", "retcode") or plain.startswith("tserr")
    if 0 < value <= 99 or value in (65534, 65535):
        called = name.startswith("ret") and _regex("hal_call").search(scan.text[max(0, at - 80) : at])
        if name.startswith("drv") or called:
            return [("drv", str(value))]
    if "no" in plain and is_hex and (value >> 24 == 5 or (len(spelling) == 18 and value <= 0xFFFF)):
        return [("hccl", str(value & 0xFFFF))]
    is_short_hex = is_hex and says_code and len(spelling) <= 5
    names_task = is_short_hex and name in ("errorcode", "errcode")
    if says_code and plain != "retcode" and not names_task and _regex("core_before").search(scan.before(at, 200)):
        if is_hex and value < 1 << 64:
            return [("aicore", key) for key in _readable_bits(0, value)]
        if not is_hex and 0 < value <= 999:
            return [("aicore", f"{value}@950")]
    if is_short_hex:
        return [("ts", f"0x{value:X}")]
    if not is_hex and says_code and (11000 <= value <= 11009 or 21000 <= value <= 21599):
        return [("aicpu", str(value))]
    if not is_hex and (0 < value <= 24 or value == 1041) and _speaks_of_hccl(scan, name, at):
        return [("hccl", str(value))]
    if value < 0 or value >= 1 << 31:
        key = _dcmi_key(value)
        return [("dcmi", key)] if key else []
    family = _acl_family(spelling)
    return [(family, spelling)] if family else []


def _speaks_of_hccl(scan: _Scan, name: str, at: int) -> bool:
    """Whether a small number is an HcclResult; a decimal `errno` is the system's."""
    if "hccl" in name or "hcom" in name:
        return True
    return ("ret" in name or "code" in name) and "hccl" in scan.before(at, 400)


def _acl_family(digits: str) -> str | None:
    """acl or aclnn by the range of a six-digit code."""
    if not re.fullmatch(r"\d{6}", digits):
        return None
    if digits[:3] in ("161", "361", "561"):
        return "aclnn"
    return "acl" if digits[:3] in _ACL_RANGES else None


_ACL_RANGES = frozenset(("100", "107", "145", "148", "200", "207", "245", "300", "345", "500", "507", "545"))


def _find_acl(scan: _Scan) -> None:
    """Six-digit codes; ranges that are also round numbers need a word such as `ret` before them."""
    for found in _regex("acl").finditer(scan.text):
        start, end = found.span()
        family = _acl_family(found[0])
        if not family or not scan.is_free(end) or _is_count(scan, start, end):
            continue
        labelled = bool(_regex("says_code").search(scan.before(start, 40)))
        known = scan.lookup is None or scan.row(family, found[0]) is not None
        if labelled or (known and found[0].startswith(_SURE_ACL)):
            scan.add(family, found[0], start, end, "label" if labelled else "shape")


def _is_count(scan: _Scan, start: int, end: int) -> bool:
    """Whether the words around a number make it a step, a size, a process id or a port."""
    if _regex("counts").search(scan.before(start, 16)) or _regex("unit_after").match(scan.lower, end):
        return True
    return bool(_regex("process").search(scan.text[max(0, start - 24) : start]))


def _find_cann(scan: _Scan) -> None:
    """Message identifiers; unlisted ones only where they stand as one: `EI0021:`, `(EI0021)`, `ErrorCode=EI0021`."""
    for found in _regex("cann").finditer(scan.text):
        key = found[0]
        if _stands_as_id(scan, found.start(), found.end()):
            scan.add("cann", key, found.start(), found.end(), "label")
        elif scan.row("cann", key):
            scan.add("cann", key, found.start(), found.end(), "listed")
        elif scan.lookup is None and key[0] == "E" and key[1] in _CANN_MODULES:
            scan.add("cann", key, found.start(), found.end(), "shape")


def _stands_as_id(scan: _Scan, start: int, end: int) -> bool:
    after, before = scan.text[end : end + 2], scan.text[start - 1 : start] if start else ""
    if after.startswith((": ", ":\n")) or after == ":" or (before in ("(", "[") and after.startswith((")", "]"))):
        return True
    return bool(re.search(r"err(?:or)?[ _]?code\s?(?:[=:]|is)?\s?$", scan.before(start, 16)))


def _find_torch_npu(scan: _Scan) -> None:
    if "ERR0" in scan.text or "ERR99" in scan.text:
        for found in _regex("torch_npu").finditer(scan.text):
            scan.add("torch_npu", found[0], found.start(), found.end(), "shape")


def _find_runtime(scan: _Scan) -> None:
    """Runtime codes in hexadecimal, and in decimal where the value has a runtime code's form."""
    if "0x7" in scan.lower or "0x07" in scan.lower:
        for found in _regex("rt_hex").finditer(scan.lower):
            if scan.is_free(found.end()):
                scan.add("rt", f"0x{int(found[0], 16):X}", found.start(), found.end(), "shape")
    if "117" in scan.text or "118" in scan.text or "119" in scan.text:
        for found in _regex("rt_decimal").finditer(scan.text):
            key = f"0x{int(found[0]):X}"
            if _is_count(scan, *found.span()):
                continue
            if int(found[0]) & 0xFF00 == 0 and (scan.lookup is None or scan.row("rt", key)):
                scan.add("rt", key, found.start(), found.end(), "shape")


def _find_dcmi(scan: _Scan) -> None:
    if "-8" in scan.text or "-9" in scan.text:
        for found in _regex("dcmi").finditer(scan.text):
            if scan.is_free(found.end()):
                scan.add("dcmi", found[0], found.start(), found.end(), "shape")


def _find_device(scan: _Scan) -> None:
    """Device events; unlisted ones only where the line speaks of a fault, an event or an error code."""
    for found in _regex("device").finditer(scan.lower):
        key = _device_key(found[0])
        if not key or not scan.is_free(found.end()):
            continue
        if _regex("fault_before").search(scan.before(found.start(), 60)):
            scan.add("device", key, found.start(), found.end(), "label")
        elif scan.row("device", key):
            scan.add("device", key, found.start(), found.end(), "listed")
    if "fault" in scan.lower or "event" in scan.lower or "alarm" in scan.lower or "error" in scan.lower:
        _find_fault_ids(scan)


def _find_fault_ids(scan: _Scan) -> None:
    """Codes that only their label makes known: server BMC, DPU, public faults, and the tuples of the L1 switch."""
    for found in _regex("fault_id").finditer(scan.lower):
        key = _device_key(found["value"])
        if key and scan.is_free(found.end("value")) and (scan.lookup is None or scan.row("device", key)):
            scan.add("device", key, *found.span("value"), "label")


def _find_switch(scan: _Scan) -> None:
    if "[0x" in scan.lower:
        for found in _regex("switch").finditer(scan.lower):
            key = _device_key(found[0])
            if key:
                scan.add("device", key, found.start(), found.end(), "shape")


_NAME_FAMILIES = {
    "HCCL_E_": "hccl", "ACL_ERROR_": "acl", "ACLNN_ERR_": "aclnn", "DRV_ERROR_": "drv", "RT_ERROR_": "rt",
    "TS_ERROR_": "ts", "AICPU_SCHEDULE_ERROR_": "aicpu", "DCMI_ERR_CODE_": "dcmi", "NPU_ERR_CODE_": "dcmi",
}  # fmt: skip


def _find_names(scan: _Scan) -> None:
    """Symbols such as HCCL_E_TIMEOUT; without a catalogue their key is the symbol itself."""
    if not any(start in scan.text for start in _NAME_FAMILIES):
        return
    for found in _regex("name").finditer(scan.text):
        family = next(name for start, name in _NAME_FAMILIES.items() if found[0].startswith(start))
        row = _row_of_symbol(scan.lookup, found[0])
        if row or scan.lookup is None:
            scan.add(row["family"] if row else family, row["key"] if row else found[0], *found.span(), "name")


def _row_of_symbol(lookup: CodeLookup | None, symbol: str) -> CodeRow | None:
    rows = lookup.with_prefix(symbol) if lookup else []
    return next((row for row in rows if row.get("symbol") == symbol), None)


_RULES: tuple[Callable[[_Scan], None], ...] = (
    _find_registers, _find_labelled, _find_switch, _find_runtime, _find_torch_npu, _find_cann, _find_acl, _find_dcmi,
    _find_device, _find_names,
)  # fmt: skip


# --- what a word could mean -------------------------------------------------------------------------------------


class Reading(NamedTuple):
    """One thing that a word given to `explain` could mean."""

    family: str
    """A family, or 'symbol' (key is a name of any family), or 'prefix' (key starts the codes of a family)."""
    key: str
    sure: str
    """certain: its form or label says so; likely; possible: the number alone fits several families."""


_ORDER = ("certain", "likely", "possible")


def interpret(word: str) -> list[Reading]:
    """Every family and key that a word could mean, the surest first; empty for words that are no code at all."""
    bare = word.strip().strip("\"'`,;.，。；")[:400]
    if not bare:
        return []
    readings = [Reading(mention.family, mention.key, "certain") for mention in _mentions_of_phrase(bare)]
    if not readings:
        readings = [*_worded(bare), *_numbered(bare)]
    if not any(reading.sure == "certain" for reading in readings) and re.fullmatch(r"[A-Za-z0-9_]+", bare):
        readings.append(Reading("prefix", bare, "possible"))
    return sorted(dict.fromkeys(readings), key=lambda reading: _ORDER.index(reading.sure))


def _mentions_of_phrase(bare: str) -> list[CodeMention]:
    """Codes with their label (`hcclRet -> 4`, `errcode:(0x800000, 0, 0)`); none for a single word or number."""
    return find_codes(bare) if re.search(r"[\s=:(\[]", bare) else []


def _worded(bare: str) -> list[Reading]:
    """Spellings that hold letters and are known by their form."""
    upper = bare.upper()
    if re.fullmatch(r"ERR\d{5}", upper):
        return [Reading("torch_npu", upper, "certain")]
    if re.fullmatch(r"[EW](?:[A-Z]\d{4}|[1-9]\d{4}|21\d{2}[0-9A-F])", upper):
        return [Reading("cann", upper, "certain")]
    if "@" in bare:
        key = normal_key("aicore", bare)
        return [Reading("aicore", key, "certain")] if key else []
    if re.fullmatch(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+", upper):
        return [Reading("symbol", upper, "certain")]
    if re.fullmatch(r"0?7[0-9A-F]{2}00[0-9A-F]{2}", upper) and not bare.isdigit():
        return [Reading("rt", f"0x{int(bare, 16):X}", "likely")]
    return []


def _numbered(bare: str) -> list[Reading]:
    """Readings of a number, or of eight hexadecimal digits without 0x."""
    value = _integer(bare)
    readings = _device_readings(bare)
    if value is None:
        return readings
    key = _dcmi_key(value) if value < 0 or value >= 1 << 31 else None
    if key:
        return [Reading("dcmi", key, "certain")]
    if 0x7010000 <= value <= 0x72000FF and value & 0xFF00 == 0:
        return [Reading("rt", f"0x{value:X}", "certain")]
    if value < 0:
        return readings
    return readings + (_hex_readings(value, len(bare)) if bare[:2] in ("0x", "0X") else _decimal_readings(bare, value))


def _device_readings(bare: str) -> list[Reading]:
    key = _device_key(bare)
    if key and re.fullmatch(r"0x(8[01CF]|4[01C]|[9AB][2468])\w{6}", key):
        return [Reading("device", key, "certain")]
    if key:
        return [Reading("device", key, "likely")]
    if re.fullmatch(r"[2-4]\d{9}", bare) and 1 << 31 <= int(bare) < 3 << 30:
        return [Reading("device", f"0x{int(bare):08X}", "likely")]
    return []


def _hex_readings(value: int, length: int) -> list[Reading]:
    """Readings of 0x numbers that are no runtime code."""
    readings = []
    if value <= 0xFFF and length <= 5:
        readings.append(Reading("ts", f"0x{value:X}", "likely"))
    if value <= 99:
        readings.append(Reading("drv", str(value), "possible"))
    if value >> 24 == 5:
        readings.append(Reading("hccl", str(value & 0xFFFF), "likely"))
    family = _acl_family(str(value))
    if family:
        readings.append(Reading(family, str(value), "possible"))
    bits = aicore_bits(0, value) if value < 1 << 64 else []
    if length != 10 or len(bits) <= 3:
        sure = "likely" if length > 5 and length != 10 and len(bits) <= 2 else "possible"
        readings += [Reading("aicore", key, sure) for key in bits]
    return readings


def _decimal_readings(bare: str, value: int) -> list[Reading]:
    """Readings of decimal numbers: six digits say their family, small ones fit many."""
    family = _acl_family(bare)
    if family:
        return [Reading(family, bare, "certain")]
    readings = []
    if 11000 <= value <= 11009 or 21000 <= value <= 21599:
        readings.append(Reading("aicpu", str(value), "likely"))
    if 8000 <= value <= 9999:
        readings.append(Reading("dcmi", str(-value), "likely"))
    if value <= 99 or value in (65534, 65535):
        readings.append(Reading("drv", str(value), "possible"))
    if value <= 24 or value == 1041:
        readings.append(Reading("hccl", str(value), "possible"))
    if value <= 0x3FF:
        readings.append(Reading("ts", f"0x{value:X}", "possible"))
        readings.append(Reading("aicore", f"{value}@950", "possible"))
    if value == 0:
        readings += [Reading("acl", "0", "possible"), Reading("aclnn", "0", "possible")]
        readings.append(Reading("aicore", "0x0", "possible"))
    return readings


# --- layout of device codes -------------------------------------------------------------------------------------


def device_layout(key: str) -> dict[str, Any] | None:
    """The fields that the bits of a device code 0xNNNNNNNN hold, or None for other forms."""
    if not re.fullmatch(r"0x[0-9A-F]{8}", key):
        return None
    value = int(key, 16)
    if value >> 28 & 3:
        return {
            "layout": "bbox",
            "recovery": value >> 28 == 9,
            "level": value >> 25 & 7,
            "module": value >> 17 & 0xFF,
            "submodule": value >> 12 & 0x1F,
            "function": value & 0xFFF,
        }
    side = {1: "host", 2: "device"}.get(value >> 30)
    if side is None:
        return None
    return {
        "layout": "dms-event",
        "side": side,
        "node": value >> 17 & 0x7FF,
        "sensor": value >> 9 & 0xFF,
        "state": value & 0x1FF,
    }
