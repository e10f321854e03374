// SPDX-License-Identifier: Apache-2.0
/* What a cache asks of each graph that a patch may take: are its kernels those of the class,
 * and with which arguments and grids? Answered from the driver node by node, into the words
 * that the patch wants: to describe the graph and to compare the two costs twice as much. */
#ifndef GPHI_CACHE_BLOCK_H
#define GPHI_CACHE_BLOCK_H
#include "device/patcher.h"
#include "update/snapshot.h"

/* A graph of the class, as the driver lists it. */
typedef struct gphi_words {
    gph_runtime *runtime;
    const gph_snapshot *like;
    bool is_plain;  /* kernels alone, launched with a pointer an argument; else all are
                     * described */
    size_t edges;   /* in the driver's order, as are nodes */
    uint32_t *ends; /* by edge: nodes from, then nodes to */
    CUgraphEdgeData *data;
    /* Room for another graph's, one more each. */
    CUgraphNode *nodes, *from, *to;
    CUgraphEdgeData *other;
} gphi_words;

/* `like` must outlive it. GPH_E_NO_MEMORY, and what the driver returns; it is given back by
 * gphi_words_fini() in any case. */
gph_status gphi_words_init(gphi_words *words, gph_runtime *runtime,
                           const gph_snapshot *like, gph_error *error);
void gphi_words_fini(gphi_words *words);

/* Whether arguments and grid of a kernel node are all that differs. A cooperative launch has
 * a largest grid and a cluster one that divides it: theirs stay. */
bool gphi_words_fit(const gph_node *a, const gph_node *b);

/* One row's place in a block. */
void gphi_words_put(const gphi_patch_row *row, const gph_kernel_params *kernel,
                    unsigned char *out);

/* Writes the rows of a graph to `out`. `fits`: false if the graph has to be described, since
 * it is of another kind, or differs in more. */
gph_status gphi_words_read(gphi_words *words, CUgraph graph, const gphi_patch_row *rows,
                           unsigned char *out, bool *fits, gph_error *error);
#endif
