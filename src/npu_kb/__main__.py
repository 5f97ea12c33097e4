from npu_kb.cli import main

raise SystemExit(main())
