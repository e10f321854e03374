#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's allocator as the attached library hears it, in a program that has such an allocator: what is
reported, at which line, that each report goes on to libc10, and that each is in the log.

usage: blocks.py GPH EVENTS PROGRAM SOURCE DRIVER
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

gph, events, program, source, driver = sys.argv[1:]
OF_POOLS = {"shared": "memory.output-overwritten", "in_order": "silent", "given_back": "replay.missing-work", "held": "silent"}
WAYS = OF_POOLS if pathlib.Path(source).stem == "pools" else {
    "taken": "memory.stale-address", "kept": "silent", "temporary": "silent", "old": "replay.unread-result"}
lines = pathlib.Path(source).read_text().splitlines()
faults = []
for way, rule in WAYS.items():
    with tempfile.TemporaryDirectory() as folder:
        out, log = pathlib.Path(folder, "found.json"), pathlib.Path(folder, "log")
        done = subprocess.run([gph, "doctor", "--driver", driver, "--json", out, "--save-events", log, "--", program, way],
                              capture_output=True, text=True, timeout=60, check=False)
        plain = subprocess.run([gph, "run", "--driver", driver, "--", program, way], capture_output=True, text=True, timeout=60,
                               check=False)
        found = json.loads(out.read_text())
        if found["exit"] == 77:
            sys.exit(77)
        kept = subprocess.run([events, log], capture_output=True, text=True, check=True).stdout
    grave = [f for f in found["findings"] if f["severity"] != "info"]
    frames = [grave[0]["at"], *grave[0]["stack"]] if grave else []
    own = [frame["line"] for frame in frames if pathlib.Path(frame["file"] or "").name == pathlib.Path(source).name]
    first = (grave[0]["id"], own[0] if own else None) if grave else ("silent", None)
    marked = next((n for n, line in enumerate(lines, 1) if f"<-- {way} " in line), None)
    if first != (rule, marked):
        faults.append(f"{way}: {first}, not {(rule, marked)}\n{done.stderr}")
    said = re.search(r"(\d+) taken, (\d+) given back, (\d+) others", done.stdout)
    if not said or done.stdout != plain.stdout:
        faults.append(f"{way}: {done.stdout!r}; without the doctor {plain.stdout!r}")
        continue
    blocks = re.findall(r"BLOCK id \w+ \((\w+)\)", kept)
    logged = (sum(b != "0" for b in blocks), sum(b == "0" for b in blocks))
    if logged != (int(said[1]), int(said[2])) or int(said[3]) != 1:
        faults.append(f"{way}: the log has {logged}; {done.stdout!r}")
for fault in faults:
    print("FAILED", fault)
sys.exit(1 if faults else 0)
