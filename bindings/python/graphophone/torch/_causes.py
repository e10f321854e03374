# SPDX-License-Identifier: Apache-2.0
"""What a failed capture says: the call that the driver refused first, and the line of Python."""
import os

import torch

_LIBRARIES = tuple(os.path.dirname(file) + os.sep for file in (torch.__file__, __file__))


def place_outside(frame, also=()):
    """"file:line" of the innermost frame that is neither PyTorch's nor ours, nor of the folders `also`; None if there is none."""
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_LIBRARIES + also):
            return "%s:%d" % (frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None


def place_of(trace):
    """"file:line" where an exception left the program's own code, by its traceback."""
    place = None
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_LIBRARIES):
            place = "%s:%d" % (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    return place


def _sentence(cause, place, began):
    text = "The capture that began at %s failed" % began
    if place != began:
        text += " at %s" % place
    if cause is None:
        return text + "; what the driver refused first is not known."
    by = "its own thread" if cause["is_own"] else "thread %d" % cause["thread"]
    text += ". The first call that the driver refused, on %s, was %s" % (by, cause["call"] or "not named")
    if cause["caller"]:
        text += " (%s)" % cause["caller"]
    return text + (": " + cause["sentence"] if cause["sentence"] else ".")


def add_to(error, cause, place, began):
    """Adds to an exception what made a capture fail: to its text, and as its attributes `place` and `cause`."""
    try:
        error.place, error.cause = place, cause
    except AttributeError:
        return  # a type without room for attributes
    text = _sentence(cause, place, began)
    if len(error.args) == 1 and isinstance(error.args[0], str):
        error.args = ("%s\n%s" % (error.args[0].rstrip(), text),)
    elif hasattr(error, "add_note"):
        error.add_note(text)
