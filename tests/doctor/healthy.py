#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that does nothing wrong gives no error and no warning; one that shows mistakes
on purpose gives those that are named, and no other. info:RULE must be reported, as info.

usage: healthy.py GPH DRIVER RULE,info:RULE|none PROGRAM [ARGUMENT...]
"""
import json
import os
import subprocess
import sys
import tempfile

gph, driver, words = sys.argv[1], sys.argv[2], sys.argv[4:]
shown = set(sys.argv[3].split(",")) - {"none"}
mild = {word[5:] for word in shown if word.startswith("info:")}
shown = {word for word in shown if not word.startswith("info:")}
with tempfile.TemporaryDirectory() as folder:
    out = os.path.join(folder, "f.json")
    done = subprocess.run([gph, "doctor", "--driver", driver, "--json", out, "--", *words],
                          capture_output=True, text=True, timeout=200, errors="replace")
    if not os.path.exists(out):
        sys.exit(f"no findings were written: {done.stderr}")
    with open(out) as file:
        found = json.load(file)
if found["exit"] == 77:
    sys.exit(77)
reported = {f["id"] for f in found["findings"] if f["severity"] != "info"}
if not mild <= {f["id"] for f in found["findings"] if f["severity"] == "info"}:
    print(done.stderr)
    sys.exit(f"not reported as info: {sorted(mild)}")
if reported != shown or done.returncode != (1 if shown else 0) or found["events"] == 0 or found["lost"]:
    print(done.stderr)
    sys.exit(f"exit status {done.returncode}, {found['events']} events, {found['lost']} lost, "
             f"reported and not meant: {sorted(reported - shown)}, meant and not reported: {sorted(shown - reported)}")
print(done.stderr.splitlines()[-1])
