"""What of a log recognises its fault: telling lines, masked text, and blocks that are silent elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from npu_kb import Knowledge, locations
from npu_kb.findings.draft import Draft
from npu_kb.findings.duplicates import by_meaning, by_text, nearest
from npu_kb.findings.filing import filing
from npu_kb.findings.masking import masked
from npu_kb.findings.proposals import Known, evidence, hits, known_texts, propose
from npu_kb.findings.write import entry_yaml
from npu_kb.gates.patterns import is_wrapper
from npu_kb.intake.logtext import LogText
from npu_kb.patterns import TextPattern

MASKED = [
    ("module 'torch_npu' has no attribute '_npu_rotary'", "module 'torch_npu' has no attribute '_npu_rotary'"),
    ("timeout, role[1] rank[12] timeout[120 s]", "timeout, role[<int>] rank[<int>] timeout[<int> s]"),
    ("error code is 507018, EI0006, ERR01002", "error code is 507018, EI0006, ERR01002"),
    ("Tried to allocate 2.00 GiB on npu:3", "Tried to allocate <word> GiB on npu:<int>"),
    ("at 0x12c041200000 of device3, rank_7", "at <hex> of device<int>, rank_<int>"),
    ("aclnnMatmulV2 float16 te_gatherv2_8f3a1b2c_0", "aclnnMatmulV2 float16 <word>"),
    ("shape [1, 4096, 128] and (2, 3)", "shape [<*>] and (<*>)"),
    ("connect <ip>:60000 failed on <host>", "connect <word> failed on <word>"),
    ("HF_TOKEN=<token> refused", "<*> refused"),
    ("/usr/lib64/libc_sec.so: version not found", "<word>/libc_sec.so: version not found"),
    ("cannot open /data/<path>/config.json", "cannot open <word>"),
    ("2025-12-29-03:16:15.787.356 lost", "<word> lost"),
    ("Cannot find bin.[FUNC:Load][FILE:bin.cc][LINE:12]", "Cannot find bin<*><*><*>"),
    ("hccl_socket.cc:797 wait", "<word> wait"),
    ("EZ9903: [PID: 77] 2024-12-05-16:19:12.399.912 No", "EZ9903: <*> No"),
    ("model.layers.17.mlp", "model.layers.<int>.mlp"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), MASKED)
def test_what_varies_is_masked_and_what_tells_stays(text: str, expected: str) -> None:
    assert masked(text) == expected


def test_the_root_exception_comes_before_what_launchers_say() -> None:
    excerpt = [
        "ERROR 11-28 02:10:11 [core.py:710] EngineCore failed to start.",
        "AttributeError: module 'torch_npu' has no attribute '_npu_frob'",
        "The above exception was the direct cause of the following exception:",
        "RuntimeError: Failed to load the backend extension: torch_npu.",
        "RuntimeError: NPU function error: call aclnnCast failed, error code is 507015",
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
    ]
    assert propose(excerpt, [])[0].texts == ["module 'torch_npu' has no attribute '_npu_frob'"]


def test_frames_source_commands_and_advice_are_passed_over() -> None:
    excerpt = Draft.of(
        LogText.of(
            "root@box:/x# python train.py --fail\n"
            'File "/x/error.py", line 3, in fail\n'
            '    raise ValueError("no such error")\n'
            "[ERROR] GE(1,py):2025-01-01-00:00:00.000.001 [frob.cc:12]The frob of the graph is not supported on this chip\n"
            "Solution: Please check whether the error is caused by a wrong setting of the environment.\n"
        )
    ).excerpt
    assert propose(excerpt, [])[0].texts == ["The frob of the graph is not supported on this chip"]
    assert not any("File" in line or "raise" in line for line in excerpt)


def test_what_hits_a_known_text_is_narrowed_by_another_line() -> None:
    known = [Known("lookalikes.log:3", LogText.of("curl: the connection was refused by the peer"), True)]
    excerpt = ["RuntimeError: the connection was refused by the peer", "[ERROR] HCCL: rank table of the frob is stale"]
    best = propose(excerpt, known)[0]
    assert len(best.texts) == 2 or best.texts == ["HCCL: rank table of the frob is stale"]
    assert all(proposal.good_logs == [] for proposal in propose(excerpt, known))


def test_evidence_is_a_line_that_tells_alone() -> None:
    excerpt = ["the frob is", "the frob is at 12.0the frob is", "RuntimeError: the gizmo", "table is exhausted"]
    assert evidence(["at <word>the frob is"], excerpt) == [1]
    assert evidence(["gizmo table is exhausted"], excerpt) == [2, 3]
    assert evidence(["table is exhausted", "the frob is"], excerpt) == [0, 3]
    assert evidence(["no such text"], excerpt) == []


def test_what_a_block_hits_is_told() -> None:
    known = [Known("other-entry", LogText.of("the gizmo table is exhausted on npu 9"), False)]
    excerpt = ["RuntimeError: the gizmo table is exhausted on npu 3"]
    proposal = propose(excerpt, known)[0]
    assert (proposal.entries, proposal.is_general, propose(excerpt, [])[0].is_general) == (["other-entry"], True, False)


def test_nothing_is_proposed_of_a_wrapper() -> None:
    assert propose(["RuntimeError: The Inner error is reported as above.", "EZ9999: Inner Error!"], []) == []


@pytest.mark.parametrize("number", ["0", "31", "4096"])
def test_a_proposal_recognises_another_run(number: str) -> None:
    text = "RuntimeError: pool {n} on npu:{n} at 0x{n}f cannot grow beyond {n} pages, peer <ip>:{n}"
    block = propose([text.format(n=7)], [])[0].texts
    assert hits(block, LogText.of(text.format(n=number).replace("<ip>", "10.0.0.9")))


LINES = st.lists(
    st.text(st.sampled_from("abcE :=,.;()[]{}<>'\"/\\-_|*#$@0127xé中。") | st.characters(codec="utf-8"), max_size=60)
    | st.sampled_from(["RuntimeError: <*> <int> failed", "<word>" * 9, "[1, 2, 3]" * 4, "a.b/c-d_" * 30, "错误：失败 12"]),
    max_size=8,
)  # fmt: skip


@given(LINES)
def test_every_proposal_is_a_pattern_that_recognises_its_own_lines(lines: list[str]) -> None:
    excerpt = Draft.of(LogText.of("\n".join(lines))).excerpt
    for proposal in propose(excerpt, []):
        assert evidence(proposal.texts, excerpt) == proposal.lines != []
        for text in proposal.texts:
            assert not is_wrapper(text) and TextPattern.parse(text).weight >= 8


@given(st.lists(st.sampled_from("abcdefgh") | st.just("\n") | st.text(max_size=300), max_size=40).map("".join))
def test_an_excerpt_is_small_and_in_order(text: str) -> None:
    log = LogText.of("\n".join(f"ERROR {n} {line}" for n, line in enumerate(text.split("\n"))))
    numbers = [int(found[1]) for line in Draft.of(log).excerpt if (found := re.match(r"ERROR (\d+)", line))]
    assert len(Draft.of(log).excerpt) <= 30 and numbers == sorted(numbers)


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=400)


@given(TEXTS, TEXTS, st.lists(st.text(st.sampled_from("ab :#'\"|>-\n中é"), min_size=1, max_size=200), min_size=1))
def test_yaml_says_what_the_entry_says(title: str, cause: str, samples: list[str]) -> None:
    entry: dict[str, Any] = {"cause": {"en": cause}, "id": "x", "samples": {"hit": samples}, "title": {"en": title}}
    text = entry_yaml(entry)
    assert yaml.safe_load(text) == entry and list(yaml.safe_load(text)) == ["id", "title", "cause", "samples"]


def test_near_by_text_and_by_meaning(knowledge: Knowledge) -> None:
    line = "[ERROR] HCCL(1,py):2026-01-01-00:00:00.000.001 [x.cc:7] wait socket establihs timeout, role[7] rank[9]"
    found = nearest(by_text([line], knowledge))
    assert found[0].entry["id"] == "hccl-link-setup-timeout" and found[0].percent > 70 and "establish" in found[0].line
    words = "The CANN environment is not loaded in the shell, set_env.sh was not sourced"
    assert "cann-environment-not-loaded" in {near.entry["id"] for near in nearest(by_meaning(words, knowledge))}
    assert nearest([]) == []


def test_an_entry_is_filed_where_its_like_are(knowledge: Knowledge) -> None:
    words = "HCCL times out because the NPU network port is down"
    assert filing(words, [], knowledge)["layer"] == "communication"
    assert filing("", [], knowledge) == {}


def test_all_good_logs_and_samples_are_known(knowledge: Knowledge) -> None:
    known = known_texts(knowledge, [Path(locations.builtin_kb_directory())])
    assert sum(other.is_good for other in known) > 400 and sum(not other.is_good for other in known) > 1400
