#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gph doctor on each way of ways.c: the first error or warning is of the rule, at the marked line, or there
is none; one place has one finding of a rule; and what it says has Chinese.

usage: ways.py GPH PROGRAM SOURCE DRIVER [WAY...]
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import chinese

gph, program, source, driver = sys.argv[1:5]
lines = pathlib.Path(source).read_text().splitlines()
ways = [line.split()[2:] for line in lines if line.startswith("// way: ")]
failures = []


def examine(way, options):
    with tempfile.TemporaryDirectory() as folder:
        out, log = pathlib.Path(folder, "found.json"), pathlib.Path(folder, "log")
        done = subprocess.run([gph, "doctor", "--driver", driver, *options, "--json", out, "--save-events", log, "--", program, way],
                              capture_output=True, text=True, timeout=60, errors="replace", check=False)
        found = json.loads(out.read_text())
        failures.extend(f"{way}: {complaint}" for complaint in chinese.complaints(gph, str(log), found["findings"]))
        return done, found


for way, rule, *options in ways:
    if sys.argv[5:] and way not in sys.argv[5:]:
        continue
    if driver != "soft" and options:
        continue  # softcuda's check mode
    marks = [number for number, line in enumerate(lines, 1) if re.search(rf"<-- {way}$", line)]
    done, found = examine(way, options)
    if found["exit"] == 77:
        sys.exit(77)
    grave = [f for f in found["findings"] if f["severity"] != "info"]
    places = [(f["id"], *((frame["file"], frame["line"]) for frame in [f["at"], *f["stack"]])) for f in grave]
    failures.extend(f"{way}: {places.count(place)} findings at one place: {place}" for place in set(places) if places.count(place) > 1)
    first = grave[0] if grave else {"id": "silent", "at": {"line": None}}
    wanted = marks[0] if rule != "silent" else None
    at = first["at"]["line"]
    is_there = at == wanted or (wanted and at and at <= wanted <= at + 1)  # a call may take two lines
    if first["id"] != rule or not is_there or (rule == "silent" and done.returncode != 0):
        failures.append(f"{way}: {first['id']} at line {at}, not {rule} at {wanted}\n{done.stdout}{done.stderr}")
for failure in failures:
    print("FAILED", failure)
sys.exit(1 if failures else 0)
