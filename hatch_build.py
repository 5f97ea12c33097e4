"""Build hook: compile the built-in knowledge into the wheel, so that the first run is as fast as the next."""

import sys
from pathlib import Path

if sys.version_info < (3, 10):  # noqa: UP036  pip may come here before it looks at requires-python
    found = ".".join(map(str, sys.version_info[:2]))
    raise SystemExit(f"npu-kb needs Python 3.10 or newer, and this is Python {found}: install it with a newer python3")

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileKnowledge(BuildHookInterface):
    """Adds npu_kb/knowledge.db to a wheel; an editable install compiles on its first run instead."""

    def initialize(self, version, build_data):
        if self.target_name != "wheel" or version == "editable":
            return
        root = Path(self.root)
        sys.path.insert(0, str(root / "src"))
        from npu_kb.knowledge.compile import compile_knowledge, write_database

        database = compile_knowledge([root / "kb"], "wheel")
        ((problems,),) = database.execute("SELECT value FROM meta WHERE key = 'problems'")
        if problems:
            raise SystemExit(f"knowledge is not clean, run npu-kb check:\n{problems}")
        target = write_database(database, root / "build", "knowledge")
        build_data["force_include"][str(target)] = "npu_kb/knowledge.db"
        build_data["pure_python"] = True
