// SPDX-License-Identifier: Apache-2.0
/* A program over a runtime that keeps errors: memory is asked for that there is not, which is
 * dealt with; the check after a launch then finds the old code.
 *
 *   last_error CLIENT kept       gives up at the first step
 *   last_error CLIENT cleared    has taken the error where it dealt with it */
#define _GNU_SOURCE 1
#include "last_error.h"
#include "rules/broken.h"

#include <dlfcn.h>
#include <stdbool.h>

static __typeof__(client_alloc) *alloc_of;
static __typeof__(client_step) *step_of;
static __typeof__(client_clear) *clear_of;

static CUdeviceptr new_room(bool clears)
{
    CUdeviceptr out = 0;
    if (alloc_of(&out, (size_t)1 << 46) == 0) /* the failure */
        return out;
    if (clears)
        EXPECT(clear_of() == (int)CUDA_ERROR_OUT_OF_MEMORY);
    return new_floats();
}

static int run(bool clears)
{
    CUdeviceptr out = new_room(clears);
    CUstream stream = new_stream();
    float value = 5;
    unsigned count = FLOATS;
    for (int step = 0; step < 3; step++) {
        const int found = step_of(fill, stream, (void *[]){&out, &value, &count});
        if (found != 0)
            return found;
    }
    CU(cuStreamSynchronize(stream));
    return clear_of();
}

int main(int argc, char **argv)
{
    void *client = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!client)
        return 2;
    *(void **)&alloc_of = dlsym(client, "client_alloc");
    *(void **)&step_of = dlsym(client, "client_step");
    *(void **)&clear_of = dlsym(client, "client_clear");
    broken_open();
    const bool clears = strcmp(argv[2], "cleared") == 0;
    EXPECT(run(clears) == (clears ? 0 : (int)CUDA_ERROR_OUT_OF_MEMORY));
    return broken_failures > 0 ? 2 : !clears;
}
