// SPDX-License-Identifier: Apache-2.0
/* Runs a kernel of kernels/corpus on the driver under test, and keeps what it wrote.
 *
 *   corpus_test --record FILE   all kernels in order, a record each:
 *       u32 length of the name, the name, i32 CUresult, u32 bytes, the bytes
 *
 * Elements whose order depends on timing are sorted before they are kept. */
#ifndef CONFORMANCE_CORPUS_RUN_H
#define CONFORMANCE_CORPUS_RUN_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/corpus/corpus.h"

struct corpus_result {
    char name[64];
    int32_t status;
    uint32_t bytes;
    unsigned char *data;
};

#define CORPUS_GUARD_BYTES 64
#define CORPUS_OVERRUN 9999 /* status: a kernel wrote after a buffer */
#define CORPUS_SKIPPED 9998 /* status: not among the files of CORPUS_FILES */

/* Whether the variable CORPUS_FILES, such as `scan,warp`, leaves the kernel out. */
static inline int corpus_is_skipped(const struct corpus_kernel *kernel)
{
    const char *files = getenv("CORPUS_FILES");
    return files != NULL && strstr(files, kernel->file) == NULL;
}

static inline uint32_t corpus_type_bytes(unsigned type)
{
    static const uint8_t bytes[] = {1, 2, 4, 8, 2, 2, 4, 8};
    return bytes[type];
}

static inline uint32_t corpus_arg_bytes(const struct corpus_arg *arg)
{
    return arg->count * corpus_type_bytes(arg->type);
}

/* All output bytes of a kernel. */
static inline uint32_t corpus_output_bytes(const struct corpus_kernel *kernel)
{
    uint32_t bytes = 0;
    for (const struct corpus_arg *arg = kernel->args; arg->what != CORPUS_END; arg++)
        if (arg->compare != NOT)
            bytes += corpus_arg_bytes(arg);
    return bytes;
}

static inline uint64_t corpus_hash(uint32_t i, uint32_t place)
{
    uint64_t h = (uint64_t)i * 0x9e3779b97f4a7c15u + (place + 1) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return h ^ h >> 31;
}

static inline int64_t corpus_int(const struct corpus_arg *arg, uint32_t i, uint64_t h)
{
    switch (arg->fill) {
    case BITS: return (int64_t)h;
    case MOD: return (int64_t)(h % (uint64_t)arg->p);
    case SMALL: return (int64_t)(h % 201) - 100;
    case SKIP: return (int64_t)(h % (uint64_t)arg->p) - 3;
    case STEP: return (int64_t)i * (int64_t)arg->p;
    case TREE: return i % 7 == 0 ? i : i / 2;
    case SORTED: return 3 * (int64_t)i + (int64_t)(h % 3);
    case CONST: return (int64_t)arg->p;
    default: return 0;
    }
}

/* Multiples of a power of two that the type holds exactly, with all its digits in use. */
static inline double corpus_real(const struct corpus_arg *arg, uint64_t h)
{
    const int64_t one = arg->type == F16 || arg->type == BF16 ? 1 << 10 : 1 << 23;
    switch (arg->fill) {
    case UNIT: return (double)(h % (uint64_t)one) / (double)one;
    case SIGNED: return (double)((int64_t)(h % (uint64_t)(2 * one)) - one) / (double)one;
    case WHOLE: return (double)((int)(h % 17) - 8);
    case CONST: return arg->p;
    default: return 0.0;
    }
}

/* Cuts what f16 cannot hold; subnormals become 0. */
static inline uint16_t corpus_to_half(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    const uint32_t exponent = bits >> 23 & 255;
    if (exponent < 113)
        return (uint16_t)(bits >> 16 & 0x8000);
    return (uint16_t)((bits >> 16 & 0x8000) | (exponent - 112) << 10 |
                      (bits >> 13 & 0x3ff));
}

static inline double corpus_from_half(uint16_t bits)
{
    const int exponent = bits >> 10 & 31;
    double x = (bits & 0x3ff) / 1024.0 + (exponent > 0);
    for (int i = 15; i < exponent; i++)
        x *= 2;
    for (int i = exponent > 0 ? exponent : 1; i < 15; i++)
        x /= 2;
    return bits & 0x8000 ? -x : x;
}

static inline void corpus_fill_element(const struct corpus_arg *arg, uint32_t i,
                                       uint32_t place, unsigned char *at)
{
    const uint64_t h = corpus_hash(i, place);
    const float x = (float)corpus_real(arg, h);
    const double wide = corpus_real(arg, h);
    uint32_t bits;
    uint16_t half;
    switch (arg->type) {
    case F16:
        half = corpus_to_half(x);
        memcpy(at, &half, 2);
        break;
    case BF16:
        memcpy(&bits, &x, 4);
        half = (uint16_t)(bits >> 16);
        memcpy(at, &half, 2);
        break;
    case F32: memcpy(at, &x, 4); break;
    case F64: memcpy(at, &wide, 8); break;
    default: {
        const int64_t value = corpus_int(arg, i, h); /* little-endian machines only */
        memcpy(at, &value, corpus_type_bytes(arg->type));
        break;
    }
    }
}

/* A value or the first contents of a buffer. */
static inline void corpus_fill(const struct corpus_arg *arg, uint32_t place,
                               unsigned char *out)
{
    if (arg->what == CORPUS_STRUCT) {
        memcpy(out, arg->bytes, arg->count);
        return;
    }
    const uint32_t step = corpus_type_bytes(arg->type);
    for (uint32_t i = 0; i < arg->count; i++)
        corpus_fill_element(arg, i, place, out + (size_t)i * step);
}

static inline int corpus_by_value(const void *a, const void *b)
{
    int32_t x, y;
    memcpy(&x, a, 4);
    memcpy(&y, b, 4);
    return (x > y) - (x < y);
}

static inline void corpus_write(FILE *file, const struct corpus_result *result)
{
    const uint32_t length = (uint32_t)strlen(result->name);
    fwrite(&length, 4, 1, file);
    fwrite(result->name, 1, length, file);
    fwrite(&result->status, 4, 1, file);
    fwrite(&result->bytes, 4, 1, file);
    fwrite(result->data, 1, result->bytes, file);
    fflush(file); /* what is there survives a crash in a later kernel */
}

/* How many records the file holds that fit the table, in order; `results` has room for
 * CORPUS_COUNT. */
static inline size_t corpus_read(const char *path, struct corpus_result *results)
{
    FILE *file = fopen(path, "rb");
    size_t count = 0;
    for (; file != NULL && count < CORPUS_COUNT; count++) {
        struct corpus_result *r = &results[count];
        uint32_t length;
        *r = (struct corpus_result){.bytes = 0};
        if (fread(&length, 4, 1, file) != 1 || length >= sizeof(r->name) ||
            fread(r->name, 1, length, file) != length ||
            strcmp(r->name, corpus_kernels[count].name) != 0 ||
            fread(&r->status, 4, 1, file) != 1 || fread(&r->bytes, 4, 1, file) != 1 ||
            r->bytes > corpus_output_bytes(&corpus_kernels[count]))
            break;
        r->data = malloc(r->bytes + 1);
        if (r->data == NULL || fread(r->data, 1, r->bytes, file) != r->bytes)
            break;
    }
    if (file != NULL)
        fclose(file);
    return count;
}

static inline void corpus_free(struct corpus_result *results)
{
    for (size_t i = 0; i < CORPUS_COUNT; i++)
        free(results[i].data);
}
#endif
