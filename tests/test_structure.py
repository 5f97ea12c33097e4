"""The house's rules that no other tool checks: what is imported when, and that texts agree with the code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from npu_kb import locations
from npu_kb.cli import COMMANDS
from npu_kb.knowledge.schema import schema_text

ROOT = Path(__file__).parents[1]


def test_why_loads_nothing_heavy(tmp_path: Path, shared_cache: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("ImportError: libhccl.so: cannot open shared object file\n")
    code = (
        "import os, sys; os.environ['NPU_KB_CACHE'] = sys.argv[2]; from npu_kb import Knowledge; Knowledge.load()\n"
        "loaded = set(sys.modules); [sys.modules.pop(m) for m in list(sys.modules) if m.split('.')[0] in HEAVY]\n"
        "from npu_kb.cli import main; main(['why', sys.argv[1]])\n"
        "print(sorted(HEAVY & {m.split('.')[0] for m in sys.modules}), file=sys.stderr)"
    )
    heavy = {"yaml", "pydantic", "rich", "textual", "whoosh", "sqlite_utils", "rapidfuzz", "dataclasses", "pathlib"}
    run = [sys.executable, "-c", f"HEAVY = {heavy!r}\n{code}", str(log), str(shared_cache)]
    subprocess.run(run, capture_output=True, check=True)
    assert subprocess.run(run, capture_output=True, text=True, check=True).stderr.strip() == "[]"


def test_importing_the_package_imports_none_of_its_parts() -> None:
    code = "import sys, npu_kb; print([m for m in sys.modules if m.startswith('npu_kb.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['npu_kb.version']"


def test_the_committed_schema_is_that_of_the_model() -> None:
    committed = (Path(locations.builtin_kb_directory()) / "schema" / "entry.json").read_text("utf-8")
    assert committed == schema_text(), "run: npu-kb check --write-schema"


def test_every_field_of_the_schema_is_described() -> None:
    schema = json.loads(schema_text())
    for name, model in {**schema["$defs"], "Entry": schema}.items():
        for field, value in model.get("properties", {}).items():
            assert "description" in value or "$ref" in value or "items" in value, f"{name}.{field}"


@pytest.mark.parametrize("readme", ["README.md", "README.zh.md"])
def test_every_command_stands_in_the_readme(readme: str) -> None:
    text = (ROOT / readme).read_text("utf-8")
    assert [name for name in COMMANDS if f"npu-kb {name}" not in text] == []


@pytest.mark.parametrize(
    "document", ["README.md", "README.zh.md", "CONTRIBUTING.md", "CONTRIBUTING.zh.md", "AGENTS.md"]
)
def test_every_path_that_a_document_names_exists(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    paths = re.findall(r"`((?:src|kb|tests|examples|importers|benchmarks|\.ci)/[\w./-]*)`", text)
    assert paths and [path for path in paths if not (ROOT / path).exists()] == []


def test_the_documents_of_a_cluster_say_the_same_in_both_languages() -> None:
    """The same parts, the same commands but for what is remarked on them, the same names."""

    def outline(name: str) -> tuple[list[int], list[str], set[str]]:
        text = (ROOT / "docs" / name).read_text("utf-8")
        blocks = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
        commands = [line.partition("  # ")[0].rstrip() for line in blocks.splitlines() if not line.startswith("# ")]
        parts = [part.count("\n- ") + len(re.findall(r"\n\d\. ", part)) for part in text.split("\n## ")]
        return parts, commands, set(re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)))

    assert outline("cluster.zh.md") == outline("cluster.md")
