#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's users do with CUDA graphs, by PyTorch or by graphophone: the same program, the same numbers.
usage: drop_in.py [plain]      plain: PyTorch alone; needs a GPU and PyTorch 2.11"""
import sys

import torch

if "plain" not in sys.argv[1:]:
    import graphophone.torch
    graphophone.torch.patch()  # the only line that differs


def capture():
    """A graph, replayed with new contents of its static input."""
    x = torch.zeros(4, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x * 2 + 1
    for value in (1.0, 5.0):
        x.fill_(value)
        graph.replay()
        print("capture", y.tolist())


def shared_pool():
    """Two graphs that run one after the other share one pool."""
    x = torch.ones(1 << 20, device="cuda")
    graphs, outputs = [], []
    for factor in (2, 3):
        graphs.append(torch.cuda.CUDAGraph())
        with torch.cuda.graph(graphs[-1], pool=graphs[0].pool() if graphs[1:] else None):
            outputs.append((x * factor).sum())
    for graph in graphs:
        graph.replay()
    print("shared pool", [output.item() for output in outputs], "one pool:", graphs[0].pool() == graphs[1].pool())


def random_numbers():
    """Each replay draws what the next eager call would."""
    torch.manual_seed(3)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = torch.rand(2, device="cuda")
    for _ in range(3):
        graph.replay()
        print("random", ["%.6f" % value for value in y.tolist()])


def training():
    """A module whose forward and backward passes are graphs; the optimizer's step and zero_grad are not."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)).cuda()
    x, target = torch.randn(8, 16, device="cuda"), torch.randn(8, 1, device="cuda")
    model = torch.cuda.make_graphed_callables(model, (torch.randn(8, 16, device="cuda"),))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad(set_to_none=True)
        loss = ((model(x) - target) ** 2).mean()
        loss.backward()
        optimizer.step()
        print("training", "%.6f" % loss.item())


def whole_step():
    """Forward, backward and the optimizer's step as one graph; zero_grad stands inside."""
    torch.manual_seed(1)
    model = torch.nn.Linear(16, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(8, 16, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = (model(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    optimizer.zero_grad(set_to_none=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()
    for _ in range(3):
        graph.replay()
        print("whole step", "%.6f" % loss.item())


def compiled():
    """torch.compile's own graphs."""
    function = torch.compile(lambda a: (a * 3).relu().sum(), mode="reduce-overhead")
    for value in range(4):
        print("compiled", function(torch.full((8,), float(value), device="cuda")).item())


for part in (capture, shared_pool, random_numbers, training, whole_step, compiled):
    part()
