// SPDX-License-Identifier: Apache-2.0
/* Tensor core instructions give the bytes that an H100 gives (tensor.expected, recorded by
 * `GPH_DRIVER=cuda tensor_test --record FILE`): every form of mma.sync and wmma over
 * ordinary and hostile numbers, and where wmma.load puts what. */
#include "driver.h"
#include "tensor_forms.h"

#ifndef TENSOR_EXPECTED /* built without CMake, run in the root of the repository */
#define TENSOR_EXPECTED "tests/conformance/tensor.expected"
#endif

#define BUFFER_BYTES (TRIALS_MAX * 4096u)
#define TEXT_BYTES 16384u

struct record {
    char name[NAME_BYTES];
    int32_t status;
    uint32_t bytes;
};

static unsigned char in[3][BUFFER_BYTES], out[BUFFER_BYTES], expected[BUFFER_BYTES];
static FILE *recording; /* written, with --record */
static FILE *recorded;  /* read otherwise */
static unsigned compared, unrecorded;

/* Bytes of each buffer a trial, and how many there are. */
struct sizes {
    size_t in[3], out;
    unsigned trials;
};

static CUresult run_kernel(CUfunction kernel, const struct sizes *s)
{
    CUdeviceptr buffer[4] = {0};
    void *params[] = {&buffer[0], &buffer[1], &buffer[2], &buffer[3]};
    CUresult status = CUDA_SUCCESS;
    for (unsigned i = 0; i < 4 && status == CUDA_SUCCESS; i++)
        status = cu.cuMemAlloc(&buffer[i], BUFFER_BYTES);
    for (unsigned i = 0; i < 3 && status == CUDA_SUCCESS; i++)
        if (s->in[i] != 0)
            status = cu.cuMemcpyHtoD(buffer[i], in[i], s->in[i] * s->trials);
    if (status == CUDA_SUCCESS)
        status =
            cu.cuLaunchKernel(kernel, s->trials, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
    if (status == CUDA_SUCCESS)
        status = cu.cuMemcpyDtoH(out, buffer[3], s->out * s->trials);
    for (unsigned i = 0; i < 4; i++)
        if (buffer[i] != 0)
            (void)cu.cuMemFree(buffer[i]);
    return status;
}

static CUresult run_text(const char *text, const struct sizes *s)
{
    CUmodule module;
    CUfunction kernel;
    CUresult status = cu.cuModuleLoadData(&module, text);
    if (status != CUDA_SUCCESS)
        return status;
    status = cu.cuModuleGetFunction(&kernel, module, "k");
    if (status == CUDA_SUCCESS)
        status = run_kernel(kernel, s);
    (void)cu.cuModuleUnload(module);
    return status;
}

/* Finds the form's record; `expected` is filled. */
static bool find_record(const char *name, struct record *found)
{
    if (!recorded)
        return false;
    rewind(recorded);
    while (fread(found, sizeof(*found), 1, recorded) == 1) {
        if (found->bytes > BUFFER_BYTES ||
            fread(expected, 1, found->bytes, recorded) != found->bytes)
            return false;
        if (strncmp(found->name, name, NAME_BYTES) == 0)
            return true;
    }
    return false;
}

static void compare(const char *name, CUresult status, size_t bytes)
{
    struct record found;
    if (!find_record(name, &found)) {
        unrecorded++;
        return;
    }
    compared++;
    if (found.status != CUDA_SUCCESS) {
        CHECK_IS(status, (CUresult)found.status);
        return;
    }
    if (!CHECK(status == CUDA_SUCCESS && bytes == found.bytes)) {
        fprintf(stderr, "  %s: status %d\n", name, (int)status);
        return;
    }
    size_t different = 0, first = 0;
    for (size_t i = bytes; i-- > 0;)
        if (out[i] != expected[i]) {
            different++;
            first = i;
        }
    if (!CHECK(different == 0)) {
        const size_t word = first & ~(size_t)3;
        uint32_t got, wanted;
        memcpy(&got, out + word, 4);
        memcpy(&wanted, expected + word, 4);
        fprintf(stderr,
                "  %s: %zu of %zu bytes differ, first in class %zu: %08x, not %08x\n",
                name, different, bytes, first * CLASSES / bytes, got, wanted);
    }
}

static void ask(const char *name, const char *text, const struct sizes *s)
{
    memset(out, 0, sizeof(out));
    const CUresult status = run_text(text, s);
    const size_t bytes = status == CUDA_SUCCESS ? s->out * s->trials : 0;
    if (!recording) {
        compare(name, status, bytes);
        return;
    }
    struct record record = {.status = (int32_t)status, .bytes = (uint32_t)bytes};
    strncpy(record.name, name, NAME_BYTES - 1);
    fwrite(&record, sizeof(record), 1, recording);
    fwrite(out, 1, bytes, recording);
    fflush(recording);
    printf("%s: %d\n", name, (int)status);
}

static void fill(unsigned buffer, const struct sizes *s, enum element e, uint64_t seed)
{
    const size_t bytes = s->in[buffer];
    for (unsigned trial = 0; trial < s->trials; trial++) {
        uint64_t state = seed * 1000003u + trial * 8191u + buffer;
        fill_class(in[buffer] + trial * bytes, bytes, e, trial * CLASSES / s->trials,
                   buffer == 2, &state);
    }
}

static void ask_mma(unsigned number)
{
    const struct mma_form *f = &mma_forms[number];
    const enum element e[4] = {f->a, f->b, f->c, f->d};
    const unsigned elements[4] = {f->m * f->k, f->n * f->k, f->m * f->n, f->m * f->n};
    /* Sums of floats can differ in many ways, exact ones in few. */
    struct sizes s = {.out = elements[3] * element_facts[e[3]].bits / 8,
                      .trials = f->a == F64 || f->d == S32 ? 8 : TRIALS_MAX};
    for (unsigned i = 0; i < 3; i++) {
        s.in[i] = elements[i] * element_facts[e[i]].bits / 8;
        fill(i, &s, e[i], number + 1);
    }
    char name[NAME_BYTES], text[TEXT_BYTES];
    mma_name(f, name);
    mma_kernel(f, text);
    ask(name, text, &s);
}

/* Elements that say where they come from: their number, or (of 8 bits and fewer, whose
 * numbers do not fit) what a hash of it gives. */
static void number_elements(unsigned bits, size_t bytes, unsigned trials)
{
    memset(in[0], 0, bytes * trials);
    for (unsigned trial = 0; trial < trials; trial++)
        for (size_t i = 0; i < bytes * 8 / bits; i++) {
            uint64_t state = i * 77 + trial;
            const uint64_t mask = ((uint64_t)1 << (bits < 16 ? bits : 16)) - 1;
            const uint64_t value = bits >= 16 ? i : draw(&state) & mask;
            const size_t at = i * bits;
            uint64_t word;
            unsigned char *to = in[0] + trial * bytes + at / 64 * 8;
            memcpy(&word, to, 8);
            word |= value << at % 64;
            memcpy(to, &word, 8);
        }
}

static void ask_fragment(const struct wmma_form *f, char which)
{
    const enum element e = which == 'c' ? f->c : f->a;
    const unsigned rows = which == 'b' ? f->k : f->m,
                   columns = which == 'a' ? f->k : f->n;
    const unsigned count = which == 'a'   ? f->a_regs
                           : which == 'b' ? f->b_regs
                                          : f->c_regs;
    const struct sizes s = {.in = {rows * columns * element_facts[e].bits / 8},
                            .out = (size_t)count * 32 * unit_of(e),
                            .trials = element_facts[e].bits < 16 ? 4 : 1};
    number_elements(element_facts[e].bits, s.in[0], s.trials);
    char name[NAME_BYTES], what[8], text[TEXT_BYTES];
    snprintf(what, sizeof(what), "load.%c", which);
    wmma_name(f, what, name);
    wmma_fragment_kernel(f, which, text);
    ask(name, text, &s);
}

static void ask_wmma(unsigned number)
{
    const struct wmma_form *f = &wmma_forms[number];
    struct sizes s = {.in = {f->m * f->k * element_facts[f->a].bits / 8,
                             f->n * f->k * element_facts[f->a].bits / 8,
                             f->m * f->n * element_facts[f->c].bits / 8},
                      .out = f->m * f->n * element_facts[f->d].bits / 8,
                      .trials = 16};
    ask_fragment(f, 'a');
    ask_fragment(f, 'b');
    ask_fragment(f, 'c');
    fill(0, &s, f->a, 100 + number);
    fill(1, &s, f->a, 200 + number);
    fill(2, &s, f->c, 300 + number);
    char name[NAME_BYTES], text[TEXT_BYTES];
    wmma_name(f, "mma", name);
    wmma_kernel(f, text);
    ask(name, text, &s);
}

static void mma_gives_the_bytes_of_a_gpu(void)
{
    for (unsigned i = 0; i < MMA_COUNT; i++)
        ask_mma(i);
}

static void wmma_gives_the_bytes_of_a_gpu(void)
{
    for (unsigned i = 0; i < WMMA_COUNT; i++)
        ask_wmma(i);
}

int main(int argc, char **argv)
{
    DEVICE_OR_SKIP();
    (void)use_primary();
    if (argc == 3 && strcmp(argv[1], "--record") == 0)
        recording = fopen(argv[2], "wb");
    else if (!(recorded = fopen(TENSOR_EXPECTED, "rb")))
        return 1;
    RUN(mma_gives_the_bytes_of_a_gpu);
    RUN(wmma_gives_the_bytes_of_a_gpu);
    printf("%u forms compared, %u without a recording\n", compared, unrecorded);
    if (recorded && unrecorded > 0)
        return 1;
    return test_done();
}
