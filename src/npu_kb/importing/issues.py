"""Issues as GitHub, Gitee and GitCode export them: their REST lists share a shape, `gh issue list` differs little."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from npu_kb.errors import Problem
from npu_kb.importing.files import Record, json_records
from npu_kb.importing.item import Item, remedies, said, shortened
from npu_kb.importing.markdown import Section, program_text, sections
from npu_kb.importing.session import import_drafts
from npu_kb.intake.versions import read_versions

_ISSUE = re.compile(r"https?://[^/\s]+/(?P<repo>[^/\s]+/(?P<name>[^/\s]+))(?:/-)?/issues/(?P<number>\w+)")
_EXAMPLE = re.compile(r"[(（](?:e\.?g\.?|如|例如)[^()（）\n]{0,200}[)）]")
"""What a form gives as an example of its answer."""
_REPLY_CHARS, _MOST_REPLIES = 1_500, 6
_WRAPPERS = ("items", "issues", "data", "nodes")
"""Where a search answer holds its list."""


def import_issues(arguments: list[str], importer: str, doc: str | None, site: str) -> int:
    """Run an importer of issues; `site` is the address that repositories begin with."""

    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--repo", metavar="OWNER/NAME", help="repository of issues whose export has no address")

    def read(options: argparse.Namespace) -> Iterator[Item | Problem]:
        for path in options.files:
            yield from _read(path, f"{site}/{options.repo}" if options.repo else "", site)

    return import_drafts(arguments, importer, doc, read, configure)


def _read(path: Path, repository: str, site: str) -> Iterator[Item | Problem]:
    for record in json_records(path):
        if isinstance(record, Problem):
            yield record
            continue
        for issue in _issues(record.value):
            item = _item(path, record, issue, repository, site)
            if item is not None:
                yield item


def _issues(value: Any) -> Iterable[Any]:
    """The issues of one value: itself, or the list that a search answer holds."""
    if isinstance(value, dict) and "title" not in value:
        return next((value[name] for name in _WRAPPERS if isinstance(value.get(name), list)), [value])
    return [value]


def _item(path: Path, record: Record, issue: Any, repository: str, site: str) -> Item | Problem | None:
    """The item of an issue; None for a pull request."""
    place = path, record.line, 1, f"[{record.number}]"
    if not isinstance(issue, dict):
        return Problem(*place, "is no issue but a plain value; export a list of issues")
    if issue.get("pull_request") or "/pull" in _text(issue.get("html_url") or issue.get("url")):
        return None
    title, address = _text(issue.get("title")).strip(), _address(issue, repository, site)
    if not title:
        return Problem(*place, "has no title; export it with the field `title`")
    if not address:
        return Problem(*place, "has no address; export it with `html_url` or `url`, or give --repo OWNER/NAME")
    body = issue.get("body")
    if body is not None and not isinstance(body, str):
        return Problem(*place, f"has a body that is no text but a {type(body).__name__}; export it again")
    return _told(path, record, title, address, shortened(body or ""), issue)


def _told(path: Path, record: Record, title: str, url: str, body: str, issue: dict[str, Any]) -> Item:
    found = _ISSUE.match(url)
    parts = sections(body)
    return Item(
        path=path,
        line=record.line,
        where=f"[{record.number}]",
        title=said(title),
        error=program_text([*parts, Section(title, 0, 1, {"": [title]})]),
        symptom=said(_prose(parts, ("", "symptom"))),
        cause=said(_prose(parts, ("cause",))),
        fix=remedies(said(_prose(parts, ("fix",)))),
        url=url,
        name=f"{found['name']}-{found['number']}" if found else "",
        author=_login(issue),
        notes=tuple(_notes(body, issue)),
    )


def _prose(parts: list[Section], names: tuple[str, ...]) -> str:
    return "\n".join(text for part in parts for name in names if (text := part.text(name).strip()))


def _notes(body: str, issue: dict[str, Any]) -> Iterator[str]:
    """The versions that the issue tells, and its replies."""
    if versions := read_versions(_EXAMPLE.sub("", body).split("\n")):
        yield "Seen with " + ", ".join(f"{name} {version}" for name, version in versions.items())
    comments = issue.get("comments")
    replies = [_text(reply.get("body")) for reply in _dicts(comments)]
    for reply in [reply for reply in replies if reply.strip()][-_MOST_REPLIES:]:
        yield f"\nReply: {reply[:_REPLY_CHARS].strip()}"


def _dicts(value: object) -> list[dict[str, Any]]:
    """The maps of a list; the REST API gives a number here."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _address(issue: dict[str, Any], repository: str, site: str) -> str:
    """The issue's page: as the export has it, or from its repository and number."""
    for name in ("html_url", "url"):
        if _ISSUE.fullmatch(address := _text(issue.get(name)).strip()):
            return address
    number = issue.get("number")
    if isinstance(number, bool) or not re.fullmatch(r"\w{1,20}", str(number)) or number is None:
        return ""
    told = issue.get("repository")
    name = _text(told.get("full_name")) if isinstance(told, dict) else ""
    base = f"{site}/{name}" if re.fullmatch(r"[\w.-]+/[\w.-]+", name) else repository
    return f"{base}/issues/{number}" if base else ""


def _login(issue: dict[str, Any]) -> str:
    author = issue.get("user") or issue.get("author")
    return _text(author.get("login")) if isinstance(author, dict) else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
