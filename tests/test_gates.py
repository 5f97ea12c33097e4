"""The gates: whatever is planted in an entry is found with its file, line and mend, and a good entry passes."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from npu_kb.gates.commands import effect_of
from npu_kb.gates.gate import GATES
from npu_kb.gates.references import fault_of_address

Run = Callable[..., tuple[int, str, str]]
Write = Callable[..., Path]

pytestmark = pytest.mark.usefixtures("own_kb")


def found(run: Run, *paths: Path, kind: str = "problems") -> list[str]:
    """`line: field: message` of each problem (or warning) that check names of these files."""
    _, out, _ = run("check", "--format", "json", *map(str, paths))
    rows = json.loads(out)[kind]
    assert all(row["path"] in map(str, paths) for row in rows), rows
    return [f"{row['line']}: {row['field']}: {row['message']}" for row in rows]


def edited(path: Path, old: str, new: str) -> Path:
    """The file with one text in place of another."""
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    return path


def test_a_good_entry_passes(run: Run, write_entry: Write) -> None:
    path = write_entry("good", "- text: some failing text")
    assert found(run, path) == found(run, path, kind="warnings") == []


MATCH = "- text: some failing text"
END = "  - {source: written for a test, read: 2026-11-29}\n"
FIX = "  - {en: Mend it., zh: 修复它。, effect: write}\n"
PLANTED: dict[str, tuple[str, str, str]] = {
    # the file and the model
    "YAML that does not parse": (END, "related: [a\n", "19: : not valid YAML"),
    "a tab": ("  miss:", "\tmiss:", "16: : not valid YAML"),
    "a key twice": (END, END + "severity: fault\n", "19: severity: key stands twice"),
    "a YAML alias": (END, END + "causes: &a [b]\nrelated: *a\n", "19: related: is used again by an alias"),
    "an unknown field": (END, END + "sympton: x\n", "19: sympton: is not a field (did you mean symptom?)"),
    "a missing field": ("verify: {en: It runs., zh: 能运行。}\n", "", "1: verify: is missing"),
    "a version without quotes": (END, END + "versions: {affected: {cann: 8.0}}\n", "19: versions.affected.cann: YAML reads this as float 8.0"),
    "an unknown component": (END, END + "versions: {affected: {canm: '8.0'}}\n", "19: versions.affected.canm"),
    "an empty range": (END, END + "versions: {affected: {cann: '>='}}\n", "19: versions.affected.cann: names no version"),
    "an unknown chip": (END, END + "versions: {chip: [910C]}\n", "19: versions.chip.0: is '910C'; allowed are"),
    "a word that YAML reads as a truth value": (END, END + "author: on\n", "19: author: YAML reads this as bool True"),
    "an unknown severity": ("severity: fault", "severity: fatal", "5: severity: is 'fatal'; allowed are"),
    "an unknown status": ("status: reported", "status: stable", "6: status: is 'stable'; allowed are"),
    "an unknown layer": ("layer: cann", "layer: can", "3: layer: is 'can'; allowed are"),
    "an unknown role": (END, END + "role: rot\n", "19: role: is 'rot'; allowed are"),
    "an id with capitals": ("id: faulty", "id: Faulty", "1: id: is 'Faulty', which does not fit"),
    "an id that is not the file's name": ("id: faulty", "id: other-name", "1: id: differs from the file name"),
    "an alias that is no id": (END, END + "aliases: [Old Name]\n", "19: aliases.0: is 'Old Name', which does not fit"),
    "a text in one language only": ("zh: 失败。", "zh: ''", "7: symptom.zh: is ''; write at least 2 characters"),
    "no hit": ('hit: ["some failing text"]', "hit: []", "15: samples.hit: List should have at least 1 item"),
    "no near-miss": ('miss: ["nothing of the kind"]', "miss: []", "16: samples.miss: List should have at least 1 item"),
    "a broken regex": (MATCH, "- regex: '(unclosed'", "9: match.0.regex: not a regular expression"),
    "an endless regex": (MATCH, f"- regex: '{'a' * 1001}'", "9: match.0.regex: is longer than 1000 characters"),
    "a block without a condition": (MATCH, "- within: 3", "9: match.0: a block needs at least one of"),
    "a pattern of placeholders only": (MATCH, "- text: '<int>'", "9: match.0.text: needs a fixed part"),
    "a pattern full of gaps": (MATCH, "- text: 'a <*> b <*> c <*> d'", "9: match.0.text: holds more than 2 <*>"),
    "a name captured twice": (MATCH, "- text: 'at <int:n> of <int:n> here'", "9: match.0.text: names two placeholders 'n'"),
    "a code without quotes": (MATCH, "- code: {family: acl, value: 507018}", "9: match.0.code.0.value: YAML reads this as int"),
    "an unknown family of codes": (MATCH, "- code: {family: acll, value: '507018'}", "9: match.0.code.0.family: is 'acll'"),
    "a fact without a bound": (MATCH, "- fact: {name: npu.power_w}", "9: match.0.fact.0: give exactly one of"),
    "a fact with an endless bound": (MATCH, "- fact: {name: npu.power_w, above: .inf}", "9: match.0.fact.0: has a bound that is no number"),
    "lines too far apart": (MATCH, "- {text: some failing text, within: 501}", "9: match.0.within: "),
    "a check with two commands": (FIX, FIX + "diagnose: [{command: npu-smi-info, run: ls, expect: {en: fine, zh: 正常}}]\n", "13: diagnose.0: give either command"),
    "a fix without its effect": (", effect: write}", "}", "12: fix.0.effect: is missing"),
    "an unknown effect": ("effect: write", "effect: delete", "12: fix.0.effect: is 'delete'; allowed are"),
    "a reference to nothing": (END, "  - {read: 2026-11-29}\n", "18: references.0: give either url or source"),
    "an address that is none": (END, "  - {url: 'github.com/a/b', read: 2026-11-29}\n", "18: references.0.url: is 'github.com/a/b'"),
    "a date that is none": (END, "  - {source: a test, read: yesterday}\n", "18: references.0.read: "),
    "deprecated without a successor": ("status: reported", "status: deprecated", "6: status: a deprecated entry leads to another"),
    "a successor of what is live": (END, END + "superseded_by: other-one\n", "19: superseded_by: is for deprecated entries"),
    # the gates
    "both_languages": ("zh: 因为测试。", "zh: because", "10: cause.zh: holds no Chinese"),
    "Chinese for English": ("en: Mend it.", "en: 修复这个问题。", "12: fix.0.en: is Chinese"),
    "slots_are_captured": ("zh: 因为测试。", "zh: '因为 {op} 测试。'", "10: cause: {op} is not captured by every block"),
    "commands_exist": (FIX, FIX + "diagnose: [{command: no-such, expect: {en: fine, zh: 正常}}]\n", "13: diagnose.0.command: 'no-such' is not in"),
    "no_refused_command": ("effect: write}", "effect: write, run: npu-smi info -t npu}", "12: fix.0.run: wrong command"),
    "effects_are_told": ("effect: write}", "effect: read, run: rm -rf kernel_meta}", "12: fix.0.run: does more than its effect (read) says; set `effect: write`"),
    "a reset told to be a change": ("effect: write}", "effect: write, run: sudo reboot}", "12: fix.0.run: does more than its effect (write) says"),
    "a diagnosis that restarts": (FIX, FIX + "diagnose: [{run: 'systemctl restart docker', expect: {en: fine, zh: 正常}}]\n", "13: diagnose.0.run: does more than"),
    "ids_are_unique": (END, END + "aliases: [other]\n", "19: aliases.0: 'other' is the id of an entry"),
    "an alias that is the id": (END, END + "aliases: [faulty]\n", "19: aliases.0: is the id itself"),
    "an alias twice": (END, END + "aliases: [old-one, old-one]\n", "19: aliases.1: 'old-one' is an alias of faulty already"),
    "an alias of another entry": (END, END + "aliases: [former]\n", "19: aliases.0: 'former' is an alias of other already"),
    "links_lead_somewhere": (END, END + "causes: [othr]\n", "19: causes.0: no entry has the id 'othr' (did you mean other?)"),
    "a link to a former id": (END, END + "related: [former]\n", "19: related.0: 'former' is a former id; write other"),
    "a link to itself": (END, END + "related: [faulty]\n", "19: related.0: is the entry itself"),
    "topic_is_known": ("topic: env-setup", "topic: env-setupp", "4: topic: 'env-setupp' is not in kb/topics.yaml (did you mean env-setup?)"),
    "layer_is_the_folder": ("layer: cann", "layer: driver", "3: layer: is driver, but the file stands in cann/"),
    "no_pattern_twice": (MATCH, "- text: another text entirely", "9: match.0: recognises other too"),
    "no_wrapper_only": (MATCH, "- text: 'EZ9999: Inner Error!'", "9: match.0: matches a wrapper only"),
    "patterns_have_anchors": (MATCH, "- text: 'abcd'", "9: match.0: 'abcd' is too short"),
    "patterns_end": (MATCH, "- regex: 'some (\\w+)+ text$'", "9: match.0.regex.0: can run away"),
    "hits_come_first": (MATCH, "- text: some other text", "15: samples.hit.0: is answered with nothing first"),
    "a hit that is only suggested": (MATCH, "- {text: some failing, proves: possible}\n  - text: quite other text", "16: samples.hit.0: is answered as a suggestion only"),
    "a hit of another entry": ("some failing text\"", "another text entirely\"", "15: samples.hit.0: is answered with other (likely) first"),
    "hits_survive_prefixes": (MATCH, "- regex: '^some failing text'", "15: samples.hit.0: is answered with nothing first under a time stamp"),
    "misses_stay_silent": ("nothing of the kind", "some failing text too", "16: samples.miss.0: matches this entry"),
    "no_claim_on_others": (MATCH, MATCH + "\n  - text: text entirely", "9: match: claims (likely) hit sample 0 of other too, by 'another text entirely'"),
    "references_present": ("status: reported", "status: confirmed", "18: references: a confirmed entry needs a url"),
    "no reference": ("references:\n" + END, "", "1: references: says not where it is from"),
    "addresses_are_public": (END, "  - {url: 'http://10.0.0.8/wiki', read: 2026-11-29}\n", "18: references.0.url: is not a public address"),
    "an address twice": (END, "  - {url: 'https://github.com/a/b', read: 2026-11-29}\n" * 2, "19: references.1.url: stands twice"),
    "dates_are_past": ("read: 2026-11-29", "read: 9026-11-29", "18: references.0.read: 9026-11-29 is to come"),
    "a check on a day to come": (END, END + "verified: {date: 9026-11-29}\n", "19: verified.date: 9026-11-29 is to come"),
}  # fmt: skip


@pytest.fixture
def other(write_entry: Write) -> Path:
    """Another entry, with a former id."""
    path = write_entry(
        "other", "- text: another text entirely", hit="another text entirely", extra="aliases: [former]\n"
    )
    return edited(edited(path, "Test cause of other", "Something else altogether"), "It fails.", "The device is away.")


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found_with_its_line(run: Run, write_entry: Write, other: Path, name: str) -> None:
    old, new, expected = PLANTED[name]
    path = edited(write_entry("faulty", MATCH), old, new)
    assert any(fault.startswith(expected) for fault in found(run, path)), found(run, path)


BETWEEN_TWO = re.compile("is an alias of|recognises")
"""What is told at one of two entries only."""


@pytest.mark.parametrize("name", [name for name in PLANTED if "_" in name])
def test_one_file_is_judged_as_it_is_among_all(run: Run, write_entry: Write, other: Path, name: str) -> None:
    old, new, _ = PLANTED[name]
    path = edited(write_entry("faulty", MATCH), old, new)
    alone = found(run, path)
    everything = json.loads(run("check", "--format", "json")[1])["problems"]
    among_all = [f"{p['line']}: {p['field']}: {p['message']}" for p in everything if p["path"] == str(path)]
    assert {f for f in alone if not BETWEEN_TWO.search(f)} == {f for f in among_all if not BETWEEN_TWO.search(f)}


def test_a_file_that_is_not_utf8_is_named(run: Run, write_entry: Write) -> None:
    path = write_entry("faulty", MATCH)
    path.write_bytes(path.read_bytes().replace("测试".encode(), b"\xff\xfe"))
    assert found(run, path)[0].startswith("1: : not UTF-8 at byte ")


def test_what_is_old_is_a_warning(run: Run, write_entry: Write) -> None:
    path = edited(write_entry("old", MATCH), "read: 2026-11-29", "read: 2019-01-31")
    (warning,) = found(run, path, kind="warnings")
    assert warning.startswith("18: references: was last looked at ")
    today = datetime.date.today()
    edited(
        path,
        END.replace("2026-11-29", "2019-01-31"),
        f"{END.replace('2026-11-29', '2019-01-31')}verified: {{date: {today}}}\n",
    )
    assert found(run, path, kind="warnings") == []


def test_after_how_many_months_is_an_option(run: Run, write_entry: Write) -> None:
    path = edited(write_entry("old", MATCH), "read: 2026-11-29", "read: 2019-01-31")
    assert run("check", "--stale-after", "1200", str(path))[1].endswith("1 entry checked: no problems\n")
    assert run("check", str(path))[1].endswith("1 entry checked: no problems, 1 warning\n")


def test_an_entry_that_reads_like_another_is_a_warning(run: Run, write_entry: Write) -> None:
    first = write_entry("first", MATCH)
    second = write_entry("second", "- text: another text entirely", hit="another text entirely")
    for path in (first, second):
        edited(
            path,
            "symptom: {en: It fails.",
            "symptom: {en: HCCL link set-up between two nodes times out after 120 seconds.",
        )
    assert found(run, second, kind="warnings")[0].startswith("2: title: reads like first")
    assert len(found(run, first, second, kind="warnings")) == 1, "told once"
    edited(second, END, END + "related: [first]\n")
    assert found(run, second, kind="warnings") == []


WARNED = {"is_fresh", "no_near_duplicate"}


def test_every_gate_has_a_case() -> None:
    assert {gate.name for gate in GATES} == {name for name in PLANTED if "_" in name} | WARNED
    assert {gate.name for gate in GATES if gate.severity == "warning"} == WARNED
    assert len(PLANTED) + len(WARNED) >= 40


def test_a_claim_on_a_linked_entry_is_no_fault(run: Run, write_entry: Write, other: Path) -> None:
    path = write_entry("mine", MATCH + "\n- text: text entirely", extra="related: [other]\n")
    assert found(run, path) == []


def test_prefixes_of_a_table_and_of_a_description_are_not_asked_for(run: Run, write_entry: Write) -> None:
    described = write_entry(
        "described", "- fact: {name: npu.temperature_c, above: 300}", hit="It fails because of described"
    )
    assert found(run, described) == []


def test_all_failures_stand_in_one_run_with_their_places(run: Run, write_entry: Write) -> None:
    first = write_entry("first", MATCH, extra="role: rot\n")
    second = write_entry("second", "- text: another text entirely")
    status, out, _ = run("check", str(first), str(second))
    assert status == 1
    assert f"{first}:19:7: role: is 'rot'" in out and f"{second}:15:9: samples.hit.0" in out
    assert out.endswith("1 entry checked: 2 problems in 2 files\n")


# deprecated entries: an id is never lost and never used again


def retire(path: Path, successor: str) -> Path:
    return edited(path, "status: reported", f"status: deprecated\nsuperseded_by: {successor}")


def test_a_deprecated_entry_claims_nothing_and_leads_to_its_successor(run: Run, write_entry: Write) -> None:
    retire(write_entry("old-one", MATCH, extra="aliases: [older-one]\n"), "new-one")
    write_entry("new-one", "- text: another text entirely", hit="another text entirely")
    assert run("check")[1].endswith("2 entries checked: no problems\n")
    assert run("why", "-", stdin="some failing text\n")[0] == 1
    for id in ("old-one", "older-one"):
        status, out, err = run("show", id)
        assert (
            status == 0
            and out.startswith("new-one ")
            and err == f"npu-kb: {id} is a former id; the entry is now new-one\n"
        )
    assert "new-one" in run("why", "--explain", "old-one", "-", stdin="x")[1]
    assert "old-one" not in run("search", "test", "cause", "--format", "json")[1]


def test_successors_of_successors_are_followed(run: Run, write_entry: Write) -> None:
    retire(write_entry("first-one", MATCH), "second-one")
    retire(write_entry("second-one", MATCH), "third-one")
    write_entry("third-one", MATCH)
    assert run("show", "first-one")[1].startswith("third-one ")


@pytest.mark.parametrize("successor", ["no-such", "old-one"])
def test_a_successor_that_is_not_live_is_named(run: Run, write_entry: Write, successor: str) -> None:
    path = retire(write_entry("old-one", MATCH), successor)
    assert found(run, path)[0].startswith("7: superseded_by: ")
    assert run("show", "old-one")[0] == 2


def test_the_id_of_a_deprecated_entry_is_not_used_again(run: Run, write_entry: Write, tmp_path: Path) -> None:
    retire(write_entry("old-one", MATCH), "new-one")
    new = write_entry("new-one", MATCH)
    again = write_entry("other-one", MATCH, hit="some failing text", extra="aliases: [old-one]\n")
    assert any("'old-one' is an alias of" in fault for fault in found(run, new, again) + found(run, again))
    folder = tmp_path / "kb" / "entries" / "system"
    folder.mkdir()
    same = folder / "old-one.yaml"
    same.write_text(
        write_entry("spare", MATCH).read_text("utf-8").replace("spare", "old-one").replace("cann", "system"), "utf-8"
    )
    assert any("stands in" in fault for fault in found(run, same))


def test_an_id_that_is_an_alias_already_is_named(run: Run, write_entry: Write, other: Path) -> None:
    assert "1: id: is an alias of other; an id is never reused" in found(run, write_entry("former", MATCH))


def test_a_draft_only_suggests_whatever_it_says(run: Run, write_entry: Write) -> None:
    path = edited(
        write_entry("new-draft", "- {text: some failing text, proves: certain}"), "status: reported", "status: draft"
    )
    assert found(run, path) == []
    status, out, _ = run("why", "-", "--format", "json", stdin="some failing text\n")
    assert status == 1 and json.loads(out)["matches"][0]["verdict"] == "possible"


def test_the_company_of_an_entry_is_as_it_was_compiled_and_the_entry_as_it_is_now(run: Run, write_entry: Write) -> None:
    path = write_entry("mine", MATCH)
    write_entry("other", "- text: another text entirely", hit="another text entirely")
    assert found(run, path) == []
    for text in ("some", "new"):
        edited(path, "some failing text", f"{text} broken text") if text == "some" else edited(
            path, "some broken text", "another text entirely"
        )
        faults = found(run, path)
        assert (faults == []) == (text == "some"), faults
    edited(path, "another text entirely", "some failing text")
    assert found(run, path) == []


# what the smaller judges say


@pytest.mark.parametrize(
    ("line", "effect"),
    [
        ("npu-smi info; ls -l /dev/davinci*", "read"),
        ("dmesg -T | grep -iE 'out of memory|killed|reboot' | tail", "read"),
        ("hccn_tool -i 0 -link -g", "read"),
        ("hccn_tool -i 0 -ip -s address 10.0.0.1 netmask 255.255.255.0", "write"),
        ("for i in {0..7}; do hccn_tool -i $i -tls -s enable 0; done", "write"),
        ("sudo rm -rf ~/atc_data", "write"),
        ("find . -name core -exec rm {} +", "write"),
        ("echo 1 > /proc/sys/vm/drop_caches", "write"),
        ("dmesg -T > dmesg.txt", "read"),
        ("python3 -m pip install -U numpy", "write"),
        ("pip list | grep torch", "read"),
        ("ps -ef | grep python | awk '{print $2}' | xargs kill -9", "restart"),
        ("bash -c 'systemctl restart docker'", "restart"),
        ("kubectl describe pod x", "read"),
        ("npu-smi set -t reset -i 0 -c 0", "reset"),
        ("ssh node1 \"reboot\"", "reset"),
        ("git log --oneline | head; cat /etc/rm.conf", "read"),
        ("PYTHONPATH=. timeout 10 kill -0 1", "restart"),
        ("./Ascend-hdk-driver.run --upgrade", "write"),
    ],
)  # fmt: skip
def test_the_effect_of_a_command_line(line: str, effect: str) -> None:
    assert effect_of(line) == effect


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("https://github.com/vllm-project/vllm-ascend/issues/3190", ""),
        ("https://www.hiascend.com/document/detail/zh/a.html", ""),
        ("https://github.com/hicann/runtime/blob/master/docs/资源不足.md", ""),
        ("https://github.com/vllm-project", "names no repository"),
        ("https://github.com/vllm-project/vllm-ascend/issues", "is a whole list"),
        ("https://gitee.com/ascend/pytorch/pulls/", "is a whole list"),
        ("https://user:secret@example.cn/a", "holds a user name"),
        ("https://wiki/a", "is not a public address"),
        ("https://192.168.1.7/a", "is not a public address"),
        ("https://example.com/a", "is not a public address"),
        ("https://a.cn/b).", "does not end where"),
        ("https://a.cn/<id>", "does not end where"),
        ("https://[bad/", "is no address"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_address(url: str, fault: str) -> None:
    assert fault_of_address(url).startswith(fault) and bool(fault) == bool(fault_of_address(url))
