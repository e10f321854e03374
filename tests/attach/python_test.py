#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python frames of a thread are those that Python itself gives, with the interpreter's
lock (PyDLL) and without (CDLL).

usage: python_test.py LIBRARY PRINTER
PRINTER RING prints the Python frames in a ring: number and text, a line a stack.
"""
import ctypes, os, subprocess, sys, tempfile, threading

library, printer = sys.argv[1:3]
ring = os.path.join(tempfile.mkdtemp(), "ring")
libraries = {"held": ctypes.PyDLL(library), "released": ctypes.CDLL(library)}
wanted = []  # number, lock, frames as Python gives them


def frames():
    at, out = sys._getframe(1), []
    while at is not None:
        out.append("%s:%d %s|" % (at.f_code.co_filename, at.f_lineno, at.f_code.co_name))
        at = at.f_back
    return "".join(out)


def take():
    for lock, probe in libraries.items():
        number, text = probe.probe_python(), frames()
        wanted.append((number, lock, text))


def raising():
    try:
        raise KeyError("before")
    except KeyError:
        take()
        assert isinstance(sys.exc_info()[1], KeyError)  # as it was


class Made:
    def __init__(self):
        take()


def yielding():
    take()
    yield [take() for _ in range(2)]


def deep(left):
    return take() if left == 0 else deep(left - 1)


assert libraries["held"].probe_open(ring.encode()) == 0
take()
raising()
Made()
list(yielding())
deep(40)
sorted([2, 1], key=lambda _: take() or 0)


def again(made):
    made()  # the same line and place of the stack, other frames, and again the first


first, second = [compile("def f():\n take()\n\n take()\n" + more, name, "exec")
                 for name, more in (("one.py", ""), ("two.py", " pass\n"))]
made = []
for code in (first, second):
    names = {"take": take}
    exec(code, names)
    made.append(names["f"])
for which in (0, 0, 1, 0, 1):
    again(made[which])
for turn in range(3):  # code objects that take each other's place
    names = {"take": take}
    exec(compile("def f%d():\n take()" % turn, "turn%d.py" % turn, "exec"), names)
    again(names.pop("f%d" % turn))
exec(compile("def naïve():\n\n    take()\nnaïve()", "/a földer/日本/\U0001f600\udc80.py", "exec"))
long_lines = compile("\n" * 70000 + "(lambda:\n\n" + "take())()", "long.py", "exec")
exec(long_lines)
thread = threading.Thread(target=raising)
thread.start()
thread.join()

lines = subprocess.run([printer, ring], stdout=subprocess.PIPE, check=True,
                       universal_newlines=True, encoding="utf-8", errors="surrogateescape").stdout.splitlines()
found = dict(line.split(" ", 1) for line in lines)
for number, lock, text in wanted:
    seen = found.get(str(number), "nothing")
    if seen != text:
        sys.exit("lock %s:\n  seen   %r\n  Python %r" % (lock, seen, text))
print("ok: %d stacks, Python %s" % (len(wanted), sys.version.split()[0]))
