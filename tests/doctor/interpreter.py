#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What gph doctor runs in the interpreter (attach/interpreter) changes nothing for the program: each mode is a
program that asserts so of itself, run under the doctor; none may be reported anything.

usage: interpreter.py GPH [PROGRAM ARGUMENTS...]     (interpreter.py MODE is one of the programs)

The program, which has nothing of Python's, is run with Python's library loaded, and no interpreter begun.
"""
import cProfile
import gc
import json
import os
import pstats
import signal
import subprocess
import sys
import sysconfig
import tempfile

from captures import Cuda

OURS = "<string>"  # the file of what the doctor runs
SCALE = 1.7


class Key(str):
    """A key of a dictionary that is compared with the name `scale`, or SCALE, while the doctor looks it up."""

    def __hash__(self):
        return hash(str(self))

    def __eq__(self, other):
        if sys._getframe(1).f_code.co_filename == OURS and Key.when_looked_up:
            Key.when_looked_up.pop()()
        return False


Key.when_looked_up = []


class Net:
    def __init__(self, cuda):
        self.cuda = cuda
        self.__dict__[Key("scale")] = None
        self.scale = 0.37

    def forward(self):
        self.cuda.multiply(self.scale)


def captured(cuda, work):
    cuda.begin()
    work()
    return cuda.end()


def launches(cuda, net, run, count=6):
    for _ in range(count):
        net.scale = 0.37
        cuda.replay(run)


def is_raised(kind, work):
    try:
        work()
        for _ in range(100):
            pass
    except kind as error:
        where = []
        trace = error.__traceback__
        while trace:
            where.append(trace.tb_frame.f_code.co_filename)
            trace = trace.tb_next
        assert OURS not in where, where
        return True
    return False


class Timeout(Exception):
    pass


def interrupt(cuda):
    """A signal's handler runs while the doctor looks: what it raises is the program's."""
    net = Net(cuda)
    run = captured(cuda, net.forward)
    for number in (signal.SIGINT, signal.SIGALRM):
        Key.when_looked_up.append(lambda number=number: os.kill(os.getpid(), number))
        assert is_raised((KeyboardInterrupt, Timeout), lambda: launches(cuda, net, run)), number
        assert not Key.when_looked_up
    Key.when_looked_up.append(lambda: os.kill(os.getpid(), signal.SIGINT))
    assert is_raised(KeyboardInterrupt, lambda: captured(cuda, net.forward)), "in a capture"
    if sys.getprofile() or Key.when_looked_up:
        cuda.end()
    seen = []
    Key.when_looked_up.append(lambda: seen.append(1))
    launches(cuda, net, run)
    assert seen, "the doctor looks no more"


def on_alarm(*_):
    raise Timeout


def profiler(cuda):
    """The program's own profile function, before, begun within, and set aside within a capture."""
    net, names = Net(cuda), []

    def own(frame, what, _):
        names.append(frame.f_code.co_filename)

    sys.setprofile(own)
    run = captured(cuda, net.forward)
    launches(cuda, net, run)
    assert sys.getprofile() is own
    sys.setprofile(None)
    assert OURS not in names, "the doctor is profiled"
    captured(cuda, lambda: sys.setprofile(own))
    launches(cuda, net, run)
    assert sys.getprofile() is own
    sys.setprofile(None)

    def set_aside():
        net.forward()
        before = sys.getprofile()
        sys.setprofile(None)
        sys.setprofile(before)
        net.forward()

    captured(cuda, set_aside)
    launches(cuda, net, run)
    assert sys.getprofile() is None


def cprofile(cuda):
    net = Net(cuda)
    stats = cProfile.Profile()
    stats.enable()
    run = captured(cuda, net.forward)
    launches(cuda, net, run)
    stats.disable()
    files = {file for file, _, _ in pstats.Stats(stats).stats}
    assert __file__ in files and OURS not in files, files


def tracer(cuda):
    files = set()

    def trace(frame, what, _):
        files.add(frame.f_code.co_filename)
        return trace

    net = Net(cuda)
    sys.settrace(trace)
    run = captured(cuda, net.forward)
    launches(cuda, net, run)
    sys.settrace(None)
    assert __file__ in files and OURS not in files, files


def functions(count):
    names = {}
    for i in range(count):
        exec("def f(net):\n    x = net.scale\n    y = net.a.b.c if x is None else net.scale\n    return x * %d + y" % i, names)
        yield names["f"]


def collector(cuda):
    """Looking does not make the garbage collector run in a capture."""
    net, phases = Net(cuda), []
    many = list(functions(100))
    work = lambda: [f(net) for f in many]
    gc.callbacks.append(lambda phase, _: phases.append(phase))
    gc.collect()
    phases.clear()
    run = captured(cuda, work)
    in_capture = len(phases)
    assert in_capture == 0, in_capture
    assert gc.isenabled()
    launches(cuda, net, run)


def forked(cuda):
    """A child that is made within a capture is not looked at."""
    net = Net(cuda)

    def fork():
        net.forward()
        assert sys.getprofile(), "nothing is looked at"
        child = os.fork()
        if child == 0:
            list(functions(3))
            os._exit(3 if sys.getprofile() else 0)
        _, status = os.waitpid(child, 0)
        assert status == 0, status

    run = captured(cuda, fork)
    launches(cuda, net, run)


class Proxy:
    """What stands for another object, and counts who looks."""
    looked = 0

    @property
    def __dict__(self):
        Proxy.looked += 1
        return {"scale": 0.37}

    @property
    def __class__(self):
        Proxy.looked += 1
        return dict

    def __getitem__(self, name):
        return 0.37

    scale = 0.37


def proxy(cuda):
    other = Proxy()

    def forward(one):
        cuda.multiply(one.scale * one["scale"])

    run = captured(cuda, lambda: forward(other))
    launches(cuda, Net(cuda), run)
    assert Proxy.looked == 0, Proxy.looked


MODES = {one.__name__: one for one in (interrupt, profiler, cprofile, tracer, collector, forked, proxy)}
NEEDS = {"profiler": (3, 11), "collector": (3, 11), "cprofile": (3, 11), "tracer": (3, 11)}  # where an interpreter can leave code untraced


def examine(gph, command, folder, **environment):
    out = os.path.join(folder, "found.json")
    done = subprocess.run([gph, "doctor", "--driver", "soft", "--json", out, "--", *command], capture_output=True, timeout=100,
                          check=False, env={**os.environ, **environment})
    with open(out, encoding="utf-8") as file:
        report = json.load(file)
    assert report["exit"] == 0, (command, report["exit"], done.stdout, done.stderr)
    return [f["id"] for f in report["findings"] if f["severity"] != "info"]


def main(gph, *program):
    if gph in MODES:
        signal.signal(signal.SIGALRM, on_alarm)
        MODES[gph](Cuda())
        return
    modes = [name for name in MODES if sys.version_info[:2] >= NEEDS.get(name, (3, 0))]
    with tempfile.TemporaryDirectory() as folder:
        for name in modes:
            found = examine(gph, [sys.executable, os.path.abspath(__file__), name], folder)
            assert not found, (name, found)
        library = os.path.join(*sysconfig.get_config_vars("LIBDIR", "INSTSONAME"))
        if program and library.endswith(".so.1.0") and os.path.exists(library):
            assert not examine(gph, program, folder, LD_PRELOAD=library)
            modes.append("not begun")
    print("%d programs as expected: %s" % (len(modes), " ".join(modes)))


if __name__ == "__main__":
    main(*sys.argv[1:])
