"""kb/commands.yaml and its reader."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from npu_kb.errors import KnowledgeError
from npu_kb.knowledge import commands as module
from npu_kb.knowledge.commands import Commands, read_commands

SHIPPED = Path(__file__).parents[1] / "kb" / "commands.yaml"

GOOD = """\
placeholders:
  npu: {en: Number of the NPU., zh: NPU 编号。}
commands:
  hccn-link:
    run: hccn_tool -i <npu> -link -g
    effect: read
    root: yes
    products: [910B, "910_93"]
    shows: {en: Link state., zh: 链路状态。}
    trouble: {en: DOWN., zh: 显示 DOWN。}
    source: https://example.org/hccn
refused:
  - pattern: 'hccn_tool\\s+-i\\s+\\S+\\s+-nethealth'
    run: hccn_tool -i <npu> -nethealth
    instead: hccn_tool -i <npu> -net_health -g
    why: {en: No such attribute., zh: 没有这个属性。}
    source: https://example.org/hccn
"""


@pytest.fixture(scope="module")
def shipped() -> Commands:
    return read_commands(SHIPPED)


def written(folder: Path, text: str) -> Path:
    path = folder / "commands.yaml"
    path.write_text(text, "utf-8")
    return path


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(KnowledgeError) as caught:
        read_commands(written(folder, text))
    return [str(problem).partition("commands.yaml:")[2] for problem in caught.value.problems]


def test_a_command_is_found_by_its_id(tmp_path: Path) -> None:
    commands = read_commands(written(tmp_path, GOOD))
    command = commands.get("hccn-link")
    assert command is not None
    assert (command.run, command.effect, command.root) == ("hccn_tool -i <npu> -link -g", "read", True)
    assert command.products == ("910B", "910_93")
    assert command.placeholders == {"npu": {"en": "Number of the NPU.", "zh": "NPU 编号。"}}
    assert commands.get("no-such-command") is None


def test_documents_survive_json(shipped: Commands) -> None:
    documents = shipped.documents()
    assert json.loads(json.dumps(documents)) == documents
    assert len(documents) == len(shipped)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("effect: read", "effect: reads", "6:13: commands.hccn-link.effect: is 'reads'; allowed are read, write"),
        ("    source: https://example.org/hccn\nrefused", "refused", "commands.hccn-link.source: is missing; add it"),
        ("trouble:", "troubles:", "is not a field (did you mean trouble?)"),
        ("    trouble: {en: DOWN., zh: 显示 DOWN。}\n", "", "trouble: is missing; say which output means trouble"),
        ('"910_93"]', "910_93]", "8:22: commands.hccn-link.products.1: is 91093; allowed are all or '310'"),
        ("zh: 链路状态。", "zh: 1", "9:34: commands.hccn-link.shows.zh: YAML reads this as int 1; put it in quotes"),
        ("<npu> -link", "<card> -link", "5:10: commands.hccn-link.run: uses <card>; explain it under placeholders"),
        ("root: yes", "root: maybe", "7:11: commands.hccn-link.root: must be yes, no or a text in en and zh"),
        ("-nethealth'", "-nethealth('", "refused.0.pattern: is not a regular expression"),
        ("-nethealth'", "-net'", "refused.0.pattern: refuses the right command `hccn_tool -i <npu> -net_health -g`"),
        ("-nethealth'", "-health'", "refused.0.pattern: does not find its own `run`"),
        ("  hccn-link:", "  HCCN_link:", "5:5: commands.HCCN_link: an id is lower-case words joined by -"),
    ],
)  # fmt: skip
def test_a_fault_names_its_place_and_the_mend(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in GOOD
    found = problems(tmp_path, GOOD.replace(old, new))
    assert any(expected in problem for problem in found), found


def test_all_faults_are_named_at_once(tmp_path: Path) -> None:
    found = problems(tmp_path, GOOD.replace("effect: read", "effect: look").replace("root: yes", "root: maybe"))
    assert len(found) == 2


@pytest.mark.parametrize("text", ["", "[]", "commands: []", "refused: {}", "a: [", "commands: {a: {}, a: {}}"])
def test_a_file_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    assert problems(tmp_path, text)


def test_the_reader_knows_the_words_of_the_entry_model() -> None:
    from npu_kb.knowledge.entry import Chip, Effect

    assert get_args(Effect) == module.EFFECTS
    assert get_args(Chip) == module.CHIPS


def test_importing_it_loads_neither_pydantic_nor_yaml() -> None:
    code = "import sys, npu_kb.knowledge.commands; print({'pydantic', 'yaml'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"


@pytest.mark.parametrize(
    "wrong",
    [
        "npu-smi info -t npu",
        "npu-smi info -i 0 -t npu -c 0",
        "npu-smi info -t cpu -i 0",
        "run `npu-smi info -t temperature -i 3` and look",
        "npu-smi info -t processes",
        "npu-smi info -t freq",
        "npu-smi  info  -t  pcie-info",
        "npu-smi info -t link",
        "npu-smi info -t vnpu -i 0",
        "hccn_tool -i 0 -nethealth -g",
        "for i in {0..7}; do hccn_tool -i $i -net-health -g; done",
        "hccn_tool -i 3 -net_health -s",
        "hccn_tool -i 0 -roce_test -g",
        "hccn_tool -i 0 -ping -g address=192.0.2.7",
    ],
)
def test_wrong_commands_of_public_guides_are_refused(shipped: Commands, wrong: str) -> None:
    refusal = shipped.refusal(wrong)
    assert refusal is not None
    assert refusal.instead in str(refusal)
    assert shipped.refusal(refusal.instead) is None


@pytest.mark.parametrize(
    "right",
    [
        "npu-smi info -t npu-info is not what it says, see npu-smi info",
        "npu-smi info -t info-vnpu -i 0 -c 0",
        "npu-smi info -t cpu-num-cfg -i 0",
        "npu-smi info -t temp -i 0; npu-smi info -t pcie-err -i 0 -c 0",
        "After npu-smi info, start the job with a smaller -t link value",
        "hccn_tool -i 0 -net_health -g",
        "hccn_tool -i 0 -roce_test reset",
        "hccn_tool -i 0 -ping -g address 192.0.2.7 pkt 1024",
        "hccn_tool -g -link -i 0 -u 0 -p 4",
    ],
)
def test_right_commands_are_not_refused(shipped: Commands, right: str) -> None:
    assert shipped.refusal(right) is None


def test_what_changes_the_machine_says_what_to_mind(shipped: Commands) -> None:
    assert [command.id for command in shipped if command.effect != "read" and not command.note] == []


def test_reset_commands_are_marked_as_such(shipped: Commands) -> None:
    reset = shipped.get("npu-smi-set-reset")
    assert reset is not None
    assert reset.effect == "reset"
    settings = [c for c in shipped if " -s " in c.run and c.run.startswith("hccn_tool") and "-roce_test" not in c.run]
    assert [command.id for command in settings if command.effect == "read"] == []
