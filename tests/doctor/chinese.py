# SPDX-License-Identifier: Apache-2.0
"""What gph doctor says in Chinese of a saved log: all of it, no English sentence left."""
import json
import re
import subprocess

# Not sentences: quoted texts, what the driver said, places, names, numbers, code.
NAMES = re.compile(r'驱动的说明：.*|标准错误：.*|"[^"]*"|[^\s，。；：（）、]+ \([^()\s]+:\d+\)|[^\s，。；：（）、]+ \(\S+\)|'
                   r"docs/\S+|gph [a-z]+( [a-z_.-]+)?|内核 [^\s，。；：（）、]+|[\w./:<>*-]*[A-Z\d_(/][\w./:<>*()-]*")
WORDS = {"cache", "rank", "libgph", "memcpy", "memset", "event", "us", "ms", "of", "x"}  # of("name"): none is English here


def english_in(text):
    """The English words left in a text."""
    return [word for word in re.findall(r"[A-Za-z][a-z]+(?:-[a-z]+)*", NAMES.sub(" ", text)) if word not in WORDS]


def complaints(gph, log, english):
    """What is not right in the Chinese findings of a log, which the doctor found in English."""
    done = subprocess.run([gph, "doctor", "--events", log, "--lang", "zh", "--quiet", "--json", "-"],
                          capture_output=True, text=True, timeout=100, errors="replace")
    findings = json.loads(done.stdout)["findings"]
    if [f["id"] for f in findings] != [f["id"] for f in english]:
        yield f"in Chinese {[f['id'] for f in findings]}, in English {[f['id'] for f in english]}"
    for finding in findings:
        own_fix = finding["fix"].split("\n一般而言：")
        cause = [] if finding["id"].startswith("framework.") else [finding["cause"]]  # an entry's, which has code
        texts = [*cause, *finding["evidence"], *finding["consequences"], *own_fix[:len(own_fix) - 1]]
        for text in texts:
            left = english_in(text)
            if left:
                yield f"{finding['id']}: English in \"{text}\": {' '.join(left)}"
            if "。 " in text:  # the stop has its space within
                yield f"{finding['id']}: a space after a stop in \"{text}\""
