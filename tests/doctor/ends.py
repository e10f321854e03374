#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Findings outlive the program, however it ends; nothing is left in the temporary folder.

usage: ends.py GPH PROGRAM [DRIVER]
"""
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

gph, program = sys.argv[1:3]
driver = sys.argv[3] if len(sys.argv) > 3 else "soft"
RULE = "capture.unjoined-fork"
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)


def examine(way, before=None, **variables):
    with tempfile.TemporaryDirectory() as folder:
        out, temporary = os.path.join(folder, "f.json"), os.path.join(folder, "tmp")
        os.mkdir(temporary)
        child = subprocess.Popen([gph, "doctor", "--driver", driver, "--json", out, "--", program, way],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                                 env={**os.environ, "TMPDIR": temporary, **variables})
        if before:
            before(child)
        stdout, stderr = child.communicate(timeout=100)
        check(os.listdir(temporary) == [], f"{way}: left behind: {os.listdir(temporary)}")
        if not os.path.exists(out):
            failures.append(f"{way}: no findings; {stderr}")
            return None, stderr, child.returncode
        with open(out) as file:
            found = json.load(file)
        if found["exit"] == 77:
            sys.exit(77)
        return found, stderr, child.returncode


def count(found):
    return sum(f["id"] == RULE for f in found["findings"]) if found else -1


for way, code in {"exit": 1, "_exit": 3, "abort": 134, "kill": 137, "segv": 139}.items():
    found, text, returned = examine(way)
    check(count(found) == 1, f"{way}: {RULE} is reported {count(found)} times: {text}")
    check(returned == code, f"{way}: exit status {returned}, not {code}")
    check("\nerror " in "\n" + text, f"{way}: no line begins with error")

# Which library it was in, and at which line of the program.
lines = open(os.path.join(os.path.dirname(__file__), "ends.c")).read().splitlines()
for way, library, code in (("crash-null", "0x0", 139), ("crash-library", "libc.so", 139), ("crash-abort", "libc.so", 134)):
    found, text, returned = examine(way)
    mark = next(number for number, line in enumerate(lines, 1) if line.endswith(f"// <-- {way}"))
    crashes = [f for f in found["findings"] if f["id"] == "launch.crash-elsewhere"]
    check(len(crashes) == 1 and crashes[0]["at"]["line"] == mark, f"{way}: not at line {mark}: {text}")
    check(any("the signal was raised in" in line and library in line for f in crashes for line in f["evidence"]), f"{way}: {text}")
    check(returned == code, f"{way}: exit status {returned}, not {code}")

found, text, returned = examine("fork")
check(count(found) == 2, f"fork: reported {count(found)} times, not by both processes: {text}")
check(found and len({f["at"]["process"] for f in found["findings"]}) == 2, "fork: not of two processes")
check("  process: " in text, "fork: the text does not name the process")

found, text, returned = examine("exec")
check(count(found) == 2, f"exec: reported {count(found)} times, not before and after: {text}")

found, text, returned = examine("threads")
check(found and all(f["severity"] == "info" for f in found["findings"]) and returned == 0,
      f"threads: not silent: {text}")

found, text, returned = examine("threads-broken")
check(count(found) == 1 and sum(f["severity"] != "info" for f in found["findings"]) == 1,
      f"threads-broken: {text}")

# A signal to the doctor is the program's.
found, text, returned = examine("exit", before=lambda child: None, LD_PRELOAD="")
check(count(found) == 1, "an empty LD_PRELOAD")


def has_child(pid):
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(stat, encoding="ascii", errors="replace") as file:
                if int(file.read().rsplit(")", 1)[1].split()[1]) == pid:
                    return True
        except OSError:
            pass
    return False


def interrupt(child):
    """Once the program runs: before that the doctor has nothing to report."""
    for _ in range(200):
        time.sleep(0.02)
        if has_child(child.pid):
            break
    child.send_signal(signal.SIGTERM)


found, text, returned = examine("threads", before=interrupt)
check(returned in (0, 128 + signal.SIGTERM), f"SIGTERM: exit status {returned}: {text}")

for failure in failures:
    print("FAILED", failure)
sys.exit(1 if failures else 0)
