# SPDX-License-Identifier: Apache-2.0
"""docs/tutorial.md and README.md: their blocks run one after the other in one interpreter, and print what is below each. Blocks
that need a GPU ("python gpu") are compiled here, and run with --gpu, on a machine that has one and PyTorch 2.11.

usage: test_tutorial.py GPH [--gpu]"""
import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(python|python gpu|output)\n(.*?)^```$", re.M | re.S)


def blocks(text):
    """(line, kind, source, what it prints) of each block of Python."""
    result = []
    for found in BLOCK.finditer(text):
        kind, body = found.groups()
        line = text.count("\n", 0, found.start()) + 1
        if kind == "output":
            result[-1][3] = body
        else:
            result.append([line, kind, body, ""])
    return result


def run(document, with_gpu):
    """How many blocks ran, and a text for each that printed something else."""
    space, ran, wrong = {"__name__": "tutorial"}, 0, []
    for line, kind, source, expected in blocks(document.read_text()):
        code = compile("\n" * line + source, str(document), "exec")
        if (kind == "python gpu") != with_gpu:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, space)
        ran += 1
        if printed.getvalue() != expected:
            wrong.append("%s:%d prints\n%snot\n%s" % (document.name, line, printed.getvalue(), expected))
    return ran, wrong


def main():
    try:
        import numpy  # noqa: F401
    except ImportError:
        print("NumPy is not installed")
        return 77
    document = ROOT / "docs/tutorial.md"
    steps = [int(number) for number in re.findall(r"^## (\d+)\. ", document.read_text(), re.M)]
    command = pathlib.Path(sys.argv[1]).resolve()
    os.environ["PATH"] = str(command.parent) + os.pathsep + os.environ["PATH"]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        ran, wrong = run(document, "--gpu" in sys.argv)
        more, faults = run(ROOT / "README.md", "--gpu" in sys.argv)
        os.chdir("/")
    ran, wrong = ran + more, wrong + faults
    if steps != list(range(1, 11)):
        wrong.append("the steps are %s" % steps)
    for text in wrong:
        print(text)
    print("%d blocks, %d wrong" % (ran, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
