// SPDX-License-Identifier: Apache-2.0
/* bench/copy: copies of 1 to 32 ranges of 1 KiB to 4 MiB by one kernel, by one batch and
 * one by one: what they cost the host, and how long until the device has done them.
 *
 *   bench_copy [ROUNDS]
 *
 * Host: of calls into an idle stream, 10 in a row. Until done: of as many calls and the
 * wait after them, by the count. Medians of rounds in which the ways take turns.
 * `chosen` is what libgph takes by itself on this driver. GPH_DRIVER chooses, else
 * softcuda. */
#define _GNU_SOURCE
#include "replay/copy.h"
#include "sample.h"
#include <gph/gph.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RANGES = 32, CALLS = 10, ROUNDS_MAX = 1001, LARGEST = 4 << 20 };

static gph_error error;
static gph_runtime *gph;
static const gph_cuda_calls *cu;
static CUstream stream;
static gphi_copier *copier, *chosen_copier;
static CUdeviceptr to, from;

static void must(gph_status status)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "bench_copy: %s %s\n", error.message, error.hint);
    exit(1);
}
#define CU(name, ...) must(gph_cuda_check(cu->name(__VA_ARGS__), "cu" #name, &error))

static const struct way {
    const char *text;
    gphi_copy_way way;
} ways[] = {{"chosen", GPHI_COPY_AUTO},
            {"kernel", GPHI_COPY_KERNEL},
            {"batch", GPHI_COPY_BATCH},
            {"each", GPHI_COPY_EACH}};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

static void copy(const struct way *way, size_t count, size_t bytes)
{
    CUdeviceptr tos[RANGES], froms[RANGES];
    size_t sizes[RANGES];
    for (size_t i = 0; i < count; i++) {
        tos[i] = to + i * LARGEST;
        froms[i] = from + i * LARGEST;
        sizes[i] = bytes;
    }
    /* The destination is a pool's, as a buffer of a recording is. */
    const gphi_copies copies = {tos, froms, sizes, count, true, false};
    gph->copy_way = way->way;
    must(gphi_copy(gph, way->way == GPHI_COPY_AUTO ? chosen_copier : copier, &copies,
                   stream, &error));
}

static void measure(size_t count, size_t bytes, int rounds)
{
    static double host[WAYS][ROUNDS_MAX], done[WAYS][ROUNDS_MAX];
    for (int round = -1; round < rounds; round++) /* the first one warms up */
        for (int i = 0; i < WAYS; i++) {
            const int way = (i + round + 1) % WAYS;
            CU(StreamSynchronize, stream);
            const double start = now_us();
            for (int call = 0; call < CALLS; call++)
                copy(&ways[way], count, bytes);
            const double queued = now_us();
            CU(StreamSynchronize, stream);
            const double end = now_us();
            if (round >= 0) {
                host[way][round] = (queued - start) / CALLS;
                done[way][round] = (end - start) / CALLS;
            }
        }
    printf("%2zu of %4zu KiB ", count, bytes >> 10);
    for (int i = 0; i < WAYS; i++)
        printf("  %s %7.2f %8.2f", ways[i].text, median(host[i], rounds),
               median(done[i], rounds));
    printf("\n");
}

static void open_driver(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    CUcontext context = NULL;
    options.driver = getenv("GPH_DRIVER") != NULL ? GPH_DRIVER_DEFAULT : GPH_DRIVER_SOFT;
    must(gph_open(&options, &gph, &error));
    gph_driver_info_get(gph, &info);
    printf("%s, version %d\n", info.path, info.version);
    printf("microseconds: of the host, and until done, a call\n");
    cu = gph_cuda(gph);
    CU(DevicePrimaryCtxRetain, &context, 0);
    CU(CtxSetCurrent, context);
    CU(StreamCreate, &stream, 1);
    must(gphi_copier_retain(gph, &chosen_copier, &error));
    gph->copy_way = GPHI_COPY_KERNEL;
    must(gphi_copier_retain(gph, &copier, &error));
    if (copier == NULL)
        printf("the kernel could not be loaded\n");
}

int main(int argc, char **argv)
{
    static const size_t counts[] = {1, 2, 8, 32};
    static const size_t sizes[] = {1 << 10, 1 << 16, 1 << 18, 1 << 20, LARGEST};
    const int rounds = argc > 1 ? atoi(argv[1]) : 51;
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: bench_copy [ROUNDS]\n");
        return 2;
    }
    open_driver();
    CU(MemAlloc, &to, (size_t)RANGES * LARGEST);
    CU(MemAlloc, &from, (size_t)RANGES * LARGEST);
    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++)
        for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++)
            measure(counts[c], sizes[s], rounds);
    gphi_copier_release(copier);
    gphi_copier_release(chosen_copier);
    CU(MemFree, to);
    CU(MemFree, from);
    CU(StreamDestroy, stream);
    gph_close(gph);
    return copier == NULL ? 1 : 0;
}
