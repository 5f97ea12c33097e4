"""`npu-kb check`: every gate refuses an entry made to fail it, and lets a good one pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from npu_kb.gates.gate import GATES

Run = Callable[..., tuple[int, str, str]]
Write = Callable[..., Path]


def faults(run: Run, path: Path) -> list[str]:
    """What check says of one file, without the place."""
    _, out, _ = run("check", "--format", "json", str(path))
    return [f"{problem['field']}: {problem['message']}" for problem in json.loads(out)["problems"]]


def test_a_good_entry_passes(run: Run, write_entry: Write) -> None:
    path = write_entry("good", "- text: some failing text")
    status, out, _ = run("check", str(path))
    assert (status, out) == (0, "1 entries checked: no problems\n")


def edited(path: Path, old: str, new: str) -> Path:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    return path


CASES = {
    "both_languages": ("- text: some failing text", "zh: 因为测试。", "zh: because", "cause.zh: holds no Chinese"),
    "references_present": ("- text: some failing text", "status: reported", "status: confirmed", "references: a confirmed entry needs a url"),
    "slots_are_captured": ("- text: some failing text", "zh: 因为测试。", "zh: '因为 {op} 测试。'", "cause: {op} is not captured by every block"),
    "commands_exist": ("- text: some failing text", "fix:\n", "diagnose: [{command: no-such, expect: {en: fine, zh: 正常}}]\nfix:\n", "diagnose.0.command: 'no-such' is not in kb/commands.yaml"),
    "no_refused_command": ("- text: some failing text", "effect: write}", "effect: write, run: npu-smi info -t npu}", "fix.0.run: wrong command"),
    "no_wrapper_only": ("- text: 'EZ9999: Inner Error!'", "some failing text", "EZ9999: Inner Error!", "match.0: matches a wrapper only"),
    "patterns_have_anchors": ("- text: 'abcd'", "some failing text", "abcd", "match.0: 'abcd' is too short"),
    "regexes_end": ("- regex: 'some (\\w+)+ text$'", "x", "x", "match.0.regex.0: can run away"),
    "hits_come_first": ("- text: another text entirely", "x", "x", "samples.hit.0: is answered with nothing first"),
    "misses_stay_silent": ("- text: some failing text", "nothing of the kind", "some failing text too", "samples.miss.0: matches this entry"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_gate_refuses_an_entry_made_to_fail_it(run: Run, write_entry: Write, name: str) -> None:
    match, old, new, expected = CASES[name]
    path = edited(write_entry("faulty", match), old, new)
    assert any(fault.startswith(expected) for fault in faults(run, path)), faults(run, path)


def test_every_gate_has_a_case() -> None:
    assert {function.__name__ for function in GATES} == CASES.keys()


def test_a_hit_that_another_entry_takes_is_named(run: Run, write_entry: Write) -> None:
    path = write_entry(
        "taken",
        "- text: 'libhccl.so: cannot open shared object file'",
        hit="ImportError: libhccl.so: cannot open shared object file",
    )
    assert any("is answered with cann-environment-not-loaded" in fault for fault in faults(run, path))


def test_all_failures_stand_in_one_table_with_their_places(run: Run, write_entry: Write) -> None:
    first = write_entry("first", "- text: some failing text", extra="role: rot\n")
    second = write_entry("second", "- text: another text entirely")
    status, out, _ = run("check", str(first), str(second))
    assert status == 1
    assert f"{first}:19:7: role: is 'rot'" in out and f"{second}:15:9: samples.hit.0" in out
    assert out.endswith("1 entries checked: 2 problems in 2 files\n")


def test_a_missing_path_is_bad_use(run: Run) -> None:
    status, _, err = run("check", "/no/such/entry.yaml")
    assert status == 2 and "no such file or folder" in err
