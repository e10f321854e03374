# SPDX-License-Identifier: Apache-2.0
"""examples/python on softcuda, those whose packages are installed. CuPy's reductions and Triton need a GPU.

usage: test_examples.py GPH"""
import importlib.util
import pathlib
import subprocess
import sys

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/python"
NEEDS = {"nvrtc_module": ("cuda.bindings", "nvidia.cu13"), "cuda_core": ("cuda.core", "nvidia.cu13"),
         "numba_kernel": ("numba_cuda", "numba")}
ENDS = {"nvrtc_module": "nvrtc: 3 replays, y[999] = 5995\n",
        "cuda_core": "cuda.core: 3 replays of 2 kernels, y[999] = 1001\n",
        "numba_kernel": "numba: 3 replays of 2 kernels, x[999] = 1005\n"}


def is_installed(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def main():
    ran, wrong = 0, 0
    for name, needs in NEEDS.items():
        missing = [need for need in needs if not is_installed(need)]
        if missing:
            print("skipped %s: %s is not installed" % (name, missing[0]))
            continue
        done = subprocess.run([sys.argv[1], "run", "--driver", "soft", "--", sys.executable, "-B", str(EXAMPLES / (name + ".py"))],
                              capture_output=True, text=True, timeout=100)
        if "UNSUPPORTED_PTX_VERSION" in done.stderr:  # NVRTC is newer than the driver, as on a GPU
            print("skipped %s: %s" % (name, done.stderr.strip().splitlines()[-1]))
            continue
        ran += 1
        if done.returncode or done.stdout != ENDS[name]:
            wrong += 1
            print("%s: exit %d\n%s%s" % (name, done.returncode, done.stdout, done.stderr))
    print("%d ran, %d wrong" % (ran, wrong))
    return 1 if wrong else 0 if ran else 77


sys.exit(main())
