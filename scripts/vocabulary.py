#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps words that make readers of English stumble from becoming more frequent.

scripts/vocabulary.txt has one line per word: how often it occurs in the tree, a regular expression,
and what to write instead. Fails if one occurs more often than that, and shows the lines that HEAD
does not have; if it occurs less often, `vocabulary.py --update` writes the new number.
"""
import pathlib
import re
import subprocess
import sys

from source import ROOT, text_of, tracked

LIST = ROOT / "scripts/vocabulary.txt"
# The whole tree: whatever git knows, but for what is not ours to word, or repeats another file.
BINARY = r"\.(gz|png|ico|woff2?|safetensors|bin|cubin|fatbin|gphr|log|zst)$|(^|/)LICENSE$"
LEFT_OUT = ("scripts/vocabulary.txt",  # the words themselves
            "docs/sample-report.html", "src/doctor/language/zh.def", "src/report/page/words.js",  # repeat the source
            "docs/explain.md", "docs/explain.zh.md", "docs/doctor-rules.md", "docs/driver-calls.md",  # generated
            "docs/conformance.md", "docs/ptx.md", "docs/python-api.md")
LEFT_OUT_FOLDERS = r"(^|/)(corpus|recorded|results)/|^tests/explain/.*(unseen|issues)"  # what others wrote


def read_list():
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            count, pattern, instead = line.split("\t")
            yield int(count), pattern, instead


def texts():
    """The files that git knows and that hold text of ours."""
    for name in tracked(ending=""):
        if name not in LEFT_OUT and not re.search(BINARY, name) and not re.search(LEFT_OUT_FOLDERS, name):
            yield text_of(name)


def count_of(pattern, whole):
    """How often it occurs in these texts, in any case of letters."""
    return sum(len(re.findall(pattern, text, re.I)) for text in whole)


def new_lines(pattern):
    """The lines that hold it and are not in HEAD."""
    diff = subprocess.run(["git", "-C", str(ROOT), "diff", "-U0", "HEAD"], capture_output=True, text=True, check=True)
    return [line for line in diff.stdout.split("\n")
            if line.startswith("+") and not line.startswith("+++") and re.search(pattern, line, re.I)]


def main():
    rows, bad, whole = [], 0, list(texts())
    for count, pattern, instead in read_list():
        now = count_of(pattern, whole)
        rows.append((now, pattern, instead))
        if now > count:
            print(f"/{pattern}/ occurs {now} times, {count} are allowed: write {instead}")
            print("\n".join(f"  {line}" for line in new_lines(pattern)[:10]))
            bad = 1
        elif now < count and "--update" not in sys.argv:
            print(f"/{pattern}/ occurs {now} times, no longer {count}: scripts/vocabulary.py --update")
    if "--update" in sys.argv:
        head = [line for line in LIST.read_text().splitlines() if line.startswith("#")]
        LIST.write_text("\n".join(head + ["\t".join(map(str, row)) for row in rows]) + "\n")
        return 0
    return bad


if __name__ == "__main__":
    sys.exit(main())
