"""The files of the pull-request workflow: they parse, are safe for forks, and name what exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from npu_kb.cli import build_parser
from npu_kb.render.comment import MARK

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted(
    [*ROOT.glob(".github/workflows/*.yml"), *ROOT.glob(".gitcode/workflows/*.yml"), *ROOT.glob(".workflow/*.yml")]
)
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
HOOKS = [ROOT / ".pre-commit-hooks.yaml", ROOT / ".pre-commit-config.yaml"]
CHINESE = re.compile(r"[\u3400-\u9fff]")


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def steps_of(path: Path) -> list[dict[str, Any]]:
    return [step for job in read(path)["jobs"].values() for step in job["steps"]]


def test_all_files_are_there() -> None:
    names = {str(path.relative_to(ROOT)) for path in [*WORKFLOWS, *FORMS]}
    assert names == {
        ".github/workflows/ci.yml", ".github/workflows/knowledge.yml", ".github/workflows/comment.yml",
        ".gitcode/workflows/ci.yml", ".workflow/pull-request.yml",
        *(f".github/ISSUE_TEMPLATE/{name}.yml" for name in ("new-entry", "missing-answer", "false-answer")),
    }  # fmt: skip


@pytest.mark.parametrize("path", [*WORKFLOWS, *FORMS, *HOOKS], ids=lambda path: path.name)
def test_yaml_parses_and_names_no_registry(path: Path) -> None:
    assert read(path)
    assert not re.search(r"pypi\.org|tuna|mirrors?\.|index-url|aliyun", path.read_text("utf-8"))


@pytest.mark.parametrize("path", [path for path in WORKFLOWS if ".github" in path.parts], ids=lambda path: path.name)
def test_actions_are_pinned_and_rights_are_least(path: Path) -> None:
    workflow = read(path)
    used = [step["uses"] for step in steps_of(path) if "uses" in step]
    assert used and all(re.fullmatch(r"actions/[\w-]+@v\d+", action) for action in used)
    writes = {name for name, right in workflow["permissions"].items() if right == "write"}
    assert writes == ({"pull-requests"} if path.name == "comment.yml" else set())


def test_code_of_a_pull_request_runs_without_secrets() -> None:
    for name in ("ci.yml", "knowledge.yml"):
        text = (ROOT / ".github" / "workflows" / name).read_text("utf-8")
        assert "secrets." not in text and "github.token" not in text and "pull_request_target" not in text
        checkout = next(s for s in steps_of(ROOT / ".github" / "workflows" / name) if "checkout" in s.get("uses", ""))
        assert checkout["with"]["persist-credentials"] is False


def test_what_writes_runs_no_code_of_a_pull_request() -> None:
    path = ROOT / ".github" / "workflows" / "comment.yml"
    assert all("run" not in step and "checkout" not in step["uses"] for step in steps_of(path))
    script = next(step["with"]["script"] for step in steps_of(path) if "script" in step.get("with", {}))
    assert "${{" not in script, "no text of an event is pasted into code"
    assert f"'{MARK}'" in script and "slice(0, 65000)" in script and "head.sha === run.head_sha" in script


def test_the_comment_finds_the_workflow_and_the_file_that_wrote_it() -> None:
    knowledge, comment = (ROOT / ".github" / "workflows" / name for name in ("knowledge.yml", "comment.yml"))
    assert read(comment)[True]["workflow_run"]["workflows"] == [read(knowledge)["name"]]
    names = [
        step["with"]["name"]
        for path in (knowledge, comment)
        for step in steps_of(path)
        if "name" in step.get("with", {})
    ]
    assert len(names) == 2 and len(set(names)) == 1


@pytest.mark.parametrize("path", [*WORKFLOWS, *HOOKS], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_commands_and_scripts_exist(path: Path) -> None:
    text = path.read_text("utf-8")
    for line in re.findall(r"npu-kb (check[^\n|>]*)", text):
        words = shlex.split(line.partition("#")[0])
        build_parser().parse_args([word for word in words if word != "||"])
    for script in re.findall(r"bash (\S+)", text):
        assert (ROOT / script).is_file()


def test_the_hook_takes_entries_and_nothing_else() -> None:
    (hook,) = read(HOOKS[0])
    assert hook["id"] == "npu-kb-check" and hook["language"] == "python"
    for pattern in (hook["files"], read(HOOKS[1])["repos"][0]["hooks"][0]["files"]):
        assert re.search(pattern, "kb/entries/cann/an-entry.yaml")
        assert not any(
            re.search(pattern, name) for name in ("kb/commands.yaml", "kb/entries/cann/an.log", "entries.yaml")
        )


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_is_whole_and_in_both_languages(path: Path) -> None:
    form = read(path)
    assert {"name", "description", "title", "labels", "body"} == form.keys()
    assert CHINESE.search(form["name"]) and CHINESE.search(form["description"])
    ids = [field["id"] for field in form["body"] if field["type"] != "markdown"]
    assert len(ids) == len(set(ids)) and {"log", "agreed"} <= set(ids)
    for field in form["body"]:
        attributes = field["attributes"]
        assert field["type"] in ("markdown", "textarea", "input", "checkboxes")
        said = [attributes.get("value") or attributes["label"] + attributes.get("description", "")]
        said += [option["label"] for option in attributes.get("options", [])]
        assert all(CHINESE.search(text) and re.search("[a-z]{2}", text) for text in said), said


def test_the_pull_request_forms_are_one() -> None:
    github, gitcode = (ROOT / folder / "PULL_REQUEST_TEMPLATE.md" for folder in (".github", ".gitcode"))
    text = github.read_text("utf-8")
    assert text == gitcode.read_text("utf-8")
    boxes = [line for line in text.splitlines() if line.startswith("- [ ]")]
    assert len(boxes) >= 6 and all(CHINESE.search(box) for box in boxes)
