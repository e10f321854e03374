# SPDX-License-Identifier: Apache-2.0
"""`python -m graphophone ARGUMENTS` is `gph ARGUMENTS`, where no folder of programs is on PATH."""
import os
import sys

from . import command

os.execv(command, [command] + sys.argv[1:])
