"""What a word given to `explain` could mean."""

from __future__ import annotations

import re
from typing import NamedTuple

from npu_kb.codes.codescan import CodeMention, acl_family
from npu_kb.codes.mentions import find_codes
from npu_kb.codes.spelling import aicore_bits, dcmi_key, device_key, ge_key, has_ge_form, integer_of, normal_key


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
    if not any(reading.sure != "possible" for reading in readings) and re.fullmatch(r"[A-Za-z0-9_]+", bare):
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
    value = integer_of(bare)
    readings = _device_readings(bare)
    if value is None:
        return readings
    key = dcmi_key(value) if value < 0 or value >= 1 << 31 else None
    if key:
        return [Reading("dcmi", key, "certain")]
    if 0x7010000 <= value <= 0x72000FF and value & 0xFF00 == 0:
        return [Reading("rt", f"0x{value:X}", "certain")]
    key = ge_key(value)
    if key and has_ge_form(value):
        return [Reading("ge", key, "certain")]
    if key:
        readings.append(Reading("ge", key, "possible"))
    if value < 0:
        return readings
    return readings + (_hex_readings(value, len(bare)) if bare[:2] in ("0x", "0X") else _decimal_readings(bare, value))


def _device_readings(bare: str) -> list[Reading]:
    key = device_key(bare)
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
    family = acl_family(str(value))
    if family:
        readings.append(Reading(family, str(value), "possible"))
    bits = aicore_bits(0, value) if value < 1 << 64 else []
    if length != 10 or len(bits) <= 3:
        sure = "likely" if length > 5 and length != 10 and len(bits) <= 2 else "possible"
        readings += [Reading("aicore", key, sure) for key in bits]
    return readings


def _decimal_readings(bare: str, value: int) -> list[Reading]:
    """Readings of decimal numbers: six digits say their family, small ones fit many."""
    family = acl_family(bare)
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
