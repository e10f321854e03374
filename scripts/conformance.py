#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/conformance.md, made of run logs alone.

usage: scripts/conformance.py               writes docs/conformance.md
       scripts/conformance.py --check       ends with 1 if the page is not current
       scripts/conformance.py --run BUILD   runs the rule programs of a build folder on softcuda and
                                            writes tests/conformance/rules/logs/softcuda.log
       scripts/conformance.py --same BUILD  runs them and ends with 1 if an outcome differs from that log

The logs are in tests/conformance/rules/logs: softcuda.log, and one a GPU machine, as
scripts/gpu_conformance.sh writes it. The rules are those of softcuda/rules/*.def.
"""
import datetime
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "tests/conformance/rules/logs"
PAGE = ROOT / "docs/conformance.md"
SECTIONS = {
    "structure": "Nodes, dependencies, edges, parameters",
    "instantiate": "Instantiation, upload, launch",
    "memory": "Memory nodes",
    "child": "Child graphs",
    "conditional": "Conditional nodes",
    "device": "Launches and updates from the device",
    "update": "Updates of executable graphs",
    "capture": "Stream capture",
    "object": "User objects",
    "devices": "Several devices",
    "pool": "Pools, virtual memory, events",
    "check": "Uses that only a checker sees",
}
CLASSES = {
    "API": "a return code or an answer shows it",
    "ORDER": "the results of launches show it",
    "CHECK": "softcuda's check mode reports it; a GPU computes on",
    "GPUS": "several devices are needed",
    "UNDEFINED": "no driver promises anything; softcuda does not crash",
}
RULE = re.compile(r'RULE\(\s*(\w+)\s*,\s*(\w+)\s*,\s*"([^"]*)"\s*,\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)')
TEST = re.compile(r"^(ok|not ok) (\w+) (\w+)(?: # SKIP (.*))?$")


def rules_of(section):
    text = (ROOT / "softcuda/rules" / f"{section}.def").read_text()
    for name, kind, source, words in RULE.findall(text):
        parts = re.findall(r'"((?:[^"\\]|\\.)*)"', words)
        yield name, kind, source, "".join(parts).replace('\\"', '"')


class Log:
    """What one driver answered: for each rule a list of (test, outcome, reason)."""

    def __init__(self, path):
        self.name, self.head, self.rules = path.stem, [], {}
        for line in path.read_text().splitlines():
            if line.startswith("# ") and "rows compared" not in line and line not in self.head:
                self.head.append(line)
            match = TEST.match(line)
            if match:
                outcome = "skip" if match[4] is not None else match[1]
                self.rules.setdefault(match[2], []).append((match[3], outcome, match[4]))

    def cell(self, rule):
        tests = self.rules.get(rule, [])
        counts = {k: sum(o == k for _, o, _ in tests) for k in ("ok", "not ok", "skip")}
        return ", ".join(f"{n} {k}" for k, n in counts.items() if n) or "none"

    def outcome(self, rule):
        """'ok' if something was shown and nothing failed."""
        outcomes = [o for _, o, _ in self.rules.get(rule, [])]
        if "not ok" in outcomes:
            return "not ok"
        return "ok" if "ok" in outcomes else "skip" if outcomes else "none"

    def reasons(self, rule):
        return [r for _, o, r in self.rules.get(rule, []) if o == "skip"]


def status_of(rule, soft, gpus):
    if soft.outcome(rule) != "ok":
        return "open"
    outcomes = [gpu.outcome(rule) for gpu in gpus]
    if "not ok" in outcomes:
        return "open"
    if "ok" in outcomes:
        return "agree"
    reasons = [r for gpu in gpus for r in gpu.reasons(rule)]
    return f"softcuda only: {reasons[0]}" if reasons else "open"


def page():
    soft = Log(LOGS / "softcuda.log")
    gpus = [Log(path) for path in sorted(LOGS.glob("*.log")) if path.stem != "softcuda"]
    out = [
        "# Conformance", "",
        "Each rule of CUDA graphs that softcuda holds, and what shows it: one program, run on softcuda and",
        "on NVIDIA's driver. Made by `scripts/conformance.py` from the logs in tests/conformance/rules/logs",
        "alone; CI shows that softcuda's outcomes are those of its log, and that the tests of every rule fail",
        "when the rule is switched off (`conformance_rules_*_switched_off`).", "",
    ]
    for log in [soft] + gpus:
        out.append(f"- **{log.name}**: " + "; ".join(h[2:] for h in log.head))
    out += ["", "| class | what can show it |", "|---|---|"]
    out += [f"| {name} | {what} |" for name, what in CLASSES.items()]
    out += ["", "Sources: H the header's comments, G the programming guide, M measured by us, T public tests."]
    body, totals = [], {"agree": 0, "softcuda only": 0, "open": 0}
    for section, title in SECTIONS.items():
        rows = list(rules_of(section))
        if not rows:
            continue
        heads = " | ".join(log.name for log in [soft] + gpus)
        body += ["", f"## {title}", "", f"| rule | class | {heads} | source | status | what it says |",
                 "|---|---|" + "---|" * (len(gpus) + 4)]
        for name, kind, source, words in rows:
            if kind not in CLASSES:
                sys.exit(f"{section}.def: {name} has class {kind}, which is not one of {', '.join(CLASSES)}")
            status = status_of(name, soft, gpus)
            totals[status.split(":")[0]] += 1
            cells = " | ".join(log.cell(name) for log in [soft] + gpus)
            body.append(f"| {name} | {kind} | {cells} | {source} | {status} | {words} |")
    out += ["", "**" + ", ".join(f"{n} {k}" for k, n in totals.items()) + "** of "
            f"{sum(totals.values())} rules."]
    body += ["", "*open* are rules that no GPU has been asked yet, or that one answers otherwise."]
    return "\n".join(out + body) + "\n"


def run(build):
    """The log of the rule programs on softcuda."""
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"],
                            capture_output=True, text=True).stdout.strip() or "unknown"
    lines = [f"# {datetime.date.today()}, commit {commit}"]
    programs = sorted(pathlib.Path(build).glob("tests/conformance/rules/conformance_rules_*"))
    programs = [p for p in programs if p.is_file() and os.access(p, os.X_OK)]
    if not programs:
        sys.exit(f"no rule programs in {build}/tests/conformance/rules: build it first")
    env = {k: v for k, v in os.environ.items() if k not in ("RULES_OFF", "RULE_ONLY", "GPH_DRIVER")}
    for program in programs:
        done = subprocess.run([program], env=env, capture_output=True, text=True)
        lines += [f"== {program.name.replace('conformance_', '')}"] + done.stdout.splitlines()
    return "\n".join(lines) + "\n"


def outcomes(text):
    return {match[2] + " " + match[3]: match[0] for match in map(TEST.match, text.splitlines()) if match}


def same(build):
    have, want = outcomes(run(build)), outcomes((LOGS / "softcuda.log").read_text())
    differ = [f"{have.get(k, 'gone: ' + k)}\n    the log has: {want.get(k, 'nothing')}"
              for k in sorted(have.keys() | want.keys()) if have.get(k) != want.get(k)]
    print("\n".join(differ) or f"{len(have)} outcomes as in the log")
    return 1 if differ else 0


def main():
    verb = sys.argv[1] if len(sys.argv) > 1 else ""
    if verb in ("--run", "--same") and len(sys.argv) == 3:
        if verb == "--same":
            return same(sys.argv[2])
        text = run(sys.argv[2])
        LOGS.mkdir(exist_ok=True)
        (LOGS / "softcuda.log").write_text(text)
        return 0
    if verb == "--check" and len(sys.argv) == 2:
        current = PAGE.exists() and PAGE.read_text() == page()
        if not current:
            print("docs/conformance.md is not what the logs say: run scripts/conformance.py")
        return 0 if current else 1
    if verb:
        sys.exit(__doc__)
    PAGE.write_text(page())
    return 0


sys.exit(main())
