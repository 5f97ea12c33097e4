"""`npu-kb check`: what is selected, what is reported and in which forms, and how a change is compared with its base."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from npu_kb.gates.goodlogs import good_texts
from npu_kb.gates.revision import Revision
from npu_kb.render.comment import LIMIT, MARK
from npu_kb.render.inert import unlinked

Run = Callable[..., tuple[int, str, str]]
Write = Callable[..., Path]

pytestmark = pytest.mark.usefixtures("own_kb")
MATCH = "- text: some failing text"


def edited(path: Path, old: str, new: str) -> Path:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    return path


# what is checked


def test_all_one_folder_or_one_file(run: Run, write_entry: Write, own_kb: Path) -> None:
    first = write_entry("first", MATCH)
    write_entry("second", "- text: another text", hit="another text")
    assert run("check")[1].splitlines()[-1].startswith("2 entries checked: no problems")
    assert (
        run("check", str(own_kb / "entries" / "cann"))[1].splitlines()[-1].startswith("2 entries checked: no problems")
    )
    assert run("check", str(first))[1].splitlines()[-1].startswith("1 entry checked: no problems")


def test_what_entries_rest_on_concerns_all(run: Run, write_entry: Write, own_kb: Path) -> None:
    write_entry("first", "- text: not in its sample")
    status, out, _ = run("check", str(own_kb / "commands.yaml"))
    assert status == 1 and "first.yaml:15:9: samples.hit.0" in out


def test_a_folder_of_its_own_is_read_as_knowledge(run: Run, write_entry: Write, tmp_path: Path) -> None:
    path = write_entry("mine", MATCH)
    folder = tmp_path / "overlay" / "entries"
    folder.mkdir(parents=True)
    path.rename(folder / path.name)
    (folder.parent / "commands.yaml").write_text("commands: {}\n")
    (folder / "link.yaml").symlink_to(folder / "mine.yaml")
    assert run("check", str(folder.parent))[1].endswith("1 entry checked: no problems\n")


def test_two_files_of_one_id_are_named_and_no_more(run: Run, write_entry: Write, own_kb: Path) -> None:
    first = write_entry("same", MATCH)
    second = own_kb / "entries" / "cann" / "deeper" / "same.yaml"
    second.parent.mkdir()
    second.write_text(first.read_text("utf-8"))
    for words in ([first, second], []):
        status, out, _ = run("check", *map(str, words))
        assert status == 1 and "id: stands in " in out


def test_a_missing_path_is_bad_use(run: Run) -> None:
    status, out, err = run("check", "/no/such/entry.yaml")
    assert (status, out) == (2, "") and "no such file or folder" in err
    status, out, err = run("check", "--kb", "/no/such/kb")
    assert (status, out) == (2, "") and "no such folder of knowledge" in err


def test_a_damaged_or_odd_good_log_is_named(run: Run, write_entry: Write, own_kb: Path) -> None:
    write_entry("first", MATCH)
    folder = own_kb / "goodlogs"
    folder.mkdir()
    (folder / "bad.log").write_bytes(b"# header\n\xff\xfe\xfa\n")
    os.mkfifo(folder / "pipe.log")
    status, out, _ = run("check")
    assert status == 1 and "bad.log:1:1: not UTF-8" in out and "pipe.log:1:1: cannot be read" in out
    assert good_texts(own_kb) == []


def test_an_exception_that_nobody_needs_is_a_warning(run: Run, write_entry: Write, own_kb: Path) -> None:
    write_entry("first", MATCH)
    folder = own_kb / "goodlogs"
    folder.mkdir()
    (folder / "fine.log").write_text("all is well\n%%\nsome failing text is allowed here\n")
    (folder / "allowed.yaml").write_text(
        "- {text: 'fine.log:3', entry: first, why: reviewed}\n- {text: all is well, entry: first, why: no more}\n"
    )
    status, out, _ = run("check")
    assert status == 0
    assert "allowed.yaml:2:3: warning: 1: is not needed any more: first is quiet there; remove it" in out


# the forms of the report


def test_the_table_counts_right_and_wrong_answers(run: Run, write_entry: Write, own_kb: Path) -> None:
    path = edited(write_entry("first", MATCH), 'hit: ["some failing text"]', 'hit: ["some failing text", "not this"]')
    edited(path, 'miss: ["nothing of the kind"]', 'miss: ["nothing", "some failing text but other"]')
    write_entry("second", "- text: some failing text of another", hit="some failing text of another")
    (own_kb / "goodlogs").mkdir()
    (own_kb / "goodlogs" / "fine.log").write_text("some failing text, said of old\n")
    table = json.loads(run("check", str(path), "--format", "json")[1])["table"]
    assert table == [
        {"id": "first", "true_positives": 1, "true_negatives": 1, "false_positives": 3, "false_negatives": 1}
    ]
    assert re.search(r"\nfirst +1 +1 +3 +1\n", run("check", str(path))[1])


def test_the_table_of_many_entries_is_shown_on_demand_with_sums(run: Run, write_entry: Write) -> None:
    for n in range(12):
        write_entry(f"entry-{n}", f"- text: failing text number {n} of many", hit=f"failing text number {n} of many")
    assert "TP" not in run("check")[1]
    assert re.search(r"\nall +12 +12 +0 +0\n", run("check", "--table")[1])


def test_json_keeps_problems_apart_from_warnings(run: Run, write_entry: Write) -> None:
    path = edited(write_entry("first", MATCH), "read: 2026-11-29", "read: 2019-01-01")
    edited(path, "zh: 修复它。", "zh: mend it")
    document = json.loads(run("check", str(path), "--format", "json")[1])
    assert document["schema"] == "npu-kb/check/1" and document["checked"] == 1
    assert [(p["rule"], p["severity"]) for p in document["problems"]] == [("both_languages", "problem")]
    assert [(p["rule"], p["severity"]) for p in document["warnings"]] == [("is_fresh", "warning")]


def test_sarif_has_the_structure_of_version_2_1_0(
    run: Run, write_entry: Write, own_kb: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = edited(write_entry("odd-name", MATCH, extra="nonsense: 1\n"), "zh: 修复它。", "zh: mend it")
    path = path.rename(path.with_name("odd name%.yaml"))
    old = edited(write_entry("old", "- text: another text", hit="another text"), "read: 2026-11-29", "read: 2019-01-01")
    edited(old, "zh: 修复它。", "zh: mend it")
    monkeypatch.chdir(own_kb.parent)
    status, out, _ = run("check", "--format", "sarif", str(path), str(old))
    log = json.loads(out)
    assert status == 1 and log["version"] == "2.1.0" and log["$schema"].endswith("sarif-schema-2.1.0.json")
    (one_run,) = log["runs"]
    driver = one_run["tool"]["driver"]
    assert driver["name"] == "npu-kb" and len({rule["id"] for rule in driver["rules"]}) == len(driver["rules"])
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
    levels = set()
    for result in one_run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"] and result["message"]["text"]
        place = result["locations"][0]["physicalLocation"]
        assert place["region"]["startLine"] >= 1 and place["region"]["startColumn"] >= 1
        levels.add((result["ruleId"], result["level"], place["artifactLocation"]["uri"]))
    assert levels == {
        ("file_is_readable", "error", "kb/entries/cann/odd%20name%25.yaml"),
        ("both_languages", "error", "kb/entries/cann/old.yaml"),
        ("is_fresh", "warning", "kb/entries/cann/old.yaml"),
    }


def test_annotations_cannot_be_broken_out_of(
    run: Run, write_entry: Write, own_kb: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_entry("first", MATCH, extra='role: "rot\\n::error file=x::boo%0A"\n')
    path = path.rename(path.with_name("a,b:c.yaml"))
    monkeypatch.chdir(own_kb.parent)
    status, out, _ = run("check", "--format", "github", str(path))
    (command, total) = out.splitlines()
    assert status == 1 and total == "0 entries checked: 1 problem in 1 file"
    assert command.startswith("::error file=kb/entries/cann/a%2Cb%3Ac.yaml,line=19,col=7::role: is ")
    assert "%250A" in command and "%0A" not in command.replace("%250A", "")


def test_no_escape_sequence_reaches_the_terminal(run: Run, write_entry: Write) -> None:
    path = write_entry("first", MATCH, extra='role: "\\e[31mred\\e]0;title\\a"\n')
    for form in ("text", "github", "markdown"):
        _, out, err = run("check", "--format", form, str(path))
        assert "\x1b" not in out + err and "\a" not in out + err


# compared with a revision


def git(folder: Path, *words: str) -> None:
    names = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    command = ["git", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false", *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env={**os.environ, **names})


@pytest.fixture
def repository(own_kb: Path, write_entry: Write) -> Path:
    """A repository whose kb has two entries, `kept` and `former`."""
    write_entry("kept", "- text: a text that stays", hit="a text that stays")
    edited(write_entry("former", MATCH), "Test cause of former", "Something else altogether")
    git(own_kb.parent, "init")
    git(own_kb.parent, "add", ".")
    git(own_kb.parent, "commit", "-m", "first")
    return own_kb.parent


def rows(run: Run, *options: str) -> tuple[int, list[str]]:
    """How many entries were checked since HEAD, and what was found; that entries of tests are alike does not count."""
    document = json.loads(run("check", "--changed", "HEAD", "--format", "json", *options)[1])
    found = [p for p in document["problems"] + document["warnings"] if p["rule"] != "no_near_duplicate"]
    return document["checked"], [p["message"] for p in found]


def test_nothing_changed(run: Run, repository: Path) -> None:
    assert rows(run) == (0, [])
    assert run("check", "--changed", "HEAD")[1] == "0 entries checked: no problems\n"


def test_only_what_changed_is_checked(run: Run, repository: Path, write_entry: Write) -> None:
    path = edited(write_entry("kept", "- text: a text that stays", hit="a text that stays"), "It fails.", "It ends.")
    assert rows(run) == (1, [])
    git(repository, "add", ".")
    assert rows(run) == (1, [])
    write_entry("added", "- text: a new text", hit="something else")
    assert rows(run) == (2, ["is answered with nothing first; sharpen one of the two"])
    assert rows(run, str(path)) == (1, [])
    (repository / "kb" / "README.md").write_text("not knowledge")
    assert rows(run)[0] == 2


def test_since_a_branch_means_since_it_was_left(run: Run, repository: Path, write_entry: Write) -> None:
    git(repository, "switch", "-c", "work")
    write_entry("added", "- text: a new text", hit="a new text")
    git(repository, "add", ".")
    git(repository, "commit", "-m", "work")
    git(repository, "switch", "main")
    write_entry("meanwhile", "- text: what came meanwhile", hit="what came meanwhile")
    git(repository, "add", ".")
    git(repository, "commit", "-m", "meanwhile")
    git(repository, "switch", "work")
    status, out, _ = run("check", "--changed", "main")
    assert status == 0 and "\nadded " in out and "meanwhile" not in out


def test_what_entries_rest_on_makes_all_be_checked(run: Run, repository: Path) -> None:
    edited(repository / "kb" / "topics.yaml", "env-setup:", "env-set-up:")
    checked, found = rows(run)
    assert checked == 2 and all("is not in kb/topics.yaml" in message for message in found)


def test_an_id_that_vanishes_is_a_problem(run: Run, repository: Path) -> None:
    (repository / "kb" / "entries" / "cann" / "former.yaml").unlink()
    status, out, _ = run("check", "--changed", "HEAD")
    assert status == 1 and "former.yaml:1:1: id: the id former is gone; keep its file with `status: deprecated`" in out


def test_an_id_that_is_renamed_with_an_alias_is_none(run: Run, repository: Path, write_entry: Write) -> None:
    (repository / "kb" / "entries" / "cann" / "former.yaml").unlink()
    path = write_entry("present", MATCH)
    assert any("the id former is gone" in message for message in rows(run)[1])
    path.write_text(path.read_text("utf-8") + "aliases: [former]\nverified: {date: 2026-11-29}\n", "utf-8")
    assert rows(run)[1] == []


def test_an_id_that_is_retired_is_none(run: Run, repository: Path) -> None:
    path = repository / "kb" / "entries" / "cann" / "former.yaml"
    edited(path, "status: reported", "status: deprecated\nsuperseded_by: kept")
    assert rows(run) == (1, [])
    git(repository, "add", ".")
    git(repository, "commit", "-m", "retired")
    path.unlink()
    assert any("the id former is gone" in message for message in rows(run)[1])


def test_an_alias_that_vanishes_is_a_problem(run: Run, repository: Path, write_entry: Write) -> None:
    path = write_entry("aliased", "- text: yet another text", hit="yet another text", extra="aliases: [old-name]\n")
    git(repository, "add", ".")
    git(repository, "commit", "-m", "aliased")
    edited(path, "aliases: [old-name]\n", "")
    assert any("the id old-name is gone" in message for message in rows(run)[1])


def test_a_new_entry_starts_low(run: Run, repository: Path, write_entry: Write) -> None:
    path = edited(write_entry("added", "- text: a new text", hit="a new text"), "status: reported", "status: confirmed")
    edited(path, "{source: written for a test,", "{url: 'https://github.com/a/b',")
    assert run("check", "--changed", "HEAD")[0] == 0
    assert rows(run)[1][0].startswith("is new and from one source only")
    edited(path, "references:", "verified: {date: 2026-11-29}\nreferences:")
    assert rows(run)[1] == []
    edited(path, "status: confirmed", "status: deprecated\nsuperseded_by: kept")
    assert rows(run)[1] == ["is new and deprecated; a new entry starts as draft or reported"]


def test_bad_bases_are_one_line_each(
    run: Run, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def err(*words: str) -> str:
        status, out, err = run("check", *words)
        assert status == 2 and out == "" and len(err.splitlines()) == 1, err
        return err

    for base in ("no-such", "--output=x", "", "HEAD:kb"):
        assert "no such git revision" in err(f"--changed={base}")
    git(repository, "switch", "--orphan", "alone")
    git(repository, "commit", "--allow-empty", "-m", "alone")
    assert "no common ancestor" in err("--changed", "main", "--kb", str(tmp_path))
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    assert "is in no git repository" in err("--changed", "HEAD", "--kb", str(outside))
    ignored = repository / ".venv" / "kb"
    ignored.mkdir(parents=True)
    (repository / ".gitignore").write_text(".venv/\n")
    assert "is ignored by git, so nothing can be compared" in err("--changed", "HEAD", "--kb", str(ignored))
    monkeypatch.setenv("PATH", "/nowhere")
    assert "git is not installed" in err("--changed", "HEAD")


def test_the_export_of_a_revision_stays_below_its_target(repository: Path, tmp_path: Path) -> None:
    kb, target = repository / "kb", tmp_path / "target"
    (kb / "entries" / "link.yaml").symlink_to("/etc/passwd")
    (kb / "entries" / "large.yaml").write_text("#" * 2_000_001)
    (kb / "entries" / "名 字.yaml").write_text("名: x\n")
    git(repository, "add", ".")
    git(repository, "commit", "-m", "odd")
    Revision(kb, "HEAD").export(target)
    names = {str(path.relative_to(target)) for path in target.rglob("*") if not path.is_dir()}
    assert {"entries/cann/kept.yaml", "entries/名 字.yaml", "topics.yaml"} <= names
    assert not names & {"entries/link.yaml", "entries/large.yaml"}
    assert (target / "entries/名 字.yaml").read_text("utf-8") == "名: x\n"


# the comment on a pull request


def comment(run: Run) -> str:
    return run("check", "--changed", "HEAD", "--format", "markdown")[1]


def test_the_comment_shows_what_a_reviewer_asks_for(run: Run, repository: Path, write_entry: Write) -> None:
    (repository / "kb" / "goodlogs").mkdir()
    (repository / "kb" / "goodlogs" / "fine.log").write_text("a new text is fine\n")
    edited(write_entry("added", "- text: a new text", hit="a new text"), "miss: [", 'miss: ["a new text again", ')
    edited(
        repository / "kb" / "entries" / "cann" / "former.yaml",
        "status: reported",
        "status: deprecated\nsuperseded_by: kept",
    )
    text = comment(run)
    assert text.startswith(f"{MARK}\n### 3 entries checked: 2 problems in 2 files")
    assert "100.00% of 4 → **80.00% of 5**" in text
    assert re.search(r"\| added \| added \| 1 \| 1 \| 2 \| 0 \| .+ \|\n", text) and "| former | changed | - |" in text
    assert (
        "#### New false hits 新增误报\n\n- kb/goodlogs/fine.log:1 a good text is answered with added"
        in text.replace(str(repository) + "/", "")
    )
    assert "#### Problems 问题" in text and "matches this entry" in text
    assert "<details><summary>added</summary>\n\n#### Test cause of added / 测试原因" in text
    assert "a new text\n```" in text and "because" not in text.lower().split("details")[0]


def test_foreign_text_in_the_comment_does_nothing(run: Run, repository: Path, write_entry: Write) -> None:
    hostile = "a new text @someone #12 https://evil.example/x ![i](http://evil.example) <img src=x> ```"
    path = write_entry("added", "- text: a new text", hit=hostile)
    edited(path, "en: Mend it.", "en: 'Ask @root, see GH-7, owner/repo#1 and www.evil.example <b>now</b>'")
    edited(path, "written for a test", "https://evil.example/log @all")
    text = comment(run)
    outside = re.sub(r"(`{3,}).*?\n\s*\1", "", text, flags=re.S)
    assert "evil" in outside and "someone" in text
    assert not re.search(r"@\w|#\d|\w#\d|GH-\d|://\w|www\.\w|<(?!/?details>|/?summary>|!-- npu-kb check)", outside), (
        outside
    )


def test_a_comment_is_never_too_long(run: Run, repository: Path, write_entry: Write) -> None:
    for n in range(45):
        path = write_entry(
            f"entry-{n}", f"- text: failing text number {n} of many", hit=f"failing text number {n} of many"
        )
        edited(path, "zh: 因为测试。", f"zh: {'很长的原因。' * 200}")
    text = comment(run)
    assert len(text.encode()) <= LIMIT + 200 and "More does not fit here" in text and "… 5 more" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see @me", "see @ me"),
        ("`@me` @you `@us``", "`@me` @ you `@ us``"),
        ("- <https://a.cn/b>", "- `https://a.cn/b`"),
        ("```\n@me\n```\n@you", "```\n@me\n```\n@ you"),
        ("   ````sh\n@me\n```\n@me\n   ````\n#1", "   ````sh\n@me\n```\n@me\n   ````\n# 1"),
    ],
)
def test_links_are_cut_outside_of_code_only(text: str, expected: str) -> None:
    assert unlinked(text) == expected


# links, which only the network can tell of


def test_links_are_asked_for_only_when_told_to(run: Run, write_entry: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    from urllib.error import HTTPError, URLError

    from npu_kb.gates import links

    path = write_entry("first", MATCH)
    urls = ["https://a.cn/gone", "https://a.cn/refused", "https://a.cn/away", "https://a.cn/fine"]
    edited(
        path, "references:\n", "references:\n" + "".join(f"  - {{url: '{url}', read: 2026-11-29}}\n" for url in urls)
    )
    asked: list[str] = []

    class Fine:
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...

    def answer(request: object, timeout: float) -> Fine:
        url = request.full_url  # type: ignore[attr-defined]
        asked.append(f"{request.get_method()} {url}")  # type: ignore[attr-defined]
        if url.endswith("gone"):
            raise HTTPError(url, 404, "Not Found", {}, None)  # type: ignore[arg-type]
        if url.endswith("refused"):
            raise HTTPError(url, 403, "Forbidden", {}, None)  # type: ignore[arg-type]
        if url.endswith("away"):
            raise URLError("name not known")
        return Fine()

    monkeypatch.setattr(links.urllib.request, "urlopen", answer)
    assert run("check", str(path))[0] == 0 and asked == []
    status, out, _ = run("check", "--links", str(path))
    assert status == 0 and sorted(asked) == sorted(f"HEAD {url}" for url in urls)
    assert [line.split(": ", 2)[2] for line in out.splitlines() if "warning:" in line] == [
        "references.0.url: is gone (HTTP 404); find where it moved",
        "references.2.url: does not answer (name not known); look whether it moved",
    ]
