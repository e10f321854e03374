// SPDX-License-Identifier: Apache-2.0
/* Everyday kernels on softcuda and the best C for the same work. A kernel is a line of a
 * table: one function says what it is launched with, one does the same in C. Arguments are
 * numbered as the kernel's parameters are, on both sides. */
#ifndef BENCH_MORE_H
#define BENCH_MORE_H
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __F16C__
#include <immintrin.h>
#endif

#define MORE_ARGUMENTS 12

/* How a result is compared: whole numbers exactly, unless the kernel has a slack. */
enum more_kind {
    MORE_INPUT,
    MORE_WORDS,
    MORE_ANY_ORDER,
    MORE_BYTES,
    MORE_FLOATS,
    MORE_HALVES,
    MORE_BRAINS
};

typedef struct more_argument {
    void *device;  /* NULL where the argument is a number */
    void *plain;   /* what C writes; an input is the same memory */
    void *initial; /* what a result holds before each run; NULL: it is not read */
    size_t bytes;
    enum more_kind kind;
    uint32_t number;
    float real;
    bool is_real;
} more_argument;

typedef struct more_job {
    bool small; /* a test: a few blocks */
    unsigned grid[3], block[3];
    more_argument a[MORE_ARGUMENTS];
    unsigned count;
    unsigned seed;
} more_job;

typedef struct more_kernel {
    const char *name;
    const char *module;
    void (*prepare)(more_job *job);
    void (*plain)(const more_job *job);
    double slack; /* |a - b| <= slack * (1 + |b|); of bytes, <= slack */
} more_kernel;

/* Each ends with a name of NULL. */
extern const more_kernel more_sparse[], more_sort[], more_select[], more_attention[],
    more_quant[], more_backward[], more_image[], more_random[], more_simulate[],
    more_text[], more_rows[];

/* Each of these is the next argument. Memory is of the device, zeros at first. */
void *more_input(more_job *job, size_t bytes);
float *more_floats(more_job *job, size_t count, float low, float high);
uint32_t *more_numbers(more_job *job, size_t count, uint32_t below); /* 0: all 32 bits */
uint8_t *more_bytes(more_job *job, size_t count);
void more_result(more_job *job, size_t bytes, enum more_kind kind);
/* A result that is read, too; what the caller writes there is there before each run. */
void *more_updated(more_job *job, size_t bytes, enum more_kind kind);
void more_number(more_job *job, size_t number);
void more_real(more_job *job, float real);

void more_line(more_job *job, size_t threads, unsigned block);
void more_plane(more_job *job, size_t width, size_t height, unsigned x, unsigned y);

static inline size_t more_size(const more_job *job, size_t measured, size_t tested)
{
    return job->small ? tested : measured;
}

uint32_t more_random_number(more_job *job);
float more_random_float(more_job *job, float low, float high);

/* What C reads and writes. */
static inline void *more_at(const more_job *job, unsigned argument)
{
    return job->a[argument].plain;
}
static inline int more_int(const more_job *job, unsigned argument)
{
    return (int)job->a[argument].number;
}

/* e^x by 2^n times a polynomial, which gcc vectorizes; expf() it would call once an
 * element. */
static inline float more_exp(float x)
{
    x *= 1.44269504f;
    x = x < -126.0f ? -126.0f : x;
    x = x > 126.0f ? 126.0f : x;
    const float whole = nearbyintf(x);
    const float f = x - whole;
    const float p =
        1.0f + f * (0.69314718f +
                    f * (0.24022651f +
                         f * (0.05550411f +
                              f * (0.00961813f + f * (0.00133336f + f * 0.00015469f)))));
    const int32_t bits = ((int32_t)whole + 127) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof(scale));
    return p * scale;
}

/* The natural logarithm of a positive number, likewise. */
static inline float more_log(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    const int32_t power = (bits - 0x3f3504f3) >> 23;
    bits -= power * (1 << 23);
    float m;
    memcpy(&m, &bits, sizeof(m));
    const float s = (m - 1.0f) / (m + 1.0f), z = s * s;
    return (float)power * 0.69314718f +
           2.0f * s *
               (1.0f + z * (0.33333333f + z * (0.2f + z * (0.14285714f + z * 0.11111f))));
}

static inline float more_of_brain(uint16_t x)
{
    const uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, sizeof(f));
    return f;
}

/* To nearest, even; no NaN is asked for. */
static inline uint16_t more_to_brain(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

__extension__ typedef _Float16 more_half;

/* Eight at once, which gcc 12 makes of no loop unless the processor computes with halves. */
static inline void more_of_halves(float to[8], const more_half from[8])
{
#ifdef __F16C__
    _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from)));
#else
    for (int i = 0; i < 8; i++)
        to[i] = (float)from[i];
#endif
}
static inline void more_to_halves(more_half to[8], const float from[8])
{
#ifdef __F16C__
    _mm_storeu_si128((__m128i *)to, _mm256_cvtps_ph(_mm256_loadu_ps(from), 0));
#else
    for (int i = 0; i < 8; i++)
        to[i] = (more_half)from[i];
#endif
}

#endif
