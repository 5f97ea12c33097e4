"""Draft entries from the rules of MindSpore TroubleShooter: its *_exp_lib.py files, or the same lists as JSON.

    npu-kb import troubleshooter troubleshooter/proposer/knowledge_base/*_exp_lib.py --out drafts

A rule file is read, never run: only the lists of literal maps in it are looked at ("Fault Name", "Key Log Information",
"Fault Cause", "Modification Suggestion" ...).
"""

from __future__ import annotations

import argparse
import ast
import warnings
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

from npu_kb.errors import NpuKbError, Problem
from npu_kb.importing.files import json_records, read_text
from npu_kb.importing.item import Item, remedies, said
from npu_kb.importing.patterns import regex_block
from npu_kb.importing.session import add_source, import_drafts

_NAME, _LOG = "Fault Name", "Key Log Information"
_OLD_NAME = "Fault Type"
_NOTED = ("Key Python Stack Information", "Key C++ Stack Information", "Code Path", "Error Case", "Fixed Case",
    "Fixed Code", "Fault Case", "Device Type", "Sink Mode")  # fmt: skip
_LIMIT_BYTES = 5_000_000


def main(arguments: list[str]) -> int:
    """Make drafts of the rules; exit status 1 if some were faulty."""
    return import_drafts(arguments, "troubleshooter", __doc__, _read, add_source)


def _read(options: argparse.Namespace) -> Iterator[Item | Problem]:
    for path in options.files:
        for rule in _json_rules(path) if path.suffix == ".json" else _python_rules(path):
            yield rule if isinstance(rule, Problem) else _item(path, *rule, options.source)


def _json_rules(path: Path) -> Iterator[tuple[int, Any] | Problem]:
    for record in json_records(path):
        yield record if isinstance(record, Problem) else (record.line, record.value)


def _python_rules(path: Path) -> Iterator[tuple[int, Any] | Problem]:
    """The maps in the lists that a module assigns, each with its line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(read_text(path, _LIMIT_BYTES))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        raise NpuKbError(f"{path}:{line}: is no Python that can be read: {error}; mend it") from None
    lists = [node.value for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.List)]
    if not lists:
        raise NpuKbError(f"{path}: holds no list of rules; give the *_exp_lib.py files")
    for rule in (rule for node in lists for rule in node.elts):
        try:
            yield rule.lineno, ast.literal_eval(rule)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            yield Problem(path, rule.lineno, 1, "", "is no plain map of texts; write its values out")


def _item(path: Path, line: int, rule: Any, source: str) -> Item | Problem:
    if not isinstance(rule, dict):
        return Problem(path, line, 1, "", "is no rule; it must be a map of texts")
    fields = {str(name): dedent(text).strip() for name, text in rule.items() if isinstance(text, str) and text.strip()}
    title = fields.get(_NAME) or fields.get(_OLD_NAME)
    if not title:
        return Problem(path, line, 1, _NAME, "is missing; name the fault")
    block = regex_block(fields.get(_LOG, ""))
    return Item(
        path=path,
        line=line,
        where=fields.get("ID", ""),
        title=said(title),
        error=" ".join(block.get("text", ())) if block else "",
        cause=said(fields.get("Fault Cause", "")),
        fix=remedies(said(" ".join(fields.get("Modification Suggestion", "").split()))),
        match=(block,) if block else (),
        name=f"mindspore-{fields['ID']}" if "ID" in fields else "",
        source=source or f"TroubleShooter, {path.name}, {fields.get('ID', f'line {line}')}",
        notes=tuple(f"{name}: {fields[name]}" for name in _NOTED if name in fields),
    )
