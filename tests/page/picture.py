# SPDX-License-Identifier: Apache-2.0
"""A picture of a page: picture.py PAGE PICTURE.png [WIDTH HEIGHT [dark [SCRIPT]]]

SCRIPT is run in the page before; without one the timeline goes to where eager calls become launches of a graph."""
import base64
import sys
import time

from browser import Browser

TURN = """
const d = gph.data, first = d.kind.indexOf(2); /* a graph launch */
if (first > 0) { const t = d.start[first]; gph.view.set(t - 1.1e6, t + 0.7e6); }
"""

if __name__ == "__main__":
    page, out, *rest = sys.argv[1:]
    width, height = (int(rest[0]), int(rest[1])) if len(rest) > 1 else (1500, 1900)
    browser = Browser(width, height, dark="dark" in rest)
    try:
        browser.open(page)
        browser.run(rest[3] if len(rest) > 3 else TURN)
        time.sleep(0.8)
        browser.frame()
        with open(out, "wb") as file:
            file.write(base64.b64decode(browser.ask("GET", "/screenshot")))
    finally:
        browser.close()
