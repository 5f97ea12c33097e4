"""What asys prints: `asys health` and `asys info -r=status`.

Facts, of a device: npu.health (its Healthy is npu-smi's OK), npu.fault_code, npu.name, asys.power (its unit is not
sure), npu.temperature_c, npu.aicore_percent, npu.hbm_total_mb, npu.hbm_used_mb and the others of _NUMBERS.
"""

from __future__ import annotations

import re

from npu_kb.intake.facts import Fact
from npu_kb.intake.logtext import Line

_DEVICE = re.compile(r"\|\s*Device ID:\s*(?P<device>\d+)\s*\|\s*(?:Overall Health:\s*)?(?P<state>[A-Za-z]+)?")
_ROW = re.compile(r"\|\s*(?P<key>[A-Za-z][\w ()%]+?)\s*\|\s*(?P<value>[^|]+?)\s*\|")
_CODE = re.compile(r"\|\s*(?P<code>0x[0-9a-fA-F]{6,10})\s*\|")
_NUMBERS = {
    "Power (W)": "asys.power",
    "Temperature (C)": "npu.temperature_c",
    "AI CPU Count": "npu.aicpu_count",
    "AI CPU Usage (%)": "npu.aicpu_percent",
    "Control CPU Count": "npu.ctrlcpu_count",
    "Control CPU Usage (%)": "npu.ctrlcpu_percent",
    "Control CPU Frequency (MHZ)": "npu.ctrlcpu_mhz",
    "AI Core Count": "npu.aicore_count",
    "AI Core Usage (%)": "npu.aicore_percent",
    "AI Core Frequency (MHZ)": "npu.aicore_mhz",
    "AI Core Voltage (MV)": "npu.aicore_mv",
    "HBM Total (MB)": "npu.hbm_total_mb",
    "HBM Used (MB)": "npu.hbm_used_mb",
    "HBM Bandwidth Usage (%)": "npu.hbm_bandwidth_percent",
    "HBM Frequency (MHZ)": "npu.hbm_mhz",
}


def read(lines: list[Line]) -> list[Fact]:
    """The facts of all tables of the tool."""
    facts: list[Fact] = []
    device: str | None = None
    for index, line in enumerate(lines):
        if not line.text.startswith("|"):
            device = None if line.text.startswith("$") else device
        elif found := _DEVICE.match(line.text):
            device = found["device"]
            if found["state"] and found["state"] != "INFORMATION":
                facts.append(Fact("npu.health", _health(found["state"]), index, device))
        elif device is not None:
            facts += _row_facts(line.text, index, device)
    return facts


def _row_facts(text: str, index: int, device: str) -> list[Fact]:
    if found := _CODE.match(text):
        return [Fact("npu.fault_code", found["code"], index, device)]
    if not (row := _ROW.match(text)):
        return []
    key, value = row["key"], row["value"]
    if key == "health":
        return [Fact("npu.health", _health(value), index, device)]
    if key == "Chip Name":
        return [Fact("npu.name", value.replace(" ", ""), index, device)]
    if key in _NUMBERS and re.fullmatch(r"\d+(?:\.\d+)?", value):
        return [Fact(_NUMBERS[key], float(value), index, device)]
    return []


def _health(word: str) -> str:
    return "OK" if word == "Healthy" else word
