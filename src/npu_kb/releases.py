"""Releases as the tables of kb/matrix write them: `8.3.RC1`, a series `25.5.X`, a build `24.1.rc3.b999`.

A build number counts as a patch of its release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from packaging.version import Version

from npu_kb.diagnosis.applies import parse_version

_BUILD = re.compile(r"\.b(\d+)$", re.IGNORECASE)
_SERIES = re.compile(r"(\d+(?:\.\d+)*)\.[Xx]")


@lru_cache(4096)
def release(text: str) -> Version | None:
    """The release of a version: without what stands behind `+`; None: no version."""
    return parse_version(_BUILD.sub(r".\1", text.split("+")[0]))


def series_of(text: str) -> tuple[int, ...] | None:
    """(25, 5) of `25.5.X`; None where this is no series."""
    found = _SERIES.fullmatch(text)
    return tuple(map(int, found[1].split("."))) if found else None


def is_release(text: str) -> bool:
    """Whether a table may write this where it names a release."""
    return release(text) is not None or series_of(text) is not None


@lru_cache(65536)
def fits(version: str, pattern: str) -> bool:
    """Whether a version is the release, or one of the series."""
    found = release(version)
    if found is None:
        return False
    if series := series_of(pattern):
        return found.release[: len(series)] == series
    return found == release(pattern)


@lru_cache(65536)
def patches(version: str, pattern: str) -> bool:
    """Whether a driver is the release or a patch of it: 24.1.0.3 of 24.1.0, 25.0.rc1.1 of 25.0.RC1."""
    found, of = release(version), release(pattern)
    if found is None or of is None:
        return fits(version, pattern)
    return found.release[: len(of.release)] == of.release and found.pre == of.pre


def fits_any(version: str, wanted: Iterable[str]) -> bool:
    """Whether a version fits one of the patterns."""
    return any(fits(version, pattern) for pattern in wanted)


def lowest(versions: Iterable[str]) -> Version | None:
    """The lowest of releases and series."""
    return min(filter(None, map(bound, versions)), default=None)


def highest(versions: Iterable[str]) -> Version | None:
    """The highest of releases and series; of a series its first release counts."""
    return max(filter(None, map(bound, versions)), default=None)


def bound(pattern: str) -> Version | None:
    """A release, or the first one of a series, as what compares: the release candidates of 25.0 belong to 25.0.X."""
    series = series_of(pattern)
    return Version(f"{'.'.join(map(str, series))}.dev0") if series else release(pattern)
