"""CANN with the driver and with Python."""

from __future__ import annotations

import re

from packaging.specifiers import SpecifierSet

from npu_kb.environment.verdict import GOOD, Machine, Matrix, State, Verdict, listed, say
from npu_kb.knowledge.base import Document
from npu_kb.releases import fits, fits_any, lowest, patches, release

_LABEL = re.compile(r"C\d{2}(?=SPC|B|$)")
_ONE_RELEASE = "CANN installation guide: toolkit and kernels (ops) packages of one release"
FILES = "version.info of the driver and install.info of CANN on this machine"


def cann_driver(matrix: Matrix, machine: Machine, cann: str, driver: str) -> Verdict:
    """What the machine's files accept, then what is published, then what this driver says elsewhere."""
    published = _published(matrix, machine, matrix.cann(cann), driver)
    files = _files_agree(matrix, machine, cann, driver)
    if files is None:
        return published if published.state != "unknown" else _known_driver(matrix, machine, cann, driver) or published
    if files:
        told = (
            f"By their files driver {driver} and CANN {cann} go together.",
            f"按驱动 {driver} 与 CANN {cann} 的文件，二者兼容。",
        )
        return _joined("matched" if published.state == "matched" else "compatible", told, published)
    told = (
        f"By their files neither driver {driver} nor CANN {cann} accepts the other (an inferred rule).",
        f"按文件，驱动 {driver} 与 CANN {cann} 互不接受（推断规则）。",
    )
    return _joined(published.state if published.state in GOOD else "unsupported", told, published)


def _joined(state: State, told: tuple[str, str], published: Verdict) -> Verdict:
    """What the files say, and what is published beside it."""
    if published.state == "unknown":
        return say(state, told, [], FILES)
    en, zh = f"{told[0]} Published: {published.reason['en']}", f"{told[1]}公开资料：{published.reason['zh']}"
    return say(state, (en, zh), [], f"{FILES}; {published.source}")


def _files_agree(matrix: Matrix, machine: Machine, cann: str, driver: str) -> bool | None:
    """Whether one of the two accepts the other by C-number; None if the files cannot tell."""
    of_driver, of_cann = machine.files("driver", driver), machine.files("cann", cann)
    accepts, accepted_by = _labels(of_driver.get("accepts_cann")), _labels(of_cann.get("accepts"))
    own = _labels(of_driver.get("inner_version"))
    labels = _labels(of_cann.get("inner_version")) or _labels_of(matrix, cann)
    if labels & (accepts | own) or own & accepted_by:
        return True
    return False if labels and own and accepts and accepted_by else None


def _labels(value: object) -> set[str]:
    """The C-numbers in V100R001C21SPC002B220 or in a list of such."""
    texts = value if isinstance(value, list) else [value]
    return {label for text in texts if isinstance(text, str) for label in _LABEL.findall(text)}


def _labels_of(matrix: Matrix, cann: str) -> set[str]:
    name = matrix.cann(cann)
    return {row["label"] for row in matrix.rows("cann_label") if fits_any(name, row["cann"])}


def _published(matrix: Matrix, machine: Machine, cann: str, driver: str) -> Verdict:
    """What the rows for this CANN and these chips say together."""
    rows = driver_rows(matrix, machine, cann)
    if not machine.chips and (scoped := _of_some_chips(rows, cann, driver)):
        return scoped
    best, others = hdk_of(rows, machine), [name for row in rows for name in row["compatible"]]
    others = [name for name in others if name not in best]
    en = listed([f"{listed(best)} (recommended)", *others] if best else others)
    zh = listed([f"{listed(best, '、')}（推荐）", *others] if best else others, "、")
    texts = (
        f"CANN {cann} goes with HDK {en}; the driver is {driver}.",
        f"CANN {cann} 可用的 HDK 为 {zh}；当前驱动为 {driver}。",
    )
    if any(patches(driver, name) for name in best):
        return say("matched", texts, rows, about="driver")
    works = [row for row in rows if any(patches(driver, name) for name in row["compatible"])]
    refused = [row for row in rows if any(patches(driver, name) for name in row["incompatible"])]
    if works:
        return say("compatible", texts, [*works, *refused], about="driver")
    minimum = lowest(row["minimum"] for row in rows if "minimum" in row)
    given = release(driver)
    if refused or (minimum and given and given < minimum):
        return say("unsupported", texts, refused or rows, about="driver")
    look = (
        " Not listed: compare compatible_version in /usr/local/Ascend/driver/version.info with CANN's install.info.",
        "未列出：请比较 /usr/local/Ascend/driver/version.info 与 CANN install.info 中的 compatible_version。",
    )
    known = texts if rows else (f"No driver table for CANN {cann} is published.", f"未找到 CANN {cann} 的驱动配套表。")
    return say("unknown", (known[0] + look[0], known[1] + look[1]), rows)


def _of_some_chips(rows: list[Document], cann: str, driver: str) -> Verdict | None:
    """Where the chips are not known: that only rows of some products name this driver."""
    naming = [row for row in rows if any(patches(driver, name) for name in row["recommended"] + row["compatible"])]
    if not naming or not all(row["chips"] for row in naming):
        return None
    products = [row["scope"] for row in naming]
    texts = (
        f"Driver {driver} goes with CANN {cann} only on {listed(products)}; the chip is not known: add `npu-smi info`.",
        f"驱动 {driver} 仅在 {listed(products, '、')} 上与 CANN {cann} 配套；芯片未知，请补充 `npu-smi info` 的输出。",
    )
    return say("unknown", texts, naming, about="driver")


def driver_rows(matrix: Matrix, machine: Machine, cann: str) -> list[Document]:
    """The rows for this CANN as a whole and these chips (all, where the chips are not known)."""
    rows = (row for row in matrix.rows("cann_driver") if "feature" not in row and fits_any(cann, row["cann"]))
    return [row for row in rows if not (row["chips"] and machine.chips) or machine.chips & {*row["chips"]}]


def hdk_of(rows: list[Document], machine: Machine) -> list[str]:
    """The recommended HDK; 950 products have trains of their own, which do not count where the chips are not known."""
    own, general = ([row for row in rows if bool(row["chips"]) == is_own] for is_own in (True, False))
    chosen = own if "950" in machine.chips and own else rows if machine.chips or not general else general
    return [name for row in chosen for name in row["recommended"]]


def _known_driver(matrix: Matrix, machine: Machine, cann: str, driver: str) -> Verdict | None:
    """What the same driver says of itself on other machines."""
    for row in matrix.rows("driver"):
        if patches(driver, row["driver"]) and {*row["accepts"]} & _labels_of(matrix, cann):
            texts = (
                f"Driver {row['driver']} accepts CANN {cann} by its version.info.",
                f"驱动 {row['driver']} 的 version.info 接受 CANN {cann}。",
            )
            return say("compatible", texts, {"verified": "doc", **row})
    return None


def cann_python(matrix: Matrix, machine: Machine, cann: str, python: str) -> Verdict:
    """The range that the installation guides allow."""
    name = matrix.cann(cann)
    row = next((row for row in matrix.rows("cann_python") if fits_any(name, row["cann"])), None)
    version = release(python)
    if row is None or version is None:
        texts = (f"No source says which Python CANN {cann} allows.", f"未找到 CANN {cann} 支持的 Python 范围。")
        return say("unknown", texts, [])
    texts = (
        f"CANN {cann} allows Python {row['python']}; Python is {python}.",
        f"CANN {cann} 支持 Python {row['python']}，当前为 {python}。",
    )
    allowed = SpecifierSet(row["python"])
    if allowed.contains(version, prereleases=True):
        return say("matched", texts, row)
    minor = f"{version.major}.{version.minor}"
    if not allowed.contains(minor):
        return say("unsupported", texts, row)
    beyond = (
        f"{texts[0]} The guide ends within {minor}, whose patches take the same wheels; no source speaks against it.",
        f"{texts[1]}指南的上限在 {minor} 系列之内，其各补丁版本使用相同的 wheel，未见不兼容的记录。",
    )
    return say("compatible", beyond, row)


def python_limit(matrix: Matrix, cann: str, minor: str) -> str | None:
    """The first patch of a minor version of Python that the guide for this CANN does not allow, if there is one."""
    name = matrix.cann(cann)
    ranges = (row["python"] for row in matrix.rows("cann_python") if fits_any(name, row["cann"]))
    parts = (part.version for part in SpecifierSet(next(ranges, "")) if part.operator == "<")
    return next((version for version in parts if version.startswith(f"{minor}.")), None)


def cann_kernels(matrix: Matrix, machine: Machine, cann: str, kernels: str) -> Verdict:
    """The kernels (ops) package is of the same release as the toolkit."""
    texts = (
        f"The kernels (ops) package must be of the same release as CANN {cann}; it is {kernels}.",
        f"kernels（ops）包必须与 CANN {cann} 版本相同，当前为 {kernels}。",
    )
    return say("matched" if fits(matrix.cann(kernels), matrix.cann(cann)) else "unsupported", texts, [], _ONE_RELEASE)
