#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A source file whose name is not UTF-8 leaves the JSON of gph doctor, and its text, valid: the
byte becomes U+FFFD. A program may be named so, too. Escapes in it do not reach a terminal.

usage: odd_name.py GPH PROGRAM DRIVER
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

gph, program, driver = sys.argv[1:4]
bad = []
with tempfile.TemporaryDirectory() as folder:
    out = os.path.join(folder, "f.json")
    odd = os.path.join(os.fsencode(folder), b"program\xff")
    shutil.copy(program, odd)
    for more in ["--advise"], ["--capturable"], []:
        done = subprocess.run([gph, "doctor", "--driver", driver, *more, "--json", out, "--", odd, "first"],
                              capture_output=True, timeout=100, check=False)
        if b"\033" in done.stderr or b"\007" in done.stderr or b"\302\233" in done.stderr:
            bad.append(f"{more}: an escape reaches the terminal: {done.stderr!r}")
        with open(out, "rb") as file:
            text = file.read().decode("utf-8")  # fails on a byte that is not UTF-8
        json.loads(text)
found = json.loads(text)
if found["exit"] == 77:
    sys.exit(77)
findings = [f for f in found["findings"] if f["id"].startswith("capture.")]
if not findings:
    bad.append(f"no finding of capture.*: {done.stderr!r}")
for finding in findings:
    if not finding["at"]["file"].endswith("b\ufffd.c"):
        bad.append(f"the file is {finding['at']['file']!r}")
    if "program\ufffd" not in finding["at"]["module"]:
        bad.append(f"the module is {finding['at']['module']!r}")
if not found["program"][0].endswith("program\ufffd"):
    bad.append(f"the program is {found['program'][0]!r}")
print("\n".join(bad))
sys.exit(bool(bad))
