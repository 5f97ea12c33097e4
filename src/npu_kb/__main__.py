from npu_kb.cli import run

run()
