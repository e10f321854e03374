#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Python program that crashes inside the driver is reported with its Python frames.

usage: crash_test.py GPH     (run by itself with `crash`, it is that program)
"""
import json
import os
import subprocess
import sys
import tempfile


def load_module(driver, ctypes):
    module = ctypes.c_void_p()
    driver.cuModuleLoadData(ctypes.byref(module), ctypes.c_void_p(8))  # the line


def crash():
    import ctypes
    driver = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    driver.cuInit(0)
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    driver.cuCtxSetCurrent(context)
    load_module(driver, ctypes)


def main(gph):
    line = next(n for n, text in enumerate(open(__file__, encoding="utf-8"), 1) if "# the line" in text)
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "found.json")
        done = subprocess.run([gph, "doctor", "--driver", "soft", "--json", out, "--", sys.executable, __file__, "crash"],
                              capture_output=True, text=True, timeout=100, errors="replace", check=False)
        with open(out, encoding="utf-8") as file:
            found = json.load(file)
    reported = [f for f in found["findings"] if f["id"] == "launch.crash"]
    at = reported[0]["at"] if reported else {}
    if done.returncode != 139 or len(reported) != 1 or at["function"] != "load_module" or at["line"] != line:
        sys.exit(f"exit status {done.returncode}, at {at}\n{done.stderr}")
    print("reported at", at["function"], at["line"])


crash() if sys.argv[1] == "crash" else main(sys.argv[1])
