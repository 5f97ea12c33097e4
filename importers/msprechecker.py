"""Turn a dump of msprechecker into an environment snapshot (JSON, schema npu-kb/snapshot/1).

    npu-kb import msprechecker msprechecker_dumped.json > node-1.json

The snapshot is redacted and holds:

    {"schema": "npu-kb/snapshot/1",
     "host": "<host>",                              never the real name
     "taken": "2026-08-01 10:00:00" or null,        as the dump tells it
     "facts": [{"name": "system.machine",           single values of the machine, by their path in the dump
                "value": "aarch64", "source": "msprechecker"}, ...],
     "versions": {"driver": {"version": "24.1.0",   by component, as entries name them, and what else has a version
                             "source": "msprechecker"}, ...},
     "environment": {"HCCL_BUFFSIZE": "200", ...},
     "files": {"mies config": {...}, ...}}          configuration files that were dumped, as they are
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from math import isfinite
from pathlib import Path
from typing import Any

from npu_kb.errors import NpuKbError
from npu_kb.importing.files import read_text
from npu_kb.intake.clean import printable
from npu_kb.intake.redact import redact

SCHEMA = "npu-kb/snapshot/1"
_MACHINE = ("system", "sys", "hardware", "npu", "network", "runtime", "ping", "hccl", "link", "vnic", "tls", "weight")
"""Sections of single values; others that are no section of the tool are configuration files."""
_KNOWN = ("_meta", "ascend", "env", *_MACHINE)
_SOURCE = "msprechecker"
_COMPONENTS = {"toolkit": "cann", "python_version": "python"}
"""Names of the dump that entries call otherwise."""
_FACT_CHARS, _VALUE_CHARS = 300, 20_000
_MOST_FACTS, _MOST_DEPTH = 2_000, 8


def main(arguments: list[str]) -> int:
    """Print the snapshot."""
    parser = argparse.ArgumentParser(
        prog="npu-kb import msprechecker",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("dump", type=Path, help="JSON file that `msprechecker dump` wrote; `-` is standard input")
    json.dump(snapshot(_read(parser.parse_args(arguments).dump)), sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")
    return 0


def _read(path: Path) -> dict[str, Any]:
    try:
        dump = json.loads(read_text(path), strict=False)
    except (ValueError, RecursionError) as error:
        raise NpuKbError(f"{path}: is no JSON: {error}; dump it again") from None
    if not isinstance(dump, dict) or not any(isinstance(dump.get(name), dict) for name in _KNOWN):
        raise NpuKbError(f"{path}: is no dump of msprechecker; it has none of {', '.join(_KNOWN[:5])}")
    return dump


def snapshot(dump: dict[str, Any]) -> dict[str, Any]:
    """The snapshot of a dump, without what tells whose machine it is."""
    clean = _Redactor(_host_names(dump))
    facts = (fact for name in _MACHINE for fact in _values(name, dump.get(name), 0))
    return {
        "schema": SCHEMA,
        "host": "<host>",
        "taken": clean.value("", taken) if (taken := _map(dump.get("_meta")).get("timestamp")) else None,
        "facts": [
            {"name": name, "value": _plain(value), "source": _SOURCE}
            for (name, value), _ in zip(clean.pairs(facts), range(_MOST_FACTS), strict=False)
        ],
        "versions": {
            name: {"version": version, "source": _SOURCE}
            for name, version in clean.pairs(_versions(dump))
            if isinstance(version, str)
        },
        "environment": {name: str(value) for name, value in clean.pairs(_map(dump.get("env")).items(), sign="=")},
        "files": {name: clean.tree(value, 0) for name, value in dump.items() if name not in _KNOWN},
    }


def _plain(value: Any) -> float | str:
    """A number or text, as a snapshot's facts are."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, (int, float, str)) else ""


class _Redactor:
    """Redacts values with the names by which they are known."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def pairs(self, pairs: Iterable[tuple[Any, Any]], sign: str = ": ") -> Iterator[tuple[str, Any]]:
        for name, value in pairs:
            yield self.value("", str(name)), self.value(f"{name}{sign}", value)

    def value(self, lead: str, value: Any) -> Any:
        """A single value; what stands before a text tells whether it is a secret."""
        if not isinstance(value, str):
            return value if isinstance(value, (int, bool)) or (isinstance(value, float) and isfinite(value)) else None
        plain = printable(value[:_VALUE_CHARS])
        told = redact(f"{lead}{plain}", self._names)
        return told[len(lead) :] if told.startswith(lead) else redact(plain, self._names)

    def tree(self, value: Any, depth: int, name: str = "") -> Any:
        """A configuration file's value, with all that it holds."""
        if depth > _MOST_DEPTH:
            return None
        if isinstance(value, dict):
            return {self.value("", str(key)): self.tree(item, depth + 1, str(key)) for key, item in value.items()}
        if isinstance(value, list):
            return [self.tree(item, depth + 1, name) for item in value]
        return self.value(f"{name}: ", value)


def _values(name: str, value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """(path, value) of every single value below; outputs of whole commands are left out."""
    if depth > _MOST_DEPTH:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _values(f"{name}.{key}", item, depth + 1)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _values(f"{name}.{number}", item, depth + 1)
    elif value is not None and not (isinstance(value, str) and ("\n" in value or len(value) > _FACT_CHARS)):
        yield name, value


def _versions(dump: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """(component, version), by the names that entries use."""
    for name, component in _map(dump.get("ascend")).items():
        if version := _map(component).get("version"):
            yield _component(name), version
    runtime = _map(dump.get("runtime"))
    told = {"python_version": runtime.get("python_version") or _map(dump.get("_meta")).get("python_version")}
    for name, version in {**told, **_map(runtime.get("watched"))}.items():
        if isinstance(version, str) and version:
            yield _component(name), version


def _component(name: str) -> str:
    return _COMPONENTS.get(name, name.replace("-", "_"))


def _host_names(dump: dict[str, Any]) -> dict[str, str]:
    """The host's name, where the dump tells it, and its mark."""
    told = (
        _map(dump.get("_meta")).get("hostname"),
        _map(dump.get("env")).get("HOSTNAME"),
        _map(dump.get("system")).get("node"),
        _map(_map(dump.get("sys")).get("kernel")).get("node"),
    )
    return {name: "<host>" for name in told if isinstance(name, str) and len(name) > 2}


def _map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
