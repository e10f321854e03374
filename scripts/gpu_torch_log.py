#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a file of tests, and adds a line for each test to a log that is small enough to be kept.

usage: gpu_torch_log.py run LOG FILE [NAMES...]      as FILE itself would run
       gpu_torch_log.py head LOG                     begins a log: device, driver, versions, date, commit ($COMMIT where git has none)"""
import os
import platform
import runpy
import subprocess
import sys
import time
import unittest


def add(path, line):
    with open(path, "a") as log:  # one write: several processes have the log
        log.write(line + "\n")


class Logged(unittest.TextTestResult):
    """Results as ever, and a line each."""
    log = name = ""

    def startTest(self, test):
        self.begin, self.is_bad = time.perf_counter(), False
        super().startTest(test)

    def line(self, test, what):
        add(self.log, "%-16s %-80s %s" % (self.name, test.id().removeprefix("__main__."), what))

    def addSuccess(self, test):
        super().addSuccess(test)
        self.line(test, "ok, %.1f s" % (time.perf_counter() - self.begin))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line(test, "skipped: " + reason)

    def bad(self, test, error):
        self.line(test, "FAILED: %s" % (str(error[1]).strip().splitlines() or [error[0].__name__])[0][:200])

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.bad(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self.bad(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error:
            self.bad(subtest, error)

    def addExpectedFailure(self, test, error):
        super().addExpectedFailure(test, error)
        self.line(test, "fails, as expected")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.line(test, "FAILED: it was expected to fail")


def run(log, path, *names):
    Logged.log, Logged.name = log, os.path.splitext(os.path.basename(path))[0]
    unittest.TextTestRunner.resultclass = Logged
    sys.argv = [path, *names]
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    runpy.run_path(path, run_name="__main__")


def asked(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.strip()
    except OSError:
        return ""


def head(log):
    import torch
    driver = asked("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").splitlines()
    with open(log, "w") as file:
        file.write("%s, driver %s, PyTorch %s, Python %s, %s, commit %s\n" % (
            torch.cuda.get_device_name(), driver[0] if driver else "unknown", torch.__version__, platform.python_version(),
            time.strftime("%Y-%m-%d", time.gmtime()), os.environ.get("COMMIT") or asked("git", "log", "-1", "--format=%h %s")))


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"] and len(sys.argv) > 3:
        run(*sys.argv[2:])
    elif sys.argv[1:2] == ["head"] and len(sys.argv) == 3:
        head(sys.argv[2])
    else:
        sys.exit(__doc__.partition("usage: ")[2])
