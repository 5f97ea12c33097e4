"""Importers and hostile input: no row ends a run, every faulty one is named, and what is written is plain and loads."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_kb.errors import NpuKbError, Problem
from npu_kb.importing.drafts import draft, redacted
from npu_kb.importing.files import json_records
from npu_kb.importing.item import Item, remedies, said, steps
from npu_kb.importing.markdown import program_text, sections
from npu_kb.importing.patterns import regex_block
from npu_kb.importing.tables import read_tables
from npu_kb.importing.words import part_of
from npu_kb.knowledge.entry import Block
from npu_kb.knowledge.load import load_entry
from npu_kb.knowledge.yamlfile import read_yaml

Run = Callable[..., tuple[int, str, str]]
FileOf = Callable[[bytes, str], Path]

JUNK: list[Any] = [None, 17, True, "text", [], [1, [2]], {}, {"a": [{"b": [None]}]}, "", "\0", 1e308]
BODIES = [
    "```\nKvError: \0 \x1b]0;owned\x07 \x1b[31m pool {n} lost\n```",
    "<script>alert(1)</script> <pre>KvError: pool {n} lost</pre>",
    "🐛 " * 300 + "\nKvError: 💥 pool {n} lost",
    "```\n" + "error x" * 15_000 + " {n}\n```",
    "> " * 2_000 + "KvError: pool {n} lost",
    "```\n" * 999 + "error {n}",
    "| a |\n|---|\n" * 300 + "KvError: pool {n} lost",
    "\ud800 KvError: half a character {n}",
    "<!--" * 2_000 + " KvError: pool {n} lost",
    "KvError: password=hunter2{n} of bob@example.org at 10.0.0.{n}\u202e\u2028\ufeff",
    "<int> <*> <word:x> KvError: {op} {{n}} %s \\ {n}",
    "---\n...\n- : # & * ! | > ' \" % @ KvError: pool {n} lost",
]


def issues() -> list[Any]:
    """Ordinary issues, hostile bodies, wrong types in every field, and rows that are no issue."""
    address = "https://github.com/example/kv/issues/{}"
    rows: list[Any] = [
        {"title": f"Lost {n}", "url": address.format(n), "body": f"KvError: plug {n} lost"} for n in range(5)
    ]
    rows += [
        {"title": f"Body {n}", "url": address.format(100 + n), "body": body.replace("{n}", str(n))}
        for n, body in enumerate(BODIES)
    ]
    whole = {
        "title": "Wrong {}",
        "url": address,
        "body": "KvError: x {}",
        "author": {"login": "u"},
        "comments": [],
        "number": 1,
    }
    for name in whole:
        for number, junk in enumerate(JUNK):
            row = {
                key: value.format(f"{name}{number}") if isinstance(value, str) else value
                for key, value in whole.items()
            }
            rows.append({**row, name: junk})
    return rows + JUNK + rows[:3]


def is_plain(text: str) -> bool:
    return all(char.isprintable() or char == "\n" for char in text)


def test_a_hostile_export_is_imported_to_its_last_row(run: Run, tmp_path: Path) -> None:
    path, out_folder = tmp_path / "issues.json", tmp_path / "out"
    path.write_text(json.dumps(issues()), "utf-8")
    status, out, err = run("import", "github-issues", str(path), "--out", str(out_folder))
    assert status == 1 and "Traceback" not in err and is_plain(err)
    assert all(line.startswith(f"npu-kb: {path}:1:1: [") for line in err.splitlines())
    written = list(out_folder.glob("*.yaml"))
    assert len(written) == int(out.split()[0]) >= 5 + len(BODIES) - 1
    for file in written:
        text = file.read_text("utf-8")
        loaded, problems = read_yaml(file)
        assert problems == [] and loaded and loaded.value["id"] == file.stem and is_plain(text)
        assert "hunter2" not in text and "bob@" not in text and "10.0.0." not in text
    assert run("import", "github-issues", str(path), "--out", str(out_folder))[1].startswith("0 drafts\n")


def test_a_hostile_table_is_imported_to_its_last_row(run: Run, tmp_path: Path) -> None:
    rows = [
        ["title", "error", "原因"],
        *([f"Row {n}", body.replace("{n}", str(n)), "x"] for n, body in enumerate(BODIES)),
    ]
    rows += [
        ["huge", "error " + "x" * 200_000, ""],
        ["short"],
        ["long", "KvError: long row", "c", "d", "e"],
        ["", "", "cause only"],
    ]
    text = io.StringIO()
    csv.writer(text).writerows([*rows, ["last", "KvError: last row", ""]])
    path = tmp_path / "t.csv"
    path.write_text(text.getvalue() + 'open,"quote', "utf-8", errors="surrogatepass")
    path.write_bytes(path.read_bytes().replace(b"\xed\xa0\x80", b"?"))
    status, out, err = run("import", "spreadsheet", str(path), "--out", str(tmp_path / "out"))
    assert status == 1 and "field larger than field limit" in err and "names no fault" in err
    assert int(out.split()[0]) >= len(BODIES)
    assert any("last-row" in file.stem or "draft-last" in file.stem for file in (tmp_path / "out").glob("*.yaml"))


def test_a_path_in_a_name_stays_a_name(run: Run, tmp_path: Path) -> None:
    entity = {"../../evil/\x1b": {"attribute.cause_en": "../../../etc/passwd", "regex.in": ["KvEvilError: x"]}}
    (tmp_path / "e.json").write_text(json.dumps(entity), "utf-8")
    run("import", "ascend-fd", str(tmp_path / "e.json"), "--out", str(tmp_path / "a" / "out"))
    (file,) = tmp_path.rglob("*.yaml")
    assert file.parent == tmp_path / "a" / "out" and file.stem.startswith("draft-ascend-fd-evil-")


@pytest.fixture(scope="session")
def file_of(tmp_path_factory: pytest.TempPathFactory) -> FileOf:
    """A file of this name and content, in place of the last one."""
    folder = tmp_path_factory.mktemp("hostile")

    def write(data: bytes, name: str) -> Path:
        (folder / name).write_bytes(data)
        return folder / name

    return write


@given(
    st.one_of(
        st.binary(max_size=300),
        st.text('[]{}",:\\ \n0a\ud800', max_size=300).map(lambda t: t.encode("utf-8", "replace")),
    )
)
def test_any_json_gives_values_and_problems(file_of: FileOf, data: bytes) -> None:
    try:
        found = list(json_records(file_of(data, "x.json")))
    except NpuKbError:
        return
    assert all(record.line >= 1 for record in found)


@given(st.lists(st.one_of(st.just({"a": 1}), st.sampled_from(['{"a": }', "{]}", '{"a" 1}', "nope"])), max_size=12))
def test_a_broken_value_hides_no_other_one(file_of: FileOf, rows: list[Any]) -> None:
    text = "[" + ",\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "]"
    found = list(json_records(file_of(text.encode(), "x.json")))
    assert [n for n, row in enumerate(rows, 1) if not isinstance(row, str)] == [
        record.line for record in found if not isinstance(record, Problem) and record.value == {"a": 1}
    ]


_HTML = st.lists(st.sampled_from(
    ["<table>", "</table>", "<tr>", "</tr>", "<td rowspan=3>", '<td colspan="2">', "<td rowspan=999999 colspan=99999>", "</td>", "x", "&lt;", "<!--", "<![", "<br>", "<"]
), max_size=40).map("".join)  # fmt: skip


@given(_HTML)
def test_any_page_gives_tables_or_is_refused(file_of: FileOf, text: str) -> None:
    try:
        tables = read_tables(file_of(text.encode(), "x.html"))
    except NpuKbError:
        return
    assert all(
        isinstance(cell, str)
        for table in tables
        for row in table.rows
        if not isinstance(row, Problem)
        for cell in row[1]
    )


_MARKDOWN = st.lists(st.sampled_from(
    ["# ", "## 原因\n", "**Cause**: ", "```\n", "> ", "- ", "1. ", "|a|b|\n|-|-|\n", "|1|2|\n", "\n", "x", "<pre>", "KvError: y\n", "<!--", "\t", "`", "原因：", "\0"]
), max_size=40).map("".join)  # fmt: skip


@given(_MARKDOWN)
def test_any_markdown_gives_sections(text: str) -> None:
    found = sections(text)
    assert all(1 <= section.line <= text.count("\n") + 1 for section in found)
    program_text(found)


@given(st.text(max_size=80))
def test_any_heading_and_list_is_read(text: str) -> None:
    part_of(text)
    assert "".join("".join(steps(text)).split()) in "".join(text.split()) or len(steps(text)) > 1
    remedies(said(text), {"zh": text, "en": text})


@given(st.text(".*+?\\[](){}|^$ab0 -,:'\"", max_size=40))
def test_a_block_from_any_regex_is_one_of_the_model(source: str) -> None:
    if block := regex_block(source):
        Block.model_validate(block)


_TEXT = st.one_of(st.text(max_size=200), st.text("-#:|>&*!%@'\"{}[]\\\n\t \x1b\u202eé🐛错", max_size=60))


@given(_TEXT, _TEXT, _TEXT, _TEXT)
def test_any_item_gives_a_file_that_loads(file_of: FileOf, title: str, error: str, cause: str, note: str) -> None:
    item = Item(
        Path("x"),
        1,
        "",
        said(f"T {title}"),
        error,
        cause=said(cause),
        fix=remedies(said(cause)),
        notes=(note,),
        author=note,
    )
    made = draft(redacted(item), "spreadsheet", [], [])
    path = file_of(made.text.encode(), f"{made.id}.yaml")
    file, problems = read_yaml(path)
    assert problems == [] and file is not None and is_plain(made.text)
    assert file.value["id"] == made.id and file.value["status"] == "draft"
    entry, missing = load_entry(path)
    assert entry is None and all("YAML" not in problem.message for problem in missing)


@pytest.mark.parametrize("limit", [10])
def test_a_file_that_is_too_large_is_refused(tmp_path: Path, limit: int) -> None:
    from npu_kb.importing.files import read_bytes

    (tmp_path / "x").write_bytes(b"x" * (limit + 1))
    with pytest.raises(NpuKbError, match="is larger than 10 bytes; split it"):
        read_bytes(tmp_path / "x", limit)
