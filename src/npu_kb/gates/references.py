"""Gates on where an entry is from: an address that others can read, and a date that is not long past."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from ipaddress import ip_address
from urllib.parse import urlsplit

from npu_kb.errors import Problem
from npu_kb.gates.context import Context
from npu_kb.gates.gate import gate
from npu_kb.knowledge.entryfile import LoadedEntry

_FORGES = ("github.com", "gitee.com", "gitcode.com")
"""Hosts whose addresses start with an owner and a repository."""
_LIST_OF = re.compile(r"/(?:issues|pulls?|merge_requests|discussions)/?$")
_MADE_UP = ("example.com", "example.org", "example.net", "localhost")
_DAYS_A_MONTH = 30.44


@gate()
def references_present(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """A confirmed entry has an address that others can read; any other at least says where it is from."""
    references = item.entry.references
    if item.entry.status == "confirmed" and not any(r.url for r in references):
        yield item.file.problem(("references",), "a confirmed entry needs a url; add one, or set status: reported")
    elif not references:
        yield item.file.problem(("references",), "says not where it is from; add a url or a source")


@gate()
def addresses_are_public(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """An address is whole, public and named once."""
    seen: set[str] = set()
    for i, reference in enumerate(item.entry.references):
        url = reference.url
        if url and (fault := "stands twice; remove one" if url in seen else fault_of_address(url)):
            yield item.file.problem(("references", i, "url"), fault)
        seen.add(url or "")


def fault_of_address(url: str) -> str:
    """What is wrong with an address as far as can be told without asking for it; empty if nothing is."""
    try:
        parts = urlsplit(url)
        host, path = (parts.hostname or "").removeprefix("www."), parts.path
    except ValueError:
        return "is no address; write it as a browser shows it"
    if parts.username or parts.password:
        return "holds a user name; remove it"
    if host in _MADE_UP or "." not in host or _is_private(host):
        return "is not a public address; name the source in words under `source`"
    if url[-1] in ".,;:)>'\"。，；：）》" or "<" in url:
        return "does not end where the address ends, or holds a placeholder; write it as a browser shows it"
    if host in _FORGES and len(path.strip("/").split("/")) < 2:
        return f"names no repository of {host}; write the whole address"
    if host in _FORGES and _LIST_OF.search(path):
        return "is a whole list; name the issue or pull request that was read"
    return ""


def _is_private(host: str) -> bool:
    try:
        return not ip_address(host).is_global
    except ValueError:
        return False


@gate()
def dates_are_past(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """Nothing was read or verified on a day to come."""
    latest = context.today + datetime.timedelta(days=1)
    for i, reference in enumerate(item.entry.references):
        if reference.read > latest:
            yield item.file.problem(("references", i, "read"), f"{reference.read} is to come; write the day of reading")
    verified = item.entry.verified
    if verified and verified.date > latest:
        yield item.file.problem(("verified", "date"), f"{verified.date} is to come; write the day of the check")


@gate("warning")
def is_fresh(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """Somebody has read the sources or verified the fix within the last months."""
    days = [reference.read for reference in item.entry.references]
    days += [item.entry.verified.date] if item.entry.verified else []
    if not days:
        return
    months = int((context.today - max(days)).days / _DAYS_A_MONTH)
    if months > context.stale_after:
        where = "verified" if item.entry.verified else "references"
        yield item.file.problem((where,), f"was last looked at {months} months ago; read it again and renew the date")
