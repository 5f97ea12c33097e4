"""kb/matrix: what is shipped is whole, what is wrong is named by file, line and field, and overlays win by key."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_kb import Knowledge
from npu_kb.environment.tried import add_tried
from npu_kb.errors import KnowledgeError, NpuKbError
from npu_kb.knowledge.load import load_entries
from npu_kb.knowledge.matrix import TABLES
from npu_kb.releases import fits, is_release, patches, release

Run = Callable[..., tuple[int, str, str]]

ROW = '- {cann: "9.1.X", python: ">=3.7,<3.15", source: guide}'


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(*rows: str, head: str = 'sources: {guide: "the installation guide"}', table: str = "cann_python") -> Path:
        path = tmp_path / "kb" / "matrix" / f"{table}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([f"table: {table}", head, "rows:", *rows]) + "\n", "utf-8")
        return path

    return write


def _problems(path: Path) -> list[str]:
    return [str(p).removeprefix(f"{path}:") for p in load_entries([path.parents[1]]).problems]


def test_all_tables_are_shipped_with_their_sources(knowledge: Knowledge) -> None:
    counts = {name: len(knowledge.matrix(name)) for name in TABLES}
    assert counts == {
        "torch_npu": 116, "torch": 18, "torch_npu_cann": 12, "cann_driver": 35, "driver": 13, "cann_label": 14,
        "cann_python": 3, "vllm_ascend": 51, "triton_ascend": 7, "mindspore": 15, "product": 41, "chip": 31,
        "chip_fact": 14, "threshold": 70,
    }  # fmt: skip
    rows = [row for name in TABLES for row in knowledge.matrix(name)]
    assert all(" " in row["source"] or "/" in row["source"] for row in rows)


def test_what_is_shipped_stands_as_written(knowledge: Knowledge) -> None:
    rows = {row["torch_npu"]: row for row in knowledge.matrix("torch_npu")}
    assert rows["2.10.0.post4"]["cann"] == ["9.1.0"]
    assert rows["2.10.0.post6"]["aarch64"] == ["3.10", "3.11", "3.12"]
    assert rows["2.10.0.post6"]["x86_64"] == ["3.10", "3.11"]
    assert rows["2.10.0.post4"]["source"].startswith("github.com/Ascend/pytorch COMPATIBILITY.md")
    assert [row["family"] for row in knowledge.matrix("chip") if row["soc"] == "Ascend910_9382"] == ["910_93"]
    assert {row["result"] for row in knowledge.matrix("tried")} == {"works", "fails"}


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ('- {cann: "9.1.X", python: ">=3.7"}', "4:3: rows.0.source: is missing; add it"),
        ('- {cann: "9.1.X", python: ">=3.7", source: guied}', "rows.0.source: 'guied' is not among the file's `sources`"),
        ('- {cann: "newest", python: ">=3.7", source: guide}', "rows.0.cann.0: is 'newest', which is no release"),
        ('- {cann: "9.1.X", python: "3.7 and up", source: guide}', "rows.0.python: is '3.7 and up'; write a range"),
        ("- {cann: 9.1, python: '>=3.7', source: guide}", "rows.0.cann: write it as one text in quotes"),
        ('- {cann: "9.1.X", pyhton: ">=3.7", source: guide}', "rows.0.pyhton: is not a field"),
        (f"{ROW}\n{ROW}", "5:10: rows.1.cann: 9.1.X stands twice; keep one of the two"),
    ],
)  # fmt: skip
def test_a_bad_row_is_named_and_left_out(row: str, says: str, write: Callable[..., Path]) -> None:
    assert any(says in problem for problem in _problems(write(row)))


@pytest.mark.parametrize("head", ["sources: [a]", "title: x", "- x"])
def test_a_bad_file_is_named(head: str, write: Callable[..., Path]) -> None:
    assert _problems(write(ROW, head=head))


def test_check_fails_on_a_bad_matrix(write: Callable[..., Path], run: Run) -> None:
    path = write('- {cann: "x", python: ">=3.7", source: guide}')
    status, out, _ = run("check", "--kb", str(path.parents[1]))
    assert status == 1
    assert "cann_python.yaml:4" in out


def test_an_overlay_replaces_rows_by_key_and_adds_others(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, shared_cache: Path
) -> None:
    monkeypatch.setenv("NPU_KB_CACHE", str(shared_cache))
    path = write(ROW.replace("3.15", "3.14"), '- {cann: "10.0.X", python: ">=3.10", source: guide}')
    rows = {row["cann"][0]: row for row in Knowledge.load([path.parents[1]]).matrix("cann_python")}
    assert rows["9.1.X"]["python"] == ">=3.7,<3.14"
    assert rows["9.1.X"]["source"] == "the installation guide"
    assert rows["10.0.X"]["python"] == ">=3.10"
    assert "8.3.X" in rows


COMBINATION: dict[str, Any] = {
    "chip": "910B",
    "versions": {"torch_npu": "2.10", "cann": "8.5.0"},
    "workload": "a training: eight cards # not a comment",
    "result": "slow",
    "note": {"zh": "很慢"},
    "by": "a tester",
    "date": datetime.date(2026, 11, 29),
}


def test_a_tried_combination_is_written_once_and_read_back(tmp_path: Path) -> None:
    path = add_tried(tmp_path, COMBINATION)
    assert path.parent == tmp_path / "matrix" / "tried"
    assert list(path.parent.iterdir()) == [path]
    loaded = load_entries([tmp_path])
    assert loaded.problems == []
    row = loaded.matrix["tried", path.stem]
    assert row == {**COMBINATION, "date": "2026-11-29", "operators": [], "settings": {}}
    with pytest.raises(NpuKbError, match="already"):
        add_tried(tmp_path, COMBINATION)


@pytest.mark.parametrize(
    "change",
    [{"result": "so-so"}, {"versions": {}}, {"versions": {"flux": "1"}}, {"versions": {"cann": "x"}}, {"note": {}}],
)
def test_a_wrong_combination_is_refused_and_leaves_nothing(change: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError):
        add_tried(tmp_path, COMBINATION | change)
    assert list(tmp_path.iterdir()) == []


def test_record_writes_a_combination(tmp_path: Path, run: Run) -> None:
    (tmp_path / "entries").mkdir()
    words = ["--kb", str(tmp_path), "--result", "fails", "--workload", "import torch_npu", "--by", "a tester"]
    status, out, _ = run("record", "--combination", "torch_npu=2.7.1", "cann=9.0.0", *words)
    assert status == 0
    assert "torch_npu: 2.7.1" in Path(out.strip()).read_text("utf-8")
    assert run("record", "--combination", "cann", *words)[0] == 2
    assert run("record", "--combination", "cann=9.0.0", "--kb", str(tmp_path))[0] == 2
    for versions, why in (
        (["python=3.11.7"], "at least two"),
        (["cann=8.2.RC1", "cann=8.1.RC1"], "cann is given twice"),
        (["cann=bad", "python=3.11.7"], "npu-kb: combination:"),
    ):
        status, out, err = run("record", "--combination", *versions, *words)
        assert (status, out) == (2, "") and why in err
    assert len([*(tmp_path / "matrix" / "tried").iterdir()]) == 1


def test_releases_fit_series_and_patches() -> None:
    assert fits("9.0.1", "9.0.X")
    assert not fits("9.1.0", "9.0.X")
    assert fits("8.3.rc1", "8.3.RC1")
    assert not fits("8.3.RC2", "8.3.RC1")
    assert fits("25.0.rc1.1", "25.0.X")
    assert patches("24.1.0.3", "24.1.0")
    assert patches("25.0.rc1.1", "25.0.RC1")
    assert not patches("24.1.rc3", "24.1.0")
    assert not fits("24.1.rc3.b999", "24.1.rc3")
    assert fits("2.9.0.post1+git4c901a4", "2.9.0.post1")


@given(st.text(max_size=200))
def test_any_text_is_a_release_or_none(text: str) -> None:
    release(text)
    assert fits(text, text) in (True, False)
    assert not (is_release(text) and "\n" in text.strip())
