"""The `key=value` files that say versions: version.info and install.info of driver, firmware and CANN, version.cfg.

Facts: driver.inner_version, driver.accepts_cann, driver.accepts_firmware, firmware.accepts_driver, cann.inner_version,
cann.accepts (lists as the file writes them), cann.path, cann.part (of a part: its release), cann.kernels_package
(installed, missing), driver.install_path, firmware.install_path, driver.install_status.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from npu_kb.intake.facts import Fact
from npu_kb.intake.logtext import Line

_PAIR = re.compile(r"\s*(?P<key>[A-Za-z]\w{1,60})=(?P<value>\S.{0,1000}?)\s*$")
_RUNNING = re.compile(r"\[[^:\]]*:(?P<release>[^\]]+)\]")
_FACTS = {
    "driver": {
        "Innerversion": "driver.inner_version",
        "compatible_version": "driver.accepts_cann",
        "compatible_version_fw": "driver.accepts_firmware",
    },
    "firmware": {"compatible_version_drv": "firmware.accepts_driver"},
    "cann": {
        "innerversion": "cann.inner_version",
        "compatible_version": "cann.accepts",
        "path": "cann.path",
    },
    "installer": {
        "Driver_Install_Path_Param": "driver.install_path",
        "Firmware_Install_Path_Param": "firmware.install_path",
        "Driver_Install_Status": "driver.install_status",
    },
}


class Block(NamedTuple):
    """Lines `key=value` of one file: what the file is of, and value and line (index) of each key."""

    kind: str
    values: dict[str, tuple[str, int]]

    def get(self, *keys: str) -> str:
        """The value of the first key that is there, or nothing."""
        return next((self.values[key][0] for key in keys if key in self.values), "")


def blocks(texts: list[str]) -> Iterator[Block]:
    """The files in a text, one after the other; a key that comes again begins the next file."""
    values: dict[str, tuple[str, int]] = {}
    heading = ""
    for index, text in enumerate([*texts, ""]):
        found = _PAIR.match(text) if "=" in text else None
        is_new = found is None or found["key"] in values or found["key"] == "package_name"
        if values and is_new and not text.startswith("#"):
            yield Block(_kind(values, heading), values)
            values, heading = {}, ""
        if found:
            values[found["key"]] = (found["value"].strip('"'), index)
        elif not text.startswith("#"):
            heading = text.strip()


def _kind(values: dict[str, tuple[str, int]], heading: str) -> str:
    """Whose file it is: driver, firmware, cann, kernels, opp, parts (version.cfg), installer, or nothing known."""
    for kind in ("firmware", "driver"):
        if f"/{kind}/version.info" in heading:
            return kind
    if "compatible_version_drv" in values or "firmware_version" in values:
        return "firmware"
    if "compatible_version_fw" in values or "ascendhal_version" in values or list(values) == ["package_version"]:
        return "driver"
    if any(key.endswith("_running_version") for key in values):
        return "parts"
    package = values.get("package_name", ("", 0))[0].lower()
    if "version" in values and ("innerversion" in values or package or heading == "CANN:"):
        is_kernels = "kernel" in package or package.endswith("ops") or "-ops" in package
        return "kernels" if is_kernels else "cann"
    if "version_dir" in values:
        return "kernels" if "required_package_toolkit_version" in values else "cann"
    return "installer" if "Driver_Install_Path_Param" in values or "Firmware_Install_Path_Param" in values else ""


def read(lines: list[Line]) -> list[Fact]:
    """The facts of all files."""
    facts: list[Fact] = []
    for block in blocks([line.text for line in lines]):
        names = _FACTS.get(block.kind, {})
        facts += (Fact(names[key], *value) for key, value in block.values.items() if key in names)
        if block.kind == "parts":
            facts += _parts(block)
    return facts


def _parts(block: Block) -> list[Fact]:
    """The release of each part that runs, and whether the kernels are among them."""
    facts = []
    for key, (value, index) in block.values.items():
        if key.endswith("_running_version") and (found := _RUNNING.match(value)):
            facts.append(Fact("cann.part", found["release"], index, key.removesuffix("_running_version")))
    if facts:
        has_kernels = any(fact.subject == "opp_kernel" for fact in facts)
        facts.append(Fact("cann.kernels_package", "installed" if has_kernels else "missing", facts[-1].line))
    return facts


def versions(texts: list[str]) -> Iterator[tuple[str, str, int]]:
    """(component, version, line index) of all files."""
    for block in blocks(texts):
        if version := _version(block):
            yield block.kind if block.kind != "parts" else "cann", version, next(iter(block.values.values()))[1]
        if block.kind == "parts" and (found := _RUNNING.match(block.get("opp_kernel_running_version"))):
            yield "kernels", found["release"], block.values["opp_kernel_running_version"][1]


def _version(block: Block) -> str:
    if block.kind == "driver":
        return block.get("package_version", "Version")
    if block.kind == "firmware":
        return block.get("Version")
    if block.kind in ("cann", "kernels"):
        return block.get("version_dir", "version")
    if block.kind == "parts" and (
        found := _RUNNING.match(block.get("toolkit_running_version", "runtime_running_version"))
    ):
        return found["release"]
    return ""
