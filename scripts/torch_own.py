#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""For scripts/gpu_torch_own.sh: runs a file of PyTorch's tests, and compares two runs.
usage: torch_own.py run plain|patched FILE RESULT.json [WORD [PART/PARTS]]   tests whose names have WORD; of PARTS the PARTth
       torch_own.py table FOLDER [FILE...]    of the results in it; exit status 1 where something differs
       torch_own.py internals FILE...         the tests that read what is inside the manager of torch.compile's graphs

Results are written after each test, so that a run which ends in the middle is known up to there; what a result file has is
not run again. Exit status 3: the GPU's context is lost, and another run is to go on from there."""
import ast
import glob
import importlib.util
import json
import os
import re
import signal
import sys
import unittest
import zlib

# names by which a test reads the tree, its nodes and their counters, instead of what a program can see
INTERNALS = {"get_manager", "get_container", "tree_manager", "current_node", "current_gen", "get_roots", "roots", "num_descendants",
             "debug_checkpointing_counter", "path_live_weakrefs", "cached_tensor_outputs", "unaliased_in_all_paths",
             "static_input_data_ptrs", "expected_dead_indices_after_graph", "new_graph_id",
             "running_forwards_with_pending_backwards"}
FIXTURES = {"setUp", "tearDown", "setUpClass", "tearDownClass"}


class Result(unittest.TextTestResult):
    path, found = None, {}
    running = None  # the name of a test

    @classmethod
    def save(cls):
        with open(cls.path + ".new", "w") as file:
            json.dump(cls.found, file)
        os.replace(cls.path + ".new", cls.path)

    def note(self, test, what, error=None):
        self.found[name_of(test)] = [what, str(error[1]).strip().splitlines()[:3] if error else []]
        self.save()

    def startTest(self, test):
        super().startTest(test)
        Result.running = name_of(test)
        self.note(test, "ended the process")  # until it has ended

    def stopTest(self, test):
        super().stopTest(test)
        Result.running = None
        try:
            sys.modules["torch"].cuda.synchronize()
        except RuntimeError:  # nothing after it could pass
            end(3)

    def addSuccess(self, test):
        super().addSuccess(test)
        if self.found[name_of(test)][0] == "ended the process":  # not the failure of a subtest
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


def name_of(test):
    return test.id().split(".", 1)[-1]


def stop(*unused):
    """The time is over: what runs has no result."""
    Result.found.pop(Result.running, None)
    Result.save()
    end(143)


def end(status):
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # a context that is lost does not end


def tests_of(suite):
    for one in suite:
        yield from tests_of(one) if isinstance(one, unittest.TestSuite) else [one]


def run(way, path, result, word="", part="0/1"):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    if way == "patched":  # before the file imports names of torch.cuda
        import graphophone.torch
        graphophone.torch.patch()
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    Result.path = result
    if os.path.exists(result):
        with open(result) as file:
            Result.found = json.load(file)
    number, count = map(int, part.split("/"))
    chosen = unittest.TestSuite(
        test for test in tests_of(unittest.defaultTestLoader.loadTestsFromModule(module))
        if word.lower() in test.id().rsplit(".", 1)[-1].lower() and name_of(test) not in Result.found and
        zlib.crc32(name_of(test).encode()) % count == number)
    Result.save()
    signal.signal(signal.SIGTERM, stop)
    unittest.TextTestRunner(verbosity=2, resultclass=Result).run(chosen)
    end(0)


def internals_of(path):
    """{test: whether it reads INTERNALS, itself or by methods of its class} of a file."""
    with open(path) as file:
        tree = ast.parse(file.read())
    found = {}
    for one in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        used = {method.name: {node.attr for node in ast.walk(method) if isinstance(node, ast.Attribute)}
                for method in one.body if isinstance(method, ast.FunctionDef) and method.name not in FIXTURES}
        inside, more = set(), True
        while more:
            more = {name for name, names in used.items() if names & (INTERNALS | inside)} - inside
            inside |= more
        found.update((name, name in inside) for name in used if name.startswith("test"))
    return found


def reads_internals(function, known):
    """Of a test by the name that it has when it runs, which may have parameters at its end."""
    while function and function not in known:
        function = function.rpartition("_")[0]
    return known.get(function, False)


def results(folder):
    """{(file, test): {"plain": [what, lines], "patched": ...}}"""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        name, way = re.fullmatch(r"(\w+)(?:\.\d+)?\.(plain|patched)\.json", os.path.basename(path)).groups()
        with open(path) as file:
            for test, result in json.load(file).items():
                found.setdefault((name, test), {})[way] = result
    return found


def table(folder, *paths):
    inside = {os.path.splitext(os.path.basename(path))[0]: internals_of(path) for path in paths}
    counts, neither, is_same = {}, [], True
    print("| test | PyTorch | under patch() | first lines |\n|---|---|---|---|")
    for (name, test), ways in sorted(results(folder).items()):
        reads = reads_internals(test.rsplit(".", 1)[-1], inside.get(name, {}))
        count = counts.setdefault((name, reads), [0, 0, 0, 0])
        if len(ways) < 2:  # the time was over
            count[0] += 1
            continue
        one, other = ways["plain"], ways["patched"]
        for index, is_so in enumerate((one[0] == "skipped", one[0] == "ok", one[0] == other[0] == "ok"), 1):
            count[index] += is_so
        lines = " / ".join(other[1] or one[1]).replace("|", "\\|")[:300]
        if one[0] != other[0]:
            is_same = False
            print("| %s.%s | %s | %s | %s |" % (name, test, one[0], other[0], lines))
        elif one[0] not in ("ok", "skipped"):
            neither.append("  %s.%s: %s: %s" % (name, test, one[0], lines))
    print("\n| tests | not run | skipped | pass by PyTorch alone | of these under patch() | |\n|---|---|---|---|---|---|")
    for (name, reads), count in sorted(counts.items()):
        share = "%.1f %%" % (100 * count[3] / count[2]) if count[2] else ""
        print("| %s%s | %d | %d | %d | %d | %s |" % (name, ", reading internals" if reads else "", *count, share))
    print("\nneither by PyTorch alone nor under patch():", *neither, sep="\n")
    return 0 if is_same and not any(count[0] for count in counts.values()) else 1


def main():
    command, given = (sys.argv + [""])[1], sys.argv[2:]
    if command == "run" and 3 <= len(given) <= 5 and given[0] in ("plain", "patched"):
        return run(*given)
    if command == "table" and given:
        return table(*given)
    if command == "internals" and given:
        for path in given:
            print(*sorted(name for name, reads in internals_of(path).items() if reads), sep="\n")
        return 0
    print(__doc__.split("\n\n")[0], file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
