"""Whether the addresses of references still answer; the one check that asks the network, and only when told to."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from urllib.error import HTTPError

from npu_kb.errors import Problem
from npu_kb.knowledge.entryfile import LoadedEntry
from npu_kb.version import __version__

RULE = "links_answer"
_SECONDS = 10
_AT_ONCE = 8
_GONE = (404, 410)


def dead_links(items: list[LoadedEntry]) -> list[Problem]:
    """A warning for each address of these entries that is gone or does not answer."""
    places = [(item, i, url) for item in items for i, url in _addresses(item)]
    urls = list(dict.fromkeys(url for _, _, url in places))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        faults = dict(zip(urls, pool.map(_fault, urls), strict=True))
    return [
        item.file.problem(("references", i, "url"), faults[url])._replace(severity="warning", rule=RULE)
        for item, i, url in places
        if faults[url]
    ]


def _addresses(item: LoadedEntry) -> Iterator[tuple[int, str]]:
    return ((i, reference.url) for i, reference in enumerate(item.entry.references) if reference.url)


def _fault(url: str) -> str:
    """What is wrong with the answer to a HEAD request; a server that refuses HEAD or robots counts as alive."""
    request = urllib.request.Request(url, method="HEAD", headers={"User-Agent": f"npu-kb/{__version__}"})
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS):
            return ""
    except HTTPError as error:
        return f"is gone (HTTP {error.code}); find where it moved" if error.code in _GONE else ""
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or type(error).__name__
        return f"does not answer ({reason}); look whether it moved"
