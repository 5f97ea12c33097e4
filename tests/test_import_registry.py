"""`npu-kb import`: the list of importers, and those that other packages bring."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from npu_kb import locations

Run = Callable[..., tuple[int, str, str]]
GOOD = '"""Reads our wiki.\n\nAt length."""\ndef main(arguments):\n    print("wiki", arguments)\n    return 0\n'


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Install a package with an importer of this name and source: plug_in("our-wiki", source)."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(name: str, source: str) -> None:
        module = f"plug_{name.replace('-', '_')}"
        (tmp_path / f"{module}.py").write_text(source, "utf-8")
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[npu_kb.importers]\n{name} = {module}\n")

    return install


@pytest.mark.parametrize("arguments", [(), ("--list",)])
def test_the_importers_are_listed_with_what_they_read(run: Run, arguments: tuple[str, ...]) -> None:
    status, out, err = run("import", *arguments)
    assert (status, err) == (0, "")
    listed = dict(line.split(None, 1) for line in out.splitlines())
    assert listed["markdown-faq"].startswith("Draft entries from FAQ pages in Markdown")
    assert [*listed] == sorted(
        path.stem.replace("_", "-") for path in Path(locations.importers_directory()).glob("[!_]*.py")
    )


def test_an_importer_of_another_package_is_listed_and_run(run: Run, plug_in: Callable[[str, str], None]) -> None:
    plug_in("our-wiki", GOOD)
    assert "our-wiki        Reads our wiki.\n" in run("import")[1]
    assert run("import", "our-wiki", "--since", "2026") == (0, "wiki ['--since', '2026']\n", "")


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        (
            "import nothing_of_the_kind\n",
            "cannot be loaded: ModuleNotFoundError: No module named 'nothing_of_the_kind'",
        ),
        ("raise SystemExit(3)\n", "cannot be loaded: SystemExit: 3"),
        ("x = 1\n", "has no function `main(arguments)`"),
    ],
)
def test_a_broken_one_is_named_and_the_others_are_there(
    run: Run, plug_in: Callable[[str, str], None], source: str, fault: str
) -> None:
    plug_in("broken", source)
    plug_in("our-wiki", GOOD)
    status, out, err = run("import")
    assert status == 0 and "our-wiki" in out and "github-issues" in out
    assert err.startswith(f"npu-kb: importer 'broken' of plug_broken {fault}") and len(err.splitlines()) == 1
    status, _, err = run("import", "broken")
    assert status == 2 and fault in err


def test_one_that_fails_is_named_without_a_traceback(run: Run, plug_in: Callable[[str, str], None]) -> None:
    plug_in("failing", "def main(arguments):\n    return arguments[99]\n")
    status, _, err = run("import", "failing")
    assert status == 2 and err == (
        "npu-kb: importer 'failing' of plug_failing failed: IndexError: list index out of range; tell whoever wrote it\n"
    )


def test_one_with_a_name_that_is_taken_does_not_replace_it(run: Run, plug_in: Callable[[str, str], None]) -> None:
    plug_in("code-table", GOOD)
    _, out, err = run("import")
    assert "Reads our wiki" not in out and "has the name of another one; rename it" in err
    assert "--family" in run("import", "code-table", "--help")[1]
