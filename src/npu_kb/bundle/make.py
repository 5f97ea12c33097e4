"""Make a bundle: wheels for the machines named, private knowledge, and a manifest with check sums, in one file."""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from npu_kb.bundle import boot
from npu_kb.bundle.wheels import Target, fetched_wheels, glibc_of, installed_wheels, own_wheel, this_machine
from npu_kb.errors import KnowledgeError, NpuKbError
from npu_kb.files import write_file
from npu_kb.knowledge.walk import walk
from npu_kb.knowledge.yamlfile import read_text
from npu_kb.version import __version__

_EPOCH = (2020, 1, 1, 0, 0, 0)
_MEND = "make room, or choose another --out"


def make_bundle(out: Path, targets: list[Target], overlays: list[Path], find_links: Path | None = None) -> str:
    """Write the bundle to `out` and its check sum to OUT.sha256; returns the check sum.

    Without targets it is for this machine, made from what is installed, without a network.
    """
    knowledge = _overlay_members(overlays)
    with tempfile.TemporaryDirectory(prefix="npu-kb-bundle-") as name:
        scratch = Path(name)
        wheels = _collect(scratch, targets, find_links)
        members = {f"wheels/{path.name}": path for paths in wheels.values() for path in paths}
        members |= knowledge
        members["__main__.py"] = Path(str(boot.__file__))
        manifest = {
            "schema": boot.SCHEMA,
            "version": __version__,
            "targets": {
                str(target): {"wheels": sorted(path.name for path in paths), "glibc": glibc_of(paths)}
                for target, paths in wheels.items()
            },
            "files": {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in sorted(members.items())},
        }
        archive = scratch / "bundle.pyz"
        _write_archive(archive, members, manifest)
        content = archive.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        write_file(out, content, 0o755, mend=_MEND)
        write_file(out.with_name(out.name + ".sha256"), f"{digest}  {out.name}\n", mend=_MEND)
    return digest


def _collect(scratch: Path, targets: list[Target], find_links: Path | None) -> dict[Target, list[Path]]:
    """The wheels of each target."""
    home = scratch / "own"
    home.mkdir()
    if not targets:
        return {this_machine(): installed_wheels(home)}
    own = own_wheel(home)
    found: dict[Target, list[Path]] = {}
    for target in targets:
        folder = scratch / str(target)
        folder.mkdir()
        found[target] = [own, *fetched_wheels(own, target, folder, find_links)]
    return found


def _overlay_members(overlays: list[Path]) -> dict[str, Path]:
    """The YAML files of private kb folders, as kb/1-NAME/..., in their order of precedence.

    KnowledgeError names one that cannot be read.
    """
    members: dict[str, Path] = {}
    for number, folder in enumerate(overlays, 1):
        if not folder.is_dir():
            raise NpuKbError(f"{folder}: no such folder of knowledge; mend --kb")
        for path, _, _ in walk(str(folder)).files:
            _, problems = read_text(Path(path))
            if problems:
                raise KnowledgeError(problems)
            inside = Path(path).relative_to(folder).as_posix()
            members[f"kb/{number}-{folder.resolve().name}/{inside}"] = Path(path)
    return members


def _write_archive(path: Path, members: dict[str, Path], manifest: dict[str, Any]) -> None:
    """A zip archive that Python runs; the same members give the same bytes."""
    text = json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    with path.open("wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(zipfile.ZipInfo(boot.MANIFEST, _EPOCH), text, zipfile.ZIP_DEFLATED)
            for name, member in sorted(members.items()):
                packed = zipfile.ZIP_STORED if name.endswith(".whl") else zipfile.ZIP_DEFLATED
                archive.writestr(zipfile.ZipInfo(name, _EPOCH), member.read_bytes(), packed)
