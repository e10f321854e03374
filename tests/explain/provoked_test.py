#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: provoked_test.py GPH FOLDER
What tests/gpu/explain_driver.py (in FOLDER) provokes, on softcuda: the text leads gph explain to
the entry that says so.
"""
import os
import subprocess
import sys

SLUGS = """cuda/3-not-initialized cuda/400-invalid-handle cuda/500-not-found cuda/600-not-ready
cuda/700-illegal-address cuda/702-launch-timeout cuda/719-launch-failed
cuda/720-cooperative-launch-too-large cuda/909-timeout update-result/function-changed""".split()
# What the entries say besides.
BESIDES = {"cuda/719-launch-failed": "a later allocation: 719",
           "cuda/702-launch-timeout": "a later allocation: 702",
           "cuda/720-cooperative-launch-too-large": "in a capture: 720, its end: 901"}

gph, folder = sys.argv[1:3]
bad = 0
for slug in SLUGS:
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    if slug == "cuda/702-launch-timeout":
        environment["SOFTCUDA_KERNEL_TIMEOUT_MS"] = "200"
    run = subprocess.run([gph, "run", "--driver", "soft", "--", sys.executable,
                          os.path.join(folder, "explain_torch.py"), slug], capture_output=True,
                         env=environment, timeout=100, check=False)
    text = run.stdout.split(b"SAID\n")[-1]
    explain = subprocess.run([gph, "explain", "--lang", "en"], input=text, capture_output=True,
                             timeout=30, check=False)
    found = explain.stdout.decode().split(": ")[0]
    if found != slug or BESIDES.get(slug, "").encode() not in text:
        print("%s leads to %s: %s %s" % (slug, found, text, run.stderr[-400:]))
        bad = 1
sys.exit(bad)
