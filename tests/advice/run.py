#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gph doctor --capturable --advise on tests/advice/region.c: the list of calls is compared
with a golden text (addresses left out), the advice with what must be so on any machine.

usage: run.py GPH PROGRAM WAY DRIVER GOLDEN [--write]
"""
import json
import os
import re
import subprocess
import sys
import tempfile

gph, program, way, driver, golden = sys.argv[1:6]


def check(condition, sentence):
    if not condition:
        print(done.stderr)
        sys.exit(f"{way}: not so: {sentence}")


with tempfile.TemporaryDirectory() as folder:
    out = os.path.join(folder, "f.json")
    done = subprocess.run([gph, "doctor", "--driver", driver, "--capturable", "--advise", "--json", out,
                           "--", program, way], capture_output=True, text=True, timeout=100)
    if done.returncode == 77:
        sys.exit(77)
    check(os.path.exists(out), "findings were written")
    with open(out) as file:
        advice = json.load(file)["advice"]

text = done.stderr
text = text[text.index("capturable\n"):text.index("advice\n")]
text = re.sub(r"0x[0-9a-f]+", "0x..", text)
if "--write" in sys.argv:
    with open(golden, "w") as file:
        file.write(text)
with open(golden) as file:
    check(text == file.read(), f"the list is that of {golden}")

check(done.returncode == 0, "the exit status is the program's")
found = advice["sequences"]
if way == "near":
    check(found == [], "nothing repeats")
    sys.exit(0)

one = found[0]
flow = {q["question"]: q["answer"] for q in one["flow"]}
checks = {q["question"]: q["answer"] for q in one["checklist"]}
print(json.dumps({k: v for k, v in one.items() if k not in ("calls", "flow", "checklist")}, indent=1))
if way == "first":
    check(one["repetitions"] == 40 and one["graphs"] == 2, "two graphs, 40 times")
    check(flow["same shapes?"] == "yes" and flow["memory preallocatable?"] == "unknown" and
          flow["no data-dependent branch?"] == "unknown" and flow["> 100 replays?"] == "no",
          "the decision flow")
    check({k for k, v in checks.items() if v == "yes"} ==
          {"warmed up before capture", "random state on the device"}, "the checklist")
    check(one["verdict"] in ("cannot be captured", "does not pay", "unknown"), "it is in the way")
    check(one["fusions"] == [], "kernels with other work between them are not one")
else:
    check(one["repetitions"] == 150 and one["launches"] == 50 and one["kernels"] == 50 and
          one["graphs"] == 1, "one graph of 50, 150 times")
    check(set(flow.values()) == {"yes"} and set(checks.values()) == {"yes"}, "nothing is in the way")
    run = one["fusions"][0]
    check(len(one["fusions"]) == 1 and run["count"] == 50 and set(run["kernels"]) == {"poke"} and
          run["at"]["function"] == "clean_step", "fifty kernels over one buffer could be one")
    check(one["windows"] >= 2, "the GPU's time was measured")
    check(one["graph_us"] < one["eager_us"] and one["saves_low"] <= one["saves_high"] and
          one["verdict"] in ("pays", "unknown"), "a graph pays, or it cannot be said")
    check(advice["machine_us"]["launch"] > 0, "the machine was measured")
