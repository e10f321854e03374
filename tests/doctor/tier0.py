#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the driver's log alone reports: the rule, at the line of the program, once; a near miss
gives nothing.

usage: tier0.py GPH PROGRAM DRIVER RULE
"""
import json
import os
import subprocess
import sys
import tempfile

gph, program, driver, rule = sys.argv[1:5]


def examine(mode):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "f.json")
        done = subprocess.run([gph, "doctor", "--driver", driver, "--tier", "0", "--json", out,
                               "--", program, mode], capture_output=True, text=True,
                              timeout=50, errors="replace")
        with open(out) as file:
            return json.load(file), done


found, done = examine("first")
if found["exit"] == 77:
    sys.exit(77)
ids = [finding["id"] for finding in found["findings"]]
if ids != [rule]:
    print(done.stderr)
    sys.exit(f"reported: {ids}, meant: {rule}")
at = found["findings"][0]["at"]
if at.get("file") and not at["file"].endswith((rule + ".c", "broken.h")):
    sys.exit(f"at {at}")
near, done = examine("near")
reported = [f["id"] for f in near["findings"] if f["severity"] != "info"]
if reported:
    print(done.stderr)
    sys.exit(f"the near miss gives {reported}")
