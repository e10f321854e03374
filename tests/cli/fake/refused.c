// SPDX-License-Identifier: Apache-2.0
/* usage: refused runtime|before|some|last|fork: programs whose driver calls are refused. As
 * the CUDA runtime begins; before cuInit(); all but the first or the last; in a child. */
#include "cuda/prototypes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int begin_as_runtime(void)
{
    static const CUuuid id = {{1, 2, 3}};
    const void *table;
    int version;
    return cuDriverGetVersion(&version) != CUDA_SUCCESS || cuInit(0) != CUDA_SUCCESS ||
           cuGetExportTable(&table, &id) != CUDA_SUCCESS;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    CUdevice device;
    int count;
    if (strcmp(way, "runtime") == 0)
        return begin_as_runtime();
    if (strcmp(way, "before") != 0 && cuInit(0) != CUDA_SUCCESS)
        return 2;
    if (strcmp(way, "some") == 0 && cuDeviceGetCount(&count) != CUDA_SUCCESS)
        return 2;
    const CUresult refused = cuDeviceGet(&device, 99);
    if (strcmp(way, "last") == 0 && cuDeviceGetCount(&count) != CUDA_SUCCESS)
        return 2;
    if (strcmp(way, "fork") == 0) {
        const pid_t child = fork();
        if (child == 0)
            exit(1);
        waitpid(child, NULL, 0);
    }
    return refused != CUDA_SUCCESS;
}
