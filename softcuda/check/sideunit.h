// SPDX-License-Identifier: Apache-2.0
/* Units from the inside, for beside.c (their order, what is kept) and footprint.c (what they have
 * touched). */
#ifndef SOFT_CHECK_SIDEUNIT_H
#define SOFT_CHECK_SIDEUNIT_H

#include "softcuda/check/beside.h"
#include "softcuda/check/clock.h"
#include "softcuda/check/item.h"

/* A launch of the program, with all that comes of it. */
struct root {
    uint32_t references; /* of units */
    bool submitted, acquires;
    int column;
    uint64_t sequence; /* of its end */
    struct clock clock;
};

/* Where units run one after the other: a graph, then its tails. */
struct place {
    uint32_t references; /* of units and of places that lie in it or came of it */
    uint64_t count;      /* of those that have stood here */
    struct place
        *parent; /* who launched the first: its `ordinal`-th; NULL: the program */
    uint64_t ordinal;
    struct place
        *scope; /* in whose environment it runs, the `scope_ordinal`-th's; NULL: the
                          * launch's own */
    uint64_t scope_ordinal;
    uint8_t *before; /* by node of the launcher: it comes before */
    uint32_t before_count;
};

/* A page, and in what memory each 256 bytes of it lie; small allocations share pages. */
struct print_page {
    struct touched touched;
    uint64_t memory[FIRST_COUNT]; /* number; 0: none, or nothing is touched */
};

struct touch {
    struct item item;
    uint64_t memory; /* of a span */
    const struct print_page *page;
};

static inline uint64_t soft_touch_memory(const struct touch *touch, uint64_t address)
{
    return touch->page ? touch->page->memory[address % TOUCHED_BYTES / FIRST_BYTES]
                       : touch->memory;
}

/* A node, as messages name it. */
struct names {
    struct ran ran; /* first: items point here */
    soft_who who;
    char kernel[64];
};

static inline const soft_who *soft_touch_who(const struct touch *touch)
{
    return &((const struct names *)(const void *)touch->item.ran)->who;
}

struct footprint {
    struct touch *touches;    /* by address */
    struct print_page *pages; /* of them */
    struct names *names;      /* of nodes that have touched anything */
    uint32_t count, room;     /* of touches: those in memory that is there, all */
    uint32_t page_count, used_pages, name_count;
    uint64_t hash;
    bool flags_host; /* writes a word of the host's, as a flag */
};

/* False: no memory, and nothing is there. */
bool soft_footprint_init(struct footprint *out, const soft_race *race,
                         const soft_who *who, const soft_beside_options *options,
                         gph_allocator heap);
void soft_footprint_fini(struct footprint *footprint, gph_allocator heap);

struct soft_unit {
    soft_beside *beside;
    struct soft_unit *next, *previous;
    uint32_t references; /* of callers, one while it is in the list */
    uint64_t number;     /* in the order in which they began */
    struct root *root;
    struct place *place;
    uint64_t ordinal;
    bool ended, settled; /* settled: compared, and there to be compared with */
    struct footprint print;
};

/* sideplace.c: nodes of two units of one root; of two roots: always, they are not asked for. */
bool soft_units_ordered(const soft_unit *a, uint32_t a_node, const soft_unit *b,
                        uint32_t b_node);

#endif
