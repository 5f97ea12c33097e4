"""npu-kb: name the root cause of an Ascend NPU failure from what the terminal shows.

from npu_kb import Knowledge, diagnose
diagnosis = diagnose(text, Knowledge.load())
"""

from npu_kb.version import __version__

__all__ = ["Diagnosis", "Knowledge", "__version__", "diagnose"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from npu_kb.diagnosis.diagnose import diagnose
    from npu_kb.diagnosis.model import Diagnosis
    from npu_kb.knowledge.base import Knowledge

_HOMES = {
    "Diagnosis": "npu_kb.diagnosis.model",
    "Knowledge": "npu_kb.knowledge.base",
    "diagnose": "npu_kb.diagnosis.diagnose",
}


def __getattr__(name: str) -> object:
    """Import the public names when they are first used, so that `import npu_kb` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
