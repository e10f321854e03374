#!/usr/bin/env python3
"""Lists the public structs with how each may grow, and fails on one that does not say.

usage: structs.py [ROOT] [--list]

The sorts are those of gph/base.h: a first member `uint32_t size`, or one of the wordings
below in the comment before the struct. Every public header also names its tier.
"""
import collections, pathlib, re, sys

arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
root = pathlib.Path(arguments[0] if arguments else ".")
STRUCT = re.compile(r"(/\*\*(?:(?!\*/).)*\*/)?\s*typedef struct (gph_\w+) \{\s*(.*?)\n\} \2;", re.S)
WORDINGS = {
    "frozen": r"Layout frozen: [^.]{8,}",
    "lent": r"Lent: grows at the end",
    "stride": r"Stride: [\w.]+",
    "part": r"Sized by gph_\w+",
}
found, faults = collections.defaultdict(list), []
for header in sorted((root / "include/gph").glob("*.h")):
    text = header.read_text()
    file_comment = re.search(r"/\*\* @file.*?\*/", text, re.S)
    if header.name in ("gph.h", "gph_doctor.h"):
        continue  # they include the others
    if not file_comment or not re.search(r"Tier: (stable|experimental)\.", file_comment[0]):
        faults.append(f"{header}: @file names no tier")
    structs = STRUCT.findall(text)
    missed = set(re.findall(r"typedef struct (gph_\w+) \{", text)) - {s[1] for s in structs}
    faults += [f"{header}: {name} cannot be read" for name in sorted(missed)]
    for comment, name, body in structs:
        words = re.sub(r"\s*\n \*\s*", " ", comment)
        sorts = [sort for sort, wording in WORDINGS.items() if re.search(wording, words)]
        if re.match(r"uint32_t size;", re.sub(r"^/\*\*.*?\*/\s*", "", body, flags=re.S)):
            sorts.append("sized")
        if len(sorts) != 1:
            faults.append(f"{header}: {name} is {' and '.join(sorts) or 'of no sort'}")
        else:
            found[sorts[0]].append(f"{header.name}: {name}")

for fault in faults:
    print(fault)
if "--list" in sys.argv:
    for sort in sorted(found):
        print(f"{sort} ({len(found[sort])})", *found[sort], sep="\n    ")
print(", ".join(f"{len(v)} {k}" for k, v in sorted(found.items())))
sys.exit(bool(faults))
