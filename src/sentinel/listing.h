// SPDX-License-Identifier: Apache-2.0
/* The nodes of an executable as the board has them, so that they can be read when the
 * process is gone.
 *
 *   [gphi_listing][entry 0]..[entry n][waits 0]..[waits m][texts, "" first]
 *
 * Entries are in an order in which edges point forward; what an entry waits for are the
 * next `wait_count` of the waits: places of entries before it, with EARLY where the
 * edge does not wait for the end (programmatic launch). */
#ifndef GPHI_SENTINEL_LISTING_H
#define GPHI_SENTINEL_LISTING_H
#include "graph/topology.h"
#include "sentinel/board.h"

#define GPHI_WAIT_EARLY 0x80000000u

typedef struct gphi_listing {
    gphi_board_block block;
    uint32_t count;
    uint32_t wait_count;
    uint32_t text_bytes;
    uint32_t reserved;
} gphi_listing;

typedef struct gphi_listing_entry {
    uint32_t index; /* of the node */
    uint32_t kind;
    uint32_t word; /* GPH_NODE_NONE: it has no sentinel */
    uint32_t wait_count;
    uint32_t region, kernel, place; /* in the texts */
} gphi_listing_entry;

/* The parts of a listing that was checked. */
typedef struct gphi_listing_parts {
    const gphi_listing *head;
    const gphi_listing_entry *entries;
    const uint32_t *waits;
    const char *texts;
} gphi_listing_parts;

/* What a listing is made of. */
typedef struct gphi_listing_source {
    const gph_graph *graph;
    const gphi_topology *topology;
    const uint32_t *nodes; /* with sentinels: word i is nodes[i]'s */
    uint32_t count;
    /* Of a node. Without `region` it is the node's name, without `place` not known. */
    gphi_node_name_fn *region, *place;
    const void *user;
} gphi_listing_source;

/* A new listing's offset in the board; GPH_E_STATE: it is full. */
gph_status gphi_listing_write(gphi_board *board, const gphi_listing_source *source,
                              uint64_t *out, gph_error *error);

/* False: `bytes` at `memory` hold no listing at `offset` that could be read. */
bool gphi_listing_open(const char *memory, uint64_t bytes, uint64_t offset,
                       uint32_t word_count, gphi_listing_parts *out);
#endif
