// SPDX-License-Identifier: Apache-2.0
/* What decode records for serving: functions over tensors, as a cache and a tree call
 * them. Each one takes its temporaries from the pool of the call and gives them back, so
 * that all recordings of a pool share them. */
#ifndef DECODE_ROWS_H
#define DECODE_ROWS_H

#include "decoder.h"

/* A step over some of the slots; `user` is a decoder.
 *   input   active  i32[rows]  the slot of each row, -1: idle
 *   output  given    i32[rows]  the token of each row, -1: idle */
gph_status rows_step(void *user, gph_call *call, gph_error *error);

enum {
    GUESSES = 2,     /* a guess guesses so many tokens */
    GUESS_LAYERS = 1 /* with so many layers of the model */
};

/* Guesses the next tokens of slot 0 with the first layers of the model; `user` is a
 * decoder.
 *   input   none, or the tokens guessed so far, i32[GUESSES]
 *   output  tokens  i32[GUESSES]
 *           sure    f32[GUESSES]  by how much the logit of each beats the second */
gph_status rows_guess(void *user, gph_call *call, gph_error *error);

/* Runs the whole model over the last token of slot 0 and the guesses, and takes those
 * that hold; `user` is a decoder.
 *   input   one or two tensors of tokens guessed, i32[GUESSES]
 *   output  given  i32[2 + 2 * GUESSES]  how many tokens, then the tokens */
gph_status rows_verify(void *user, gph_call *call, gph_error *error);

#endif
