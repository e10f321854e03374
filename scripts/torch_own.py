#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""For scripts/gpu_torch_own.sh: runs a file of PyTorch's tests, and compares two runs.
usage: torch_own.py run plain|patched FILE RESULT.json [WORD]     tests whose names have WORD
       torch_own.py table FOLDER                                  of the results in it; exit status 1 where something differs

Results are written after each test, so that a run which ends in the middle is known up to there."""
import glob
import importlib.util
import json
import os
import sys
import unittest


class Result(unittest.TextTestResult):
    path, found = None, {}

    def note(self, test, what, error=None):
        self.found[test.id().split(".", 1)[-1]] = [what, str(error[1]).strip().splitlines()[:3] if error else []]
        with open(self.path + ".new", "w") as file:
            json.dump(self.found, file)
        os.replace(self.path + ".new", self.path)

    def startTest(self, test):
        super().startTest(test)
        self.note(test, "ended the process")  # until it has ended

    def addSuccess(self, test):
        super().addSuccess(test)
        self.note(test, "ok")

    def addError(self, test, error):
        super().addError(test, error)
        self.note(test, "error", error)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.note(test, "failed", error)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skipped")

    def addExpectedFailure(self, test, error):
        super().addExpectedFailure(test, error)
        self.note(test, "ok")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.note(test, "failed")

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error:
            self.note(test, "failed", error)


def tests_of(suite):
    for one in suite:
        yield from tests_of(one) if isinstance(one, unittest.TestSuite) else [one]


def run(way, path, result, word=""):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    if way == "patched":  # before the file imports names of torch.cuda
        import graphophone.torch
        graphophone.torch.patch()
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    loaded = unittest.defaultTestLoader.loadTestsFromModule(module)
    chosen = unittest.TestSuite(test for test in tests_of(loaded) if word.lower() in test.id().rsplit(".", 1)[-1].lower())
    Result.path = result
    with open(result, "w") as file:
        json.dump({}, file)
    unittest.TextTestRunner(verbosity=2, resultclass=Result).run(chosen)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # a context that is lost does not end


def table(folder):
    passed = kept = differ = 0
    print("| test | PyTorch | under patch() | first lines |\n|---|---|---|---|")
    for plain in sorted(glob.glob(os.path.join(folder, "*.plain.json"))):
        with open(plain) as file:
            theirs = json.load(file)
        try:
            with open(plain[:-len("plain.json")] + "patched.json") as file:
                ours = json.load(file)
        except OSError:
            ours = {}
        for test in sorted(set(theirs) | set(ours)):
            one, other = theirs.get(test, ["not run", []]), ours.get(test, ["not run", []])
            passed += one[0] == "ok"
            kept += one[0] == other[0] == "ok"
            if one[0] != other[0]:
                differ += 1
                print("| %s | %s | %s | %s |" % (test, one[0], other[0], " / ".join(other[1] or one[1]).replace("|", "\\|")[:200]))
    share = " (%.1f %%)" % (100 * kept / passed) if passed else ""
    print("\n%d pass by PyTorch alone, %d of them%s under patch(); %d differ" % (passed, kept, share, differ))
    return 1 if differ else 0


def main():
    if sys.argv[1:2] == ["run"] and len(sys.argv) in (5, 6) and sys.argv[2] in ("plain", "patched"):
        return run(*sys.argv[2:])
    if sys.argv[1:2] == ["table"] and len(sys.argv) == 3:
        return table(sys.argv[2])
    print(__doc__.split("\n\n")[0], file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
