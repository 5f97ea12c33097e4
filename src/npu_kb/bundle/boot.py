"""The program inside a bundle: check it, install it, or run npu-kb out of it. Needs nothing but Python.

    python3 npu-kb-bundle.pyz verify
    python3 npu-kb-bundle.pyz install DIR
    python3 npu-kb-bundle.pyz why LOG

A bundle is a zip archive: manifest.json names its wheels for each architecture and Python, and a check sum of every
file. This module is its __main__.py, so it is written for Python 3.7 too and imports nothing of npu-kb.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import sys
import tempfile
import zipfile
from typing import IO, Any

MANIFEST = "manifest.json"
SCHEMA = "npu-kb/bundle/1"
_CHUNK = 1 << 20
_LARGEST = 2_000_000_000
"""Bytes that a bundle may unpack to."""

_LAUNCHER = """#!/bin/sh
\'\'\'exec' "{python}" "$0" "$@"
\' \'\'\'
import os, sys
root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path[0] = os.path.join(root, "lib")
{overlays}from npu_kb.cli import run
sys.exit(run())
"""
_OVERLAYS = """kb = [os.path.join(root, "kb", name) for name in sorted(os.listdir(os.path.join(root, "kb")))]
os.environ["NPU_KB_PATH"] = os.pathsep.join([*kb, *filter(None, [os.environ.get("NPU_KB_PATH")])])
"""


class BundleError(Exception):
    """A bundle that cannot be used; the text says why, in one line."""


def main(arguments: list[str]) -> int:
    """Run one command of the bundle that this module stands in; its exit status."""
    bundle = os.path.dirname(os.path.abspath(__file__))
    try:
        if arguments[:1] == ["verify"]:
            print(verified(bundle))
            return 0
        if arguments[:1] == ["install"]:
            print(install(bundle, _only(arguments[1:])))
            return 0
        sys.path.insert(0, _unpacked(bundle))
    except BundleError as error:
        print("npu-kb: %s" % error, file=sys.stderr)
        return 2
    from npu_kb.cli import main as npu_kb

    return npu_kb(arguments)


def _only(arguments: list[str]) -> str:
    if len(arguments) != 1:
        raise BundleError("name the folder to install into: install DIR")
    return arguments[0]


def verified(bundle: str) -> str:
    """A line that says what the bundle holds; BundleError if a file is damaged, missing or too many."""
    with _opened(bundle) as archive:
        manifest = _manifest(archive)
        _check(archive, manifest)
    targets = ", ".join(sorted(manifest["targets"]))
    return "npu-kb %s for %s: %d files, all whole" % (manifest["version"], targets, len(manifest["files"]))


def install(bundle: str, directory: str) -> str:
    """Unpack the bundle for this Python into `directory` in one step; a line that says how to start it.

    An earlier installation there is replaced; any other folder that is not empty is refused.
    """
    directory = os.path.abspath(directory)
    if os.path.isdir(directory) and os.listdir(directory) and not os.path.isfile(os.path.join(directory, MANIFEST)):
        raise BundleError("%s: holds other files; name a new folder" % directory)
    try:
        os.makedirs(os.path.dirname(directory), exist_ok=True)
        scratch = tempfile.mkdtemp(prefix=".npu-kb-", dir=os.path.dirname(directory))
        try:
            _fill(bundle, scratch)
            os.chmod(scratch, 0o755)
            _swap(scratch, directory)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
            shutil.rmtree(scratch + ".old", ignore_errors=True)
    except OSError as error:
        raise BundleError("%s: cannot be written: %s; choose another folder" % (directory, error.strerror))
    return "installed; start %s" % os.path.join(directory, "bin", "npu-kb")


def _swap(scratch: str, directory: str) -> None:
    """Put the new folder in the place of the old one, which stays where that fails."""
    old = scratch + ".old"
    if os.path.isdir(directory):
        os.rename(directory, old)
    try:
        os.rename(scratch, directory)
    except BaseException:
        if os.path.lexists(old):
            os.rename(old, directory)
        raise


def _fill(bundle: str, directory: str) -> None:
    """lib/ with the unpacked wheels, kb/ with private knowledge, bin/npu-kb, and the manifest."""
    with _opened(bundle) as archive:
        manifest = _manifest(archive)
        _check(archive, manifest)
        for name in _wheels(manifest):
            with archive.open("wheels/" + name) as stream, zipfile.ZipFile(stream) as wheel:
                _extract(wheel, os.path.join(directory, "lib"))
        overlays = [name for name in manifest["files"] if name.startswith("kb/")]
        for name in overlays:
            _write(archive, name, os.path.join(directory, name))
        _write(archive, MANIFEST, os.path.join(directory, MANIFEST))
    import compileall

    compileall.compile_dir(os.path.join(directory, "lib"), quiet=2)
    launcher = os.path.join(directory, "bin", "npu-kb")
    os.makedirs(os.path.dirname(launcher))
    with open(launcher, "w", encoding="utf-8") as file:
        file.write(_LAUNCHER.format(python=sys.executable, overlays=_OVERLAYS if overlays else ""))
    os.chmod(launcher, 0o755)


def _unpacked(bundle: str) -> str:
    """The folder of the unpacked libraries: kept in the user's cache, or, without one, until the program ends."""
    identity = _sha256_of_file(bundle)[:16]
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    home = os.path.join(cache, "npu-kb", "bundle-%s-%s" % (identity, sys.implementation.cache_tag))
    if not _is_own(home):
        try:
            install(bundle, home)
        except BundleError:
            import atexit

            home = tempfile.mkdtemp(prefix="npu-kb-")
            atexit.register(shutil.rmtree, home, ignore_errors=True)
            _fill(bundle, home)
    if os.path.isdir(os.path.join(home, "kb")):
        kb = [os.path.join(home, "kb", name) for name in sorted(os.listdir(os.path.join(home, "kb")))]
        os.environ["NPU_KB_PATH"] = os.pathsep.join(kb + list(filter(None, [os.environ.get("NPU_KB_PATH")])))
    return os.path.join(home, "lib")


def _is_own(folder: str) -> bool:
    """Whether this is a finished installation that nobody else could have changed."""
    if not os.path.isfile(os.path.join(folder, MANIFEST)) or os.path.islink(folder):
        return False
    status = os.stat(folder)
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def _opened(bundle: str) -> zipfile.ZipFile:
    if os.path.exists(bundle) and not os.path.isfile(bundle):
        raise BundleError("%s: is no file; name a bundle" % bundle)
    try:
        return zipfile.ZipFile(bundle)
    except OSError as error:
        raise BundleError("%s: cannot be read: %s" % (bundle, error.strerror))
    except zipfile.BadZipFile:
        raise BundleError("%s: is no bundle, or is damaged; copy it again" % bundle)


def _manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    try:
        manifest = json.loads(archive.read(MANIFEST).decode("utf-8"))
        if manifest["schema"] != SCHEMA or not all(_is_safe(name) for name in manifest["files"]):
            raise ValueError
        manifest["version"], manifest["targets"]
    except (KeyError, ValueError, TypeError, RecursionError, zipfile.BadZipFile, EOFError):
        raise BundleError("%s: holds no manifest that can be used; copy the bundle again" % archive.filename)
    return dict(manifest)


def _check(archive: zipfile.ZipFile, manifest: dict[str, Any]) -> None:
    """BundleError unless the archive holds exactly what the manifest names, unchanged."""
    names = archive.namelist()
    if sum(item.file_size for item in archive.infolist()) > _LARGEST:
        raise BundleError("%s: is too large for a bundle" % archive.filename)
    if sorted(names) != sorted([*manifest["files"], MANIFEST]):
        strange = sorted(set(names) ^ {*manifest["files"], MANIFEST}) or sorted(n for n in names if names.count(n) > 1)
        raise BundleError(
            "%s: %s is missing, or not part of the bundle; copy it again" % (archive.filename, strange[0])
        )
    for name, expected in manifest["files"].items():
        try:
            with archive.open(name) as stream:
                found = _sha256(stream)
        except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError):
            found = ""
        if found != expected:
            raise BundleError("%s: %s is damaged; copy the bundle again" % (archive.filename, name))


def _wheels(manifest: dict[str, Any]) -> list[str]:
    """The wheels for this machine and Python."""
    target = "%s-%d.%d" % (platform.machine(), sys.version_info[0], sys.version_info[1])
    if target not in manifest["targets"]:
        held = ", ".join(sorted(manifest["targets"]))
        raise BundleError(
            "this is %s (architecture, Python), and the bundle is for: %s; make one for it" % (target, held)
        )
    needed, found = manifest["targets"][target]["glibc"], platform.libc_ver()[1]
    if found and _numbers(found) < _numbers(needed):
        raise BundleError("this machine has glibc %s, and the bundle needs %s" % (found, needed))
    return list(manifest["targets"][target]["wheels"])


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


def _extract(wheel: zipfile.ZipFile, directory: str) -> None:
    """The libraries of a wheel; scripts and headers are not needed."""
    for item in wheel.infolist():
        parts = item.filename.split("/")
        if parts[0].endswith(".data"):
            if parts[1:2] not in (["purelib"], ["platlib"]):
                continue
            parts = parts[2:]
        if not item.is_dir() and _is_safe("/".join(parts)):
            _write(wheel, item.filename, os.path.join(directory, *parts))


def _is_safe(name: str) -> bool:
    """Whether a member's name stays inside the folder into which it is unpacked."""
    parts = name.split("/")
    return bool(name) and not name.startswith("/") and "\\" not in name and ".." not in parts and "" not in parts


def _write(archive: zipfile.ZipFile, name: str, path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with archive.open(name) as source, open(path, "wb") as file:
        shutil.copyfileobj(source, file, _CHUNK)


def _sha256_of_file(path: str) -> str:
    with open(path, "rb") as file:
        return _sha256(file)


def _sha256(stream: IO[bytes]) -> str:
    digest = hashlib.sha256()
    for chunk in iter(lambda: stream.read(_CHUNK), b""):
        digest.update(chunk)
    return digest.hexdigest()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
