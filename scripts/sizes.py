#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the longest files and functions; fails on one that is over the limit.

Files to 800 lines, public headers to 400, functions to 60. A file of tables says so with a
line `sizes: table` among its first 30 lines; a function that is one table-like switch says
`sizes: switch` on the line above it.
"""
import pathlib
import re
import subprocess
import sys

LIMIT_FILE, LIMIT_HEADER, LIMIT_FUNCTION = 800, 400, 60
tracked = subprocess.run(["git", "ls-files", "*.c", "*.h", "*.cu", "*.cuh", "*.py", "*.sh"],
                         capture_output=True, text=True, check=True).stdout.split()


def functions(lines):
    """(name, first line, length) of each function: our layout puts its braces alone."""
    start = None
    for number, text in enumerate(lines, 1):
        if text == "{" and start is None:
            start = number
        elif text == "}" and start is not None:
            head = start - 1
            while head > 0 and lines[head - 1] and not re.match(r"[#}]|.*[;]\s*$|\s*\*/", lines[head - 1]):
                head -= 1
            name = re.search(r"(\w+)\(", " ".join(lines[head:start]))
            yield (name[1] if name else "?", start, number - start + 1, lines[head - 1] if head else "")
            start = None


bad, files, longest = 0, [], []
for path in tracked:
    lines = pathlib.Path(path).read_text(errors="replace").splitlines()
    if any("sizes: table" in text for text in lines[:30]):
        continue
    limit = LIMIT_HEADER if path.startswith("include/") else LIMIT_FILE
    files.append((len(lines), path))
    if len(lines) > limit:
        print(f"{path}: {len(lines)} lines, the limit is {limit}")
        bad = 1
    if not path.endswith((".c", ".h")):
        continue
    for name, line, length, above in functions(lines):
        longest.append((length, f"{path}:{line} {name}()"))
        if length > LIMIT_FUNCTION and "sizes: switch" not in above:
            print(f"{path}:{line}: {name}() has {length} lines, the limit is {LIMIT_FUNCTION}")
            bad = 1
if len(sys.argv) > 1:
    for title, worst in (("files", files), ("functions", longest)):
        print(title)
        for size, what in sorted(worst, reverse=True)[:10]:
            print(f"  {size:5} {what}")
sys.exit(bad)
