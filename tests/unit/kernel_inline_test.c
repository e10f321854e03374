// SPDX-License-Identifier: Apache-2.0
/* Device functions with barriers, warp operations and ends of threads in them: kernels
 * that call them take the fast path, and give what the host gives, on both paths. */
#include "kernel_run.h"
#include "test.h"

#include "softcuda/ptx/compile.h"

#define BLOCK 128

static char text[1 << 20];
static kernel_unit *units[2];
static gph_error error;
static uint32_t in[16 * BLOCK];

typedef struct params {
    void *out;
    const void *in;
    uint32_t n;
} params;

static void run(int path, const char *name, uint32_t grid, void *out, uint32_t n)
{
    const params p = {out, in, n};
    const kernel_call call = {.name = name, .grid = {grid}, .block = {BLOCK}};
    CHECK_OK(kernel_run(units[path], &call, &p, &error), error);
}

static uint32_t scramble(uint32_t x)
{
    for (uint32_t i = 0; i < (x & 7); i++)
        x = x * 1664525u + 1013904223u;
    return x;
}

static void all_kernels_take_the_fast_path(void)
{
    ptx_module *module = NULL;
    ptx_program *program = NULL;
    if (!CHECK_OK(ptx_parse(text, strlen(text), NULL, &module, &error), error) ||
        !CHECK_OK(ptx_compile(module, NULL, &program, &error), error))
        return;
    CHECK(program->kernel_count == 4);
    for (uint32_t i = 0; i < program->kernel_count; i++)
        if (!CHECK(program->kernels[i].path == PTX_PATH_FAST))
            fprintf(stderr, "%s: %s\n", program->kernels[i].name,
                    program->kernels[i].reason);
    ptx_program_destroy(program);
    ptx_module_destroy(module);
}

static void nested_functions_share_their_memory(void)
{
    for (int path = 0; path < 2; path++)
        for (uint32_t n = 1; n <= 16; n += 5) {
            static uint32_t out[2 * BLOCK];
            uint32_t total = 0, once = 0, more = 0;
            for (uint32_t i = 0; i < n; i++, once = 0) {
                for (uint32_t t = 0; t < BLOCK; t++)
                    once += scramble(in[i * BLOCK + t]) & 0xffff;
                total += once * (i + 1);
            }
            if (n & 1)
                more = BLOCK * (total & 0xff);
            run(path, "sums", 2, out, n);
            for (uint32_t t = 0; t < BLOCK; t++) {
                const uint32_t lanes = 32 * (t / 32 * 32) + 31 * 16;
                CHECK(out[t] == total + more + lanes && out[BLOCK + t] == out[t]);
            }
        }
}

typedef struct pair {
    uint64_t low;
    float high, more;
} pair;

static void exchange(pair *p, const uint32_t lane[BLOCK])
{
    pair old[BLOCK];
    memcpy(old, p, sizeof(old));
    for (uint32_t t = 0; t < BLOCK; t++) {
        const pair *from = &old[t / 32 * 32 + lane[t]];
        p[t].low = from->low << 32 | old[t].low >> 32;
        p[t].high = from->high;
        p[t].more = old[t].more + 1;
    }
}

static void parameters_and_results_have_parts(void)
{
    pair p[BLOCK];
    uint32_t first[BLOCK], second[BLOCK];
    for (uint32_t t = 0; t < BLOCK; t++) {
        p[t] = (pair){(uint64_t)in[t] << 32 | t, (float)in[t] * 0.5f, 1.0f};
        first[t] = t * 5 % 32;
        second[t] = 31 - t % 32;
    }
    exchange(p, first);
    exchange(p, second);
    for (int path = 0; path < 2; path++) {
        static uint64_t out[2 * BLOCK];
        run(path, "parts", 1, out, 0);
        for (uint32_t t = 0; t < BLOCK; t++)
            CHECK(out[2 * t] == p[t].low &&
                  out[2 * t + 1] == (uint64_t)(p[t].high * 2 + p[t].more));
    }
}

static uint32_t ballot(uint32_t thread, uint32_t mask, uint32_t n)
{
    uint32_t votes = 0;
    for (uint32_t i = 0; i < 32; i++)
        votes |= (uint32_t)((in[thread / 32 * 32 + i] & mask) > n) << i;
    return n == 0 ? 7 : votes;
}

static void functions_come_back_in_the_middle(void)
{
    for (int path = 0; path < 2; path++)
        for (uint32_t n = 0; n < 5; n++) {
            static uint32_t out[BLOCK];
            run(path, "votes", 1, out, n);
            for (uint32_t t = 0; t < BLOCK; t++)
                CHECK(out[t] ==
                      (n != 3 ? ballot(t, ~0u, n) : 0) + ballot(t, 0xff, n * 10));
        }
}

static void threads_end_in_functions(void)
{
    for (int path = 0; path < 2; path++)
        for (uint32_t n = 32; n <= BLOCK; n += 32) {
            static uint32_t out[BLOCK];
            memset(out, 0xff, sizeof(out));
            run(path, "leaves", 1, out, n);
            for (uint32_t t = 0; t < BLOCK; t++)
                if (n == BLOCK)
                    CHECK(out[t] == t * 3 + in[t] + BLOCK * 1000);
                else
                    CHECK(t < n || out[t] == ~0u);
        }
}

int main(void)
{
    FILE *file = fopen(KERNEL_INLINE_PTX, "r");
    if (file == NULL || fread(text, 1, sizeof(text) - 1, file) == 0)
        return 1;
    fclose(file);
    for (uint32_t i = 0; i < 16 * BLOCK; i++)
        in[i] = i * 2654435761u >> 7;
    for (int path = 0; path < 2; path++) {
        units[path] = kernel_open(text, path == 0 ? KERNEL_FAST : KERNEL_SLOW, &error);
        if (units[path] == NULL) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
    }
    RUN(all_kernels_take_the_fast_path);
    RUN(nested_functions_share_their_memory);
    RUN(parameters_and_results_have_parts);
    RUN(functions_come_back_in_the_middle);
    RUN(threads_end_in_functions);
    kernel_close(units[0]);
    kernel_close(units[1]);
    return test_done();
}
