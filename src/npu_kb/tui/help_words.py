"""What the help says of each screen, in both languages."""

from __future__ import annotations

HELP: dict[str, tuple[str, str]] = {
    "help browse": (
        "The tree narrows the list, the search line searches as you type, the entry stands below. Walk through an"
        " entry with the arrow keys: Enter on a link follows it, x runs a read-only command, y copies.",
        "左侧目录缩小范围，搜索栏边输入边查，下方显示条目。"
        "用方向键在条目中移动：回车打开链接，x 执行只读命令，y 复制。",
    ),
    "help diagnose": (
        "Causes stand ranked beside the log; > marks lines of evidence and ! lines that speak of an error. Enter on a"
        " cause opens it, Enter on its evidence jumps to the line, Enter on a marked line jumps back.",
        "原因按可能性排序；日志中 > 为证据行，! 为含错误字样的行。"
        "在原因上回车打开详情，在证据上回车跳到日志行，在标记行上回车跳回原因。",
    ),
    "help record": (
        "A new entry from the marked lines, by the same code as `npu-kb record`. What is known is filled in; the"
        " check and the near entries follow what you type. ^S saves the YAML once it is clean.",
        "用选中的日志行新建条目，与 `npu-kb record` 相同。已知内容自动填好，"
        "检查结果与相近条目随输入更新，通过后 ^S 保存为 YAML。",
    ),
    "help environment": (
        "What is wrong with the machine stands on top, as `npu-kb doctor` finds it, then which versions do not go"
        " together; its facts follow, ! marks what is not as it should be. Enter on a machine holds the checklists"
        " against it, (o) marks it; Space ticks a step by hand, and what the facts disprove stays [!]. Enter on an"
        " entry opens it.",
        "最上方是机器的问题（与 `npu-kb doctor` 相同），其次是不配套的版本；其后是机器信息，! 表示异常。"
        "检查清单依据在左侧按回车选定的机器核对，以 (o) 标示；"
        "空格手动勾选步骤，与事实不符的步骤仍显示 [!]。在条目上回车可打开。",
    ),
}
