// SPDX-License-Identifier: Apache-2.0
/* Random kernels (random_kernel.h): softcuda's fast and slow path give the same values,
 * and they are those of a GPU (random.expected, recorded by `GPH_DRIVER=cuda random_test
 * --record FILE`). RANDOM_FIRST and RANDOM_COUNT choose others than the recorded ones. */
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"
#include "random_kernel.h"

#ifndef RANDOM_EXPECTED /* built without CMake, run in the root of the repository */
#define RANDOM_EXPECTED "tests/conformance/random.expected"
#endif

#define BLOCKS 2
#define THREADS 96
#define VALUES (BLOCKS * THREADS)
#define IN_MODULE 8
#define KERNELS_MAX 4096
#define TEXT_BYTES (4u << 20)

extern char **environ;

struct record {
    int32_t status;
    uint32_t values[VALUES];
};

static unsigned from_environment(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static unsigned first_kernel(void)
{
    return from_environment("RANDOM_FIRST", 0);
}
static unsigned kernel_count(void)
{
    const unsigned count = from_environment("RANDOM_COUNT", 64);
    return count < KERNELS_MAX ? count : KERNELS_MAX;
}

static CUresult load(unsigned number, CUmodule *out)
{
    struct random_kernel k = {.text = malloc(TEXT_BYTES), .bytes = TEXT_BYTES};
    if (k.text == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    random_begin(&k);
    for (unsigned i = 0; i < IN_MODULE; i++)
        random_add(&k, number + i);
    const CUresult status = cu.cuModuleLoadData(out, k.text);
    if (getenv("RANDOM_PRINT"))
        fputs(k.text, stdout);
    free(k.text);
    return status;
}

static CUresult run(CUmodule module, unsigned number, uint32_t values[VALUES])
{
    char name[32];
    CUfunction function;
    CUdeviceptr out = 0;
    uint32_t seed = number * 7 + 3;
    void *params[] = {&out, &seed};
    snprintf(name, sizeof(name), "k%u", number);
    CUresult status = cu.cuModuleGetFunction(&function, module, name);
    if (status == CUDA_SUCCESS)
        status = cu.cuMemAlloc(&out, VALUES * sizeof(values[0]));
    if (status == CUDA_SUCCESS)
        status = cu.cuLaunchKernel(function, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, params,
                                   NULL);
    if (status == CUDA_SUCCESS)
        status = cu.cuCtxSynchronize();
    if (status == CUDA_SUCCESS)
        status = cu.cuMemcpyDtoH(values, out, VALUES * sizeof(values[0]));
    if (out != 0)
        (void)cu.cuMemFree(out);
    return status;
}

static int record(const char *path)
{
    DEVICE_OR_SKIP();
    (void)use_primary();
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    CUmodule module = NULL;
    CUresult loaded = CUDA_SUCCESS;
    unsigned failed = 0;
    for (unsigned i = 0; i < kernel_count(); i++) {
        struct record record = {0};
        const unsigned number = first_kernel() + i;
        if (i % IN_MODULE == 0) {
            if (module != NULL)
                (void)cu.cuModuleUnload(module);
            module = NULL;
            loaded = load(number, &module);
        }
        record.status = (int32_t)(loaded ? loaded : run(module, number, record.values));
        failed += record.status != 0;
        fwrite(&record, sizeof(record), 1, file);
        fflush(file);
    }
    fclose(file);
    printf("%u random kernels, %u failed\n", kernel_count(), failed);
    return 0;
}

static struct record fast[KERNELS_MAX], slow[KERNELS_MAX], gpu[KERNELS_MAX];

static unsigned read_records(const char *path, struct record *records)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return 0;
    const size_t count = fread(records, sizeof(*records), kernel_count(), file);
    fclose(file);
    return (unsigned)count;
}

static bool pass(const char *value, struct record *records)
{
    char path[64];
    snprintf(path, sizeof(path), "/tmp/gph-random-%s-%ld", value, (long)getpid());
    char *words[] = {(char *)"random_test", (char *)"--record", path, NULL};
    pid_t child;
    int how = 0;
    setenv("SOFTCUDA_PATH", value, 1);
    setenv("SOFTCUDA_KERNEL_TIMEOUT_MS", "20000", 0);
    if (!CHECK(posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ) == 0))
        return false;
    (void)waitpid(child, &how, 0);
    unsetenv("SOFTCUDA_PATH");
    const unsigned count = read_records(path, records);
    unlink(path);
    if (CHECK(WIFEXITED(how) && count == kernel_count()))
        return true;
    fprintf(stderr, "  the %s path ended (status %d) at kernel k%u\n", value, how,
            first_kernel() + count);
    return false;
}

static void compare(const char *what, const struct record *got,
                    const struct record *expected)
{
    for (unsigned i = 0; i < kernel_count(); i++) {
        unsigned at = 0;
        while (at < VALUES && got[i].values[at] == expected[i].values[at])
            at++;
        if (!CHECK(got[i].status == expected[i].status && at == VALUES))
            fprintf(stderr, "  %s: k%u: status %d, %d; first difference at thread %u\n",
                    what, first_kernel() + i, got[i].status, expected[i].status, at);
    }
}

static void every_kernel_runs(void)
{
    if (!pass("fast", fast))
        return;
    for (unsigned i = 0; i < kernel_count(); i++)
        if (!CHECK(fast[i].status == 0))
            fprintf(stderr, "  k%u: status %d\n", first_kernel() + i, fast[i].status);
}

static void both_paths_give_the_same_values(void)
{
    if (!driver_is_soft)
        SKIP("a GPU has one path");
    if (pass("slow", slow))
        compare("slow and fast", slow, fast);
}

/* The numbers drawn among the arguments of one call come in the compiler's order, so
 * other compilers write other kernels; gcc's were recorded on an H100. */
static void the_values_are_those_of_a_gpu(void)
{
#ifdef __clang__
    SKIP("gcc's kernels were recorded");
#endif
    if (first_kernel() != 0 || read_records(RANDOM_EXPECTED, gpu) < kernel_count())
        SKIP("random.expected was not recorded for these");
    compare("softcuda and a GPU", fast, gpu);
}

int main(int count, char **words)
{
    if (count == 3 && strcmp(words[1], "--record") == 0)
        return record(words[2]);
    DRIVER_OR_SKIP();
    RUN(every_kernel_runs);
    RUN(both_paths_give_the_same_values);
    RUN(the_values_are_those_of_a_gpu);
    return test_done();
}
