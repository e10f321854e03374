#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: wheel.py WHEEL GLIBC: holds a wheel against what it says of itself.

Its metadata is whole, its files are those of RECORD with their hashes, programs can be executed, no
library asks for a newer glibc or for anything that is neither in the wheel nor part of every Linux.
"""
import base64
import csv
import hashlib
import io
import re
import sys
import zipfile
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.dynamic import DynamicSection
from elftools.elf.gnuversions import GNUVerNeedSection, GNUVerSymSection
from packaging.metadata import Metadata
from packaging.utils import parse_wheel_filename

# Of glibc and the kernel: what a program without C++ may ask for.
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1"}


def check_metadata(wheel, folder, name, version):
    metadata = Metadata.from_email(wheel.read(folder + "METADATA"), validate=True)
    if (metadata.name.replace("-", "_"), str(metadata.version)) != (name.replace("-", "_"), str(version)):
        yield "METADATA is of %s %s" % (metadata.name, metadata.version)
    for field in ("summary", "description", "license_expression", "requires_python"):
        if not getattr(metadata, field):
            yield "METADATA has no %s" % field
    if not any(entry.startswith(folder + "licenses/") for entry in wheel.namelist()):
        yield "no license is in it"


def check_record(wheel, folder):
    rows = {row[0]: row[1] for row in csv.reader(io.StringIO(wheel.read(folder + "RECORD").decode()))}
    files = {entry for entry in wheel.namelist() if not entry.endswith("/")}
    for entry in sorted(files ^ set(rows)):
        yield "%s is in RECORD or in the wheel alone" % entry
    for entry in sorted(files & set(rows) - {folder + "RECORD"}):
        digest = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(entry)).digest()).rstrip(b"=").decode()
        if rows[entry] != "sha256=" + digest:
            yield "%s has not the hash of RECORD" % entry


def check_elf(entry, elf, glibc, inside):
    for section in elf.iter_sections():
        if isinstance(section, DynamicSection):
            for tag in section.iter_tags("DT_NEEDED"):
                if tag.needed not in SYSTEM | inside and not tag.needed.startswith("ld-linux"):
                    yield "%s asks for %s" % (entry, tag.needed)
        if isinstance(section, GNUVerNeedSection):
            for _, symbols in section.iter_versions():
                for name in (symbol.name for symbol in symbols):
                    number = name.partition("GLIBC_")[2]
                    if number and tuple(map(int, number.split("."))) > glibc:
                        yield "%s asks for %s" % (entry, name)


def check_undefined(entry, elf):
    """Names that were not found when it was linked: the others have the version of a library."""
    is_extension = Path(entry).name.startswith("_gph.")  # the interpreter has these
    symbols, versions = elf.get_section_by_name(".dynsym"), elf.get_section_by_name(".gnu.version")
    if symbols is None or not isinstance(versions, GNUVerSymSection):
        return
    for number, symbol in enumerate(symbols.iter_symbols()):
        is_asked = symbol.entry.st_shndx == "SHN_UNDEF" and symbol.entry.st_info.bind == "STB_GLOBAL"
        if is_asked and versions.get_symbol(number).entry["ndx"] in ("VER_NDX_LOCAL", "VER_NDX_GLOBAL"):
            if not (is_extension and re.match("_?Py", symbol.name)):
                yield "%s asks for %s, which no library of its own has" % (entry, symbol.name)


def check(path, glibc):
    name, version, *_ = parse_wheel_filename(path.name)
    with zipfile.ZipFile(path) as wheel:
        folder = "%s-%s.dist-info/" % (name.replace("-", "_"), version)
        yield from check_metadata(wheel, folder, name, version)
        yield from check_record(wheel, folder)
        inside = {Path(entry).name for entry in wheel.namelist()}
        for entry in wheel.infolist():
            data = wheel.read(entry)
            if data[:4] != b"\x7fELF":
                continue
            if Path(entry.filename).parent.name in ("bin", "scripts") and not entry.external_attr >> 16 & 0o111:
                yield "%s is not executable" % entry.filename
            elf = ELFFile(io.BytesIO(data))
            yield from check_elf(entry.filename, elf, glibc, inside)
            yield from check_undefined(entry.filename, elf)


def main():
    path, glibc = Path(sys.argv[1]), tuple(map(int, sys.argv[2].split(".")))
    wrong = list(check(path, glibc))
    for sentence in wrong:
        print("%s: %s" % (path.name, sentence), file=sys.stderr)
    if not wrong:
        print("%s: ok, %.1f MB" % (path.name, path.stat().st_size / 1e6))
    return 1 if wrong else 0


sys.exit(main())
