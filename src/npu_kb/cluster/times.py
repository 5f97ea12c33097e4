"""The moment that a log line names, in any format of an Ascend stack, as UTC seconds."""

from __future__ import annotations

import re
import time
from calendar import isleap, timegm
from functools import cache

_SEARCHED = 300
"""Characters of a line in which its time stamp stands."""
_DAY = 86_400.0
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_CLOCK = r"(?P<h{n}>[01]\d|2[0-3]):(?P<mi{n}>[0-5]\d):(?P<s{n}>[0-5]\d|60)"
_FRACTION = r"(?:[.,](?P<f{n}>\d{{1,9}})(?:\.(?P<u{n}>\d{{1,3}}))?)?"
_ZONE = r"(?: ?(?P<z{n}>Z|[+-](?:0\d|1[0-3]):?[0-5]\d|[+-]14:?00)(?![\d:]))?"
_FORMS = [
    # plog, ISO, Python logging, Kubernetes, journald; 2026/11/29 of MindCluster's components
    r"(?P<y{n}>20\d\d)[-/](?P<mo{n}>0[1-9]|1[0-2])[-/](?P<d{n}>0[1-9]|[12]\d|3[01])[-T ]" + _CLOCK + _FRACTION + _ZONE,
    # dmesg -T, ctime
    r"\b(?P<mo{n}>[A-Z][a-z]{{2}}) {{1,2}}(?P<d{n}>\d{{1,2}}) " + _CLOCK + r" (?P<y{n}>20\d\d)",
    # syslog
    r"\b(?P<mo{n}>[A-Z][a-z]{{2}}) {{1,2}}(?P<d{n}>\d{{1,2}}) " + _CLOCK,
    # vLLM
    r"(?<![\d-])(?P<mo{n}>0[1-9]|1[0-2])-(?P<d{n}>0[1-9]|[12]\d|3[01]) " + _CLOCK + _FRACTION,
    # klog of Kubernetes, absl; torch's E1229
    r"\b[IWEF](?P<mo{n}>0[1-9]|1[0-2])(?P<d{n}>0[1-9]|[12]\d|3[01]) " + _CLOCK + _FRACTION,
    # epoch: journalctl -o short-unix, JSON logs
    r"(?:^|\"(?:ts|time|timestamp)\": ?)(?P<e{n}>1\d{{9}})(?:\.(?P<f{n}>\d{{1,9}}))?(?![\d-])",
]  # fmt: skip


class Moment(float):
    """UTC seconds of a time stamp, with the zone that it names (seconds east of UTC; None: none, and read as UTC)."""

    def __new__(cls, seconds: float, zone: int | None = None) -> Moment:
        moment = super().__new__(cls, seconds)
        moment.zone = zone
        return moment

    zone: int | None


def read_time(text: str, now: float | None = None) -> Moment | None:
    """The first time stamp in a line; None if there is none, or only the time since the host's start.

    A stamp without a zone is read as UTC. One without a year is taken to be of the last twelve months before `now`
    (UTC seconds; default: this moment), with a day's grace for clocks that differ; 29 February is of a leap year.
    """
    found = _regex().search(text[:_SEARCHED])
    if not found:
        return None
    part = {name: found[group] for name, group in _groups()[str(found.lastgroup)]}
    fraction = float(f"0.{part.get('f') or ''}{part.get('u') or ''}0")
    if part.get("e"):
        return Moment(int(part["e"]) + fraction, 0)
    month, day = _month(part["mo"]), int(part["d"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    clock = (int(part["h"]), int(part["mi"]), int(part["s"]))
    seconds = _seconds(part.get("y"), month, day, clock, time.time() if now is None else now)
    zone = zone_seconds(part["z"]) if part.get("z") else None
    return Moment(seconds + fraction - (zone or 0), zone)


def _seconds(year: str | None, month: int, day: int, clock: tuple[int, int, int], now: float) -> int:
    if year:
        return timegm((int(year), month, day, *clock))
    this_year = time.gmtime(now).tm_year
    years = [year for year in range(this_year, this_year - 9, -1) if (month, day) != (2, 29) or isleap(year)]
    moments = (timegm((year, month, day, *clock)) for year in years)
    return next(seconds for seconds in moments if seconds <= now + _DAY)


def zone_seconds(zone: str) -> int:
    """Seconds east of UTC of `Z`, `+0800` or `+08:00`."""
    if zone == "Z":
        return 0
    digits = zone[1:].replace(":", "")
    east = int(digits[:2]) * 3_600 + int(digits[2:]) * 60
    return -east if zone[0] == "-" else east


def written(seconds: float) -> str:
    """UTC seconds as `2026-11-29 08:00:00.123`."""
    whole, thousandths = divmod(round(seconds * 1000), 1000)
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(whole))}.{thousandths:03d}"


def zone_name(zone: int) -> str:
    """`+08:00` of so many seconds east of UTC."""
    hours, minutes = divmod(abs(zone) // 60, 60)
    return f"{'-' if zone < 0 else '+'}{hours:02d}:{minutes:02d}"


def read_stamp(text: str) -> dict[str, str]:
    """What the first stamp of a line tells: `zone` (seconds east of UTC, or "none") and `year` ("none" or "named").

    Empty where the line has no time stamp.
    """
    found = _regex().search(text[:_SEARCHED])
    if not found or found["form5"]:
        return {"zone": "0", "year": "named"} if found else {}
    zone = found["z0"]
    yearless = not (found["y0"] or found["y1"])
    return {"zone": str(zone_seconds(zone)) if zone else "none", "year": "none" if yearless else "named"}


def _month(text: str) -> int:
    return int(text) if text.isdigit() else _MONTHS.index(text) + 1 if text in _MONTHS else 0


@cache
def _regex() -> re.Pattern[str]:
    """All forms as one expression: the leftmost stamp of a line is the line's; group `form<n>` says which it is."""
    forms = "|".join(f"(?P<form{n}>{form.format(n=n)})" for n, form in enumerate(_FORMS))
    return re.compile(f'(?=[012A-Z"])(?:{forms})')  # all of them begin so: most places are passed over sooner


@cache
def _groups() -> dict[str, list[tuple[str, int]]]:
    """The groups of each form: what they hold (`y`, `mo`...) and their numbers."""
    groups: dict[str, list[tuple[str, int]]] = {}
    for name, group in _regex().groupindex.items():
        part, number = name.rstrip("0123456789"), name[-1]
        groups.setdefault(f"form{number}", []).append((part, group))
    return groups
