# SPDX-License-Identifier: Apache-2.0
"""softcuda, a CUDA driver in software. `library` is the path of its libcuda.so.1, for
GPH_SOFTCUDA_PATH where it is not installed beside graphophone."""
import os

library = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "gph", "soft", "libcuda.so.1")
