"""Find codes in a text, by the context rules of each family."""

from __future__ import annotations

import re
from collections.abc import Callable

from npu_kb.codes.codescan import CodeMention, CodeScan, acl_family, regex
from npu_kb.codes.labels import find_labelled, find_registers
from npu_kb.codes.model import CodeLookup, CodeRow
from npu_kb.codes.spelling import device_key, ge_key

_SURE_ACL = ("507", "107", "207", "561")
_CANN_MODULES = frozenset("ABCDEFHIJKLMNOPUZ")


def find_codes(text: str, lookup: CodeLookup | None = None) -> list[CodeMention]:
    """Codes in a text, in its order; with a catalogue, look-alikes that it does not list are left out."""
    scan = CodeScan(text, lookup)
    for rule in _RULES:
        rule(scan)
    scan.found.sort(key=lambda mention: (mention.start, mention.family))
    return scan.found


def _find_acl(scan: CodeScan) -> None:
    """Six-digit codes; ranges that are also round numbers need a word such as `ret` before them."""
    for found in regex("acl").finditer(scan.text):
        start, end = found.span()
        family = acl_family(found[0])
        if not family or not scan.is_free(end) or _is_count(scan, start, end):
            continue
        labelled = bool(regex("says_code").search(scan.before(start, 40)))
        known = scan.lookup is None or scan.row(family, found[0]) is not None
        if labelled or (known and found[0].startswith(_SURE_ACL)):
            scan.add(family, found[0], start, end, "label" if labelled else "shape")


def _is_count(scan: CodeScan, start: int, end: int) -> bool:
    """Whether the words around a number make it a step, a size, a process id or a port."""
    if regex("counts").search(scan.before(start, 16)) or regex("unit_after").match(scan.lower, end):
        return True
    return bool(regex("process").search(scan.text[max(0, start - 24) : start]))


def _find_cann(scan: CodeScan) -> None:
    """Message identifiers; unlisted ones only where they stand as one: `EI0021:`, `(EI0021)`, `ErrorCode=EI0021`."""
    for found in regex("cann").finditer(scan.text):
        key = found[0]
        if _stands_as_id(scan, found.start(), found.end()):
            scan.add("cann", key, found.start(), found.end(), "label")
        elif scan.row("cann", key):
            scan.add("cann", key, found.start(), found.end(), "listed")
        elif scan.lookup is None and key[0] == "E" and key[1] in _CANN_MODULES:
            scan.add("cann", key, found.start(), found.end(), "shape")


def _stands_as_id(scan: CodeScan, start: int, end: int) -> bool:
    after, before = scan.text[end : end + 2], scan.text[start - 1 : start] if start else ""
    if after.startswith((": ", ":\n")) or after == ":" or (before in ("(", "[") and after.startswith((")", "]"))):
        return True
    return bool(re.search(r"err(?:or)?[ _]?code\s?(?:[=:]|is)?\s?$", scan.before(start, 16)))


def _find_torch_npu(scan: CodeScan) -> None:
    if "ERR0" in scan.text or "ERR99" in scan.text:
        for found in regex("torch_npu").finditer(scan.text):
            scan.add("torch_npu", found[0], found.start(), found.end(), "shape")


def _find_runtime(scan: CodeScan) -> None:
    """Runtime codes in hexadecimal, and in decimal where the value has a runtime code's form."""
    if "0x7" in scan.lower or "0x07" in scan.lower:
        for found in regex("rt_hex").finditer(scan.lower):
            if scan.is_free(found.end()):
                scan.add("rt", f"0x{int(found[0], 16):X}", found.start(), found.end(), "shape")
    if "117" in scan.text or "118" in scan.text or "119" in scan.text:
        for found in regex("rt_decimal").finditer(scan.text):
            key = f"0x{int(found[0]):X}"
            if _is_count(scan, *found.span()):
                continue
            if int(found[0]) & 0xFF00 == 0 and (scan.lookup is None or scan.row("rt", key)):
                scan.add("rt", key, found.start(), found.end(), "shape")


def _find_ge(scan: CodeScan) -> None:
    """Statuses of the graph engine that stand without a label, if they are listed."""
    if "13432" in scan.text or "24170" in scan.text or "010" in scan.text:
        for found in regex("ge").finditer(scan.lower):
            key = ge_key(int(found[0], 0))
            if key and scan.is_free(found.end()) and not _is_count(scan, *found.span()) and scan.row("ge", key):
                scan.add("ge", key, *found.span(), "listed")


def _find_dcmi(scan: CodeScan) -> None:
    if "-8" in scan.text or "-9" in scan.text:
        for found in regex("dcmi").finditer(scan.text):
            if scan.is_free(found.end()):
                scan.add("dcmi", found[0], found.start(), found.end(), "shape")


def _find_dms(scan: CodeScan) -> None:
    """The driver's event lines name the parts of a device code: node type, sensor type and state."""
    if "node type=" not in scan.lower:
        return
    for found in regex("dms").finditer(scan.lower):
        node, sensor, state = int(found["node"], 16), int(found["sensor"], 16), int(found["state"], 0)
        if node < 1 << 11 and sensor < 1 << 8 and state < 1 << 9:
            code = 1 << 31 | node << 17 | sensor << 9 | state
            scan.add("device", f"0x{code:08X}", found.start(), found.end(), "label")


def _find_device(scan: CodeScan) -> None:
    """Device events; unlisted ones only where the line speaks of a fault, an event or an error code."""
    for found in regex("device").finditer(scan.lower):
        key = device_key(found[0])
        if not key or not scan.is_free(found.end()):
            continue
        if regex("fault_before").search(scan.before(found.start(), 60)):
            scan.add("device", key, found.start(), found.end(), "label")
        elif scan.row("device", key):
            scan.add("device", key, found.start(), found.end(), "listed")
    if "fault" in scan.lower or "event" in scan.lower or "alarm" in scan.lower or "error" in scan.lower:
        _find_fault_ids(scan)


def _find_fault_ids(scan: CodeScan) -> None:
    """Codes that only their label makes known: server BMC, DPU, public faults, and the tuples of the L1 switch."""
    for found in regex("fault_id").finditer(scan.lower):
        key = device_key(found["value"])
        if key and scan.is_free(found.end("value")) and (scan.lookup is None or scan.row("device", key)):
            scan.add("device", key, *found.span("value"), "label")


def _find_switch(scan: CodeScan) -> None:
    if "[0x" in scan.lower:
        for found in regex("switch").finditer(scan.lower):
            key = device_key(found[0])
            if key:
                scan.add("device", key, found.start(), found.end(), "shape")


_NAME_FAMILIES = {
    "HCCL_E_": "hccl", "ACL_ERROR_": "acl", "ACLNN_ERR_": "aclnn", "DRV_ERROR_": "drv", "RT_ERROR_": "rt",
    "TS_ERROR_": "ts", "AICPU_SCHEDULE_ERROR_": "aicpu", "DCMI_ERR_CODE_": "dcmi", "NPU_ERR_CODE_": "dcmi",
    "GE_": "ge", "LLM_": "ge",
}  # fmt: skip


def _find_names(scan: CodeScan) -> None:
    """Symbols such as HCCL_E_TIMEOUT; without a catalogue, which GE_ and LLM_ need, their key is the symbol."""
    if not any(start in scan.text for start in _NAME_FAMILIES):
        return
    for found in regex("name").finditer(scan.text):
        family = next(name for start, name in _NAME_FAMILIES.items() if found[0].startswith(start))
        row = _row_of_symbol(scan.lookup, found[0])
        if row or (scan.lookup is None and family != "ge"):
            scan.add(row["family"] if row else family, row["key"] if row else found[0], *found.span(), "name")


def _row_of_symbol(lookup: CodeLookup | None, symbol: str) -> CodeRow | None:
    rows = lookup.with_prefix(symbol) if lookup else []
    return next((row for row in rows if row.get("symbol") == symbol), None)


_RULES: tuple[Callable[[CodeScan], None], ...] = (
    find_registers, find_labelled, _find_switch, _find_runtime, _find_torch_npu, _find_cann, _find_acl,
    _find_ge, _find_dcmi, _find_dms, _find_device, _find_names,
)  # fmt: skip
