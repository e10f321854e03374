# SPDX-License-Identifier: Apache-2.0
"""docs/guide.html in headless Chromium, at three widths, light and dark: every step of every scene in both languages and for both
devices is drawn and said, with figures that are the recorded ones; nothing is loaded, nothing is complained about.

usage: guide_test.py REPOSITORY"""
import json
import pathlib
import subprocess
import sys

from browser import CONTRAST, Browser, Missing

ROOT = pathlib.Path(sys.argv[1])

ALL = """
const out = [];
for (const device of Object.keys(DATA)) for (const language of ["en", "zh"]) {
  state.device = device; state.language = language; draw();
  for (const scene of SCENES) for (let step = 0; step <= scene.count(DATA[device]); step++) {
    state.steps[scene.key] = step; show(scene);
    const at = document.getElementById(scene.key), svg = at.querySelector("svg"), box = svg.getBoundingClientRect();
    const outside = [...svg.querySelectorAll("text, rect, circle")].filter((one) => {
      const b = one.getBoundingClientRect();
      return b.left < box.left - 2 || b.right > box.right + 2 || b.top < box.top - 2 || b.bottom > box.bottom + 2;
    }).map((one) => one.tagName + ":" + one.textContent);
    out.push({ device, language, key: scene.key, step, said: at.querySelector(".said").textContent, outside, marks: svg.childElementCount });
  }
}
return out;
"""

# The buttons are under the same finger at each step.
STAY = """
const moved = [];
for (const scene of SCENES) {
  const tops = new Set(), at = document.getElementById(scene.key);
  for (let step = 0; step <= scene.count(DATA[state.device]); step++) {
    state.steps[scene.key] = step; show(scene);
    tops.add(Math.round(at.querySelector(".controls").getBoundingClientRect().top - at.getBoundingClientRect().top));
  }
  if (tops.size !== 1) moved.push(scene.key + ": " + [...tops]);
}
return moved;
"""

LAST = """
const out = [], data = DATA[Object.keys(DATA)[0]];
for (const language of ["en", "zh"]) {
  state.language = language;
  for (const scene of SCENES) out.push([word(scene.key + "_title"), word(scene.key + "_about"), scene.say(data, 0), scene.say(data, scene.count(data)),
    word("reproduce") + " " + scene.command].join("\\n"));
}
return out;
"""
STILL = """
return [...document.querySelectorAll("noscript section")].map((one) => [...one.children].map((part) => part.textContent).join("\\n"));
"""


def figures(data):
    """What must be said somewhere, worked out here once more."""
    spans = [(min(r[0] for r in g["ranges"]), max(r[0] + r[1] for r in g["ranges"])) for g in data["pool"]]
    alone = sum(high - low for low, high in spans)
    together = max(high for _, high in spans) - min(low for low, _ in spans)
    return [f"{data['eager']['us'] / data['graph']['us']:.1f}", f"{alone // 1024}\u00a0KiB", f"{together // 1024}\u00a0KiB",
            data["tree"][-1]["tree"], str(data["loop"]["rounds"])]


def look(width, dark):
    faults = []
    browser = Browser(width, 900, dark=dark)
    try:
        browser.open(str(ROOT / "docs/guide.html"))
        where = f"{width} px{', dark' if dark else ''}"
        if browser.run("return document.documentElement.scrollWidth > window.innerWidth"):
            faults.append(f"{where}: the page is wider than the window")
        faults += [f"{where}: contrast of {one}" for one in browser.run(CONTRAST)]
        # by hand: the buttons and the keys
        browser.run("document.querySelector('#made [data-do=next]').click()")
        browser.run("document.querySelector('#made').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}))")
        if browser.run("return state.steps.made") != 2:
            faults.append(f"{where}: next and the right arrow do not make two steps")
        browser.run("document.querySelector('#made [data-do=back]').click()")
        if browser.run("return state.steps.made") != 1:
            faults.append(f"{where}: back does not go back")
        browser.run("document.querySelector('#pool [data-do=play]').click()")
        if browser.run("return state.steps.pool") != 1 or not browser.run("return state.playing !== null"):
            faults.append(f"{where}: play does not play")
        browser.run("document.querySelector('#pool [data-do=play]').click()")
        steps = browser.run(ALL)
        faults += [f"{where}: the buttons of {one} move" for one in browser.run(STAY)]
        for one in steps:
            name = f"{where}: {one['device']} {one['language']} {one['key']} {one['step']}"
            if not one["said"].strip() or "{" in one["said"].replace("{dense-head, sparse-head}", "") or "undefined" in one["said"] or "NaN" in one["said"]:
                faults.append(f"{name} says \"{one['said']}\"")
            if one["outside"]:
                faults.append(f"{name}: outside the drawing: {one['outside'][:3]}")
        for device, data in json.loads(browser.run("return JSON.stringify(DATA)")).items():
            said = " ".join(one["said"] for one in steps if one["device"] == device)
            faults += [f"{where}: {device} does not say {one}" for one in figures(data) if one not in said]
        loaded = browser.run("return performance.getEntriesByType('resource').map((e) => e.name)")
        faults += [f"{where}: loads {name}" for name in loaded]
        faults += [f"{where}: {one['message']}" for one in browser.log("browser")]
    finally:
        browser.close()
    return faults


def without_scripts(width):
    """Each scene's first and last sentence as the scripts say them, with its command, in both languages; and nothing else."""
    faults, pages = [], []
    for scripts in (True, False):
        browser = Browser(width, 900, scripts=scripts)
        try:
            browser.open(str(ROOT / "docs/guide.html"))
            pages.append(browser.run(LAST if scripts else STILL))
            if not scripts:
                said = browser.run("return document.body.innerText")
                faults += [f"without scripts: \"{one}\" is shown" for one in ("Play", "Back", "Recorded on") if one + "\n" in said]
                faults += [f"without scripts: does not say {one}" for one in ("switched off here", "已将其关闭") if one not in said]
                if browser.run("return document.documentElement.scrollWidth > window.innerWidth"):
                    faults.append(f"without scripts, {width} px: the page is wider than the window")
                faults += [f"without scripts: contrast of {one}" for one in browser.run(CONTRAST)]
        finally:
            browser.close()
    drawn, still = pages
    if len(drawn) != 10:
        faults.append(f"{len(drawn)} scenes in two languages")
    faults += [f"without scripts: {have} where scripts say {want}" for want, have in zip(drawn, still) if want != have]
    return faults + ([] if len(drawn) == len(still) else [f"without scripts: {len(still)} scenes, {len(drawn)} with them"])


def main():
    subprocess.run([sys.executable, str(ROOT / "scripts/guide.py"), "--check"], check=True)
    try:
        faults = [fault for width, dark in ((1400, False), (800, True), (390, False)) for fault in look(width, dark)]
        faults += [fault for width in (1400, 390) for fault in without_scripts(width)]
    except Missing as why:
        print(why)
        sys.exit(77)
    print("\n".join(faults) or "the guide is as it should be")
    sys.exit(bool(faults))


main()
