"""`npu-kb bundle`: carry program and knowledge to a host without a network."""

from __future__ import annotations

import argparse

from npu_kb.cli.options import FOUND
from npu_kb.errors import NpuKbError

_PYTHONS = ("3.10", "3.11", "3.12", "3.13")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    make = actions.add_parser("make", help="make a bundle (without options: for a machine like this, offline)")
    make.add_argument("--out", metavar="FILE", help="the file to write (default: npu-kb-VERSION-MACHINES.pyz)")
    make.add_argument(
        "--arch", action="append", choices=["aarch64", "x86_64"], help="architecture (may be given again)"
    )
    make.add_argument("--python", action="append", choices=_PYTHONS, help="Python there (may be given again)")
    make.add_argument("--find-links", metavar="DIR", help="take wheels out of this folder, not from pip's index")
    make.add_argument("--kb", action="append", default=[], metavar="DIR", help="take a private kb folder along")
    verify = actions.add_parser("verify", help="check that a bundle is whole")
    verify.add_argument("bundle", metavar="FILE")
    install = actions.add_parser("install", help="install a bundle into a folder; needs no network, pip or root")
    install.add_argument("bundle", metavar="FILE")
    install.add_argument("directory", metavar="DIR")


def run(options: argparse.Namespace) -> int:
    from npu_kb.bundle import boot

    try:
        if options.action == "verify":
            print(boot.verified(options.bundle))
        elif options.action == "install":
            print(boot.install(options.bundle, options.directory))
        else:
            print(_make(options))
    except boot.BundleError as error:
        raise NpuKbError(str(error)) from None
    return FOUND


def _make(options: argparse.Namespace) -> str:
    from pathlib import Path

    from npu_kb.bundle.make import make_bundle
    from npu_kb.bundle.wheels import Target, this_machine
    from npu_kb.version import __version__

    here = this_machine()
    foreign = options.arch or options.python or options.find_links
    targets = [Target(a, p) for a in options.arch or [here.arch] for p in options.python or [here.python]]
    machines = dict.fromkeys([*(t.arch for t in targets), *(f"py{t.python.replace('.', '')}" for t in targets)])
    out = Path(options.out or f"npu-kb-{__version__}-{'-'.join(machines)}.pyz")
    overlays = [Path(folder) for folder in options.kb]
    links = Path(options.find_links) if options.find_links else None
    digest = make_bundle(out, targets if foreign else [], overlays, links)
    return f"{out}  sha256 {digest}"
