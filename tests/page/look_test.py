# SPDX-License-Identifier: Apache-2.0
"""What a reader sees first of gph doctor --report, at three widths, light and dark: look_test.py GPH HELLO FAILING"""
import os
import re
import subprocess
import sys
import tempfile

from browser import CONTRAST, Browser, Missing

gph, hello, failing = sys.argv[1:]
failures = 0
SIZES = ((1400, 900, False), (800, 900, True), (800, 900, False), (390, 844, False))
UNEXPLAINED = ("seen done", "pale:", " of 32")
# Colors of kinds, of what is under way and of what is empty, as CIELAB: none may be taken for another.
NEAREST = """
const names = gph.KINDS.map(([name]) => name).concat("wait", "card", "error"), lab = (hex) => {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const f = (t) => t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116;
  const x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505), y = f(0.2126 * r + 0.7152 * g + 0.0722 * b), z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
};
let least = [Infinity];
for (const a of names) for (const b of names) if (a < b) {
  const p = lab(gph.colour[a]), q = lab(gph.colour[b]), far = Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
  if (far < least[0]) least = [far, a, b];
}
return least;"""
# WCAG 1.4.11: 3 for what is not text.
FAINT = "return gph.KINDS.map(([name]) => [name, gph.contrast(gph.colour[name], gph.colour.card)]).filter(([, ratio]) => ratio < 2.95)"
# Text on bars is drawn into a canvas, so its contrast is worked out.
ON_BARS = "return gph.KINDS.map(([name]) => [name, gph.contrast(gph.colour[name], gph.onColour(gph.colour[name]))]).filter(([, ratio]) => ratio < 4.5)"


def check(what, holds):
    global failures
    if not holds:
        print("not ok: " + what, flush=True)
    failures += not holds


def doctor(page, *command):
    done = subprocess.run([gph, "doctor", "--quiet", "--driver", "soft", "--report", page, "--", *command], capture_output=True, text=True)
    if "this build writes no reports" in done.stderr:
        sys.exit(77)


def low(browser, selector):
    return browser.run("return document.querySelector(arguments[0]).getBoundingClientRect().bottom", selector)


def common(browser, name, width):
    check(f"{name}: the window is as wide as was asked for", browser.run("return innerWidth") == width)
    check(f"{name}: nothing is wider than the window", browser.run("return document.documentElement.scrollWidth <= innerWidth"))
    for what, script in (("text", CONTRAST), ("colors", FAINT), ("words on bars", ON_BARS)):
        bad = browser.run(script)
        check(f"{name}: contrast of {what} {bad[:5]}", not bad)
    cut = browser.run("return gph.namesCut()")
    check(f"{name}: names of threads and streams are whole {cut}", not cut)
    cut = browser.run("return [...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.querySelector('caption').textContent)")
    check(f"{name}: tables are as wide as their card {cut}", not cut)
    near = browser.run(NEAREST)
    check(f"{name}: colors that are alike: {near}", near[0] >= 18)
    text = browser.run("return document.body.innerText + gph.laneNames().join()")
    check(f"{name}: words that nothing explains", not any(word in text for word in UNEXPLAINED))
    said = [x["message"] for x in browser.log("browser")]
    check(f"{name}: the console says {said}", not said)


def fails(browser, name, height, wide):
    # A machine that stops the program in its capture makes that most of the run.
    part = browser.run("const c = gph.data.captures[0]; return (c.end - c.begin) / gph.data.span")
    check(f"{name}: it does not open on the whole run", part > 0.4 or not browser.run("return gph.view.isAll()"))
    check(f"{name}: the place of the error is in view", browser.run("const t = gph.data.findings[0].t; return gph.view.from < t && t < gph.view.to"))
    check(f"{name}: so is its capture", part > 0.4 or browser.run("const c = gph.data.captures[0]; return gph.view.from <= c.begin && c.end <= gph.view.to"))
    for what in (".finding .say", ".finding .at", ".finding .more > p") + ((".finding .fix", "#lanes") if wide else ()):
        check(f"{name}: {what} is above the fold", 0 < low(browser, what) <= height)
    # A tooltip belongs to what is under the pointer; nothing of it stays when that moves.
    show = "gph.tip({clientX: 50, clientY: 50}, 'x', []); return document.getElementById('tip').hidden"
    for what in ("document.getElementById('lanes').dispatchEvent(new Event('scroll'))", "dispatchEvent(new KeyboardEvent('keydown', {key: '+'}))", "gph.view.zoom(0.9)"):
        check(f"{name}: a tooltip is shown", browser.run(show) is False)
        browser.run(what)
        check(f"{name}: and gone after {what}", browser.run("return document.getElementById('tip').hidden"))


def works(browser, name):
    at = browser.run("const d = gph.data; return [gph.view.from, d.start[d.kind.indexOf(1)], Math.max(...d.end.filter((x, i) => d.kind[i] === 2)), gph.view.to]")
    check(f"{name}: it opens at the work, not at cuInit {at}", at[0] <= at[1] and at[2] <= at[3] and (at[0] > 0 or browser.run("return gph.view.isAll() && (arguments[1] - arguments[0]) > 0.93 * gph.data.span", at[1], at[2])))
    lanes = browser.run("return gph.laneNames()")
    check(f"{name}: a stream is named by who made it {lanes}", any(re.fullmatch(r"stream 1 · \w+", lane) for lane in lanes))
    slower = browser.run("const at = (hosts, dones) => ({hosts, dones}); return [gph.isSlower(at(9, 20), at(3, 10)), gph.isSlower(at(9, 20), at(9, 10)), gph.isSlower(at(9, 20), at(3, 30)), gph.isSlower(at(9, 0), at(3, 0))]") \
        if browser.run("return !!gph.pairs") else None
    check(f"{name}: a slower graph is not a gain {slower}", slower in (None, [False, True, True, False]))


def ranks(browser, name):
    heads = [lane.split(" ")[1] for lane in browser.run("return gph.laneNames()") if lane.startswith("rank ")]
    check(f"{name}: ranks are in their order, not in that of their beginning {heads}", heads == ["0", "0", "1", "1"])


def processes(browser, name):
    lanes = browser.run("return gph.laneNames()")
    heads = [lane for lane in lanes if lane.startswith("process")]
    check(f"{name}: each process has its threads and its streams {lanes}",
          heads == [f"process {p} · {what}" for p in (1, 2) for what in ("CPU · driver calls", "GPU · submitted")])
    waits = browser.run("const d = gph.data; return d.streams.every((s, i) => d.work[i].every((w) => d.threads[d.thread[w]][2] === s[3]))")
    check(f"{name}: a stream's work is its process's", waits)


def main():
    with tempfile.TemporaryDirectory() as folder:
        pages = [os.path.join(folder, name + ".html") for name in ("fail", "hello", "processes", "ranks")]
        doctor(pages[0], failing, "first")
        doctor(pages[1], hello)
        doctor(pages[2], "sh", "-c", '"$0" && "$0"', hello)
        doctor(pages[3], "sh", "-c", 'GPH_RANKS=2 GPH_RANK=1 "$0" && GPH_RANKS=2 GPH_RANK=0 "$0"', hello)
        for width, height, dark in SIZES:
            browser = Browser(width, height, dark=dark)
            try:
                for page, look in zip(pages, (lambda b, n: fails(b, n, height, width >= 800), works, processes, ranks)):
                    name = f"{os.path.basename(page)} at {width}{' dark' if dark else ''}"
                    browser.open(page)
                    common(browser, name, width)
                    look(browser, name)
            finally:
                browser.close()
    print("what is looked at first is there" if not failures else f"{failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Missing as why:
        print(f"SKIPPED: {why}")
        sys.exit(77)
