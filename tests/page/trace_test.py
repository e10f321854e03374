# SPDX-License-Identifier: Apache-2.0
"""The trace is what Perfetto reads: trace_test.py MAKE_PAGE"""
import json
import os
import re
import subprocess
import sys
import tempfile

failures = 0


def check(what, holds):
    global failures
    print(("ok: " if holds else "not ok: ") + what)
    failures += not holds


def nests(slices):
    """Slices of one track are apart or inside each other."""
    ends = []
    for start, end in sorted(slices, key=lambda s: (s[0], -s[1])):
        while ends and ends[-1] <= start + 1e-6:
            ends.pop()
        if ends and end > ends[-1] + 2e-3:
            return False
        ends.append(end)
    return True


def look(make_page, folder, how):
    page, path = os.path.join(folder, how + ".html"), os.path.join(folder, how + ".json")
    done = subprocess.run([make_page, "3000", "0", how, page, path], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    events = trace["traceEvents"]
    check(f"{how}: each event has phase, process, track and time", all({"ph", "pid", "tid", "ts"} <= set(e) for e in events))
    check(f"{how}: phases are known", {e["ph"] for e in events} <= set("MXsfbeiC"))
    check(f"{how}: slices have a name and a duration", all(e["dur"] >= 0 and e["name"] for e in events if e["ph"] == "X"))
    tracks = {}
    for e in events:
        if e["ph"] == "X":
            tracks.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
    check(f"{how}: slices of a track nest", all(nests(s) for s in tracks.values()))
    named = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    check(f"{how}: all tracks have names", set(tracks) <= named)
    check(f"{how}: there are threads, streams, executables", {pid for pid, _ in tracks} == {1, 2, 3, 5})
    device = [(e["name"], e["args"]["rounds"]) for e in events if e["ph"] == "X" and e["pid"] == 5]
    check(f"{how}: loops, rounds, branches and launches by kernels are slices", sorted(device) == sorted(
        [("WHILE", 3), ("round", 1), ("round", 2), ("round", 3), ("IF, no body", 0), ("tail launch", 2), ("launch refused", 1)]))
    if how == "gpu":
        check("kernels that ran at once are on tracks of their own", len({tid for pid, tid in tracks if pid == 2}) > 2)
        check("none is cut", sum(abs(b - a - 6.5) < 2e-3 for (pid, _), s in tracks.items() if pid == 2 for a, b in s) > 100)
    starts = {e["id"] for e in events if e["ph"] == "s"}
    check(f"{how}: each arrow that begins ends", starts == {e["id"] for e in events if e["ph"] == "f"} and (starts or how == "gpu"))
    opened = [e["id2"]["local"] for e in events if e["ph"] == "b"]
    check(f"{how}: captures begin and end", opened and sorted(opened) == sorted(e["id2"]["local"] for e in events if e["ph"] == "e"))
    check(f"{how}: memory is counted, never below nothing", all(0 <= e["args"]["bytes"] < 1 << 40 for e in events if e["ph"] == "C") and any(e["ph"] == "C" for e in events))
    check(f"{how}: the finding is an instant", [e["name"] for e in events if e["ph"] == "i"] == ["capture.synchronize"])
    return done.stdout


with tempfile.TemporaryDirectory() as home:
    for kind in ("plain", "hostile", "gpu"):
        text = look(sys.argv[1], home, kind)
        check(f"{kind}: the tables count", "kernel launches" in text and "graph launches" in text and "cuMemAlloc" in text)
        check(f"{kind}: and what the device decided", re.search(r"WHILE nodes +1 +11 +1003 +11 +0", text) and re.search(r"IF nodes +1 +1 +0 +0 +1", text) and
              re.search(r"launched by kernels.*\n +graphs +2 +1", text))
        check(f"{kind}: no table line is wider than a terminal", all(len(line) <= 100 for line in text.splitlines()))
sys.exit(1 if failures else 0)
