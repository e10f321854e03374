#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which node ran: gph doctor --watch on standing.c, by softcuda's word and by sentinels.

usage: standing.py GPH PROGRAM SOURCE REGIONS ITS-SOURCE [DRIVER]

Exit status 77: skipped.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

gph, program, source, regions, regions_source = sys.argv[1:6]
driver = sys.argv[6] if len(sys.argv) > 6 else "soft"
lines = pathlib.Path(source).read_text().splitlines()
failures = []
WAYS = {"driver": [], "sentinels": ["--sentinels"]} if driver == "soft" else {"sentinels": ["--sentinels"]}


def line_of(mark, within=lines):
    return next(number for number, line in enumerate(within, 1) if line.rstrip().endswith(f"// {mark}"))


def check(condition, what):
    if not condition:
        failures.append(what)
    return condition


def examine(way, *options, program_of=None):
    with tempfile.TemporaryDirectory() as folder:
        out, temporary = os.path.join(folder, "f.json"), os.path.join(folder, "tmp")
        log = os.path.join(folder, "log")
        os.mkdir(temporary)
        begun = time.monotonic()
        done = subprocess.run([gph, "doctor", "--driver", driver, "--json", out, "--save-events", log, *options, "--",
                               *(program_of or [program, way])], capture_output=True, text=True, timeout=100, errors="replace",
                              env={**os.environ, "TMPDIR": temporary})
        if done.returncode == 77:
            sys.exit(77)
        check(os.listdir(temporary) == [], f"{way}: not removed: {os.listdir(temporary)}")
        found = json.loads(pathlib.Path(out).read_text())["findings"]
        again = subprocess.run([gph, "doctor", "--events", log, "--json", "-"], capture_output=True, text=True, errors="replace")
        check(evidence(json.loads(again.stdout)["findings"]) == evidence(found), f"{way}: the saved log says something else")
    return done, found, time.monotonic() - begun


def evidence(found):
    return [line for finding in found for line in finding["evidence"]]


def node(words, mark, what):
    """A line of evidence on a node: its words, and where it was captured."""
    place = f"standing.c:{line_of(mark)})"
    return check(any(words in line and place in line for line in words_of), f"{what}: no '{words} ... {place}'")


def libgph(how, options):
    """A program with sentinels of its own: the doctor says where each node was captured, its file says it with regions."""
    within = pathlib.Path(regions_source).read_text().splitlines()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        done = subprocess.run([gph, "doctor", "--driver", driver, "--watch", "2", "--json", f"{folder}/f", *options, "--", regions],
                              capture_output=True, text=True, timeout=100, errors="replace",
                              env={**os.environ, "GPH_SENTINEL_FILE": f"{folder}/board"})
        said = [line for finding in json.loads(pathlib.Path(folder, "f").read_text())["findings"] for line in finding["evidence"]]
        boards = [name for name in os.listdir(folder) if name.startswith("board.")]
        check(done.returncode == 137, f"libgph, {how}: exit status {done.returncode}: {done.stderr}")
        for words, mark in (('it was running: node 1 (kernel gate, region "attn")', "gated"),
                            ('(kernel pass, region "layer.0") waits for node 1', "last"),
                            ("it had ended: node 0 (kernel pass)", "first")):
            place = f"regions.c:{line_of(mark, within)})"
            check(any(words in line and place in line for line in said), f"libgph, {how}: no '{words} ... {place}': {said}")
        if not check(len(boards) == 1, f"libgph, {how}: {boards}"):
            return
        listed = subprocess.run([regions, f"{folder}/{boards[0]}"], capture_output=True, text=True).stdout
        for state, words, mark in (("done", "node 0 (kernel pass), recorded at", "begun"),
                                   ("running", "node 1 (kernel gate), region layer.0/attn, recorded at", "inner"),
                                   ("waiting", "node 2 (kernel pass), region layer.0, recorded at", "outer")):
            line = f"  {state:<8} {words} regions.c:{line_of(mark, within)}"
            check(line in listed, f"libgph, {how}: no '{line}' in\n{listed}")


def chosen(way, rule):
    """What is wrong with a node that decides on the device is reported with the node, its region and its line."""
    within = pathlib.Path(regions_source).read_text().splitlines()
    done, found, _ = examine(way, program_of=[regions, "-", way])
    of_rule = [finding for finding in found if finding["id"] == rule]
    if not check(len(of_rule) == 1, f"{way}: {[f['id'] for f in found]}: {done.stderr}"):
        return
    place = f"regions.c:{line_of('chosen', within)})"
    said = [of_rule[0]["cause"], *of_rule[0]["evidence"]]
    check(any('region "router"' in line for line in said), f"{way}: no region in {said}")
    check(any('region "router"' in line and place in line for line in said) or place in str(of_rule[0]),
          f"{way}: no {place} in {said}")


if driver == "soft":
    chosen("choice", "device.no-body")
    chosen("unset", "device.handle-never-set")
for how, options in WAYS.items():
    libgph(how, options)
    for way in ("hang", "late", "slow", "killed", "fault"):
        what = f"{way}, {how}"
        rule = {"killed": "launch.crash", "fault": "launch.fault"}.get(way, "launch.hang")
        watch = ["--watch", "100" if way == "killed" else "2"] + (["--leave"] if way == "slow" else [])
        done, found, seconds = examine(way, *watch, *options)
        if not check(any(f["id"] == rule for f in found), f"{what}: {rule} is missing: {done.stderr}"):
            continue
        words_of = evidence(found)
        before = len(failures)
        check(any(re.search(r"of its 5 nodes 2 had ended, 1 ran, 2 waited, 0 are not known", line) for line in words_of),
              f"{what}: no count")
        kernel = "stray" if way == "fault" else "gate"
        gated = next((line for line in words_of if "it was running" in line), "")
        number = (re.search(r"node (\d+)", gated) or [0, "?"])[1]
        node(f"it was running: node {number} (kernel {kernel})", "gated", what)
        node(f"(kernel scale_add) waits for node {number} (kernel {kernel})", "joined", what)
        node("(kernel copy) waits for node 3 (kernel scale_add)", "last", what)
        node("it had ended: node 0 (kernel fill)", "source", what)
        node("it had ended:", "side", what)
        if len(failures) > before:
            print(what, *words_of, sep="\n")
        if way == "slow":
            check("went on" in done.stdout and done.returncode == 1, f"{what}: exit status {done.returncode}: {done.stdout}")
            check("is left as it is" in done.stderr, f"{what}: {done.stderr}")
            check(seconds > 3.5, f"{what}: it was not waited for")
        elif way in ("hang", "late", "killed"):
            check(done.returncode == 137, f"{what}: exit status {done.returncode}")
    (plain, as_ever, _), (done, found, _) = examine("ends"), examine("ends", "--watch", "60", *options)
    check([f["id"] for f in found] == [f["id"] for f in as_ever], f"ends, {how}: other findings: {done.stderr}")
    check(done.stdout == plain.stdout and done.returncode == plain.returncode and "not so" not in done.stdout,
          f"ends, {how}: {done.stdout}")

wrong = subprocess.run([gph, "doctor", "--leave", "--", program, "ends"], capture_output=True, text=True)
check(wrong.returncode == 2 and "--leave needs --watch" in wrong.stderr, "--leave without --watch is taken")
for failure in failures:
    print("FAILED", failure)
sys.exit(1 if failures else 0)
