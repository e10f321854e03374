// SPDX-License-Identifier: Apache-2.0
/* Where a graph finds seed and offset, and how they go on.
 *
 * The host says how far the generator has come; each recording has words of its own in device
 * memory, and a one-thread kernel at the head of its graph:
 *
 *   seed | offset | generation       words[0..2]
 *
 *   if (words.generation != generation) { words = {seed, offset, generation}; }
 *   else                                { words.offset += count; }
 *
 * seed, offset and generation are arguments of the node. While a recording is the only
 * one that takes numbers, the device counts by itself and the host does nothing; when
 * something else took numbers in between, or the state was set, the host edits the
 * node's arguments (another generation), which touches no launch that is queued. */
#ifndef GPHI_CALLABLE_RNG_H
#define GPHI_CALLABLE_RNG_H
#include "cuda/runtime.h"
#include <gph/callable.h>

typedef struct gphi_rng_slot {
    gph_rng *rng; /* NULL: none */
    CUdeviceptr words;
    CUgraphNode node; /* of the template graph */
    uint64_t count;   /* per replay */
    uint64_t seed;    /* what the device has, and will have at the next replay */
    uint64_t next;
    uint64_t generation; /* of the node; 0: not known, to be set */
    uint64_t made;       /* of the template's node */
} gphi_rng_slot;

/* Reserves words. May allocate device memory: not while capturing. */
gph_status gphi_rng_slot_init(gphi_rng_slot *slot, gph_rng *rng, gph_error *error);
/* The words are free for others. */
void gphi_rng_slot_fini(gphi_rng_slot *slot);

/* Records the kernel as the last node of `stream`, which is being captured. */
gph_status gphi_rng_slot_capture(gphi_rng_slot *slot, CUstream stream, gph_error *error);
/* After the capture: the count is known. With 0 the node is taken out of the graph. */
gph_status gphi_rng_slot_settle(gphi_rng_slot *slot, uint64_t count, gph_error *error);

/* Before a launch of `exec`: takes numbers. `is_shared`: it was made from another graph
 * and updated with this one. */
gph_status gphi_rng_slot_step(gphi_rng_slot *slot, CUgraphExec exec, bool is_shared,
                              CUstream stream, gph_error *error);
/* The launch was refused: gives them back. */
void gphi_rng_slot_undo(gphi_rng_slot *slot);

/* Writes a state to `words` in stream order, by value. */
gph_status gphi_rng_write(const gph_rng *rng, CUdeviceptr words, gph_rng_state state,
                          CUstream stream, gph_error *error);
#endif
