#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs over PyTorch for scripts/gpu_doctor_log.sh: what the doctor must report, and what it
must not, where the libraries themselves are at work.

usage: gpu_doctor_log.py choice late|before | random | healthy | nccl destroy|right
"""
import os
import sys

import torch


def warm(run, times=3):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(times):
            run()
    torch.cuda.current_stream().wait_stream(side)


def capture(run):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = run()
    return graph, out


def choice(when):
    """A convolution that is captured before or after cuDNN has measured its algorithms."""
    torch.backends.cudnn.benchmark = when == "before"
    layer = torch.nn.Conv2d(64, 96, 5, padding=2, device="cuda").half()
    x = torch.randn(16, 64, 112, 112, device="cuda", dtype=torch.half)
    with torch.no_grad():
        warm(lambda: layer(x))
        graph, _ = capture(lambda: layer(x))
        torch.backends.cudnn.benchmark = True
        for _ in range(8):
            layer(x)
            graph.replay()
        torch.cuda.synchronize()


def random_numbers():
    """Dropout with PyTorch's registered generator: the numbers differ from replay to replay."""
    x = torch.ones(1 << 16, device="cuda")
    warm(lambda: torch.nn.functional.dropout(x))
    graph, out = capture(lambda: torch.nn.functional.dropout(x))
    seen = set()
    for _ in range(6):
        graph.replay()
        seen.add(float(out.sum()))
    assert len(seen) > 1, seen


def healthy():
    """Inference and training as the documentation has them."""
    net = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(8)]).cuda()
    best = torch.optim.SGD(net.parameters(), lr=1e-3)
    x = torch.randn(64, 256, device="cuda")

    def step():
        best.zero_grad(set_to_none=True)
        loss = net(x).square().mean()
        loss.backward()
        best.step()
        return loss

    warm(step)
    best.zero_grad(set_to_none=True)
    graph, loss = capture(step)
    for i in range(50):
        x.copy_(torch.randn(64, 256, device="cuda"))
        graph.replay()
        if i % 10 == 9:
            print(float(loss))


def rank(index, way):
    import torch.distributed as dist
    torch.cuda.set_device(index)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")
    dist.init_process_group("nccl", rank=index, world_size=2)
    x = torch.ones(1 << 20, device="cuda")
    warm(lambda: dist.all_reduce(x))
    graph, _ = capture(lambda: dist.all_reduce(x))
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    if way == "right":
        graph.reset()
    dist.destroy_process_group()


def nccl(way):
    import torch.multiprocessing as many
    many.spawn(rank, args=(way,), nprocs=2)


if __name__ == "__main__":
    what, *rest = sys.argv[1:] or ["healthy"]
    {"choice": choice, "random": random_numbers, "healthy": healthy, "nccl": nccl}[what](*rest)
