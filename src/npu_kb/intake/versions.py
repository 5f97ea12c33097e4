"""Versions of the stack's components, as pastes show them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

_V = r"(?P<v>\d+(?:\.\d+)+(?:[.-]?(?:rc|alpha|beta|post|dev|T)\d*(?:\.\d+)*)*)"
_DRIVER = r"(?P<v2>2\d\.\d\.(?:rc)?\d{1,2}(?:\.\d+)*)(?![\w-])"
"""How releases of the Ascend driver are numbered, by year: 23.0.7, 24.1.rc3. Every kernel module is a driver too."""
_FIRMWARE = r"(?P<v2>\d\.\d+\.\d+\.\d+\.\d+)"
"""How those of the NPU's firmware are numbered: 7.1.0.9.220. Disks and network cards have a firmware too."""
_IS = r"(?:\s*version)?\s*[:= ]\s*"
_NPU = r"\b(?:Ascend|NPU|HDK)[ -](?:NPU[ -])?"

# (text that must be in the lower-cased line, component, regex)
_READERS: list[tuple[str, str, str]] = [
    ("torch", "torch", rf"(?:^|[\s\[\]'\"(,])torch(?:==|\s+|\s*:\s*| version:?\s*){_V}"),
    ("pytorch version", "torch", rf"PyTorch version:\s*{_V}"),
    ("torch", "torch_npu", rf"torch[-_]npu(?:==|\s+|\s*:\s*| version:?\s*){_V}"),
    ("torchvision", "torchvision", rf"torchvision(?:==|\s+){_V}"),
    ("vllm", "vllm", rf"(?:^|[\s\[\]'\"(,])vllm(?:==|\s+|\s*:\s*v?|(?: API server)? version:?\s*v?){_V}"),
    ("llm engine (v", "vllm", rf"\bLLM engine \(v{_V}"),
    ("vllm", "vllm_ascend", rf"vllm[-_ ]ascend(?:==|\s+|\s*:\s*v?| version:?\s*v?){_V}"),
    ("vllm-ascend:v", "vllm_ascend", rf"vllm-ascend:v{_V}"),
    ("mindspore", "mindspore", rf"mindspore(?:==|\s+|\s*:\s*| version:?\s*){_V}"),
    ("mindie", "mindie", rf"(?:ascend-)?mindie\s*[:= ]\s*(?:mindie\s*)?{_V}"),
    ("triton", "triton_ascend", rf"triton[-_]ascend(?:==|\s+){_V}"),
    ("triton", "triton", rf"(?:^|[\s\[\]'\"(,])triton(?:==|\s+){_V}"),
    ("transformers", "transformers", rf"transformers(?:==|\s+|\s+version:?\s*){_V}"),
    ("deepspeed", "deepspeed", rf"deepspeed(?:==|\s+|\s+version:?\s*){_V}"),
    ("mindspeed", "mindspeed", rf"mindspeed(?:==|\s+){_V}"),
    ("sglang", "sglang", rf"sglang(?:==|\s+){_V}"),
    ("cann", "cann", rf"\bCANN(?:\s*version)?\s*[:= -]\s*v?{_V}"),
    ("ascend-cann-atb", "nnal", rf"^\s*Ascend-cann-atb\s*:\s*{_V}"),
    ("ascend-toolkit/", "cann", rf"ascend-toolkit/{_V}"),
    ("/cann-", "cann", rf"/cann-{_V}"),
    ("npu-smi", "driver", rf"npu-smi\s+\S+\s+Version:\s*{_V}"),
    ("npu-smi", "npu_smi", rf"npu-smi(?: version:)?\s+{_V}"),
    ("software version", "driver", rf"^\s*Software Version\s*:\s*{_DRIVER}"),
    ("driver", "driver", rf"{_NPU}driver{_IS}{_V}|(?<!network )\bdriver{_IS}{_DRIVER}"),
    ("firmware", "firmware", rf"{_NPU}firmware{_IS}{_V}|(?<!network )\bfirmware{_IS}{_FIRMWARE}"),
    ('"component":', "firmware", r'"device_id":\d+, "component":\w+, "version":(?P<v>\d+(?:\.\d+)+)'),
    ("python", "python", r"\bpython version:?\s*(?P<v>3\.\d{1,2}(?:\.\d+)?)|^Python (?P<v2>3\.\d{1,2}\.\d+)$"),
    ("/python3.", "python", r"/python(?P<v>3\.\d{1,2}(?:\.\d+)?)/"),
    ("python platform:", "kernel", r"^Python platform: Linux-(?P<v>\d+\.\d+.*?)-(?:aarch64|x86_64)-with-"),
    ("libc", "glibc", r"^Libc version: glibc-(?P<v>\d+\.\d+)|^ldd \(.*\) (?P<v2>\d+\.\d+)$"),
    ("os:", "os", r"^OS: (?P<v>\S.{0,80}?)(?: \((?:aarch64|x86_64)\))?$"),
    ("pretty_name=", "os", r"^PRETTY_NAME=\"?(?P<v>[^\"]{1,80})"),
    ("uname", "kernel", r"^\$? ?uname -\w+$"),
]  # fmt: skip
_AFTER_COMMAND = {"uname": r"(?:Linux \S+ )?(?P<v>\d+\.\d+\.\d+\S*)"}
"""Trigger of a reader whose match is a command: the version begins the next line."""
_PACKAGE = re.compile(
    r"Name:\s*(torch|torch[-_]npu|torchvision|vllm|vllm[-_]ascend|mindspore|triton[-_]ascend|transformers)$"
)
_PACKAGE_VERSION = re.compile(rf"Version:\s*{_V}", re.IGNORECASE)

_CHIPS: list[tuple[str, str]] = [
    (r"\bAscend ?950\w*|\b950(?:PR|DT)\b", "950"),
    (r"\bAscend ?910_93\w*|\b910_93\w*|^\|\s*\d+\s+Ascend910\s+\|", "910_93"),
    (r"\b(?:Ascend ?)?910B[1-4](?:-1|C)?\b|\bAscend910B\b", "910B"),
    (r"\bAscend310P\d?\b|\b310P[1-7]?\b", "310P"),
    (r"\bAscend310B\d?\b|\b310B[1-4]?\b", "310B"),
    (r"\bAscend ?910(?:A|Pro[AB]?|Premium[AB]?)\b|\b910(?:A|ProA|ProB|PremiumA)\b", "910A"),
]


class Version(NamedTuple):
    """A version that a line names (`line` is its index)."""

    component: str
    value: str
    line: int


def read_versions(texts: list[str]) -> dict[str, str]:
    """The first version of each component that the lines name, and the chip."""
    versions: dict[str, str] = {}
    for version in find_versions(texts):
        versions.setdefault(version.component, version.value)
    if chip := chip_family("\n".join(texts)):
        versions["chip"] = chip
    return versions


def find_versions(texts: list[str]) -> Iterator[Version]:
    """Every version that the lines name; first what the components' own files say."""
    lowered = "\n".join(texts).lower()
    if "version=" in lowered or "version_dir=" in lowered:
        from npu_kb.intake.outputs import versionfiles

        yield from (Version(*found) for found in versionfiles.versions(texts))
    readers = [reader for reader in _READERS if reader[0] in lowered]
    for index, text in enumerate(texts if readers else []):
        yield from _versions_of(texts, index, readers)
        name = _PACKAGE.match(texts[index - 1].strip()) if index and text.startswith("Version:") else None
        if name and (found := _PACKAGE_VERSION.match(text)):
            yield Version(name[1].replace("-", "_"), found["v"], index)


def _versions_of(texts: list[str], index: int, readers: list[tuple[str, str, str]]) -> Iterator[Version]:
    lowered = texts[index].lower()
    for trigger, component, pattern in readers:
        if trigger not in lowered or not (found := _regex(pattern).search(texts[index])):
            continue
        if trigger in _AFTER_COMMAND:
            after = texts[index + 1] if index + 1 < len(texts) else ""
            found = _regex(_AFTER_COMMAND[trigger]).match(after)
        if found:
            yield Version(component, next(value for value in found.groups() if value), index)


def chip_family(text: str) -> str | None:
    """The family of the first chip that a text names, as entries call it: 910B, 910_93, 310P ..."""
    naming = "\n".join(line for line in text.split("\n") if "310" in line or "910" in line or "950" in line)
    return next((chip for pattern, chip in _CHIPS if _regex(pattern).search(naming)), None) if naming else None


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE)
