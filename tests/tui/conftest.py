"""A small knowledge that only these tests change, and a way to drive the app."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from textual.pilot import Pilot
from textual.widgets import DirectoryTree

from npu_kb import Knowledge, locations
from npu_kb.tui.app import KnowledgeApp

HERE = Path(__file__).parent
REAL_KB = locations.builtin_kb_directory()
LOG = """\
[rank0]: starting demo
[rank0]: demo font cache is being built
[rank3]: Traceback (most recent call last):
[rank3]:   File "train.py", line 3, in <module>
[rank3]: ImportError: libdemo.so: cannot open shared object file: No such file or directory
[rank0]: [ERROR] demo wait timed out on rank 3, ret=507018
"""

SIGNATURES = """\
component: {en: the demo pump, zh: 演示泵}
layer: cann
topic: env-setup
sources: {line: text as printed by the program}
next:
  fill: {en: Fill it., zh: 重新注液。}
rows:
- {text: "pump lost its prime", en: The pump runs dry, zh: 泵空转, likely: Air is in it., likely_zh: 有空气。, next: fill,
   source: line}
"""

Script = Callable[[Pilot[None]], Awaitable[None]]
Drive = Callable[..., KnowledgeApp]


@pytest.fixture(scope="session")
def demo_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache folder for these tests, so that knowledge and index are made once."""
    return tmp_path_factory.mktemp("demo-cache")


@pytest.fixture(autouse=True)
def demo_kb(demo_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The knowledge of these tests stands in for the built-in one."""
    monkeypatch.setattr(locations, "builtin_kb_directory", lambda: str(HERE / "kb"))
    monkeypatch.setenv("NPU_KB_CACHE", str(demo_cache))


@pytest.fixture
def log_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A log with a root cause, what follows from it, a code and a harmless notice; relative to the working folder."""
    (tmp_path / "train.log").write_text(LOG)
    monkeypatch.chdir(tmp_path)
    return "train.log"


@pytest.fixture
def drive(tmp_path: Path) -> Drive:
    """Run a script against the app: drive(script, files=[...], size=(80, 24), lang="en") -> the app afterwards."""

    def run(
        script: Script, files: list[str] | None = None, size: tuple[int, int] = (80, 24), lang: str = "en",
        kb: str | None = None,
    ) -> KnowledgeApp:  # fmt: skip
        app = KnowledgeApp(Knowledge.load, lang, files, str(tmp_path / "state" / "tui.json"), kb)

        async def go() -> None:
            async with app.run_test(size=size) as pilot:
                await settled(pilot)
                await script(pilot)

        asyncio.run(go())
        return app

    return run


async def settled(pilot: Pilot[None]) -> None:
    """Wait until nothing is being worked at, but for the file picker, which always watches its folder."""
    for _ in range(3):
        while any(w.is_running and not isinstance(w.node, DirectoryTree) for w in pilot.app.workers):
            await pilot.pause(0.01)
        await pilot.pause()


def screen_text(app: KnowledgeApp) -> str:
    """What stands on the screen, without trailing blanks."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


@pytest.fixture
def settle() -> Script:
    """`settled`, for tests."""
    return settled


@pytest.fixture
def shown() -> Callable[[KnowledgeApp], str]:
    """`screen_text`, for tests."""
    return screen_text


@pytest.fixture
def signature_kb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """One-line faults in the knowledge of these tests; the id of the only one."""
    folder = tmp_path / "signature-kb"
    shutil.copytree(HERE / "kb", folder)
    (folder / "signatures").mkdir()
    (folder / "signatures" / "demo-pump.yaml").write_text(SIGNATURES, "utf-8")
    monkeypatch.setattr(locations, "builtin_kb_directory", lambda: str(folder))
    return "demo-pump.pump-lost-its-prime"


@pytest.fixture(scope="session")
def machine_kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The knowledge of these tests with a checklist, and with the real commands and version tables."""
    real, folder = Path(REAL_KB), tmp_path_factory.mktemp("machine") / "kb"
    shutil.copytree(HERE / "kb", folder)
    shutil.copytree(HERE / "machine-kb", folder, dirs_exist_ok=True)
    shutil.copytree(real / "matrix", folder / "matrix")
    known, demo = (yaml.safe_load((kb / "commands.yaml").read_text("utf-8")) for kb in (real, HERE / "kb"))
    known["commands"] |= demo["commands"]
    (folder / "commands.yaml").write_text(yaml.safe_dump(known, allow_unicode=True), "utf-8")
    return folder


@pytest.fixture
def machine(machine_kb: Path, build: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put one of machines.yaml, or another, in the place of this machine: machine("a2")."""
    monkeypatch.setattr(locations, "builtin_kb_directory", lambda: str(machine_kb))
    known = yaml.safe_load((HERE.parent / "data" / "machines.yaml").read_text("utf-8"))

    def put(described: str | dict[str, Any]) -> None:
        root, settings = build(known[described] if isinstance(described, str) else described)
        monkeypatch.setattr("npu_kb.environment.root.Root", lambda: root)
        monkeypatch.setattr("npu_kb.environment.evidence.os", SimpleNamespace(environ=settings))

    return put
