// SPDX-License-Identifier: Apache-2.0
/* Bytes and bits: launches, and the same in C. */
#include "more.h"

static void prepare_count(more_job *job)
{
    const size_t n = more_size(job, 65536, 1000);
    more_updated(job, 4, MORE_WORDS);
    more_bytes(job, n * 16);
    more_number(job, '\n');
    more_number(job, n);
    more_line(job, 16 * 256, 256);
}
/* Counts of bytes in bytes, 128 rounds at most, and only then in words. */
static void plain_count(const more_job *job)
{
    uint32_t *count = more_at(job, 0), found = 0;
    const uint8_t *text = more_at(job, 1), byte = (uint8_t)job->a[2].number;
    const int n = more_int(job, 3) * 16;
#pragma omp parallel for reduction(+ : found)
    for (int first = 0; first < n; first += 4096) {
        uint8_t sums[32] = {0};
        const int end = first + 4096 < n ? first + 4096 : n / 32 * 32;
        for (int i = first; i < end; i += 32)
#pragma omp simd
            for (int k = 0; k < 32; k++)
                sums[k] = (uint8_t)(sums[k] + (text[i + k] == byte));
        for (int k = 0; k < 32; k++)
            found += sums[k];
    }
    for (int i = n / 32 * 32; i < n; i++)
        found += text[i] == byte;
    *count = found;
}

static void prepare_crc(more_job *job)
{
    const size_t messages = more_size(job, 4096, 300), bytes = 64;
    more_result(job, messages * 4, MORE_WORDS);
    more_bytes(job, messages * bytes);
    uint32_t *table = more_input(job, 256 * 4);
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        table[i] = c;
    }
    more_number(job, bytes);
    more_number(job, messages);
    more_line(job, messages, 256);
}
/* Four messages side by side: none waits for another's table. */
static void plain_crc(const more_job *job)
{
    uint32_t *out = more_at(job, 0);
    const uint8_t *text = more_at(job, 1);
    const uint32_t *table = more_at(job, 2);
    const int bytes = more_int(job, 3), messages = more_int(job, 4);
#pragma omp parallel for
    for (int i = 0; i < messages / 4; i++) {
        const uint8_t *a = text + i * 4 * bytes, *b = a + bytes, *c = b + bytes,
                      *d = c + bytes;
        uint32_t w = 0xffffffffu, x = w, y = w, z = w;
        for (int k = 0; k < bytes; k++) {
            w = table[(w ^ a[k]) & 255] ^ w >> 8;
            x = table[(x ^ b[k]) & 255] ^ x >> 8;
            y = table[(y ^ c[k]) & 255] ^ y >> 8;
            z = table[(z ^ d[k]) & 255] ^ z >> 8;
        }
        const uint32_t all[4] = {~w, ~x, ~y, ~z};
        memcpy(out + i * 4, all, sizeof(all));
    }
}

static void prepare_case(more_job *job)
{
    const size_t n = more_size(job, 1048576, 3000);
    more_result(job, n, MORE_BYTES);
    more_bytes(job, n);
    more_number(job, n);
    more_line(job, n, 256);
}
static void plain_case(const more_job *job)
{
    uint8_t *out = more_at(job, 0);
    const uint8_t *in = more_at(job, 1);
    const int n = more_int(job, 2);
#pragma omp parallel for simd
    for (int i = 0; i < n; i++) {
        const uint8_t c = in[i];
        out[i] = (uint8_t)(c + ((c >= 'A') & (c <= 'Z') ? 'a' - 'A' : 0));
    }
}

static void prepare_hamming(more_job *job)
{
    const size_t n = more_size(job, 32768, 1000);
    more_result(job, n * 4, MORE_WORDS);
    more_numbers(job, n * 8, 0);
    more_numbers(job, n * 8, 0);
    more_number(job, n);
    more_line(job, n, 256);
}
static void plain_hamming(const more_job *job)
{
    uint32_t *out = more_at(job, 0);
    const uint64_t *a = more_at(job, 1), *b = more_at(job, 2);
    const int n = more_int(job, 3);
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int k = 0; k < 4; k++)
            sum += __builtin_popcountll(a[i * 4 + k] ^ b[i * 4 + k]);
        out[i] = (uint32_t)sum;
    }
}

static void prepare_pack(more_job *job)
{
    const size_t n = more_size(job, 262144, 4096);
    more_result(job, n / 8, MORE_WORDS);
    uint8_t *flag = more_input(job, n);
    for (size_t i = 0; i < n; i++)
        flag[i] =
            (uint8_t)(more_random_number(job) % 2 * (more_random_number(job) & 255));
    more_number(job, n);
    more_line(job, n, 256);
}
/* Eight flags to a byte by a product that moves each one's bit to its place. */
static void plain_pack(const more_job *job)
{
    uint8_t *out = more_at(job, 0);
    const uint8_t *flag = more_at(job, 1);
    const int n = more_int(job, 2);
#pragma omp parallel for
    for (int first = 0; first < n; first += 64) {
        uint8_t ones[64];
#pragma omp simd
        for (int i = 0; i < 64; i++)
            ones[i] = flag[first + i] != 0;
        for (int i = 0; i < 8; i++) {
            uint64_t eight;
            memcpy(&eight, ones + i * 8, 8);
            out[first / 8 + i] = (uint8_t)(eight * 0x0102040810204080u >> 56);
        }
    }
}

const more_kernel more_text[] = {{"count_byte", "text", prepare_count, plain_count, 0},
                                 {"crc32_table", "text", prepare_crc, plain_crc, 0},
                                 {"lower_case", "text", prepare_case, plain_case, 0},
                                 {"hamming", "text", prepare_hamming, plain_hamming, 0},
                                 {"pack_bits", "text", prepare_pack, plain_pack, 0},
                                 {0}};
