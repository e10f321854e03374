#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mixed precision: forward and backward pass are graphs; GradScaler, which asks whether a step is to be left out, is not.
usage: amp.py [plain]      plain: PyTorch alone; the numbers are the same"""
import sys

import torch

if "plain" not in sys.argv[1:]:
    import graphophone.torch
    graphophone.torch.patch()  # the only line that differs

torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1)).cuda()
x, target = torch.randn(8, 16, device="cuda"), torch.randn(8, 1, device="cuda")
with torch.autocast("cuda", dtype=torch.float16, cache_enabled=False):  # the cache would keep casts of old weights
    model = torch.cuda.make_graphed_callables(model, (torch.randn(8, 16, device="cuda"),))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda", init_scale=2.0**40)  # too large at first: steps are left out
for _ in range(30):
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cuda", dtype=torch.float16, cache_enabled=False):
        loss = ((model(x).float() - target) ** 2).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print("scale 2^%d loss %.5f" % (int(scaler.get_scale()).bit_length() - 1, loss.item()))
