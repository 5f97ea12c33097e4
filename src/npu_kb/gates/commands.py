"""Gates on the commands of an entry: they exist, they are right, and their effect is told."""

from __future__ import annotations

import re
from collections.abc import Iterator

from npu_kb.errors import Problem
from npu_kb.gates.context import Context
from npu_kb.gates.gate import gate
from npu_kb.gates.prose import texts_of
from npu_kb.knowledge.commands import EFFECTS
from npu_kb.knowledge.entryfile import LoadedEntry
from npu_kb.knowledge.yamlfile import Where

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_INNER = re.compile(r"(?:-c|ssh\s+\S+)\s+(?:'([^']*)'|\"([^\"]*)\")")
"""A command line inside a command line."""
_SEPARATOR = re.compile(r"\|\|?|&&?|;|\n|\$\(|`")
_LEAD = re.compile(
    r"\s*(?:(?:sudo|nohup|time|env|do|then|else|exec|xargs|timeout\s+\S+|\w+=\S*|-[-\w]+)\s+|/(?:usr/)?s?bin/)*"
)
"""What may stand before the name of a program."""
_DOES = {
    "reset": [
        r"reboot", r"shutdown", r"poweroff", r"halt", r"init\s+[06]", r"npu-smi\s+set\s.*-t\s+reset",
        r"ipmitool\s.*\bpower\s+(?:cycle|reset|off)",
    ],
    "restart": [
        r"kill", r"pkill", r"killall", r"systemctl\s+(?:restart|stop|start|reload)", r"ray\s+stop",
        r"service\s+\S+\s+(?:restart|stop|start)", r"(?:docker|podman|nerdctl)\s+(?:restart|stop|kill)",
        r"kubectl\s+(?:delete|drain|rollout\s+restart)",
    ],
    "write": [
        r"rm", r"mv", r"cp\s.*\s/(?:etc|usr|lib)\S*", r"ln", r"chmod", r"chown", r"dd", r"truncate", r"mkfs\S*",
        r"u?mount", r"useradd", r"usermod", r"userdel", r"groupadd", r"tee", r"sed\s+(?:-\w+\s+)*-\w*i",
        r"modprobe", r"rmmod", r"insmod", r"sysctl\s+(?:-\w+\s+)*-[wp]", r"swapoff", r"ipcrm", r"export", r"unset",
        r"crontab\s+-r",
        r"(?:python3?\s+-m\s+|uv\s+)?pip3?\s+(?:install|uninstall)", r"conda\s+(?:install|remove|update)",
        r"(?:apt|apt-get|yum|dnf|zypper)\s+(?:\S+\s+)*(?:install|remove|purge|upgrade|update|erase)",
        r"rpm\s+-[iUe]", r"dpkg\s+-[irP]", r"\S+\.run\s.*--(?:full|install|upgrade|uninstall)",
        r"(?:docker|podman|nerdctl)\s+(?:rm|rmi|system\s+prune|volume\s+rm)",
        r"git\s+(?:checkout|reset|clean|pull|stash)",
        r"kubectl\s+(?:apply|edit|patch|label|scale|create)",
        r"systemctl\s+(?:enable|disable|mask|unmask|daemon-reload)",
        r"npu-smi\s+(?:set|clear|upgrade)", r"hccn_tool\s(?:.*\s)?-s", r"find\s.*-(?:delete|exec\s+rm)",
    ],
}  # fmt: skip
"""What each effect looks like at the start of a command, the strongest first."""
_PROGRAMS = {effect: re.compile(rf"(?:{'|'.join(forms)})(?![\w-])") for effect, forms in _DOES.items()}
_REDIRECT = re.compile(r">\s*/(?:etc|proc|sys|usr|boot)/")


@gate()
def commands_exist(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """Commands named by id are in commands.yaml."""
    for i, check in enumerate(item.entry.diagnose):
        if check.command and context.knowledge.command(check.command) is None:
            yield item.file.problem(("diagnose", i, "command"), f"{check.command!r} is not in kb/commands.yaml")


@gate()
def no_refused_command(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """No command line is one of the wrong forms that public guides spread."""
    lines = [(where, run) for where, run, _ in _command_lines(item)]
    lines += [((*where, "en"), text.en) for where, text in texts_of(item)]
    for where, line in lines:
        if refusal := context.commands.refusal(line):
            yield item.file.problem(where, f"wrong command: {refusal.why['en']} Use: {refusal.instead}")


@gate()
def effects_are_told(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """A command that changes something is not told to be read-only, nor one that resets to do less."""
    for where, line, effect in _command_lines(item):
        does = effect_of(line)
        if EFFECTS.index(does) > EFFECTS.index(effect) and (effect == "read" or does == "reset"):
            yield item.file.problem(where, f"does more than its effect ({effect}) says; set `effect: {does}`")


def _command_lines(item: LoadedEntry) -> Iterator[tuple[Where, str, str]]:
    """(place, command line, the effect that is told) of all that an entry wants to be run."""
    for i, fix in enumerate(item.entry.fix):
        if fix.run:
            yield ("fix", i, "run"), fix.run, fix.effect
    for i, check in enumerate(item.entry.diagnose):
        if check.run:
            yield ("diagnose", i, "run"), check.run, check.effect


def effect_of(line: str) -> str:
    """The strongest effect that a command line seems to have; `read` where nothing is known."""
    parts = [*_SEPARATOR.split(_QUOTED.sub("''", line))]
    inner = [effect_of(first or second) for first, second in _INNER.findall(line)]
    found = [effect for effect, pattern in _PROGRAMS.items() for part in parts if _starts(pattern, part)]
    written = ["write"] if _REDIRECT.search(_QUOTED.sub("''", line)) else []
    return max([*inner, *found, *written, "read"], key=EFFECTS.index)


def _starts(pattern: re.Pattern[str], part: str) -> bool:
    lead = _LEAD.match(part)
    return pattern.match(part, lead.end() if lead else 0) is not None
