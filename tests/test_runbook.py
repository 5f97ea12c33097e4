"""`npu-kb runbook`: every link right, the same bytes again, nothing live but its own Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from npu_kb.render.markdown import plain

Run = Callable[..., tuple[int, str, str]]
Write = Callable[..., Path]


def html(text: str) -> str:
    return MarkdownIt().enable("table").render(text)


def links_of(text: str) -> list[str]:
    return [href for href in re.findall(r'href="([^"]+)"', html(text)) if not href.startswith("http")]


@pytest.mark.parametrize("lang", ["en", "zh", "both"])
def test_every_link_of_the_one_file_form_leads_to_an_anchor(run: Run, lang: str) -> None:
    status, out, _ = run("runbook", "--lang", lang)
    anchors = re.findall(r'<a id="([^"]+)"></a>', out)
    links = links_of(out)
    assert status == 0 and len(links) > 1000
    assert len(anchors) == len(set(anchors))
    assert {link.removeprefix("#") for link in links} <= set(anchors)


@pytest.fixture
def tree(run: Run, tmp_path: Path) -> Path:
    assert run("runbook", "--tree", "--lang", "both", "--out", str(tmp_path / "book"))[0] == 0
    return tmp_path / "book"


def test_every_link_of_the_tree_leads_to_a_file_and_every_file_is_reached(tree: Path) -> None:
    files = {path.resolve(): path.read_text("utf-8") for path in tree.rglob("*.md")}
    reached = {(tree / "index.md").resolve()}
    for path, text in files.items():
        for link in links_of(text):
            target = (path.parent / link).resolve()
            assert target in files, f"{path}: {link}"
            reached.add(target)
    assert reached == files.keys()


def test_a_second_run_gives_the_same_bytes(tree: Path, run: Run, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    assert run("runbook", "--tree", "--lang", "both", "--out", str(tree))[0] == 0
    assert {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()} == before


def test_an_entry_page_holds_what_an_engineer_needs(tree: Path) -> None:
    text = (tree / "entries" / "cann-environment-not-loaded.md").read_text("utf-8")
    assert text.startswith("# CANN's environment is not loaded in this shell")
    for part in (
        "**Symptom**",
        "**Cause**",
        "**Fix**",
        "**Check**",
        "**Verify**",
        "libhccl.so",
        "set_env.sh",
        "环境变量",
    ):
        assert part in text, part


def test_a_selection_holds_only_what_is_asked_for(run: Run, tmp_path: Path, write_entry: Write) -> None:
    write_entry("for-a2", "- text: some failing text", extra="versions: {chip: [910B], affected: {cann: '<8.0.0'}}\n")
    write_entry("for-all", "- text: another failing text", hit="another failing text")
    kb = ["--kb", str(tmp_path / "kb"), "--topic", "env-setup"]

    def held(*arguments: str) -> set[str]:
        out = run("runbook", *kb, *arguments)[1]
        return {id for id in ("for-a2", "for-all") if f'<a id="entries-{id}"></a>' in out}

    assert held() == {"for-a2", "for-all"}
    assert held("--chip", "310P") == {"for-all"}
    assert held("--chip", "910B", "--version", "cann=7.0.0") == {"for-a2", "for-all"}
    assert held("--version", "cann=8.0.0") == {"for-all"}
    assert held("--layer", "cann") == {"for-a2", "for-all"}


def test_a_selection_lists_the_codes_of_its_entries_only(run: Run) -> None:
    out = run("runbook", "--topic", "hccl-timeout")[1]
    codes = out.partition("## Error codes\n")[2]
    assert "EI0002" in codes and "161002" not in codes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--topic", "no-such"], "'no-such' is no topic; there are: "),
        (["--topic", "hccl"], "is no topic; did you mean hccl-init, hccl-link, hccl-mismatch, hccl-timeout?\n"),
        (["--topic", "kubernets"], "is no topic; did you mean kubernetes?\n"),
        (["--layer", "no-such"], "'no-such' is no layer; there are: "),
        (["--version", "kann=8"], "'kann' is no component; there are: "),
        (["--version", "cann=new"], "'new' is no version; write it as in cann=8.1.RC1"),
        (["--topic", "memlock-oom", "--layer", "serving"], "no entry fits all of these conditions"),
        (["--tree"], "--tree needs a folder: add --out DIR"),
        (["--out", "/proc/no/such"], "/proc/no/such: cannot be written: "),
    ],
)
def test_bad_use_is_told_in_one_line(run: Run, arguments: list[str], message: str) -> None:
    status, out, err = run("runbook", *arguments)
    assert (status, out) == (2, "") and message in err and err.count("\n") == 1


def test_a_folder_of_other_files_is_left_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("mine")
    status, _, err = run("runbook", "--tree", "--out", str(tmp_path))
    assert status == 2 and "holds other files; name an empty folder" in err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.md"]


def test_files_of_an_earlier_runbook_go_and_others_stay(tree: Path, run: Run) -> None:
    (tree / "entries" / "notes.md").write_text("my own")
    assert run("runbook", "--tree", "--topic", "memlock-oom", "--out", str(tree))[0] == 0
    left = {path.name for path in (tree / "entries").iterdir()}
    assert "notes.md" in left and "cann-environment-not-loaded.md" not in left


def test_a_forged_list_of_files_deletes_nothing_outside(tree: Path, run: Run) -> None:
    victim = tree.parent / "victim.md"
    victim.write_text("keep")
    marker = tree / ".npu-kb-runbook"
    marker.write_text(marker.read_text() + f"../victim.md\n{victim}\n")
    assert run("runbook", "--tree", "--out", str(tree))[0] == 0
    assert victim.read_text() == "keep"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("torch_npu and _x_", "torch_npu and _x_"),
        ("<script>alert(1)</script> & co", "&lt;script&gt;alert(1)&lt;/script&gt; &amp; co"),
        ("run `a_b <c>` now", "run <code>a_b &lt;c&gt;</code> now"),
        ("version `GLIBC_2.34' not found", "version `GLIBC_2.34' not found"),
        ("[x](http://a.b) *bold* # no", "[x](http://a.b) *bold* # no"),
    ],
)
def test_prose_is_shown_as_it_is_written(text: str, shown: str) -> None:
    assert html(plain(text)) == f"<p>{shown}</p>\n"


def test_one_line_faults_stand_in_a_table_for_each_part_of_the_stack(tree: Path) -> None:
    page = (tree / "lines" / "driver-svm.md").read_text("utf-8")
    assert page.startswith("# Driver")
    head, rule, *rows = [line for line in page.splitlines() if line.startswith("|")]
    assert head == "| Line of the log / 日志原文 | Cause | Fix |" and rule == "|---|---|---|"
    assert len(rows) > 20 and all(row.startswith("| `") for row in rows)


def test_a_selection_holds_its_own_checklists_and_lines(run: Run) -> None:
    _, out, _ = run("runbook", "--topic", "memlock-oom", "--lang", "en")
    held = set(re.findall(r'<a id="entries-([^"]+)"></a>', out))
    checklists = re.findall(r'<a id="checklists-([^"]+)"></a>', out)
    _, whole, _ = run("runbook", "--lang", "en")
    assert 0 < len(checklists) < len(re.findall(r'<a id="checklists-', whole)) and held
