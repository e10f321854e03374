# SPDX-License-Identifier: Apache-2.0
"""The report's page in headless Chromium: page_test.py MAKE_PAGE [--figures]

Pages are made of made logs. Without --figures: what the page must do, as a test; times are bounded
generously. With it: first paint and zoom frames, to be read by a person."""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from browser import CONTRAST, Browser, Missing

failures = []


def check(what, holds):
    print(("ok: " if holds else "not ok: ") + what, flush=True)
    if not holds:
        failures.append(what)


def make(make_page, folder, name, calls, nodes, how, language="en"):
    page = os.path.join(folder, name + ".html")
    done = subprocess.run([make_page, str(calls), str(nodes), how, page], stdout=subprocess.DEVNULL,
                          env={**os.environ, "MAKE_PAGE_LANG": language})
    if done.returncode == 77:
        sys.exit(77)
    if done.returncode != 0:
        sys.exit("make_page failed")
    return page


def middle(browser, selector):
    return browser.run("const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
                       "return [b.left + b.width / 2, b.top + b.height / 2];", selector)


def span(browser):
    return browser.run("return gph.view.to - gph.view.from")


def is_quiet(browser, name):
    """No message of the console, and nothing asked of a network."""
    said = [x["message"] for x in browser.log("browser") if x["level"] in ("SEVERE", "WARNING")]
    asked = []
    for entry in browser.log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            if not url.startswith(("file://", "data:")) or (url.startswith("file://") and not url.endswith(".html")):
                asked.append(url)
    check(f"{name}: the console is empty {said}", not said)
    check(f"{name}: nothing is asked of a network {asked}", not asked)


def colours_of(browser, canvas):
    return browser.run("const c = document.querySelector(arguments[0]), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, s = new Set();"
                       "for (let i = 0; i < d.length; i += 4) if (d[i + 3]) s.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return s.size", canvas)


def zooms(browser):
    browser.run("gph.view.all()")
    browser.frame()
    x, y = middle(browser, "#timeline")
    before, frames = span(browser), browser.run("return gph.view.frames.length")
    browser.pointer(x, y, ("wheel", -300), ("wheel", -300))
    browser.frame()
    check("the wheel zooms in", span(browser) < before * 0.7)
    check("it draws frames", browser.run("return gph.view.frames.length") > frames)
    at = browser.run("return gph.view.from")
    browser.pointer(x, y, ("drag", -120))
    browser.frame()
    check("a drag pans", browser.run("return gph.view.from") > at)
    browser.run("document.getElementById('timeline').focus()")
    before = span(browser)
    browser.keys("+")
    browser.frame()
    check("+ zooms in", span(browser) < before)
    browser.keys("\ue012")  # left
    browser.frame()
    browser.keys("0")
    browser.frame()
    check("0 shows all", browser.run("return gph.view.isAll()"))
    before = span(browser)
    browser.run("document.getElementById('zoom-in').click()")
    browser.frame()
    check("the button zooms in", span(browser) < before)
    check("a frame takes less than a second", max(browser.run("return gph.view.frames")) < 1000)
    browser.run("gph.view.all()")


# Zooms in and out again over the whole run, and counts what each frame draws and looks at.
COUNTS = """
const view = gph.view, most = {drawn: 0, points: 0, visits: 0}, saved = [];
let drawn = 0, points = 0;
const wrap = (proto, name, count) => {
  const own = proto[name];
  saved.push(() => { proto[name] = own; });
  proto[name] = function (...args) { count(args); return own.apply(this, args); };
};
for (const name of ['fillRect', 'strokeRect', 'clearRect', 'fill', 'stroke', 'fillText', 'drawImage', 'putImageData', 'roundRect'])
  wrap(CanvasRenderingContext2D.prototype, name, () => { drawn++; });
for (const name of ['lineTo', 'moveTo']) wrap(CanvasRenderingContext2D.prototype, name, () => { points++; });
const step = (turn) => {
  drawn = points = gph.visits = 0;
  turn();
  view.paint();
  most.drawn = Math.max(most.drawn, drawn);
  most.points = Math.max(most.points, points);
  most.visits = Math.max(most.visits, gph.visits);
};
for (const at of [0.02, 0.21, 0.6, 0.97]) {
  view.all();
  for (let i = 0; i < 30; i++) step(() => view.zoom(0.72, gph.data.span * at));
  step(() => view.pan(0.4));
  for (let i = 0; i < 30; i++) step(() => view.zoom(1 / 0.72, gph.data.span * at));
}
view.all();
saved.forEach((back) => back());
const canvas = document.getElementById('timeline');
return {...most, wide: canvas.clientWidth};"""


def is_bounded(browser, name):
    """A frame costs what its pixels do, however many events there are: no times, so no luck."""
    most = browser.run(COUNTS)
    wide = most["wide"]
    check(f"{name}: a frame draws at most {most['drawn']} things in {wide} columns of pixels", 0 < most["drawn"] <= wide)
    check(f"{name}: and {most['points']} points of curves", 0 < most["points"] <= wide * 8)
    check(f"{name}: and looks at {most['visits']} of {browser.run('return gph.data.n')} events", 0 < most["visits"] <= wide * 30)


def finds(browser):
    check("a finding is listed", browser.run("return gph.data.findings[0].id") == "capture.synchronize")
    check("it is open", browser.run("return document.querySelectorAll('.finding .more').length") == 1)
    browser.run("gph.view.all()")
    before = span(browser)
    browser.pointer(*middle(browser, ".finding > button"), "click")
    time.sleep(0.8)  # the flight there
    browser.frame()
    check("it is shown once", browser.run("return document.querySelectorAll('.finding .more').length") == 1)
    check("a click on it selects a call", browser.run("return gph.selected && gph.data.names[gph.data.call[gph.selected.i]]") == "cuStreamSynchronize")
    check("the timeline is there", span(browser) < before / 100)
    check("the call is described below", "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED" in browser.run("return document.getElementById('selection').textContent"))
    check("its stack, too", "model.py:69" in browser.run("return document.getElementById('selection').textContent"))
    x, y = browser.run("const b = document.getElementById('timeline').getBoundingClientRect(); return [b.left, b.top]")
    row = browser.run("return gph.barAt(gph.selected.i)")
    browser.pointer(x + row[0], y + row[1], "click")
    check("a click on its bar selects it again", browser.run("return gph.selected && gph.selected.i") == browser.run("return gph.data.n - 2"))
    browser.keys(",")
    check("a comma steps to the call before", browser.run("return gph.selected.i") == browser.run("return gph.data.n - 3"))


def draws_graphs(browser):
    boxes = "return document.querySelectorAll('#graph .box').length"
    check("the captured graph is drawn whole", browser.run(boxes) == 24)
    check("with regions", set(browser.run("return [...document.querySelectorAll('#graph .region text')].map((t) => t.textContent)")) == {"norm", "attention"})
    browser.run("document.querySelectorAll('#graph-tabs button')[1].click()")
    few = browser.run(boxes)
    check(f"3,000 nodes are {few} boxes", 0 < few <= 400)
    check("each node is in one of them", browser.run("return gph.boxes().reduce((n, b) => n + b.nodes.length, 0)") == 3000)
    browser.run("gph.boxes().filter((b) => b.nodes.length > 1)[0] && document.querySelectorAll('#graph .box')[gph.boxes().findIndex((b) => b.nodes.length > 1)].dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    check("a click opens a box", browser.run(boxes) > few)
    browser.run("document.querySelectorAll('#graph-tabs button')[0].click(); document.querySelector('#graph .box').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    check("a click on a node describes it", "rms_norm" in browser.run("return document.getElementById('node').textContent"))


def shows_the_device(browser):
    """A loop of three rounds, a branch that was not taken, a tail twice, a refused launch; ten loops more as a sum."""
    said = browser.run("return d3.range(gph.data.device.n).map((i) => gph.data.decided(i)).sort()")
    name = browser.run("return gph.data.execs[0].name")
    check(f"branches, rounds and launches by kernels are named {said}", said == sorted(
        ["WHILE · 3 rounds", "round 1", "round 2", "round 3", "IF · not taken", "tail of its own × 2", "a launch of ? was refused"]))
    loop = browser.run("return gph.data.device.what.indexOf(1)")
    browser.run("gph.view.set(gph.data.device.start[arguments[0]] - 2000, gph.data.device.end[arguments[0]] + 6000); gph.select('device', arguments[0])", loop)
    browser.frame()
    check("a loop is selected and described", browser.run("return document.getElementById('selection').textContent").startswith("WHILE · 3 rounds6.00 µs at"))
    x, y = middle(browser, "#timeline")
    browser.frame()
    spot = browser.run("return gph.spanAt(arguments[0])", browser.run("return gph.data.device.rounds.indexOf(2)"))
    browser.pointer(spot[0], spot[1], "click")
    check("a click on its second round selects that", "round 2" in browser.run("return document.getElementById('selection').textContent"))
    browser.run("document.querySelectorAll('#graph-tabs button')[0].click()")
    subs = browser.run("return [...document.querySelectorAll('#graph .box .sub')].map((t) => t.textContent)")
    check(f"a conditional node says what it decided {subs[:3]}", subs[0] == "WHILE · 1,003 rounds" and subs[1] == "IF · none 1")
    check(f"{name}: its note counts launches by kernels", "by kernels 2 times" in browser.run("return document.getElementById('graph-note').textContent"))
    browser.run("gph.select('call', null); gph.view.all()")
    browser.frame()


def shows_collectives(browser):
    """A group of two that launched once, one that never did, one that was refused; made and ended."""
    c = browser.run("return gph.data.collectives")
    names = ["ncclCommInitRank", "ncclAllReduce", "ncclAllGather", "ncclBroadcast", "ncclReduce", "ncclCommDestroy"]
    check(f"collectives are named, in order {c['name']}", c["name"] == names)
    lanes = browser.run("return gph.laneNames()")
    check(f"they have lanes of their own {lanes}", "Collectives · as called" in lanes and "rank 1 of 2" in lanes)
    end = lambda i: c["end"][str(i)] if isinstance(c["end"], dict) else c["end"][i]
    check("a group lasts until its launch", end(1) == end(2) and end(3) < end(4) and c["open"] == [0, 0, 0, 1, 0, 0])
    browser.run("gph.select('collective', 1)")
    said = browser.run("return document.getElementById('selection').textContent")
    check(f"one is described {said}", said.startswith("ncclAllReduce4,096 elements, f32"))
    browser.run("gph.select('collective', 3)")
    check("so is one that never launched", "no launch of it was seen" in browser.run("return document.getElementById('selection').textContent"))
    browser.run("gph.select('collective', 4)")
    check("and one that was refused", "failed: 5" in browser.run("return document.getElementById('selection').textContent"))
    spot = browser.run("gph.view.set(gph.data.collectives.start[1] - 500, gph.data.collectives.end[1] + 500); return new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(gph.spanAt(1, 'collective')))))")
    browser.pointer(spot[0], spot[1], "click")
    check("a click selects it", browser.run("return document.getElementById('selection').textContent").startswith("ncclAllReduce"))
    browser.run("gph.select('call', null); gph.view.all()")
    browser.frame()


# Graphs of shapes that are hard to draw: [what, boxes, nodes in them, overlapping boxes, width, height, ms].
SHAPES = """
const shapes = { chain: [2000, (e, n) => { for (let i = 1; i < n; i++) e(i - 1, i); }],
  fan: [200, (e, n) => { for (let i = 1; i < n - 1; i++) { e(0, i); e(i, n - 1); } }],
  'small fan': [42, (e, n) => { for (let i = 1; i < n - 1; i++) { e(0, i); e(i, n - 1); } }],
  diamonds: [1992, (e, n) => { for (let at = 0; at < n; at += 12) { for (let i = 1; i < 11; i++) { e(at, at + i); e(at + i, at + 11); } if (at) e(at - 1, at); } }],
  tangle: [2000, (e, n) => { let s = 1; const draw = (m) => { s = (s * 1103515245 + 12345) & 0x7fffffff; return s % m; }; for (let i = 1; i < n; i++) for (let j = draw(3); j >= 0; j--) e(Math.max(0, i - 1 - draw(40)), i); }] };
return Object.entries(shapes).map(([name, [count, make]]) => {
  const edges = [], begin = performance.now();
  make((a, b) => edges.push([a, b]), count);
  const { boxes, WIDE, HIGH } = gph.layout({ count, edges, region: d3.range(count).map((i) => (i / 30 | 0) % 2), open: new Set() }, 1000, 64);
  let over = 0;
  for (const a of boxes) for (const b of boxes) over += a !== b && Math.abs(a.x - b.x) < WIDE && Math.abs(a.y - b.y) < HIGH;
  return [name, boxes.length, d3.sum(boxes, (b) => b.nodes.length) === count, over, d3.max(boxes, (b) => b.x + WIDE), d3.max(boxes, (b) => b.y + HIGH), performance.now() - begin];
});"""


def has_labels(browser):
    names = {"_ZN2at6native4fillILi4EEEvPf": "fill", "_Z3addPfS_": "add", "at::native::fill<4>(float*)": "fill", "step.constprop.0": "step", "_Zx": "_Zx"}
    check("labels are the last word of a name", browser.run("return arguments[0].map(gph.brief)", list(names)) == list(names.values()))


def lays_out(browser):
    for name, boxes, is_whole, over, wide, high, ms in browser.run(SHAPES):
        check(f"{name}: {boxes} boxes of {wide:.0f} x {high:.0f}, laid out in {ms:.0f} ms", is_whole and over == 0 and 3 <= boxes <= 240 and ms < 5000)
        if name == "small fan":
            check("40 nodes beside each other are in columns", high < 1000)
        if name == "diamonds":
            check("a row of diamonds stays a row", boxes >= 20)


def large(browser, folder, make_page):
    browser.open(make(make_page, folder, "large", 100000, 3000, "plain"))
    check("100,000 calls are there", browser.run("return gph.data.n") > 99000)
    browser.run("gph.view.all()")
    browser.frame()
    first = browser.run("return gph.firstPaint")
    check(f"first paint after {first:.0f} ms", first < 20000)
    check("the timeline has colors", colours_of(browser, "#timeline") > 10)
    check("the memory map has colors", colours_of(browser, "#memory") > 5)
    measured = browser.run("const e = gph.data.elapsed; return [e.list.length, e.list[0].ns, e.end[0] - e.start[0]]")
    check(f"what events measured is there {measured}", measured[0] > 500 and measured[1] == 30000 and measured[2] > 30000)
    bands = browser.run("return [gph.data.pending[0].length, gph.data.streams[0][2], gph.data.pending[0].every(([a, b]) => b > a)]")
    waits = browser.run("return d3.range(gph.data.n).filter((i) => /Synchronize/.test(gph.data.names[gph.data.call[i]]) && !gph.data.bad[i]).length")
    check(f"each wait ends a band, those for events too {bands} {waits}", bands == [waits, 0, True])
    check("it says that GPU times were not measured", browser.run("return gph.unmeasured").startswith("shaded"))
    check("eager is beside graph", browser.run("return gph.pairs.length") == 1 and browser.run("return gph.pairs[0].found.length") > 1000)
    check("both are drawn at one scale", colours_of(browser, "#pairs canvas") > 3 and browser.run("return document.querySelectorAll('#pairs .figures tbody tr').length") == 2)
    x, y = middle(browser, "#pairs canvas")
    before = browser.run("return document.querySelector('#pairs canvas').toDataURL()")
    browser.pointer(x, y, ("wheel", -300))
    browser.frame()
    check("and zoomed by themselves", browser.run("return document.querySelector('#pairs canvas').toDataURL()") != before and browser.run("return gph.view.isAll()"))
    check("buckets, tree and ledger are shown", browser.run("return ['buckets-card', 'tree-card', 'ledger-card'].every((id) => !document.getElementById(id).hidden)"))
    rows = browser.run("return [...document.querySelectorAll('#ledger table')].find((t) => t.caption.textContent === 'Kernels').querySelector('tbody').innerText")
    check("kernels are listed, as text that can be searched", "rms_norm" in rows and "gemv<float, 128>(float const*)" in rows)
    check("padding is shown", "33 %" in browser.run("return document.getElementById('buckets').textContent"))
    zooms(browser)
    is_bounded(browser, "large")
    finds(browser)
    draws_graphs(browser)
    shows_the_device(browser)
    shows_collectives(browser)
    has_labels(browser)
    lays_out(browser)
    check("nothing is wider than the window", browser.run("return document.documentElement.scrollWidth <= innerWidth"))
    is_quiet(browser, "large")


def crowded(browser, folder, make_page):
    """150 threads, 152 streams, 14,000 allocations, 998 captures."""
    browser.open(make(make_page, folder, "crowd", 100000, 0, "crowd"))
    check("the crowd is there", browser.run("return [gph.data.threads.length, gph.data.memory.a.length > 10000, gph.data.captures.length > 900]") == [150, True, True])
    check("lanes scroll", browser.run("const b = document.getElementById('lanes'); return b.scrollHeight > 10 * b.clientHeight && document.getElementById('timeline').clientHeight <= b.clientHeight"))
    is_bounded(browser, "crowd")
    last = browser.run("const d = gph.data, t = d.threads.findIndex(([id]) => id === 4243), i = d.thread.indexOf(t); gph.jump(i); return i")
    time.sleep(0.8)
    browser.frame()
    x, y = browser.run("const b = document.getElementById('timeline').getBoundingClientRect(); return [b.left, b.top]")
    row = browser.run("return gph.barAt(arguments[0])", last)
    check("a call of a thread far below is brought into sight", 34 < row[1] < browser.run("return document.getElementById('timeline').clientHeight"))
    last_of_all = browser.run("const i = gph.data.n - 1; gph.select('call', i); return document.getElementById('selection').textContent")
    check("a call that the process ended in is shown as that", "never returned" in last_of_all and "failed" not in last_of_all)
    browser.run("gph.select('call', null)")
    browser.pointer(x + row[0], y + row[1], "click")
    check("and is there", browser.run("return gph.selected && gph.selected.i") == last)
    is_quiet(browser, "crowd")


def small(browser, folder, make_page):
    browser.open(make(make_page, folder, "hostile", 2000, 0, "hostile"))
    check("hostile names stay names", browser.run("return window.broken === undefined && !document.querySelector('img, b b')"))
    check("and are shown", "</script><script>window.broken=1</script>" in browser.run("return gph.data.functions"))
    check("hostile pages are drawn", colours_of(browser, "#timeline") > 5)
    is_quiet(browser, "hostile")
    browser.open(make(make_page, folder, "empty", 0, 0, "plain"))
    check("an empty log says so", "No driver call was seen" in browser.run("return document.body.textContent"))
    check("and draws no axis of nothing", browser.run("return ['overview', 'lanes', 'zoom-in'].every((id) => document.getElementById(id).hidden)"))
    check("nor does it call that good", browser.run("return !document.querySelector('.good')"))
    is_quiet(browser, "empty")
    browser.open(make(make_page, folder, "gpu", 2000, 0, "gpu"))
    check("measured times are drawn", browser.run("return gph.data.gpu.n") > 50 and "measured" in browser.run("return gph.data.gpu.name[0]"))
    is_quiet(browser, "gpu")


def without_scripts(folder, make_page):
    """The findings and the tables as text, and nothing that scripts would have filled."""
    pages = {name: make(make_page, folder, "off-" + name, calls, 0, how, language) for name, calls, how, language in (
        ("plain", 2000, "plain", "en"), ("hostile", 2000, "hostile", "en"), ("zh", 2000, "plain", "zh"), ("empty", 0, "plain", "en"))}
    for width in (1400, 390):
        browser = Browser(width, 900, scripts=False)
        try:
            for name, page in pages.items():
                browser.open(page)
                said = browser.run("return document.body.innerText")
                where = f"without scripts, {name}, {width} px"
                check(f"{where}: it says why", ("JavaScript 绘制" if name == "zh" else "draws itself with JavaScript") in said)
                if name == "empty":
                    check(f"{where}: it says that there is nothing", "There are no findings." in said and "没有发现" not in said)
                else:
                    finding = "错误 capture.synchronize" if name == "zh" else "error capture.synchronize: the host waited"
                    parts = ["model.py:69", "docs/doctor-rules.md#capture.synchronize", "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"]
                    check(f"{where}: the finding is shown", finding in said and all(part in said for part in parts))
                    check(f"{where}: the tables are", re.search(r"(kernel launches|内核启动) +\d+ ", said))
                check(f"{where}: nothing empty is shown", "Timeline" not in said and "时间线" not in said)
                check(f"{where}: names stay names", browser.run("return !document.querySelector('img, pre *, noscript h1 *')"))
                check(f"{where}: it fits", browser.run("return document.documentElement.scrollWidth <= window.innerWidth"))
                check(f"{where}: contrast", not browser.run(CONTRAST))
                is_quiet(browser, where)
        finally:
            browser.close()


# What the page shows: its text, labels and tooltips, and what it draws into canvases. Names of the program, of
# CUDA and of PyTorch have no Chinese; they are in the page's data, or are one of NAMES.
SHOWN = """
const said = new Set(), own = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...at) { said.add(text); return own.call(this, text, ...at); };
gph.paintAll();
CanvasRenderingContext2D.prototype.fillText = own;
for (const e of document.querySelectorAll('[title],[aria-label]')) for (const name of ['title', 'aria-label']) if (e.hasAttribute(name)) said.add(e.getAttribute(name));
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT, (node) => node.parentNode.closest('script, noscript, .maker, .mono, .stack, .evidence') ? 2 : 1);
while (walk.nextNode()) said.add(walk.currentNode.data);
return [...said];"""
NAMES = re.compile(r"\w+…|0x[0-9a-f]+|\bcu[A-Z]\w*|CUDA_\w+|[\w./<>:*()-]*[_./:<>(][\w./<>:*()-]*|--?[a-z]+|\b[A-Z]\w*")
WORDS = {"ns", "s", "ms", "softcuda", "gph", "doctor", "main", "python", "norm", "attention", "tree", "watchdog", "decode", "n", "p", "x", "gemv", "step", "model", "layers",
         "swiglu", "rotary", "made", "worker", "capture", "setup", "libgph", "measured", "rank"}


def english_in(browser, name):
    """English words among what is shown, but names."""
    left = {}
    for text in browser.run(SHOWN):
        words = [word for word in re.findall(r"[a-zA-Z]+", NAMES.sub(" ", text)) if word not in WORDS]
        if words:
            left[text] = words
    check(f"{name}: no English is left in what is shown {left}", not left)
    unsaid = browser.run("return [...gph.unsaid]")
    check(f"{name}: each sentence has its Chinese {unsaid}", not unsaid)


def chinese(browser, folder, make_page):
    browser.open(make(make_page, folder, "zh", 20000, 300, "plain", "zh"))
    check("the page says that it is Chinese", browser.run("return document.documentElement.lang") == "zh-CN")
    check("headings are Chinese", browser.run("return [...document.querySelectorAll('h2')].map((h) => h.textContent).slice(0, 2)") == ["结果", "时间线"])
    check("buttons, too", browser.run("return document.getElementById('zoom-in').title") == "放大（+）")
    check("the verdict is", "1 个错误" in browser.run("return document.getElementById('verdict').textContent"))
    finds(browser)
    english_in(browser, "zh")
    tips = browser.run("const out = []; for (const e of document.querySelectorAll('#graph .box')) { e.dispatchEvent(new MouseEvent('mousemove', {bubbles: true})); out.push(document.getElementById('tip').innerText); } return out.join('|')")
    check("tooltips are", "创建者" in tips)
    check("counts have measure words", "个节点" in browser.run("return document.getElementById('graph-note').textContent"))
    check("a short text counts columns", browser.run("return [gph.short('内核启动与等待', 8), gph.short('kernels launched', 8), gph.short('内核启动', 8)]") == ["内核启…", "kernels…", "内核启动"])
    check("nothing is wider than the window", browser.run("return document.documentElement.scrollWidth <= innerWidth"))
    is_quiet(browser, "zh")
    for how, calls in (("gpu", 2000), ("crowd", 3000), ("plain", 0)):
        browser.open(make(make_page, folder, "zh-" + how, calls, 0, how, "zh"))
        english_in(browser, f"zh {how} {calls}")


def test(make_page):
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser()
        try:
            large(browser, folder, make_page)
            crowded(browser, folder, make_page)
            small(browser, folder, make_page)
            chinese(browser, folder, make_page)
        finally:
            browser.close()
        browser = Browser(600, 900, dark=True)
        try:
            browser.open(os.path.join(folder, "large.html"))
            check("in a narrow dark window nothing is wider than it", browser.run("return document.documentElement.scrollWidth <= innerWidth"))
            check("it is dark", browser.run("return getComputedStyle(document.documentElement).backgroundColor") == "rgb(19, 20, 24)")
            is_quiet(browser, "narrow")
        finally:
            browser.close()
        without_scripts(folder, make_page)
    return 1 if failures else 0


# 200 steps of zoom and pan, one a frame: [from frame to frame, in the page's code], in ms.
ZOOM = """
const view = gph.view, frames = [];
let step = 0, before = 0, drawn = 0;
view.all();
const next = (now) => {
  if (step > 1) frames.push([now - before, view.frames.length > drawn ? view.frames[view.frames.length - 1] : 0]);
  before = now;
  drawn = view.frames.length;
  if (step++ === 201) { done(frames); return; }
  const turn = step % 50;
  if (turn < 20) view.zoom(0.72, gph.data.span * 0.21); else if (turn < 30) view.pan(turn < 25 ? 0.2 : -0.2); else view.zoom(1 / 0.72, gph.data.span * 0.21);
  requestAnimationFrame(next);
};
requestAnimationFrame(next);"""


def spread(values):
    inner = sorted(values)
    return f"median {statistics.median(inner):.1f}, 99 % {inner[int(len(inner) * 0.99)]:.1f}, longest {inner[-1]:.1f} ms"


def figures(make_page):
    """Pages in turn, the empty one among them, so that what the machine does is distinguished from what the page does."""
    with tempfile.TemporaryDirectory() as folder:
        pages = {"100,000 calls": make(make_page, folder, "large", 100000, 3000, "plain"),
                 "100,000 calls of 150 threads": make(make_page, folder, "crowd", 100000, 0, "crowd"),
                 "no call": make(make_page, folder, "empty", 0, 0, "plain")}
        paints, frames = {name: [] for name in pages}, {name: [] for name in pages}
        print(f"headless Chromium without a GPU, 1600 x 1000, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        for _ in range(5):
            for name, page in pages.items():
                browser = Browser(1600, 1000)
                try:
                    browser.open(page)
                    paints[name].append(browser.run("return gph.firstPaint"))
                    frames[name] += browser.run_async(ZOOM)
                finally:
                    browser.close()
        for name, page in pages.items():
            print(f"{name}, {os.path.getsize(page) / 1e6:.2f} MB")
            print(f"  first paint: median {statistics.median(paints[name]):.0f} ms of {len(paints[name])} ({min(paints[name]):.0f} to {max(paints[name]):.0f})")
            print(f"  {len(frames[name])} frames of zoom and pan, from frame to frame: {spread(x[0] for x in frames[name])}")
            print(f"  in the page's code: {spread(x[1] for x in frames[name])}")
        print(f"load {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(figures(sys.argv[1]) if "--figures" in sys.argv else test(sys.argv[1]))
    except Missing as why:
        print(f"SKIPPED: {why}")
        sys.exit(77)
