"""Intake: whatever wrapped, prefixed or encoded a log, the plain lines and their numbers come out."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_kb.intake.clean import clean_lines, decode, printable, strip_prefixes
from npu_kb.intake.facts import read_facts
from npu_kb.intake.logtext import LogText
from npu_kb.intake.stack import is_foreign, speaks_of_ascend
from npu_kb.intake.structure import read_exceptions, read_names
from npu_kb.intake.versions import read_versions

MESSAGE = "RuntimeError: NPU out of memory."


@pytest.mark.parametrize(
    "prefix",
    [
        "(EngineCore_DP0 pid=1234) ",
        "(Worker_TP3 pid=77) ",
        "(RayWorkerWrapper pid=991, ip=10.1.2.3) ",
        "(WorkerDict pid=1, ip=10.0.0.1) [rank2]: ",
        "[rank3]: ",
        "[default7]:",
        "[1,3]<stderr>:",
        "2025-11-02T10:00:00.123456789Z stderr F ",
        "serving-1  | ",
        "Nov  2 10:00:00 node-7 python[4711]: ",
        "<3>Nov  2 10:00:00 node-7 kernel: ",
        "2025-11-02T10:00:00+0800 node-7 systemd[1]: ",
        "[12345.678901] ",
        "[Sun Nov  2 10:00:00 2025] ",
        "kern  :err   : [12345.678901] ",
        "> ",
        "> > ",
    ],
)
def test_prefixes_of_launchers_and_collectors_are_taken_off(prefix: str) -> None:
    assert strip_prefixes(prefix + MESSAGE)[0] == MESSAGE


def test_the_rank_of_a_prefix_is_kept() -> None:
    assert strip_prefixes("[rank3]: " + MESSAGE) == (MESSAGE, "rank3")


@pytest.mark.parametrize("line", ["[ERROR] HCCL(12,python): x", "| 0  910B4 | OK |", "(a, b) = f(x)", "[EVENT] start"])
def test_what_belongs_to_the_message_stays(line: str) -> None:
    assert strip_prefixes(line)[0] == line


def test_escape_sequences_and_controls_do_not_survive() -> None:
    hostile = "\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ a\x08b\x00c \u202eevil"
    assert printable(hostile) == "red link abc evil"


def test_progress_bar_updates_share_the_line_number_of_their_line() -> None:
    lines = list(clean_lines("first\n10%\r50%\rError: lost\nlast"))
    assert [(number, text) for number, text, *_ in lines] == [
        (1, "first"), (2, "10%"), (2, "50%"), (2, "Error: lost"), (4 - 1, "last"),
    ]  # fmt: skip


def test_the_indentation_behind_prefixes_is_kept_beside_the_text() -> None:
    text = '  File "x.py"\n[rank3]:         raise  ValueError\n> \tx = 1\nplain'
    assert [(line.text, line.indent) for line in LogText.of(text).lines] == [
        ('File "x.py"', 2), ("raise  ValueError", 8), ("x = 1", 4), ("plain", 0),
    ]  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16", "utf-16-le", "utf-16-be"])
def test_text_is_decoded_whatever_its_encoding(encoding: str) -> None:
    text = "设备初始化失败 device init failed\n" * 5
    assert decode(text.encode(encoding)) == text


def test_bytes_that_are_no_text_become_replacement_characters() -> None:
    assert "\ufffd" in decode(b"abc \xff\xff\xff\x81 def\x80")


@given(st.binary(max_size=400))
def test_any_bytes_can_be_read(data: bytes) -> None:
    log = LogText.of(data)
    assert not any(unicodedata.category(char) == "Cc" for line in log.lines for char in line.text)
    for offset in range(len(log.squeezed)):
        index, position = log.place(offset)
        assert log.lines[index].text[position].lower()[:1] == log.squeezed[offset]


@given(st.lists(st.text(alphabet="ab 中\t", max_size=12), max_size=8))
def test_every_line_keeps_its_number(lines: list[str]) -> None:
    text = "\n".join(lines)
    kept = [(line.number, line.text.split()) for line in LogText.of(text).lines]
    assert kept == [(n, line.split()) for n, line in enumerate(lines, 1) if line.strip()]


def test_a_line_cut_by_the_terminal_is_joined_for_regexes() -> None:
    whole = "undefined symbol: " + "x" * 100
    log = LogText.of(whole[:60] + "\n" + whole[60:])
    assert log.unwrapped(0) == whole


NPU_SMI = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.0                   Version: 24.1.0                                               |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 3     910B3               | Alarm         | 301.5       92                0    / 0             |
| 0                         | 0000:C1:00.0  | 7           0    / 0          64880/ 65536         |
+===========================+===============+====================================================+
"""
A3_ROWS = """\
| 5     Ascend910           | OK            | -           36                0    / 0             |
| 1     11                  | 0000:9F:00.0  | 0           0    / 0          3186 / 65536         |
"""
INFERENCE_ROWS = """\
| 2       310P3                 | OK              | NA           45                0     / 0             |
| 0       0                     | 0000:01:00.0    | 0            22140 / 44280                            |
"""


def facts_of(text: str) -> dict[str, object]:
    return {fact.name: fact.value for fact in read_facts(LogText.of(text).lines)}


def test_an_npu_smi_table_gives_its_values() -> None:
    assert facts_of(NPU_SMI) == {
        "npu.name": "910B3", "npu.health": "Alarm", "npu.power_w": 301.5, "npu.temperature_c": 92.0,
        "npu.hugepages_used": 0.0, "npu.hugepages_total": 0.0, "npu.bus_id": "0000:C1:00.0",
        "npu.aicore_percent": 7.0, "npu.hbm_usage_percent": 99.0, "npu.hbm_used_mb": 64880.0, "npu.hbm_total_mb": 65536.0,
    }  # fmt: skip


def test_a_chip_row_without_bus_id_is_no_card() -> None:
    row = "| 0       0                     | NA              | 0            957 / 15609                             |"
    assert facts_of(row) == {
        "npu.physical_id": 0.0, "npu.aicore_percent": 0.0, "npu.hbm_usage_percent": 6.1,
        "npu.hbm_used_mb": 957.0, "npu.hbm_total_mb": 15609.0,
    }  # fmt: skip


def test_npu_smi_rows_of_two_die_and_inference_cards_are_read() -> None:
    assert facts_of(A3_ROWS)["npu.temperature_c"] == 36.0
    assert "npu.power_w" not in facts_of(A3_ROWS)
    assert facts_of(INFERENCE_ROWS)["npu.hbm_usage_percent"] == 50.0


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("$ ulimit -l\n65536", "host.memlock_kb", 65536.0),
        ("$ ulimit -l\nunlimited", "host.memlock_kb", float("inf")),
        ("max locked memory           (kbytes, -l) 64", "host.memlock_kb", 64.0),
        ("vm.max_map_count = 65530", "host.max_map_count", 65530.0),
        ("overlay         100G  99G  1.0G  99% /data", "host.disk_percent", 99.0),
        (
            "Mem:            2015        1990           3           4          21          20",
            "host.memory_available_percent",
            1.0,
        ),
        ("link status: DOWN", "hccn.link", "DOWN"),
        ("net health status: Socket failed", "hccn.net_health", "Socket failed"),
        ("HBM Double Bit Error Count               : 3", "npu.ecc_double_bit", 3.0),
    ],
)
def test_single_values_are_read_as_facts(text: str, name: str, value: object) -> None:
    assert facts_of(text) == {name: value}


def test_the_size_of_dev_shm_is_read() -> None:
    assert facts_of("shm              64M     0   64M   0% /dev/shm") == {"host.shm_mb": 64.0, "host.disk_percent": 0.0}


@pytest.mark.parametrize(
    ("line", "component", "version"),
    [
        ("torch                     2.1.0", "torch", "2.1.0"),
        ("torch-npu==2.1.0.post3", "torch_npu", "2.1.0.post3"),
        ("torch_npu 2.5.1.dev20250320", "torch_npu", "2.5.1.dev20250320"),
        ("vllm-ascend 0.9.1rc1", "vllm_ascend", "0.9.1rc1"),
        ("INFO: vLLM version 0.8.5", "vllm", "0.8.5"),
        ("package_version=24.1.rc2.2", "driver", "24.1.rc2.2"),
        ("| npu-smi 24.1.rc2                 Version: 24.1.rc2 |", "driver", "24.1.rc2"),
        ("/usr/local/Ascend/ascend-toolkit/8.0.RC3.alpha001/lib64", "cann", "8.0.RC3.alpha001"),
        ('File "/usr/lib/python3.10/site-packages/torch/x.py"', "python", "3.10"),
        ("[api_server.py:1896] vLLM API server version 0.11.0rc3", "vllm", "0.11.0rc3"),
        ("[core.py:77] Initializing a V1 LLM engine (v0.11.0rc3) with config: x", "vllm", "0.11.0rc3"),
        ("The driver version 23.0.1 is not allowed in this device", "driver", "23.0.1"),
        ("Driver: 24.1.rc3", "driver", "24.1.rc3"),
        ("Ascend driver version: 1.0.11", "driver", "1.0.11"),
        ("Firmware Version : 7.1.0.9.220", "firmware", "7.1.0.9.220"),
        ("NPU firmware 7.5.0", "firmware", "7.5.0"),
    ],
)
def test_versions_are_read_from_the_lines_that_name_them(line: str, component: str, version: str) -> None:
    assert read_versions([line])[component] == version


@pytest.mark.parametrize(
    "line",
    [
        "[Mon Nov 30 09:13:05 2026] Block layer SCSI generic (bsg) driver version 0.4 loaded (major 248)",
        "igb: Intel(R) Gigabit Ethernet Network Driver - version 5.6.0-k",
        "mlx5_core 0000:01:00.0: driver version 24.10-0.7.0, firmware version: 20.31.1014",
        "NVIDIA-SMI 527.41       Driver Version: 527.41       CUDA Version: 12.0",
        "Software Version : 1.22",
        "Firmware Version : 1.22",
    ],
)
def test_other_drivers_and_firmwares_have_versions_too(line: str) -> None:
    assert read_versions([line]) == {}


def test_the_first_exception_of_a_chain_is_its_root() -> None:
    log = LogText.of(
        "Traceback (most recent call last):\nKeyError: 'x'\n\n"
        "During handling of the above exception, another exception occurred:\n\n"
        "Traceback (most recent call last):\n[rank3]: torch.OutOfMemoryError: NPU out of memory\n"
    )
    assert [(e.type, e.message, e.is_root) for e in read_exceptions(log.lines)] == [
        ("KeyError", "'x'", True),
        ("torch.OutOfMemoryError", "NPU out of memory", False),
    ]


def test_operators_devices_and_ranks_are_named_once() -> None:
    log = LogText.of(
        "[rank3]: aclnnFoo failed on npu:5\naclnnFoo, device_id: 5, current working operator name is HcclX\n"
    )
    assert read_names(log.lines) == {"operators": ["aclnnFoo", "HcclX"], "devices": ["5"], "ranks": ["3"]}


@pytest.mark.parametrize(
    ("text", "chip"),
    [("910B3 OK", "910B"), ("soc is Ascend310P3", "310P"), ("Ascend910_9391", "910_93"), ("Ascend950PR", "950")],
)
def test_the_chip_is_read_from_its_names(text: str, chip: str) -> None:
    assert read_versions([text])["chip"] == chip


@pytest.mark.parametrize(
    "text",
    [
        "nvidia-smi: command not found\nImportError: libascendcl.so: cannot open shared object file",
        "NPU out of memory; the names of CUDA are kept",
        "Expected all tensors to be on the same device, but found at least two devices, npu:0 and cpu!",
        "[ERROR] GE(3112,python):2026-01-02-10:00:00.000.000 [x.cc:1]3112 Infer failed\nTorch not compiled with CUDA enabled",
        "'aten::foo' is only available for these backends: [CPU, CUDA, NPU, Meta, BackendSelect].",
    ],
)
def test_text_of_ascend_is_known_beside_names_of_other_stacks(text: str) -> None:
    assert speaks_of_ascend(text) and not is_foreign(text)


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("PyTorch NPU available: False\nNVIDIA A100-SXM4-80GB", True),
        ("Automatically detected platform cuda.\nbackends available: cuda, npu", True),
        ("intel_vpu 0000:00:0b.0: [drm] Firmware\nNPU out of memory", True),
        ("Target platform: rk3588 npu", True),
        ("FileNotFoundError: [WinError 2] The system cannot find the file", True),
        ("if is_torch_npu_available():", False),
        ("sort order must be 'ascend' or 'descend'", False),
    ],
)
def test_npus_named_in_passing_or_of_others_are_no_text_of_ascend(text: str, foreign: bool) -> None:
    assert not speaks_of_ascend(text) and is_foreign(text) == foreign
