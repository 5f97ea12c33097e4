"""The table of `npu-smi info`, in all its layouts: two rows a chip, and the processes.

Facts, of an NPU (`0`; a further chip of it: `0/1`): npu.name, npu.health, npu.power_w, npu.temperature_c,
npu.hugepages_used, npu.hugepages_total, npu.bus_id, npu.physical_id, npu.aicore_percent, npu.ddr_used_mb,
npu.ddr_total_mb, npu.hbm_used_mb, npu.hbm_total_mb, npu.hbm_usage_percent (on chips without HBM: of their memory), and
npu.process_mb (of `NPU/process id`).
"""

from __future__ import annotations

import re

from npu_kb.intake.facts import Fact
from npu_kb.intake.logtext import Line

_CARD = re.compile(
    r"\|\s*(?P<npu>\d+)\s*\|?\s+(?P<name>[0-9A-Za-z_-]+)\s*\|\s*(?P<health>OK|Warning|Alarm|Critical|UNKNOWN|NA)\s*\|"
    r"\s*(?P<power>\d+(?:\.\d+)?|-|NA)\s+(?P<temp>\d+|NA|-)(?=\s)(?:\s+(?P<pages>\d+)\s*/\s*(?P<all_pages>\d+))?",
    re.IGNORECASE,
)
_CHIP = re.compile(
    r"\|\s*(?P<chip>\d*)(?:\s+(?P<id>\d+))?\s*\|(?:\s*\|)?\s*"
    r"(?P<bus>[0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]|NA)\s*\|\s*(?P<aicore>\d+)\s+"
    r"(?:(?P<ddr_used>\d+)\s*/\s*(?P<ddr_total>\d+)\s+)?(?P<used>\d+)\s*/\s*(?P<total>\d+)\s*\|",
    re.IGNORECASE,
)
_PROCESS = re.compile(r"\|\s*(?P<npu>\d+)(?:\s+(?P<chip>\d+))?\s*\|\s*(?P<pid>\d+)\s*\|[^|]*\|\s*(?P<mb>\d+)\s*\|")
_CARD_VALUES = {
    "npu.power_w": "power", "npu.temperature_c": "temp", "npu.hugepages_used": "pages",
    "npu.hugepages_total": "all_pages",
}  # fmt: skip
_DDR_VALUES = {"npu.ddr_used_mb": "ddr_used", "npu.ddr_total_mb": "ddr_total"}
_HBM_VALUES = {"npu.hbm_used_mb": "used", "npu.hbm_total_mb": "total"}


def read(lines: list[Line]) -> list[Fact]:
    """The facts of all tables. A card's row waits for its chip's, which tells whether it is the NPU's first."""
    facts: list[Fact] = []
    card: re.Match[str] | None = None
    card_line, in_processes = 0, False
    for index, line in enumerate(lines):
        text = line.text
        if not text.startswith("|"):
            continue
        in_processes = "Process id" in text or (in_processes and "Bus-Id" not in text)
        if in_processes and (process := _PROCESS.match(text)):
            facts.append(Fact("npu.process_mb", float(process["mb"]), index, f"{process['npu']}/{process['pid']}"))
        elif chip := _CHIP.match(text):
            subject = _subject(card, chip)
            facts += (_card_facts(card, card_line, subject) if card else []) + _chip_facts(chip, index, subject)
            card = None
        elif found := _CARD.match(text):
            facts += _card_facts(card, card_line, card["npu"]) if card else []
            card, card_line = found, index
    return facts + (_card_facts(card, card_line, card["npu"]) if card else [])


def _subject(card: re.Match[str] | None, chip: re.Match[str]) -> str | None:
    """The NPU, and behind it the number of the chip if it is not its first."""
    if card is None:
        return None
    return str(card["npu"]) if chip["chip"] in ("", "0") else f"{card['npu']}/{chip['chip']}"


def _card_facts(card: re.Match[str], index: int, subject: str | None) -> list[Fact]:
    facts = [Fact("npu.name", card["name"], index, subject), Fact("npu.health", card["health"], index, subject)]
    return facts + _numbers(_CARD_VALUES, card, index, subject)


def _chip_facts(chip: re.Match[str], index: int, subject: str | None) -> list[Fact]:
    facts = [Fact("npu.bus_id", chip["bus"], index, subject)] if chip["bus"] != "NA" else []
    facts += _numbers({"npu.physical_id": "id", "npu.aicore_percent": "aicore"}, chip, index, subject)
    facts += _numbers(_HBM_VALUES, chip, index, subject)
    if float(chip["ddr_total"] or 0):
        facts += _numbers(_DDR_VALUES, chip, index, subject)
    if total := float(chip["total"]):
        facts.append(Fact("npu.hbm_usage_percent", round(100 * float(chip["used"]) / total, 1), index, subject))
    return facts


def _numbers(groups: dict[str, str], found: re.Match[str], index: int, subject: str | None) -> list[Fact]:
    """A fact for each group that holds a number."""
    values = ((name, found[group] or "") for name, group in groups.items())
    return [Fact(name, float(v), index, subject) for name, v in values if v.replace(".", "", 1).isdigit()]
