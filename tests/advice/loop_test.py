#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gph doctor --capturable --advise of a Python program names the lines of its eager work.

usage: loop_test.py GPH LOOP.py
"""
import os
import re
import subprocess
import sys
import tempfile

gph, loop = sys.argv[1:3]
with open(loop) as file:
    line = next(i for i, text in enumerate(file, 1) if "# the line" in text)


def examine(program):
    return subprocess.run([gph, "doctor", "--driver", "soft", "--capturable", "--advise", "--", sys.executable, program], capture_output=True, text=True, timeout=100)


done = examine(loop)
print(done.stderr)
if done.returncode != 0:
    sys.exit(f"exit status {done.returncode}")
if not re.search(rf"10 of them kernels, repeated \d+ times at step \(loop.py:{line}\)", done.stderr):
    sys.exit(f"the sequence is not said to be at step (loop.py:{line})")
if not re.search(rf"cuLaunchKernel.*loop.py:{line}", done.stderr[:done.stderr.index("advice\n")]):
    sys.exit("the launch has no line in the list")

# Through an installed binding, and with a kernel of C++: still the program's own line, and the kernel's last word.
with tempfile.TemporaryDirectory() as folder:
    packages = os.path.join(folder, "site-packages")
    os.makedirs(os.path.join(packages, "cupy"))
    with open(os.path.join(packages, "cupy", "binding.py"), "w", encoding="utf-8") as file:
        file.write("def launch(cu, *arguments):\n    return cu.cuLaunchKernel(*arguments)\n")
    with open(loop, encoding="utf-8") as file:
        text = file.read().replace("cu.cuLaunchKernel(", "launch(cu, ").replace(".entry add(", ".entry _ZN4math3addEPj(").replace('b"add"', 'b"_ZN4math3addEPj"')
    bound = os.path.join(folder, "bound.py")
    with open(bound, "w", encoding="utf-8") as file:
        file.write(text.replace("import ctypes\n", f"import ctypes; import sys; sys.path.insert(0, {packages!r}); from cupy.binding import launch\n"))
    done = examine(bound)
    print(done.stderr)
    if done.returncode != 0 or not re.search(rf"cuLaunchKernel add +10 x  at step \(bound.py:{line}\)", done.stderr):
        sys.exit("the launch is not said to be at the program's line")
