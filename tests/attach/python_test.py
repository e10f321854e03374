#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python frames of a thread, with the interpreter's lock (PyDLL) and without (CDLL).

usage: python_test.py LIBRARY PRINTER
PRINTER RING prints the Python frames in a ring: number and text, a line a stack.
"""
import ctypes, gc, os, subprocess, sys, tempfile, threading

library, printer = sys.argv[1:3]
ring = os.path.join(tempfile.mkdtemp(), "ring")
held, released = ctypes.PyDLL(library), ctypes.CDLL(library)
assert held.probe_open(ring.encode()) == 0


def capture(call):
    return call()


def engine(call):
    return capture(call)


def raising(call):
    try:
        raise KeyError("before")
    except KeyError:
        number = call()
        assert isinstance(sys.exc_info()[1], KeyError)  # as it was
    return number


wanted = [engine(held.probe_python)]
wanted.append(raising(held.probe_python))
without_lock = engine(released.probe_python)
result = []
thread = threading.Thread(target=lambda: result.append(engine(held.probe_python)))
thread.start()
thread.join()
wanted += result
assert gc.isenabled()

lines = subprocess.run([printer, ring], stdout=subprocess.PIPE, check=True,
                       universal_newlines=True).stdout.splitlines()
frames = dict(line.split(" ", 1) for line in lines)
frames = {int(number): text for number, text in frames.items()}
for number in wanted:
    assert number in frames, (number, lines[-20:])
    assert "python_test.py:" in frames[number], frames[number]
first = frames[wanted[0]]
assert first.index(" capture|") < first.index(" engine|") < first.index(" <module>|"), first
assert " raising|" in frames[wanted[1]]
dumps = sys.version_info[:2] in [(3, 8), (3, 11), (3, 12)]
if dumps and without_lock not in frames:
    sys.exit("no frames without the lock: %r" % lines[-5:])
if without_lock in frames:
    text = frames[without_lock]
    assert text.index(" capture|") < text.index(" engine|") < text.index(" <module>|"), text
print("ok: %d stacks with frames, %s without the lock" %
      (len(wanted), "frames" if without_lock in frames else "none"))
