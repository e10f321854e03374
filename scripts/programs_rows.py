# SPDX-License-Identifier: Apache-2.0
"""One line a test into the file $ROWS as soon as it is known, so that a crash costs one test:
suite ($SUITE), id, outcome, the reason's first line. As a pytest plugin (-p programs_rows), or
`programs_rows.py MODULE` for what unittest alone collects (numba-cuda). `start` without an
outcome: the process ended in it."""
import os
import re
import signal
import sys
import unittest

suite = os.environ.get("SUITE", "")
out = open(os.environ.get("ROWS", os.devnull), "a", buffering=1)


def row(name, outcome, why=""):
    # Where a suite lies differs by machine, from its own folder on it does not.
    name = re.sub(r"^.*?(?=cuda_core/tests/|cuda_bindings/tests/|cupy_tests/)", "", name.replace("\\", "/"))
    out.write("\t".join([suite, re.sub(r"\s", " ", name), outcome, re.sub(r"\s+", " ", str(why))[:300]]) + "\n")


def pytest_runtest_logstart(nodeid, location):
    row(nodeid, "start")


def pytest_runtest_logreport(report):
    if report.when != "call" and report.outcome == "passed":
        return
    outcome = report.outcome
    if hasattr(report, "wasxfail"):
        outcome = "xfailed" if outcome == "skipped" else "xpassed"
    why = report.longrepr
    if isinstance(why, tuple):
        why = why[2]
    elif getattr(why, "reprcrash", None):
        why = f"{os.path.basename(why.reprcrash.path)}:{why.reprcrash.lineno}: {why.reprcrash.message}"
    row(report.nodeid, outcome, "" if outcome == "passed" else why)


def late(*_):
    raise TimeoutError("more than $SECONDS_A_TEST seconds")


class Result(unittest.TextTestResult):
    def startTest(self, test):
        super().startTest(test)
        row(test.id(), "start")
        signal.signal(signal.SIGALRM, late)
        signal.alarm(int(os.environ.get("SECONDS_A_TEST", "60")))

    def stopTest(self, test):
        signal.alarm(0)
        super().stopTest(test)

    def addSuccess(self, test):
        super().addSuccess(test)
        row(test.id(), "passed")

    def addError(self, test, err):
        super().addError(test, err)
        row(test.id(), "failed", f"{err[0].__name__}: {err[1]}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        row(test.id(), "failed", f"{err[0].__name__}: {err[1]}")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        row(test.id(), "skipped", reason)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        row(test.id(), "xfailed")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            row(test.id(), "failed", f"{err[0].__name__}: {err[1]}")


def wanted(tests):
    """Without what asks for more managed memory than there is: that hangs a GPU that others share."""
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            yield from wanted(test)
        elif "oversubscribe" not in test.id():
            yield test


if __name__ == "__main__":
    found = unittest.defaultTestLoader.loadTestsFromName(sys.argv[1])
    unittest.TextTestRunner(resultclass=Result).run(unittest.TestSuite(wanted(found)))
