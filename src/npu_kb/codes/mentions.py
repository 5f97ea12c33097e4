"""Find codes in a text, by the context rules of each family.

`why` imports this on every start, so each pattern is compiled when it is first needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from npu_kb.codes.model import CodeLookup, CodeRow
from npu_kb.codes.spelling import dcmi_key, device_key, ge_key, has_ge_form, readable_bits


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
    "registers": (
        r"err(?:or)?[ _]?code\s{0,3}[:=]?\s{0,3}"
        r"\((?P<list>(?:0x[0-9a-f]{1,16}|\d{1,4})(?:[, ]{1,3}(?:0x[0-9a-f]{1,16}|\d{1,4})){0,39}) ?\)"
    ),
    "dms": (
        r"node type=(?P<node>0x[0-9a-f]{1,3})[^\n]{0,20}; ?sensor type=(?P<sensor>0x[0-9a-f]{1,2})[^\n]{0,40}?"
        r"event_state=(?P<state>0x[0-9a-f]{1,3}|\d{1,3})"
    ),
    "ge": r"(?<![\w.-])(?:0x[59]010[0-9a-f]{4}|13432\d{5}|24170\d{5})(?![\w-]|\.\d)",
    "dcmi": r"(?<![\w.-])-(?:80[0-2]\d|8255|90[0-2]\d|925[56])(?!\w|\.\d|-)",
    "device": (
        r"(?<![0-9a-z_.#-])(?:0x)?(?:8[01cf][0-9a-f]{6}|4[01c][0-9a-f]{6}|[9ab][2468][0-9a-f]{6})(?![0-9a-z_]|-[0-9a-f])"
    ),
    "fault_id": r"(?:fault|event|alarm|error)[ _]?(?:code|id)s?\W{1,6}(?P<value>0x[0-9a-f]{8}|\d{9}|[0-9a-f]{8})(?!\w)",
    "switch": r"\[0x[0-9a-f]{8}(?:, ?(?:\d{1,9}|na|l2|cpu|npu)){3}\]",
    "name": (
        r"\b(?:HCCL_E|ACL_ERROR|ACLNN_ERR|DRV_ERROR|RT_ERROR|TS_ERROR|AICPU_SCHEDULE_ERROR|DCMI_ERR_CODE"
        r"|NPU_ERR_CODE|GE|LLM)_[A-Z0-9_]{2,60}\b"
    ),
    "says_code": (
        r"err(?:or)?[ _]?(?:code|no)|acl_?error|error\W{0,3}$|错误码|返回"
        r"|(?<![a-z])ret(?:urn(?:s|ed)?|[ _]?code|val)?(?![a-z])"
    ),
    "counts": (
        r"(?:step|iter|iteration|seed|port|pid|tid|epoch|token|sample|line|len|length|size|timeout|batch|count|index"
        r"|(?:task|stream|model|device|graph|event|node|block|op|req(?:uest)?|notify|context|thread|group)[_ ]?id)s?"
        r"\W{0,3}$"
    ),
    "process": r"(?:\b[A-Z][A-Z0-9_]*\(|:\d{1,6}\] ?)$",
    "unit_after": r" ?(?:steps?|iters?|it|ms|us|tokens?|samples?|bytes|[kmg]i?b)\b",
    "ge_before": r"\bge\b",
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
                for key in readable_bits(register, value):
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
            return [("aicore", key) for key in readable_bits(0, value)]
        if not is_hex and 0 < value <= 999:
            return [("aicore", f"{value}@950")]
    if is_short_hex:
        return [("ts", f"0x{value:X}")]
    if not is_hex and says_code and (11000 <= value <= 11009 or 21000 <= value <= 21599):
        return [("aicpu", str(value))]
    if not is_hex and (0 < value <= 24 or value == 1041) and _speaks_of_hccl(scan, name, at):
        return [("hccl", str(value))]
    if (key := ge_key(value)) and (has_ge_form(value) or _regex("ge_before").search(scan.before(at, 200))):
        return [("ge", key)]
    if value < 0 or value >= 1 << 31:
        key = dcmi_key(value)
        return [("dcmi", key)] if key else []
    family = acl_family(spelling)
    return [(family, spelling)] if family else []


def _speaks_of_hccl(scan: _Scan, name: str, at: int) -> bool:
    """Whether a small number is an HcclResult; a decimal `errno` is the system's."""
    if "hccl" in name or "hcom" in name:
        return True
    return ("ret" in name or "code" in name) and "hccl" in scan.before(at, 400)


def acl_family(digits: str) -> str | None:
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
        family = acl_family(found[0])
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


def _find_ge(scan: _Scan) -> None:
    """Statuses of the graph engine that stand without a label, if they are listed."""
    if "13432" in scan.text or "24170" in scan.text or "010" in scan.text:
        for found in _regex("ge").finditer(scan.lower):
            key = ge_key(int(found[0], 0))
            if key and scan.is_free(found.end()) and not _is_count(scan, *found.span()) and scan.row("ge", key):
                scan.add("ge", key, *found.span(), "listed")


def _find_dcmi(scan: _Scan) -> None:
    if "-8" in scan.text or "-9" in scan.text:
        for found in _regex("dcmi").finditer(scan.text):
            if scan.is_free(found.end()):
                scan.add("dcmi", found[0], found.start(), found.end(), "shape")


def _find_dms(scan: _Scan) -> None:
    """The driver's event lines name the parts of a device code: node type, sensor type and state."""
    if "node type=" not in scan.lower:
        return
    for found in _regex("dms").finditer(scan.lower):
        node, sensor, state = int(found["node"], 16), int(found["sensor"], 16), int(found["state"], 0)
        if node < 1 << 11 and sensor < 1 << 8 and state < 1 << 9:
            code = 1 << 31 | node << 17 | sensor << 9 | state
            scan.add("device", f"0x{code:08X}", found.start(), found.end(), "label")


def _find_device(scan: _Scan) -> None:
    """Device events; unlisted ones only where the line speaks of a fault, an event or an error code."""
    for found in _regex("device").finditer(scan.lower):
        key = device_key(found[0])
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
        key = device_key(found["value"])
        if key and scan.is_free(found.end("value")) and (scan.lookup is None or scan.row("device", key)):
            scan.add("device", key, *found.span("value"), "label")


def _find_switch(scan: _Scan) -> None:
    if "[0x" in scan.lower:
        for found in _regex("switch").finditer(scan.lower):
            key = device_key(found[0])
            if key:
                scan.add("device", key, found.start(), found.end(), "shape")


_NAME_FAMILIES = {
    "HCCL_E_": "hccl", "ACL_ERROR_": "acl", "ACLNN_ERR_": "aclnn", "DRV_ERROR_": "drv", "RT_ERROR_": "rt",
    "TS_ERROR_": "ts", "AICPU_SCHEDULE_ERROR_": "aicpu", "DCMI_ERR_CODE_": "dcmi", "NPU_ERR_CODE_": "dcmi",
    "GE_": "ge", "LLM_": "ge",
}  # fmt: skip


def _find_names(scan: _Scan) -> None:
    """Symbols such as HCCL_E_TIMEOUT; without a catalogue, which GE_ and LLM_ need, their key is the symbol."""
    if not any(start in scan.text for start in _NAME_FAMILIES):
        return
    for found in _regex("name").finditer(scan.text):
        family = next(name for start, name in _NAME_FAMILIES.items() if found[0].startswith(start))
        row = _row_of_symbol(scan.lookup, found[0])
        if row or (scan.lookup is None and family != "ge"):
            scan.add(row["family"] if row else family, row["key"] if row else found[0], *found.span(), "name")


def _row_of_symbol(lookup: CodeLookup | None, symbol: str) -> CodeRow | None:
    rows = lookup.with_prefix(symbol) if lookup else []
    return next((row for row in rows if row.get("symbol") == symbol), None)


_RULES: tuple[Callable[[_Scan], None], ...] = (
    _find_registers, _find_labelled, _find_switch, _find_runtime, _find_torch_npu, _find_cann, _find_acl,
    _find_ge, _find_dcmi, _find_dms, _find_device, _find_names,
)  # fmt: skip
