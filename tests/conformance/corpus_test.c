// SPDX-License-Identifier: Apache-2.0
/* Every kernel of kernels/corpus: softcuda's fast and slow path give the same bytes, and
 * they are those of a GPU (corpus.expected, recorded by `GPH_DRIVER=cuda corpus_test
 * --record FILE` on a machine that has one). Each pass is a process of its own, so that a
 * crash ends only that pass. */
#include <math.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "corpus_run.h"
#include "driver.h"

#ifndef CORPUS_PTX /* built without CMake, run in the root of the repository */
#define CORPUS_PTX "kernels/corpus/ptx"
#define CORPUS_EXPECTED "tests/conformance/corpus.expected"
#endif

extern char **environ;

/* ---- a pass: run everything, write it down
 * --------------------------------------------- */

struct launch {
    CUdeviceptr buffers[CORPUS_ARGS];
    unsigned char values[CORPUS_ARGS][128];
    void *params[CORPUS_ARGS];
};

/* The module of a file of the corpus; the last one is kept. */
static CUresult open_module(const char *name, CUmodule *out)
{
    static CUmodule module;
    static const char *of;
    if (of != NULL && strcmp(of, name) == 0) {
        *out = module;
        return CUDA_SUCCESS;
    }
    char path[4096];
    static char text[1 << 20];
    snprintf(path, sizeof(path), "%s/%s.ptx", CORPUS_PTX, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return CUDA_ERROR_FILE_NOT_FOUND;
    const size_t bytes = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[bytes] = '\0';
    if (of != NULL)
        (void)cu.cuModuleUnload(module);
    of = NULL;
    const CUresult status = cu.cuModuleLoadData(&module, text);
    if (status != CUDA_SUCCESS)
        return status;
    of = name;
    *out = module;
    return CUDA_SUCCESS;
}

static CUresult make_argument(const struct corpus_arg *arg, uint32_t place,
                              struct launch *launch)
{
    launch->params[place] = launch->values[place];
    if (arg->what != CORPUS_BUFFER) {
        corpus_fill(arg, place, launch->values[place]);
        return CUDA_SUCCESS;
    }
    const size_t bytes = corpus_arg_bytes(arg);
    unsigned char *host = malloc(bytes + CORPUS_GUARD_BYTES);
    if (host == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    corpus_fill(arg, place, host);
    memset(host + bytes, 0xa5, CORPUS_GUARD_BYTES);
    CUresult status = cu.cuMemAlloc(&launch->buffers[place], bytes + CORPUS_GUARD_BYTES);
    if (status == CUDA_SUCCESS)
        status =
            cu.cuMemcpyHtoD(launch->buffers[place], host, bytes + CORPUS_GUARD_BYTES);
    memcpy(launch->values[place], &launch->buffers[place], sizeof(CUdeviceptr));
    free(host);
    return status;
}

static CUresult run_launch(const struct corpus_kernel *kernel, struct launch *launch)
{
    CUmodule module;
    CUfunction function;
    CUresult status = open_module(kernel->file, &module);
    if (status == CUDA_SUCCESS)
        status = cu.cuModuleGetFunction(&function, module, kernel->name);
    for (uint32_t i = 0; status == CUDA_SUCCESS && kernel->args[i].what != CORPUS_END;
         i++)
        status = make_argument(&kernel->args[i], i, launch);
    if (status != CUDA_SUCCESS)
        return status;
    const uint32_t *g = kernel->grid, *b = kernel->block;
    status =
        kernel->cooperative
            ? cu.cuLaunchCooperativeKernel(function, g[0], g[1], g[2], b[0], b[1], b[2],
                                           kernel->shared, NULL, launch->params)
            : cu.cuLaunchKernel(function, g[0], g[1], g[2], b[0], b[1], b[2],
                                kernel->shared, NULL, launch->params, NULL);
    return status == CUDA_SUCCESS ? cu.cuCtxSynchronize() : status;
}

/* Copies one buffer back: its bytes to `out` if it is an output; the guard must be whole.
 */
static CUresult fetch(const struct corpus_arg *arg, CUdeviceptr buffer,
                      unsigned char *out)
{
    const size_t bytes = corpus_arg_bytes(arg);
    unsigned char *host = malloc(bytes + CORPUS_GUARD_BYTES);
    if (host == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult status = cu.cuMemcpyDtoH(host, buffer, bytes + CORPUS_GUARD_BYTES);
    for (int i = 0; status == CUDA_SUCCESS && i < CORPUS_GUARD_BYTES; i++)
        if (host[bytes + (size_t)i] != 0xa5)
            status = (CUresult)CORPUS_OVERRUN;
    if (arg->compare == ANY_ORDER)
        qsort(host, arg->count, 4, corpus_by_value);
    if (arg->compare != NOT)
        memcpy(out, host, bytes);
    free(host);
    return status;
}

static void run_kernel(const struct corpus_kernel *kernel, struct corpus_result *result)
{
    struct launch launch;
    memset(&launch, 0, sizeof(launch));
    CUresult status = run_launch(kernel, &launch);
    for (uint32_t i = 0; kernel->args[i].what != CORPUS_END; i++) {
        const struct corpus_arg *arg = &kernel->args[i];
        if (launch.buffers[i] == 0)
            continue;
        if (status == CUDA_SUCCESS) {
            status = fetch(arg, launch.buffers[i], result->data + result->bytes);
            if (arg->compare != NOT)
                result->bytes += corpus_arg_bytes(arg);
        }
        (void)cu.cuMemFree(launch.buffers[i]);
    }
    result->status = (int32_t)status;
    if (status != CUDA_SUCCESS)
        result->bytes = 0;
}

static int record(const char *path, const char *only)
{
    DEVICE_OR_SKIP();
    (void)use_primary();
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    int failed = 0;
    for (size_t i = 0; i < CORPUS_COUNT; i++) {
        const struct corpus_kernel *kernel = &corpus_kernels[i];
        if (only != NULL && strcmp(only, kernel->name) != 0)
            continue;
        struct corpus_result result = {.data = malloc(corpus_output_bytes(kernel) + 1)};
        snprintf(result.name, sizeof(result.name), "%s", kernel->name);
        if (corpus_is_skipped(kernel))
            result.status = CORPUS_SKIPPED;
        else
            run_kernel(kernel, &result);
        corpus_write(file, &result);
        free(result.data);
        const bool is_bad = result.status != 0 && result.status != CORPUS_SKIPPED;
        failed += is_bad;
        if (is_bad)
            fprintf(stderr, "%s: status %d\n", kernel->name, result.status);
    }
    fclose(file);
    printf("%zu kernels, %d failed\n", CORPUS_COUNT, failed);
    return 0;
}

/* ---- passes compared
 * ------------------------------------------------------------------- */

/* Runs a pass as a process, with the variable `name` set; how many records it left. */
static size_t pass(const char *name, const char *value, struct corpus_result *results)
{
    char path[64];
    snprintf(path, sizeof(path), "/tmp/gph-corpus-%s-%ld", value, (long)getpid());
    char *words[] = {(char *)"corpus_test", (char *)"--record", path, NULL};
    pid_t child;
    int how = 0;
    setenv(name, value, 1);
    setenv("SOFTCUDA_KERNEL_TIMEOUT_MS", "20000", 0);
    if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ) != 0)
        return 0;
    (void)waitpid(child, &how, 0);
    unsetenv(name);
    const size_t count = corpus_read(path, results);
    if (!CHECK(WIFEXITED(how) && count == CORPUS_COUNT))
        fprintf(stderr, "  %s=%s ended (status %d) at kernel %s\n", name, value, how,
                count < CORPUS_COUNT ? corpus_kernels[count].name : "-");
    unlink(path);
    return count;
}

static double element(unsigned type, const unsigned char *at)
{
    uint16_t half;
    float single;
    double wide;
    memcpy(&half, at, 2);
    if (type == F16)
        return corpus_from_half(half);
    memcpy(&single, at, 4);
    if (type == F32)
        return (double)single;
    memcpy(&wide, at, 8);
    return wide;
}

/* The first element of an output that is not as expected; its count if all are. */
static uint32_t first_difference(const struct corpus_arg *arg, const unsigned char *got,
                                 const unsigned char *expected, bool is_exact)
{
    const uint32_t step = corpus_type_bytes(arg->type);
    for (uint32_t i = 0; i < arg->count; i++, got += step, expected += step) {
        if (memcmp(got, expected, step) == 0)
            continue;
        if (is_exact || arg->compare != NEAR)
            return i;
        const double a = element(arg->type, got), b = element(arg->type, expected);
        if (!(fabs(a - b) <= arg->tolerance * fmax(1.0, fabs(b))))
            return i;
    }
    return arg->count;
}

static void compare(const struct corpus_kernel *kernel, const struct corpus_result *got,
                    const struct corpus_result *expected, bool is_exact)
{
    if (!CHECK(got->status == expected->status && got->bytes == expected->bytes)) {
        fprintf(stderr, "  %s: status %d, expected %d\n", kernel->name, got->status,
                expected->status);
        return;
    }
    uint32_t at = 0, place = 0;
    for (const struct corpus_arg *arg = kernel->args;
         arg->what != CORPUS_END && got->bytes; arg++, place++) {
        if (arg->compare == NOT)
            continue;
        const uint32_t i =
            first_difference(arg, got->data + at, expected->data + at, is_exact);
        const uint32_t step = corpus_type_bytes(arg->type);
        if (!CHECK(i == arg->count)) {
            fprintf(stderr, "  %s: argument %u, element %u:", kernel->name, place, i);
            for (uint32_t k = step; k-- > 0;)
                fprintf(stderr, "%s%02x", k + 1 == step ? " " : "",
                        got->data[at + i * step + k]);
            for (uint32_t k = step; k-- > 0;)
                fprintf(stderr, "%s%02x", k + 1 == step ? ", expected " : "",
                        expected->data[at + i * step + k]);
            fprintf(stderr, "\n");
        }
        at += corpus_arg_bytes(arg);
    }
}

static struct corpus_result fast[CORPUS_COUNT], slow[CORPUS_COUNT], gpu[CORPUS_COUNT];
static size_t fast_count, slow_count;

static void every_kernel_runs(void)
{
    fast_count = pass("SOFTCUDA_PATH", "fast", fast);
    for (size_t i = 0; i < fast_count; i++)
        if (fast[i].status != CORPUS_SKIPPED && !CHECK(fast[i].status == 0))
            fprintf(stderr, "  %s: status %d\n", fast[i].name, fast[i].status);
}

static void both_paths_give_the_same_bytes(void)
{
    if (!driver_is_soft)
        SKIP("a GPU has one path");
    slow_count = pass("SOFTCUDA_PATH", "slow", slow);
    for (size_t i = 0; i < slow_count && i < fast_count; i++)
        compare(&corpus_kernels[i], &slow[i], &fast[i], true);
}

static void the_bytes_are_those_of_a_gpu(void)
{
    if (access(CORPUS_EXPECTED, R_OK) != 0)
        SKIP("corpus.expected was not recorded yet");
    const size_t count = corpus_read(CORPUS_EXPECTED, gpu);
    if (!CHECK(count == CORPUS_COUNT))
        return;
    for (size_t i = 0; i < fast_count; i++)
        if (fast[i].status != CORPUS_SKIPPED)
            compare(&corpus_kernels[i], &fast[i], &gpu[i], false);
}

int main(int count, char **words)
{
    if (count >= 3 && strcmp(words[1], "--record") == 0)
        return record(words[2], count > 3 ? words[3] : NULL);
    DRIVER_OR_SKIP();
    RUN(every_kernel_runs);
    RUN(both_paths_give_the_same_bytes);
    RUN(the_bytes_are_those_of_a_gpu);
    corpus_free(fast);
    corpus_free(slow);
    corpus_free(gpu);
    return test_done();
}
