"""Private knowledge: which folders are merged, in which order, by config file, environment and option."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from npu_kb.settings import Source, overlay_sources, preferred_language

Run = Callable[..., tuple[int, str, str]]
Write = Callable[..., Path]
LOG = "ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"


def config(home: Path, text: str) -> Path:
    path = home / "config.toml"
    path.write_text(text, "utf-8")
    return path


def test_later_sources_win(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(config(own_home, 'kb = ["/share/kb", "near"]\n'))
    monkeypatch.setenv("NPU_KB_PATH", f"/a{os.pathsep}/b")
    assert overlay_sources(["/c"]) == [
        Source("/share/kb", file),
        Source(str(own_home / "near"), file),
        Source("/a", "NPU_KB_PATH"),
        Source("/b", "NPU_KB_PATH"),
        Source("/c", "--kb"),
    ]


def test_without_any_setting_there_are_no_private_folders() -> None:
    assert (overlay_sources(), preferred_language()) == ([], None)


def test_the_users_file_comes_after_the_machines(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from npu_kb import locations

    monkeypatch.delenv("NPU_KB_CONFIG")
    expected = ["/etc/npu-kb/config.toml", str(own_home / ".config/npu-kb/config.toml")]
    assert locations.config_files() == expected
    monkeypatch.setenv("XDG_CONFIG_HOME", "/xdg")
    assert locations.config_files()[1] == "/xdg/npu-kb/config.toml"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kb = [", "is no TOML: "),
        ("kb = " + "[" * 20_000, "is no TOML: "),
        ('kb = "/share"', "kb must be a list of folders"),
        ("kb = [3]", "kb must be a list of folders"),
        ('lang = "fr"', "lang is 'fr'; it may be: en, zh, both"),
        ('knowledge = "/x"', "'knowledge' is no setting; there are: kb, lang"),
    ],
)
def test_a_wrong_config_file_is_named_with_the_mend(run: Run, own_home: Path, text: str, message: str) -> None:
    file = config(own_home, text)
    status, out, err = run("why", "-", stdin=LOG)
    assert (status, out) == (2, "")
    assert err.startswith(f"npu-kb: {file}: {message}") and err.count("\n") == 1


def test_the_language_of_the_config_file_holds_unless_one_is_given(run: Run, own_home: Path) -> None:
    config(own_home, 'lang = "zh"\n')
    assert run("why", "-", stdin=LOG)[1].startswith("确定")
    assert run("why", "-", "--lang", "en", stdin=LOG)[1].startswith("CERTAIN")


def test_a_share_that_is_away_costs_no_answer(run: Run, own_home: Path) -> None:
    file = config(own_home, 'kb = ["/no/such/share"]\n')
    status, out, err = run("why", "-", stdin=LOG)
    assert status == 0 and "cann-environment-not-loaded" in out
    assert err == f"npu-kb: warning: left out: /no/such/share: no such folder of knowledge, named by {file}\n"


def test_a_folder_given_by_hand_must_be_there(run: Run) -> None:
    status, _, err = run("why", "-", "--kb", "/no/such/kb", stdin=LOG)
    assert status == 2 and "/no/such/kb: no such folder of knowledge" in err


def test_sources_says_what_each_folder_adds_and_replaces(
    run: Run, own_home: Path, tmp_path: Path, write_entry: Write
) -> None:
    write_entry("cann-environment-not-loaded", "- text: some failing text")
    write_entry("our-own", "- text: another failing text", hit="another failing text")
    (tmp_path / "kb/entries/cann/broken.yaml").write_text("id: [")
    file = config(own_home, f'kb = ["{tmp_path}/kb", "/no/such/share"]\n')
    status, out, _ = run("sources", "--format", "json")
    builtin, team, gone = json.loads(out)["sources"]
    assert status == 0 and builtin["named_by"] == "built-in" and builtin["entries"] > 800
    assert (team["named_by"], team["entries"], team["replaces"]) == (str(file), 2, ["cann-environment-not-loaded"])
    assert len(team["problems"]) == 1 and "broken.yaml:2:1: not valid YAML" in team["problems"][0]
    assert (gone["found"], gone["entries"]) == (False, 0)
    text = run("sources", "--lang", "both")[1]
    assert "replaces: cann-environment-not-loaded / 覆盖：cann-environment-not-loaded" in text
    assert "no such folder; what it holds is left out / 目录不存在" in text


def test_a_team_entry_replaces_the_built_in_one_of_its_id(run: Run, tmp_path: Path, write_entry: Write) -> None:
    write_entry("cann-environment-not-loaded", "- text: some failing text")
    out = run("show", "cann-environment-not-loaded", "--kb", str(tmp_path / "kb"))[1]
    assert "Test cause of cann-environment-not-loaded" in out


def test_an_empty_kb_is_not_the_working_folder(run: Run) -> None:
    for command in (["sources"], ["why", "-"], ["search", "hccl"]):
        status, out, err = run(*command, "--kb", "")
        assert (status, out) == (2, "") and "--kb is empty; name a folder" in err


def test_a_config_file_that_is_named_and_missing_is_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPU_KB_CONFIG", "/no/such/config.toml")
    status, out, err = run("why", "-", stdin=LOG)
    assert (status, out) == (2, "")
    assert err == "npu-kb: NPU_KB_CONFIG: /no/such/config.toml: no such file; mend or unset it\n"
