"""`npu-kb checklist`: what the facts prove is ticked, what they disprove is marked, the rest is left to people."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

import npu_kb
from npu_kb import Knowledge
from npu_kb.environment.assemble import assemble
from npu_kb.environment.ticks import Tick, ticks
from npu_kb.intake.logtext import lines_of

Run = Callable[..., tuple[int, str, str]]
NAMES = ["acceptance", "container-start", "cuda-migration", "keep-the-scene", "multi-node-start", "new-machine"]
CARD = """\
| {npu}     910B3               | {health}            | 93.1        {celsius}                0    / 0             |
| 0                         | 0000:0{npu}:00.0  | 0           0    / 0          3418 / 65536         |
"""
ECC = "$ npu-smi info -t ecc -i {npu}\nHBM Double Bit Error Count : {count}\nHBM Double Bit Isolated Pages Count : 0\n"
LIMIT = "$ ulimit -l\n{limit}\n"


def cards(*rows: tuple[str, int]) -> str:
    return "".join(CARD.format(npu=npu, health=health, celsius=celsius) for npu, (health, celsius) in enumerate(rows))


def ticked(knowledge: Knowledge, name: str, paste: str) -> dict[str, Tick]:
    """The ticks by the title of their step."""
    checklist = knowledge.checklists()[name]
    made = ticks(checklist, assemble(lines_of(paste, "paste")), knowledge)
    return {step["title"]["en"]: tick for step, tick in zip(checklist["steps"], made, strict=True)}


def test_a_value_that_speaks_against_a_step_is_shown_with_its_device(knowledge: Knowledge) -> None:
    paste = cards(("OK", 40), ("Alarm", 91)) + ECC.format(npu=0, count=0) + ECC.format(npu=1, count=4)
    made = ticked(knowledge, "new-machine", paste + LIMIT.format(limit=64))
    healthy = made["All cards are listed and healthy."]
    assert healthy.state == "wrong"
    assert [told["en"] for told in healthy.told] == ["npu.health = Alarm [1]", "npu.temperature_c = 91 [1]"]
    assert made["No card counts memory errors."].told == [{"en": t, "zh": t} for t in ["npu.ecc_double_bit = 4 [1]"]]
    assert made["The limits let pinned memory and many mappings pass."].state == "wrong"
    assert made["The kernel log is free of faults of the NPUs."].state == "open"


def test_a_step_is_done_only_if_every_device_proves_it(knowledge: Knowledge) -> None:
    one, both = ECC.format(npu=0, count=0), ECC.format(npu=0, count=0) + ECC.format(npu=1, count=0)
    table, title = cards(("OK", 40), ("OK", 85)), "No card counts memory errors."
    assert ticked(knowledge, "new-machine", table + one)[title].state == "open"
    made = ticked(knowledge, "new-machine", table + both + LIMIT.format(limit="unlimited"))
    assert made[title].state == made["All cards are listed and healthy."].state == "done"
    assert made["The limits let pinned memory and many mappings pass."].told[0]["en"] == "host.memlock_kb = unlimited"


def test_ports_of_a_chip_with_two_dies_are_counted_by_physical_id(knowledge: Knowledge) -> None:
    table = (
        "| 0     Ascend910           | OK            | 178.8       36                0    / 0             |\n"
        "| 0     0                   | 0000:9D:00.0  | 0           0    / 0          3397 / 65536         |\n"
        "| 0     Ascend910           | OK            | -           36                0    / 0             |\n"
        "| 1     1                   | 0000:9F:00.0  | 0           0    / 0          3186 / 65536         |\n"
    )
    links = [f"$ hccn_tool -i {port} -link -g\nlink status: UP\n" for port in (0, 1)]
    title = "Every NPU port is up."
    assert ticked(knowledge, "multi-node-start", table + links[0])[title].state == "open"
    assert ticked(knowledge, "multi-node-start", table + "".join(links))[title].state == "done"


def test_versions_are_judged_in_pairs(knowledge: Knowledge) -> None:
    title = "A framework sees the cards."
    wrong = ticked(knowledge, "container-start", "torch 2.0.1\ntorch-npu 2.1.0\n")
    assert wrong["The CANN of the image fits the driver of the host."].state == "open"
    assert wrong["A framework inside sees the cards."].state == "open"
    made = ticked(knowledge, "acceptance", "torch 2.0.1\ntorch-npu 2.1.0\n")
    step = made["Run a small training job from start to end."]
    assert step.state == "wrong" and step.told[0]["en"].startswith("torch_npu 2.1.0, torch 2.0.1: ")
    assert title not in made


def test_a_moment_proves_no_72_hours_but_can_disprove_them(knowledge: Knowledge) -> None:
    title = "Let it run for 72 hours and watch memory, temperature and communication."
    assert ticked(knowledge, "acceptance", cards(("OK", 40)))[title].state == "open"
    assert ticked(knowledge, "acceptance", cards(("OK", 91)))[title].state == "wrong"


def test_the_command_lists_prints_and_ticks(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("checklist")
    assert status == 0 and [line for line in out.splitlines() if not line.startswith(" ")] == NAMES
    status, out, _ = run("checklist", "new-machine")
    assert status == 0 and "[x]" not in out and "$ npu-smi info\n" in out
    (tmp_path / "smi.txt").write_text(cards(("OK", 40), ("Alarm", 40)))
    status, out, _ = run("checklist", "new-machine", "--from", str(tmp_path / "smi.txt"))
    assert status == 1 and "[!]  1 All cards" in out and "npu.health = Alarm [1]" in out
    assert "npu-kb show npu-health-alarm" in out and "0 proved, 1 disproved" in out
    (tmp_path / "smi.txt").write_text(cards(("OK", 40), ("OK", 40)))
    status, out, _ = run("checklist", "new-machine", "--from", str(tmp_path / "smi.txt"), "--lang", "zh")
    assert status == 0 and "[x]  1 所有卡可见且健康。" in out and "已证实 1 项" in out


def test_bad_names_and_uses_are_told(run: Run) -> None:
    status, out, err = run("checklist", "new-machin\x1b[31me")
    assert (status, out) == (2, "") and "there are: acceptance" in err and "\x1b" not in err
    assert run("checklist", "--env")[0] == 2


@pytest.mark.parametrize("lang", ["en", "zh", "both"])
@pytest.mark.parametrize("name", NAMES)
def test_every_checklist_can_be_shown_in_every_form(run: Run, name: str, lang: str) -> None:
    status, out, _ = run("checklist", name, "--lang", lang, "--format", "markdown")
    html = MarkdownIt().render(out)
    document: dict[str, Any] = json.loads(run("checklist", name, "--format", "json")[1])
    assert status == 0 and html.count("[ ]") == len(document["steps"])
    assert {step["state"] for step in document["steps"]} == {"open"} and not document["checked"]
    assert run("checklist", name, "--lang", lang)[0] == 0


def test_the_facts_that_checklists_name_are_read_somewhere(knowledge: Knowledge) -> None:
    folder = Path(npu_kb.__file__).parent
    files = [*(folder / "intake/outputs").glob("*.py"), *(folder / "environment").glob("*.py")]
    texts = "\n".join(path.read_text("utf-8") for path in files)
    texts = re.sub(r"npu\.ecc_\{bits\}", "npu.ecc_double", texts) + "npu.ecc_isolated_pages"
    steps = [step for checklist in knowledge.checklists().values() for step in checklist["steps"]]
    named = {condition["name"] for step in steps for condition in (*step["proof"], *step["disproof"])}
    assert len(named) > 8 and [name for name in named if name not in texts] == []


def test_a_pair_must_be_of_components(run: Run, tmp_path: Path) -> None:
    (tmp_path / "checklists").mkdir()
    text = {"en": "a text", "zh": "一句话"}
    step = {"title": text, "expect": text, "pairs": ["torch_npu/tourch"]}
    document = {"id": "mine", "title": text, "when": text, "steps": [step]}
    (tmp_path / "checklists" / "mine.yaml").write_text(json.dumps(document))
    status, _, err = run("checklist", "mine", "--kb", str(tmp_path))
    assert status == 2 and "no pair of components" in err
