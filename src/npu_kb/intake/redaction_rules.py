"""What redaction looks for, and what stands in its place: patterns of secrets, of people, and of machines."""

from __future__ import annotations

import re
from collections.abc import Callable

Mark = str | Callable[[re.Match[str]], str]

KINDS = "key|token|secret|user|mail|mac|ip6?|serial|path|host|pod|namespace|phone"
_PLACEHOLDER = rf"(?:<(?:{KINDS})>|\((?:{KINDS})\))"

_SECRET_WORD = (
    r"(?:password|passwd|passphrase|secret|credentials?|token|authorization|pwd|pass|key(?:[_-]?id)?|(?<![\w-])[as]k)"
)
"""A setting's name ends with it; what stands before it is looked at by `_secret`."""
_VALUE = r"(?:[^\s'\",;&；]|[,;&；](?!\s*[\w\"'.-]{1,60}\s*[=:])(?!\s|$|--?[a-z])){1,4000}"
_MODEL_TOKEN = re.compile(
    r"(?i)(?:^|[_.-])(?:eos|bos|pad|unk|sep|cls|mask|image|video|audio|next|last|first|special|stop|start"
    r"|end|num|n|max|min"
    r"|per|prompt|input|output|draft|added|decoder|new|unexpected|think)[_-]?token$"
)
_NO_SECRET = re.compile(r"(?i)[\[({]?(?:none|null|true|false|nil|\d{1,7}(?:\.\d+)?|</?s>|<\|.*|\*+)[)\]}.,;:!]*$")
_SURE_KEY = re.compile(
    r"(?i)(?:^|[_.-]|[a-z])(?:api|access|secret|private|auth|encrypt(?:ion)?|sign(?:ing)?|ssh|shared"
    r"|account)[_-]?key(?:[_-]?id)?$"
)
_NAME_END, _CLOSING = re.compile(r"[A-Za-z0-9_.-]*$"), re.compile(r"[)\]}]*$")
_OPAQUE = re.compile(r"(?=[^.]*[0-9])(?=[^.]*[A-Za-z])[^.\s]{16,}$")

_EXTENSIONS = (
    r"py|pyc|log|txt|json|ya?ml|cc|cpp|cxx|c|h|hpp|so|bin|pt|pth|safetensors|sh|md|csv|o|ko|gz|tar|zip"
    r"|conf|cfg|ini|toml"
    r"|ckpt|om|onnx|np[yz]|pkl|go|rs|db|out|err|rpm|deb|run|whl|weight|bias|grad|data|attn|mlp|html|proto|mindir|air"
)
_HOST_WORD = r"(?:nodes?|worker|host|server|srv|train|trainer|master|slave)"
_NO_HOST_PART = re.compile(
    r"(?:^|-)(?:localhost\d*|step|epoch|batch|loss|stage|phase|iter|layer|rank|port|version|http)\b"
)
_INTERNAL = r"(?:corp|internal|intranet|intra|lan|local|localdomain|svc|idc|inner)"
_MODULE = re.compile(r"(?:threading|torch|vllm|os|mindspore|self|c10|at)\.|(?:\.local|\.internal)$(?<=[A-Z].)")
NO_NAME = re.compile(
    r"(?i)(?:"
    r"localhost|root|admin|user|users|none|null|true|false|node|nodes|host|hosts"
    r"|server|worker|master|slave|train|trainer|test|tests|model|models|data|main"
    r"|error|failed|local|python|torch|vllm|mindspore|cann|ray|docker|ubuntu|kernel"
    r"|ascend|npu|gpu|hwhiaiuser|work|home|dev|runner|default|unknown|group|systemd"
    r"|conda|debian|openeuler|file|cache|process|rank|device|context|session|client"
    r"|service|name|value|from|with|this|that|were|have|will|ma-user|mindie|deepseek|qwen|llama|internlm|chatglm|verl|ascend-cann"
    r")$"
)
_PUBLIC = re.compile(
    r"(?:^|\.)(?:github|githubusercontent|huggingface|hf-mirror|modelscope|gitee|gitcode|hiascend|pypi"
    r"|docker|quay|aliyun"
    r"|myhuaweicloud|pytorch|python|mindspore)(?:\.(?:com|co|cn|org|io|net))*$"
)
_DEVICE = re.compile(r"(?:npu|gpu|davinci|rank|device|card|chip|die|dev|eth|bond|ib|hccn|stream)[-_.:]?\d{1,3}$")

_ROOT = (
    r"data|mnt|nfs|workspace|opt|srv|share|shared|cache|root|sfs|obs|pfs|lustre|gpfs|storage|datasets?"
    r"|disk|nas|efs|nvme"
)
_ANCHOR = re.compile(
    r"/(?:(?:lib(?:64)?/python[\d.]{1,8}/)?(?:site|dist)-packages|Ascend|ascend/log|ascend-toolkit)(?:/|$)"
)
_FILE = re.compile(r"[^/]*\.[A-Za-z][A-Za-z0-9]{0,11}$|(?:\.cache|ascend|logs?|models?)$")

_VERSION_BEFORE = re.compile(
    r"(?i)(?P<word>version|版本号?|driver|firmware|npu-smi|hdk|cann|驱动|固件|==)(?:\s+is)?[\s:=v\"'_|(/：-]{0,40}$"
)
_SIZE_BEFORE = re.compile(
    r"(?i)(?:size|bytes?|mem(?:ory)?|total|used|free|alloc\w*|limit|capacity|offset|addr\w*|time|num|count|seq|(?:task|stream|req\w*|model|op|comm)_?id)\W{0,9}$"
)
_CALL_BEFORE = re.compile(r"(?i)(?:phone|tel|mobile|手机号?码?|电话|联系\w*)\W{0,9}$")
_KEPT_NAMESPACES = r"(?:kube-\w+|default|volcano-system|mindx-dl|c10|std|at|torch)\b"


def _address(found: re.Match[str]) -> str:
    """<ip>, or the digits as they are where they are a version."""
    text, parts = found.group(), found.group().split(".")
    before = found.string[max(0, found.start() - 60) : found.start()]
    if any(int(part) > 255 or (part[0] == "0" and len(part) > 1) for part in parts):
        return text
    if before.endswith(".so.") or re.search(r"(?<![A-Za-z])v$", before):
        return text
    if before[-2:-1].isalpha() and before.endswith(".") and int(parts[0]) not in (10, 172, 192):
        return text
    if version := _VERSION_BEFORE.search(before):
        word, first = version["word"].lower(), int(parts[0])
        if (
            word in ("version", "版本", "版本号", "==")
            or 20 <= first <= 40
            or (word in ("cann", "firmware", "固件") and first <= 9)
        ):
            return text
    return "<ip>"


def _address6(found: re.Match[str]) -> str:
    """<ip6> for a true address; slices, C++ names and times stay."""
    import ipaddress

    text = found.group()
    head = ":" if text.startswith(":") and not text.startswith("::") else ""
    tail = ":" if text.endswith(":") and not text.endswith("::") else ""
    bare = text[len(head) : len(text) - len(tail) or None]
    try:
        ipaddress.IPv6Address(bare.partition("%")[0])
    except ValueError:
        return text
    groups = [group for group in bare.split(":") if group]
    before = found.string[max(0, found.start() - 2) : found.start()]
    is_slice = re.fullmatch(r"\d{0,3}::\d{0,3}", bare) and (bare != "::1" or re.fullmatch(r"[\w)\]]\[", before))
    is_name = re.match(r"c10d?::", bare) or not (re.search(r"\d", bare) or any(len(group) == 4 for group in groups))
    return text if is_slice or is_name or not groups else f"{head}<ip6>{tail}"


def _secret(found: re.Match[str]) -> str:
    """Name and separator stay, the value goes, unless name and value speak of a model's tokens or a plain key."""
    value = found["quoted"] or found["bare"] or ""
    before = found.string[max(0, found.start() - 60) : found.start()]
    if re.fullmatch(rf"{_PLACEHOLDER}[.,;:)\]}}]*", value) or _keeps(_NAME_END.search(before)[0], found["word"], value):  # type: ignore[index]
        return found.group()
    end = found.group()[-1] if found["quoted"] else _CLOSING.search(value)[0]  # type: ignore[index]
    return f"{found['lead']}<secret>{end}"


def _keeps(prefix: str, word: str, value: str) -> bool:
    """Whether a setting whose name is prefix + word says nothing secret."""
    name, lowered = prefix + word, word.lower()
    if re.fullmatch(r"(?i)(?:none|null|yes|no|empty)[)\]}]*", value):
        return True
    if lowered in ("ak", "sk"):
        return len(value) < 8
    if lowered == "token":
        return bool(_MODEL_TOKEN.search(name) or _NO_SECRET.match(value))
    if lowered in ("pass", "pwd"):
        return bool(prefix) and not (prefix[-1] in "_-" and (name.isupper() or lowered == "pwd"))
    if lowered.startswith("key") and not _SURE_KEY.search(name):
        return not prefix or not (prefix[-1] in "_-" and (name.isupper() or _OPAQUE.match(value)))
    return False


def _phone(found: re.Match[str]) -> str:
    """<phone>, unless the number is a size in bytes."""
    text, before = found.group(), found.string[max(0, found.start() - 30) : found.start()]
    if _CALL_BEFORE.search(before) or not text.isdigit():
        return "<phone>"
    after = found.string[found.end() : found.end() + 8]
    is_size = int(text) % 512 == 0 or _SIZE_BEFORE.search(before) or re.match(r"(?i)\s?\(?(?:bytes?|b)\b", after)
    return text if is_size else "<phone>"


def _path(found: re.Match[str]) -> str:
    """The root and the last part, or what follows from where packages are installed."""
    root, rest = found["root"], found["rest"]
    if anchor := _ANCHOR.search(rest):
        return found.group() if anchor.start() == 0 else f"{root}/<path>{rest[anchor.start() :]}"
    parent, _, last = rest.rpartition("/")
    if last == "<path>" or (not parent and (_FILE.match(last) or not last)):
        return found.group()
    return f"{root}/<path>/{last}" if parent else f"{root}/<path>"


def _host(found: re.Match[str]) -> str:
    return "<host>" if is_host(found.group()) else found.group()


def is_host(name: str) -> bool:
    """Whether a name that looks like a host is none of a device, a file, a module or a step."""
    first, _, rest = name.partition(".")
    if _PUBLIC.search(name) or _DEVICE.match(first) or _NO_HOST_PART.search(first) or _MODULE.match(name):
        return False
    return not re.search(rf"\.(?:{_EXTENSIONS})$", name) and not re.match(r"(?:py|log|txt|json)\b", rest)


def _named_host(found: re.Match[str]) -> str:
    name = found["name"]
    if re.fullmatch(r"(?i)\d*|none|null|localhost|true|false", name) or not is_host(name):
        return found.group()
    return f"{found['lead']}<host>"


def _user(found: re.Match[str]) -> str:
    keeps = re.fullmatch(r"(?i)\d*|root|none|null|true|false|HwHiAiUser", found["name"])
    return found.group() if keeps else f"{found['lead']}<user>"


SECRETS: list[tuple[str, Mark]] = [
    (r"-----BEGIN [A-Z0-9 ]{0,40}-----[^\n]{0,20000}?-----END [A-Z0-9 ]{0,40}-----", "<key>"),
    (r"\b((?:sk-)?ssh-[a-z0-9]{2,10}|ecdsa-sha2-[a-z0-9-]{2,30}) AAAA[A-Za-z0-9+/=]{8,}"
        r"(?: [^\s'\"]*@[^\s'\"]+)?", r"\1 <key>"),
    (r"(?:hf|npm|gh[opusr])_[A-Za-z0-9]{16,}|(?:github_pat|dckr_pat|glpat|pypi"
        r"|xox[abprs])[-_][A-Za-z0-9_-]{16,}", "<token>"),
    (r"(?<![A-Za-z0-9_-])[spr]k[-_][A-Za-z0-9_-]{16,}", "<token>"),
    (r"eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*){1,3}", "<token>"),
    (r"(?:AKIA|ASIA|AROA|AIDA|LTAI|HPUA)[A-Za-z0-9]{8,}|AIza[A-Za-z0-9_-]{20,}", "<token>"),
    (r"\b([a-z][a-z0-9+.-]{1,20}://)(?!<user>@)[^\s/'\"]{1,300}@", r"\1<user>@"),
    (
        rf"(?i)(?P<lead>(?P<word>{_SECRET_WORD})[\\\\]?[\"']?(?:\s{{0,40}}[=:：]>?\s{{0,40}}"
        rf"(?=[\\\\]?[\"'])|[ \t]{{0,40}}[=:：][ \t]{{0,40}})"
        rf"(?:[\\\\]?[\"'])?)(?:(?<=[\"'])(?P<quoted>[^\"'\n]{{1,2000}})[\"']|(?:(?:bearer|basic"
        rf"|token)[ \t]+)?(?P<bare>{_VALUE}))",
        _secret,
    ),
    (
        rf"(?i)(?<![\w-])(--?(?:[a-z]+[-_])*(?:password|passwd|pwd|token|secret|api[-_]?key|access[-_]?key"
        rf"|secret[-_]?key)[ \t]+[\"']?)"
        rf"(?!{_PLACEHOLDER}|-)[^\s'\"]+",
        r"\1<secret>",
    ),
    (
        r"(?<![\w-])(-u|--user|--proxy-user)([ =]?[\"']?)(?!\d+:\d+(?!\S))"
        r"(?!<user>:<secret>)[^\s:'\"=]{1,80}:[^\s'\"]{1,200}",
        r"\1\2<user>:<secret>",
    ),
    (rf"(\b(?:docker|podman|nerdctl) login\b[^\n|;&]{{0,200}}?\s-p[ =]?)(?!{_PLACEHOLDER})[^\s'\";]+", r"\1<secret>"),
    (rf"(\bmysql(?:dump|admin)?\b[^\n|;&]{{0,200}}?\s-p)(?!{_PLACEHOLDER})[^\s'\";]+", r"\1<secret>"),
    (rf"(?<![\w-])(sshpass\s+-p\s?)(?!{_PLACEHOLDER})\S+", r"\1<secret>"),
    (r"\b((?:Bearer|bearer|Basic|basic) )(?=\S*[\d=]|\S*[a-z][A-Z]|\S{24})[A-Za-z0-9+/=._~-]{8,}", r"\1<secret>"),
    (rf"(?i)([?&][\w-]{{0,30}}(?:signature|sig|credential|token|key|secret|password|code)=)"
        rf"(?!{_PLACEHOLDER})[^\s&#'\"]+", r"\1<secret>"),
    (rf"((?:密码|口令|密钥|秘钥|令牌)\s{{0,4}}(?:[:：=]|是|为)\s{{0,4}})(?!{_PLACEHOLDER})[^\s，。；,;]+",
        r"\1<secret>"),
]  # fmt: skip
PEOPLE: list[tuple[str, Mark]] = [
    (r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,6}\.[A-Za-z]{2,20}", "<mail>"),
    (rf"((?:电话|手机号?码?|联系方式)\s{{0,4}}[:：=]\s{{0,4}})(?!{_PLACEHOLDER})[+\d][\d -]{{5,18}}\d", r"\1<phone>"),
    (rf"((?:用户名|账号|帐号|姓名|联系人|工号)\s{{0,4}}[:：=]\s{{0,4}})(?!{_PLACEHOLDER})[\w.@-]+", r"\1<user>"),
    (r"(?<![\w.])(?:\+?86[- ]?)?1[3-9][0-9](?:[- ]?[0-9]{4}){2}(?![\w.]*[0-9])", _phone),
    (r"(?i)(?<![a-z])(serial(?:[ _-]?(?:number|no|num))?|sn"
        r"|bar ?code|序列号)([\"']?\s{0,20}[=:：]\s{0,20}[\"']?)(?=[a-z-]*[0-9])[A-Z0-9-]{6,}", r"\1\2<serial>"),
    (r"(/(?:home|Users)/)(?!HwHiAiUser\b|<user>)[^/\s'\":,;)\]]+", r"\1<user>"),
    (r"([A-Za-z]:(?:\\+|/)Users(?:\\+|/))(?!<user>)(?:[^\\/\n'\":<>]{1,40}(?=\\)|[^\\/\s'\"]+)", r"\1<user>"),
    (rf"(?<![\w.>~-])(?P<root>/(?:{_ROOT})\d*)(?P<rest>(?:/[^/\s'\":,;()\[\]]+)+)", _path),
    (r"(?i)(?<![\w-])(?P<lead>user(?:[_ ]?name)?[\"']?\s{0,20}[=:]\s{0,20}[\"']?)(?P<name>[A-Za-z0-9_][\w.-]*)", _user),
]  # fmt: skip
MACHINES: list[tuple[str, Mark]] = [
    (r"(?<![0-9A-Za-z:-])[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}\1){4}[0-9a-fA-F]{2}"
        r"(?![0-9A-Za-z]|[:-][0-9a-fA-F])", "<mac>"),
    (r"(?<![\w-])(?:[0-9A-Fa-f]{0,4}:){2,7}(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9A-Fa-f]{1,4})?"
        r"(?:%\w{1,20})?(?![\w])", _address6),
    (r"(?<![0-9])(?<![0-9]\.)[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?!\.?[0-9])", _address),
    (r"(?<![\w-])ip(?:-[0-9]{1,3}){4}(?:\.[a-z0-9.-]+[a-z0-9])?(?![\w-])", "<host>"),
    (r"(?<=[A-Za-z][-_.])(?:10|172|192)(?:-[0-9]{1,3}){3}(?![\w-])", "<ip>"),
    (r"^((?:<\d+>)?[A-Z][a-z]{2} [ \d]\d [\d:]{8}) (?!<)[\w.-]+(?= [\w./@-]{1,60}(?:\[\d+\])?:)", r"\1 <host>"),
    (r"(?<![\w.-])[\w.-]{1,40}@(?!sha\d|GLIBC|CXXABI)[\w.-]{1,80}(?=[:#$ \]])", "<user>@<host>"),
    (r"(?<![\w.-])[\w.-]{1,40}@(?=<(?:ip6?|host)>)", "<user>@"),
    (r"(?<![\w/.-])[a-z][a-z0-9-]{0,60}-(?=[a-z0-9]{0,9}[0-9])[a-z0-9]{8,10}-[a-z0-9]{5}(?![\w-])", "<pod>"),
    (r"(?i)(?<![\w/])(pods?(?:[_ ]?name)?[\"']?[ /:=]{1,4}[\"']?)"
        r"(?=[a-z0-9.-]*[0-9])[a-z0-9][a-z0-9.]*-[a-z0-9.-]*[a-z0-9](?![\w-])", r"\1<pod>"),
    (rf"(?i)(?<!\w)((?:namespaces?|ns)[\"']?(?:\s{{0,9}}[:=]\s{{0,9}}[\"']?|[ /]))(?!{_KEPT_NAMESPACES})"
        rf"(?=[a-z0-9]*-|[a-z]+[0-9])[a-z0-9][a-z0-9-]*", r"\1<namespace>"),
    (rf"(?i)(?<!\w)(namespace[\"']?\s{{0,9}}[:=]\s{{0,9}}[\"']?)(?!{_KEPT_NAMESPACES})[a-z][a-z0-9-]*"
        rf"(?![\w:])", r"\1<namespace>"),
    (rf"(\b(?:kubectl|helm|oc|k9s)\b[^\n|;&]{{0,200}}?\s(?:-n[ =]?|--namespace[ =]))"
        rf"(?!{_KEPT_NAMESPACES}|<|\d+\b)[a-z0-9][a-z0-9-]*", r"\1<namespace>"),
    (rf"(?<!\S)(-n )(?!{_KEPT_NAMESPACES})(?=[a-z][a-z0-9]*-)[a-z0-9-]+(?!\S)", r"\1<namespace>"),
    (r"(?i)(?<![\w-])(?P<lead>(?:host[_ ]?name|node_?ip"
        r"|master_addr|主机名?|服务器)[\"']?\s{0,20}[=:：]\s{0,20}[\"']?)(?P<name>[A-Za-z][\w.-]*\w)", _named_host),
    (r"(?i)(?<![\w-])(?P<lead>(?:host|server(?:_?name)?)[\"']?\s{0,20}(?:=\s{0,20}[\"']?|:\s{0,20}[\"']?"
        r"(?=[a-z0-9]+[-.0-9])))(?P<name>[A-Za-z][\w.-]*\w)", _named_host),
    (r"(?<![\w-])(?P<lead>(?:node|nodeName|node_name|Node)[\"']?\s{0,20}[=:]\s{0,20}[\"']?)"
        r"(?P<name>[a-z][a-z0-9]*(?:[-.][a-z0-9]+)+)(?![\w(])", _named_host),
    (rf"(?<![\w.-])(?:[a-z0-9-]{{1,63}}\.){{1,6}}(?:corp(?:\.[a-z0-9-]{{1,63}}){{0,5}}|{_INTERNAL})"
        rf"(?![\w(-]|\.[\w])", _host),
    (r"(?<![\w.-])(?:[a-z0-9-]{1,63}\.){0,6}[a-z0-9-]{1,63}-internal\.(?:com|cn|net|org)\b", _host),
    (
        rf"(?<![\w.$\\-])(?<![^/]/)(?<!NUMA )(?:[a-z0-9]{{1,20}}-){{0,4}}[a-z]{{0,8}}{_HOST_WORD}"
        rf"(?:[-_.]?[0-9]+|[-_.][a-z0-9-]{{0,60}}[0-9])"
        r"(?:\.[a-z0-9-]{1,63}){0,6}(?![\w-])",
        _host,
    ),
    (r"(?<![\w.$\\/-])(?:npu|gpu)(?:-?0[0-9]{1,3}|[0-9]{3,5}|-(?:srv|box|machine|cluster"
        r"|pool)[a-z0-9-]{0,40}[0-9])(?![\w-])", "<host>"),
]  # fmt: skip
NAMES = [
    (r"<host>", r"^(?:<\d+>)?[A-Z][a-z]{2} [ \d]\d [\d:]{8} (?P<name>[A-Za-z][\w.-]+)(?= [\w./@-]{1,60}(?:\[\d+\])?:)"),
    (r"<host>", r"(?<![\w.-])[\w.-]{1,40}@(?P<name>[A-Za-z][\w-]{1,60})(?=:[~/]|[ \w~/.-]{0,80}\][#$])"),
    (r"<host>", r"(?i)(?<![\w-])(?:(?:host[_ ]?name|主机名?)[\"']?\s{0,20}[=:：]|(?:host|server"
        r"(?:_?name)?)[\"']?\s{0,20}(?:=|:(?=\s{0,20}[\"']?[a-z0-9]+[-.0-9])))\s{0,20}[\"']?"
        r"(?P<name>[A-Za-z][\w.-]*\w)"),
    (r"<host>", r"(?<![\w-])(?:node|nodeName|node_name|Node)[\"']?\s{0,20}[=:]\s{0,20}[\"']?"
        r"(?P<name>[a-z][a-z0-9]*(?:[-.][a-z0-9]+)+)(?![\w(])"),
    (r"<user>", r"(?:/home/|/Users/|[A-Za-z]:\\{1,2}Users\\{1,2})(?P<name>[A-Za-z][\w.-]*\w)"),
    (r"<user>", r"(?i)(?<![\w-])(?:user[_ ]?name|用户名|账号)"
        r"[\"']?\s{0,20}[=:：]\s{0,20}[\"']?(?P<name>[A-Za-z][\w.-]*\w)"),
]  # fmt: skip
