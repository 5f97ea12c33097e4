"""A snapshot, and the differences of two, as terminal text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from npu_kb.intake.clean import printable
from npu_kb.render.page import Page
from npu_kb.render.text import choose, clipped, filled, width_of

if TYPE_CHECKING:
    from npu_kb.environment.compare import Difference
    from npu_kb.environment.snapshot import Chip, Fact, Missing, Snapshot

_LABEL_WIDTH = 13
_COLUMNS = {
    "npu.health": "", "npu.temperature_c": " C", "npu.power_w": " W", "npu.hbm_usage_percent": "% memory",
}  # fmt: skip
"""What is shown of each chip, with its unit; the memory is HBM, or the DDR of a 310."""
_ODD = {
    "npu.health": "OK",
    "npu.ecc_double_bit": 0, "npu.ecc_isolated_pages": 0, "npu.driver_firmware": "OK", "hccn.link": "UP",
    "hccn.net_health": "Success", "npu.fault_code": None, "npu_smi.error": None, "host.device_missing": None,
    "host.device_access": None, "host.folder_access": None,
}  # fmt: skip
"""Facts that are shown where they are not as they should be; None: whenever there is one."""
_LIMITS = {
    "host.memlock_kb": ("memlock", " kB"), "host.nofile": ("nofile", ""), "host.max_map_count": ("max_map_count", ""),
    "host.shm_mb": ("/dev/shm", " MB"), "host.hugepages_total": ("hugepages", ""),
    "host.memory_available_percent": ("memory available", "%"),
}  # fmt: skip
_FULL_PERCENT = 90
_MOST_ALIKE = 3
"""Commands of one program that failed alike and are still told one by one."""
_TEXTS = {
    "machine": {"en": "Machine", "zh": "机器"},
    "npus": {"en": "NPUs", "zh": "NPU"},
    "versions": {"en": "Versions", "zh": "版本"},
    "installs": {"en": "CANN", "zh": "CANN"},
    "odd": {"en": "Look at", "zh": "需关注"},
    "limits": {"en": "Limits", "zh": "系统限制"},
    "full": {"en": "Full disks", "zh": "磁盘将满"},
    "devices": {"en": "Devices", "zh": "设备"},
    "nodes": {"en": "Device files", "zh": "设备文件"},
    "network": {"en": "Network", "zh": "网络"},
    "mounts": {"en": "Mounts", "zh": "挂载"},
    "environment": {"en": "Settings", "zh": "环境变量"},
    "caches": {"en": "Folders", "zh": "目录"},
    "missing": {"en": "Not read", "zh": "未能读取"},
    "chips": {"en": "Chips", "zh": "芯片"},
    "momentary": {"en": "At the moment", "zh": "瞬时值"},
    "container": {"en": "container", "zh": "容器"},
    "host": {"en": "host", "zh": "物理机或虚拟机"},
    "none": {"en": "none found", "zh": "未发现"},
    "loaded": {"en": "loaded", "zh": "已加载"},
    "says": {"en": "{source} says {version}", "zh": "{source} 为 {version}"},
    "readonly": {"en": "not writable", "zh": "不可写"},
    "unusable": {"en": "not accessible to this user", "zh": "当前用户无权访问"},
    "commands": {"en": "{program} ({number} commands)", "zh": "{program}（{number} 条命令）"},
    "saved": {
        "en": "saved {path}: {versions:version}, {npus:NPU}, {facts:other fact}; redacted",
        "zh": "已保存到 {path}：版本 {versions} 项，NPU {npus} 个，其他信息 {facts} 项；已脱敏",
    },
    "same": {"en": "No difference that matters.", "zh": "没有需要关注的差异。"},
    "not found": {"en": "not found", "zh": "不存在"},
    "no permission": {"en": "no permission", "zh": "无权限"},
    "no answer": {"en": "no answer in time", "zh": "超时无响应"},
    "failed": {"en": "failed", "zh": "执行失败"},
    "too long": {"en": "output too long", "zh": "输出过长"},
}


def _say(name: str, lang: str, **words: object) -> str:
    return filled(choose(_TEXTS[name], lang)[0], **words)


class _Sheet(Page):
    """A page of labelled blocks of lines."""

    def block(self, name: str, texts: Iterable[str]) -> None:
        """The lines behind a label; nothing where there are none."""
        heading = _say(name, self.lang)
        pad = " " * max(1, _LABEL_WIDTH - width_of(heading))
        for number, text in enumerate(texts):
            before = len(self.lines)
            self.paragraph(text, _LABEL_WIDTH)
            if number == 0 and len(self.lines) > before:
                first = self.lines[before][_LABEL_WIDTH:]
                self.lines[before] = self.style(heading, "bold") + pad + first


def saved_text(snapshot: Snapshot, path: str, lang: str) -> str:
    """What was kept, in one line."""
    counts = {"versions": len(snapshot.versions), "npus": len(snapshot.chips), "facts": len(snapshot.facts)}
    return printable(_say("saved", lang, path=path, **counts))


def snapshot_text(snapshot: Snapshot, lang: str, colour: bool, width: int) -> str:
    """One screen: what the machine is, its versions, its NPUs, and what is not as it should be."""
    page = _Sheet(lang, colour, width)
    page.block("machine", [_machine(snapshot, lang)])
    page.block("npus", _npus(snapshot) or [_say("none", lang)])
    page.block("versions", _versions(snapshot, lang))
    page.block(
        "installs", [f"{i.path}  {i.version or '?'}{_mark(i.loaded, 'loaded', lang)}" for i in snapshot.installs]
    )
    page.block("odd", _odd(snapshot.facts))
    page.block("limits", _limits(snapshot.facts))
    page.block("full", _full(snapshot.facts))
    page.block("nodes", _nodes(snapshot, lang))
    page.block("mounts", [f"{m.target}  {m.type}  {m.options}" for m in snapshot.devices.mounts if m.target != "/"])
    page.block("environment", [clipped(f"{name}={value}", 2 * width) for name, value in snapshot.environment.items()])
    page.block(
        "caches", [f"{c.path}  {c.mode}  {c.owner}{_mark(not c.writable, 'readonly', lang)}" for c in snapshot.caches]
    )
    page.block("missing", missing_lines(snapshot.missing, lang))
    return page.text()


def _machine(snapshot: Snapshot, lang: str) -> str:
    kinds = {True: [_say("container", lang)], False: [_say("host", lang)], None: []}
    versions = [snapshot.versions[name].version for name in ("os", "kernel") if name in snapshot.versions]
    return ", ".join(
        [snapshot.host, *kinds[snapshot.container], *([snapshot.arch] if snapshot.arch else []), *versions]
    )


def _npus(snapshot: Snapshot) -> list[str]:
    """How many of each chip, and a line for each NPU."""
    names = [(chip.name, chip.family) for chip in snapshot.chips]
    counts = [f"{names.count(key)} x {key[0]}" + (f" ({key[1]})" if key[1] else "") for key in dict.fromkeys(names)]
    return counts + [line for chip in snapshot.chips for line in _of_npu(chip, snapshot.facts)]


def _of_npu(chip: Chip, facts: list[Fact]) -> Iterator[str]:
    """A line for each chip of an NPU: the first value of each column."""
    told: dict[str, dict[str, float | str]] = {}
    for fact in facts:
        if fact.subject and fact.subject.partition("/")[0] == chip.npu and fact.name in _COLUMNS:
            told.setdefault(fact.subject, {}).setdefault(fact.name, fact.value)
    for subject, values in told.items():
        parts = [f"{_plain(values[name])}{unit}" for name, unit in _COLUMNS.items() if name in values]
        yield f"{subject}: {', '.join(parts)}"


def _versions(snapshot: Snapshot, lang: str) -> list[str]:
    rows = []
    for name, version in snapshot.versions.items():
        others = [_say("says", lang, source=other.source, version=other.version) for other in version.also]
        if name not in ("os", "kernel"):
            rows.append(f"{name} {version.version}" + (f"  ({'; '.join(others)})" if others else ""))
    return rows


def _odd(facts: list[Fact]) -> list[str]:
    odd = (f for f in facts if f.name in _ODD and (_ODD[f.name] is None or f.value != _ODD[f.name]))
    return [f"{f.name} = {_plain(f.value)}" + (f" [{f.subject}]" if f.subject else "") for f in odd]


def _limits(facts: list[Fact]) -> list[str]:
    told = {fact.name: fact.value for fact in facts}
    shown = [f"{name} {_plain(told[key])}{unit}" for key, (name, unit) in _LIMITS.items() if key in told]
    return [", ".join(shown)] if shown else []


def _full(facts: list[Fact]) -> list[str]:
    disks = (
        f for f in facts if f.name == "host.disk_percent" and isinstance(f.value, float) and f.value >= _FULL_PERCENT
    )
    return [f"{fact.subject} {_plain(fact.value)}%" for fact in disks]


def _nodes(snapshot: Snapshot, lang: str) -> list[str]:
    """The device files that are there, and apart from them those that this user cannot open."""
    nodes = snapshot.devices.nodes
    usable = ", ".join(node.path.removeprefix("/dev/") for node in nodes if node.usable)
    closed = [f"{n.path}  {n.mode}  {n.owner}{_mark(True, 'unusable', lang)}" for n in nodes if not n.usable]
    return ([usable] if usable else []) + closed


def missing_lines(rows: list[Missing], lang: str) -> list[str]:
    """What could not be read, and why; many commands of one program that failed alike stand on one line."""
    groups: dict[tuple[str, str], list[Missing]] = {}
    for row in rows:
        groups.setdefault((row.what.partition(" ")[0], row.why), []).append(row)
    lines = []
    for (program, why), alike in groups.items():
        if len(alike) > _MOST_ALIKE:
            lines.append(f"{_say('commands', lang, program=program, number=str(len(alike)))}: {_reason(why, lang)}")
        else:
            lines += [f"{r.what}: {_reason(why, lang)}" + (f" ({r.detail})" if r.detail else "") for r in alike]
    return lines


def _reason(why: str, lang: str) -> str:
    return _say(why, lang) if why in _TEXTS else why


def _mark(shown: bool, name: str, lang: str) -> str:
    return f"  ({_say(name, lang)})" if shown else ""


def _plain(value: float | str) -> str:
    return (
        f"{value:g}"
        if isinstance(value, float) and abs(value) < 1e6
        else f"{value:.0f}"
        if isinstance(value, float)
        else value
    )


def differences_text(differences: list[Difference], lang: str, colour: bool, width: int) -> str:
    """What differs, by kind: name, the first side's value, the second's; `-` where a side has none."""
    page = _Sheet(lang, colour, width)
    if not differences:
        page.lines.append(_say("same", lang))
    for kind in dict.fromkeys(difference.kind for difference in differences):
        rows = [row for row in differences if row.kind == kind]
        page.block(kind, [f"{r.name}: {_side(r.first)} -> {_side(r.second)}" for r in rows])
    return page.text()


def _side(value: str | None) -> str:
    return clipped(value, 70) if value else "-"
