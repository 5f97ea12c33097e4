"""`npu-kb import`: items of outside sources become drafts, none twice, and an import can go on where it stopped."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from npu_kb.importing.outbox import JOURNAL

Run = Callable[..., tuple[int, str, str]]
DATA = Path(__file__).parent / "data" / "importers"
GH = DATA / "gh-issue-list.json"


def drafts(folder: Path) -> dict[str, dict[str, Any]]:
    """The drafts of a folder by their file's name."""
    return {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in sorted(folder.glob("*.yaml"))}


def test_an_issue_becomes_a_redacted_draft_with_its_origin(run: Run, tmp_path: Path) -> None:
    status, out, err = run("import", "github-issues", str(GH), "--out", str(tmp_path / "out"))
    assert (status, err) == (0, "")
    ((id, draft),) = drafts(tmp_path / "out").items()
    assert draft["id"] == id and draft["status"] == "draft"
    assert draft["title"] == {"en": "[Bug]: KV pool handshake refused by the decode node"}
    assert draft["samples"]["hit"] == ["KvPoolError: handshake with <ip>:9000 refused, pool epoch 17 is behind"]
    assert draft["match"] == [
        {"text": ["handshake with <word> refused, pool epoch <int> is behind"], "proves": "possible"}
    ]
    assert draft["references"][0]["url"] == "https://github.com/example/serving/issues/41"
    assert draft["author"] == "someone"
    text = (tmp_path / "out" / f"{id}.yaml").read_text("utf-8")
    assert "# Seen with torch 2.7.1, torch_npu 2.7.1, cann 8.2.RC1" in text and "# Reply: The pool epoch" in text
    assert not any(secret in text for secret in ("192.168.3.7", "alice", "worker-17"))
    assert "1 left out: the knowledge names their cause" in out and "1 left out: they tell no fault" in out


def test_check_names_what_a_draft_lacks(run: Run, tmp_path: Path) -> None:
    run("import", "github-issues", str(GH), "--out", str(tmp_path))
    _, out, _ = run("check", "--format", "json", str(tmp_path))
    lacking = {problem["field"] for problem in json.loads(out)["problems"]}
    assert lacking == {"title.zh", "layer", "topic", "severity", "symptom.zh", "cause", "fix", "verify", "samples.miss"}


def test_a_second_run_adds_nothing(run: Run, tmp_path: Path) -> None:
    run("import", "github-issues", str(GH), "--out", str(tmp_path))
    before = sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir())
    _, out, _ = run("import", "github-issues", str(GH), "--out", str(tmp_path))
    assert out.startswith("0 drafts\n1 left out: imported before")
    assert sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir()) == before


def test_a_draft_that_was_thrown_away_does_not_come_back(run: Run, tmp_path: Path) -> None:
    run("import", "github-issues", str(GH), "--out", str(tmp_path))
    for path in tmp_path.glob("*.yaml"):
        path.unlink()
    _, out, _ = run("import", "github-issues", str(GH), "--out", str(tmp_path))
    assert out.startswith("0 drafts\n") and drafts(tmp_path) == {}


@pytest.mark.parametrize("journal", ["", '{"draft": "draft-serv', "[]\n17\nnull\n\0\n"])
def test_an_import_that_was_killed_goes_on(run: Run, tmp_path: Path, journal: str) -> None:
    """Killed after a draft was put in its place and before its line was in the journal."""
    run("import", "github-issues", str(GH), "--out", str(tmp_path))
    (path,) = tmp_path.glob("*.yaml")
    path.write_text("# edited\n", "utf-8")
    (tmp_path / JOURNAL).write_text(journal, "utf-8")
    _, out, _ = run("import", "github-issues", str(GH), "--out", str(tmp_path))
    assert out.startswith("0 drafts\n1 left out: imported before")
    assert path.read_text("utf-8") == "# edited\n"
    assert json.loads((tmp_path / JOURNAL).read_text("utf-8").splitlines()[-1])["draft"] == path.stem


def test_a_dry_run_lists_and_writes_nothing(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("import", "github-issues", str(GH), "--dry-run", "--out", str(tmp_path / "out"))
    assert status == 0 and "KV pool handshake refused" in out and "1 draft" in out
    assert not (tmp_path / "out").exists()


def test_an_issue_that_the_knowledge_cites_is_left_out(
    run: Run, write_entry: Callable[..., Path], tmp_path: Path
) -> None:
    extra = "  - {url: https://github.com/example/serving/issues/41, read: 2026-11-29}\n"
    write_entry("known", "- text: some failing text", extra=extra)
    _, out, _ = run("import", "github-issues", str(GH), "--out", str(tmp_path / "out"), "--kb", str(tmp_path / "kb"))
    assert out.startswith("0 drafts\n1 left out: an entry of the knowledge cites it")


def test_what_two_trackers_tell_is_drafted_once(run: Run, tmp_path: Path) -> None:
    run("import", "gitee-issues", str(DATA / "gitee-issues.json"), "--out", str(tmp_path))
    _, out, _ = run("import", "gitcode-issues", str(DATA / "gitcode-issues.json"), "--out", str(tmp_path))
    assert "1 draft\n1 left out: the same fault as another one" in out
    addresses = [draft["references"][0]["url"] for draft in drafts(tmp_path).values()]
    assert addresses == ["https://gitcode.com/example/kv/issues/16", "https://gitee.com/example/kv/issues/IABCD1"]


def test_the_parts_of_a_chinese_issue_form_are_found(run: Run, tmp_path: Path) -> None:
    run("import", "gitee-issues", str(DATA / "gitee-issues.json"), "--out", str(tmp_path))
    (draft,) = drafts(tmp_path).values()
    assert draft["symptom"] == {"zh": "推理跑到一半 decode 进程退出，机器 <ip>。"}
    assert draft["samples"]["hit"] == ["[ERROR] KvRouteError: route table of pool 5 is corrupt at offset 0x1f40"]
    assert "# Seen with cann 8.1.RC1" in next(tmp_path.glob("*.yaml")).read_text("utf-8")


def test_a_list_of_the_rest_api_is_read_without_its_pull_requests(run: Run, tmp_path: Path) -> None:
    _, out, _ = run("import", "github-issues", str(DATA / "github-rest.json"), "--out", str(tmp_path))
    (draft,) = drafts(tmp_path).values()
    assert out.startswith("1 draft\nWhat each") and draft["references"][0]["url"].endswith("/issues/7")
    assert draft["samples"]["hit"] == ["KvCacheError: cannot write page 12 of pool kv-main"]


def test_faulty_issues_are_named_with_line_and_mend_and_the_others_are_drafted(run: Run, tmp_path: Path) -> None:
    good = {"title": "x", "number": 5, "body": "KvPlugError: plug {} is loose"}
    rows = [
        '{"number": 1}',
        '{"title": "no address"}',
        '{"title": "t", "number": 2, "body": {"a": [1]}}',
        '"text"',
        '{"title": nope}',
        '{"title": ' + "[" * 100_000 + "]" * 100_000 + "}",
        json.dumps(good),
        '{"title": "cut',
    ]
    path = tmp_path / "issues.json"
    path.write_text("[" + ",\n".join(rows), "utf-8")
    status, out, err = run("import", "github-issues", str(path), "--repo", "o/r", "--out", str(tmp_path / "out"))
    assert status == 1 and out.startswith("1 draft\n")
    assert [line.removeprefix(f"npu-kb: {path}:") for line in err.splitlines()] == [
        "1:1: [0]: has no title; export it with the field `title`",
        "2:1: [1]: has no address; export it with `html_url` or `url`, or give --repo OWNER/NAME",
        "3:1: [2]: has a body that is no text but a dict; export it again",
        "4:1: [3]: is no issue but a plain value; export a list of issues",
        "5:1: [4]: is no JSON: Expecting value; export it again or take it out",
        "6:1: [5]: is nested too deeply; take it out",
        "8:1: [7]: is no JSON: Unterminated string starting at; export it again or take it out; all that follows it is left out",
    ]


@pytest.mark.parametrize(
    "text",
    ["[{a},\n{b}]", "[{a}]\n[{b}]", "[[{a}],[{b}]]", "{a}\n{b}\n", '{{"total": 2, "items": [{a}, {b}]}}'],
)
def test_every_form_that_paging_leaves_is_read(run: Run, tmp_path: Path, text: str) -> None:
    a, b = (json.dumps({"title": f"KvError: {word} lost", "number": n}) for n, word in ((1, "plug"), (2, "route")))
    path = tmp_path / "issues.json"
    path.write_text(text.replace("{a}", a).replace("{b}", b).replace("{{", "{").replace("}}", "}"), "utf-8")
    status, out, _ = run("import", "github-issues", str(path), "--repo", "o/r", "--dry-run")
    assert status == 0 and "2 drafts" in out


def test_issues_come_from_standard_input_too(run: Run) -> None:
    status, out, _ = run("import", "github-issues", "-", "--dry-run", stdin=GH.read_bytes())
    assert status == 0 and "1 draft" in out


def test_drafts_need_a_folder(run: Run) -> None:
    status, _, err = run("import", "github-issues", str(GH))
    assert status == 2 and "add --out DIR, or --dry-run" in err


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_what_cannot_be_read_is_refused_in_one_line(run: Run, tmp_path: Path, name: str) -> None:
    status, _, err = run("import", "github-issues", str(tmp_path / name), "--dry-run")
    assert status == 2 and "cannot be read" in err and len(err.splitlines()) == 1


def test_a_full_disk_is_told_and_leaves_no_half_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.link", full)
        status, _, err = run("import", "github-issues", str(GH), "--out", str(tmp_path))
    assert status == 2 and "No space left on device; make room" in err and list(tmp_path.glob("*")) == []
    assert run("import", "github-issues", str(GH), "--out", str(tmp_path))[1].startswith("1 draft\n")


def test_the_summary_is_chinese_where_it_is_asked_for(run: Run) -> None:
    _, out, _ = run("import", "github-issues", str(GH), "--dry-run", "--lang", "zh")
    assert "1 个草稿" in out and "知识库已能给出原因" in out
