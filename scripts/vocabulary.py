#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps words out of what is written from now on that a reader of English stumbles over.

scripts/vocabulary.txt has a line a word: how often it stands in the tree, a regular expression, and
what to write instead. Fails where one stands more often than that, and shows the lines that HEAD
does not have; where it stands less often, `vocabulary.py --update` writes the new number.
"""
import pathlib
import re
import subprocess
import sys

from source import ROOT, text_of, tracked

LIST = ROOT / "scripts/vocabulary.txt"
TEXTS = r"\.(c|h|cu|cuh|S|def|py|sh|md|scd|txt|js|html|css|cmake|json)$|^(run|test|CMakeLists\.txt)$"
# The last repeats what the source says.
LEFT_OUT = ("scripts/vocabulary.txt", "docs/sample-report.html", "src/doctor/language/zh.def",
            "src/report/page/words.js")


def read_list():
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            count, pattern, instead = line.split("\t")
            yield int(count), pattern, instead


def count_of(pattern):
    """How often it stands in the files that git knows, in any case of letters."""
    return sum(len(re.findall(pattern, text_of(name), re.I)) for name in tracked(ending=TEXTS)
               if name not in LEFT_OUT and "/corpus/" not in name and "/recorded/" not in name)


def new_lines(pattern):
    """The lines that hold it and are not in HEAD."""
    diff = subprocess.run(["git", "-C", str(ROOT), "diff", "-U0", "HEAD"], capture_output=True, text=True, check=True)
    return [line for line in diff.stdout.split("\n")
            if line.startswith("+") and not line.startswith("+++") and re.search(pattern, line, re.I)]


def main():
    rows, bad = [], 0
    for count, pattern, instead in read_list():
        now = count_of(pattern)
        rows.append((now, pattern, instead))
        if now > count:
            print(f"/{pattern}/ stands {now} times, {count} are allowed: write {instead}")
            print("\n".join(f"  {line}" for line in new_lines(pattern)[:10]))
            bad = 1
        elif now < count and "--update" not in sys.argv:
            print(f"/{pattern}/ stands {now} times, no longer {count}: scripts/vocabulary.py --update")
    if "--update" in sys.argv:
        head = [line for line in LIST.read_text().splitlines() if line.startswith("#")]
        LIST.write_text("\n".join(head + ["\t".join(map(str, row)) for row in rows]) + "\n")
        return 0
    return bad


if __name__ == "__main__":
    sys.exit(main())
