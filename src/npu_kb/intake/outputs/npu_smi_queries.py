"""The outputs of npu-smi other than its table: `-t board`, ecc, health, usages, common ..., `-m`, watch.

Facts, of the NPU (and chip, `0/1`) that stands in the output: npu.health, npu.name, npu.soc, npu.fault_code,
npu.fault_events, npu.driver_firmware (the driver's own word whether the firmware suits it), npu.logical_id,
npu.physical_id, npu.pci_device, npu.bus_id, npu.topology (of a pair, `0-1`), npu.process_mb (of `NPU/process id`),
npu.count, npu_smi.error and the numbers of _NUMBERS.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from npu_kb.intake.facts import Fact
from npu_kb.intake.logtext import Line

_NUMBERS = {
    "temperature(c)": "npu.temperature_c",
    "npu real-time power(w)": "npu.power_w",
    "hbm temperature(c)": "npu.hbm_temperature_c",
    "soc max temperature(c)": "npu.soc_temperature_c",
    "ndie temperature(c)": "npu.ndie_temperature_c",
    "sfp temperature(c)": "npu.sfp_temperature_c",
    "memory usage rate(%)": "npu.ddr_usage_percent",
    "ddr usage rate(%)": "npu.ddr_usage_percent",
    "hbm usage rate(%)": "npu.hbm_usage_percent",
    "aicore usage rate(%)": "npu.aicore_percent",
    "aivector usage rate(%)": "npu.aivector_percent",
    "aicube usage rate(%)": "npu.aicube_percent",
    "aicpu usage rate(%)": "npu.aicpu_percent",
    "ctrlcpu usage rate(%)": "npu.ctrlcpu_percent",
    "npu utilization(%)": "npu.utilization_percent",
    "ddr bandwidth usage rate(%)": "npu.ddr_bandwidth_percent",
    "hbm bandwidth usage rate(%)": "npu.hbm_bandwidth_percent",
    "aicore freq(mhz)": "npu.aicore_mhz",
    "aicore curfreq(mhz)": "npu.aicore_current_mhz",
    "aicore count": "npu.aicore_count",
    "ddr capacity(mb)": "npu.ddr_total_mb",
    "hbm capacity(mb)": "npu.hbm_total_mb",
    "ddr clock speed(mhz)": "npu.ddr_mhz",
    "hbm clock speed(mhz)": "npu.hbm_mhz",
    "ddr hugepages total(page)": "npu.hugepages_total",
    "ddr hugepages usage rate(%)": "npu.hugepages_percent",
    "fault event count": "npu.fault_events",
    "total count": "npu.count",
    "chip count": "npu.chips",
}
_ECC = re.compile(
    r"(?P<memory>hbm|ddr) (?P<bits>single|double) bit (?P<what>error count|aggregate total err cnt|isolated pages count"
    r"|next-isolated pages count)"
)
_ECC_NAMES = {
    "error count": "npu.ecc_{bits}_bit",
    "aggregate total err cnt": "npu.ecc_{bits}_bit_total",
    "isolated pages count": "npu.ecc_{bits}_isolated_pages",
    "next-isolated pages count": "npu.ecc_{bits}_next_isolated_pages",
}
_TEXTS = {
    "health": "npu.health",
    "health status": "npu.health",
    "compatibility": "npu.driver_firmware",
    "error code": "npu.fault_code",
    "pci device id": "npu.pci_device",
    "pcie bus info": "npu.bus_id",
}
_KEY = re.compile(r"\s*(?P<key>[A-Za-z][\w /()%.-]{1,50}?)(?P<gap>\s*):\s*(?P<value>\S.*?)\s*$")
_GAP = 2
"""Blanks before the colon of a text's key, which tell npu-smi's columns from other programs' sentences."""
_MAP_HEADER = re.compile(r"\s*NPU ID\s+(?P<slot>Slot ID\s+)?Chip ID\s+Chip (?P<kind>Logic ID|Phy-ID)\s+Chip Name")
_MAP_ROW = re.compile(r"\s*(?P<npu>\d+)\s+(?P<ids>(?:\d+\s+)*(?:\d+|-))\s+(?P<name>(?:Ascend\s*)?[\w-]+)\s*$")
_EVENT = re.compile(r"event id=(0x[0-9A-Fa-f]+)")
_PROCESS = re.compile(r"\s*Process id:(?P<pid>\d+)\s.*Process memory\(MB\):(?P<mb>\d+)")
_TOPOLOGY = re.compile(r"\s*NPU(?P<npu>\d+)\s+(?P<links>(?:(?:X|SYS|PHB|PIX|PXB|HCCS|HCCS_SW|SIO|UB|NA)\s+)+)")
_WATCH = {
    "Pwr(W)": "npu.power_w", "Temp(C)": "npu.temperature_c", "AI Core(%)": "npu.aicore_percent",
    "AI Cpu(%)": "npu.aicpu_percent", "Ctrl Cpu(%)": "npu.ctrlcpu_percent", "Memory(%)": "npu.hbm_usage_percent",
    "Memory BW(%)": "npu.hbm_bandwidth_percent", "NPU Util(%)": "npu.utilization_percent",
    "AI Cube(%)": "npu.aicube_percent",
}  # fmt: skip
_FAILURE = re.compile(r"dcmi mod(?:ul)?el? initiali[sz]e.*ret is -\d+|driver package may not be completely installed")
_COMMAND = re.compile(r"npu-smi info\b.*-i (?P<npu>\d+)(?:.*-c (?P<chip>\d+))?")


def read(lines: list[Line]) -> list[Fact]:
    """The facts of all outputs, each with the NPU that its output or command names."""
    facts: list[Fact] = []
    reader = _Reader()
    for index, line in enumerate(lines):
        facts += (Fact(name, value, index, subject) for name, value, subject in reader.values(line.text))
    return facts


_Value = tuple[str, "float | str", "str | None"]


class _Reader:
    """Remembers which NPU and which table a line belongs to."""

    def __init__(self) -> None:
        self.npu: str | None = None
        self.chip_name = self.npu_name = ""
        self.map_kind = ""
        self.watched: list[str] = []

    def values(self, text: str) -> Iterator[_Value]:
        if text.startswith("|"):
            return
        if found := _COMMAND.search(text):
            self.npu = _device(found["npu"], found["chip"])
        elif text.startswith("$"):
            self.npu, self.map_kind, self.watched = None, "", []
        elif found := _MAP_HEADER.match(text):
            self.map_kind = "npu.physical_id" if found["kind"] == "Phy-ID" else "npu.logical_id"
        elif text.lstrip().startswith("NpuID(Idx)"):
            self.watched = re.findall(r"(?:AI |Ctrl |Memory |NPU )?\w+\([%A-Z]\)", text.partition(")")[2])
        elif self.map_kind and (found := _MAP_ROW.match(text)):
            yield from _mapped(found, self.map_kind)
        elif self.watched and len(row := text.split()) == len(self.watched) + 1 and row[0].isdigit():
            yield from (
                (_WATCH[n], float(v), row[0]) for n, v in zip(self.watched, row[1:], strict=True) if _is_number(v)
            )
        elif found := _TOPOLOGY.match(text):
            links = enumerate(found["links"].split())
            yield from (("npu.topology", v, f"{found['npu']}-{n}") for n, v in links if n > int(found["npu"]))
        elif found := _PROCESS.match(text):
            yield "npu.process_mb", float(found["mb"]), f"{self.npu or ''}/{found['pid']}"
        elif _FAILURE.search(text):
            yield "npu_smi.error", text.strip()[:200], None
        elif found := _KEY.match(text):
            yield from self._keyed(found["key"].lower().replace(" (", "("), found["value"], len(found["gap"]) >= _GAP)

    def _keyed(self, key: str, value: str, in_column: bool) -> Iterator[_Value]:
        if _is_number(value) and (name := _NUMBERS.get(key) or _ecc_name(key)):
            yield name, float(value), None if name == "npu.count" else self.npu
        if not in_column:
            return
        if key == "npu id":
            self.npu, self.chip_name, self.npu_name = value, "", ""
        elif key == "chip id" and self.npu and value.isdigit():
            self.npu = _device(self.npu.partition("/")[0], value)
        elif key in _TEXTS and value != "NA":
            yield _TEXTS[key], value, self.npu
        elif key == "fault event information" and (found := _EVENT.search(value)):
            yield "npu.fault_code", found[1], self.npu
        elif key in ("chip name", "npu name"):
            yield from self._named(key, value.replace(" ", ""))

    def _named(self, key: str, name: str) -> Iterator[_Value]:
        """The name of the chip, and of both names together the one that CANN calls the SoC by."""
        if key == "chip name":
            self.chip_name = name
            yield "npu.name", name, self.npu
        else:
            self.npu_name = name
        if self.chip_name and self.npu_name:
            yield "npu.soc", f"{self.chip_name}_{self.npu_name}", self.npu


def _device(npu: str, chip: str | None) -> str:
    return f"{npu}/{chip}" if chip and chip != "0" else npu


def _mapped(row: re.Match[str], kind: str) -> Iterator[_Value]:
    """A row of `npu-smi info -m`: the chip number stands before the last id; the rows of the Mcu have none."""
    ids = row["ids"].split()
    if ids[-1] == "-" or len(ids) < 2:
        return
    device = _device(row["npu"], ids[-2])
    yield kind, float(ids[-1]), device
    yield "npu.name", row["name"].replace(" ", ""), device


def _ecc_name(key: str) -> str | None:
    """The fact of a counter of memory errors; pages are isolated of HBM only."""
    found = _ECC.fullmatch(key)
    if not found or ("isolated" in found["what"] and found["memory"] == "ddr"):
        return None
    name = _ECC_NAMES[found["what"]].format(bits=found["bits"])
    return name.replace("ecc_double_isolated", "ecc_isolated")


def _is_number(value: str) -> bool:
    return value.replace(".", "", 1).isdigit()
