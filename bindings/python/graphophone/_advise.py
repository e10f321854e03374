# SPDX-License-Identifier: Apache-2.0
"""advise(): what graphs would gain in a block, by `gph doctor --advise`. The doctor looks at a program from its first call of
the driver on, so the program is started once more, below the doctor:

    the program   ... advise() enters: it waits        | gets the answer | the block, as always ...
    once more         from its beginning, without output, to the end of the block: there it ends"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import graphophone

_BLOCK = "GRAPHOPHONE_ADVISE_BLOCK"  # in the second process: the number of the block that it is for, and a file: it has ended
_entered = 0


class Advice:
    """The answer for a block; filled when it is entered.

    sequences  what the program repeats, the most expensive first: dicts, as docs/advice.md has them (verdict, why, eager_us, graph_us,
               saves_low, saves_high, ...)
    text       the whole answer, as gph doctor prints it; str() is that, too
    is_outside True where the program already runs below a doctor, which says it at its end: nothing was asked here"""

    def __init__(self):
        self.sequences, self.text, self.is_outside = [], "", False

    def __str__(self):
        return self.text


def _find(command):
    for path in (command, graphophone.command, shutil.which("gph")):
        if path and os.access(path, os.X_OK):
            return path
    raise FileNotFoundError("advise() needs the command gph, which is not at %s and not in PATH" % (command or graphophone.command))


def _arguments():
    """How this program was started."""
    if len(sys.orig_argv) < 2 or sys.flags.interactive or hasattr(sys, "ps1"):
        raise RuntimeError("advise() starts the program once more, and an interactive session cannot be: write it into a file, or "
                           "run gph doctor --advise -- python FILE")
    return [sys.executable, *sys.orig_argv[1:]]


def _ask(command, number, timeout):
    with tempfile.TemporaryDirectory(prefix="gph-advise-") as folder:
        found, ended = os.path.join(folder, "advice.json"), os.path.join(folder, "ended")
        asked = [command, "doctor", "--advise", "--json", found, "--", *_arguments()]
        done = subprocess.run(asked, env={**os.environ, _BLOCK: "%d:%s" % (number, ended)}, stdin=subprocess.DEVNULL, timeout=timeout,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
        if not os.path.exists(ended) or not os.path.exists(found):
            raise RuntimeError("this program, started once more for advise(), ended with exit status %d before the end of the block: %s" %
                               (done.returncode, done.stderr.strip()[-1000:]))
        with open(found) as file:
            advice = json.load(file)["advice"]
    lines = done.stderr.splitlines()
    begin = len(lines) - lines[::-1].index("advice") if "advice" in lines else 0
    return advice, "\n".join(lines[begin:])


class advise:
    """Says whether graphs would pay in a block, and how much, before the block runs:

        with graphophone.advise() as advice:
            for batch in batches:
                step(batch)
        print(advice)

    The program is started once more below `gph doctor --advise`, from its beginning to the end of the block, without its output;
    this process waits for it. What it does up to there (files that it writes) is done twice, and its memory on the GPU is
    taken twice for that time. Below a doctor, or inside that second process, the block just runs.

    command  the path of gph; None: the package's, else that in PATH
    timeout  seconds that the second process may take; None: any

    Raises FileNotFoundError without the command, RuntimeError in an interactive session and where the second process ends
    before the block does, subprocess.TimeoutExpired. As an object it may be used once. Thread: the main one."""

    def __init__(self, command=None, timeout=None):
        self._command, self._timeout, self._is_last = command, timeout, False

    def __enter__(self):
        global _entered
        _entered += 1
        advice, wanted = Advice(), os.environ.get(_BLOCK)
        if wanted is not None:
            number, _, self._ended = wanted.partition(":")
            self._is_last = _entered == int(number)
        elif os.environ.get("GPH_DOCTOR_DIR"):
            advice.is_outside, advice.text = True, "this program runs below gph doctor, which says it at the end"
        else:
            found, advice.text = _ask(_find(self._command), _entered, self._timeout)
            advice.sequences = found.get("sequences", [])
        return advice

    def __exit__(self, kind, error, trace):
        if self._is_last and error is None:
            with open(self._ended, "w"):
                sys.exit(0)
        return False
