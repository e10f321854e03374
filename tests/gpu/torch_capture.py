#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch programs for gph doctor on a GPU. usage: torch_capture.py MODE

healthy   a CUDAGraph captured after a warm-up, replayed    nothing to say
item      .item() inside a capture                          capture.synchronize
thread    another thread allocates pinned memory            capture.unsafe-call-other-thread
stale     replayed with a new input tensor                  memory.input-not-refreshed
frozen    cudnn.benchmark chosen inside a capture           (recorded for cache.frozen-choice)
nccl      the process group goes before its graph           nccl.destroy-before-graph
compile   torch.compile(mode="reduce-overhead")             nothing to say
replay    what doctor costs: us a replay
"""
import sys
import threading
import time

import torch

mode = sys.argv[1] if len(sys.argv) > 1 else "healthy"
weights = torch.randn(256, 256, device="cuda")
static_input = torch.randn(32, 256).cuda()


def step(x):
    for _ in range(5):
        x = torch.relu(x @ weights)
    return x


def warm_up(function, times=3):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(times):
            function()
    torch.cuda.current_stream().wait_stream(side)


def capture(function, **options):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, **options):
        output = function()
    return graph, output


def expect_failure(function, **options):
    try:
        capture(function, **options)
    except RuntimeError as error:
        print("failed:", str(error).splitlines()[0])


def with_item():
    y = step(static_input)
    if y.sum().item() > 0:
        y = y * 2
    return y


def with_thread():
    y = step(static_input)
    thread = threading.Thread(target=lambda: torch.empty(12345677).pin_memory())
    thread.start()
    thread.join()
    return y


warm_up(lambda: step(static_input))
if mode == "healthy":
    graph, output = capture(lambda: step(static_input))
    for _ in range(100):
        static_input.copy_(torch.randn(32, 256, device="cuda"))
        graph.replay()
    print("sum", float(output.sum()) == float(output.sum()))
elif mode == "item":
    expect_failure(with_item)
elif mode == "thread":
    expect_failure(with_thread)
elif mode == "stale":
    graph, output = capture(lambda: step(static_input))
    for i in range(10):
        fresh = torch.full((32, 256), float(i)).cuda()
        graph.replay()
    torch.cuda.synchronize()
elif mode == "frozen":
    torch.backends.cudnn.benchmark = True
    net = torch.nn.Conv2d(8, 16, 3).cuda()
    image = torch.randn(4, 8, 64, 64, device="cuda")
    expect_failure(lambda: net(image))
elif mode == "nccl":
    import os
    import torch.distributed as dist

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29512", RANK="0",
                      WORLD_SIZE="1")
    dist.init_process_group("nccl")
    dist.all_reduce(weights)
    torch.cuda.synchronize()
    graph, _ = capture(lambda: dist.all_reduce(static_input))
    graph.replay()
    torch.cuda.synchronize()
    dist.destroy_process_group()
    print("destroyed")
elif mode == "compile":
    fast = torch.compile(step, mode="reduce-overhead")
    for _ in range(10):
        torch.compiler.cudagraph_mark_step_begin()
        fast(static_input)
    torch.cuda.synchronize()
elif mode == "replay":
    graph, _ = capture(lambda: step(static_input))
    for times in (2000, 20000):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(times):
            graph.replay()
        torch.cuda.synchronize()
        took = time.perf_counter() - begin
    print("%.3f us a replay" % (took / times * 1e6))
else:
    sys.exit("torch_capture.py: there is not a mode " + mode)
