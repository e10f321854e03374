# SPDX-License-Identifier: Apache-2.0
"""ELF files of shared libraries and of machine code for GPUs: their sections, and whether two of these are the same code.

A kernel of a template in a header is compiled once for each source file that uses it. The images then differ in names of what is
internal to a source file and in numbers of symbols, and in nothing that a kernel does."""
import struct

_NO_BITS = 8
_SYMBOL_FIRST = 0x0a  # the attribute of a kernel that begins with the number of a symbol (of its constants)
_WITH_BYTES = 4  # the form of an attribute that says how many bytes it has


def rows(file):
    """(name, type, flags, offset, bytes, info) of each section of an ELF file for 64 bits."""
    if len(file) < 64 or file[:5] != b"\x7fELF\x02":
        return
    start, = struct.unpack_from("<Q", file, 40)
    size, count, names_at = struct.unpack_from("<HHH", file, 58)
    if start + size * count > len(file) or names_at >= count:
        return
    found = [struct.unpack_from("<IIQQQQII", file, start + index * size) for index in range(count)]
    for name, kind, flags, _, offset, bytes_, _, info in found:
        at = found[names_at][4] + name
        yield file[at:file.find(b"\0", at)], kind, flags, offset, bytes_, info


def section(file, wanted):
    """(offset, bytes) of a section; None."""
    return next(((offset, bytes_) for name, _, _, offset, bytes_, _ in rows(file) if name == wanted), None)


def _attributes(content):
    found, at = [], 0
    while at + 4 <= len(content):
        form, attribute, value = struct.unpack_from("<BBH", content, at)
        at += 4
        if form == _WITH_BYTES:
            value, at = content[at + 4 * (attribute == _SYMBOL_FIRST):at + value], at + value
        found.append((form, attribute, value))
    return tuple(found)


def _places(parts):
    """Of symbols: section and offset, which say what is meant where names are a source file's own."""
    names, table = parts.get(b".strtab", (0, 0, b""))[2], parts.get(b".symtab", (0, 0, b""))[2]
    sections = list(parts)
    return [(sections[where], value) if 0 < where < len(sections) else names[name:names.find(b"\0", name)]
            for name, _, _, where, value, _ in struct.iter_unpack("<IBBHQQ", table[:len(table) // 24 * 24])]


def _relocations(content, form, places):
    return tuple((at, places[what >> 32] if what >> 32 < len(places) else what >> 32, what & 0xffffffff, *more)
                 for at, what, *more in struct.iter_unpack(form, content))


def of(file):
    """What decides what kernels do: code, registers, constants, variables, relocations and attributes. Equal for files whose kernels
    do the same; None where it cannot be said."""
    parts = {name: (flags, info, file[offset:offset + bytes_] if kind != _NO_BITS else bytes_)
             for name, kind, flags, offset, bytes_, info in rows(file)}
    places, found = _places(parts), []
    try:
        for name, (flags, info, content) in parts.items():
            if name.startswith(b".text."):
                found.append((name, flags, info >> 24, content))  # the rest of info is a symbol's number
            elif name.startswith((b".nv.constant", b".nv.global", b".nv.shared", b".nv.local")):
                found.append((name, content))
            elif name.startswith(b".nv.info."):
                found.append((name, _attributes(content)))
            elif name.startswith((b".rela.text.", b".rela.nv.")):
                found.append((name, _relocations(content, "<QQq", places)))
            elif name.startswith((b".rel.text.", b".rel.nv.")):
                found.append((name, _relocations(content, "<QQ", places)))
    except struct.error:
        return None
    return tuple(sorted(found, key=lambda part: part[0])) or None
