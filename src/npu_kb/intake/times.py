"""When a line was written."""

from __future__ import annotations

import re
from functools import cache

_FORMS = [
    r"(?P<y>20\d\d)-(?P<mo>\d\d)-(?P<d>\d\d)[-T ](?P<h>\d\d):(?P<mi>\d\d):(?P<s>\d\d)"
    r"(?:[.,](?P<f>\d{1,3})(?:\.(?P<u>\d{3}))?)?",
    r"(?<!\d)(?P<mo>\d\d)-(?P<d>\d\d) (?P<h>\d\d):(?P<mi>\d\d):(?P<s>\d\d)",
    r"\[(?P<up>\d{1,9}\.\d{6})\]",
]


def seconds_of(text: str) -> tuple[int, float] | None:
    """(form, seconds) of the first time in a line; times of different forms do not compare. None without a time."""
    for form, pattern in enumerate(_FORMS):
        if found := _regex(pattern).search(text):
            parts = found.groupdict()
            if "up" in parts:
                return form, float(parts["up"])
            days = (int(parts.get("y") or 0) * 12 + int(parts["mo"])) * 31 + int(parts["d"])
            seconds = days * 86_400 + int(parts["h"]) * 3_600 + int(parts["mi"]) * 60 + int(parts["s"])
            return form, seconds + float(f"0.{parts.get('f') or 0}{parts.get('u') or ''}")
    return None


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
