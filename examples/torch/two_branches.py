#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A compiled function, and after it one of two others: the recordings form a tree with two branches, in one pool.
usage: two_branches.py [plain]      plain: PyTorch alone; the numbers are the same"""
import sys

import torch

if "plain" not in sys.argv[1:]:
    import graphophone.torch
    graphophone.torch.patch()  # the only line that differs


@torch.compile(mode="reduce-overhead")
def trunk(x):
    return torch.relu(x @ x)


@torch.compile(mode="reduce-overhead")
def left(y):
    return (y + 1).sum()


@torch.compile(mode="reduce-overhead")
def right(y):
    return (y * 2).sum()


with torch.no_grad():
    for call in range(12):
        torch.compiler.cudagraph_mark_step_begin()  # of torch.compiler: results of the step before are done with
        y = trunk(torch.full((8, 8), float(call % 3), device="cuda"))
        branch = left if call % 2 else right
        print(branch.__name__, branch(y).item())
