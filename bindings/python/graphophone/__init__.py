# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs: what a program does wrong with them. The package brings the command `gph`, which
`python -m graphophone` runs, too; `command` is the path of it."""
import os

command = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "gph")
