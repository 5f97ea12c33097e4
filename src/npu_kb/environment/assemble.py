"""Lines that commands and files printed, on this machine or in a paste, to a snapshot."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from itertools import groupby
from math import isinf
from typing import Any

from npu_kb.environment.pseudonyms import name_of, with_pseudonyms
from npu_kb.environment.snapshot import Chip, Fact, Reading, Snapshot, Version, importance
from npu_kb.intake import facts as intake
from npu_kb.intake.logtext import Line
from npu_kb.intake.redact import names_in, redact
from npu_kb.intake.versions import chip_family, find_versions

_ARCH = re.compile(r"\b(aarch64|x86_64)\b")
_SETTING = re.compile(r"(?:export |declare -x )?(?P<name>[A-Z][A-Z0-9_]*)=(?P<value>.*)")
_SETTINGS = re.compile(
    r"(?:HCCL|HCCN|ASCEND|ASDOPS|ATB|ACL|ACLNN|CANN|NPU|TORCH|PYTORCH|VLLM|MINDIE|MIES|MS|RAY|TRITON|TE|INF_NAN|GLOO|TP|OMP"
    r"|RANK|WORLD|LOCAL|MASTER|DEVICE|VISIBLE|CUDA)_\w+|RANK|LD_LIBRARY_PATH|LD_PRELOAD|PYTHONPATH|TASK_QUEUE_ENABLE"
    r"|COMBINED_ENABLE|CPU_AFFINITY_CONF|STREAMS_PER_DEVICE"
)
_FREE_TEXTS = re.compile(r"hccn\.ip|npu_smi\.error|.*path")
"""Facts that may hold addresses or users' folders."""
_MOST_CHARS = 300
"""Of a line that is kept beside its fact."""
_LIST = re.compile(r"\[([^\]]+)\]")
_ACCEPTED = {
    "driver.inner_version": ("driver", "inner_version"),
    "driver.accepts_cann": ("driver", "accepts_cann"),
    "driver.accepts_firmware": ("driver", "accepts_firmware"),
    "firmware.accepts_driver": ("firmware", "accepts_driver"),
    "cann.inner_version": ("cann", "inner_version"),
    "cann.accepts": ("cann", "accepts"),
    "npu.driver_firmware": ("npu", "driver_firmware"),
}


def is_setting(name: str) -> bool:
    """Whether an environment variable of this name steers the stack."""
    return bool(_SETTINGS.fullmatch(name))


def assemble(lines: list[Line], given: dict[str, Any] | None = None, key: bytes = b"") -> Snapshot:
    """The snapshot that lines tell, each group of one source by itself; `given` holds fields known otherwise.

    What stands first wins; versions that differ are kept beside it. Redacted; see `redacted` for the key.
    """
    return redacted(assemble_plain(lines, given), key)


def assemble_plain(lines: list[Line], given: dict[str, Any] | None = None) -> Snapshot:
    """As `assemble`, not yet redacted."""
    groups = [(source, list(group)) for source, group in groupby(lines, key=lambda line: line.source)]
    facts = _facts(groups)
    fields: dict[str, Any] = {
        "taken": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "arch": next((found[1] for line in lines if (found := _ARCH.search(line.text))), None),
        "chips": _chips(facts),
        "versions": _versions(groups),
        "compatibility": _compatibility(facts),
        "environment": _settings(lines),
        **(given or {}),
    }
    return Snapshot(**fields | {"facts": [*facts, *fields.get("facts", [])]})


def redacted(snapshot: Snapshot, key: bytes = b"") -> Snapshot:
    """The snapshot without addresses, hosts and users; what the settings say is known to all other texts.

    With the key of its machine, the marks in place of addresses tell whether they are the same.
    """
    settings = [f"{name}={value}" for name, value in snapshot.environment.items()]
    texts = [*settings, *(fact.text for fact in snapshot.facts), *(i.path for i in snapshot.installs),
             *(c.path for c in snapshot.caches), *(m.detail for m in snapshot.missing),
             *(fact.subject for fact in snapshot.facts if fact.subject)]  # fmt: skip
    names = names_in("\n".join(texts))
    shown = [text for fact in snapshot.facts for text in (fact.text, fact.subject or "", fact.source)]
    readings = [reading for version in snapshot.versions.values() for reading in (version, *version.also)]
    plain = _redacted_lines([*shown, *(reading.source for reading in readings)], names)

    def fact_of(fact: Fact) -> Fact:
        told = {"value": _value(fact, names, key), "text": plain[fact.text], "source": plain[fact.source]}
        return fact.model_copy(update=told | {"subject": fact.subject and plain[fact.subject]})

    def version_of(version: Version) -> Version:
        also = [other.model_copy(update={"source": plain[other.source]}) for other in version.also]
        return version.model_copy(update={"source": plain[version.source], "also": also})

    return snapshot.model_copy(
        update={
            "addresses": name_of(key),
            "environment": dict(
                with_pseudonyms(redact(text, names), text.partition("=")[2], key).split("=", 1) for text in settings
            ),
            "facts": [fact_of(fact) for fact in snapshot.facts],
            "versions": {name: version_of(version) for name, version in snapshot.versions.items()},
            "installs": [i.model_copy(update={"path": redact(i.path, names)}) for i in snapshot.installs],
            "caches": [c.model_copy(update={"path": redact(c.path, names)}) for c in snapshot.caches],
            "missing": [
                m.model_copy(update={"what": redact(m.what, names), "detail": redact(m.detail, names)})
                for m in snapshot.missing
            ],
        }
    )


def _redacted_lines(texts: list[str], names: dict[str, str]) -> dict[str, str]:
    """{line: the line redacted}, all in one pass; the name of a file may hold a line break."""
    lines = list(dict.fromkeys(texts))
    plain = redact("\n".join(line.replace("\n", " ") for line in lines), names)
    return dict(zip(lines, plain.split("\n"), strict=True)) if lines else {}


def _value(fact: Fact, names: dict[str, str], key: bytes) -> float | str:
    plain = str(fact.value)
    return with_pseudonyms(redact(plain, names), plain, key) if _FREE_TEXTS.fullmatch(fact.name) else fact.value


def _facts(groups: list[tuple[str, list[Line]]]) -> list[Fact]:
    """The facts of all groups; of a value that several tell, all that the first one says."""
    facts: dict[tuple[str, str | None], dict[Fact, None]] = {}
    for source, lines in groups:
        for name, value, index, subject in intake.read_facts(lines):
            shown: float | str = "unlimited" if isinstance(value, float) and isinf(value) else value
            number, text = lines[index].number, lines[index].text.strip()[:_MOST_CHARS]
            fact = Fact(name=name, value=shown, subject=subject, source=source, line=number, text=text)
            told = facts.setdefault((name, subject), {})
            if not told or next(iter(told)).source == source:
                told.setdefault(fact)
    return [fact for told in facts.values() for fact in told]


def _versions(groups: list[tuple[str, list[Line]]]) -> dict[str, Version]:
    versions: dict[str, list[Reading]] = {}
    for source, lines in groups:
        for component, value, _ in find_versions([line.text for line in lines]):
            readings = versions.setdefault(component, [])
            if value not in [reading.version for reading in readings]:
                readings.append(Reading(version=value, source=source))
    ordered = sorted(versions.items(), key=lambda item: importance(item[0]))
    return {name: Version(**first.model_dump(), also=others) for name, (first, *others) in ordered}


def _chips(facts: list[Fact]) -> list[Chip]:
    """The NPUs in their order, each with its chip's first name."""
    names: dict[str, str] = {}
    chips: dict[str, set[str]] = {}
    for fact in facts:
        if fact.name == "npu.name" and fact.subject:
            npu = fact.subject.partition("/")[0]
            names.setdefault(npu, str(fact.value))
            chips.setdefault(npu, set()).add(fact.subject)
    has_ddr = {fact.subject for fact in facts if fact.name == "npu.ddr_total_mb" and fact.value}
    return [
        Chip(npu=npu, name=name, family=_family(name, npu in has_ddr), count=len(chips[npu]))
        for npu, name in names.items()
    ]


def _family(name: str, has_ddr: bool) -> str | None:
    """The family of a chip by its name; plain `910B` with DDR beside its HBM is a first-generation 910."""
    if name == "Ascend910":
        return "910_93"
    if name.removeprefix("Ascend") == "910B":
        return "910A" if has_ddr else "910B"
    return chip_family(name) or ("310" if name.removeprefix("Ascend") == "310" else None)


def _compatibility(facts: list[Fact]) -> dict[str, dict[str, Any]]:
    """What the files of driver, firmware and CANN say they go with, lists as lists; the first file of each.

    The driver's word on the firmware (`npu.driver_firmware`) is that of the NPU with which it is not content, if any.
    """
    told: dict[str, dict[str, Any]] = {}
    for fact in sorted(facts, key=lambda fact: fact.value == "OK"):
        if place := _ACCEPTED.get(fact.name):
            entries = _LIST.findall(str(fact.value))
            value = [entry.split(",") if "," in entry else entry for entry in entries] or fact.value
            told.setdefault(place[0], {}).setdefault(place[1], value)
    return told


def _settings(lines: list[Line]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for line in lines:
        if (found := _SETTING.fullmatch(line.text.strip())) and is_setting(found["name"]):
            settings.setdefault(found["name"], found["value"].strip("\"'"))
    return settings
