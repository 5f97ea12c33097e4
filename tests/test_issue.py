"""Redaction, and the issue text that is made of a log."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_kb.intake.redact import redact

Run = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("connect 10.1.2.3:60000 failed", "connect <ip>:60000 failed"),
        ("peer fe80::1a2b%eth0 down", "peer <ip6> down"),
        ("mac 02:42:ac:11:00:02 seen", "mac <mac> seen"),
        ('File "/home/zhang.san/run/train.py"', 'File "/home/<user>/run/train.py"'),
        ("loading /data/secret-project/models/x.bin", "loading /data/<path>/x.bin"),
        ("mail to li.si@example.com now", "mail to <mail> now"),
        ("HF_TOKEN=hf_abcdefghijklmnopqrst", "HF_TOKEN=<token>"),
        ("password: hunter2", "password: <secret>"),
        ("Authorization: Bearer abc.def", "Authorization: <secret>"),
        ("git clone https://me:pw@host/x", "git clone <user>@host/x"),
        ("Serial Number : 2102313ABC", "Serial Number : <serial>"),
        ("hostname=train-node-07", "hostname=<host>"),
        ("Nov  2 10:00:00 node-7 kernel: oops", "Nov  2 10:00:00 <host> kernel: oops"),
        ("root@gpu01:/x# npu-smi info", "<user>@<host>:/x# npu-smi info"),
    ],
)
def test_what_identifies_people_and_machines_is_taken_out(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "CANN 8.0.RC3.10 with driver 24.1.0.3",
        "error code is 507018",
        "EI0006: [PID: 41233] 2025-11-02-10:14:33.120.001 Getting socket times out",
        "torch_npu 2.1.0.post3, address 0x12c041200000",
        "| 0     910B3  | OK  | 96.4  45  0 / 0 |",
        "[op_base.cc:1200] Entry-HcclAllReduce",
    ],
)
def test_what_a_diagnosis_needs_stays(text: str) -> None:
    assert redact(text) == text


@given(st.text(max_size=300))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    assert redact(redact(text)) == redact(text)


def test_an_issue_names_the_tracker_the_versions_and_the_redacted_log(run: Run) -> None:
    log = (
        'File "/home/zhang/train.py", line 3\nimport torch_npu\ntorch_npu 2.1.0.post3\n'
        "RuntimeError: a thing unheard of on 10.2.3.4, error code is 507018\n"
    )
    status, out, _ = run("why", "--issue", stdin=log)
    assert status == 1
    assert "https://github.com/Ascend/pytorch/issues" in out
    assert "# [Bug]: RuntimeError: a thing unheard of on <ip>, error code is 507018" in out
    assert "| torch_npu | 2.1.0.post3 |" in out and "507018 (acl)" in out
    assert "zhang" not in out and "10.2.3.4" not in out
    assert "- [ ] `npu-smi info`" in out


def test_an_issue_for_vllm_goes_to_its_own_tracker(run: Run) -> None:
    _, out, _ = run("why", "--issue", stdin="vllm_ascend: something unheard of failed\n")
    assert "vllm-project/vllm-ascend" in out


def test_explain_says_which_conditions_held_and_what_came_near(run: Run) -> None:
    status, out, _ = run(
        "why",
        "--explain",
        "cann-environment-not-loaded",
        stdin="ImportError: libhcclX.so: cannot open shared object file\n",
    )
    assert status == 1
    assert "does not match this log" in out
    assert "- text: libhccl.so: cannot open shared object file" in out
    assert "nearest 9" in out and "line 1: ImportError: libhcclX.so" in out


def test_explain_of_an_unknown_entry_names_the_nearest(run: Run) -> None:
    status, _, err = run("why", "--explain", "cann-enviroment-not-loaded", stdin="x")
    assert status == 2 and "did you mean cann-environment-not-loaded?" in err
