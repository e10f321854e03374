# SPDX-License-Identifier: Apache-2.0
"""What the tests of graphophone.torch on softcuda share: how they start."""
import importlib.util
import os
import sys


def start():
    """Runs the program once more, below softcuda and the library: both have to be there before PyTorch is loaded."""
    if importlib.util.find_spec("torch") is None:
        print("PyTorch is not installed here")
        sys.exit(77)
    command, library = sys.argv[1:3]
    if library in os.environ.get("LD_PRELOAD", ""):
        del sys.argv[1:3]
    elif "libcudart" in os.environ.get("LD_PRELOAD", ""):
        os.environ["LD_PRELOAD"] = library + ":" + os.environ["LD_PRELOAD"]
        os.execv(sys.executable, [sys.executable, "-B"] + sys.argv)
    elif os.environ.get("GPH_TORCH_STARTED"):
        sys.exit("softcuda's runtime is not below the program: is libsoftcudart built beside " + command + "?")
    else:
        os.environ["GPH_TORCH_STARTED"] = "1"  # once: without the runtime it would go on forever
        os.execv(command, [command, "run", "--driver", "soft", "--", sys.executable, "-B"] + sys.argv)
