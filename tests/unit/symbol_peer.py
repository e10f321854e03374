#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds src/symbol against llvm-symbolizer: of addresses all over some files, functions, inlined
functions, files and lines must be the same.

usage: symbol_peer.py SYMBOL_LIST FOLDER [FILE...]     exit 77: no llvm-symbolizer here

Builds a small program of C++ and C in every form that compilers here write (gcc and clang, DWARF 4
and 5, with and without optimization, compressed sections, stripped with its debug file apart).
"""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

SOURCE = r"""
#include <stdio.h>
namespace deep { template <class T> struct box { T value; T twice() const { return value + value; } }; }
static inline __attribute__((always_inline)) int add(int a, int b) { return a + b; }
static inline __attribute__((always_inline)) int more(int a) { int b = add(a, 1); return b > 3 ? add(b, b) : b; }
__attribute__((noinline)) int one(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += more(i); return sum; }
__attribute__((noinline)) int two(int n) { struct { int x; } local = {n}; auto f = [&](int k) { return local.x * more(k); };
    return f(n) + deep::box<int>{n}.twice(); }
__attribute__((noinline, cold)) int never(int n) { printf("%d\n", n); return more(n); }
int main(int argc, char **) { if (argc > 7) return never(argc); return one(argc) + two(argc) == 0; }
"""
FORMS = [[compiler, version, *level] for compiler in ("g++", "clang++-19") for version in ("-gdwarf-4", "-gdwarf-5")
         for level in (["-O0"], ["-O2"], ["-O2", "-gz"], ["-O1", "-ffunction-sections", "-Wl,--gc-sections"])]


def addresses(path, count=400):
    """Addresses in the functions of a file's code."""
    text = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        words = line.replace("[ ", "[").split()
        if len(words) > 5 and words[1] == ".text":
            start, size = int(words[3], 16), int(words[5], 16)
            draw = random.Random(size)
            return sorted({start + draw.randrange(size) for _ in range(count)})
    return []


def frames(text):
    """[[(function, file, line)...] for each address] of "function\\nfile:line[:column]" lines."""
    found = []
    for block in text.strip("\n").split("\n\n"):
        lines = block.split("\n")
        places = [re.match(r"(.*?):(\d+)(:\d+)?$", line) for line in lines[1::2]]
        found.append([(name, os.path.basename(place[1]), int(place[2])) for name, place in zip(lines[0::2], places)])
    return found


def ask(command, at):
    text = "".join(f"{address:#x}\n" for address in at)
    return frames(subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout)


def known(places):
    """Of what has no line the peer names the file all the same, from the symbol table."""
    return [(name, file, line) if line else (name, "??", 0) for name, file, line in places]


def main():
    ours, folder, *files = sys.argv[1:]
    peer = next((p for p in ("llvm-symbolizer-19", "llvm-symbolizer") if shutil.which(p)), None)
    if peer is None or shutil.which("readelf") is None:
        print("skipped: llvm-symbolizer and readelf are not here")
        return 77
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    source = os.path.join(folder, "forms.cpp")
    pathlib.Path(source).write_text(SOURCE)
    for number, form in enumerate(FORMS):
        path = os.path.join(folder, f"form{number}")
        if shutil.which(form[0]) and subprocess.run([*form, "-o", path, source], capture_output=True).returncode == 0:
            files.append(path)
    bad = total = 0
    for path in files:
        at = addresses(path)
        wrong = [(address, left, right) for address, left, right in
                 zip(at, ask([ours, path], at), ask([peer, "--no-demangle", "--inlines", f"--obj={path}"], at))
                 if known(left) != known(right)]
        for address, left, right in wrong[:5]:
            print(f"{path} {address:#x}\n  ours   {left}\n  theirs {right}")
        print(f"{path}: {len(at)} addresses, {len(wrong)} differ")
        bad, total = bad + len(wrong), total + len(at)
    print(f"{total} addresses of {len(files)} files, {bad} differ")
    return 1 if bad or not total else 0


if __name__ == "__main__":
    sys.exit(main())
