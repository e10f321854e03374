// SPDX-License-Identifier: Apache-2.0
/* Programs that run eagerly, for gph doctor --capturable and --advise:
 *
 *   first   a loop with all that is in the way of a capture
 *   second  a loop that could be one graph as it is, and would gain by it
 *   near    nothing repeats
 *
 * What comes before the loops allocates and copies, which nobody must reproach. */
#include "tests/doctor/rules/broken.h"

enum { LOOPS = 40, CLEAN_LOOPS = 150, SMALL = 50 };

static CUstream stream, other;
static CUdeviceptr in, out[2];
static float host[FLOATS];

static void set_up(void)
{
    stream = new_stream();
    other = new_stream();
    in = new_floats();
    out[0] = new_floats();
    out[1] = new_floats();
    CU(cuMemcpyHtoD(in, host, sizeof(host)));
}

static void *elsewhere(void *unused)
{
    CU(cuCtxSetCurrent(context));
    for (int i = 0; i < LOOPS; i++) {
        void *pinned = NULL;
        CU(cuMemHostAlloc(&pinned, 4096, 0)); /* breaks captures in global mode */
        CU(cuMemFreeHost(pinned));
        usleep(500);
    }
    return unused;
}

static void messy_step(int i)
{
    CUdeviceptr scratch = 0;
    CU(cuMemcpyHtoDAsync(in, host, sizeof(host), stream)); /* pageable */
    CU(cuMemAlloc(&scratch, 65536));                       /* unsafe */
    FILL(stream, out[i % 2], 1.0f);                        /* another address */
    SCALE_ADD(stream, out[0], in, (float)i);               /* another value */
    FILL(other, out[1], 2.0f);                             /* escapes */
    CU(cuStreamSynchronize(stream));                       /* cuts */
    CU(cuMemcpyDtoH(host, out[0], 4));                     /* escapes, and waits */
    CU(cuMemFree(scratch));                                /* unsafe */
    COPY(stream, out[0], in);
    CU(cuStreamSynchronize(stream));
}

static void first(void)
{
    pthread_t thread;
    set_up();
    EXPECT(pthread_create(&thread, NULL, elsewhere, NULL) == 0);
    for (int i = 0; i < LOOPS; i++)
        messy_step(i);
    pthread_join(thread, NULL);
}

static void clean_step(void)
{
    for (int i = 0; i < SMALL; i++)
        LAUNCH(poke, 1, stream, &out[0], &(unsigned){1}, &(unsigned){1});
    CU(cuStreamSynchronize(stream));
}

static void second(void)
{
    set_up();
    for (int i = 0; i < CLEAN_LOOPS; i++)
        clean_step();
}

static void near(void)
{
    set_up();
    FILL(stream, out[0], 1.0f);
    SCALE_ADD(stream, out[0], in, 2.0f);
    COPY(stream, out[1], out[0]);
    CU(cuStreamSynchronize(stream));
}

BROKEN(first, second, near)
