# SPDX-License-Identifier: Apache-2.0
"""programs_beside.py [-v] GPU SOFT...: of the tests that pass on a GPU, how many pass on softcuda. Files are
programs_rows.py's; a later SOFT counts instead of an earlier one. -v names those that do not."""
import collections
import re
import sys

PASSED = {"passed", "xfailed", "xpassed"}
CUT = {"not run", "start"}  # by a limit of time; a process that died says so in its log
RANK = {"start": 0, "skipped": 1, "passed": 2, "xfailed": 2, "xpassed": 2, "failed": 3}


def read(path):
    """The outcome of each test; one that failed once has failed."""
    known = {}
    for line in open(path, errors="replace"):
        suite, name, outcome, why = (line.rstrip("\n").split("\t") + ["", "", ""])[:4]
        key = suite, re.sub("0x[0-9a-f]+", "0x", name)
        if outcome in RANK and RANK[outcome] >= RANK[known.get(key, ("start",))[0]]:
            known[key] = outcome, why
    return known


def main(words):
    verbose = words[:1] == ["-v"]
    gpu, soft = read(words[verbose]), {}
    for path in words[verbose + 1 :]:
        soft.update(read(path))
    counts = collections.defaultdict(collections.Counter)
    for (suite, name), (outcome, _) in gpu.items():
        if outcome not in PASSED:
            continue
        there, why = soft.get((suite, name), ("not run", ""))
        counts[suite]["passed" if there in PASSED else there] += 1
        if verbose and there not in PASSED and there not in CUT:
            print(f"{suite} {name}: {there}: {why[:160]}")
    print("| suite | pass on the GPU | of these run | pass | share |\n|---|---|---|---|---|")
    counts["all"] = sum(counts.values(), collections.Counter())
    for suite, c in counts.items():
        ran = c.total() - sum(c[each] for each in CUT)
        print(f"| {suite} | {c.total()} | {ran} | {c['passed']} | {100 * c['passed'] / max(ran, 1):.1f} % |")


main(sys.argv[1:])
