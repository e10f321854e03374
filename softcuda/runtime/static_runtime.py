#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Learns where NVIDIA's static CUDA runtime keeps its functions, from the toolkit on this machine.

Programs that were stripped have no names left: `gph run` finds the runtime inside one by what this
script writes, $XDG_CACHE_HOME/graphophone/static-runtimes.txt (else ~/.cache/...). That runtime is one
piece of code, so a function's distance from its beginning is the same in every program.

  static_runtime.py [LIBRARY...]   default: libcudart_static.a of $CUDA_HOME, of nvcc on PATH, of /usr/local/cuda

The file holds offsets, lengths and hashes. It is read by softcuda/runtime/stripped.c, which trusts it no
further than the hashes agree; all numbers are hexadecimal. For each runtime:

  gph-static-runtime 1
  HASH OFFSET BYTES EIGHT anchor    a piece that occurs once; its first eight bytes as a number
  HASH OFFSET BYTES SIZE cudaMalloc of a function's first BYTES bytes, which the linker leaves alone
  0 0 0 0 end
"""
import os
import pathlib
import shutil
import struct
import sys

MARK = "gph-static-runtime 1"
ANCHOR = 64  # bytes
HEAD = 32  # of a function, at most
BEFORE, RELOCATED = 3, 8  # bytes that one relocation may change before and after its place: instructions, too
ALIGNED = 16  # of the runtime's code in a program


def hash_of(data):
    """FNV-1a, 64 bits."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def members(archive):
    """The files inside a library made by ar."""
    if archive[:8] != b"!<arch>\n":
        raise ValueError("it is not a library made by ar")
    at = 8
    while at + 60 <= len(archive):
        size = int(archive[at + 48 : at + 58])
        yield archive[at + 60 : at + 60 + size]
        at += 60 + size + size % 2


class Object:
    """An object file: its sections, and the one that has the runtime's code."""

    def __init__(self, data):
        self.data = data
        offset, = struct.unpack_from("<Q", data, 0x28)
        size, count, names = struct.unpack_from("<HHH", data, 0x3A)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
        self.names = self.content(self.sections[names])

    def content(self, section):
        return self.data[section[4] : section[4] + section[5]]

    def symbols(self):
        for section in self.sections:
            if section[1] != 2:  # SHT_SYMTAB
                continue
            table, names = self.content(section), self.content(self.sections[section[6]])
            for at in range(0, len(table), 24):
                name, info, _, index, value, bytes_ = struct.unpack_from("<IBBHQQ", table, at)
                end = names.index(b"\0", name)
                yield names[name:end].decode(), info & 15, index, value, bytes_

    def relocated(self, index):
        """Offsets in a section that the linker writes to."""
        found = []
        for section in self.sections:
            if section[1] == 4 and section[7] == index:  # SHT_RELA
                table = self.content(section)
                found += [struct.unpack_from("<Q", table, at)[0] for at in range(0, len(table), 24)]
        return sorted(found)


def runtime_of(path):
    """The object with the runtime, and the number of its code's section."""
    for data in members(path.read_bytes()):
        if data[:4] != b"\x7fELF":
            continue
        made = Object(data)
        for name, _, index, _, _ in made.symbols():
            if name == "__cudaRegisterFatBinary" and 0 < index < len(made.sections):
                return made, index
    raise ValueError("it has no __cudaRegisterFatBinary")


def anchor_in(code, free):
    """A piece that the linker does not change and that occurs once, near the middle."""
    for at in sorted(range(0, len(code) - ANCHOR, ALIGNED), key=lambda at: abs(at - len(code) // 2)):
        piece = code[at : at + ANCHOR]
        if all(free[at : at + ANCHOR]) and len(set(piece)) > ANCHOR // 4 and code.count(piece) == 1:
            return at
    raise ValueError("no piece of its code stays as it is and occurs once")


def table_of(path):
    made, index = runtime_of(path)
    code = made.content(made.sections[index])
    free = bytearray(b"\1") * len(code)
    for at in made.relocated(index):
        first, end = max(at - BEFORE, 0), min(at + RELOCATED, len(code))
        free[first:end] = bytes(end - first)
    at = anchor_in(code, free)
    piece = code[at : at + ANCHOR]
    first, = struct.unpack_from("<Q", piece)
    lines = [MARK, f"{hash_of(piece):x} {at:x} {ANCHOR:x} {first:x} anchor"]
    for name, kind, where, value, size in sorted(made.symbols()):
        if kind != 2 or where != index or not name.startswith(("cuda", "__cuda")):
            continue
        head = 0
        while head < min(HEAD, size) and free[value + head]:
            head += 1
        lines.append(f"{hash_of(code[value : value + head]):x} {value:x} {head:x} {size:x} {name}")
    return "\n".join([*lines, "0 0 0 0 end"]) + "\n"


def cache():
    base = os.environ.get("XDG_CACHE_HOME", "")
    return pathlib.Path(base if base.startswith("/") else pathlib.Path.home() / ".cache") / "graphophone"


def libraries():
    """Where toolkits are."""
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")]
    compiler = shutil.which("nvcc")
    if compiler:
        homes.append(pathlib.Path(compiler).resolve().parent.parent)
    for home in filter(None, [*homes, "/usr/local/cuda"]):
        for folder in ("lib64", "lib", "targets/x86_64-linux/lib"):
            path = pathlib.Path(home) / folder / "libcudart_static.a"
            if path.is_file():
                yield path.resolve()


def write(tables, path):
    """Beside what is there; a reader sees the old file or the new one."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    old = path.read_text() if path.exists() else ""
    known = [MARK + table for table in old.split(MARK)[1:]]
    part = path.with_suffix(f".{os.getpid()}")
    part.write_text("".join(dict.fromkeys([*tables, *known])))
    part.replace(path)


def main():
    if any(word.startswith("-") for word in sys.argv[1:]):
        sys.exit(__doc__)
    paths = [pathlib.Path(word) for word in sys.argv[1:]] or sorted(set(libraries()))
    if not paths:
        sys.exit("static_runtime.py: no libcudart_static.a in $CUDA_HOME, beside nvcc or in /usr/local/cuda: "
                 "give its path")
    tables, place = [], cache() / "static-runtimes.txt"
    for path in paths:
        try:
            tables.append(table_of(path))
        except (OSError, ValueError, struct.error, IndexError) as error:
            sys.exit(f"static_runtime.py: {path}: {error}")
        print(f"{path}: {tables[-1].count(chr(10)) - 3} functions")
    try:
        write(tables, place)
    except OSError as error:
        sys.exit(f"static_runtime.py: {place}: {error}")
    print(f"written to {place}")


if __name__ == "__main__":
    main()
