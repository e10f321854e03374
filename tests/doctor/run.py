#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program of tests/doctor/rules under gph doctor: `first` and `second` must be reported, at
the line marked `<-- first`, `<-- second`; `near` must give no error and no warning.

usage: run.py GPH PROGRAM SOURCE SCHEMA [DRIVER]

Exit status 77: skipped. A finding of another rule fails, unless a line of the source's head
says `// also: other.rule`. `// watch: N`: with --watch N. `needs: cuda` in the head: softcuda cannot show it; `needs: soft`: NVIDIA's driver cannot. What a rule with
`// timing: ...` in the head reports rests on how long things take: on a loaded machine it is
tried up to three times. `// env: NAME=VALUE` is set for its programs: one that begins with SOFTCUDA_ is of
softcuda's own checks, which a GPU does not have, and its test is skipped there. What the doctor says of the same calls in Chinese has no English left (chinese.py).
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import chinese  # noqa: E402
from schema import complaints  # noqa: E402

gph, program, source, schema = sys.argv[1:5]
driver = sys.argv[5] if len(sys.argv) > 5 else "soft"
source = pathlib.Path(source)
rule = source.stem
lines = source.read_text().splitlines()
also = {word for line in lines if line.startswith("// also:")
        for word in re.split(r"[,\s]+", line[len("// also:"):]) if word}
watch = [word for line in lines if line.startswith("// watch:") for word in ("--watch", line.split()[-1])]
STATEMENT = 6  # lines that one call may take
TRIES = 3 if any(line.startswith("// timing:") for line in lines) else 1
failures = []
os.environ.update(line[len("// env:"):].strip().split("=", 1) for line in lines if line.startswith("// env:"))


def examine(way):
    with tempfile.TemporaryDirectory() as folder:
        out, log = os.path.join(folder, "findings.json"), os.path.join(folder, "events.log")
        done = subprocess.run([gph, "doctor", *watch, "--driver", driver, "--json", out, "--save-events", log, "--", program, way],
                              capture_output=True, text=True, timeout=100, errors="replace")
        if not os.path.exists(out):
            print(done.stdout, done.stderr)
            sys.exit(f"{way}: no findings were written; exit status {done.returncode}")
        found = json.loads(pathlib.Path(out).read_text())
        failures.extend(f"{way}: {complaint}" for complaint in chinese.complaints(gph, log, found["findings"]))
    if found["exit"] == 77:
        print(f"{way}: the program says that it cannot be shown here")
        sys.exit(77)
    for complaint in complaints(found, json.loads(pathlib.Path(schema).read_text())):
        failures.append(f"{way}: JSON: {complaint}")
    failures.extend(f"{way}: {complaint}" for f in found["findings"] for complaint in strangers(f))
    return done, found


NAMED = re.compile(r"\bthe (\d+\w\w )?(stream|event|graph|executable|pool) made in |\bbuffer of [\d.]+ \w+ from ")


def strangers(finding):
    """Objects that no sentence names, and sentences that name what is not among the objects."""
    text = " ".join([finding["cause"], finding["fix"], *finding["evidence"]])
    for item in finding["objects"]:
        if item["name"] not in text:
            yield f"{finding['id']}: {item['name']!r} is an object that nothing names"
        if item["place"] is None and " made in " in item["name"]:
            yield f"{finding['id']}: {item['name']!r} has no place"
    if NAMED.search(text) and not finding["objects"]:
        yield f"{finding['id']}: no objects of {text!r}"


def report(way, done, found, why):
    failures.append(f"{way}: {why}")
    print(f"--- {way}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    print("found:", ", ".join(f"{f['severity']} {f['id']}" for f in found["findings"]) or "nothing")


def lines_of(finding):
    frames = [finding["at"]] + finding["stack"]
    return [frame["line"] for frame in frames
            if frame["file"] and pathlib.Path(frame["file"]).name == source.name]


def check_broken(way):
    marks = [number for number, line in enumerate(lines, 1) if re.search(rf"<-- .*\b{way}\b", line)]
    done, found = examine(way)
    mine = [f for f in found["findings"] if f["id"] == rule]
    others = {f["id"] for f in found["findings"] if f["severity"] != "info"} - {rule} - also
    if not mine:
        report(way, done, found, f"{rule} is not reported")
        return
    if others:
        report(way, done, found, "reported as well: " + ", ".join(sorted(others)))
    if not marks:
        failures.append(f"{way}: no line of {source.name} is marked <-- {way}")
    elif not any(mark <= line <= mark + STATEMENT
                 for f in mine for line in lines_of(f)[:1] for mark in marks):
        report(way, done, found, f"lines {[lines_of(f)[:1] for f in mine]}, not {marks}")
    worst = {f["severity"] for f in found["findings"]}
    expected = found["exit"] or (1 if worst & {"error", "warning"} else 0)
    if done.returncode != expected:
        report(way, done, found, f"exit status {done.returncode}, not {expected}")


def check_near():
    done, found = examine("near")
    loud = [f["id"] for f in found["findings"] if f["severity"] != "info" or f["id"] == rule]
    if loud or done.returncode != 0:
        report("near", done, found, "not silent: " + ", ".join(loud))


def note(way, outcome):
    """A line of a log of results, for docs/doctor-rules.md."""
    if os.environ.get("DOCTOR_RESULTS"):
        with open(os.environ["DOCTOR_RESULTS"], "a", encoding="utf-8") as log:
            log.write(f"{rule} {way} {outcome}\n")


ours = [line.split(":", 1)[1].strip() for line in lines if line.startswith("// env: SOFTCUDA_")]
if driver != "soft" and ours:
    print(f"skipped: {rule} rests on what softcuda says with {', '.join(ours)}; NVIDIA's driver does not")
    sys.exit(77)
if driver != "soft" and any("needs: soft" in line for line in lines if line.startswith("//")):
    print(f"skipped: {rule} rests on what softcuda alone says")
    sys.exit(77)
if driver == "soft" and any("needs: cuda" in line for line in lines if line.startswith("//")):
    for way in ("first", "second", "near"):
        note(way, "skipped")
    sys.exit(77)
for way in ("first", "second", "near"):
    before = len(failures)
    try:
        for _ in range(TRIES):
            del failures[before:]
            check_near() if way == "near" else check_broken(way)
            if len(failures) == before:
                break
    except SystemExit as end:
        note(way, "skipped" if end.code == 77 else "failed")
        raise
    note(way, "ok" if len(failures) == before else "failed")
for failure in failures:
    print("FAILED", failure)
sys.exit(1 if failures else 0)
