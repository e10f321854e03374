#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Newton's square roots, round after round until they stay: a loop that asks the device after each round, or one launch.
usage: device_loop.py [plain]      plain: PyTorch alone; the numbers are the same"""
import sys

import torch


def goes_on(x, change):
    return change > 1e-12


def step(x, change):
    y = 0.5 * (x + numbers / x)
    return y, (y - x).abs().max()


numbers = torch.arange(1, 5, dtype=torch.float64, device="cuda")
first = torch.ones_like(numbers), torch.ones((), dtype=torch.float64, device="cuda")
if "plain" in sys.argv[1:]:
    (x, change), rounds = first, 0
    while goes_on(x, change).item():  # waits for the device
        (x, change), rounds = step(x, change), rounds + 1
else:
    import graphophone.torch
    loop = graphophone.torch.make_while_loop(goes_on, step, first, ceiling=100)
    x, change = loop(*first)
    rounds = loop.wait()["steps"]
print("device_loop", rounds, ["%.12f" % value for value in x.tolist()])
