"""The wheels that a bundle carries: of this very installation, or fetched for other machines."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import platform
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from email.parser import HeaderParser
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from npu_kb import locations
from npu_kb.errors import NpuKbError

PROJECT = "npu-kb"
GLIBCS = ("2_17", "2_24", "2_26", "2_27", "2_28", "2_31")
"""Of manylinux wheels, the oldest preferred; openEuler 20.03 and Ubuntu 20.04 have 2.28 and 2.31."""
_NOT_PACKED = {"INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json"}
_EPOCH = (2020, 1, 1, 0, 0, 0)


class Target(NamedTuple):
    """A kind of machine: architecture (aarch64, x86_64) and Python (3.11)."""

    arch: str
    python: str

    def __str__(self) -> str:
        return f"{self.arch}-{self.python}"


def this_machine() -> Target:
    """The kind of machine that runs."""
    return Target(platform.machine(), f"{sys.version_info[0]}.{sys.version_info[1]}")


def installed_wheels(folder: Path) -> list[Path]:
    """Wheels of npu-kb and all that it needs, packed from what is installed here; no network is needed."""
    own = own_wheel(folder)
    return [own, *(_packed(_installed(name), folder) for name in _needed(own))]


def fetched_wheels(own: Path, target: Target, folder: Path, find_links: Path | None) -> list[Path]:
    """All that npu-kb needs on another kind of machine, fetched by pip from its index or out of a folder."""
    wanted = _requirements(own, target)
    while wanted:
        _pip_download(wanted, target, folder, find_links)
        here = {canonicalize_name(wheel.name.split("-")[0]) for wheel in folder.glob("*.whl")}
        named = (r for wheel in folder.glob("*.whl") for r in _requirements(wheel, target))
        missing = [r for r in named if canonicalize_name(r.name) not in here]
        if missing and all(r in wanted for r in missing):
            raise NpuKbError(f"no wheel of {missing[0]} for {target} could be fetched; name a folder by --find-links")
        wanted = missing
    return sorted(folder.glob("*.whl"))


def own_wheel(folder: Path) -> Path:
    """The wheel of npu-kb: packed from the installed one, or built from the checkout that runs."""
    distribution = metadata.distribution(PROJECT)
    if not _is_editable(distribution):
        return _packed(distribution, folder)
    checkout = Path(locations.builtin_kb_directory()).parent
    isolation = ["--no-build-isolation"] if importlib.util.find_spec("hatchling") else []
    _pip("wheel", "--no-deps", *isolation, "-w", str(folder), str(checkout))
    return next(folder.glob("npu_kb-*.whl"))


def _is_editable(distribution: metadata.Distribution) -> bool:
    told = json.loads(distribution.read_text("direct_url.json") or "{}")
    return bool(told.get("dir_info", {}).get("editable"))


def _needed(own: Path) -> list[str]:
    """The distributions that a wheel needs on this machine, directly or not."""
    found: set[tuple[str, str]] = set()
    queue = _requirements(own, this_machine())
    while queue:
        requirement = queue.pop()
        name = canonicalize_name(requirement.name)
        for extra in {"", *requirement.extras}:
            if (name, extra) not in found:
                found.add((name, extra))
                queue += _applying(_installed(name).requires or [], {"extra": extra})
    return sorted({name for name, _ in found})


def _installed(name: str) -> metadata.Distribution:
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        raise NpuKbError(f"{name} is needed and not installed here; install npu-kb anew with pip") from None


def _applying(requirements: Iterable[str], environment: dict[str, str]) -> list[Requirement]:
    """Those of the requirements that count in an environment."""
    needed = map(Requirement, requirements)
    return [r for r in needed if not r.marker or r.marker.evaluate(environment)]


def _packed(distribution: metadata.Distribution, folder: Path) -> Path:
    """A wheel of an installed distribution; the same files give the same bytes."""
    files = sorted(filter(_is_packed, distribution.files or []), key=str)
    home = next(file.parent for file in files if file.match("*.dist-info/METADATA"))
    tags = [tag.split("-") for tag in HeaderParser().parsestr(distribution.read_text("WHEEL") or "").get_all("Tag", [])]
    tag = "-".join(".".join(sorted({parts[i] for parts in tags})) for i in range(3))
    path = folder / f"{home.name.removesuffix('.dist-info')}-{tag}.whl"
    record: list[str] = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for file in files:
            content = Path(str(distribution.locate_file(file))).read_bytes()
            wheel.writestr(zipfile.ZipInfo(str(file), _EPOCH), content, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{file},sha256={digest},{len(content)}")
        text = "\n".join([*record, f"{home}/RECORD,,", ""])
        wheel.writestr(zipfile.ZipInfo(f"{home}/RECORD", _EPOCH), text, zipfile.ZIP_DEFLATED)
    return path


def _is_packed(file: PurePosixPath) -> bool:
    outside = ".." in file.parts or file.is_absolute()
    return not outside and file.suffix != ".pyc" and file.name not in _NOT_PACKED


def _requirements(wheel: Path, target: Target) -> list[Requirement]:
    """What a wheel needs on the target."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        headers = HeaderParser().parsestr(archive.read(name).decode("utf-8"))
    environment = {
        "python_version": target.python,
        "python_full_version": f"{target.python}.0",
        "platform_machine": target.arch,
        "platform_system": "Linux",
        "sys_platform": "linux",
        "extra": "",
    }
    return _applying(headers.get_all("Requires-Dist", []), environment)


def _pip_download(wanted: Iterable[Requirement], target: Target, folder: Path, find_links: Path | None) -> None:
    platforms = [f"manylinux_{glibc}_{target.arch}" for glibc in GLIBCS] + [f"manylinux2014_{target.arch}"]
    options = [word for platform in platforms for word in ("--platform", platform)]
    options += ["--no-index", "--find-links", str(find_links)] if find_links else []
    names = [f"{r.name}{r.specifier}" for r in wanted]
    _pip("download", "--only-binary=:all:", "--implementation", "cp", "--python-version", target.python, *options,
         "-d", str(folder), *names)  # fmt: skip


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        raise NpuKbError(f"pip {arguments[0]} failed: {(errors or ['no output'])[0]}")


def glibc_of(wheels: Iterable[Path]) -> str:
    """The oldest glibc on which all of these wheels load, such as 2.17."""
    return max(map(_glibc, wheels), key=lambda version: [int(part) for part in version.split(".")], default="2.17")


def _glibc(wheel: Path) -> str:
    told = list(_glibcs(wheel.name))
    return f"2.{min(told)}" if told else "2.17"


def _glibcs(name: str) -> Iterator[int]:
    """The minor numbers of glibc that a wheel's platform tags name: any one of them is enough."""
    yield from (int(minor) for minor in re.findall(r"manylinux_2_(\d+)_", name))
    if "manylinux2014" in name:
        yield 17
