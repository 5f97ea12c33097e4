"""A machine's versions, facts and settings at one time, as a document that can be kept, sent and compared.

The JSON form, schema `npu-kb/snapshot/1`, is redacted: no address, host or user name stands in it.
"""

from __future__ import annotations

import json
import sys
import zlib
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from npu_kb.errors import NpuKbError

SCHEMA = "npu-kb/snapshot/1"
COMPONENTS = (
    "driver", "firmware", "cann", "kernels", "nnal", "torch", "torch_npu", "torchvision", "triton_ascend", "python",
    "vllm", "vllm_ascend", "mindspore", "mindie", "transformers",
)  # fmt: skip
"""The components that explain most failures, in the order in which to look at them."""
HOST = "<host>"
"""Stands for the machine's name where the user gives none."""
COLLECTED = "snapshot.json"
"""The name of a snapshot in an archive of `npu-kb collect`."""
_FAMILY = "npu-kb/snapshot/"
_MOST_BYTES = 20_000_000


class Part(BaseModel):
    """A part of a snapshot; keys that a later release adds are passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Reading(Part):
    """A version as one command or file says it."""

    version: str
    source: str


class Version(Reading):
    """A component's version, and what other commands and files say where they differ."""

    also: list[Reading] = []


class Fact(Part):
    """A value of the machine, by the names of `intake.facts`; `subject` is the device it belongs to.

    Numbers are in the unit that the name ends with; `unlimited` stands for no limit. `text` is the line of the source's
    output that says it, `line` its number from 1.
    """

    name: str
    value: float | str
    subject: str | None = None
    source: str = ""
    line: int = 0
    text: str = ""


class Chip(Part):
    """One NPU: its number, its chip's name, the family that entries know, and how many chips (dies) it has."""

    npu: str
    name: str
    family: str | None = None
    count: int = 1


class Install(Part):
    """One installed CANN, and whether the environment of this process loads it."""

    path: str
    version: str | None = None
    loaded: bool = False


class Node(Part):
    """A device file; `usable` says whether this user may read and write it."""

    path: str
    mode: str
    owner: str
    usable: bool


class Mount(Part):
    """A mounted file system that the stack uses."""

    target: str
    type: str
    options: str = ""


class Devices(Part):
    """What of the NPUs this machine or container is given."""

    nodes: list[Node] = []
    mounts: list[Mount] = []


class Cache(Part):
    """A folder into which the stack writes; `mode` in octal digits, `writable` by this user."""

    path: str
    owner: str
    mode: str
    writable: bool


class Missing(Part):
    """What could not be read: `why` is one of `not found`, `no permission`, `no answer`, `failed`, `too long`."""

    what: str
    why: str
    detail: str = ""


Accepted = str | list[str | Annotated[list[str], Field(min_length=1)]]
"""What a file names: one release, or a list of releases and of ranges with their two ends."""


class Snapshot(Part):
    """All that is known of one machine or container."""

    schema_: str = Field(default=SCHEMA, alias="schema")
    taken: str | None
    host: str = HOST
    arch: str | None = None
    container: bool | None = None
    addresses: str | None = None
    """Where marks such as `<ip-3f2a>` stand for addresses: those of snapshots with the same name can be compared."""
    chips: list[Chip] = []
    versions: dict[str, Version] = {}
    installs: list[Install] = []
    compatibility: dict[str, dict[str, Accepted]] = {}
    facts: list[Fact] = []
    environment: dict[str, str] = {}
    devices: Devices = Devices()
    caches: list[Cache] = []
    missing: list[Missing] = []

    def document(self) -> dict[str, Any]:
        """As plain JSON values, in the order of the fields."""
        return self.model_dump(by_alias=True)

    @property
    def plain_versions(self) -> dict[str, str]:
        """{component: version}, and the family of the chips under `chip`."""
        versions = {name: version.version for name, version in self.versions.items()}
        families = [chip.family for chip in self.chips if chip.family]
        return {**versions, **({"chip": families[0]} if families else {})}


def importance(component: str) -> int:
    """Place of a component in the order in which to look at them; those not named come last."""
    return COMPONENTS.index(component) if component in COMPONENTS else len(COMPONENTS)


def read_snapshot(name: str) -> Snapshot:
    """A kept snapshot; `-` is standard input. NpuKbError names what is wrong in the file."""
    return snapshot_in(read_output(name), name)


def read_output(name: str) -> str:
    """The text of a file of outputs or of a snapshot, in any usual encoding; `-` is standard input.

    Of an archive of `npu-kb collect` it is the snapshot in it.
    """
    from pathlib import Path

    from npu_kb.importing.files import read_bytes
    from npu_kb.intake.archives import kind_of
    from npu_kb.intake.clean import decode

    data = read_bytes(Path(name), _MOST_BYTES)
    return decode(_collected(data) or data if kind_of(data) == "gzip" else data)


def _collected(archive: bytes) -> bytes:
    """The snapshot that `npu-kb collect` put into an archive; nothing if this is none of it, or is damaged."""
    import io
    import tarfile

    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r|gz") as members:
            for member in members:
                content = members.extractfile(member) if member.name.endswith(f"/{COLLECTED}") else None
                if content:
                    return content.read(_MOST_BYTES)
    except (tarfile.TarError, OSError, EOFError, zlib.error):
        pass
    return b""


def is_snapshot(text: str) -> bool:
    """Whether a text means to be a snapshot, of whatever schema, and be it broken."""
    return text.lstrip().startswith("{") and f'"{_FAMILY}' in text


def snapshot_in(text: str, name: str) -> Snapshot:
    """The snapshot that is the text of the file of this name; NpuKbError names what is wrong in it."""
    try:
        snapshot = Snapshot.model_validate_json(text)
        if snapshot.schema_ == SCHEMA and "schema_" in snapshot.model_fields_set:
            return snapshot
        fault = ""
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        fault = f"{place}: {first['msg']}; write it anew with `npu-kb env save FILE`"
    raise NpuKbError(f"{name}: {_other_schema(text) or fault}")


def _other_schema(text: str) -> str:
    """What a text is that has not the schema of a snapshot; nothing if it has."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"is no snapshot (no JSON: {error}); write one with `npu-kb env save FILE`"
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema == SCHEMA:
        return ""
    if str(schema).startswith(_FAMILY):
        return f"has the unknown schema {schema}; read it with the npu-kb that wrote it"
    return "is no snapshot; write one with `npu-kb env save FILE`"


def as_json(snapshot: Snapshot) -> str:
    """The text of the file in which a snapshot is kept."""
    return json.dumps(snapshot.document(), ensure_ascii=False, indent=1) + "\n"


def write_snapshot(snapshot: Snapshot, name: str | None) -> None:
    """Keep the snapshot in a file, replaced only as a whole; without a name, on standard output.

    NpuKbError where something else than a snapshot stands in the file.
    """
    text = as_json(snapshot)
    if name in (None, "-"):
        sys.stdout.write(text)
        return
    from pathlib import Path

    from npu_kb.files import write_file

    path = Path(str(name))
    if not path.parent.is_dir():
        raise NpuKbError(f"{path}: there is no folder {path.parent}; make it, or give another name")
    if path.is_file() and (old := read_output(str(path))) and not is_snapshot(old):
        raise NpuKbError(f"{path}: exists and is no snapshot, so it is not overwritten; give another name")
    write_file(path, text, mend="give another name, or `-` for standard output")
