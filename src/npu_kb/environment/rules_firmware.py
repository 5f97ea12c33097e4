"""The driver with the firmware."""

from __future__ import annotations

from collections.abc import Sequence

from npu_kb.environment.verdict import Machine, Matrix, State, Verdict, listed, say
from npu_kb.knowledge.base import Document
from npu_kb.releases import fits, patches, release

_DRIVER_FILE = "version.info of the driver on this machine"
_FIRMWARE_FILE = "version.info of the firmware on this machine"
_BOARD = "npu-smi info -t board: Compatibility"
_ONE_PACKAGE = "https://www.hiascend.com/document/detail/en/CANNCommunityEdition/910/softwareinst/instg/instg_0005.html"
_HDK_FROM = 20
"""First number from which on a firmware is named by its HDK package, and not by its own version."""
_FAR = 2
"""First numbers (years) by which driver and firmware must not be apart."""


def driver_firmware(matrix: Matrix, machine: Machine, driver: str, firmware: str) -> Verdict:
    """What the board page says, then the ranges of firmware that the driver accepts, then the HDK packages."""
    verdict = (
        _by_range(matrix, machine, driver, firmware)
        or _by_own_list(machine, driver, firmware)
        or _by_package(matrix, driver, firmware)
    )
    board = machine.compatibility.get("npu", {}).get("driver_firmware")
    if not board or (machine.found.get("driver"), machine.found.get("firmware")) != (driver, firmware):
        return verdict
    said = (
        f"npu-smi says of driver {driver} and firmware {firmware}: {board}.",
        f"npu-smi 对驱动 {driver} 与固件 {firmware} 的判断：{board}。",
    )
    if str(board).strip().upper() != "OK":
        return say("unsupported", said, [], _BOARD)
    if verdict.mend is None:
        return say("matched", said, [], _BOARD)
    both = (f"{said[0]} {verdict.reason['en']}", said[1] + verdict.reason["zh"])
    return say("compatible", both, [], _BOARD)._replace(mend=verdict.mend)


def _by_range(matrix: Matrix, machine: Machine, driver: str, firmware: str) -> Verdict | None:
    """Whether a range of the driver's file holds the firmware; None where its version or the ranges are not known."""
    inner = _inner(matrix, firmware)
    rows = _known(matrix, driver)
    own = machine.files("driver", driver).get("accepts_firmware")
    ranges = own if isinstance(own, list) else [pair[1:-1].split(",") for row in rows for pair in row["firmware_range"]]
    if inner is None or not ranges:
        return None
    texts = (
        f"Driver {driver} accepts firmware {listed(map(_range_text, ranges))}; the firmware is {firmware}.",
        f"驱动 {driver} 接受的固件为 {listed(map(_range_text, ranges), '、')}，当前固件为 {firmware}。",
    )
    source = _DRIVER_FILE if isinstance(own, list) else listed(row["source"] for row in rows)
    if not any(_within(inner, pair) for pair in ranges):
        return say("unsupported", texts, [], source)
    return _with_age(matrix, say("matched", texts, [], source), driver, firmware)


def _by_own_list(machine: Machine, driver: str, firmware: str) -> Verdict | None:
    """Whether the firmware's file accepts the driver: `[24.1,24.1.]` stands for all that begins with `24.1.`."""
    accepts = machine.files("firmware", firmware).get("accepts_driver")
    pairs = [pair for pair in accepts if isinstance(pair, list)] if isinstance(accepts, list) else []
    if not pairs:
        return None
    name = driver.lower()
    fit = any(name == str(pair[0]).lower() or name.startswith(str(pair[-1]).lower()) for pair in pairs)
    told = listed(str(pair[0]) for pair in pairs)
    texts = (
        f"Firmware {firmware} accepts drivers {told}; the driver is {driver}.",
        f"固件 {firmware} 接受的驱动为 {told.replace(', ', '、')}，当前驱动为 {driver}。",
    )
    return say("matched" if fit else "unsupported", texts, [], _FIRMWARE_FILE)


def _known(matrix: Matrix, driver: str) -> list[Document]:
    """What this driver says of itself elsewhere; else what another patch of the same release says."""
    rows = matrix.rows("driver")
    exact = [row for row in rows if fits(driver, row["driver"])]
    return exact or [row for row in rows if patches(driver, row["driver"]) or patches(row["driver"], driver)]


def _range_text(pair: object) -> str:
    return " - ".join(map(str, pair)) if isinstance(pair, (list, tuple)) else str(pair)


def _within(inner: str, pair: object) -> bool:
    ends: Sequence[object] = pair if isinstance(pair, list) else [pair]
    low, high, have = release(str(ends[0])), release(str(ends[-1])), release(inner)
    if low is None or high is None or have is None:
        return False
    return low.release <= have.release[: len(low.release)] and have.release[: len(high.release)] <= high.release


def _by_package(matrix: Matrix, driver: str, firmware: str) -> Verdict:
    """Driver and firmware belong to one HDK package, which is sure only where the firmware is named by its HDK."""
    if seen := [row for row in _known(matrix, driver) if _same_series(firmware, row.get("firmware", ""))]:
        told = (
            f"Firmware {firmware} is of the series that was seen with driver {driver}.",
            f"固件 {firmware} 属于与驱动 {driver} 一起出现过的系列。",
        )
        return say("matched", told, [], listed(row["source"] for row in seen))
    hdk = _named_hdk(firmware)
    if hdk is None:
        look = (
            f"No source says which firmware driver {driver} accepts. "
            "Look at Compatibility in `npu-smi info -t board -i 0`.",
            f"没有来源说明驱动 {driver} 接受哪些固件。请看 `npu-smi info -t board -i 0` 中的 Compatibility。",
        )
        return _with_age(matrix, say("unknown", look, []), driver, firmware)
    texts = (
        f"Driver and firmware belong to one HDK package; the driver is of HDK {driver}, the firmware of {hdk}.",
        f"驱动与固件应来自同一 HDK 包：驱动属于 HDK {driver}，固件属于 {hdk}。",
    )
    return _with_age(matrix, say(_nearness(driver, hdk), texts, [], _ONE_PACKAGE), driver, firmware)


def _nearness(driver: str, hdk: str) -> State:
    """How two HDK releases go together: the same, of one line, near, or far apart."""
    have, given = release(driver), release(hdk)
    if have is None or given is None:
        return "unknown"
    if patches(driver, hdk) or patches(hdk, driver):
        return "matched"
    if have.release[:2] == given.release[:2]:
        return "compatible"
    return "unsupported" if abs(have.major - given.major) >= _FAR else "unknown"


def _inner(matrix: Matrix, firmware: str) -> str | None:
    """The firmware's own version: 7.5.0.5.220 of itself, of `7.5.0.5.220-24.1.0.3`, and of HDK 24.1.0.3."""
    first = firmware.split("-")[0]
    version = release(first)
    if version and version.major < _HDK_FROM:
        return first
    rows = (row for row in matrix.rows("driver") if "firmware" in row and patches(first, _package(row)))
    return next((str(row["firmware"]) for row in rows), None)


def _named_hdk(firmware: str) -> str | None:
    """The HDK in the name of a firmware: 24.1.0.3 of `24.1.0.3` and of `7.5.0.5.220-24.1.0.3`."""
    named = ((part, release(part)) for part in firmware.split("-"))
    return next((part for part, version in named if version and version.major >= _HDK_FROM), None)


def _seen_hdk(matrix: Matrix, firmware: str) -> str | None:
    """An HDK with which firmware of this series was seen; others may hold it too."""
    rows = (row for row in matrix.rows("driver") if _same_series(firmware, row.get("firmware", "")))
    return next(map(_package, rows), None)


def _package(row: Document) -> str:
    """The HDK that the firmware of a row comes from."""
    return str(row.get("firmware_hdk", row["driver"]))


def _same_series(one: str, other: str) -> bool:
    first, second = release(one.split("-")[0]), release(other)
    return first is not None and second is not None and first.release[:2] == second.release[:2]


def _is_behind(driver: str, hdk: str | None, is_sure: bool) -> bool:
    """Whether the HDK is of an older line than the driver; where it is only likely, of one that is far older."""
    have, given = release(driver), release(hdk or "")
    if have is None or given is None:
        return False
    return given.release[:2] < have.release[:2] if is_sure else have.major - given.major >= _FAR


def _with_age(matrix: Matrix, verdict: Verdict, driver: str, firmware: str) -> Verdict:
    """Say it, and how to mend it, where the firmware is older than the driver's line."""
    named = _named_hdk(firmware)
    hdk = named or _seen_hdk(matrix, firmware)
    if not _is_behind(driver, hdk, named is not None):
        return verdict
    reason = {
        "en": f"{verdict.reason['en']} The firmware (HDK {hdk}) is behind the driver: operators may take a slow path.",
        "zh": f"{verdict.reason['zh']}固件（HDK {hdk}）落后于驱动，部分算子可能走较慢的兼容路径。",
    }
    mend = {
        "en": f"Upgrade the firmware to that of HDK {driver}, then reboot.",
        "zh": f"把固件升级到 HDK {driver} 的版本，然后重启。",
    }
    state: State = "compatible" if verdict.state == "matched" else verdict.state
    return verdict._replace(state=state, reason=reason, mend=mend)
