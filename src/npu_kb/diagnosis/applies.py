"""Does an entry concern the versions at hand? Applies, fixed in yours, does not apply, or unknown."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from packaging.version import InvalidVersion, Version

_STAGED_RC = re.compile(r"^(?P<rc>.*?rc\d+)[.-]?(?:alpha|beta)(?P<n>\d+)$", re.IGNORECASE)
_TEST_BUILD = re.compile(r"^(?P<base>[\d.]+)\.T(?P<n>\d+)$", re.IGNORECASE)
_DOTTED_RC = re.compile(r"^(?P<rc>.*?rc\d+)\.(?P<n>\d+)$", re.IGNORECASE)

_COMPARISON = re.compile(r"\s*(>=|<=|==|!=|>|<)?\s*v?(\S+)\s*$")
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_SIGN_STARTS = ("<", ">", "=", "!", "~")
_MAX_VERSION = 100
"""Characters; what is longer is no version."""

COMMANDS = {
    "driver": "npu-smi-info", "firmware": "npu-smi-board", "chip": "npu-smi-info", "cann": "ascend-install-dirs",
    "python": "python-version",
}  # fmt: skip
"""Command (by its id) that tells the version of a component; `pip-list` tells all others."""


def parse_version(text: str) -> Version | None:
    """An Ascend version that compares, or None: 8.0.RC3 < 8.0.0, 8.1.RC1.alpha1 < 8.1.RC1, 24.1.rc2 < 24.1.rc2.1."""
    plain = text.strip().lstrip("vV")
    if len(plain) > _MAX_VERSION:
        return None
    if staged := _STAGED_RC.match(plain):
        plain = f"{staged['rc']}.dev{staged['n']}"
    elif test := _TEST_BUILD.match(plain):
        plain = f"{test['base']}.dev{test['n']}"
    elif dotted := _DOTTED_RC.match(plain):
        plain = f"{dotted['rc']}.post{dotted['n']}"
    try:
        return Version(plain)
    except InvalidVersion:
        return None


def in_range(version: str, wanted: str) -> bool | None:
    """Whether a version lies in a range such as `>=8.0.RC1,<8.0.0`; None where either cannot be compared.

    Plain order, unlike PEP 440's: 8.0.RC3 is in `<8.0.0`, 2.1.0.post3 is in `>2.1.0`.
    """
    parsed = parse_version(version)
    if parsed is None:
        return None
    answers = [_satisfies(parsed, part) for part in wanted.split(",")]
    return None if None in answers else all(answers)


def _satisfies(version: Version, part: str) -> bool | None:
    found = _COMPARISON.match(part)
    if not found:
        return None
    sign, text = found.group(1) or "==", found.group(2)
    if text.endswith(".*"):
        if (series := parse_version(text[:-2])) is None:
            return None
        same = version.release[: len(series.release)] == series.release
        return same if sign == "==" else not same
    bound = parse_version(text)
    return None if bound is None else _SIGNS[sign](version, bound)


def applicability(wanted: dict[str, Any], seen: dict[str, str]) -> dict[str, Any]:
    """{"state": applies|fixed|not-affected|unknown, "component", "version", "range"} for an entry's versions."""
    for component, first_fixed in wanted.get("fixed", {}).items():
        spec = first_fixed if first_fixed.startswith(_SIGN_STARTS) else f">={first_fixed}"
        if component in seen and in_range(seen[component], spec):
            return _state("fixed", component, seen[component], spec)
    judged = []
    if wanted.get("chip") and "chip" in seen:
        if seen["chip"] not in wanted["chip"]:
            return _state("not-affected", "chip", seen["chip"], ", ".join(wanted["chip"]))
        judged.append(_state("applies", "chip", seen["chip"], ", ".join(wanted["chip"])))
    for component, spec in wanted.get("affected", {}).items():
        if component not in seen or (holds := in_range(seen[component], spec)) is None:
            continue
        if not holds:
            return _state("not-affected", component, seen[component], spec)
        judged.append(_state("applies", component, seen[component], spec))
    if judged:
        return judged[-1]
    needed = [*wanted.get("affected", {}), *wanted.get("fixed", {}), *(["chip"] if wanted.get("chip") else [])]
    if not needed:
        return {"state": "any"}
    commands = dict.fromkeys(COMMANDS.get(component, "pip-list") for component in needed)
    return {"state": "unknown", "needed": list(dict.fromkeys(needed)), "commands": list(commands)}


def _state(state: str, component: str, version: str, spec: str) -> dict[str, Any]:
    return {"state": state, "component": component, "version": version, "range": spec}
