#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gph doctor --capturable --advise of a Python program names the lines of its eager work.

usage: loop_test.py GPH LOOP.py
"""
import os
import re
import subprocess
import sys

gph, loop = sys.argv[1:3]
with open(loop) as file:
    line = next(i for i, text in enumerate(file, 1) if "# the line" in text)
done = subprocess.run([gph, "doctor", "--driver", "soft", "--capturable", "--advise", "--", sys.executable, loop],
                      capture_output=True, text=True, timeout=100)
print(done.stderr)
if done.returncode != 0:
    sys.exit(f"exit status {done.returncode}")
if not re.search(rf"10 of them kernels, repeated \d+ times at step \(loop.py:{line}\)", done.stderr):
    sys.exit(f"the sequence is not said to be at step (loop.py:{line})")
if not re.search(rf"cuLaunchKernel.*loop.py:{line}", done.stderr[:done.stderr.index("advice\n")]):
    sys.exit("the launch has no line in the list")
