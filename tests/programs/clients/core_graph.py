# SPDX-License-Identifier: Apache-2.0
"""cuda-core: a graph of its builder and a stream of its own; the kernel comes from NVRTC."""
import ctypes

from cuda.core import (Device, LaunchConfig, LegacyPinnedMemoryResource, Program,
                       ProgramOptions, launch)

SOURCE = r'extern "C" __global__ void add(int *at, int by) { atomicAdd(at, by); }'

device = Device()
device.set_current()
stream = device.create_stream()
arch = "".join(str(part) for part in device.compute_capability)
program = Program(SOURCE, code_type="c++", options=ProgramOptions(arch=f"sm_{arch}"))
add = program.compile("cubin").get_kernel("add")
buffer = LegacyPinnedMemoryResource().allocate(4)
count = ctypes.cast(int(buffer.handle), ctypes.POINTER(ctypes.c_int))
count[0] = 0

builder = device.create_graph_builder().begin_building()
for by in (1, 10):
    launch(builder, LaunchConfig(grid=2, block=32), add, buffer, ctypes.c_int(by))
graph = builder.end_building().complete()
for _ in range(3):
    graph.launch(stream)
stream.sync()
assert count[0] == 3 * 64 * 11, count[0]
print(f"cuda-core: {count[0]}")
