#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the library's manual pages, in scdoc's language, from the public headers: one of section 3
for each header, and for each function in it a page that leads there.

    man_pages.py SCDOC HEADERS OUT      writes OUT/gph-HEADER.3 and OUT/FUNCTION.3
"""
import pathlib
import re
import shutil
import subprocess
import sys

COMMENT = re.compile(r"^/\*\*(?!<)(.*?)\*/", re.S | re.M)
SKIPPED = re.compile(r"^(#ifn?def|#if|#endif|#else|#include|extern \"C\"|}$)")


def words_of(comment):
    """A comment's lines without its stars and its first indent."""
    lines = [re.sub(r"^ *\*? {0,2}", "", line, count=1).rstrip() for line in comment.split("\n")]
    lines[0] = lines[0].strip()
    return lines


def escaped(text):
    return re.sub(r"([_*\\#`])", r"\\\1", text)


def paragraphs(lines):
    """Running text, escaped; what is indented is shown as it is."""
    out, block = [], []
    for line in lines + [""]:
        if line.startswith("  ") and line.strip():
            block.append(line)
            continue
        if block:
            shift = min(len(line) - len(line.lstrip()) for line in block)
            out += ["", "```"] + [line[shift:] for line in block] + ["```", ""]
            block = []
        # a word, two blanks or more and what it is: a parameter
        named = re.match(r"(\w[\w, ]*?) {2,}(\S.*)", line)
        if named:
            out += ["", f"*{escaped(named[1])}*: {escaped(named[2])}"]
        else:
            out.append(escaped(line).strip())
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip("\n")
    return re.sub(r"(?m)^([.-])", r"\\\1", text)


def declaration(text):
    """What is after a comment: to the end of its declaration, or of its macros."""
    lines, depth = [], 0
    for line in text.split("\n"):
        if not line.strip() and not depth:
            if lines:
                break
            continue
        if not depth and (SKIPPED.match(line) or line.startswith("/*")):
            break
        lines.append(line)
        depth += line.count("{") - line.count("}")
        if not depth and line.endswith(";"):
            break
    head = re.match(r"((GPH_(API|CHECKED)|GPH_PRINTF\([0-9, ]*\)) ?)*", lines[0] if lines else "")[0]
    shift = len(head)
    return [lines[0][shift:]] + [re.sub(rf"^ {{{shift}}}", "", line).rstrip() for line in lines[1:]] if lines else []


def page(name, text):
    comments = list(COMMENT.finditer(text))
    about = words_of(comments[0][1].replace("@file", "", 1).strip("\n"))
    about = [line for line in about if line.strip() or line == ""]
    joined = "\n".join(about).strip("\n").split("\n")
    first = re.split(r"(?<=\.)\s", " ".join(joined).strip())[0].rstrip(".")
    out = [f"gph-{name}(3)", "", "# NAME", "", f"gph-{name} - {escaped(first[0].lower() + first[1:])}", "",
           "# SYNOPSIS", "", "```", f"#include <gph/{name}.h>", "```", "", "# DESCRIPTION", "", paragraphs(joined), ""]
    functions = []
    for comment in comments[1:]:
        code = declaration(text[comment.end():])
        if not code:
            continue
        whole = " ".join(code)
        called = re.search(r"\b(gph_\w+)\(", whole) if not whole.startswith(("typedef", "#define")) else None
        typed = re.search(r"(\w+);$", whole) if whole.startswith("typedef") else None
        macro = re.match(r"#define (\w+)", whole)
        head = called or typed or macro
        if not head:
            continue
        if called and "static inline" not in whole:
            functions.append(called[1])
        lines = [line.replace("\t", "    ") for line in code]
        out += [f"## {escaped(head[1])}", "", "```", *lines, "```", "", paragraphs(words_of(comment[1])), ""]
    out += ["# SEE ALSO", "", "*gph*(1)", ""]
    return "\n".join(out), functions


def main():
    scdoc, headers, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for header in sorted(headers.glob("*.h")):
        text, functions = page(header.stem, header.read_text())
        made = subprocess.run([scdoc], input=text.encode(), capture_output=True)
        if made.returncode:
            sys.exit(f"{header}: {made.stderr.decode().strip()}")
        (folder / f"gph-{header.stem}.3").write_bytes(made.stdout)
        for function in functions:
            (folder / f"{function}.3").write_text(f".so man3/gph-{header.stem}.3\n")


main()
