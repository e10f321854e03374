# SPDX-License-Identifier: Apache-2.0
"""advise(): programs that ask the doctor whether graphs would pay in a block. usage: test_advise.py GPH, the command."""
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from common import gph

COMMAND = sys.argv.pop(1) if len(sys.argv) > 1 and os.sep in sys.argv[1] else None
PROGRAM = """import sys
sys.path.insert(0, %r)
import common
import graphophone as gph
runtime, add = common.runtime(), common.add()
stream, pool = runtime.stream(), runtime.pool()
x, y = pool.tensor(64, stream=stream), pool.tensor(64, stream=stream)
for count in (12, 7):
    with gph.advise(%r) as advice:
        for _ in range(200):
            for _ in range(count):
                add(stream, 1, 64, y, x, 64, 1.0)
            stream.synchronize()
    print(count, advice.is_outside, [one["launches"] for one in advice.sequences], flush=True)
print(advice)
open(sys.argv[1], "a").write("end\\n")
"""


class Advise(unittest.TestCase):
    def run_program(self, text, *before):
        with tempfile.TemporaryDirectory() as folder:
            program, log = os.path.join(folder, "program.py"), os.path.join(folder, "log")
            with open(program, "w") as file:
                file.write(text)
            done = subprocess.run([*before, sys.executable, "-B", program, log], capture_output=True, text=True, timeout=100)
            ends = ""
            if os.path.exists(log):
                with open(log) as file:
                    ends = file.read()
        return done.stdout, done.stderr, done.returncode, ends

    def program(self):
        return PROGRAM % (os.path.dirname(os.path.abspath(__file__)), COMMAND)

    def test_each_block_learns_what_it_repeats(self):
        out, err, status, ends = self.run_program(self.program())
        self.assertEqual((status, ends), (0, "end\n"), err)  # the second process ends with the block
        first, second, text = out.split("\n", 2)
        self.assertEqual(first, "12 False [12]")
        self.assertIn(second, ("7 False [12, 7]", "7 False [7, 12]"))  # from the beginning of the program
        self.assertRegex(text, r"7 calls, 7 of them kernels, repeated 200 times at <module> \(program.py:12\)")
        self.assertIn("as a graph", text)

    def test_below_the_doctor_it_is_the_doctors_to_say(self):
        out, err, status, ends = self.run_program(self.program(), COMMAND, "doctor", "--advise", "--")
        self.assertEqual((out, ends), ("12 True []\n7 True []\nthis program runs below gph doctor, which says it at the end\n", "end\n"), err)
        self.assertIn("12 calls, 12 of them kernels", err)

    def test_a_program_that_ends_before_its_block(self):
        text = ("import graphophone as gph, os\nif 'GRAPHOPHONE_ADVISE_BLOCK' in os.environ: print(1 // 0)\n"
                "try:\n  with gph.advise(%r): pass\nexcept RuntimeError as error: print(error)\n" % COMMAND)
        out, err, status, _ = self.run_program(text)
        self.assertEqual(status, 0, err)
        self.assertRegex(out, "(?s)ended with exit status 1 before the end of the block: .*ZeroDivisionError")

    def test_refusals(self):
        done = subprocess.run([sys.executable, "-B", "-i", "-c", "import graphophone\nwith graphophone.advise(%r): pass" % COMMAND],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertIn("an interactive session cannot be", done.stderr)
        with unittest.mock.patch.dict(os.environ, PATH="/nowhere"), self.assertRaisesRegex(FileNotFoundError, "needs the command gph"):
            gph.advise("/nowhere/gph").__enter__()


if __name__ == "__main__":
    if COMMAND is None:
        print("the command gph is not given")
        sys.exit(77)
    unittest.main(verbosity=1)
