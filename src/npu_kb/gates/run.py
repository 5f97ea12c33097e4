"""`npu-kb check`: all gates on all entries, all problems in one table."""

from __future__ import annotations

import json
from pathlib import Path

from npu_kb import locations
from npu_kb.errors import NpuKbError, Problem
from npu_kb.gates import patterns, prose, samples  # noqa: F401  importing registers their gates
from npu_kb.gates.gate import GATES, Context
from npu_kb.gates.goodlogs import silence_problems
from npu_kb.knowledge.base import Knowledge
from npu_kb.knowledge.commands import read_commands
from npu_kb.knowledge.compile import compile_loaded
from npu_kb.knowledge.load import LoadedEntry, LoadedKnowledge, load_entries, load_entry


def check_command(paths: list[Path], kb: Path | None, fmt: str, write_schema: bool) -> tuple[str, int]:
    """(table or JSON, exit status 0 clean or 1) for the given entry files and folders, or for all of the kb folder."""
    builtin = Path(locations.builtin_kb_directory())
    if write_schema:
        from npu_kb.knowledge.schema import write_schema as write

        write(kb or builtin)
    directories = [builtin] if kb is None or kb.resolve() == builtin.resolve() else [builtin, kb]
    loaded = load_entries(directories)
    wanted = _wanted(paths, kb, loaded)
    problems = _problems_of_files(paths, loaded) + check_entries(wanted, loaded, directories)
    problems.sort(key=lambda p: (str(p.path), p.line, p.column))
    return _report(problems, len(wanted), fmt), 1 if problems else 0


def check_entries(wanted: list[LoadedEntry], loaded: LoadedKnowledge, directories: list[Path]) -> list[Problem]:
    """What the gates find in these entries, in the company of all loaded ones, and what they claim on good logs."""
    context = Context(Knowledge(compile_loaded(loaded, "")), read_commands(directories[0] / "commands.yaml"))
    problems = [problem for item in wanted for gate in GATES for problem in gate(item, context)]
    ids = [item.entry.id for item in wanted]
    return problems + [p for folder in directories for p in silence_problems(folder, context.knowledge, ids)]


def _wanted(paths: list[Path], kb: Path | None, loaded: LoadedKnowledge) -> list[LoadedEntry]:
    """The entries that stand in the given files or folders; files outside the loaded folders are read and added."""
    roots = [path.resolve() for path in paths] or ([kb.resolve()] if kb else [])
    for root in roots:
        if not root.exists():
            raise NpuKbError(f"{root}: no such file or folder; give entry files of kb/entries")
        if root.is_file() and not any(root == item.file.path.resolve() for item in loaded.entries.values()):
            item, problems = load_entry(root)
            known = {str(problem) for problem in loaded.problems}
            loaded.problems += [problem for problem in problems if str(problem) not in known]
            if item:
                loaded.entries[item.entry.id] = item
    if not roots:
        return list(loaded.entries.values())
    return [item for item in loaded.entries.values() if any(_inside(item.file.path, root) for root in roots)]


def _inside(path: Path, root: Path) -> bool:
    path = path.resolve()
    return path == root or root in path.parents


def _problems_of_files(paths: list[Path], loaded: LoadedKnowledge) -> list[Problem]:
    problems = loaded.problems + loaded.link_problems
    if not paths:
        return problems
    return [p for p in problems if any(_inside(p.path, path.resolve()) for path in paths)]


def _report(problems: list[Problem], checked: int, fmt: str) -> str:
    if fmt == "json":
        rows = [
            {"path": str(p.path), "line": p.line, "column": p.column, "field": p.field, "message": p.message}
            for p in problems
        ]
        return json.dumps({"checked": checked, "problems": rows}, ensure_ascii=False, indent=2) + "\n"
    table = "".join(f"{_shown(problem)}\n" for problem in problems)
    entries = len({problem.path for problem in problems})
    verdict = f"{len(problems)} problems in {entries} files" if problems else "no problems"
    return f"{table}{checked} entries checked: {verdict}\n"


def _shown(problem: Problem) -> str:
    try:
        path = problem.path.resolve().relative_to(Path.cwd())
    except ValueError:
        path = problem.path
    return str(Problem(path, problem.line, problem.column, problem.field, problem.message))
