from npu_kb.cli import run

raise SystemExit(run())
