#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs gph doctor on the programs of this folder and compares with expected.txt.

usage: run.py GPH FOLDER_OF_PROGRAMS [NAME...]

A name PROGRAM.WAY is PROGRAM with the argument WAY, PROGRAM.WAY.right with one more; the lines of its
first cause are marked "<- WAY". expected.txt has a program's name and indented below it lines, each one of
    options WORDS        more options of the doctor
    exit N               the doctor's status
    silent               no error and no warning
    SEVERITY ID FUNCTION the first finding; its line is the one with "<- here" if there is one
    stack FUNCTION...    the first frames of the first finding
    count N              how often it happened, as reported
    alone                no other error or warning
    beside ID FUNCTION   another finding, not the first, at that function
    says TEXT            the first finding has this text
    lacks TEXT           it has not
    never ID             it is not reported, not as info either
    object KIND FUNCTION it names an object of that kind, made in that function
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile


def places_of(source, mark):
    """The numbers of the lines with the mark."""
    return [number for number, text in enumerate(source.read_text().splitlines(), 1)
            if text.find("<- " + mark) >= 0 and text.split("<- ")[1].split()[0] == mark]


def base_name(function):
    """A function's name without arguments and namespaces."""
    return function.split("(")[0].split("::")[-1].split("<")[0]


class Examined:
    """What the doctor said about one program."""

    def __init__(self, status, answer, here, is_way=False):
        self.status, self.here, self.is_way = status, here, is_way
        self.findings = answer["findings"]
        self.grave = [f for f in self.findings if f["severity"] != "info"]
        self.first = self.findings[0] if self.findings else {}

    def expected(self, word, rest):
        """None, or what is wrong with one line of the expectation."""
        if word == "exit":
            return self.status != int(rest) and f"exit {self.status}, not {rest}"
        if word == "silent":
            return self.grave and f"reported {[f['id'] for f in self.grave]}"
        if word == "alone":
            return len(self.grave) != 1 and f"reported {[f['id'] for f in self.grave]}"
        if word == "beside":
            others = [(f["id"], base_name(f["at"]["function"])) for f in self.findings[1:]]
            return tuple(rest.split()) not in others and f"beside the first {others}"
        if word == "count":
            return self.first["count"] != int(rest) and f"count {self.first['count']}, not {rest}"
        if word == "stack":
            got = [base_name(f["function"])
                   for key in ("python", "stack") for f in self.first.get(key, [])]
            return got[:len(rest.split())] != rest.split() and f"stack {got}"
        if word == "never":
            return rest in [f["id"] for f in self.findings] and f"reports {rest}"
        if word == "object":
            got = [(o["kind"], base_name((o["place"] or {"function": "?"})["function"]))
                   for o in self.first["objects"] if int(o["handle"], 16) != 0]
            return tuple(rest.split()) not in got and f"names {got}"
        text = json.dumps(self.first, ensure_ascii=False)
        if word == "says":
            return rest not in text and f"does not say {rest!r}: {text}"
        if word == "lacks":
            return rest in text and f"says {rest!r}: {text}"
        return self.first_is(word, *rest.split())

    def is_here(self, at):
        """At a marked line; of a way, in a frame at one, or in a call of two or three lines that ends there."""
        if not self.is_way:
            return at["line"] in self.here
        return any(frame["line"] + more in self.here
                   for frame in [at, *self.first["stack"]] if frame.get("line") for more in range(3))

    def first_is(self, severity, rule, function):
        """The first finding is this one, at the marked line of that function."""
        got = (self.first.get("severity"), self.first.get("id"))
        if got != (severity, rule):
            return f"first is {got}, not {(severity, rule)}"
        at = self.first["at"]
        if base_name(at["function"]) != function:
            return f"at {at['function']}, not {function}"
        if self.here and not self.is_here(at):
            return f"at line {at['line']}, not {self.here}"
        return None


def examine(gph, program, options):
    """The doctor's status and its answer."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        ran = subprocess.run([gph, "doctor", "--driver", "soft", *options, "--json", file.name,
                              "--", *program], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, timeout=100, check=False)
        return ran.returncode, json.loads(pathlib.Path(file.name).read_text())


def expectations(path):
    """{program: [[word, rest]...]}"""
    found = {}
    for line in filter(None, path.read_text().splitlines()):
        if line.startswith(" "):
            lines.append(line.split(None, 1))
        else:
            lines = found[line] = []
    return found


def main():
    gph, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    here, bad, ran = pathlib.Path(__file__).parent, 0, 0
    expected = expectations(here / "expected.txt")
    named = {name.split(".")[0] for name in expected}
    programs = {path.stem for kind in ("c", "cpp", "py") for path in here.glob("*." + kind)
                if path != pathlib.Path(__file__)}
    for name in sorted(programs ^ named):
        print(f"{name}: in one of this folder and expected.txt only")
        bad += 1
    for name in sys.argv[3:] or sorted(expected):
        stem, *ways = name.split(".")
        program = [sys.executable, here / (stem + ".py")]
        if not program[1].exists():
            program = [folder / ("unseen_" + stem), *ways]
        if not os.access(program[0], os.X_OK):
            print(f"{name}: not built (no C++ compiler?)")
            continue
        lines = expected[name]
        options = [word for key, *rest in lines if key == "options" for word in rest[0].split()]
        source = program[1] if program[0] == sys.executable else next(here.glob(f"{stem}.c*"))
        status, answer = examine(gph, program, options)
        reported = Examined(status, answer, places_of(source, ways[0] if ways else "here"), bool(ways))
        ran += 1
        for key, *rest in lines:
            wrong = key != "options" and reported.expected(key, rest[0] if rest else "")
            if wrong:
                print(f"{name}: {wrong}")
                bad += 1
    print(f"{ran} programs, {bad} wrong")
    sys.exit(bad != 0 or ran == 0)


if __name__ == "__main__":
    main()
