"""What the components that are judged are called."""

from __future__ import annotations

NAMES = {
    "vllm_ascend": "vLLM-Ascend", "vllm": "vLLM", "torch": "torch", "torch_npu": "torch_npu", "cann": "CANN",
    "python": "Python", "triton_ascend": "triton-ascend", "mindspore": "MindSpore", "mindie": "MindIE",
    "driver": "driver", "firmware": "firmware", "chip": "chip", "mindspeed": "MindSpeed",
    "kernels": "kernels", "triton": "triton",
}  # fmt: skip
NAMES_ZH = {"driver": "驱动", "firmware": "固件", "chip": "芯片"}
"""Those that are called otherwise in Chinese."""


def name_of(component: str, lang: str) -> str:
    """A component's name in `zh`, or in any other language in English."""
    name = NAMES.get(component, component)
    return NAMES_ZH.get(component, name) if lang == "zh" else name
