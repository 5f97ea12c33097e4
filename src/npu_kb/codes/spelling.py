"""The spellings of a code and the bits that it packs."""

from __future__ import annotations

import re
from typing import Any

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
        return device_key(word)
    value = integer_of(word)
    if value is None:
        return None
    if family == "dcmi":
        return dcmi_key(value)
    if family == "ge":
        return ge_key(value)
    if family in _HEX_FAMILIES:
        return f"0x{value:X}" if 0 <= value <= _HEX_FAMILIES[family] else None
    return str(value) if 0 <= value <= _DECIMAL_FAMILIES.get(family, -1) else None


def code_key(family: str, spelling: str) -> str:
    """The key of a spelling in its family; a spelling that cannot be one (a symbol) is its own key, in upper case."""
    return normal_key(family, spelling) or spelling.strip().upper()


def integer_of(word: str) -> int | None:
    """The value of a decimal or 0x number of at most 20 digits."""
    if re.fullmatch(r"0[xX][0-9a-fA-F]{1,20}", word):
        return int(word, 16)
    return int(word) if re.fullmatch(r"-?[0-9]{1,20}", word) else None


def dcmi_key(value: int) -> str | None:
    """-8020 from itself, from its 32-bit form 0xFFFFE0AC, or from a lost sign."""
    if value >= 1 << 31:
        value -= 1 << 32
    value = -abs(value)
    return str(value) if -9999 <= value <= -8000 else None


def ge_key(value: int) -> str | None:
    """1343266818 from itself or 0x5010A002: a status of the graph engine, of its graphs, or its plain failure."""
    return str(value) if has_ge_form(value) or 0x2FFFF00 <= value <= 0x30000FF or value == 0xFFFFFFFF else None


def has_ge_form(value: int) -> bool:
    """Whether the bits are those of a graph engine code: host or device, error, system 8, module and number."""
    return value >> 17 in (0x5010_0000 >> 17, 0x9010_0000 >> 17)


def device_key(word: str) -> str | None:
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


def readable_bits(register: int, value: int) -> list[str]:
    """Like aicore_bits, but nothing for a register that reads as (nearly) all ones: it could not be read."""
    keys = aicore_bits(register, value)
    return keys if len(keys) <= 16 else []


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
