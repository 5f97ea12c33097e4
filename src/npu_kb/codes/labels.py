"""Numbers that a label makes known: `errorCode=507015`, `hcclRet -> 4`, `errcode:(0x800000, 0, 0)`."""

from __future__ import annotations

import re

from npu_kb.codes.codescan import CodeScan, acl_family, regex
from npu_kb.codes.spelling import dcmi_key, ge_key, has_ge_form, readable_bits


def find_registers(scan: CodeScan) -> None:
    """errcode:(0x800000, 0, 0) is three registers; errcode:(95, 320) is a list of indexes."""
    if "code" not in scan.lower:
        return
    for found in regex("registers").finditer(scan.lower):
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


def find_labelled(scan: CodeScan) -> None:
    """Numbers that a word such as `errorCode=` or `hcclRet ->` introduces."""
    if "err" not in scan.lower and "ret" not in scan.lower and "result" not in scan.lower:
        return
    for found in regex("label").finditer(scan.lower):
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


def _labelled(scan: CodeScan, name: str, spelling: str, value: int, at: int) -> list[tuple[str, str]]:
    """Families and keys of a labelled number; `name` is the label with its whole identifier."""
    is_hex = spelling.startswith("0x")
    plain = name.removesuffix(" is").replace(" ", "").replace("_", "")
    says_code = plain in ("errcode", "errorcode", "retcode") or plain.startswith("tserr")
    if 0 < value <= 99 or value in (65534, 65535):
        called = name.startswith("ret") and regex("hal_call").search(scan.text[max(0, at - 80) : at])
        if name.startswith("drv") or called:
            return [("drv", str(value))]
    if "no" in plain and is_hex and (value >> 24 == 5 or (len(spelling) == 18 and value <= 0xFFFF)):
        return [("hccl", str(value & 0xFFFF))]
    is_short_hex = is_hex and says_code and len(spelling) <= 5
    names_task = is_short_hex and name in ("errorcode", "errcode")
    if says_code and plain != "retcode" and not names_task and regex("core_before").search(scan.before(at, 200)):
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
    if (key := ge_key(value)) and (has_ge_form(value) or regex("ge_before").search(scan.before(at, 200))):
        return [("ge", key)]
    if value < 0 or value >= 1 << 31:
        key = dcmi_key(value)
        return [("dcmi", key)] if key else []
    family = acl_family(spelling)
    return [(family, spelling)] if family else []


def _speaks_of_hccl(scan: CodeScan, name: str, at: int) -> bool:
    """Whether a small number is an HcclResult; a decimal `errno` is the system's."""
    if "hccl" in name or "hcom" in name:
        return True
    return ("ret" in name or "code" in name) and "hccl" in scan.before(at, 400)
