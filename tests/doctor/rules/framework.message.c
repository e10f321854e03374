// SPDX-License-Identifier: Apache-2.0
// framework.message
//
// Frameworks go on where they cannot use a graph: they work eagerly, record again for each shape,
// or leave a graph empty, and say so on standard error, among many other lines. The doctor
// reports the lines that its knowledge base explains, once a place; what only shows progress
// is left alone, and what a finding explains already is there as evidence. That a
// function has no graph is an info: its results are right, and the framework has said so.
#include "broken.h"

static void first(void)
{
    static const char words[] =
        "skipping cudagraphs due to mutated inputs (1 instances).\n";
    fputs(words, stderr); // <-- first
}

static void second(void)
{
    static const char words[] = "torch/_inductor/cudagraph_trees.py: UserWarning: "
                                "CUDAGraph supports dynamic shapes by "
                                "recording a new graph for each distinct input size.\n";
    for (int i = 0; i < 3; i++)
        fwrite(words, 1, sizeof(words) - 1, stderr); // <-- second
}

static void near(void)
{
    fputs("Capturing CUDA graph shapes: 100%|##########| 35/35 [00:12<00:00]\n", stderr);
    fputs("INFO graph capture finished, cudagraphs are on\n", stderr);
}

BROKEN(first, second, near)
