"""Loading knowledge: every fault is named with file, line, column, field and mend, all of them at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from npu_kb.knowledge.load import load_entries, load_entry

Write = Callable[..., Path]


def problems_of(path: Path) -> list[str]:
    return [str(problem).removeprefix(f"{path}:") for problem in load_entry(path)[1]]


def test_a_good_entry_loads(write_entry: Write) -> None:
    item, problems = load_entry(write_entry("good", "- text: widget exploded"))
    assert problems == []
    assert item is not None and item.entry.match[0].text == ["widget exploded"]


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ("severity: fault\n", "19:1: severity: key stands twice; keep one of them"),
        ("versions: {affected: {cann: 8.0}}\n", "19:29: versions.affected.cann: YAML reads this as float 8.0; put it in quotes"),
        ("versions: {fixed: {torch: 2}}\n", "19:27: versions.fixed.torch: YAML reads this as int 2; put it in quotes"),
        ("author: on\n", "19:9: author: YAML reads this as bool True; put it in quotes"),
        ("author: 0x7020016\n", "19:9: author: YAML reads this as int 117571606; put it in quotes"),
        ("sympton: x\n", "19:10: sympton: is not a field (did you mean symptom?); remove or rename it"),
        ("causes: [Not An Id]\n", "19:10: causes.0: is 'Not An Id', which does not fit ^[a-z0-9]+(-[a-z0-9]+)*$"),
        ("role: rot\n", "19:7: role: is 'rot'; allowed are 'root', 'follow-on' or 'wrapper'"),
        ("related: [a\n", "20:1: not valid YAML: did not find expected ',' or ']'; quote texts that hold ': ', '#' or brackets"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_its_place_and_mend(write_entry: Write, extra: str, expected: str) -> None:
    assert problems_of(write_entry("faulty", "- text: widget exploded", extra=extra)) == [expected]


def test_all_faults_of_a_file_come_at_once(write_entry: Write) -> None:
    path = write_entry("faulty", "- text: widget exploded", extra="role: rot\nauthor: 3\nnonsense: 1\n")
    assert len(problems_of(path)) == 3


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ("- regex: '(unclosed'", "9:12: match.0.regex: not a regular expression"),
        ("- within: 3", "9:5: match.0: a block needs at least one of text, any, regex, code, fact"),
        ("- text: '<int>'", "9:11: match.0.text: needs a fixed part of at least 2 characters"),
        ("- fact: {name: npu.power_w}", "9:11: match.0.fact.0: give exactly one of above, below, equals, differs"),
        ("- code: {family: acl, value: 507018}", "9:32: match.0.code.0.value: YAML reads this as int 507018"),
    ],
)
def test_a_bad_condition_is_named(write_entry: Write, match: str, expected: str) -> None:
    assert problems_of(write_entry("faulty", match))[0].startswith(expected)


def test_a_missing_field_is_named(write_entry: Write) -> None:
    path = write_entry("faulty", "- text: widget exploded")
    path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith("verify")))
    assert problems_of(path) == ["1:1: verify: is missing; add it"]


def test_the_file_name_is_the_id(write_entry: Write) -> None:
    path = write_entry("one-name", "- text: widget exploded")
    other = path.rename(path.with_name("other-name.yaml"))
    assert problems_of(other) == ["1:5: id: differs from the file name; rename the file to one-name.yaml"]


@pytest.mark.parametrize(
    "content",
    [b"", b"- a\n- b\n", b"42\n", b"\xff\xfe\x00", b"{", b"a: &x [*x]\n", b"x: !!python/object:os.system {}\n"],
)
def test_a_file_that_is_no_entry_gives_a_problem_and_no_exception(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "strange.yaml"
    path.write_bytes(content)
    item, problems = load_entry(path)
    assert item is None and problems


def test_an_id_that_stands_twice_is_named(write_entry: Write, tmp_path: Path) -> None:
    path = write_entry("same-id", "- text: widget exploded")
    copy = tmp_path / "kb" / "entries" / "system" / "same-id.yaml"
    copy.parent.mkdir(parents=True)
    copy.write_text(path.read_text())
    assert "stands in" in str(load_entries([tmp_path / "kb"]).problems[0])


def test_a_later_folder_replaces_an_entry_by_its_id(write_entry: Write, tmp_path: Path) -> None:
    first = write_entry("same-id", "- text: widget exploded")
    overlay = tmp_path / "overlay" / "same-id.yaml"
    overlay.parent.mkdir()
    overlay.write_text(first.read_text().replace("widget", "gadget"))
    loaded = load_entries([tmp_path / "kb", tmp_path / "overlay"])
    assert loaded.problems == []
    assert loaded.entries["same-id"].entry.match[0].text == ["gadget exploded"]
