# SPDX-License-Identifier: Apache-2.0
"""A dropout in Triton that takes its seed as a number, as its tutorial has it."""
import torch
import triton
import triton.language as tl


@triton.jit
def seeded_dropout_kernel(x, out, count, drop, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < count)
    keep = tl.rand(seed, at) > drop
    tl.store(out + at, tl.where(keep, value / (1 - drop), 0.0), mask=at < count)


def seeded_dropout(x, drop, seed):
    out = torch.empty_like(x)
    seeded_dropout_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), drop, seed, BLOCK=1024)
    return out
