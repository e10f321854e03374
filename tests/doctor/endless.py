#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A WHILE node that does not end: gph doctor --watch on endless.c, without a word of the driver, as on a GPU.

usage: endless.py GPH PROGRAM SOURCE SOFT [DRIVER]

SOFT: the folder of softcuda.

Exit status 77: skipped.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

gph, program, source, soft = sys.argv[1:5]
driver = sys.argv[5] if len(sys.argv) > 5 else "soft"
lines = pathlib.Path(source).read_text().splitlines()
failures = []
# Softcuda ends such a loop: that is not wanted.
environment = {name: value for name, value in os.environ.items() if not name.startswith("SOFTCUDA_")}
environment["SOFTCUDA_KERNEL_TIMEOUT_MS"] = "0"


def without_trail(folder):
    """A copy of softcuda that does not say which nodes run, as a GPU's driver does not: it lacks the name."""
    library = pathlib.Path(folder, "libcuda.so.1")
    for name in set(os.listdir(soft)) - {library.name}:
        os.symlink(os.path.abspath(os.path.join(soft, name)), os.path.join(folder, name))
    image = pathlib.Path(soft, library.name).read_bytes()
    assert image.count(b"\0gph_softcuda_trail\0") > 0
    library.write_bytes(image.replace(b"\0gph_softcuda_trail\0", b"\0gph_softcuda_nrail\0"))
    return str(library)


def line_of(mark):
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"// {mark}"))


def check(condition, what):
    if not condition:
        failures.append(what)


def examine(way):
    with tempfile.TemporaryDirectory() as folder:
        if driver == "soft":
            environment["GPH_SOFTCUDA_PATH"] = without_trail(folder)
        out = os.path.join(folder, "f.json")
        done = subprocess.run([gph, "doctor", "--driver", driver, "--watch", "2", "--json", out, "--", program, way],
                              capture_output=True, text=True, timeout=60, errors="replace", env=environment)
        found = json.loads(pathlib.Path(out).read_text())
    if found["exit"] == 77:
        sys.exit(77)
    return done, {finding["id"]: finding for finding in found["findings"]}


for way in ("wait", "ask", "seldom", "nested"):
    done, found = examine(way)
    loop, hang = found.get("device.endless-loop"), found.get("launch.hang")
    if not loop or not hang:
        failures.append(f"{way}: exit status {done.returncode}, {sorted(found)}: {done.stderr}")
        continue
    print(way, loop["cause"], *loop["evidence"], hang["cause"], sep="\n  ")
    evidence = "\n".join(loop["evidence"])
    check(done.returncode == 137, f"{way}: exit status {done.returncode}")
    check(loop["at"]["line"] == line_of("loop"), f"{way}: line {loop['at']}")
    check("launch 1 of the executable made in launch" in loop["cause"] and "handle 0x" in loop["cause"] and " s: " in loop["cause"],
          f"{way}: {loop['cause']}")
    check(f"launched by: cuGraphLaunch at launch (endless.c:{line_of('launched')})" in evidence, f"{way}: {evidence}")
    check("the handle was made by: cuGraphConditionalHandleCreate at" in evidence, f"{way}: {evidence}")
    check(way == "nested" or "a kernel was given it by: cuGraphAddKernelNode at" in evidence, f"{way}: {evidence}")
    check(("another WHILE node" in evidence) == (way == "nested"), f"{way}: {evidence}")
    asks = "asks for its end again and again" in hang["cause"]
    check(asks == (way in ("ask", "seldom")), f"{way}: {hang['cause']}")
    check("had ended" not in " ".join(hang["evidence"]), f"{way}: the driver's help is not off")
done, found = examine("ends")
check(done.returncode == 0 and not {"device.endless-loop", "launch.hang"} & set(found), f"ends: {done.returncode}: {done.stderr}")
for failure in failures:
    print("FAILED", failure)
sys.exit(1 if failures else 0)
