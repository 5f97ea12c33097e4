"""Shared fixtures: the developer's machine stays outside, the built-in knowledge is compiled once."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from npu_kb import Knowledge, locations
from npu_kb.cli import main
from npu_kb.environment.root import Root
from npu_kb.knowledge.compile import compile_knowledge

settings.register_profile("any machine", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, no overlays, an English locale and no colours for every test."""
    home = tmp_path_factory.mktemp("home")
    for name in (
        "NPU_KB_PATH",
        "NPU_KB_STORE",
        "XDG_CACHE_HOME",
        "XDG_STATE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "LC_ALL",
        "LC_MESSAGES",
        "NO_COLOR",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    (home / "config.toml").touch()
    monkeypatch.setenv("NPU_KB_CONFIG", str(home / "config.toml"))
    monkeypatch.setenv("LANG", "C.UTF-8")
    return home


@pytest.fixture(scope="session")
def knowledge() -> Knowledge:
    """The built-in knowledge."""
    return Knowledge(compile_knowledge([Path(locations.builtin_kb_directory())], "tests"))


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache folder for all command-line tests, so that the knowledge is compiled once."""
    return tmp_path_factory.mktemp("cache")


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, shared_cache: Path) -> Run:
    """Run a command in this process: run("why", "-", stdin=...) -> (exit status, stdout, stderr)."""

    def call(*arguments: str, stdin: bytes | str = b"") -> tuple[int, str, str]:
        import io
        import sys

        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setenv("NPU_KB_CACHE", str(shared_cache))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
        try:
            status = main(list(arguments))
        except SystemExit as stop:
            status = int(stop.code or 0)
        out, err = capsys.readouterr()
        return status, out, err

    return call


ENTRY = """\
id: {id}
title: {{en: Test cause of {id}, zh: 测试原因}}
layer: cann
topic: env-setup
severity: fault
status: reported
symptom: {{en: It fails., zh: 失败。}}
match:
{match}
cause: {{en: Because of {id}., zh: 因为测试。}}
fix:
  - {{en: Mend it., zh: 修复它。, effect: write}}
verify: {{en: It runs., zh: 能运行。}}
samples:
  hit: ["{hit}"]
  miss: ["nothing of the kind"]
references:
  - {{source: written for a test, read: 2026-11-29}}
"""


@pytest.fixture
def write_entry(tmp_path: Path) -> Callable[..., Path]:
    """Write an entry file into tmp_path/kb/entries: write_entry("some-id", match=yaml, hit=..., extra=yaml)."""

    def write(id: str, match: str, hit: str = "some failing text", extra: str = "") -> Path:
        path = tmp_path / "kb" / "entries" / "cann" / f"{id}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        indented = "\n".join("  " + line for line in match.splitlines())
        path.write_text(ENTRY.format(id=id, match=indented, hit=hit) + extra, "utf-8")
        return path

    return write


@pytest.fixture
def own_kb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A built-in knowledge of what write_entry writes, with the real topics, commands and synonyms."""
    builtin, folder = Path(locations.builtin_kb_directory()), tmp_path / "kb"
    (folder / "entries").mkdir(parents=True)
    for name in ("topics.yaml", "commands.yaml", "synonyms.yaml"):
        shutil.copy(builtin / name, folder / name)
    monkeypatch.setattr(locations, "builtin_kb_directory", lambda: str(folder))
    monkeypatch.setattr(locations, "packaged_database", lambda: None)
    return folder


@pytest.fixture
def small_knowledge(tmp_path: Path) -> Callable[[], Knowledge]:
    """Knowledge of what write_entry wrote, and nothing else."""
    return lambda: Knowledge(compile_knowledge([tmp_path / "kb"], "small"))


@pytest.fixture
def script() -> Callable[[Path, str], None]:
    """Write a shell script that can be run: script(path, text)."""

    def write(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}")
        path.chmod(0o755)

    return write


@pytest.fixture
def build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Callable[[Path, str], None]
) -> Callable[..., tuple[Root, dict[str, str]]]:
    """Put a machine of data/machines.yaml, or another, in place: its root folder and its settings."""

    def make(machine: dict[str, Any]) -> tuple[Root, dict[str, str]]:
        root, tools = tmp_path / "root", tmp_path / "bin"
        for folder in (root, tools):
            folder.mkdir(exist_ok=True)
        for name, answers in machine.get("tools", {}).items():
            script(tools / name, tool_text(answers))
        for name, text in machine.get("files", {}).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        for name, target in machine.get("links", {}).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).symlink_to(target)
        monkeypatch.setenv("PATH", str(tools))
        return Root(str(root)), machine.get("settings", {})

    return make


def tool_text(answers: dict[str, Any]) -> str:
    """A program that prints what its arguments are answered with, and fails on others."""
    cases = []
    for arguments, answer in answers.items():
        text, status = (answer["text"], answer["exit"]) if isinstance(answer, dict) else (answer, 0)
        pattern = arguments if arguments == "*" else "*".join(shlex.quote(part) for part in arguments.split("*"))
        cases.append(f"{pattern}) printf %s {shlex.quote(text)}; exit {status};;")
    return 'case "$*" in\n' + "\n".join(cases) + "\n*) exit 9;;\nesac\n"
