#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: last_error.py GPH PROGRAM CLIENT DRIVER

The runtime's last error, asked for by a library that was opened with its runtime in a scope of
their own: the program gets the same codes as without the doctor, and the finding is at the
call that failed."""
import json
import os
import subprocess
import sys
import tempfile

gph, program, client, driver = sys.argv[1:5]


def examine(way):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "findings.json")
        plain = subprocess.run([gph, "run", "--driver", driver, "--", program, client, way], check=False)
        done = subprocess.run([gph, "doctor", "--driver", driver, "--json", out, "--", program, client, way],
                              capture_output=True, text=True, timeout=100, check=False)
        with open(out, encoding="utf-8") as file:
            found = json.load(file)
    if plain.returncode == 77:
        sys.exit(77)
    assert plain.returncode == (way == "kept"), f"{way}: alone it ends with {plain.returncode}"
    assert found["exit"] == plain.returncode, f"{way}: {found['exit']} under the doctor\n{done.stdout}{done.stderr}"
    return [f for f in found["findings"] if f["severity"] != "info"]


kept = examine("kept")
assert [f["id"] for f in kept] == ["error.kept-by-layer"], kept
assert any(frame["function"] == "new_room" for frame in [kept[0]["at"]] + kept[0]["stack"]), kept[0]
assert "cudaPeekAtLastError() gives it" in kept[0]["evidence"][0], kept[0]["evidence"]
assert examine("cleared") == []
