#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Forward and backward pass and the optimizer's step in one graph. zero_grad is inside: .grad is made in the graph's pool.
usage: zero_grad.py [plain]      plain: PyTorch alone; the numbers are the same"""
import sys

import torch

if "plain" not in sys.argv[1:]:
    import graphophone.torch
    graphophone.torch.patch()  # the only line that differs

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


side = torch.cuda.Stream()  # the first calls choose and allocate, which no capture allows
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        step()
torch.cuda.current_stream().wait_stream(side)
optimizer.zero_grad(set_to_none=True)  # or the graph would add to what the warm-up left
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = step()
for _ in range(4):
    graph.replay()
    print("loss %.6f" % loss.item())
