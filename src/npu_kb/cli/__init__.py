"""The command line: a module for each command, imported only when it is called.

A command's module has `add_arguments(parser)` and `run(options)`, which returns the exit status: 0 a cause was named
(found, clean), 1 none, 2 bad usage or input. Standard output carries only the answer.
"""

from __future__ import annotations

import argparse
import codecs
import gc
import io
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

from npu_kb.cli.options import BAD, FOUND, language_of
from npu_kb.errors import NpuKbError
from npu_kb.version import __version__

COMMANDS: dict[str, tuple[str, str]] = {
    "why": ("why", "Name the cause of a failure from what the terminal shows."),
    "doctor": ("doctor", "Name what is wrong with this machine, from its facts alone."),
    "env": ("env", "Show, save, compare and judge what this machine is made of."),
    "collect": ("collect", "Keep the scene before a restart: outputs, logs and facts in one redacted archive."),
    "checklist": ("checklist", "Print a checklist, and tick what the facts of a machine prove."),
    "cluster": ("cluster", "Name the rank of a job that failed first, and why, from the logs of all."),
    "merge": ("merge", "Tell the scans of several hosts as one story."),
    "scan": ("scan", "Read the logs of a host, of any size, into rows for `merge`."),
    "watch": ("watch", "Follow growing logs and tell each new fault once."),
    "explain": ("explain", "Explain error codes of any family; a prefix lists its family."),
    "search": ("search", "Search the knowledge in English, Chinese or by code."),
    "show": ("show", "Show one entry at length."),
    "tui": ("tui", "Browse, diagnose and record on one screen, in a terminal."),
    "history": ("history", "List what was diagnosed on this machine."),
    "feedback": ("feedback", "Say whether an answer was right; two wrong ones show an entry less sure."),
    "stats": ("stats", "Count what fails most on this machine, and what had no answer."),
    "record": ("record", "Make an entry of a finding: patterns, duplicates, gates, YAML."),
    "check": ("check", "Check knowledge: fields, samples, links, patterns, commands."),
    "runbook": ("runbook", "Write the knowledge as Markdown, one file or a linked tree."),
    "bundle": ("bundle", "Carry program and knowledge to a host without a network."),
    "sources": ("sources", "List the folders of knowledge and what each adds or replaces."),
    "import": ("import_", "Turn an outside source into knowledge."),
}
"""The module and the summary of each command."""
IN_CHINESE = {
    "why": "根据终端输出或日志指出故障原因。",
    "doctor": "仅凭本机信息指出本机的问题。",
    "env": "查看、保存、比较本机环境，判断版本是否配套。",
    "collect": "重启前保留现场：命令输出、日志、环境信息打成一个已脱敏的归档。",
    "checklist": "输出检查清单，并勾选本机信息已能证明的步骤。",
    "cluster": "从所有 rank 的日志中找出最先出错的 rank 及原因。",
    "merge": "把多台主机的扫描结果合并分析。",
    "scan": "扫描一台主机上任意大小的日志，结果供 `merge` 使用。",
    "watch": "持续跟踪日志，每个新故障提示一次。",
    "explain": "解释任意类别的错误码；给出前缀则列出整个类别。",
    "search": "按中文、英文或错误码检索知识库。",
    "show": "完整显示一个条目。",
    "tui": "全屏终端界面：浏览、诊断、记录。",
    "history": "列出本机做过的诊断。",
    "feedback": "反馈结论是否正确；两次判错的条目会降低可信程度。",
    "stats": "统计本机最常见的故障，以及没有答案的日志。",
    "record": "把一次排查写成条目：识别文本、查重、检查、YAML。",
    "check": "检查知识：字段、样例、链接、识别文本、命令。",
    "runbook": "把知识导出为 Markdown：单个文件或互相链接的目录。",
    "bundle": "把程序和知识打成一个文件，带到没有网络的主机。",
    "sources": "列出各知识目录，以及各自新增或替换了什么。",
    "import": "把外部资料转成知识。",
}
"""The summary of each command."""
_SUMMARY = {"en": "Troubleshooting assistant for Ascend NPU stacks.", "zh": "昇腾 NPU 软硬件栈故障排查助手。"}
_TITLE = {"en": "commands", "zh": "命令"}


def run() -> NoReturn:
    """The console script: `main`, without a fifth of its time: no garbage is collected, no module taken down."""
    gc.set_threshold(200_000)
    status = main()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed by whoever reads it, or never open
            stream.flush()
    os._exit(status)


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    words = [_readable(word) for word in (sys.argv[1:] if arguments is None else arguments)]
    _forgiving_streams()
    try:
        if not words:
            build_parser().print_help(sys.stderr)
            return BAD
        _check_command(words[0])
        parser = build_parser(words)
        options, unknown = parser.parse_known_args(words)
        if unknown:
            raise NpuKbError(_unknown(unknown, parser, options.command))
        status = int(_module(options.command).run(options))
        sys.stdout.flush()
        return status
    except NpuKbError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _fail(f"the answer cannot be written: {error.strerror}")


def _check_command(word: str) -> None:
    """NpuKbError with the likeliest command if the first word is none."""
    if word in COMMANDS or word.startswith("-"):
        return
    import difflib

    near = difflib.get_close_matches(word, COMMANDS, 1, 0.5)
    hint = f"did you mean {near[0]}?" if near else "`npu-kb --help` lists the commands"
    raise NpuKbError(f"there is no command {word[:40]!r}; {hint}")


def _unknown(words: list[str], parser: argparse.ArgumentParser, command: str) -> str:
    """What is said of words that the command does not take: the likeliest option where one is misspelt."""
    import difflib

    option = next((word.partition("=")[0] for word in words if word.startswith("-")), None)
    if option is None:
        return f"{command} takes no {words[0][:40]!r}; `npu-kb {command} --help` says what it takes"
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    near = difflib.get_close_matches(option, commands.choices[command]._option_string_actions, 1, 0.7)
    hint = f"did you mean {near[0]}?" if near else f"`npu-kb {command} --help` lists them"
    return f"{command} has no option {option[:40]!r}; {hint}"


def _fail(message: str) -> int:
    from npu_kb.intake.clean import printable

    if sys.stderr is not None:
        print(f"npu-kb: {printable(' '.join(message.split()))}", file=sys.stderr)
    return BAD


def _readable(word: str) -> str:
    """An argument that can be printed: file names keep their bytes, which show as replacement characters elsewhere."""
    return word if os.access(word, os.F_OK) else word.encode("utf-8", "replace").decode()


def _forgiving_streams() -> None:
    """Never die of a character that a terminal cannot show, nor of a closed stream; plain ASCII becomes UTF-8."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            ascii_only = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(encoding="utf-8" if ascii_only else None, errors="replace")


def build_parser(words: list[str] | None = None) -> argparse.ArgumentParser:
    """The parser of all commands, or of the one that is the command line's first word; all its words may be given."""
    lang = _language_of_help(words or [])
    parser = argparse.ArgumentParser(prog="npu-kb", description=_SUMMARY[lang], formatter_class=_formatter)
    parser.add_argument("--version", action="version", version=f"npu-kb {__version__}")
    commands = parser.add_subparsers(
        title=_TITLE[lang], metavar="COMMAND", dest="command", required=True, prog="npu-kb"
    )
    for name in words[:1] if words and words[0] in COMMANDS else COMMANDS:
        help = IN_CHINESE[name] if lang == "zh" else COMMANDS[name][1]
        _module(name).add_arguments(commands.add_parser(name, help=help, description=help, formatter_class=_formatter))
    return parser


def _language_of_help(words: list[str]) -> str:
    """The language of the summaries: that of answers; English where no help is asked for, to read no settings then."""
    if words and not {"-h", "--help"} & set(words):
        return "en"
    option = argparse.ArgumentParser(add_help=False)
    option.add_argument("--lang")
    asked = option.parse_known_args(words)[0].lang
    with suppress(NpuKbError):  # help is there for whoever has broken the settings, too
        return "zh" if language_of(asked) == "zh" else "en"
    return "en"


def _module(command: str) -> Any:
    return import_module(f"npu_kb.cli.{COMMANDS[command][0]}")


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Lines of a fixed width; the default would import shutil on every start."""
    return argparse.HelpFormatter(prog, width=100)
