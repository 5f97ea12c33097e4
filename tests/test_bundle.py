"""`npu-kb bundle`: one file that is checked, installed and run without a network."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from npu_kb.bundle import boot
from npu_kb.bundle.make import make_bundle
from npu_kb.bundle.wheels import Target, glibc_of, installed_wheels, this_machine

Run = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).parents[1]
LOG = str(ROOT / "examples" / "missing-cann.log")


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of this installation for this machine, with a private entry."""
    folder = tmp_path_factory.mktemp("bundle")
    entry = ROOT / "kb" / "entries" / "cann" / "cann-environment-not-loaded.yaml"
    own = folder / "team" / "entries" / "cann" / entry.name
    own.parent.mkdir(parents=True)
    own.write_text(entry.read_text("utf-8").replace("title:", "author: the team\ntitle:", 1), "utf-8")
    make_bundle(folder / "npu-kb.pyz", [], [folder / "team"])
    return folder / "npu-kb.pyz"


def offline(*command: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with an empty environment, so that nothing of this installation helps."""
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=home)


def test_a_bundle_answers_out_of_its_file_and_installed(bundle: Path, tmp_path: Path, own_home: Path) -> None:
    run = offline(sys.executable, "-I", str(bundle), "why", LOG, home=own_home)
    assert (run.returncode, run.stderr) == (0, "") and "cann-environment-not-loaded" in run.stdout
    target = tmp_path / "a folder" / "npu-kb"
    installed = offline(sys.executable, "-I", str(bundle), "install", str(target), home=own_home)
    assert installed.stdout == f"installed; start {target}/bin/npu-kb\n"
    again = offline(str(target / "bin" / "npu-kb"), "why", LOG, home=own_home)
    assert (again.returncode, again.stderr) == (0, "") and again.stdout == run.stdout
    shown = offline(
        str(target / "bin" / "npu-kb"), "show", "cann-environment-not-loaded", "--format", "json", home=own_home
    )
    assert json.loads(shown.stdout)["author"] == "the team"


def test_without_a_writable_home_it_still_runs(bundle: Path, tmp_path: Path) -> None:
    file_as_home = tmp_path / "home"
    file_as_home.write_text("")
    environment = {"HOME": str(file_as_home), "PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-I", str(bundle), "explain", "507018"], capture_output=True, text=True, env=environment
    )
    assert run.returncode == 0 and "507018" in run.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_verify_tells_what_a_whole_bundle_holds(run: Run, bundle: Path) -> None:
    status, out, _ = run("bundle", "verify", str(bundle))
    assert status == 0 and f" for {this_machine()}: " in out and out.endswith(" files, all whole\n")
    digest, name = bundle.with_name("npu-kb.pyz.sha256").read_text().split()
    assert (digest, name) == (boot._sha256_of_file(str(bundle)), "npu-kb.pyz")


def changed(bundle: Path, target: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """A copy of the bundle with other members; the key of one that stands twice ends with `*`."""
    with zipfile.ZipFile(bundle) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if not name.endswith(".whl")}
    manifest = json.loads(members["manifest.json"])
    manifest["files"] = {name: digest for name, digest in manifest["files"].items() if name in members}
    members["manifest.json"] = json.dumps(manifest).encode()
    change(members)
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name.rstrip("*")), content)
    return target


def edit_manifest(key: str, value: object) -> Callable[[dict[str, bytes]], None]:
    def change(members: dict[str, bytes]) -> None:
        members["manifest.json"] = json.dumps({**json.loads(members["manifest.json"]), key: value}).encode()

    return change


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update({"__main__.py": b"print(1)"}), "__main__.py is damaged; copy the bundle again"),
        (lambda m: m.update({"more.py": b""}), "more.py is missing, or not part of the bundle"),
        (
            lambda m: m.update({"manifest.json*": m["manifest.json"]}),
            "manifest.json is missing, or not part of the bundle",
        ),
        (lambda m: m.pop("__main__.py"), "__main__.py is missing, or not part of the bundle"),
        (lambda m: m.pop("manifest.json"), "holds no manifest that can be used"),
        (lambda m: m.update({"manifest.json": b"[" * 9999}), "holds no manifest that can be used"),
        (edit_manifest("files", {"../../evil": "0"}), "holds no manifest that can be used"),
        (edit_manifest("files", {"/etc/evil": "0"}), "holds no manifest that can be used"),
        (edit_manifest("files", None), "holds no manifest that can be used"),
        (edit_manifest("schema", "npu-kb/bundle/9"), "holds no manifest that can be used"),
    ],
)
def test_a_changed_bundle_is_refused(
    run: Run, bundle: Path, tmp_path: Path, change: Callable[[dict[str, bytes]], None], message: str
) -> None:
    copy = changed(bundle, tmp_path / "copy.pyz", change)
    for arguments in (["verify", str(copy)], ["install", str(copy), str(tmp_path / "there")]):
        status, out, err = run("bundle", *arguments)
        assert (status, out) == (2, "") and message in err and err.count("\n") == 1
    assert not (tmp_path / "there").exists()


def test_a_flipped_bit_and_a_cut_copy_are_noticed(run: Run, bundle: Path, tmp_path: Path) -> None:
    whole = bundle.read_bytes()
    copy = tmp_path / "copy.pyz"
    copy.write_bytes(whole[:500_000] + bytes([whole[500_000] ^ 1]) + whole[500_001:])
    assert "is damaged; copy the bundle again" in run("bundle", "verify", str(copy))[2]
    copy.write_bytes(whole[: len(whole) // 2])
    assert "is no bundle, or is damaged; copy it again" in run("bundle", "verify", str(copy))[2]
    assert "cannot be read: No such file" in run("bundle", "verify", str(tmp_path / "none"))[2]


def test_a_bundle_for_other_machines_says_so(run: Run, bundle: Path, tmp_path: Path) -> None:
    copy = changed(
        bundle, tmp_path / "copy.pyz", edit_manifest("targets", {"riscv64-3.9": {"wheels": [], "glibc": "2.17"}})
    )
    status, _, err = run("bundle", "install", str(copy), str(tmp_path / "there"))
    assert status == 2 and f"this is {this_machine()} (architecture, Python), and the bundle is for: riscv64-3.9" in err
    needs = {str(this_machine()): {"wheels": [], "glibc": "9.99"}}
    copy = changed(bundle, tmp_path / "copy.pyz", edit_manifest("targets", needs))
    assert "and the bundle needs 9.99" in run("bundle", "install", str(copy), str(tmp_path / "there"))[2]


def test_install_replaces_an_earlier_one_and_nothing_else(run: Run, bundle: Path, tmp_path: Path) -> None:
    target = tmp_path / "npu-kb"
    assert run("bundle", "install", str(bundle), str(target))[0] == 0
    (target / "lib" / "old.py").write_text("")
    assert run("bundle", "install", str(bundle), str(target))[0] == 0
    assert not (target / "lib" / "old.py").exists() and [path.name for path in tmp_path.iterdir()] == ["npu-kb"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine").write_text("")
    status, _, err = run("bundle", "install", str(bundle), str(tmp_path / "other"))
    assert status == 2 and "other: holds other files; name a new folder" in err


def test_an_installation_that_cannot_be_replaced_stays(
    run: Run, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "npu-kb"
    assert run("bundle", "install", str(bundle), str(target))[0] == 0
    rename = os.rename

    def full(source: str, place: str) -> None:
        if place == str(target) and not source.endswith(".old"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        rename(source, place)

    monkeypatch.setattr(os, "rename", full)
    status, _, err = run("bundle", "install", str(bundle), str(target))
    assert status == 2 and "No space left on device; choose another folder" in err
    assert (target / "bin" / "npu-kb").is_file() and [path.name for path in tmp_path.iterdir()] == ["npu-kb"]


def test_a_pipe_is_no_bundle_and_not_waited_for(run: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    status, _, err = run("bundle", "verify", str(tmp_path / "pipe"))
    assert status == 2 and "pipe: is no file; name a bundle" in err


def test_the_same_installation_gives_the_same_bytes(bundle: Path, tmp_path: Path) -> None:
    first, second = (installed_wheels(_made(tmp_path / name))[1:] for name in ("a", "b"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_what_the_wheel_needs_counts_not_what_was_needed_when_it_was_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "requires", lambda _: [])  # as of an editable installation that is old
    names = {path.name.partition("-")[0].lower() for path in installed_wheels(tmp_path)}
    assert names >= {"npu_kb", "pydantic", "pydantic_core", "pyyaml", "markdown_it_py", "mdurl", "linkify_it_py"}


def test_a_bundle_can_be_made_from_a_folder_of_wheels(bundle: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        for name in archive.namelist():
            if name.startswith("wheels/"):
                archive.extract(name, tmp_path)
    out = tmp_path / "again.pyz"
    make_bundle(out, [this_machine()], [], tmp_path / "wheels")
    assert boot.verified(str(out)).startswith("npu-kb ")
    with zipfile.ZipFile(out) as archive:
        assert {n for n in archive.namelist() if n.endswith(".whl")} == {
            f"wheels/{p.name}" for p in (tmp_path / "wheels").iterdir()
        }


def test_wheels_that_are_not_to_be_had_are_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    status, _, err = run(
        "bundle", "make", "--arch", "aarch64", "--find-links", str(tmp_path / "wheels"), "--out", str(tmp_path / "x")
    )
    assert status == 2 and "npu-kb: pip download failed: ERROR:" in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("names", "glibc"),
    [
        (["a-1-py3-none-any.whl"], "2.17"),
        (["a-1-cp311-cp311-manylinux_2_26_aarch64.manylinux_2_28_aarch64.whl"], "2.26"),
        (["a-1-cp311-cp311-manylinux_2_28_aarch64.whl", "b-1-cp311-cp311-manylinux2014_aarch64.whl"], "2.28"),
    ],
)
def test_the_glibc_that_wheels_need(names: list[str], glibc: str) -> None:
    assert glibc_of(map(Path, names)) == glibc


def test_a_target_is_named_by_architecture_and_python() -> None:
    assert str(Target("aarch64", "3.11")) == "aarch64-3.11"


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
