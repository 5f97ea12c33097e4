"""What the screens say, in both languages; names of verdicts, effects and entry parts are those of render/text.py."""

from __future__ import annotations

from npu_kb.render.text import choose
from npu_kb.tui.help_words import HELP

_WORDS: dict[str, tuple[str, str]] = {
    # screens and keys
    "browse": ("Browse", "浏览"),
    "diagnose": ("Diagnose", "诊断"),
    "record": ("Record", "记录"),
    "environment": ("Environment", "环境"),
    "help": ("help", "帮助"),
    "quit": ("quit", "退出"),
    "quit with": ("^Q quits.", "按 ^Q 退出。"),
    "language": ("中文", "English"),
    "theme": ("theme", "配色"),
    "palette": ("all commands", "命令面板"),
    "back": ("back", "返回"),
    "search": ("search", "搜索"),
    "filter": ("filter", "筛选"),
    "history": ("last searches", "搜索历史"),
    "zoom": ("whole screen", "全屏"),
    "next part": ("next part", "下一栏"),
    "copy": ("copy", "复制"),
    "copy answer": ("copy answer", "复制答案"),
    "open link": ("open", "打开"),
    "run": ("run", "执行"),
    "paste": ("paste", "粘贴"),
    "open file": ("open file", "打开文件"),
    "next error": ("next error", "下一个错误"),
    "previous error": ("previous error", "上一个错误"),
    "next evidence": ("next evidence", "下一处证据"),
    "previous evidence": ("previous evidence", "上一处证据"),
    "only evidence": ("only matched lines", "仅看匹配行"),
    "one rank": ("one rank", "按 rank 筛选"),
    "jump": ("jump to the line / back to the cause", "跳到日志行 / 回到原因"),
    "codes": ("explain line", "解释此行"),
    "find": ("find text", "查找文本"),
    "next log": ("next log", "下一个日志"),
    "forget": ("clear all", "清空"),
    "mark": ("mark lines", "选择行"),
    "record this": ("record", "记录为条目"),
    "right": ("right", "正确"),
    "wrong": ("wrong", "错误"),
    "not it": ("not it", "不是它"),
    "cancel": ("cancel", "取消"),
    "save": ("save", "保存"),
    "check now": ("check now", "立即检查"),
    "mark machine": ("mark two", "标记两台"),
    "compare": ("compare", "对比"),
    "tick": ("tick", "勾选"),
    "export": ("export", "导出"),
    "read again": ("reread", "重新读取"),
    "all pairs": ("all version pairs", "全部版本组合"),
    "copy all": ("copy all", "复制全部"),
    "open item": ("open the entry or command", "打开条目或命令"),
    "with machine": ("+machine", "计入本机"),
    "line start": ("start of line", "行首"),
    "whole lines": ("whole lines / words only", "整行 / 仅正文"),
    "scroll": ("scroll sideways", "左右滚动"),
    # browse
    "all entries": ("All entries", "全部条目"),
    "search for": (
        "Search: words, a code, severity:fault, torch_npu:2.1.0 ...",
        "搜索：关键词、错误码、severity:fault、torch_npu:2.1.0 ……",
    ),
    "found": ("Entries: {count}", "条目：{count}"),
    "preparing": ("Entries: {count}; preparing the full-text search ...", "条目：{count}；正在准备全文检索……"),
    "none found": (
        "Nothing found. Try fewer words, or the exact code or error text.",
        "没有找到。请减少关键词，或直接输入错误码、报错原文。",
    ),
    "entry": ("Entry", "条目"),
    "causes": ("Brings about", "会引发"),
    "caused by": ("Brought about by", "由其引发"),
    "related": ("Related", "相关"),
    "versions": ("Versions", "版本"),
    "filters": (
        "Filter by (versions: type torch_npu:2.1.0 into the search)",
        "筛选条件（版本：在搜索栏输入 torch_npu:2.1.0）",
    ),
    "no filter": ("No filter", "清除筛选"),
    "no searches": ("No searches yet.", "还没有搜索记录。"),
    "severity": ("severity", "严重程度"),
    "status": ("status", "状态"),
    "chip": ("chip", "芯片"),
    # diagnose
    "no log": (
        "Nothing to diagnose yet.\n\nPaste the log into this window, or press p and paste it there.\n"
        "Press o to open a file or folder.\nnpu-kb tui LOG opens it at once.\n\n"
        "Press e to diagnose this machine by its facts alone.",
        "还没有日志。\n\n直接把日志粘贴到本窗口，或按 p 后粘贴。\n"
        "按 o 打开文件或目录。\n也可以用 npu-kb tui LOG 直接打开。\n\n按 e 仅凭本机信息诊断。",
    ),
    "ranked": ("Causes", "原因"),
    "log": ("Log", "日志"),
    "lines": ("{count} lines", "{count} 行"),
    "reading": ("reading {percent}% (Esc cancels)", "正在读取 {percent}%（Esc 取消）"),
    "reading facts": ("reading this machine ... (Esc cancels)", "正在读取本机……（Esc 取消）"),
    "working": ("diagnosing ... (Esc cancels)", "正在诊断……（Esc 取消）"),
    "cancelled": ("Cancelled.", "已取消。"),
    "matched lines": ("matched lines only", "仅匹配行"),
    "rank": ("{rank} only", "仅 {rank}"),
    "no ranks": ("No line of this log names a rank.", "日志中没有 rank 信息。"),
    "searching": ("searching ... (Esc cancels)", "正在查找……（Esc 取消）"),
    "no more": ("No more in this direction.", "该方向没有更多了。"),
    "marked": ("marked: {count} (r records them)", "已选 {count} 行，按 r 记录"),
    "paste here": ("Paste the log; ^D diagnoses it, Esc goes back", "在此粘贴日志；^D 开始诊断，Esc 返回"),
    "pasted": ("paste", "粘贴内容"),
    "path": ("Path of a file or folder; Enter opens it", "文件或目录路径；回车打开"),
    "find what": ("Text to find; Enter", "要查找的文本；回车"),
    "line of": ("Line {line} of {log}", "{log} 第 {line} 行"),
    "no codes": ("No code in this line.", "此行没有错误码。"),
    "facts": ("Facts and versions", "事实与版本"),
    "set aside": ("Set aside as not it (d takes it back)", "已排除（按 d 撤销）"),
    "what instead": ("What was it instead? (kept redacted; may be empty)", "实际原因是什么？（脱敏保存，可留空）"),
    "kept report": (
        "Kept: {id} is {verdict} ({right} right, {wrong} wrong so far).",
        "已记录：{id} {verdict}（累计正确 {right}，错误 {wrong}）。",
    ),
    "withdrawn": ("Taken back: {id} counts as a cause again.", "已撤销：{id} 重新列为原因。"),
    "no answer here": ("Choose a cause first.", "请先选中一个原因。"),
    "with facts": ("with this machine's facts", "含本机信息"),
    # environment
    "this machine": ("This machine", "本机"),
    "snapshots": ("Snapshots", "快照"),
    "checklists": ("Checklists", "检查清单"),
    "sift": ("/ filter: words", "/ 筛选：关键词"),
    "reading now": ("reading ... (Esc cancels)", "正在读取……（Esc 取消）"),
    "reading machine": (
        "Reading with read-only commands, for ten seconds at most.",
        "正在用只读命令读取，最长 10 秒。",
    ),
    "reading file": ("Reading the file.", "正在读取文件。"),
    "still reading": ("{name} is still being read.", "正在读取{name}，请稍候。"),
    "not read": ("not read", "未读取"),
    "how to read": ("Not read. Press r to read it.", "尚未读取，按 r 读取。"),
    "read failed": ("Not read: {reason}\n\nr reads it again.", "读取失败：{reason}\n\n按 r 重新读取。"),
    "no machine yet": ("{name} was not read yet (r reads it).", "{name}尚未读取（按 r 读取）。"),
    "none sifted": ("No line holds these words (Esc clears the filter).", "没有包含这些关键词的内容（Esc 清除筛选）。"),
    "facts of": ("Facts of: {name}", "依据：{name}"),
    "about checklists": (
        "Checklists are held against the machine with {mark} in the tree. Enter on another machine there chooses it.",
        "检查清单依据左侧带 {mark} 的机器核对。在左侧另一台机器上按回车即可改选。",
    ),
    "chosen machine": ("Checklists are held against: {name}", "检查清单现依据：{name}"),
    "about snapshots": (
        "Snapshots are machines as they stood at one time.\n\ns keeps the one shown.\n"
        "o opens a file that `npu-kb env save` wrote, a file of pasted outputs (npu-smi, pip list, version files), or a"
        " folder of snapshots.\nThose of the working folder are listed too.\n\n"
        "To compare two: m on each of them, then c.",
        "快照记录机器某一时刻的状态。\n\n按 s 保存当前显示的机器。\n"
        "按 o 打开 `npu-kb env save` 保存的文件、粘贴了命令输出的文件（npu-smi、pip list、版本文件），"
        "或快照所在目录。\n"
        "当前工作目录中的快照也会列出。\n\n对比两台机器：分别按 m 标记，再按 c。",
    ),
    "good pairs": ("Go together: {count}", "配套或兼容：{count}"),
    "more rows": ("... and {count} more; filter with /", "……另有 {count} 行，可按 / 筛选"),
    "nothing told": ("Nothing proved or ticked yet.", "尚无已证实或勾选的步骤。"),
    "marked machine": ("Marked: {name}. Mark another one, then press c.", "已标记：{name}。再标记一台后按 c 对比。"),
    "marked both": ("Marked: {name}. c compares them.", "已标记：{name}。按 c 对比。"),
    "mark taken": ("No longer marked: {name}", "已取消标记：{name}"),
    "mark two": ("Mark two machines with m, then press c.", "先按 m 标记两台机器，再按 c 对比。"),
    "no checklist here": ("Choose a checklist first.", "请先选中一个检查清单。"),
    "no step here": ("Choose a step of a checklist first.", "请先选中检查清单中的一个步骤。"),
    "ticks aside": (
        "The file of ticks was damaged: it is kept as {path}.",
        "勾选记录文件已损坏，原文件另存为 {path}。",
    ),
    "tick not kept": ("The tick lasts until you quit: it cannot be kept.", "无法保存勾选，退出后失效。"),
    "save where": ("File to keep the snapshot of {name} in; Enter", "{name}的快照保存到哪个文件；回车"),
    "export where": ("File to write the checklist to (Markdown); Enter", "检查清单导出到哪个文件（Markdown）；回车"),
    # acting
    "copied": ("Copied (terminal clipboard, OSC 52). Also in {path}", "已复制到终端剪贴板（OSC 52），并写入 {path}"),
    "copied only": ("Copied to the terminal's clipboard (OSC 52).", "已复制到终端剪贴板（OSC 52）。"),
    "nothing to copy": ("Nothing to copy here.", "此处没有可复制的内容。"),
    "not runnable": (
        "Only read-only commands of the command list are run from here; copy it instead.",
        "此处只执行命令清单中的只读命令，请复制后自行执行。",
    ),
    "run this": ("Run this on this machine?", "在本机执行以下命令？"),
    "arguments": (
        "Argument list, no shell; at most {seconds} s and {bytes} bytes of output",
        "参数列表，不经过 shell；最长 {seconds} 秒，输出最多 {bytes} 字节",
    ),
    "reads into": ("its output goes into", "其输出作为下列命令的输入"),
    "needs root": ("Needs root.", "需要 root 权限。"),
    "yes run": ("Run", "执行"),
    "no": ("Cancel", "取消"),
    "running": ("running (Esc cancels) ...", "正在执行（Esc 取消）……"),
    "ended done": ("exit status {status}", "退出状态 {status}"),
    "ended time": ("stopped at the time limit", "到达时限，已停止"),
    "ended size": ("stopped at the output limit", "到达输出上限，已停止"),
    "ended cancelled": ("cancelled", "已取消"),
    "ended failed": ("could not be run", "无法执行"),
    "into diagnosis": ("The output is part of the diagnosis now (F3).", "输出已并入诊断（F3）。"),
    "trouble": ("Means trouble", "异常特征"),
    # record
    "form": ("New entry", "新条目"),
    "check": ("Check", "检查"),
    "match": ("a text that recognises it", "识别文本"),
    "preview": ("Preview", "预览"),
    "near entries": ("Near", "相近条目"),
    "nothing to record": (
        "Nothing to record yet.\n\n1. Press F3, and paste a log there, or open one with o.\n"
        "2. Mark its telling lines: v on the first and on the last.\n3. Press r: they become a new entry here.",
        "还没有可记录的内容。\n\n1. 按 F3，在那里粘贴日志，或按 o 打开日志文件。\n"
        "2. 选中关键行：在首行和末行各按一次 v。\n3. 按 r，即可用这些行在此新建条目。",
    ),
    "no form": ("Nothing to save yet: lines of a log come first (F3).", "还没有可保存的内容：请先选取日志行（F3）。"),
    "getting ready": ("Holding these lines against all known texts ...", "正在与所有已知文本比对……"),
    "proposals": ("Recognised by (Space chooses)", "识别依据（空格选择）"),
    "no proposals": (
        "No text of these lines tells it apart: mark others in the log (F3).",
        "这些行中没有可用于识别的文本：请在日志（F3）中另选。",
    ),
    "answered": ("Answered already by {id}", "已有条目 {id} 可回答"),
    "still missing": ("Still missing: {names}", "还缺：{names}"),
    "checking": ("checking ...", "正在检查……"),
    "clean": ("The gates find nothing.", "检查通过。"),
    "no near": ("No entry comes near.", "没有相近条目。"),
    "not clean": ("Not saved: the check finds problems, see Check.", "未保存：检查发现问题，见“检查”。"),
    "not yet": ("Not saved: fields are missing: {names}", "未保存：还缺 {names}"),
    "saved": ("Saved: {path}", "已保存：{path}"),
    "saving": ("Checking and saving ...", "正在检查并保存……"),
    "reloaded": ("Knowledge read anew: {count} entries.", "知识库已重新载入：{count} 个条目。"),
    "excerpt": ("From these lines (redacted)", "取自以下行（已脱敏）"),
    # help and palette
    "palette search": ("Search for a command ...", "搜索命令……"),
    "go to": ("Go to {name}", "转到{name}"),
    "use theme": ("Theme: {name}", "配色：{name}"),
    "use language": ("Language: {name}", "语言：{name}"),
    "help of": ("Keys: {name}", "按键：{name}"),
    "everywhere": ("Everywhere", "通用"),
    **HELP,
}

_NAMES: dict[str, dict[str, tuple[str, str]]] = {
    "layer": {
        "hardware": ("hardware", "硬件"), "driver": ("driver", "驱动"), "container": ("container", "容器"),
        "system": ("system", "系统"), "cann": ("CANN", "CANN"), "framework": ("framework", "框架"),
        "operator": ("operator", "算子"), "communication": ("communication", "通信"),
        "serving": ("serving", "推理服务"), "model": ("model", "模型"),
    },
    "status": {
        "draft": ("draft", "草稿"), "reported": ("reported", "已报告"), "confirmed": ("confirmed", "已确认"),
        "deprecated": ("deprecated", "已废弃"),
    },
}  # fmt: skip


def say(name: str, lang: str, /, **words: object) -> str:
    """A text of the interface; English where both languages are shown."""
    english, chinese = _WORDS[name]
    return (chinese if lang == "zh" else english).format(**words)


def value_name(field: str, value: str, lang: str) -> str:
    """What a layer or status is called."""
    english, chinese = _NAMES[field].get(value, (value, value))
    return choose({"en": english, "zh": chinese}, lang)[0]
