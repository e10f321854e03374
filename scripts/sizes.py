#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on a file or a function that is too long, and on rooms with too few comments.

Files to 700 lines, public headers to 400, functions to 60. A file of tables, or one that a script
writes, says so with a line `sizes: table` among its first 30 lines; a function that is one
table-like switch says `sizes: switch` on the line above it.

Of the lines of each folder of src, softcuda, attach and tools that are not blank, 10 to 20 in 100
hold a comment (to 35 where a folder is all interface); a file of 100 lines or more has at least 3
in 100, and every file begins with what it holds. A pointer that is asked for itself is not
compared with NULL.

usage: sizes.py [--worst | --lines]   the longest; or how many lines of code each product has
"""
import collections
import pathlib
import re
import sys

from source import code_of, comment_lines, functions, is_table, product_of, text_of, tracked

LIMIT_FILE, LIMIT_HEADER, LIMIT_FUNCTION = 700, 400, 60
COMMENTS_LEAST, COMMENTS_MOST, COMMENTS_OF_FILE, SMALL_FILE, SMALL_FOLDER = 10, 35, 3, 100, 300


def check_lengths():
    """(sentence or None, length, what) of each file and function."""
    for name in tracked(ending=r"\.(c|h|cu|cuh|py|sh)$"):
        if is_table(name):
            continue
        lines = text_of(name).splitlines()
        limit = LIMIT_HEADER if name.startswith("include/") else LIMIT_FILE
        long = f"{name}: {len(lines)} lines, the limit is {limit}" if len(lines) > limit else None
        yield long, len(lines), name
        if not name.endswith((".c", ".h")):
            continue
        for head, first, start, end in functions(lines):
            length, above = end - start + 1, lines[first - 2] if first > 1 else ""
            what = f"{name}:{start}: {head.split('(')[0].split()[-1] if '(' in head else '?'}()"
            long = length > LIMIT_FUNCTION and "sizes: switch" not in above
            yield f"{what} has {length} lines, the limit is {LIMIT_FUNCTION}" if long else None, length, what


def check_comments():
    """Sentences about folders and files with too few comments, or none at their head."""
    folders = collections.Counter(), collections.Counter()
    for name in tracked("src", "softcuda", "attach", "tools"):
        if is_table(name):
            continue
        comments, lines = comment_lines(name)
        folder = str(pathlib.PurePath(name).parent)
        folders[0][folder] += comments
        folders[1][folder] += lines
        if lines >= SMALL_FILE and 100 * comments < COMMENTS_OF_FILE * lines:
            yield f"{name}: {comments} of {lines} lines hold a comment, fewer than {COMMENTS_OF_FILE} in 100"
        head = text_of(name).split("\n", 2)[1]
        if not head.startswith(("/*", "//")):
            yield f"{name}: the second line is not a comment that says what the file holds"
    for folder, lines in sorted(folders[1].items()):
        share = 100 * folders[0][folder] / lines
        if lines >= SMALL_FOLDER and not COMMENTS_LEAST <= round(share, 1) <= COMMENTS_MOST:
            yield f"{folder}: {share:.1f} of 100 lines hold a comment, not {COMMENTS_LEAST} to {COMMENTS_MOST}"


# Where a pointer is asked for itself, and not stored or counted.
NULL_AS_CONDITION = re.compile(r"[\w)\]] [!=]= NULL\)* (&&|\|\|)|(&&|\|\|) [\w.>()\[\]-]+ [!=]= NULL|\b(if|while) \([\w.>-]+ [!=]= NULL\)")


def check_null():
    """Sentences about comparisons with NULL that say no more than the pointer."""
    for name in tracked("src", "softcuda", "attach", "tools", "include"):
        for number, line in enumerate(code_of(name).split("\n"), 1):
            if NULL_AS_CONDITION.search(line) and "(from == NULL) != (to == NULL)" not in line and " + (" not in line:
                yield f"{name}:{number}: `p` or `!p`, not a comparison with NULL"


def count_lines():
    """Lines that a hand wrote: of code, and all of them with comments and blank ones."""
    code, whole = collections.Counter(), collections.Counter()
    for name in tracked("src", "softcuda", "attach", "tools", ending=r"\.([chS]|def|inc|js|css|py)$"):
        if any("Written by scripts/" in line for line in text_of(name).split("\n")[:5]):
            continue
        code[product_of(name)] += sum(1 for line in code_of(name).split("\n") if line.strip())
        whole[product_of(name)] += len(text_of(name).splitlines())
    for product, count in sorted(code.items()):
        print(f"  {product:14} {count:7} of code, {whole[product]:7} in all")
    print(f"  {'':14} {code.total():7} of code, {whole.total():7} in all")


def main():
    option = sys.argv[1] if len(sys.argv) > 1 else ""
    if option == "--lines":
        count_lines()
        return 0
    lengths = list(check_lengths())
    bad = [sentence for sentence, *_ in lengths if sentence] + list(check_comments()) + list(check_null())
    print("\n".join(bad), end="\n" if bad else "")
    if option == "--worst":
        for length, what in sorted(((length, what) for _, length, what in lengths), reverse=True)[:20]:
            print(f"  {length:5} {what}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
