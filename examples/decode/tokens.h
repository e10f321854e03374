// SPDX-License-Identifier: Apache-2.0
/* Text and tokens of the adding model: the digits 0-9, 10 `+`, 11 `=`, 12 the end. A
 * problem reads `1234+567=`; the answer comes with its least significant digit first,
 * since an addition is carried out that way: `1081` and the end are the sum 1801. */
#ifndef DECODE_TOKENS_H
#define DECODE_TOKENS_H

#include <gph/base.h>
#include <stdbool.h>

enum { TOKEN_PLUS = 10, TOKEN_EQUALS = 11, TOKEN_END = 12, TOKENS_VOCAB = 16 };

enum { PROBLEM_PROMPT_MAX = 16, PROBLEM_ANSWER_MAX = 8 };

typedef struct problem {
    int prompt[PROBLEM_PROMPT_MAX];
    uint32_t prompt_count;
    unsigned a, b, sum;
} problem;

/* Reads a file of lines `1234+567=1801`, at most `limit` of them (0: all).
 *
 *  out, count  owned by the caller: heap_free() of count * sizeof(problem).
 *
 * Fails with GPH_E_INVALID (no such file), GPH_E_FORMAT (line and column of what is
 * wrong) and GPH_E_NO_MEMORY. */
GPH_CHECKED gph_status problems_read(const gph_allocator *heap, const char *path,
                                     size_t limit, problem **out, size_t *count,
                                     gph_error *error);

/* The number that answer tokens stand for. False unless digits and an end are all there is. */
bool answer_read(const int *token, size_t count, unsigned long long *out);

/* Token ids as in "1,2,3". The caller's: heap_free() of *count * sizeof(int). Fails with
 * GPH_E_INVALID and GPH_E_NO_MEMORY. */
GPH_CHECKED gph_status token_ids_read(const gph_allocator *heap, const char *text,
                                      uint32_t vocab, int **out, size_t *count,
                                      gph_error *error);

#endif
