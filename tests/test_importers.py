"""Importers: an outside table becomes knowledge that loads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from npu_kb.codes.catalogue import read_catalogues

Run = Callable[..., tuple[int, str, str]]
TABLE = """\
ErrorCode,Name,Description,Solution,含义
507901,ACL_ERROR_OURS,"Our own fault, with a comma",Restart the job,我们的故障
507901,ACL_ERROR_TWICE,Stands twice,,
five,BAD,No number,,
507902,EMPTY,,,
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "codes.csv"
    path.write_text(TABLE, "utf-8")
    return path


def test_a_vendor_table_becomes_a_catalogue_that_loads(run: Run, table: Path, tmp_path: Path) -> None:
    status, out, err = run("import", "code-table", str(table), "--family", "acl", "--source", "https://example.org/x")
    folder = tmp_path / "codes"
    folder.mkdir()
    (folder / "ours.yaml").write_text(out, "utf-8")
    (row,) = read_catalogues(folder)
    assert (row["key"], row["symbol"]) == ("507901", "ACL_ERROR_OURS")
    assert row["meaning"] == {"en": "Our own fault, with a comma", "zh": "我们的故障"}
    assert status == 1
    assert f"{table}:4:1: code: 'five' is no acl code" in err
    assert f"{table}:5:1: en: has no meaning" in err


def test_an_unknown_importer_is_named_with_the_ones_there_are(run: Run) -> None:
    status, _, err = run("import", "nonsense")
    assert status == 2 and "there are: code-table" in err


def test_a_table_without_codes_is_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n")
    status, _, err = run("import", "code-table", str(path), "--family", "acl")
    assert status == 2 and "name one of them `code`" in err
