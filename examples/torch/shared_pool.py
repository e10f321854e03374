#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Graphs that run one after the other share one pool: what the first needs in between, the next one reuses.
usage: shared_pool.py [plain]      plain: PyTorch alone; the numbers are the same"""
import sys

import torch

if "plain" not in sys.argv[1:]:
    import graphophone.torch
    graphophone.torch.patch()  # the only line that differs

x = torch.ones(1 << 20, device="cuda")
graphs, outputs = [], []
for factor in (2, 3):
    graphs.append(torch.cuda.CUDAGraph())
    with torch.cuda.graph(graphs[-1], pool=graphs[0].pool() if graphs[1:] else None):
        outputs.append((x * factor).sum())
for graph in graphs:
    graph.replay()
print("sums", [output.item() for output in outputs])
print("one pool:", graphs[0].pool() == graphs[1].pool())
