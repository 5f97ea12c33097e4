"""Silence: nothing is claimed on healthy machines and on failures of other stacks, and `npu-kb check` guards it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from npu_kb import Knowledge, diagnose, locations
from npu_kb.gates.answers import Answers
from npu_kb.gates.goodlogs import good_texts, silence

Run = Callable[..., tuple[int, str, str]]
Write = Callable[..., Path]
BUILTIN = Path(locations.builtin_kb_directory())


def write_good(tmp_path: Path, text: str, allowed: str = "") -> None:
    folder = tmp_path / "kb" / "goodlogs"
    folder.mkdir(parents=True)
    (folder / "fine.log").write_text(text, "utf-8")
    if allowed:
        (folder / "allowed.yaml").write_text(allowed, "utf-8")


def test_there_are_many_different_good_texts() -> None:
    texts = [good.text for good in good_texts(BUILTIN)]
    assert len(texts) == len(set(texts)) >= 300


def test_the_knowledge_is_silent_on_all_good_texts(knowledge: Knowledge) -> None:
    ids = {m.entry["id"] for good in good_texts(BUILTIN) for m in diagnose(good.text, knowledge, suggest=False).claims}
    false_claims = [str(problem) for problem in silence(BUILTIN, Answers(knowledge), ids).problems]
    assert not false_claims, "\n".join(false_claims)


def test_texts_are_split_at_the_separator_and_know_their_lines(tmp_path: Path) -> None:
    write_good(tmp_path, "# header\n# more\nfirst\n%%\n# a comment of a text\nsecond\n%%\n")
    found = [(good.path.name, good.line, good.text) for good in good_texts(tmp_path / "kb")]
    assert found == [("fine.log", 3, "first\n"), ("fine.log", 5, "# a comment of a text\nsecond\n")]


def test_a_false_claim_is_named_with_its_place_entry_and_evidence(run: Run, write_entry: Write, tmp_path: Path) -> None:
    write_entry("too-wide", "- text: some failing text")
    write_good(tmp_path, "# header\nall is well\n%%\none line\nthis is some failing text indeed\n")
    status, out, _ = run("check", "--kb", str(tmp_path / "kb"), "--format", "json")
    (problem,) = json.loads(out)["problems"]
    assert status == 1 and (Path(problem["path"]).name, problem["line"]) == ("fine.log", 4)
    assert "too-wide (likely) by 'this is some failing text indeed'" in problem["message"]


def test_an_entry_named_by_path_is_held_against_the_builtin_good_texts(run: Run, write_entry: Write) -> None:
    path = write_entry("too-wide", "- text: 'net health status: Success'", hit="net health status: Success")
    status, out, _ = run("check", str(path))
    assert status == 1 and "ascend-tools.log:" in out and "too-wide" in out


def test_benign_entries_may_speak(small_knowledge: Callable[[], Knowledge], write_entry: Write, tmp_path: Path) -> None:
    path = write_entry("harmless", "- text: some failing text")
    path.write_text(path.read_text("utf-8").replace("severity: fault", "severity: benign"), "utf-8")
    write_good(tmp_path, "some failing text\n")
    assert silence(tmp_path / "kb", Answers(small_knowledge()), ["harmless"]).problems == []


def test_reviewed_claims_are_allowed(
    small_knowledge: Callable[[], Knowledge], write_entry: Write, tmp_path: Path
) -> None:
    write_entry("too-wide", "- text: some failing text")
    rows = "- {text: 'fine.log:1', entry: too-wide, why: reviewed}\n- {text: another place, entry: too-wide, why: reviewed}\n"
    write_good(
        tmp_path, "some failing text\n%%\nsome failing text in another place\n%%\nsome failing text, new\n", rows
    )
    assert [p.line for p in silence(tmp_path / "kb", Answers(small_knowledge()), ["too-wide"]).problems] == [5]


def test_an_exception_without_a_reason_is_refused(
    small_knowledge: Callable[[], Knowledge], write_entry: Write, tmp_path: Path
) -> None:
    write_entry("too-wide", "- text: some failing text")
    write_good(tmp_path, "some failing text\n", "- {text: some failing text, entry: too-wide}\n")
    first, second = silence(tmp_path / "kb", Answers(small_knowledge()), ["too-wide"]).problems
    assert first.path.name == "allowed.yaml" and "needs text, entry and why" in first.message
    assert second.path.name == "fine.log"
