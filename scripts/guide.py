#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts docs/guide.html together: page, style, words and code of docs/guide, and what examples/guide
recorded (examples/guide/*.json: one file a device).

    guide.py           writes docs/guide.html
    guide.py --check   says whether it is what would be written
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDE, OUT = ROOT / "docs/guide", ROOT / "docs/guide.html"
DEVICES = ["h100", "softcuda"]  # the first one is shown at first


def literal(value):
    """JSON that may stand in a script element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")


def whole():
    data = {name: json.loads((ROOT / f"examples/guide/{name}.json").read_text()) for name in DEVICES}
    words = json.loads((GUIDE / "words.json").read_text())
    if words["en"].keys() != words["zh"].keys():
        sys.exit("words.json: the languages differ in " + ", ".join(words["en"].keys() ^ words["zh"].keys()))
    script = f"const DATA = {literal(data)};\nconst WORDS = {literal(words)};\n" + (GUIDE / "guide.js").read_text()
    page = (GUIDE / "page.html").read_text()
    return page.replace("/*{style}*/", (GUIDE / "guide.css").read_text()).replace("/*{script}*/", script)


if "--check" in sys.argv:
    if not OUT.exists() or OUT.read_text() != whole():
        sys.exit("docs/guide.html is not what scripts/guide.py writes: run it")
    print("docs/guide.html is what its parts make")
else:
    OUT.write_text(whole())
