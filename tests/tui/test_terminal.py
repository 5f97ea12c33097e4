"""The whole program in a real terminal: open, search, paste a traceback, read the cause, record an entry, find it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from npu_kb.cli import main

HERE = Path(__file__).parent
PATIENCE = 60
pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")


class Terminal:
    """A tmux of its own with the TUI in it."""

    def __init__(self, folder: Path, environment: dict[str, str], arguments: list[str], size: tuple[int, int]) -> None:
        self._socket = str(folder / "tmux")
        code = (
            f"import sys; from npu_kb import locations; locations.builtin_kb_directory = lambda: {str(HERE / 'kb')!r}\n"
            "from npu_kb.cli import main; sys.exit(main())"
        )
        words = [f"{name}={value}" for name, value in environment.items()]
        program = shlex.join(["env", *words, sys.executable, "-c", code, "tui", *arguments])
        program += "; echo ended with status $?; sleep 600"
        width, height = map(str, size)
        self.tmux("-u", "-f", "/dev/null", "new-session", "-d", "-x", width, "-y", height, program)

    def tmux(self, *arguments: str) -> str:
        command = ["tmux", "-S", self._socket, *arguments]
        environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        return subprocess.run(
            command, capture_output=True, text=True, check=True, env=environment, encoding="utf-8"
        ).stdout

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p")

    def wait_for(self, *texts: str) -> str:
        """The screen once all these texts stand on it."""
        end = time.monotonic() + PATIENCE
        while not all(text in (screen := self.screen()) for text in texts):
            assert time.monotonic() < end, f"{texts} did not come:\n{screen}"
            time.sleep(0.05)
        return screen

    def keys(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-l", text)

    def paste(self, text: str) -> None:
        self.tmux("set-buffer", text)
        self.tmux("paste-buffer", "-p")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Start the TUI in a terminal: terminal("LOG", size=(80, 24), TERM="xterm")."""
    started: list[Terminal] = []
    (tmp_path / "team").mkdir()

    def start(*arguments: str, size: tuple[int, int] = (80, 24), **environment: str) -> Terminal:
        own = {"HOME": str(tmp_path), "NPU_KB_PATH": str(tmp_path / "team"), "NPU_KB_CONFIG": "/dev/null"}
        own |= {"NPU_KB_CACHE": str(tmp_path / "cache"), "LC_ALL": "C.UTF-8", "GIT_CEILING_DIRECTORIES": str(tmp_path)}
        started.append(Terminal(tmp_path, own | environment, list(arguments), size))
        return started[-1]

    yield start
    for one in started:
        one.tmux("kill-server")


def test_from_a_question_to_a_new_entry(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    tui = terminal()
    tui.wait_for("All entries 4", "Entries: 4\n")
    tui.type("多机很慢")
    tui.wait_for("demo-slow-link", "falls back to TCP")
    tui.keys("F3")
    tui.wait_for("Nothing to diagnose yet")
    tui.paste("Traceback (most recent call last):\nImportError: libdemo.so: cannot open shared object file\n")
    tui.wait_for("CERTAIN", "set_env.sh` was not sourced", "$ source /usr/local/demo/set_env.sh")
    tui.paste("RuntimeError: the frobnicator of the sharded widget cache refused a block\n")
    tui.wait_for("2/2", "frobnicator")
    tui.keys("Tab", "v", "v")
    tui.wait_for("marked: 1")
    tui.keys("r")
    tui.wait_for("Title in English", "Still missing")
    for text in (
        "Quota of the widget cache is used up",
        "部件缓存配额用完",
        "The quota is too small.",
        "配额太小。",
        "Raise it.",
        "调大。",
    ):
        tui.type(text)
        tui.keys("Tab")
    tui.wait_for("The gates find nothing")
    tui.keys("C-s")
    tui.wait_for("All entries 5", "quota-widget-cache-used-up")
    tui.type("部件缓存")
    tui.wait_for("! Quota of the widget cache", "quota-widget-cache-used-up")
    tui.keys("C-q")
    tui.wait_for("ended with status 0")
    assert [path.stem for path in (tmp_path / "team").rglob("*.yaml")] == ["quota-widget-cache-used-up"]


@pytest.mark.parametrize(
    "environment",
    [
        {"TERM": "xterm", "NO_COLOR": "1"},
        {"TERM": "xterm"},
        {"TERM": "screen", "LC_ALL": "C"},
        {"TERM": "vt100", "LC_ALL": "POSIX"},
    ],
    ids=lambda environment: "-".join(environment.values()),
)
def test_it_is_usable_in_poor_terminals(
    terminal: Callable[..., Terminal], log_file: str, environment: dict[str, str]
) -> None:
    tui = terminal(str(Path(log_file).resolve()), **environment)
    tui.wait_for("CERTAIN", "> 5: ImportError")
    tui.tmux("resize-window", "-x", "132", "-y", "43")
    tui.wait_for("Causes", "CERTAIN")
    tui.keys("F2")
    tui.wait_for("All entries 4")
    if "NO_COLOR" in environment:
        assert "\x1b[3" not in tui.tmux("capture-pane", "-p", "-e").replace("\x1b[39m", "")
    tui.keys("C-q")
    tui.wait_for("ended with status 0")


def test_without_a_terminal_it_says_so_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tui"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("npu-kb: tui needs a terminal") and err.count("\n") == 1
