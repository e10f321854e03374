// SPDX-License-Identifier: Apache-2.0
/* What LLVM's archives call of a glibc that is newer than the one softcuda-jit.so shall run
 * with (GPH_LLVM_STATIC): Debian compiles them for its own. Nobody else sees these names, and
 * softcuda asks LLVM for nothing that depends on their answers. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>

/* glibc 2.32. libstdc++ leaves out atomic instructions where this says that there is one
 * thread; false is right always. */
extern char __libc_single_threaded;
char __libc_single_threaded;

/* glibc 2.33: ten sizes. LLVM reads them when it prints its own memory use, on request. */
struct mallinfo2 {
    size_t sizes[10];
};
struct mallinfo2 mallinfo2(void);

struct mallinfo2 mallinfo2(void)
{
    return (struct mallinfo2){{0}};
}

/* glibc 2.36. LLVM makes names of temporary files of it. */
uint32_t arc4random(void);

uint32_t arc4random(void)
{
    uint32_t out = 0;
    while (getrandom(&out, sizeof(out), 0) != (ssize_t)sizeof(out))
        continue; /* interrupted: nothing else can fail for four bytes */
    return out;
}
