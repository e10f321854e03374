// SPDX-License-Identifier: Apache-2.0
/* The books of a pool: which bytes of its pages are allocated, and who may have the rest.
 * No driver call here.
 *
 *   segment     |live 512|free 1536      |live 4096          |free ...|   blocks, linked
 *                         lane 0          owner: recording 7   lane 2     by address
 *
 * A free block is in a *lane*: what must have happened before it is used again. Lane 0 is
 * free for all. A lane of a stream is free for that stream at once, and for others from
 * the moment when they know that the stream is past the block's position: eager lanes
 * count tickets (fence.c), lanes of a capture count sets of terminal nodes (walk.c). A
 * lane is a treap by (bytes, address) in which each node knows the least position below
 * it, so that the best fit among blocks up to a position is found in logarithmic time.
 * Neighbors in one lane are merged.
 *
 * Everything lies in arrays, by number: NIL is none. */
#ifndef GPHI_MEMORY_BLOCKS_H
#define GPHI_MEMORY_BLOCKS_H
#include "base/map.h"
#include "base/vec.h"
#include <gph/memory.h>

#define GPHI_NIL UINT32_MAX
#define GPHI_ANY UINT64_MAX /* any position */
enum { GPHI_LANE_FREE = 0, GPHI_GRAIN = 512 };

enum gphi_block_state { GPHI_BLOCK_UNUSED, GPHI_BLOCK_FREE, GPHI_BLOCK_LIVE };

struct gphi_block {
    uint64_t address, bytes;
    uint32_t previous, next; /* neighbors; `next` links unused ones */
    uint8_t state;

    /* free */
    uint64_t position, least; /* its own; of the subtree */
    uint32_t lane;
    uint32_t left, right, weight;

    /* live */
    uint64_t requested;
    CUstream stream; /* of the allocation */
    uint32_t uses;   /* other streams: first of a list in gphi_blocks.uses */
    gph_recording_id owner;
    uint32_t range;           /* in its owner's ranges */
    gph_recording_id read_by; /* the open recording, if it is its input already */
    uint32_t read_range;
};

/* Another stream that uses a live block. */
struct gphi_use {
    CUstream stream;
    uint32_t next;
    bool is_captured; /* in the capture of the open recording */
};

struct gphi_segment {
    uint64_t address, bytes;
    uint32_t first, last; /* blocks */
};

enum gphi_lane_kind {
    GPHI_LANE_ANY,   /* lane 0 */
    GPHI_LANE_EAGER, /* `stream`: its place in arena->streams; NIL: for nobody until all
                        streams have come to the position, a ticket */
    GPHI_LANE_CAPTURED, /* `stream`: its place in the recording; NIL: for all of the
                           recording's */
    GPHI_LANE_HELD      /* freed in the capture, for nobody until it ends */
};

struct gphi_lane {
    uint32_t root;
    uint32_t stream;
    enum gphi_lane_kind kind;
};

struct gphi_blocks {
    gphi_vec items;    /* struct gphi_block */
    gphi_vec segments; /* struct gphi_segment, by address */
    gphi_vec lanes;    /* struct gphi_lane */
    gphi_vec uses;     /* struct gphi_use */
    gphi_map live;     /* address -> block */
    uint32_t unused;   /* blocks that may be used again */
    uint32_t unused_count;
    uint32_t unused_uses;
    uint32_t seed;
    uint64_t live_bytes, peak_bytes, requested_bytes;
};

static inline struct gphi_block *gphi_block_at(const struct gphi_blocks *b, uint32_t i)
{
    return (struct gphi_block *)b->items.items + i;
}
static inline struct gphi_segment *gphi_segment_at(const struct gphi_blocks *b,
                                                   uint32_t i)
{
    return (struct gphi_segment *)b->segments.items + i;
}
static inline struct gphi_lane *gphi_lane_at(const struct gphi_blocks *b, uint32_t i)
{
    return (struct gphi_lane *)b->lanes.items + i;
}
static inline struct gphi_use *gphi_use_at(const struct gphi_blocks *b, uint32_t i)
{
    return (struct gphi_use *)b->uses.items + i;
}

gph_status gphi_blocks_init(struct gphi_blocks *b, gph_allocator heap);
void gphi_blocks_fini(struct gphi_blocks *b);

/* So many blocks, live or free, can be added after this without fail. */
gph_status gphi_blocks_reserve(struct gphi_blocks *b, uint32_t more);

/* The lane of that kind and stream, made if there is none. */
gph_status gphi_blocks_lane(struct gphi_blocks *b, enum gphi_lane_kind kind,
                            uint32_t stream, uint32_t *out);

/* The best fit in a lane, up to a position: a block, or NIL. */
uint32_t gphi_blocks_fit(const struct gphi_blocks *b, uint32_t lane, uint64_t bytes,
                         uint64_t position);

/* The block that holds an address, or NIL. */
uint32_t gphi_blocks_holding(const struct gphi_blocks *b, uint64_t address);
/* The live block that begins there, or NIL. */
uint32_t gphi_blocks_live(const struct gphi_blocks *b, uint64_t address);
/* The segment that holds an address, or NIL. */
uint32_t gphi_blocks_segment(const struct gphi_blocks *b, uint64_t address);

/* New pages: a free block in a lane, merged with its neighbors there; segments that
 * touch become one. Needs 1 block reserved, and room in `segments`. */
void gphi_blocks_add_pages(struct gphi_blocks *b, uint64_t address, uint64_t bytes,
                           uint32_t lane, uint64_t position);
/* Takes the end of a segment away, which must be free: all of it, or a part. */
void gphi_blocks_drop_pages(struct gphi_blocks *b, uint32_t segment, uint64_t bytes);

/* Makes the front of a free block live; the rest stays in its lane. Needs 1 block and
 * 1 entry of `live` reserved. */
void gphi_blocks_take(struct gphi_blocks *b, uint32_t block, uint64_t bytes,
                      uint64_t requested);
/* Makes exactly these bytes live, which lie in free blocks, of whichever lanes. Needs 2
 * blocks reserved. Returns the block. */
uint32_t gphi_blocks_take_at(struct gphi_blocks *b, uint32_t block, uint64_t address,
                             uint64_t bytes, uint64_t requested);

/* Makes a live block free, in a lane. Its uses are dropped. Returns the block that it is
 * part of now. */
uint32_t gphi_blocks_put(struct gphi_blocks *b, uint32_t block, uint32_t lane,
                         uint64_t position);

/* Moves what is in a lane up to a position to another one. */
void gphi_blocks_move(struct gphi_blocks *b, uint32_t from, uint64_t upto, uint32_t to,
                      uint64_t position);
/* Makes a run of free neighbors, from `first` to `last`, one block of a lane. */
uint32_t gphi_blocks_join(struct gphi_blocks *b, uint32_t first, uint32_t last,
                          uint32_t lane, uint64_t position);

/* Adds a use to a block's list; GPH_E_NO_MEMORY changes nothing. */
gph_status gphi_blocks_use(struct gphi_blocks *b, uint32_t block, CUstream stream,
                           bool is_captured);
void gphi_blocks_drop_uses(struct gphi_blocks *b, uint32_t block);
/* The same for a list that its block has lost, or only for those of a capture. */
void gphi_blocks_drop_use_list(struct gphi_blocks *b, uint32_t *list, bool only_captured);
#endif
