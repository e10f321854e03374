# SPDX-License-Identifier: Apache-2.0
"""What entries and findings name under "see:" is on the machine: a guide that is installed, with the place in it, or an entry of gph explain.

usage: see.py GPH REPOSITORY BUILD CMAKE"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

gph, root, build, cmake = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
knowledge = json.loads((root / "src/explain/knowledge.json").read_text())
entries = next(value for value in knowledge.values() if isinstance(value, list) and value and isinstance(value[0], dict) and "slug" in value[0])
slugs = {entry["slug"] for entry in entries}
rules = set()
for source in (root / "src/doctor/rules").rglob("*.c"):
    rules |= set(re.findall(r'GPHI_RULE(?:_NAME)?\(\s*"([a-z]+\.[a-z-]+)"', source.read_text()))
faults = []
with tempfile.TemporaryDirectory() as prefix:
    subprocess.run([cmake, "--install", build, "--component", "manual", "--prefix", prefix], check=True, capture_output=True)
    top = pathlib.Path(prefix) / "share/doc/gph"
    docs = top / "docs"
    places = {}
    # links among the pages, as they are installed
    for page in [top / "README.md", *docs.rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
            at = (page.parent / link).resolve()
            if "://" not in link and at.is_relative_to(docs.resolve()) and "design" not in at.parts and not at.exists():
                faults.append(f"{page.relative_to(top)} links to {link}, which is not installed")
    for page in docs.rglob("*.md"):
        text = page.read_text()
        places["docs/" + page.relative_to(docs).as_posix()] = set(re.findall(r'<a (?:id|name)="([^"]+)"', text)) | {re.sub(r"[^\w. -]", "", head).strip() for head in re.findall(r"^#+ (.*)$", text, re.M)}
    # what a finding of a rule says, and what each entry does
    named = {(rule, f"docs/doctor-rules.md#{rule}") for rule in rules} | {(entry["slug"], see) for entry in entries for see in entry.get("see", [])}
    for who, what in sorted(named):
        page, _, place = what.partition("#")
        if page.startswith("https://") or page in slugs:
            continue
        if page not in places:
            faults.append(f"{who} names {what}: not installed, and not an entry")
        elif place and place not in places[page]:
            faults.append(f"{who} names {what}: the page has no such place")
for rule in sorted(rules - slugs):
    if subprocess.run([gph, "explain", rule], capture_output=True).returncode != 0:
        faults.append(f"gph explain {rule} knows nothing")
print("\n".join(faults) or f"{len(named)} names of {len(entries)} entries and {len(rules)} rules are there")
sys.exit(bool(faults) or not rules)
