"""What hccn_tool prints: links, addresses, optical modules, counters, pings.

Facts, of the device that the command or the output names (`0`; a port or lane of it: `0 port 4`): hccn.link,
hccn.port_link, hccn.port_speed_gbps, hccn.net_health, hccn.link_up_count, hccn.link_downs, hccn.fec, hccn.ip,
hccn.netmask, hccn.tls, hccn.tls_preconfigured, hccn.tls_alarm_days, hccn.optical_*, hccn.counter (of `0 NAME`),
hccn.ping_loss_percent, hccn.ping_*_ms, hccn.network_driver, hccn.network_firmware.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from npu_kb.intake.facts import Fact
from npu_kb.intake.logtext import Line

_COMMAND = re.compile(r"hccn_tool\b.*-i (?P<device>\d+)")
_NAMED = re.compile(r"\[?dev(?:ice|id|_id)?[ :](?P<device>\d+)[\], ]")
_NUMBER = r"(?P<v>\d+(?:\.\d+)?)"
_Convert = Callable[[str], "float | str"]

_SINGLE: list[tuple[str, str, _Convert]] = [
    (r"link status\s*:\s*(?P<v>UP|DOWN|PARTIAL LINK)\b", "hccn.link", str.upper),
    (r"net health status\s*:\s*(?P<v>[A-Za-z][A-Za-z ]*\w)", "hccn.net_health", str),
    (r"link up count\s*:\s*(?P<v>\d+)", "hccn.link_up_count", float),
    (r"fec mode:\s*(?P<v>\w[\w ]*?)\s*$", "hccn.fec", str),
    (r"^ipaddr:\s*(?P<v>[0-9a-f.:]{3,45})$", "hccn.ip", str),
    (r"^netmask:\s*(?P<v>[0-9.]{7,15})$", "hccn.netmask", str),
    (r"tls switch\[(?P<v>\d)\]", "hccn.tls", lambda v: "on" if v == "1" else "off"),
    (r"tls preconfigured\[(?P<v>\d)\]", "hccn.tls_preconfigured", lambda v: "yes" if v == "1" else "no"),
    (r"tls alarm time threshold\[(?P<v>\d+)\]", "hccn.tls_alarm_days", float),
    (rf"\d+ packets transmitted, \d+ received, {_NUMBER}% packets? loss$", "hccn.ping_loss_percent", float),
    (rf"^max time {_NUMBER}ms", "hccn.ping_max_ms", float),
    (rf"^min time {_NUMBER}ms", "hccn.ping_min_ms", float),
    (rf"^average time {_NUMBER}ms", "hccn.ping_average_ms", float),
    (rf"^TP95 time {_NUMBER}ms", "hccn.ping_tp95_ms", float),
    (r"Network Driver Version:\s*(?P<v>\S+)", "hccn.network_driver", str),
    (r"Network Firmware Version:\s*(?P<v>\S+)", "hccn.network_firmware", str),
]
_SINGLE_COMPILED = [(re.compile(pattern, re.IGNORECASE), name, convert) for pattern, name, convert in _SINGLE]
_PORT = re.compile(r"port (?P<port>\d+)\s*:\s*(?P<v>UP|DOWN|PARTIAL UP)\s*$")
_PORT_ROW = re.compile(
    r"\|\s*(?P<udie>\d+)\s*\|\s*(?P<port>\d+)\s*\|\s*(?P<speed>\d+)\s*\|\s*\w+\s*\|\s*(?P<v>UP|DOWN)\s*\|"
)
_LINK_DOWN = re.compile(r":\d\d \d{4}\s+LINK DOWN$")
_COUNTER = re.compile(r"(?P<name>(?:mac|roce|nic|roh|ub)_\w{4,60}):(?P<v>\d+)$")
_OPTICAL: list[tuple[str, str]] = [
    (r"present\s*:\s*(?P<v>\w[\w ]*)", "hccn.optical_present"),
    (rf"temperature\s*:\s*{_NUMBER} C", "hccn.optical_temperature_c"),
    (rf"Vcc\s*:\s*{_NUMBER} mV", "hccn.optical_vcc_mv"),
    (rf"(?P<side>[TR]x) Power(?P<lane>\d)\s*:\s*{_NUMBER} mW", "hccn.optical_{side}_mw"),
    (
        rf"(?P<side>Vcc|Temp|TxPower|RxPower) (?P<end>High|Low) Thres\s*:\s*{_NUMBER} ",
        "hccn.optical_{side}_{end}_limit",
    ),
    (r"(?P<side>[TR]x) (?P<kind>Los|LoL) Flag\s*:\s*(?P<v>0x[0-9a-f]+)", "hccn.optical_{side}_{kind}"),
    (rf"(?P<side>Host|Media) SNR Lane(?P<lane>\d)\s*:\s*{_NUMBER} dB", "hccn.optical_{side}_snr_db"),
]
_OPTICAL_COMPILED = [(re.compile(pattern), name) for pattern, name in _OPTICAL]


def read(lines: list[Line]) -> list[Fact]:
    """The facts of all outputs of the tool."""
    facts: list[Fact] = []
    device: str | None = None
    optical, is_ping, downs = False, False, 0
    for index, line in enumerate(lines):
        text = line.text.strip()
        found = _COMMAND.search(text)
        if found or text.startswith("$"):
            device, optical, is_ping, downs = found["device"] if found else None, False, False, 0
            continue
        named = _NAMED.match(text)
        device = named["device"] if named else device
        optical = optical or text.startswith("optical info")
        is_ping = is_ping or text.startswith(("recv seq", "recv time out"))
        downs += bool(_LINK_DOWN.search(text))
        if _LINK_DOWN.search(text):
            facts = [fact for fact in facts if (fact.name, fact.subject) != ("hccn.link_downs", device)]
            facts.append(Fact("hccn.link_downs", float(downs), index, device))
        values = _optical(text, device) if optical else _values(text, device, is_ping)
        facts += (Fact(name, value, index, subject) for name, value, subject in values)
    return facts


def _values(text: str, device: str | None, is_ping: bool) -> Iterator[tuple[str, float | str, str | None]]:
    if found := _PORT_ROW.match(text):
        port = _part(device, f"udie {found['udie']} port {found['port']}")
        yield "hccn.port_link", found["v"], port
        yield "hccn.port_speed_gbps", float(found["speed"]), port
    elif found := _PORT.match(text):
        yield "hccn.port_link", found["v"], _part(device, f"port {found['port']}")
    elif found := _COUNTER.search(text):
        yield "hccn.counter", float(found["v"]), _part(device, found["name"])
    else:
        for pattern, name, convert in _SINGLE_COMPILED:
            if (is_ping or "ping" not in name) and (found := pattern.search(text)):
                yield name, convert(found["v"]), device


def _optical(text: str, device: str | None) -> Iterator[tuple[str, float | str, str | None]]:
    """A line of `-optical -g`; a lane's values belong to it."""
    for pattern, template in _OPTICAL_COMPILED:
        if found := pattern.match(text):
            words = {key: value.lower() for key, value in found.groupdict().items() if value}
            value = words["v"]
            subject = _part(device, f"lane {words['lane']}") if "lane" in words else device
            yield template.format(**words), float(value) if re.fullmatch(r"[\d.]+", value) else value, subject
            return


def _part(device: str | None, part: str) -> str:
    return f"{device} {part}" if device else part
