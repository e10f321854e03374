# SPDX-License-Identifier: Apache-2.0
"""What the scripts that look at the source have in common: which files there are, what of them is
code and what comment, and where a function begins."""
import functools
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY_OF_DOCTOR = {"doctor", "advice", "explain", "report"}
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)


def tracked(*folders, ending=r"\.[ch]$"):
    """The files git knows below `folders`, as texts from the root on, that match `ending`."""
    names = subprocess.run(["git", "-C", str(ROOT), "ls-files", *folders], capture_output=True, text=True, check=True)
    return [name for name in names.stdout.split("\n") if re.search(ending, name) and (ROOT / name).is_file()]


@functools.lru_cache(maxsize=None)
def text_of(name):
    return (ROOT / name).read_text(errors="replace")


def is_table(name):
    """A file of data or one that a script writes says so among its first 30 lines."""
    return any("sizes: table" in line for line in text_of(name).split("\n")[:30])


@functools.lru_cache(maxsize=None)
def code_of(name):
    """The text with its comments and the inside of its strings left out; lines stay lines."""
    return COMMENT.sub(lambda m: "\n" * m[0].count("\n") if m[0][0] == "/" else '""', text_of(name))


def comment_lines(name):
    """How many lines hold a comment, and how many hold anything at all."""
    text, lines = text_of(name), set()
    for match in COMMENT.finditer(text):
        if match[0][0] == "/":
            first = text.count("\n", 0, match.start())
            lines.update(range(first, first + match[0].count("\n") + 1))
    return len(lines), sum(1 for line in text.split("\n") if line.strip())


def functions(lines):
    """(head, first line, last line) of each function: our layout puts its braces alone."""
    start = None
    for number, text in enumerate(lines, 1):
        if text == "{" and start is None:
            start = number
        elif text == "}" and start is not None:
            first = start - 1
            while first > 0 and lines[first - 1] and not re.match(r"[#}]|.*;\s*$|\s*\*/|.*\*/$", lines[first - 1]):
                first -= 1
            yield " ".join(lines[first:start - 1]), first + 1, start, number
            start = None


def product_of(name):
    """Which of the things that we build a file belongs to."""
    parts = name.split("/")
    if parts[0] == "src":
        return "libgph-doctor" if parts[1] in LIBRARY_OF_DOCTOR else "libgph"
    return parts[0]
