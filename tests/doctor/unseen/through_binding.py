# SPDX-License-Identifier: Apache-2.0
"""All calls go through a binding: what has to be found is the line here that waits in a capture."""
from binding import thin


def log(stream):
    stream.wait()  # <- here


def main():
    thin.init()
    stream, buffer = thin.Stream(), thin.Buffer(64)
    buffer.fill(0, stream)
    stream.wait()
    stream.begin()
    buffer.fill(1, stream)
    try:
        log(stream)
    except RuntimeError:
        pass
    try:
        stream.end()
    except RuntimeError:
        raise SystemExit(3) from None


main()
