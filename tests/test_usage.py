"""The command line as one first meets it: without a command, mistyped, and an entry shown."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from npu_kb import locations
from npu_kb.cli import COMMANDS, IN_CHINESE
from npu_kb.locations import builtin_kb_directory
from npu_kb.render.text import width_of

CODES = Path(locations.builtin_kb_directory()) / "codes"
Run = Callable[..., tuple[int, str, str]]


def test_without_arguments_the_help_is_printed(run: Run) -> None:
    status, out, err = run()
    assert (status, out, err.startswith("usage: npu-kb")) == (2, "", True)


def test_help_names_each_command_in_the_language_of_answers(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(summary in run("--help")[1] for _, summary in COMMANDS.values())
    assert IN_CHINESE["why"] in run("why", "--lang=zh", "--help")[1]
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert IN_CHINESE["why"] in run("why", "-h")[1]
    for out in (run("--help")[1], run()[2]):
        assert all(IN_CHINESE[name] in out for name in COMMANDS) and "命令:" in out
        assert all(width_of(line) <= 100 for line in out.splitlines())


def test_help_is_there_for_whoever_has_broken_the_settings(run: Run, own_home: Path) -> None:
    (own_home / "config.toml").write_text("lang = 7")
    assert run("--help")[0] == 0


def test_a_mistyped_command_is_answered_with_the_likeliest_one(run: Run) -> None:
    assert run("wyh") == (2, "", "npu-kb: there is no command 'wyh'; did you mean why?\n")
    assert run("zzzz") == (2, "", "npu-kb: there is no command 'zzzz'; `npu-kb --help` lists the commands\n")


def test_a_saved_snapshot_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    err = run("env", "save", str(tmp_path / "a.json"), "--root", str(tmp_path / "root"), "--lang", "en")[2]
    assert err.startswith(f"npu-kb: saved {tmp_path / 'a.json'}: ")
    assert "redacted" in err


def test_a_runtime_code_has_the_entries_of_the_code_it_becomes(run: Run) -> None:
    assert "device-memory-allocation-refused-by-driver" in run("explain", "0x7020016")[1]


def test_a_number_has_the_entries_that_print_it_beside_the_words_of_its_family(run: Run) -> None:
    assert "aicore-ddr-address-out-of-range" in run("explain", "0x800000")[1]


def test_entries_about_a_code_as_such_come_first(run: Run, own_kb: Path, write_entry: Callable[..., Path]) -> None:
    own_kb.joinpath("codes").mkdir()
    shutil.copy(CODES / "acl.yaml", own_kb / "codes")
    code = "code: {family: acl, value: '507018'}"
    write_entry("a-niche", match="- text: ['ret 507018', gdn]")
    write_entry("b-reported", match=f"- {code}")
    for id, match in (("c-with-more", f"- {code}\n  text: more"), ("d-alone", f"- text: other words\n- {code}")):
        path = write_entry(id, match=match)
        path.write_text(path.read_text("utf-8").replace("status: reported", "status: confirmed"), "utf-8")
    out = run("explain", "507018")[1]
    order = ["d-alone", "c-with-more", "b-reported", "a-niche"]
    assert sorted(order, key=out.index) == order


def on_terminal(columns: int, *arguments: str) -> list[str]:
    """The lines that a command writes to a terminal of so many columns."""
    reader, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    with subprocess.Popen([sys.executable, "-m", "npu_kb", *arguments, "--color=never"], stdout=terminal):
        os.close(terminal)
        written = b""
        with suppress(OSError):  # as Linux says that the other end is closed
            while part := os.read(reader, 4096):
                written += part
    os.close(reader)
    return written.decode().splitlines()


def test_lines_are_no_wider_than_the_terminal(shared_cache: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("NPU_KB_CACHE", str(shared_cache))
    monkeypatch.setenv("NPU_KB_STORE", "off")
    log = tmp_path / "a.log"
    log.write_text("ImportError: libhccl.so: cannot open shared object file: No such file or directory\n")
    for columns in (30, 40, 60):
        for arguments in (("why", str(log)), ("explain", "507018"), ("show", "cann-environment-not-loaded")):
            lines = on_terminal(columns, *arguments)
            wide = [line for line in lines if width_of(line) > columns and len(line.split()) > 1]
            assert lines and [line for line in wide if not line.lstrip().startswith("$ ")] == []


CONDITIONS = """\
- text: [first words, second words]
  any: [either, or this]
  none: [never this]
  within: 20
- code: {family: acl, value: "507018"}
  fact: {name: npu.temperature_c, above: 85}
"""


@pytest.mark.parametrize(
    ("lang", "expected"),
    [
        ("en", ["any one of these:", "- first words", "and second words", "and one of:", "either", "or this",
                "and none of:", "never this", "all within 20 lines of each other",
                "- code 507018 (acl)", "and npu.temperature_c > 85"]),
        ("zh", ["满足任意一组即可：", "- first words", "且 second words", "且 以下至少出现一条：", "either", "or this",
                "且 以下均不出现：", "never this", "以上相距不超过 20 行",
                "- 错误码 507018（acl）", "且 npu.temperature_c > 85"]),
    ],
)  # fmt: skip
def test_show_says_how_conditions_are_joined(
    run: Run, own_kb: Path, write_entry: Callable[..., Path], lang: str, expected: list[str]
) -> None:
    write_entry("several-ways", match=CONDITIONS)
    _, out, _ = run("show", "several-ways", "--lang", lang)
    conditions = out.partition("Recognised by" if lang == "en" else "匹配条件")[2]
    assert [line.strip() for line in conditions.splitlines() if line.strip()][: len(expected)] == expected


ALIKE = """\
- text: first words
  any: [either, or this]
- text: second words
  any: [either, or this]
"""


def test_show_says_once_what_all_ways_ask_for(run: Run, own_kb: Path, write_entry: Callable[..., Path]) -> None:
    write_entry("alike", match=ALIKE)
    conditions = run("show", "alike")[1].partition("Recognised by")[2].splitlines()
    expected = ["any one of these:", "- first words", "- second words", "and one of:", "either", "or this"]
    assert [line.strip() for line in conditions if line.strip()][: len(expected)] == expected


def test_show_of_a_single_condition_joins_nothing(run: Run, own_kb: Path, write_entry: Callable[..., Path]) -> None:
    write_entry("one-way", match="- text: only these words")
    assert "Recognised by only these words\n" in run("show", "one-way")[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["why", "--formt", "json"], "why has no option '--formt'; did you mean --format?"),
        (["why", "--frobnicate=1"], "why has no option '--frobnicate'; `npu-kb why --help` lists them"),
        (["show", "a", "b"], "show takes no 'b'; `npu-kb show --help` says what it takes"),
        (["search", ""], "search: no words are given; say what to look for, such as `npu-kb search hccl timeout`"),
        (["show", "507018"], "'507018' is a code, no id of an entry: run `npu-kb explain 507018`"),
    ],
)
def test_bad_usage_is_one_line_with_the_mend(run: Run, words: list[str], said: str) -> None:
    assert run(*words) == (2, "", f"npu-kb: {said}\n")


@pytest.mark.parametrize(
    ("status", "said", "entry"),
    [
        ("137", "128 + 9, the process was killed by SIGKILL", "container-exit-137"),
        ("139", "128 + 11, the process was killed by SIGSEGV", "process-segmentation-fault"),
        ("143", "128 + 15, the process was killed by SIGTERM", ""),
    ],
)
def test_an_exit_status_is_explained_as_one_first(run: Run, status: str, said: str, entry: str) -> None:
    code, out, _ = run("explain", status)
    assert code == 0 and out.startswith(f"{status} as an exit status: {said}\n")
    assert entry in out.partition("fits several families")[0]
    document = json.loads(run("explain", status, "507018", "--format", "json")[1])
    assert document["words"][0]["exit_status"]["signal"] in said and "exit_status" not in document["words"][1]


def test_a_machine_without_npu_is_said_to_have_none(run: Run, tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    assert run("doctor", "--root", str(tmp_path / "root"))[1].startswith("No NPU is seen here")
    assert "No NPU" not in run("doctor", "--from", "-", stdin="torch 2.5.1\n")[1]


def test_a_good_log_counts_once_however_its_folder_is_named(run: Run, tmp_path: Path) -> None:
    log = "RuntimeError: frob pool on npu:3 cannot grow beyond 4096 pages in graph mode\n"
    counts = []
    for folder in ("a", "b"):
        kb = tmp_path / folder
        (kb / "entries").mkdir(parents=True)
        if folder == "b":
            shutil.copytree(Path(builtin_kb_directory()) / "goodlogs", kb / "goodlogs")
        out = run("record", "-", "--kb", str(kb), "--title", "A title", stdin=log)[1]
        counts.append(re.search(r"good logs: none of (\d+)", out))
    assert counts[0] and counts[1] and counts[0][1] == counts[1][1]
