"""Values read out of pasted outputs, by name and device: npu-smi, hccn_tool, asys, limits, disks, version files.

Names begin with what they are about: `npu.` (health, temperature_c, power_w, hbm_usage_percent, ecc_double_bit ...),
`hccn.` (link, net_health, tls ...), `host.` (memlock_kb, nofile, shm_mb, disk_percent ...), `driver.`, `firmware.`,
`cann.` and `torch.` (what their own files say). Each module of `outputs` lists its own.
"""

from __future__ import annotations

from typing import NamedTuple

from npu_kb.intake.logtext import Line


class Fact(NamedTuple):
    """One value, the line it was read from (index), and the device it belongs to, if any."""

    name: str
    value: float | str
    line: int
    subject: str | None = None


class Known(NamedTuple):
    """What is known beside a log, such as of the machine it comes from: lines, facts read from them, versions."""

    lines: list[Line]
    facts: list[Fact]
    versions: dict[str, str]


UNLIMITED = float("inf")

_OUTPUTS: list[tuple[str, tuple[str, ...]]] = [
    ("npu_smi", ("| ok", "| alarm", "| warning", "| critical", "| unknown", "| na ", "| process id",
                 ":00.0 ", ":00.1 ")),
    ("npu_smi_queries", ("npu id", "npuid(idx)", "error count", "isolated pages", "health", "chip name", "(c)",
                         "ret is -", "fault event", "cpu affinity", "completely installed",
                         "compatibility", "npu-smi info ")),
    ("hccn", ("link status", "net health", "fec mode", "tls switch", "optical info", "packet statistics", "recv seq",
              "recv time out", "link up count", "link change", "udie id", "network driver version", "ipaddr:")),
    ("asys", ("overall health", "| chip name")),
    ("host", ("max locked memory", "open files", "max_map_count", "ulimit", "% /", "mem:", "hugepages_",
              "davinci", "devmm_svm", "hisi_hdc", "processing accelerators", "memavailable:")),
    ("versionfiles", ("version=", "install_path_param=")),
]  # fmt: skip
"""Module of `outputs`, and lower-case words one of which stands in every text that it reads."""

_SIGNS: list[tuple[str, tuple[str, ...]]] = [
    ("npu.health", ("| {value}", "NPU ID", "Overall Health")),
    ("npu.", ("Power(W) Temp(C)", "NPU ID", "NpuID(Idx)", "Overall Health")),
    ("hccn.", ("hccn_tool", "link status", "net health", "link up count", "tls switch", "packets transmitted")),
    ("host.memlock_kb", ("max locked memory", "ulimit -l")),
    ("host.nofile", ("open files", "ulimit -n")),
    ("host.max_map_count", ("max_map_count",)),
    ("host.disk_", ("Mounted on", "挂载点")),
    ("host.hugepages_", ("HugePages_Total",)),
]
"""How names of facts begin, and texts one of which stands in or above the line that tells such a fact."""


def signs_of(name: str, value: object = None) -> list[str]:
    """Texts that lead to the facts of a name (where it is known, to those of a value); none if no log tells them."""
    signs = next((signs for start, signs in _SIGNS if name.startswith(start)), ())
    return [sign.format(value=value) for sign in signs if value is not None or "{value}" not in sign]


def read_facts(lines: list[Line]) -> list[Fact]:
    """All facts of a log, in the order of its lines."""
    whole = "\n".join(line.text for line in lines).lower()
    facts: list[Fact] = []
    for module, words in _OUTPUTS:
        if any(word in whole for word in words):
            from importlib import import_module

            facts += import_module(f"npu_kb.intake.outputs.{module}").read(lines)
    return sorted(facts, key=lambda fact: fact.line)
