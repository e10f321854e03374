// SPDX-License-Identifier: Apache-2.0
// framework.exception
//
// A framework refuses what would break a capture before it calls the driver, or makes an
// exception of the driver's refusal. Nobody catches it, and its words on standard error are all
// that the program leaves. The doctor reads them as they are written, finds the entry that
// explains them, and says at which line of the program it was raised: of Python the innermost
// frame that is not PyTorch's. Where the calls of the driver show the cause, the words are
// there as evidence instead. Exceptions that have nothing to do with graphs are left alone, and
// one that was printed by a program that goes on and ends well is an info.
#include "broken.h"

/* As C++ does it: std::terminate, in the place of the throw. */
static void first(void)
{
    static const char what[] =
        "  what():  Cannot copy between CPU and CUDA tensors during CUDA graph capture "
        "unless the CPU tensor is pinned. Please use tensor.pin_memory()\n";
    const char *begin = "terminate called after throwing an instance of 'c10::Error'\n";
    fputs(begin, stderr); // <-- first
    fputs(what, stderr);
    abort();
}

static void second(void)
{
    static const char words[] =
        "terminate called after throwing an instance of 'c10::Error'\n"
        "  what():  Called CUDAGraph::replay without a preceding successful capture.\n";
    fwrite(words, 1, sizeof(words) - 1, stderr); // <-- second
    abort();
}

static void near(void)
{
    fputs("terminate called after throwing an instance of 'std::out_of_range'\n"
          "  what():  vector::_M_range_check: __n (which is 900) >= this->size()\n",
          stderr);
    fputs("Traceback (most recent call last):\n"
          "  File \"graph.py\", line 901, in capture\n"
          "    raise ValueError(\"error 904: no such graph in the drawing\")\n"
          "ValueError: error 904: no such graph in the drawing\n",
          stderr);
}

BROKEN(first, second, near)
