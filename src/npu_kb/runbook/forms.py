"""A runbook as one file, or as a tree of linked files; the same knowledge gives the same bytes."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import Path

from npu_kb.errors import NpuKbError
from npu_kb.files import write_file
from npu_kb.knowledge.base import Document, Knowledge
from npu_kb.runbook.pages import Book, Link, Page, pages
from npu_kb.runbook.select import Selection, selected

_SECTIONS = ("checklists", "topics", "lines", "codes")


def make_book(knowledge: Knowledge, selection: Selection, lang: str) -> Book:
    """What a runbook holds: the selected entries and lines, and all codes and checklists or, of a selection, theirs."""
    entries = selected(knowledge, selection)
    lines = [signature for signature in knowledge.signatures() if selection.holds(signature)]
    codes = sorted(knowledge.code_rows(), key=lambda code: (code["family"], str(code["code"])))
    checklists = knowledge.checklists()
    if not selection.is_everything:
        ids = {entry["id"] for entry in entries}
        concerned = {key for key, owners in knowledge.entries_by_code().items() if ids & set(owners)}
        codes = [code for code in codes if (code["family"], code["key"]) in concerned]
        checklists = {id: checklist for id, checklist in checklists.items() if ids & _entries_of(checklist)}
    return Book(knowledge, entries, lines, codes, checklists, lang)


def _entries_of(checklist: Document) -> set[str]:
    """The ids of the entries that a checklist names."""
    return {id for step in checklist["steps"] for id in step["entries"]}


def one_file(book: Book) -> str:
    """The runbook as one Markdown text with anchors."""
    parts, section = [], ""
    for page in pages(book):
        folder = page.name.partition("/")[0]
        if folder in _SECTIONS and folder != section:
            parts.append(f"## {book.text(folder)}\n\n")
        section = folder if folder != "entries" else section
        level = {"index": 1, "symptoms": 2, "entries": 4}.get(folder, 3)
        anchor = "" if page.name == "index" else f'<a id="{_anchor(page.name)}"></a>\n\n'
        parts.append(f"{anchor}{'#' * level} {page.title}\n\n{_body(page, _anchor_link)}\n")
    return "".join(parts).rstrip() + "\n"


def tree(book: Book) -> Iterator[tuple[str, str]]:
    """(path, text) of every file of the runbook as linked files, for reading in a repository or with MkDocs."""
    for page in pages(book):
        yield f"{page.name}.md", f"# {page.title}\n\n{_body(page, _relative_link(page))}"


def _body(page: Page, link: Link) -> str:
    """The lines of a page without double blank ones."""
    lines: list[str] = []
    for line in page.lines(link):
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines).rstrip() + "\n"


def _anchor(name: str) -> str:
    return name.replace("/", "-")


def _anchor_link(text: str, name: str) -> str:
    return f"[{text}](#{_anchor(name)})"


def _relative_link(page: Page) -> Link:
    home = posixpath.dirname(page.name)
    return lambda text, name: f"[{text}]({posixpath.relpath(name + '.md', home or '.')})"


def write_tree(folder: Path, book: Book) -> int:
    """Write all files below `folder`, and take away files of an earlier runbook that are no longer part of it.

    Returns the number of files. A folder that holds anything but a runbook is refused.
    """
    files = dict(tree(book))
    marker = folder / _MARKER
    if folder.is_dir() and any(folder.iterdir()) and not marker.is_file():
        raise NpuKbError(f"{folder}: holds other files; name an empty folder")
    old = set(marker.read_text("utf-8").split("\n")) if marker.is_file() else set()
    write_file(marker, "\n".join(sorted({*files, *old})) + "\n")
    for path, text in files.items():
        write_file(folder / path, text, synced=False)
    for path in old - {*files, ""}:
        if _is_inside(path):
            (folder / path).unlink(missing_ok=True)
    write_file(marker, "\n".join(sorted(files)) + "\n")
    return len(files)


_MARKER = ".npu-kb-runbook"
"""Lists the files of the runbook, so that a later one knows which are its own."""


def _is_inside(path: str) -> bool:
    parts = path.split("/")
    return path.endswith(".md") and ".." not in parts and not path.startswith("/") and len(parts) <= 2
