#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds code that occurs twice: runs of 8 or more equal lines, and fails above 3 of them.

usage: duplicates.py [--lines N] [--most N] [FOLDER...]      (src softcuda attach tools)

Lines are compared without comments and with white space folded; includes, and lines without a
word or a number, are left out and do not end a run. Each run counts once for each pair of places,
at its full length. A header of tables says so (`sizes: table` among its first 30 lines) and is
left out, as are *.def, generated files and kernels' text.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
LEFT_OUT = re.compile(r"sizes: table|[Gg]enerated (?:by|from)|[Mm]ade by scripts/")


def code_lines(path):
    """[(line number, folded text)] of the lines that are compared."""
    text = path.read_text(errors="replace")
    if any(LEFT_OUT.search(line) for line in text.split("\n")[:30]):
        return []
    text = COMMENT.sub(lambda m: "\n" * m[0].count("\n") if m[0][0] == "/" else m[0], text)
    lines = [(number, " ".join(line.split())) for number, line in enumerate(text.split("\n"), 1)]
    return [(number, line) for number, line in lines
            if re.search(r"\w", line) and not re.match(r"# *include\b", line)]


def windows(files, least):
    """{the hash of `least` lines: [(file, index of the first)]}."""
    found = collections.defaultdict(list)
    for name, lines in files.items():
        for at in range(len(lines) - least + 1):
            found[hash(tuple(text for _, text in lines[at:at + least]))].append((name, at))
    return found


def same(files, a, b):
    """How many lines are equal from the places a and b on; places of one file do not overlap."""
    first, second = files[a[0]], files[b[0]]
    most = min(len(first) - a[1], len(second) - b[1])
    if a[0] == b[0]:
        most = min(most, abs(a[1] - b[1]))
    count = 0
    while count < most and first[a[1] + count][1] == second[b[1] + count][1]:
        count += 1
    return count


def goes_on(files, a, b):
    """Whether the lines before both places are equal: the run begins further up."""
    return a[1] > 0 and b[1] > 0 and files[a[0]][a[1] - 1][1] == files[b[0]][b[1] - 1][1]


def runs(files, least):
    """(lines, place, place) of each run, longest first."""
    found = []
    for places in windows(files, least).values():
        for i, a in enumerate(places):
            for b in places[i + 1:]:
                count = 0 if goes_on(files, a, b) else same(files, a, b)
                if count >= least:
                    found.append((count, a, b))
    return sorted(found, key=lambda run: (-run[0], run[1:]))


def shown(files, place, count):
    name, at = place
    return f"{name}:{files[name][at][0]}-{files[name][at + count - 1][0]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=int, default=8)
    parser.add_argument("--most", type=int, default=3)
    parser.add_argument("folders", nargs="*", default=["src", "softcuda", "attach", "tools"])
    options = parser.parse_args()
    tracked = subprocess.run(["git", "ls-files", *options.folders], capture_output=True, text=True, check=True)
    files = {name: code_lines(pathlib.Path(name)) for name in tracked.stdout.split()
             if re.search(r"\.(?:c|h|cpp|cc|cu|py|js)$", name) and pathlib.Path(name).is_file()}
    found = runs(files, options.lines)
    for count, a, b in found:
        print(f"{count:4} lines  {shown(files, a, count)} ~ {shown(files, b, count)}")
    print(f"{len(found)} runs of {options.lines} or more equal lines; at most {options.most} are allowed")
    return len(found) > options.most


if __name__ == "__main__":
    sys.exit(main())
