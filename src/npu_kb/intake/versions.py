"""Versions of the stack's components, as pastes show them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_V = r"(?P<v>\d+(?:\.\d+)+(?:[.-]?(?:rc|alpha|beta|post|dev|T)\d*(?:\.\d+)*)*)"

# (text that must be in the lower-cased line, component, regex)
_READERS: list[tuple[str, str, str]] = [
    ("torch", "torch", rf"(?:^|[\s\[\]'\"(,])torch(?:==|\s+|\s*:\s*| version:?\s*){_V}"),
    ("pytorch version", "torch", rf"PyTorch version:\s*{_V}"),
    ("torch", "torch_npu", rf"torch[-_]npu(?:==|\s+|\s*:\s*| version:?\s*){_V}"),
    ("torchvision", "torchvision", rf"torchvision(?:==|\s+){_V}"),
    ("vllm", "vllm", rf"(?:^|[\s\[\]'\"(,])vllm(?:==|\s+|\s*:\s*v?| version:?\s*v?){_V}"),
    ("vllm", "vllm_ascend", rf"vllm[-_ ]ascend(?:==|\s+|\s*:\s*v?| version:?\s*v?){_V}"),
    ("vllm-ascend:v", "vllm_ascend", rf"vllm-ascend:v{_V}"),
    ("mindspore", "mindspore", rf"mindspore(?:==|\s+|\s*:\s*| version:?\s*){_V}"),
    ("mindie", "mindie", rf"(?:ascend-)?mindie\s*[:= ]\s*(?:mindie\s*)?{_V}"),
    ("triton", "triton_ascend", rf"triton[-_]ascend(?:==|\s+){_V}"),
    ("transformers", "transformers", rf"transformers(?:==|\s+|\s+version:?\s*){_V}"),
    ("deepspeed", "deepspeed", rf"deepspeed(?:==|\s+|\s+version:?\s*){_V}"),
    ("cann", "cann", rf"\bCANN(?:\s*version)?\s*[:= -]\s*v?{_V}"),
    ("ascend-toolkit/", "cann", rf"ascend-toolkit/{_V}"),
    ("/cann-", "cann", rf"/cann-{_V}"),
    ("npu-smi", "driver", rf"npu-smi\s+\S+\s+Version:\s*{_V}"),
    ("package_version", "driver", rf"^package_version={_V}"),
    ("driver", "driver", rf"(?<!network )\bdriver(?:\s*version)?\s*[:= ]\s*{_V}"),
    ("firmware", "firmware", rf"\bfirmware(?:\s*version)?\s*[:= ]\s*{_V}"),
    ("python", "python", r"\bpython version:?\s*(?P<v>3\.\d{1,2}(?:\.\d+)?)|^Python (?P<v2>3\.\d{1,2}\.\d+)$"),
    ("/python3.", "python", r"/python(?P<v>3\.\d{1,2})/"),
]  # fmt: skip

_CHIPS: list[tuple[str, str]] = [
    (r"\bAscend ?950\w*|\b950(?:PR|DT)\b", "950"),
    (r"\bAscend ?910_93\w*|\b910_93\w*", "910_93"),
    (r"\b(?:Ascend ?)?910B[1-4](?:-1|C)?\b|\bAscend910B\b", "910B"),
    (r"\bAscend310P\d?\b|\b310P[1-7]?\b", "310P"),
    (r"\bAscend310B\d?\b|\b310B[1-4]?\b", "310B"),
    (r"\bAscend910(?:A|Pro[AB]?|Premium[AB]?)\b|\b910(?:A|ProA|ProB|PremiumA)\b", "910A"),
]


def read_versions(texts: list[str]) -> dict[str, str]:
    """The first version of each component that the lines name, and the chip."""
    whole = "\n".join(texts)
    lowered = whole.lower()
    readers = [reader for reader in _READERS if reader[0] in lowered]
    if "compatible_version_drv" in lowered:  # a firmware's version.info, whose package_version is the firmware's
        readers = [reader for reader in readers if reader[0] != "package_version"]
    versions: dict[str, str] = {}
    for text in texts if readers else []:
        for component, value in _versions_of(text, readers):
            versions.setdefault(component, value)
    if chip := _chip_of(whole):
        versions["chip"] = chip
    return versions


def _versions_of(text: str, readers: list[tuple[str, str, str]]) -> Iterator[tuple[str, str]]:
    lowered = text.lower()
    for trigger, component, pattern in readers:
        if trigger in lowered and (found := _regex(pattern).search(text)):
            yield component, next(value for value in found.groups() if value)


def _chip_of(text: str) -> str | None:
    if not any(series in text for series in ("310", "910", "950")):
        return None
    return next((chip for pattern, chip in _CHIPS if _regex(pattern).search(text)), None)


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
