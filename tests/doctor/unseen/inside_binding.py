# SPDX-License-Identifier: Apache-2.0
"""The wrong line is in the binding's own file, in a function that is not a wrapper."""
from binding import thin


def main():
    thin.init()
    stream, buffer = thin.Stream(), thin.Buffer(64)
    try:
        thin.Step(stream, buffer).record()
    except RuntimeError:
        raise SystemExit(3) from None


main()
