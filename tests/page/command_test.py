# SPDX-License-Identifier: Apache-2.0
"""gph doctor writes what it is asked for: command_test.py GPH HELLO BRANCHES"""
import json
import os
import subprocess
import sys
import tempfile

gph, hello, branches = sys.argv[1:]
failures = 0


def check(what, holds):
    global failures
    print(("ok: " if holds else "not ok: ") + what)
    failures += not holds


def doctor(*options):
    return subprocess.run([gph, "doctor", *options], capture_output=True, text=True)


def data_of(page):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    begin = text.index('id="data">') + len('id="data">')
    return json.loads(text[begin:text.index("</script>", begin)])


with tempfile.TemporaryDirectory() as folder:
    page, trace, log = (os.path.join(folder, name) for name in ("out.html", "out.json", "log"))
    done = doctor("--summary", "--trace", trace, "--save-events", log, "--", hello)
    check("a healthy program leaves with 0", done.returncode == 0)
    check("its own output is untouched", "replay 5: the sum of 1000 elements is 31000" in done.stdout)
    check("tables end it", all(word in done.stderr for word in ("kernel launches", "graph launches", "cuMemAlloc")))
    with open(trace, encoding="utf-8") as file:
        names = [e["name"] for e in json.load(file)["traceEvents"] if e["pid"] == 1]
    check("the trace has its launches", names.count("cuGraphLaunch") == 5)
    done = doctor("--quiet", "--report", page, "--events", log)
    if "this build writes no reports" in done.stderr:
        check("without d3 it says so, and fails", done.returncode == 1 and not os.path.exists(page))
        sys.exit(1 if failures else 77)
    data = data_of(page)
    counts = {row[0]: row[1] for row in data["counts"]}
    check("the page of a saved log has its launches", done.returncode == 0 and counts["cuGraphLaunch"] == 5)
    check("its graph has the kernels that were captured", len(data["graphs"]) == 1 and len(data["graphs"][0]["kind"]) == 3)
    check("its nodes know who made them", all(made >= 0 for made in data["graphs"][0]["made"]))
    check("its executable was launched", [x["launches"] for x in data["execs"]] == [5])
    check("stacks have functions", any(frame[0] == "main" for frame in data["frames"]))
    done = doctor("--quiet", "--advise", "--report", page, "--events", log)
    data = data_of(page)
    check("with advice the page has it", done.returncode == 0 and isinstance(data["advice"], list) and
          all(p["verdict"] in ("unknown", "pays", "does-not-pay", "cannot-capture", "needs-buckets") and p["launches"] > 0 for p in data["advice"]))
    doctor("--quiet", "--report", page, "--", branches)
    names = {x["name"] for x in data_of(page)["execs"]}
    check(f"graphs have the names of what made them, not of a helper {names}", {"by_a_kernel", "cases", "two_bodies"} <= names and "add" not in names)
    done = doctor("--report", os.path.join(folder, "none", "x.html"), "--events", log)
    check("a page that cannot be written is an error", done.returncode == 1 and "x.html" in done.stderr)
sys.exit(1 if failures else 0)
