#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/doctor-rules.md of tests/doctor/rules/RULE.c and of the logs in tests/doctor/results
(`run.py` writes them where DOCTOR_RESULTS names a file).

usage: doctor_docs.py --rules build/release/tests/doctor/doctor_rules_list [--check] [--gph build/release/bin/gph]

A rule's section has the head comment of its program, the lines of `first` up to the one that is to
blame, and what the doctor says of it. With --gph that sample is made afresh; else it stays.
--check: fails where the page is not current (of a sample only its first line is compared; the rest
differs from run to run).
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
programs = root / "tests/doctor/rules"
target = root / "docs/doctor-rules.md"
parser = argparse.ArgumentParser()
parser.add_argument("--check", action="store_true")
parser.add_argument("--gph")
parser.add_argument("--rules", required=True)
options = parser.parse_args()
MACHINES = {"softcuda": "softcuda", "h100": "H100"}
RECORDED = "reported on a log recorded on %s"
RECORDED_ON = {"nccl.destroy-before-graph": "2 x H200"}  # the others: an H100
WAYS = ("first", "second", "near")


def rules():
    """(id, severity) of every rule, in the order of the tables."""
    done = subprocess.run([options.rules], capture_output=True, text=True, check=True)
    return [tuple(line.split()) for line in done.stdout.splitlines()]


def head(source):
    """The head comment: its paragraphs, without the file's name and its marks."""
    lines = []
    for line in source.read_text().splitlines()[1:]:
        if not line.startswith("//"):
            break
        lines.append(line[2:].strip())
    text = "\n".join(line for line in lines if not re.match(r"(also|only|timing|watch|env):", line))
    text = text.replace(source.stem, "", 1).strip()
    return re.sub(r"\s*(also|needs|timing|watch): [\w., -]+$", "", text)


def entry(rule):
    """The rule's title in the knowledge base's page."""
    match = re.search(rf"^### {re.escape(rule)}\n\n\*\*(.+?)\.?\*\*",
                      (root / "docs/explain.md").read_text(), re.M)
    return match[1] if match else None


def sample(rule):
    """What the doctor says of `first`, with numbers that change from run to run made plain."""
    gph = pathlib.Path(options.gph).resolve()
    program = gph.parent.parent / "tests/doctor/rules" / rule
    head_of_it = (programs / f"{rule}.c").read_text()
    watch = re.search(r"^// watch: (\d+)$", head_of_it, re.M)
    set_for_it = dict(re.findall(r"^// env: (\w+)=(\S+)$", head_of_it, re.M))
    done = subprocess.run([gph, "doctor", *(["--watch", watch[1]] if watch else []), "--driver", "soft", "--", program,
                           "first"], capture_output=True, text=True, errors="replace", check=False, env=os.environ | set_for_it)
    found = re.search(rf"^(error|warning|info) {re.escape(rule)}:.*?(?=\n\n|\Z)", done.stderr, re.M | re.S)
    if not found:
        return None
    text = re.sub(r"0x[0-9a-f]{6,}", "0x…", found[0].strip())
    text = re.sub(r"\bthreads? \d+", "thread N", text)
    text = re.sub(r"\bprocess \d+", "process N", text)
    return text.replace(str(root) + "/", "")


def excerpt(source):
    """`first` up to the line that is to blame: at most its last 14 lines."""
    lines = source.read_text().splitlines()
    last = next((i for i, line in enumerate(lines) if "<-- first" in line), None)
    if last is None:
        return None
    start = last
    while start > 0 and lines[start - 1] not in ("", "}"):
        start -= 1
    shown = lines[max(start, last - 13):last + 1]
    indent = min(len(line) - len(line.lstrip()) for line in shown if line)
    return "\n".join(line[indent:] for line in shown)


def section(rule, severity, old):
    source = programs / f"{rule}.c"
    title = entry(rule) or rule
    before = re.search(rf'<a id="{re.escape(rule)}"></a>.*?(?=\n<a id=|\Z)', old, re.S)
    fenced = before and re.search(r"```text\n(.*?)\n```", before[0], re.S)
    shown = sample(rule) if options.gph else fenced and fenced[1]
    text = f'<a id="{rule}"></a>\n\n## {rule}\n\n{severity.capitalize()}: {title}.\n\n{head(source)}\n\n'
    part = excerpt(source)
    text += f"`first` of [{rule}.c](../tests/doctor/rules/{rule}.c), and what `gph doctor` says of it:\n\n"
    if part:
        text += f"```c\n{part}\n```\n\n"
    if shown:
        text += f"```text\n{shown}\n```\n\n"
    return text


def results(machine):
    """{(rule, way): outcome} of a log, and its first line."""
    path = root / f"tests/doctor/results/{machine}.log"
    if not path.exists():
        return {}, None
    lines = path.read_text().splitlines()
    return {(w[0], w[1]): w[2] for w in (line.split() for line in lines if not line.startswith("#"))
            if len(w) == 3}, lines[0].lstrip("# ") if lines and lines[0].startswith("#") else None


def cell(outcomes, rule):
    ways = [outcomes.get((rule, way)) for way in WAYS]
    if all(way is None for way in ways):
        return "not run"
    if all(way == "skipped" or way is None for way in ways):
        return "cannot be shown"
    if all(way == "ok" for way in ways):
        return "reported"
    return ", ".join(f"{way} {outcome or 'not run'}" for way, outcome in zip(WAYS, ways))


def is_recorded(rule, machine):
    """Whether the rule is reported on a log of a true process: doctor_examination_test holds it so."""
    return machine == "h100" and (root / f"tests/doctor/recorded/{rule}.1.log").exists()


def without_page(rule, machine):
    return RECORDED % RECORDED_ON.get(rule, "an H100") if is_recorded(rule, machine) else "cannot be shown"


def table(known):
    logs = {machine: results(machine) for machine in MACHINES}
    shown = sum(cell(logs["softcuda"][0], rule) == "reported" for rule, _ in known)
    text = ("# Rules of gph doctor\n\nEach rule with the program that shows it: `first` and `second` break the rule in two "
            "ways, `near` looks alike and is right. More of a rule: `gph explain RULE`. Made by `scripts/doctor_docs.py` from "
            "tests/doctor/rules, the tables in src/doctor and the logs in tests/doctor/results.\n\n"
            "**reported**: both programs that break the rule are reported, at the right line, and the near miss is silent under all "
            "rules.\n\n")
    for machine, name in MACHINES.items():
        text += f"- **{name}**: {logs[machine][1] or 'not run yet'}\n"
    text += f"\n{len(known)} rules, {shown} reported on softcuda.\n\n| rule | severity | program | " + \
        " | ".join(MACHINES.values()) + " |\n|---|---|---|" + "---|" * len(MACHINES) + "\n"
    for rule, severity in known:
        has_page = (programs / f"{rule}.c").exists()
        where = f"[{rule}.c](#{rule})" if has_page else "[recorded log](../tests/doctor/recorded/README.md)" \
            if (root / f"tests/doctor/recorded/{rule}.1.log").exists() else "none"
        place = "" if has_page else f'<a id="{rule}"></a>'  # findings name the place of each rule
        text += f"| {place}{rule} | {severity} | {where} | " + \
            " | ".join(cell(logs[machine][0], rule) if has_page else without_page(rule, machine) for machine in MACHINES) + " |\n"
    return text


def without_sample(text):
    return re.sub(r"(```text\n[^:\n]*).*?\n```", r"\1", text, flags=re.S)


known = rules()
old = target.read_text() if target.exists() else ""
new = table(known) + "\n" + "".join(section(rule, severity, old) for rule, severity in known
                                    if (programs / f"{rule}.c").exists()).rstrip("\n") + "\n"
if not options.check:
    target.write_text(new)
elif without_sample(old) != without_sample(new):
    sys.exit("docs/doctor-rules.md is not current: run scripts/doctor_docs.py --rules ... --gph ...")
