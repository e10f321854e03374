#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gph doctor --advise of a program with deep stacks: a launch costs not many times as much as without the doctor, and what
the step is said to take is what it takes without.

usage: deep_test.py GPH DEEP.py
"""
import json
import os
import subprocess
import sys
import tempfile

gph, deep = sys.argv[1:3]
TRIES = 4  # other programs on the machine disturb one measurement, and not the next


def run(*command):
    """What the program says its step took, in us."""
    done = subprocess.run([gph, *command, "--", sys.executable, "-B", deep], capture_output=True, text=True, timeout=100)
    if done.returncode != 0:
        sys.exit(f"exit status {done.returncode}: {done.stderr}")
    return float(done.stdout)


def measure(folder):
    """What is not so this time, or None."""
    out = os.path.join(folder, "f.json")
    bare = [run("run", "--driver", "soft")]
    under = run("doctor", "--driver", "soft", "--advise", "--json", out)
    bare.append(run("run", "--driver", "soft"))
    with open(out) as file:
        step = next(one for one in json.load(file)["advice"]["sequences"] if one["launches"] == 144)
    print(f"alone {bare} us, under the doctor {under}, said to be {step['eager_us']}, {step['verdict']}: {step['why']}")
    if step["verdict"] not in ("pays", "unknown"):
        return "a step of 144 small launches is not said to be more than a graph"
    if under > 3.5 * max(bare):
        return "the doctor makes a step more than 3.5 times as long"
    if not 0.6 * min(bare) <= step["eager_us"] <= 1.5 * max(bare):
        return "the step's time is not that of the program alone"
    return None


with tempfile.TemporaryDirectory() as folder:
    for _ in range(TRIES):
        fault = measure(folder)
        if not fault:
            sys.exit(0)
sys.exit(f"not once in {TRIES}: {fault}")
