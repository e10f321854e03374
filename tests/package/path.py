# SPDX-License-Identifier: Apache-2.0
"""Each step of the path through the examples runs as printed; each folder is listed.

usage: path.py REPOSITORY BUILD"""
import os
import pathlib
import re
import shlex
import subprocess
import sys

root, build = pathlib.Path(sys.argv[1]), sys.argv[2]
text = (root / "examples/README.md").read_text()
steps = re.findall(r"^\| (\d+) \| [^|]+ \| `([^`]+)` \|$", text, re.M)
faults = [] if [int(number) for number, _ in steps] == list(range(1, 11)) else [f"the steps are {[number for number, _ in steps]}, not 1 to 10"]
for number, command in steps:
    words = [word.replace("build/release", build) for word in shlex.split(command)]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, timeout=100, env={**os.environ, "GPH_DRIVER": "soft"})
    if done.returncode != 0 or not done.stdout:
        faults.append(f"step {number}, {command}: exit status {done.returncode}, {done.stdout[-200:]}{done.stderr[-200:]}")
listed = set(re.findall(r"`([a-z_]+)/`", text))
faults += [f"{folder.name}/ is not listed" for folder in sorted((root / "examples").iterdir()) if folder.is_dir() and folder.name not in listed | {"__pycache__"}]
print("\n".join(faults) or f"{len(steps)} steps run")
sys.exit(bool(faults))
