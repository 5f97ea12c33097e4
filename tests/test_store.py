"""The store: what is acknowledged stays, whoever else writes, whatever is killed; what cannot be used is said plainly."""

from __future__ import annotations

import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_kb import locations
from npu_kb.diagnosis.model import Diagnosis, Match, Reports
from npu_kb.errors import NpuKbError
from npu_kb.findings import schema
from npu_kb.findings.filesystem import is_local
from npu_kb.findings.journal import Journal
from npu_kb.findings.store import Store, StoreError
from npu_kb.intake.logtext import LogText

Run = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).parents[1]
PASTE = "ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NPU_KB_STORE", str(tmp_path / "state" / "store.db"))
    return tmp_path / "state" / "store.db"


def add() -> int:
    """Keep an answer in the store; its number."""
    match = Match({"id": "some-entry"}, "certain", 1.0, [], {}, 1, 1, {})
    return keep([match], [{"family": "acl", "code": "507018"}], {"cann": "8.0.0"}, "a text")


def keep(matches: list[Match], codes: list[dict[str, str]], versions: dict[str, str], text: str) -> int:
    number = Journal().keep(Diagnosis(matches, codes, [], versions, [], LogText.of(text)), ["train.log"])
    assert number is not None
    return number


def test_a_diagnosis_is_given_back_as_it_was_kept(path: Path) -> None:
    number = add()
    with Store.open(path) as store:
        row = store.last_diagnosis()
        assert row == store.diagnosis(number) == store.diagnoses()[0]
    assert row is not None
    time = row.pop("time")
    assert len(time) == len("2026-11-29T08:00:00Z") and time.endswith("Z")
    assert row == {
        "id": number,
        "sources": ["train.log"],
        "matches": [{"id": "some-entry", "verdict": "certain"}],
        "codes": ["acl:507018"],
        "versions": {"cann": "8.0.0"},
        "paste": None,
        "checksum": "5-78bfd13b",
    }


def test_diagnoses_come_last_first_and_can_be_limited_by_number_and_time(path: Path) -> None:
    with Store.open(path) as store:
        numbers = [add() for _ in range(3)]
        assert [row["id"] for row in store.diagnoses()] == numbers[::-1]
        assert [row["id"] for row in store.diagnoses(limit=2)] == numbers[:0:-1]
        assert store.diagnoses(since="9999") == [] and len(store.diagnoses(since="2020-01-01")) == 3
        assert store.diagnosis(99) is None


def test_reports_count_the_last_word_on_each_diagnosis(path: Path) -> None:
    with Store.open(path) as store:
        store.add_feedback(1, "a", "wrong")
        store.add_feedback(1, "a", "right")
        store.add_feedback(2, "a", "wrong", "it was the cable")
        last = store.add_feedback(None, "a", "wrong")
        store.add_feedback(None, "a", "wrong")
        assert store.reports() == {"a": Reports(right=1, wrong=3)}
        assert store.feedback()[2] | {"time": ""} == {
            "id": 3, "time": "", "diagnosis": 2, "entry": "a", "verdict": "wrong", "note": "it was the cable",
        }  # fmt: skip
        assert store.withdraw_feedback(last) and not store.withdraw_feedback(last)
        assert store.reports() == {"a": Reports(right=1, wrong=2)}


@given(document=st.dictionaries(st.text(), st.text() | st.integers() | st.none() | st.lists(st.text())))
def test_a_finding_is_kept_whatever_it_holds(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, object]
) -> None:
    with Store.open(tmp_path_factory.mktemp("any") / "own" / "store.db") as store:
        number = store.save_finding(document)
        found = store.finding(number)
        assert found is not None and found["document"] == document


def test_a_finding_is_replaced_listed_and_dropped(path: Path) -> None:
    with Store.open(path) as store:
        first = store.save_finding({"step": 1})
        second = store.save_finding({"step": 1})
        assert store.save_finding({"step": 2}, first) == first
        assert {row["id"]: row["document"]["step"] for row in store.findings()} == {first: 2, second: 1}
        assert store.drop_finding(first) and not store.drop_finding(first)
        assert store.finding(first) is None and len(store.findings()) == 1


def test_only_the_latest_diagnoses_are_kept_and_the_texts_of_fewer(path: Path) -> None:
    with Store.open(path) as store:
        keep([], [], {}, "the first text")
        kept = keep([], [], {}, "the second text")
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE sqlite_sequence SET seq = ?", [kept + schema.KEPT_PASTES + 97])
        add()
        row = store.diagnosis(kept)
        assert row is not None and row["paste"] is None
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE sqlite_sequence SET seq = ?", [schema.KEPT_DIAGNOSES + 99])
        assert keep([], [], {}, "the last text") == schema.KEPT_DIAGNOSES + 100
        assert [row["paste"] for row in store.diagnoses()] == ["the last text", None]


@pytest.mark.parametrize("variables, expected", [
    ({"NPU_KB_STORE": "/x/y.db", "XDG_STATE_HOME": "/state"}, "/x/y.db"),
    ({"XDG_STATE_HOME": "/state"}, "/state/npu-kb/store.db"),
    ({"HOME": "/h"}, "/h/.local/state/npu-kb/store.db"),
    ({"NPU_KB_STORE": "off"}, None),
])  # fmt: skip
def test_where_the_store_is(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str | None) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert locations.store_file() == expected


def test_the_store_is_readable_by_its_user_alone(own_home: Path) -> None:
    with Store.open() as store:
        add()
        files = list(store.path.parent.iterdir())
        assert len(files) >= 2 and all(file.stat().st_mode & 0o777 == 0o600 for file in files)
        assert store.path.parent.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_can_write_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(StoreError, match=r"only you, can write; set NPU_KB_STORE"):
        Store.open(tmp_path / "store.db")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_place_of_the_file_is_refused(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StoreError, match="no regular file"):
        Store.open(path)


def test_the_database_of_another_program_is_left_alone(path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="no store of npu-kb"):
        Store.open(path)
    assert path.read_bytes() == before


def test_a_store_by_a_newer_program_is_refused_in_one_line(path: Path) -> None:
    Store.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {schema.version() + 1}")
    with pytest.raises(StoreError, match=r"store\.db: was written by a newer npu-kb; update this one") as failure:
        Store.open(path)
    assert "\n" not in str(failure.value)


def test_an_older_store_is_brought_up_to_date_with_its_rows(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = add()
    monkeypatch.setattr(schema, "MIGRATIONS", [
        *schema.MIGRATIONS,
        lambda connection: connection.execute("ALTER TABLE diagnoses ADD COLUMN host TEXT NOT NULL DEFAULT 'here'"),
    ])  # fmt: skip
    with Store.open(path) as store:
        row = store.diagnosis(number)
        assert row is not None and (row["codes"], row["host"]) == (["acl:507018"], "here")
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (schema.version(),)


def test_a_migration_that_fails_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(connection: sqlite3.Connection) -> None:
        connection.execute("DROP TABLE diagnoses")
        connection.execute("SELECT nonsense")

    add()
    with monkeypatch.context() as patch, pytest.raises(StoreError):
        patch.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, fails])
        Store.open(path)
    with Store.open(path) as store:
        assert len(store.diagnoses()) == 1


@pytest.mark.parametrize("damage", [b"no database at all " * 500, None])
def test_a_damaged_file_is_named_with_the_mend(path: Path, damage: bytes | None) -> None:
    add()
    whole = path.read_bytes()
    path.write_bytes(damage or whole[:100] + b"\xff" * (len(whole) - 100))
    with pytest.raises(StoreError, match=r"store\.db: the store is damaged; move it"), Store.open(path) as store:
        store.diagnoses()


def test_a_row_that_cannot_be_read_is_damage_too(path: Path) -> None:
    with Store.open(path) as store:
        add()
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE diagnoses SET matches = '[{'")
        with pytest.raises(StoreError, match="damaged"):
            store.diagnoses()


def test_a_full_disk_is_said_and_loses_nothing(path: Path) -> None:
    add()
    code = (
        "import sys; from npu_kb.findings.store import Store, StoreError\n"
        "with Store.open(sys.argv[1]) as store:\n"
        "    try:\n"
        "        for _ in range(100): store.save_finding({'text': 'x' * 10000})\n"
        "    except StoreError as error: print(error)"
    )
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))  # noqa: E731
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, preexec_fn=limit)
    assert done.stdout.strip() == f"{path}: the store cannot be written: no room on the disk; free some", done.stderr
    with Store.open(path) as store:
        add()
        row = store.diagnosis(1)
        assert row is not None and row["sources"] == ["train.log"]


def test_programs_that_make_the_store_at_once_all_keep_their_rows(path: Path, run: Run, shared_cache: Path) -> None:
    run("show", "cann-environment-not-loaded")
    environment = {**os.environ, "NPU_KB_STORE": str(path), "NPU_KB_CACHE": str(shared_cache)}
    code = "from npu_kb.cli import main; raise SystemExit(main(['why']))"
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment,
        )
        for _ in range(6)
    ]  # fmt: skip
    ends = [(program.communicate(PASTE)[1], program.returncode) for program in programs]
    assert ends == [("", 0)] * len(programs)
    with Store.open(path) as store:
        assert len(store.diagnoses()) == len(programs)
    assert [file.name for file in path.parent.iterdir() if file.suffix == ".part"] == []


def test_killed_programs_lose_nothing_that_was_acknowledged() -> None:
    script = ROOT / "benchmarks" / "store_under_fire.py"
    done = subprocess.run(
        [sys.executable, str(script), "--seconds", "3"], capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "integrity check: ok" in done.stdout


@pytest.mark.parametrize("folder, expected", [
    ("/", True), ("/home/me", False), ("/home/me2", False), ("/data/a b/c", True), ("/scratch", False),
])  # fmt: skip
def test_a_shared_file_system_is_told_from_a_local_disk(tmp_path: Path, folder: str, expected: bool) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "/dev/sda1 / ext4 rw 0 0\nserver:/export /home nfs4 rw 0 0\n/dev/sdb1 /data/a\\040b xfs rw 0 0\n"
        "/dev/sdc1 /scratch ext4 rw 0 0\n10.0.0.1@tcp:/fs /scratch lustre rw 0 0\n"
    )
    assert is_local(Path(folder), mounts) is expected
    assert not is_local(Path(folder), tmp_path / "no such file")


def test_off_keeps_nothing_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPU_KB_STORE", "off")
    with pytest.raises(NpuKbError, match="NPU_KB_STORE is off"):
        Store.open()
