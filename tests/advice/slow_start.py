#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gph doctor --advise on a recorded run of `changing round` (softcuda, a busy machine) whose first launches were slow:
the step that three threads launch is found, not the launches in a row that it consists of.

usage: slow_start.py GPH LOG.xz
"""
import json
import lzma
import os
import subprocess
import sys
import tempfile

gph, packed = sys.argv[1:3]
with tempfile.TemporaryDirectory() as folder:
    log, out = os.path.join(folder, "run.log"), os.path.join(folder, "advice.json")
    with open(log, "wb") as file:
        file.write(lzma.open(packed).read())
    subprocess.run([gph, "doctor", "--capturable", "--advise", "--events", log, "--json", out], check=True, capture_output=True, timeout=60)
    with open(out) as file:
        found = [(s["repetitions"], s["kernels"]) for s in json.load(file)["advice"]["sequences"]]
print(found)
sys.exit(0 if found == [(112, 24)] else 1)
