// SPDX-License-Identifier: Apache-2.0
/* The launches of a prefill and of a decode step; decoder.h is for everybody else. */
#ifndef DECODE_STEP_H
#define DECODE_STEP_H

#include "decoder.h"

/* How many ints a prefill's arrays take: token, position and slot a row; the last row,
 * its position, its sequence and a start_t a prompt. */
uint32_t step_staged_ints(const decoder *m);

/* Puts the prefill of some prompts into the stream. */
GPH_CHECKED gph_status step_prefill(decoder *m, const prompt *list, uint32_t count,
                                    gph_error *error);

/* Puts the prefill of the request that is at `ask` (an ask_t) into the stream; it needs no
 * host: its first token goes to `out`, by its sequence. */
GPH_CHECKED gph_status step_admit(decoder *m, CUdeviceptr ask, CUdeviceptr out,
                                  gph_error *error);

/* A pass over given rows; the arrays are device memory, `rows` long. */
typedef struct row_pass {
    uint32_t rows;
    uint32_t layers; /* of the model: all, or the first few of them */
    picked_t row;
    CUdeviceptr next;   /* out: the token after each row */
    CUdeviceptr margin; /* out: how sure the model is of it, floats; 0: not wanted */
} row_pass;

/* Puts such a pass into the stream. */
GPH_CHECKED gph_status step_rows(decoder *m, const row_pass *pass, gph_error *error);

#endif
