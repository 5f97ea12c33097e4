"""The outputs in the READMEs are real: each console block is run and compared.

UPDATE_README=1 python -m pytest tests/test_readme.py    writes them anew
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"```console\n\$ npu-kb ([^\n]+)\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_console_blocks_show_what_the_commands_print(run: Run, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(ROOT)
    if name.endswith(".zh.md"):
        monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    path = ROOT / name
    text = path.read_text("utf-8")

    def real(block: re.Match[str]) -> str:
        return f"```console\n$ npu-kb {block[1]}\n{run(*shlex.split(block[1]))[1]}```"

    expected = BLOCK.sub(real, text)
    if os.environ.get("UPDATE_README"):
        path.write_text(expected, "utf-8")
    assert BLOCK.search(text), f"{name} shows no output"
    assert text == expected, "run: UPDATE_README=1 python -m pytest tests/test_readme.py"


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_the_checklists_that_are_named_exist(run: Run, name: str) -> None:
    named = set(re.findall(r"npu-kb checklist ([a-z-]+)", (ROOT / name).read_text("utf-8")))
    assert "keep-the-scene" in named and all(run("checklist", checklist)[0] == 0 for checklist in named)
