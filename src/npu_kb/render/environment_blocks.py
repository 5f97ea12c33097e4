"""A snapshot, and the differences of two, as blocks of lines: what terminal text and screens show of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from npu_kb.environment.compare import FULL_PERCENT
from npu_kb.render.text import Say, clipped, width_of

if TYPE_CHECKING:
    from npu_kb.environment.compare import Difference
    from npu_kb.environment.snapshot import Fact, Missing, Node, Snapshot

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
    "host.memory_available_percent": ("memory", "%"),
}  # fmt: skip
_SIDE_CHARS = 70
"""Of a value that is compared."""
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
    "disks": {"en": "Disks", "zh": "磁盘"},
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
    "absent": {"en": "none", "zh": "无"},
    "empty": {"en": "empty", "zh": "空"},
    "no complaint": {"en": "not reported", "zh": "无此项"},
    "not known": {"en": "not known", "zh": "未知"},
    "arch": {"en": "architecture", "zh": "架构"},
    "memory": {"en": "memory available", "zh": "可用内存"},
    "not found": {"en": "not found", "zh": "不存在"},
    "no permission": {"en": "no permission", "zh": "无权限"},
    "no answer": {"en": "no answer in time", "zh": "超时无响应"},
    "failed": {"en": "failed", "zh": "执行失败"},
    "too long": {"en": "output too long", "zh": "输出过长"},
}
say = Say(_TEXTS)
"""The headings and texts of blocks."""


class Row(NamedTuple):
    """A line of a block; `whole` is all of what is shortened, `is_odd` whether something is not as it should be."""

    text: str
    whole: str
    is_odd: bool = False


class Block(NamedTuple):
    """Lines below a heading."""

    heading: str
    rows: list[Row]


def snapshot_blocks(snapshot: Snapshot, lang: str, longest: int) -> list[Block]:
    """What the machine is, its NPUs and versions, what is not as it should be, limits, devices, settings.

    Settings are cut to `longest` cells; blocks without a line are left out.
    """
    nodes, mounts = snapshot.devices.nodes, snapshot.devices.mounts
    settings = (f"{name}={value}" for name, value in snapshot.environment.items())
    blocks = {
        "machine": _rows([_machine(snapshot, lang)]),
        "npus": _rows(_npus(snapshot) or [say("none", lang)]),
        "versions": _rows(_versions(snapshot, lang)),
        "installs": _rows(f"{i.path}  {i.version or '?'}{_mark(i.loaded, 'loaded', lang)}" for i in snapshot.installs),
        "odd": _rows(_odd(snapshot.facts), is_odd=True),
        "limits": _rows(_limits(snapshot.facts, lang)),
        "full": _rows(_full(snapshot.facts), is_odd=True),
        "nodes": [
            *_rows(
                [", ".join(usable)] if (usable := [n.path.removeprefix("/dev/") for n in nodes if n.usable]) else []
            ),
            *_rows((_closed(node, lang) for node in nodes if not node.usable), is_odd=True),
        ],
        "mounts": _rows(f"{m.target}  {m.type}  {m.options}" for m in mounts if m.target != "/"),
        "environment": [Row(clipped(setting, longest), setting) for setting in settings],
        "caches": [*_folders(snapshot, lang)],
        "missing": _rows(missing_lines(snapshot.missing, lang)),
    }
    return [Block(say(name, lang), rows) for name, rows in blocks.items() if rows]


def difference_blocks(differences: list[Difference], lang: str) -> list[Block]:
    """What differs, by kind: name, the first side's value, the second's, in words where a side has none.

    Of long values that begin alike, what differs is shown.
    """
    kinds: dict[str, list[Row]] = {}
    for row in differences:
        first, second = (_side(row.kind, row.name, side, lang) for side in (row.first, row.second))
        name = say(row.name, lang) if row.kind == "machine" else row.name
        short = (clipped(text, _SIDE_CHARS) for text in _from_where_they_differ(first, second))
        kinds.setdefault(row.kind, []).append(Row(f"{name}: {' -> '.join(short)}", f"{name}: {first} -> {second}"))
    return [Block(say(kind, lang), rows) for kind, rows in kinds.items()]


def _side(kind: str, name: str, value: str | None, lang: str) -> str:
    """What one side says, in words of the language."""
    if value is None:
        return say("no complaint" if kind == "missing" else "absent", lang)
    if kind == "missing":
        return _reason(value, lang)
    if name == "container":
        return say({"True": "container", "False": "host"}.get(value, "not known"), lang)
    if kind == "installs" and value.endswith(" loaded"):
        return value.removesuffix("loaded") + say("loaded", lang)
    return value or say("empty", lang)


def _from_where_they_differ(first: str, second: str) -> tuple[str, str]:
    """Both, without most of what they begin with alike, where one of them is too long to be shown."""
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
    start = alike - _SIDE_CHARS // 3
    if start <= 0 or max(width_of(first), width_of(second)) <= _SIDE_CHARS:
        return first, second
    return f"...{first[start:]}", f"...{second[start:]}"


def _rows(texts: Iterable[str], *, is_odd: bool = False) -> list[Row]:
    return [Row(text, text, is_odd) for text in texts]


def _machine(snapshot: Snapshot, lang: str) -> str:
    kinds = {True: [say("container", lang)], False: [say("host", lang)], None: []}
    versions = [snapshot.versions[name].version for name in ("os", "kernel") if name in snapshot.versions]
    return ", ".join(
        [snapshot.host, *kinds[snapshot.container], *([snapshot.arch] if snapshot.arch else []), *versions]
    )


def _npus(snapshot: Snapshot) -> list[str]:
    """How many of each chip, and a line for each chip of an NPU: the first value of each column."""
    counts = Counter((chip.name, chip.family) for chip in snapshot.chips)
    lines = [f"{number} x {name}" + (f" ({family})" if family else "") for (name, family), number in counts.items()]
    told: dict[str, dict[str, dict[str, float | str]]] = {}
    for fact in snapshot.facts:
        if fact.subject and fact.name in _COLUMNS:
            npu = told.setdefault(fact.subject.partition("/")[0], {})
            npu.setdefault(fact.subject, {}).setdefault(fact.name, fact.value)
    for chip in snapshot.chips:
        for subject, values in told.get(chip.npu, {}).items():
            parts = [f"{_plain(values[name])}{unit}" for name, unit in _COLUMNS.items() if name in values]
            lines.append(f"{subject}: {', '.join(parts)}")
    return lines


def _versions(snapshot: Snapshot, lang: str) -> list[str]:
    rows = []
    for name, version in snapshot.versions.items():
        others = [say("says", lang, source=other.source, version=other.version) for other in version.also]
        if name not in ("os", "kernel"):
            rows.append(f"{name} {version.version}" + (f"  ({'; '.join(others)})" if others else ""))
    return rows


def _odd(facts: list[Fact]) -> list[str]:
    odd = (f for f in facts if f.name in _ODD and (_ODD[f.name] is None or f.value != _ODD[f.name]))
    return [f"{f.name} = {_plain(f.value)}" + (f" [{f.subject}]" if f.subject else "") for f in odd]


def _limits(facts: list[Fact], lang: str) -> list[str]:
    told = {fact.name: fact.value for fact in facts}
    shown = [
        f"{say(name, lang) if name in _TEXTS else name} {_plain(told[key])}{unit}"
        for key, (name, unit) in _LIMITS.items()
        if key in told
    ]
    return [", ".join(shown)] if shown else []


def _full(facts: list[Fact]) -> list[str]:
    disks = (
        f for f in facts if f.name == "host.disk_percent" and isinstance(f.value, float) and f.value >= FULL_PERCENT
    )
    return [f"{fact.subject} {_plain(fact.value)}%" for fact in disks]


def _closed(node: Node, lang: str) -> str:
    """A device file that this user cannot open."""
    return f"{node.path}  {node.mode}  {node.owner}{_mark(True, 'unusable', lang)}"


def _folders(snapshot: Snapshot, lang: str) -> Iterator[Row]:
    for cache in snapshot.caches:
        text = f"{cache.path}  {cache.mode}  {cache.owner}{_mark(not cache.writable, 'readonly', lang)}"
        yield Row(text, text, not cache.writable)


def missing_lines(rows: list[Missing], lang: str) -> list[str]:
    """What could not be read, and why; many commands of one program that failed alike stand on one line."""
    groups: dict[tuple[str, str], list[Missing]] = {}
    for row in rows:
        groups.setdefault((row.what.partition(" ")[0], row.why), []).append(row)
    lines = []
    for (program, why), alike in groups.items():
        if len(alike) > _MOST_ALIKE:
            lines.append(f"{say('commands', lang, program=program, number=str(len(alike)))}: {_reason(why, lang)}")
        else:
            lines += [f"{r.what}: {_reason(why, lang)}" + (f" ({r.detail})" if r.detail else "") for r in alike]
    return lines


def _reason(why: str, lang: str) -> str:
    return say(why, lang) if why in _TEXTS else why


def _mark(shown: bool, name: str, lang: str) -> str:
    return f"  ({say(name, lang)})" if shown else ""


def _plain(value: float | str) -> str:
    return (
        f"{value:g}"
        if isinstance(value, float) and abs(value) < 1e6
        else f"{value:.0f}"
        if isinstance(value, float)
        else value
    )
