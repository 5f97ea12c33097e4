"""Take out of a text what says whose it is: addresses, names, paths, tokens, mails, serial numbers."""

from __future__ import annotations

import re
from collections.abc import Callable

Mark = str | Callable[[re.Match[str]], str]


def _address_unless_version(found: re.Match[str]) -> str:
    return found.group(1) or "<ip>"


_RULES: list[tuple[str, Mark]] = [
    (r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", "<key>"),
    (r"\b(?:hf|ghp|gho|github_pat|glpat|sk|xox[bp])[-_][A-Za-z0-9_-]{16,}", "<token>"),
    (r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*", "<token>"),
    (
        r"(?i)\b(password|passwd|secret|token|api[_-]?key|authorization|access[_-]?key)(\s*[=:]\s*)(?:bearer\s+)?[^\s,;'\"]+",
        r"\1\2<secret>",
    ),
    (r"\b[a-z][a-z0-9+.-]*://[^\s/@:]+:[^\s/@]+@", "<user>@"),
    (r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b", "<mail>"),
    (r"\b(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}\b", "<mac>"),
    (
        r"(?i)(\b(?:version|driver|firmware|npu-smi|hdk|cann)[\s:=v\"']*(?:\d{1,3}\.){3}\d{1,3})"
        r"|(?<![\d.:])(?:\d{1,3}\.){3}\d{1,3}(?![\d.]*\d)",
        _address_unless_version,
    ),
    (r"(?<![\w:])(?:[0-9a-fA-F]{1,4}:){3,7}[0-9a-fA-F]{1,4}(?:%\w+)?(?![\w:])", "<ip6>"),
    (r"(?<![\w:])fe80::[0-9a-fA-F:]+(?:%\w+)?", "<ip6>"),
    (r"(?i)\b(serial(?: number| no)?|\bsn|bar ?code)(\s*[=:]\s*)[A-Z0-9-]{6,}", r"\1\2<serial>"),
    (r"(/(?:home|Users)/)[^/\s'\":]+", r"\1<user>"),
    (r"(/(?:data|mnt|nfs|workspace|opt|srv|share|cache|root)\d*)(?:/[^/\s'\":,)]+)+(?=/)", r"\1/<path>"),
    (r"(?i)\b(host(?:name)?|node(?:name)?|server)(\s*[=:]\s*)[\w.-]+", r"\1\2<host>"),
    (r"(?i)\b(user(?:name)?)(\s*[=:]\s*)[\w.-]+", r"\1\2<user>"),
    (r"^(?:<\d+>)?([A-Z][a-z]{2} [ \d]\d [\d:]{8}) [\w.-]+(?= [\w./@-]+(?:\[\d+\])?:)", r"\1 <host>"),
    (r"\b[\w-]+@[\w-]+(?=[:#$ ])", "<user>@<host>"),
]  # fmt: skip
_COMPILED: list[tuple[re.Pattern[str], Mark]] = []


def redact(text: str) -> str:
    """The text with placeholders such as <ip>, <user>, <token> in place of what identifies people and machines."""
    if not _COMPILED:
        _COMPILED.extend((re.compile(pattern, re.MULTILINE | re.DOTALL), mark) for pattern, mark in _RULES)
    for pattern, mark in _COMPILED:
        text = pattern.sub(mark, text)
    return text
