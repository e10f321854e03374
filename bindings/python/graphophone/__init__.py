# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs in C: record work once, play it again for the price of one launch.

    import graphophone as gph

    runtime = gph.open()
    stream = runtime.stream()
    with runtime.capture(stream) as capture:
        ...                                     # work in the stream, by whatever client
    replay = capture.recording.instantiate()
    replay(stream)

The package also brings the command `gph`, which `python -m graphophone` runs; `command` is the path
of it. The objects are those of libgph: docs/python.md."""
import os

command = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "gph")

try:
    from ._gph import *  # noqa: F401,F403: what the extension has is what the package has
    from ._gph import __all__ as _names
except ModuleNotFoundError as _missing:
    # A wheel for every Python has the command alone; what is asked for then says so.
    if _missing.name != __name__ + "._gph":
        raise
    _names = []

    def __getattr__(name):
        if name.startswith("__"):
            raise AttributeError(name)
        import sys
        raise ImportError(
            "graphophone.%s is not there: this wheel is for every Python and has only the command gph. The objects are in a "
            "wheel for each CPython from 3.10 on (scripts/wheel.sh); pip found none for Python %d.%d" % ((name,) + sys.version_info[:2]))

from ._advise import Advice, advise  # noqa: E402: it looks at `command`

__all__ = ["Advice", "advise", "command", *_names]
