// SPDX-License-Identifier: Apache-2.0
/* Models, and what one rank has of them. A split model is a model again, of fewer heads and
 * a narrower feed-forward part, so that the decoder runs it as it is: it only has to sum
 * what comes out of the matrices that are split by rows.
 *
 *   qkv, gate_up   split by columns: heads, and inner dimensions, of this rank
 *   out, down      split by rows: the inputs that this rank has made
 *   the rest       whole on every rank
 */
#ifndef RANKS_SHARD_H
#define RANKS_SHARD_H

#include "examples/decode/weights.h"

/* A model of random weights, the same on every rank and machine. *out is the caller's
 * (weights_fini()). Fails as weights_make(). */
GPH_CHECKED gph_status shard_random(const gph_allocator *heap, uint32_t width,
                                    uint32_t layers, weights *out, gph_error *error);

/* What rank `rank` of `count` has of `whole`, which is borrowed for the call. *out is the
 * caller's. Fails with GPH_E_INVALID (heads, key heads or inner dimensions that `count` does
 * not divide) and as weights_make(). */
GPH_CHECKED gph_status shard_make(const weights *whole, uint32_t rank, uint32_t count,
                                  weights *out, gph_error *error);

#endif
