#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gph doctor --capturable --advise on tests/advice/changing.c: what must be so of each program on any
machine, and that nothing it says contradicts itself.

usage: changing.py GPH PROGRAM WAY DRIVER
"""
import json
import os
import re
import subprocess
import sys
import tempfile

gph, program, way, driver = sys.argv[1:5]
faults = []


def check(holds, sentence):
    if not holds:
        faults.append(sentence)


def contradictions(s):
    """Sentences of one sequence that cannot be true together."""
    flow = {q["question"]: q for q in s["flow"]}
    checks = {q["question"]: q for q in s["checklist"]}
    kinds = {}
    for c in s["calls"]:
        kinds.setdefault((c["call"], c["kernel"], c["at"]["line"]), set()).add(c["kind"])
    for call, of in kinds.items():
        check(not ("fine" in of and of & {"frozen", "changes"}), f"{call} is fine, and is {of}")
    check(s["verdict"] != "pays" or flow["same shapes?"]["answer"] == "yes", "it pays, and shapes differ")
    check(s["verdict"] != "pays" or not any(c["kind"] in ("breaks", "escapes") for c in s["calls"]), "it pays, and breaks")
    said = re.search(r"at most ([\d.]+) % of the time.*, less than (\d+) %", s["why"])
    check(not said or float(said[1]) < int(said[2]), "what is less is a smaller number")
    check(("saves_low" in s) == (s["graph_us"] is not None), "what is saved is said where a graph's time is")
    check(s.get("saves_low", 0) <= s.get("saves_high", 0) <= 1, "what is saved is a range below all of the time")
    check(s["eager_us"] > 0 and (s["busy_us"] or 0) <= s["eager_us"] * 1.001, "the GPU works for no longer than it takes")
    check((checks["no wait or query inside"]["answer"] == "yes") == all(c["kind"] != "cuts" for c in s["calls"]),
          "waits inside are listed as cuts")
    check(flow["memory preallocatable?"]["answer"] != "no", "memory that is not allocated in it can be allocated before")


with tempfile.TemporaryDirectory() as folder:
    out = os.path.join(folder, "f.json")
    done = subprocess.run([gph, "doctor", "--driver", driver, "--capturable", "--advise", "--json", out, "--", program, way],
                          capture_output=True, text=True, timeout=100)
    if done.returncode == 77:
        sys.exit(77)
    with open(out) as file:
        found = json.load(file)["advice"]["sequences"]
print(done.stderr)
for one in found:
    contradictions(one)
check(found, "something repeats")
first = found[0]
flow = {q["question"]: q for q in first["flow"]}
checks = {q["question"]: q for q in first["checklist"]}
kind_of = {}
for c in first["calls"]:
    kind_of.setdefault(c["call"], c)
check(first["kernels"] == {"allocates": 25, "reads": 25}.get(way, 24), "the step is found, not what it lies in")
check(way == "warm-up" or len(found) == (2 if way in ("threads", "beside") else 1), "and nothing that is a part of it")
if way in ("threads", "beside"):
    check([s["repetitions"] for s in found] == [120, 120], "each thread has its steps")
elif way == "alternate":
    check(first["repetitions"] == 120 and first["shapes"] == 2 and flow["same shapes?"]["answer"] == "no", "two shapes, 120 times")
elif way == "warm-up":
    check(first["repetitions"] >= 120, "the steps that come after the warm-up")
elif way == "grows":
    check(first["repetitions"] == 120 and first["shapes"] == 8, "eight shapes, 120 times")
elif way == "inner":
    check(first["launches"] == 25 and first["repetitions"] > 200, "the token")
    check(first["outer_count"] == 0, "turns that differ are not one loop")
    check(flow["no data-dependent branch?"]["answer"] == "yes", "most of the program is tokens")
elif way == "allocates":
    check(kind_of["cuMemAlloc"]["kind"] == kind_of["cuMemFree"]["kind"] == "outside", "both ends of the memory lie between replays")
    check(flow["memory preallocatable?"]["answer"] == "unknown", "it could perhaps be allocated before")
    check(checks["no allocation or other unsafe call inside"]["answer"] == "yes", "no allocation is inside the graph")
elif way == "two":
    check(first["repetitions"] == 120 and first["variants"] == 2, "two sets of arguments, 120 times")
    check(kind_of["cuLaunchKernel"]["kind"] == "changes" and kind_of["cuLaunchKernel"]["count"] == 24, "all kernels change")
    check("24 of these calls" in done.stderr and done.stderr.count("a graph keeps the first") == 1, "which is said once")
    check(flow["memory preallocatable?"]["answer"] == "yes", "both buffers are there before")
elif way == "copies":
    check(kind_of["cuMemcpyDtoDAsync"]["kind"] == "changes" and kind_of["cuMemcpyDtoHAsync"]["kind"] == "frozen", "where copies go changes")
    check({c["call"] for c in first["changes"]} == {"cuMemcpyDtoDAsync", "cuMemcpyDtoHAsync"} and
          all(c["is_address"] for c in first["changes"]), "by addresses")
    check(first["updates"] == 2, "two nodes to update")
elif way == "reads":
    check(first["repetitions"] == 119 and first["graphs"] == 1 and first["launches"] == 25, "one graph of a step's kernels, without the read")
    check(kind_of["cuLaunchKernel"]["kind"] == "moves" and "fits on a created stream" in done.stderr, "its kernels need a created stream only")
    check(kind_of["cuMemcpyDtoHAsync"]["kind"] == kind_of["cuStreamSynchronize"]["kind"] == "outside", "the token is read after the graph")
    check(checks["no wait or query inside"]["answer"] == "yes" and checks["not on the legacy stream"]["answer"] == "no", "the checklist")
    check(first["verdict"] != "cannot be captured" and "saves_high" in first, "a graph of the step is predicted")
    check(first["verdict"] != "pays" or "on a created stream" in first["why"], "which is said with the condition")
elif way in ("hands", "round"):
    check(first["repetitions"] in (112, 119, 120) and first["graphs"] == 1 and first["launches"] == 24, "one graph of what three threads launch")
    check(0 < first["windows"] <= 20 and first["graph_us"] is not None, "which was measured")
    check(first["verdict"] in ("pays", "unknown", "does not pay"), "and nothing is in the way of")
    check(checks["no unsafe call of another thread"]["answer"] == "yes", "the threads are its own")
elif way == "asks":
    # at most six of a kind begin at one place, after the wait, and a few before the step is known; cut short, there were 59
    check(0 < first["windows"] <= 20, f"windows hold whole repetitions, but there are {first['windows']}")
if done.returncode != 0:
    faults.append(f"exit status {done.returncode}")
for fault in faults:
    print(f"{way}: not so: {fault}")
sys.exit(1 if faults else 0)
