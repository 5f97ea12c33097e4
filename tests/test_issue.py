"""Redaction, and the issue text that is made of a log."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_kb.intake.redact import names_in, redact

Run = Callable[..., tuple[int, str, str]]

TAKEN_OUT = [
    ("connect 10.1.2.3:60000 failed", "connect <ip>:60000 failed"),
    ("request to ip:10.1.2.3 failed", "request to ip:<ip> failed"),
    ("driver 10.1.2.4 host unreachable", "driver <ip> host unreachable"),
    ("tcp://10.0.0.9:29500, then 10.0.0.8.", "tcp://<ip>:29500, then <ip>."),
    ("peer fe80::1a2b%eth0 down", "peer <ip6> down"),
    ("2001:db8::1 and ::1 and fd00::abcd:12 refused", "<ip6> and <ip6> and <ip6> refused"),
    ("ip:2001:db8:0:0:0:0:0:1, [2001:db8::1]:80", "ip:<ip6>, [<ip6>]:80"),
    ("peer 2001:db8::7: refused, ::ffff:10.1.2.3", "peer <ip6>: refused, <ip6>"),
    ("on ip-10-1-2-9 now", "on <host> now"),
    ("mac 02:42:ac:11:00:02 seen", "mac <mac> seen"),
    ('File "/home/zhang.san/run/train.py"', 'File "/home/<user>/run/train.py"'),
    (r"C:\Users\alice\proj failed", r"C:\Users\<user>\proj failed"),
    (r"C:\\Users\\Alice Smith\\proj", r"C:\\Users\\<user>\\proj"),
    ("loading /data/secret-project/models/x.bin", "loading /data/<path>/x.bin"),
    ("see /root/../x.py and /data/bobsecret", "see /root/<path>/x.py and /data/<path>"),
    (
        'File "/root/conda/envs/bob/lib/python3.10/site-packages/vllm/x.py"',
        'File "/root/<path>/lib/python3.10/site-packages/vllm/x.py"',
    ),
    ("/data/bob/Ascend/cann/lib64/libhccl.so", "/data/<path>/Ascend/cann/lib64/libhccl.so"),
    ("mail to li.si@example.com now", "mail to <mail> now"),
    ("HF_TOKEN=hf_abcdefghijklmnopqrst", "HF_TOKEN=<token>"),
    ("password: hunter2", "password: <secret>"),
    ("MYSQL_PASSWORD=hunter2 MY_KEY=abc", "MYSQL_PASSWORD=<secret> MY_KEY=<secret>"),
    ("AWS_SECRET_ACCESS_KEY=wJalr/K7MDENG+x", "AWS_SECRET_ACCESS_KEY=<secret>"),
    ('{"password": "hunter 3", "api_key":"k-123456"}', '{"password": "<secret>", "api_key":"<secret>"}'),
    ("token: 12；--password hunter4", "token: 12；--password <secret>"),
    ("run --password hunter4 --token tok5 -v", "run --password <secret> --token <secret> -v"),
    ("mysql -u root -phunter2; docker login -p pw9 x", "mysql -u root -p<secret>; docker login -p <secret> x"),
    ("curl -u lisi:pw123 http://x", "curl -u <user>:<secret> http://x"),
    ("Authorization: Bearer abc.def", "Authorization: <secret>"),
    ("Authorization: Basic YWxhZGRpbjpvcGVuc2VzYW1l", "Authorization: <secret>"),
    ("sent Basic YWxhZGRpbjpvcGVuc2VzYW1l", "sent Basic <secret>"),
    ("ak: HPUAXXXXXXXXABCD sk: 9dkfjslkdjflskdjf", "ak: <token> sk: <secret>"),
    ("git clone https://me:pw@host/x", "git clone https://<user>@host/x"),
    ("https://oauth2tokenvalue99@git.corp.com/x.git", "https://<user>@<host>/x.git"),
    ("postgres://u:p@ss6@db:5432/x", "postgres://<user>@db:5432/x"),
    ("GET http://models.corp/x?token=abcd1234&n=1", "GET http://<host>/x?token=<secret>&n=1"),
    ("密码：hunter7 用户名：zhangsan 主机：node77", "密码：<secret> 用户名：<user> 主机：<host>"),
    ("电话：010-62345678", "电话：<phone>"),
    ("phone 13812345678, +86 138-1234-5678", "phone <phone>, <phone>"),
    ("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7 me@box", "ssh-rsa <key>"),
    ("Serial Number : 2102313ABC", "Serial Number : <serial>"),
    ("hostname=train-node-07", "hostname=<host>"),
    ("connect node-gpu7.corp.example-internal.com refused", "connect <host> refused"),
    ("gpu-node-17 lost, worker-17 lost, npu-server-3 lost", "<host> lost, <host> lost, <host> lost"),
    ("pod llm-infer-7d9f8c6b5d-x2x4z in namespace team-secret failed", "pod <pod> in namespace <namespace> failed"),
    ("kubectl -n team7 logs mindie-7d9f8c6b5d-x2x4z", "kubectl -n <namespace> logs <pod>"),
    ("Nov  2 10:00:00 node-7 kernel: oops", "Nov  2 10:00:00 <host> kernel: oops"),
    ("root@gpu01:/x# npu-smi info", "<user>@<host>:/x# npu-smi info"),
    ("[root@node1 ~]# hccn_tool -i 2", "[<user>@<host> ~]# hccn_tool -i 2"),
    ("root@zeus:~# ls\nzeus is down", "<user>@<host>:~# ls\n<host> is down"),
    ("host=atlas-b.x.com failed\natlas-b went away", "host=<host> failed\n<host> went away"),
]  # fmt: skip

STAYS = [
    "CANN 8.0.RC3.10 with driver 24.1.0.3",
    "Firmware Version : 7.1.0.5 | Version: 1.2.3.4",
    "Ascend-hdk-910b-npu-driver_24.1.0.3_linux-aarch64.run",
    "error code is 507018, EI0006, ret 0x7020016, errcode:(0x800000, 0, 0)",
    "EI0006: [PID: 41233] 2025-11-02-10:14:33.120.001 Getting socket times out",
    "torch_npu 2.1.0.post3, address 0x12c041200000",
    "| 0     910B3  | OK  | 96.4  45  0 / 0 |",
    "[op_base.cc:1200] Entry-HcclAllReduce",
    "[ERROR] RUNTIME(18123,python3):2026-11-28-02:20:31.101.222 [npu_driver.cc:1417]18123 DevMemAlloc:size=17179869184(bytes)",
    "Tried to allocate 13958643712 bytes, 13421772800 B free",
    "npu0 npu:5 npu-3 rank3 davinci0 gpu1 device_id=2 worker0_TP1 (Worker_TP0 pid=33)",
    "model.layers.0.self_attn.q_proj.weight, aten::add, at::native, c10::Error, x[1::2], y[::2]",
    "max_tokens=4096 eos_token: </s> pad_token_id=0 num_tokens: 17 token: 12",
    "KeyError: 'model.embed_tokens.weight' in cache_key=attn",
    'File "/usr/local/Ascend/ascend-toolkit/latest/python/site-packages/tbe/x.py", line 12, in main',
    'File "/usr/lib/python3.10/site-packages/torch_npu/__init__.py", line 18',
    "/usr/local/Ascend/driver/lib64/common/libc_sec.so: version `GLIBCXX_3.4.29' not found",
    "libcudart.so.9.1.2.3: cannot open; memcpy@GLIBC_2.14; image@sha256:abcdef",
    "python -u train.py --nproc_per_node=8; docker run -u 1000:1000 --rm x",
    "train_node.py worker-1.log node3.json server.cpp:12 NUMA node0 CPU(s): 0-23",
    "devdrv_device_driver 0000:82:00.0: AER: can't recover",
    "ERROR 11-28 02:10:11 [core.py:710] EngineCore failed to start.",
    "aclnnMatmulAllReduceAddRmsNorm te_gatherv2_8f3a1b2c_0 node name[Conv2D_12] Node: Add_1",
    "_ZN5torch8autograd13_wrap_outputsERKSt6vectorIN2at6TensorE",
    "Basic information; the secret of it; user-defined; key: value; 4 nodes; Bearer token",
    "0::/system.slice 12:30:45 task_id=207003, task_id=13812345678, stream_id=1024, pid=41233 exit 137",
    "(using password: NO) compute_90 topo exchange server: connected agents, host='huggingface.co'",
    "$HOME/ascend/log /root/ascend/log/debug/plog kubectl -n kube-system get pods | head -n 20",
]  # fmt: skip

SECRETS = [
    ("10.1.2.3", "10.1.2.3"),
    ("2001:db8::1", "db8"),
    ("fd00::abcd:12", "abcd"),
    ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN7"),
    ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "SyA1234567890"),
    ("npm_abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghij"),
    ("hf_abcdefghijklmnopqrst", "abcdefghij"),
    ("ghp_abcdefghijklmnopqrst0123", "abcdefghij"),
    ("sk-proj-abcdef1234567890abcdef", "abcdef1234"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk", "eyJzdWIi"),
    ("li.si@example.com", "li.si"),
    ("02:42:ac:11:00:02", "ac:11"),
    ("gpu-node-17", "node-17"),
    ("node-gpu7.corp.x.com", "gpu7"),
    ("HF_TOKEN=abcdefghijklmnop", "abcdefgh"),
    ("DB_PASSWORD=hunter2", "hunter2"),
    ('"password": "hunter3"', "hunter3"),
    ("--password hunter4", "hunter4"),
    ("-u lisi:pw123", "pw123"),
    ("密码：hunter7", "hunter7"),
    ("sk: 9dkfjslkdjflskdjf", "9dkfjs"),
    ("llm-infer-7d9f8c6b5d-x2x4z", "7d9f8c6b5d"),
    ("C:\\Users\\alice", "alice"),
    ("/home/alice/x.py", "alice"),
    ("phone: 13812345678", "13812345678"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TAKEN_OUT)
def test_what_identifies_people_and_machines_is_taken_out(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize("text", STAYS)
def test_what_a_diagnosis_needs_stays(text: str) -> None:
    assert redact(text) == text


@given(st.text(max_size=300))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    assert redact(redact(text)) == redact(text)


PIECES = [*(text for text, _ in TAKEN_OUT), *STAYS, *(text for text, _ in SECRETS)]


@settings(deadline=None)
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=6), st.sampled_from(["", " ", "\n"]))
def test_redacting_twice_changes_nothing_more_of_logs(pieces: list[str], between: str) -> None:
    once = redact(between.join(pieces))
    assert redact(once) == once


_WORDS = st.lists(
    st.one_of(st.sampled_from([*STAYS, "RuntimeError:", "[ERROR]", "失败"]), st.text("ab 19:.,|()[]", max_size=8)),
    max_size=3,
).map(" ".join)


@settings(deadline=None, max_examples=300)
@given(_WORDS, st.sampled_from([" ", " (", ' "', ", ", " [", "；", "\t"]), st.sampled_from(SECRETS), _WORDS)
def test_no_secret_survives_wherever_it_stands(before: str, mark: str, secret: tuple[str, str], after: str) -> None:
    text, kernel = secret
    beside = (before + after).count(kernel)  # the same digits as a task id stay
    assert redact(f"{before}{mark}{text} {after}").count(kernel) <= beside


def test_a_private_key_goes_with_all_its_lines_and_the_lines_keep_their_number() -> None:
    body = "\n".join(f"MIIEpAIBAAKCAQEA{n:02}SECRETKEYBODY" for n in range(30))
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    for text in (key, key.partition("\n")[2], key.rpartition("\n")[0], key.replace("\n", r"\n")):
        told = redact(f"before it\n{text}\nRuntimeError: after it")
        assert "SECRET" not in told and told.startswith("before it\n") and told.endswith("\nRuntimeError: after it")
        assert told.count("\n") == text.count("\n") + 2


def test_the_body_of_a_key_goes_without_its_frame() -> None:
    line = "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7MhgwMbRvI0MBZhpI"
    assert redact(f"x\n{line}\n{line}\ny") == "x\n<key>\n<key>\ny"


def test_redaction_of_a_long_line_is_quick() -> None:
    for piece in ("a", "1", ":", "a-", "1.", "/data", "a.", " ", "-", "=", "x@", "node", "AKIA", "key_"):
        redact(piece * (60_000 // len(piece)))


def test_names_seen_as_a_host_are_known_elsewhere() -> None:
    assert redact("zeus is down", names_in("root@zeus:~# ls")) == "<host> is down"


def test_an_issue_names_the_tracker_the_versions_and_the_redacted_log(run: Run) -> None:
    log = (
        'File "/home/zhang/train.py", line 3\nimport torch_npu\ntorch_npu 2.1.0.post3\n'
        "RuntimeError: a thing unheard of on 10.2.3.4, error code is 507018\n"
    )
    status, out, _ = run("why", "--issue", stdin=log)
    assert status == 1
    first, second = out.splitlines()[:2]
    assert first.startswith("<!--") and "https://github.com/Ascend/pytorch/issues" in first
    assert second == "Read it before you post it."
    assert "# [Bug]: RuntimeError: a thing unheard of on (ip), error code is 507018" in out
    assert "| torch_npu | 2.1.0.post3 |" in out and "507018 (acl)" in out
    assert "zhang" not in out and "10.2.3.4" not in out
    assert "- [ ] `npu-smi info`" in out


def test_the_log_of_an_issue_is_indented_as_it_was_pasted(run: Run) -> None:
    log = (
        "[rank0]: Traceback (most recent call last):\n"
        '[rank0]:   File "/home/zhang/train.py", line 3, in main\n'
        "[rank0]:     model.to(device)\n"
        "[rank0]: RuntimeError: a thing unheard of\n"
    )
    _, out, _ = run("why", "--issue", stdin=log)
    assert '  File "/home/<user>/train.py", line 3, in main\n    model.to(device)\nRuntimeError: a thing' in out
    _, out, _ = run("why", "--issue", stdin=" " * 5_000 + "RuntimeError: a thing unheard of\n")
    assert f"\n{' ' * 40}RuntimeError: a thing unheard of\n" in out


def test_the_log_of_an_issue_holds_the_line_of_the_cause_its_traceback_and_the_gaps(run: Run) -> None:
    frames = "".join(
        f'[runner.py:671]   File "/x/vllm_ascend/m{n}.py", line {n}, in f\n[runner.py:671]     call{n}()\n'
        for n in range(9)
    )
    follow = "".join(f"(Worker pid={n}) [core.py:7] RuntimeError: engine {n} failed\n" for n in range(30))
    log = (
        "[api_server.py:1896] vLLM API server version 0.11.0rc3\n" + "loading\n" * 20 + "[runner.py:671] Traceback "
        f"(most recent call last):\n{frames}[runner.py:671] RuntimeError: NPU out of memory. Tried to allocate 1.50 GiB "
        "(NPU 2; 60.96 GiB total capacity; 57.71 GiB already allocated; 57.71 GiB current active; 1.00 GiB free; 58.50 "
        f"GiB reserved in total by PyTorch)\n{follow}"
    )
    _, out, _ = run("why", "--issue", stdin=log)
    block = out.partition("```text\n")[2].partition("```")[0]
    assert "RuntimeError: NPU out of memory. Tried to allocate" in block and "engine 29 failed" in block
    assert "[runner.py:671] Traceback (most recent call last):" in block
    assert "\n[runner.py:671]     call0()\n" in block
    assert "[... lines left out: " in block and len(block.splitlines()) < 70
    assert "| vllm | 0.11.0rc3 |" in out


def test_an_issue_for_vllm_goes_to_its_own_tracker(run: Run) -> None:
    _, out, _ = run("why", "--issue", stdin="vllm_ascend: something unheard of failed\n")
    assert "vllm-project/vllm-ascend" in out


@pytest.mark.parametrize("words", ["mindie_llm", "MIE04E01000A", "atb_llm", "mindieservice: vllm endpoint"])
def test_an_issue_for_mindie_goes_to_its_own_tracker(run: Run, words: str) -> None:
    _, out, _ = run("why", "--issue", stdin=f"{words}: something unheard of failed\n")
    assert "Ascend/MindIE-LLM" in out.splitlines()[0]


@pytest.mark.parametrize(
    ("log", "title"),
    [
        (
            "(EngineCore_DP0 pid=3301) ERROR 11-28 02:10:11 [core.py:710] EngineCore failed to start.\n"
            "(EngineCore_DP0 pid=3301) ERROR 11-28 02:10:11 [core.py:710] ValueError: a length unheard of\n"
            "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}\n",
            "ValueError: a length unheard of",
        ),
        (
            "[rank0]: ValueError: a shape unheard of\n"
            "E1128 02:10:11.000000 139 api.py:869] failed (exitcode: 1) local_rank: 0 (pid: 12) of binary: python\n"
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
            "  error_file: <N/A>\n  exitcode  : 1 (pid: 12)\n",
            "ValueError: a shape unheard of",
        ),
        (
            "[2026-11-28 03:11:10.110] [1220] [281470] [llm] [ERROR] [model_deploy.cpp:172] Failed to get it: ValueError: what\n"
            "Daemon is killing...\n",
            "Failed to get it: ValueError: what",
        ),
        ("KeyError: 'x'\nProcess SpawnProcess-1 failed\n", "KeyError: 'x'"),
        ("2026-11-28 03:11:10,110 - root - ERROR - it failed oddly\n", "it failed oddly"),
        ("[ERROR] HCCL(18,python3):2026-11-28-02:20:31.101.222 [a.cc:17]18 EI0006: a timeout\n", "EI0006: a timeout"),
        ("EngineCore failed to start.\n", "EngineCore failed to start."),
    ],
)
def test_the_title_is_the_last_real_exception_without_its_prefix(run: Run, log: str, title: str) -> None:
    _, out, _ = run("why", "--issue", stdin=log)
    assert f"# [Bug]: {title}\n" in out


def test_the_title_is_cut_at_a_word(run: Run) -> None:
    _, out, _ = run("why", "--issue", stdin="ValueError: " + "wonderful " * 30)
    (title,) = re.findall(r"^# \[Bug\]: (.*)$", out, re.MULTILINE)
    assert title.endswith("wonderful ...") and len(title) <= 124


def test_the_log_cannot_leave_its_fence_nor_the_title_be_markdown(run: Run) -> None:
    log = (
        "`````\n# injected <script>alert(1)</script>\n`````\n"
        "RuntimeError: <img src=x> @someone [a](http://b.example) #12 *now* `x` <!-- **\n"
    )
    _, out, _ = run("why", "--issue", stdin=log)
    fence = re.findall(r"^(`{3,})", out, re.MULTILINE)
    assert "``````text" in out and fence.count("``````") == 2
    title = next(line for line in out.splitlines() if line.startswith("# [Bug]"))
    assert "@someone" not in title and "#12" not in title and "[a](" not in title and "http://b" not in title
    assert not re.search(r"(?<!\\)(?:<[a-z!]|\*|`)", title)


def test_words_of_the_log_in_titles_of_entries_are_redacted_and_plain(run: Run) -> None:
    log = "RuntimeError: Caught 10.1.2.3/alice@corp.com in DataLoader worker process 3.\n@someone <b>\n"
    _, out, _ = run("why", "--issue", stdin=log)
    assert "10.1.2.3" not in out and "alice" not in out


def test_a_key_that_begins_before_the_excerpt_does_not_stand_in_it(run: Run) -> None:
    body = "".join(f"MIIEpAIBAAKCAQEA{n:02}SECRETKEYBODY\n" for n in range(12))
    lines = "".join(f"line {n}\n" for n in range(10))
    log = f"{lines}-----BEGIN RSA PRIVATE KEY-----\n{body}RuntimeError: bad key error\n-----END RSA PRIVATE KEY-----\n"
    _, out, _ = run("why", "--issue", stdin=log)
    assert "SECRETKEYBODY" not in out and "RuntimeError: bad key error" in out


def test_the_issue_takes_out_a_host_that_is_named_far_from_the_excerpt(run: Run) -> None:
    log = "root@zeus:~# bash run.sh\n" + "fine\n" * 20 + "RuntimeError: zeus went away\n"
    _, out, _ = run("why", "--issue", stdin=log)
    assert "zeus" not in out and "# [Bug]: RuntimeError: (host) went away" in out


def test_the_chip_stays_as_it_was_written(run: Run) -> None:
    _, out, _ = run("why", "--issue", stdin="| 0  910B3 | OK |\nRuntimeError: unheard of torch_npu\n")
    assert "| chip | 910B3 |" in out


def test_an_issue_is_short_enough_to_be_posted(run: Run) -> None:
    _, out, _ = run("why", "--issue", stdin=("RuntimeError: " + "unheard of " * 3000 + "\n") * 20)
    assert len(out) < 60_000


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
