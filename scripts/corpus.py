#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the files of a folder into one file, and back: fuzz/corpus/*.txt, tests/explain/corpus.txt.

usage: corpus.py pack FOLDER FILE | unpack FILE FOLDER | check FILE...

An entry is a line `=== NAME` and its bytes as text: \\\\ is a backslash, \\0 a zero byte, \\xNN a
byte that is not a character of UTF-8 or would not show; a backslash before the end of a line takes
that end away. tests/corpus.h reads the same. `check`: a file is as `pack` would write it.
"""
import pathlib
import re
import sys

HEAD = b"=== "
WIDTH = 100  # of lines of bytes that are not text
UNSHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff\u200b-\u200f\u2028-\u202e\ud800-\udfff]")


def escape_byte(byte):
    return b"\\0" if byte == 0 else b"\\x%02x" % byte


def escape(data):
    """The bytes as lines; the last one is without its end if the data is."""
    out, column, at = [], 0, 0
    text = data.decode("utf-8", "surrogateescape")
    is_text = len(UNSHOWN.findall(text)) * 8 < len(text)
    for character in text:
        raw = character.encode("utf-8", "surrogateescape")
        starts_line = not out or out[-1].endswith(b"\n")
        if character == "\\":
            piece = b"\\\\"
        elif UNSHOWN.match(character) or (starts_line and character == "="):
            piece = b"".join(escape_byte(byte) for byte in raw)
        else:
            piece = raw
        if not is_text and column + len(piece) > WIDTH and character != "\n":
            out.append(b"\\\n")
            column = 0
            if character == "=":
                piece = escape_byte(raw[0])
        out.append(piece)
        column = 0 if character == "\n" else column + len(piece)
    return b"".join(out) + (b"\\\n" if data and not data.endswith(b"\n") else b"")


def unescape(text):
    def one(match):
        what = match[0][1:]
        if what == b"\n":
            return b""
        return b"\\" if what == b"\\" else b"\0" if what == b"0" else bytes([int(what[1:], 16)])
    return re.sub(rb"\\(?:\\|0|\n|x[0-9a-f]{2})", one, text)


def read(path):
    """{name: bytes} of a packed file."""
    parts = re.split(rb"^=== ([^\n]+)\n", path.read_bytes(), flags=re.M)
    return dict(zip((name.decode() for name in parts[1::2]), map(unescape, parts[2::2])))


def packed(entries):
    return b"".join(HEAD + name.encode() + b"\n" + escape(entries[name]) for name in sorted(entries))


def main():
    what, *paths = sys.argv[1:]
    paths = [pathlib.Path(path) for path in paths]
    if what == "pack" and len(paths) == 2:
        paths[1].write_bytes(packed({path.name: path.read_bytes() for path in paths[0].iterdir()}))
    elif what == "unpack" and len(paths) == 2:
        paths[1].mkdir(parents=True, exist_ok=True)
        for name, data in read(paths[0]).items():
            (paths[1] / name).write_bytes(data)
    elif what == "check" and paths:
        wrong = [path for path in paths if packed(read(path)) != path.read_bytes()]
        for path in wrong:
            print(f"{path} is not as corpus.py would pack it")
        return bool(wrong)
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
