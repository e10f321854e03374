// SPDX-License-Identifier: Apache-2.0
/* Kernels that are not there: machine code alone, and a name that the PTX does not have. The
 * launches have their errors, and standard error one sentence each, however often a program
 * that drops errors launches them. */
#define _GNU_SOURCE
#include "runtime_api.h"
#include "test.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* A fatbin with one entry: 1 PTX, 2 machine code. */
struct image {
    unsigned magic;
    unsigned short version, header_bytes;
    unsigned long long bytes;
    unsigned short kind, unused;
    unsigned entry_bytes;
    unsigned long long payload_bytes, compressed[1];
    unsigned minor_major, architecture, more[2];
    unsigned long long flags, gap, plain_bytes;
    char payload[256];
};
struct wrapper {
    unsigned magic, version;
    const void *data;
    void *parts;
};
_Static_assert(offsetof(struct image, payload) == 80,
               "a header of 16 bytes and one of 64");

static struct image images[2];
static struct wrapper wrappers[2];
static char stubs[2];

static void add(int at, unsigned short kind, const char *payload)
{
    images[at] = (struct image){.magic = 0xba55ed50,
                                .version = 1,
                                .header_bytes = 16,
                                .bytes = sizeof(struct image) - 16,
                                .kind = kind,
                                .entry_bytes = 64,
                                .payload_bytes = sizeof(images[at].payload),
                                .architecture = 90};
    memcpy(images[at].payload, payload, strlen(payload) + 1);
    wrappers[at] = (struct wrapper){0x466243b1, 1, &images[at], NULL};
    void **handle = __cudaRegisterFatBinary(&wrappers[at]);
    __cudaRegisterFunction(handle, &stubs[at], NULL, "absent", -1, NULL, NULL, NULL, NULL,
                           NULL);
}

/* What standard error got from two launches. */
static void launch_twice(const void *stub, cudaError_t expected, char *text, size_t room)
{
    FILE *file = tmpfile();
    const int kept = dup(STDERR_FILENO);
    if (!CHECK(file && kept >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0))
        return;
    const dim3 one = {1, 1, 1};
    const cudaError_t first = cudaLaunchKernel(stub, one, one, NULL, 0, NULL);
    const cudaError_t second = cudaLaunchKernel(stub, one, one, NULL, 0, NULL);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    text[fread(text, 1, room - 1, file)] = '\0';
    fclose(file);
    CHECK(first == expected && second == expected);
}

static void is_said_once(const char *text, const char *part)
{
    const char *first = strstr(text, part);
    if (!CHECK(first && !strstr(first + 1, part)))
        fprintf(stderr, "  said: %s\n", text);
}

static void machine_code_alone_is_said_once(void)
{
    char text[4096] = "";
    launch_twice(&stubs[0], cudaErrorNoKernelImageForDevice, text, sizeof(text));
    is_said_once(text, "cannot be loaded (CUDA_ERROR_NO_BINARY_FOR_GPU)");
}

static void a_kernel_that_is_not_there_is_said_once(void)
{
    char text[4096] = "";
    launch_twice(&stubs[1], cudaErrorInvalidDeviceFunction, text, sizeof(text));
    is_said_once(text, "kernel absent of");
}

int main(void)
{
    add(0, 2, "machine code");
    add(1, 1,
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry other() { ret; "
        "}\n");
    RUN(machine_code_alone_is_said_once);
    RUN(a_kernel_that_is_not_there_is_said_once);
    return test_done();
}
