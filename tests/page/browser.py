# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium through ChromeDriver: plain HTTP and JSON, nothing but Python's own library."""
import http.client
import json
import shutil
import subprocess
import time


# WCAG: the contrast of what is written with its ground, 4.5 at least.
CONTRAST = """
const light = (text) => {
  const c = text.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
};
const ground = (at) => {
  for (; at; at = at.parentElement) { const c = getComputedStyle(at).backgroundColor; if (!/, 0\\)$|transparent/.test(c)) return c; }
};
const bad = [];
for (const at of document.querySelectorAll("h1, h2, h3, p, a, b, dt, dd, li, th, td, button, span, small, code, svg text")) {
  if (![...at.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || at.disabled || !at.getClientRects().length) continue;
  const style = getComputedStyle(at), front = light(at.namespaceURI.includes("svg") ? style.fill : style.color), back = light(ground(at));
  const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
  if (ratio < 4.5) bad.push(at.tagName + " " + at.textContent.slice(0, 30) + " " + ratio.toFixed(2));
}
return bad;
"""


class Missing(Exception):
    """There is no browser, or no driver of it."""


class Browser:
    def __init__(self, width=1400, height=1000, dark=False, scripts=True):
        chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
        if not chromium or not driver:
            raise Missing("chromium and chromium-driver are not installed")
        self.process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = None
        for line in self.process.stdout:  # "ChromeDriver was started successfully on port 40213."
            if "on port" in line and "started" in line and "success" in line:
                self.port = int(line.rstrip(".\n").split()[-1])
                break
        if self.port is None:
            raise Missing("chromedriver does not start")
        args = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                "--force-device-scale-factor=1", f"--window-size={width},{height}"]
        if dark:
            args.append("--blink-settings=preferredColorScheme=0")
        wanted = {"browserName": "chrome", "goog:chromeOptions": {"binary": chromium, "args": args},
                  "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        self.session = ""
        try:
            answer = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        except Exception as why:
            self.process.kill()
            raise Missing(f"chromium does not start: {why}") from why
        self.session = "/session/" + answer["sessionId"]
        self.ask("POST", "/timeouts", {"script": 120000, "pageLoad": 120000})
        # A window is 500 pixels wide at least, and what it shows is lower than it: the page gets the size that was asked for.
        self.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride",
                                               "params": {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}})
        self.scripts = scripts
        if not scripts:  # the page's own; run() is the test's, and works
            self.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.setScriptExecutionDisabled", "params": {"value": True}})

    def ask(self, method, path, body=None):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=150)
        link.request(method, self.session + path, json.dumps(body) if body is not None else None,
                     {"Content-Type": "application/json"})
        answer = json.loads(link.getresponse().read())["value"]
        link.close()
        if isinstance(answer, dict) and "error" in answer:
            raise RuntimeError(answer["error"] + ": " + answer["message"].split("\n")[0])
        return answer

    def open(self, path):
        self.ask("POST", "/url", {"url": "file://" + path})
        until = time.monotonic() + 60
        while self.scripts and not self.run("return document.documentElement.dataset.ready === '1'"):
            if time.monotonic() > until:
                raise RuntimeError("the page did not draw itself in 60 s: " + str(self.log("browser")))
            time.sleep(0.02)

    def run(self, script, *args):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(args)})

    def run_async(self, script, *args):
        """`script` calls done(value)."""
        return self.ask("POST", "/execute/async", {"script": "const done = arguments[arguments.length - 1];" + script, "args": list(args)})

    def log(self, kind):
        return self.ask("POST", "/se/log", {"type": kind})

    def pointer(self, x, y, *steps):
        """A mouse at (x, y) of the window, then steps: "click", ("wheel", dy), ("drag", dx)."""
        move = {"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)}
        down, up = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}
        for step in steps:
            if step == "click":
                acts = [move, down, up]
            elif step[0] == "drag":
                acts = [move, down, {**move, "x": int(x + step[1] / 2)}, {**move, "x": int(x + step[1])}, up]
            else:
                scroll = {"type": "scroll", "x": int(x), "y": int(y), "deltaX": 0, "deltaY": step[1], "duration": 0}
                self.ask("POST", "/actions", {"actions": [{"type": "wheel", "id": "w", "actions": [scroll]}]})
                continue
            mouse = {"type": "pointer", "id": "m", "parameters": {"pointerType": "mouse"}, "actions": acts}
            self.ask("POST", "/actions", {"actions": [mouse]})

    def keys(self, text):
        acts = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "k", "actions": acts}]})

    def frame(self):
        """Waits until what was asked for is drawn."""
        self.run_async("requestAnimationFrame(() => requestAnimationFrame(() => done(1)))")

    def close(self):
        try:
            self.ask("DELETE", "")
        finally:
            self.process.terminate()
            self.process.wait(10)
            self.process.stdout.close()
