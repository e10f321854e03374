#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A graph, replayed with new contents of its input; and one that draws random numbers, as eager calls would.
usage: capture.py [plain]      plain: PyTorch alone; the numbers are the same"""
import sys

import torch

if "plain" not in sys.argv[1:]:
    import graphophone.torch
    graphophone.torch.patch()  # the only line that differs

x = torch.zeros(4, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = x * 2 + 1
for value in (1.0, 5.0):
    x.fill_(value)  # what the graph reads lies where it lay
    graph.replay()
    print("capture", y.tolist())

torch.manual_seed(3)
drawing = torch.cuda.CUDAGraph()
with torch.cuda.graph(drawing):
    z = torch.rand(2, device="cuda")
for _ in range(3):
    drawing.replay()
    print("drawn", ["%.6f" % value for value in z.tolist()])
