#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A module whose forward and backward passes are graphs; the optimizer's step and zero_grad are not.
usage: callables.py [plain]      plain: PyTorch alone; the numbers are the same"""
import sys

import torch

if "plain" not in sys.argv[1:]:
    import graphophone.torch
    graphophone.torch.patch()  # the only line that differs

torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)).cuda()
x, target = torch.randn(8, 16, device="cuda"), torch.randn(8, 1, device="cuda")
model = torch.cuda.make_graphed_callables(model, (torch.randn(8, 16, device="cuda"),))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad(set_to_none=True)
    loss = ((model(x) - target) ** 2).mean()
    loss.backward()
    optimizer.step()
    print("loss %.6f" % loss.item())
