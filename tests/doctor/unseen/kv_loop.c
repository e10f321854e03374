// SPDX-License-Identifier: Apache-2.0
/* Decode with growing KV address and position as arguments. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUfunction mv = app_kernel("matvec"), add = app_kernel("add"),
               copyk = app_kernel("copyk"), drop = app_kernel("philox_dropout");
    unsigned n = 64;
    CUdeviceptr w = app_alloc(16384), x = app_alloc(256), y = app_alloc(256),
                kv = app_alloc(256 * 256);
    unsigned long long seed = 1, off = 0;
    for (unsigned t = 0; t < 256; t++) {
        CUdeviceptr at = kv + 256ull * t;
        off += 64;
        for (int l = 0; l < 4; l++) {
            OK(RUN(mv, 1, 64, s, &y, &w, &x, &n));
            OK(RUN(drop, 1, 64, s, &y, &seed, &off, &n));
            OK(RUN(add, 1, 64, s, &x, &y, &x, &n));
        }
        OK(RUN(copyk, 1, 64, s, &at, &x, &n));
        OK(cuStreamSynchronize(s));
    }
    return 0;
}
