#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts docs/guide.html together: page, style, words and code of docs/guide, and what examples/guide
recorded (examples/guide/*.json: one file a device).

    guide.py           writes docs/guide.html
    guide.py --check   says whether it is what would be written
"""
import html
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDE, OUT = ROOT / "docs/guide", ROOT / "docs/guide.html"
DEVICES = ["h100", "softcuda"]  # the first one is shown at first


def literal(value):
    """JSON that may be in a script element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")


def us(value):  # with a no-break space, as guide.js
    return f"{value / 1000:.2f}\u00a0ms" if value >= 1000 else f"{value:.1f}\u00a0µs"


def kib(count):
    return f"{int(count / 1024 + 0.5)}\u00a0KiB"


def extent(ranges):
    return max(one[0] + one[1] for one in ranges) - min(one[0] for one in ranges)


def last_values(data):
    """{scene: the word its last step says, and its values}, as guide.js has them: guide_test.py compares."""
    eager, graph, loop = data["eager"]["us"], data["graph"], data["loop"]
    first, calls = graph["calls"][0], data["tree"][-1]["calls"]
    sort = ["warm-up", "recorded"]
    way = " → ".join(call[0] for call in calls)
    tree = ("tree_branch", way, data["tree"][-1]["tree"]) if any(call[1] == sort[1] for call in calls) else ("tree_hit", way)
    return {"eager": ("eager_5", data["kernels"], us(eager), us(graph["us"]), f"{eager / graph['us']:.1f}", data["steps"]),
            "made": ("made_5", us(first[2] - first[1]), data["kernels"]),
            "pool": ("pool_2", kib(sum(extent(one["ranges"]) for one in data["pool"])), kib(extent([r for one in data["pool"] for r in one["ranges"]]))),
            "tree": tree,
            "loop": ("loop_4", loop["rounds"], us(loop["us"]))}


def still(data, words):
    """What a browser without scripts shows: each scene with where it begins and ends, in both languages."""
    code = (GUIDE / "guide.js").read_text()
    commands = dict(re.findall(r'key: "(\w+)", command: "([^"]+)"', code))
    order = re.search(r"const SCENES = \[([\w, ]+)\]", code)[1].split(", ")
    out = []
    for language in ("en", "zh"):
        def say(key, *values, of=words[language]):
            text = of[key]
            for i, value in enumerate(values):
                text = text.replace(f"{{{i}}}", str(value))
            return html.escape(text, quote=False)
        out.append(f'<div lang="{language}">\n<h1>{say("title")}</h1>\n<p><b>{say("still", data["device"])}</b></p>')
        last = last_values(data)
        for key in order:
            out.append(f'<section class="still-{key}">\n<h2>{say(key + "_title")}</h2>\n<p>{say(key + "_about")}</p>\n'
                       f'<p>{say(key + "_0", data["kernels"])}</p>\n<p class="last">{say(*last[key])}</p>\n'
                       f'<p class="made">{say("reproduce")} <code>{commands[key]}</code></p>\n</section>')
        out.append("</div>")
    return "\n".join(out)


def whole():
    data = {name: json.loads((ROOT / f"examples/guide/{name}.json").read_text()) for name in DEVICES}
    words = json.loads((GUIDE / "words.json").read_text())
    if words["en"].keys() != words["zh"].keys():
        sys.exit("words.json: the languages differ in " + ", ".join(words["en"].keys() ^ words["zh"].keys()))
    script = f"const DATA = {literal(data)};\nconst WORDS = {literal(words)};\n" + (GUIDE / "guide.js").read_text()
    page = (GUIDE / "page.html").read_text()
    page = page.replace("<!--{still}-->", still(data[DEVICES[0]], words))
    return page.replace("/*{style}*/", (GUIDE / "guide.css").read_text()).replace("/*{script}*/", script)


if "--check" in sys.argv:
    if not OUT.exists() or OUT.read_text() != whole():
        sys.exit("docs/guide.html is not what scripts/guide.py writes: run it")
    print("docs/guide.html is what its parts make")
else:
    OUT.write_text(whole())
