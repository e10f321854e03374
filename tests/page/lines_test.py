# SPDX-License-Identifier: Apache-2.0
"""gph doctor --capturable --report shows the program's source, line by line, C and Python: lines_test.py GPH REGION REGION.C LOOP.PY"""
import os
import shutil
import subprocess
import sys
import tempfile

from browser import CONTRAST, Browser, Missing

gph, region, region_source, loop = sys.argv[1:]
failures = 0
# Words of a line of region.c, and what a capture makes of it.
EXPECTED = {"/* pageable */": "frozen", "/* unsafe */": "breaks", "/* another address */": "frozen", "/* another value */": "frozen", "/* escapes */": "escapes",
            "/* cuts */": "breaks", "/* escapes, and waits */": "escapes", "/* breaks captures in global mode */": "breaks", "COPY(stream, out[0], in);": "fits"}
LINES = """return [...document.querySelectorAll('#source .file')].map((f) => [f.querySelector('h3').textContent, !!f.querySelector('.missing'),
  [...f.querySelectorAll('button.line')].map((b) => [+b.querySelector('.no').textContent, b.className.replace('line ', ''), b.querySelector('code').textContent])])"""


def check(what, holds):
    global failures
    if not holds:
        print("not ok: " + what, flush=True)
    failures += not holds


def doctor(*words):
    done = subprocess.run([gph, "doctor", "--quiet", "--driver", "soft", *words], capture_output=True, text=True)
    if "this build writes no reports" in done.stderr:
        sys.exit(77)


def common(browser, name):
    check(f"{name}: nothing is wider than the window", browser.run("return document.documentElement.scrollWidth <= innerWidth"))
    bad = browser.run(CONTRAST)
    check(f"{name}: contrast of text {bad[:5]}", not bad)
    said = [x["message"] for x in browser.log("browser")]
    check(f"{name}: the console says {said}", not said)
    unsaid = browser.run("return [...gph.unsaid]")
    check(f"{name}: each sentence has its Chinese {unsaid}", not unsaid)


def of_c(browser, name):
    with open(region_source, encoding="utf-8") as file:
        lines = file.read().split("\n")
    files = [f for f in browser.run(LINES) if os.path.basename(f[0]) == "region.c"]
    check(f"{name}: region.c is there", len(files) == 1 and not files[0][1])
    shown = {number: (kind, text) for number, kind, text in files[0][2]}
    for words, kind in EXPECTED.items():
        number = next(i for i, text in enumerate(lines, 1) if words in text)
        check(f"{name}: line {number} is {kind}: {shown.get(number)}", shown.get(number) == (kind, lines[number - 1]))
    check(f"{name}: lines far from all of them are not in the page", "LOOPS = 40" not in browser.run("return gph.data.sources.map((s) => s.text).join('')"))
    number = next(i for i, text in enumerate(lines, 1) if "/* unsafe */" in text)
    click = "const b = [...document.querySelectorAll('#source button.line')].find((b) => b.querySelector('.no').textContent === String(arguments[0])); b.click(); const n = document.querySelector('#source .of-line'); return n ? n.textContent : ''"
    said = browser.run(click, number)
    of = browser.run("return gph.data.sources.flatMap((s) => s.marks).find((m) => m.rule === 'capture.unsafe-call')")
    check(f"{name}: a click says call, rule, reason, fix and what does not help", all(of[key] and of[key] in said for key in ("call", "why", "rule", "cause", "fix", "vain")))
    check(f"{name}: a second click closes it", browser.run(click, number) == "")


def of_python(browser, name):
    with open(loop, encoding="utf-8") as file:
        number = next(i for i, text in enumerate(file, 1) if "# the line" in text)
    files = [f for f in browser.run(LINES) if f[0].endswith("loop.py")]
    check(f"{name}: the launch's line fits {files}", len(files) == 1 and not files[0][1] and any(n == number and kind == "fits" and "cuLaunchKernel" in text for n, kind, text in files[0][2]))


def of_gone(browser, name):
    files = [f for f in browser.run(LINES) if f[0].endswith("gone.py")]
    check(f"{name}: a file that is gone is named, with the calls of its lines {files}", len(files) == 1 and files[0][1] and any("cuLaunchKernel add" in text for _, _, text in files[0][2]))


def main():
    with tempfile.TemporaryDirectory() as folder:
        c, python, gone, chinese, log, script = (os.path.join(folder, name) for name in ("c.html", "python.html", "gone.html", "zh.html", "log", "gone.py"))
        doctor("--capturable", "--save-events", log, "--report", c, "--", region, "first")
        doctor("--capturable", "--lang", "zh", "--report", chinese, "--events", log)
        doctor("--capturable", "--report", python, "--", sys.executable, loop)
        shutil.copy(loop, script)
        doctor("--save-events", log, "--", sys.executable, script)
        os.remove(script)
        doctor("--capturable", "--report", gone, "--events", log)
        for width, dark in ((1400, False), (800, True), (390, False)):
            browser = Browser(width, 900, dark=dark)
            try:
                for page, look in ((c, of_c), (chinese, of_c), (python, of_python), (gone, of_gone)):
                    name = f"{os.path.basename(page)} at {width}"
                    browser.open(page)
                    look(browser, name)
                    common(browser, name)
            finally:
                browser.close()
    print("each line has its color" if not failures else f"{failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Missing as why:
        print(f"SKIPPED: {why}")
        sys.exit(77)
