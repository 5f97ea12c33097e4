"""All pairs that are judged, in the order in which to look at them."""

from __future__ import annotations

from typing import NamedTuple

from npu_kb.environment.rules_driver import cann_driver, cann_kernels, cann_python
from npu_kb.environment.rules_firmware import driver_firmware
from npu_kb.environment.rules_serving import pins, triton_ascend_triton, triton_chip, vllm_chip
from npu_kb.environment.rules_torch import torch_npu_cann, torch_npu_python, torch_npu_torch
from npu_kb.environment.verdict import Rule


class Pair(NamedTuple):
    """Two components and the rule that judges them; of a `core` pair a missing version is told."""

    left: str
    right: str
    rule: Rule
    core: bool = False


PAIRS = [
    Pair("torch_npu", "torch", torch_npu_torch, core=True),
    Pair("torch_npu", "python", torch_npu_python, core=True),
    Pair("torch_npu", "cann", torch_npu_cann, core=True),
    Pair("cann", "kernels", cann_kernels),
    Pair("cann", "driver", cann_driver, core=True),
    Pair("driver", "firmware", driver_firmware, core=True),
    Pair("cann", "python", cann_python),
    *(Pair("vllm_ascend", name, pins("vllm_ascend", name), core=name == "vllm")
      for name in ("vllm", "torch", "torch_npu", "cann", "python", "triton_ascend")),
    Pair("vllm_ascend", "chip", vllm_chip),
    *(Pair("triton_ascend", name, pins("triton_ascend", name)) for name in ("torch", "torch_npu", "cann", "python")),
    Pair("triton_ascend", "triton", triton_ascend_triton),
    Pair("triton_ascend", "chip", triton_chip),
    *(Pair("mindspore", name, pins("mindspore", name)) for name in ("cann", "driver", "python")),
    *(Pair(owner, name, pins(owner, name)) for owner in ("mindie", "mindspeed") for name in ("cann", "torch")),
]  # fmt: skip
