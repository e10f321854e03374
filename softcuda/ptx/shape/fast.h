// SPDX-License-Identifier: Apache-2.0
/* What the writers of a block's function share: regions (shape_fast.c), barriers and warp
 * operations (shape_warp.c). */
#ifndef SOFT_PTX_SHAPE_FAST_H
#define SOFT_PTX_SHAPE_FAST_H

#include "base/hash.h"
#include "softcuda/ptx/shape/shape.h"

typedef struct ptx_fast_remat {
    uint32_t reg, def;
} ptx_fast_remat;

/* The threads that a loop is for: from one index to before another, x, y, z. In a warp's
 * form the loops are over lanes, the fourth. */
typedef struct ptx_window {
    ptx_value from[4], to[4];
} ptx_window;

/* A copy of a region's body for threads that leave the main way: see shape_sides.c. */
typedef struct ptx_side {
    const uint16_t *place; /* by block: on the main way, if not 0 */
    uint32_t block, main;  /* where they leave it, and the way that they do not take */
} ptx_side;

/* Values that rise from thread to thread but for some places, by instruction: see
 * shape_bend.c. */
#define PTX_JAM_ROUNDS 4u /* that a thread makes together */
#define PTX_QUOTIENTS_MAX 4u
typedef struct ptx_quotient {
    uint32_t insn;
    ptx_value first[PTX_JAM_ROUNDS]; /* of the first lane, by round */
} ptx_quotient;
typedef struct ptx_quotients {
    ptx_quotient list[PTX_QUOTIENTS_MAX];
    uint32_t count;
} ptx_quotients;
typedef struct ptx_bends {
    const uint8_t *wanted, *kinds, *moving;
    uint8_t *given;
    const int64_t *slopes, *steps;
    ptx_value run;  /* how long the run is, as far as has been asked */
    ptx_value fits; /* an i1: whether it is longer than one thread at all */
    bool first;     /* what is being written is of the run's first thread */
} ptx_bends;

#define PTX_SPARES_MAX 4u
/* Loads under a condition that all threads of a run may do: see shape_spare.c. */
typedef struct ptx_spare {
    uint32_t own[PTX_SPARES_MAX], with[PTX_SPARES_MAX], count;
    bool small;    /* one of them is of bytes */
    uint8_t *kept; /* by instruction: its value for the run's first thread is */
} ptx_spare;

/* Where all threads of a copy go is known: see shape_settle.c. */
typedef struct ptx_settled {
    bool live, masks; /* those flags are not stored */
    bool touches;     /* its loops read or store flags */
    bool known;       /* the next region is given the number of its threads */
    char label[24];   /* after the loops; "": the usual one */
} ptx_settled;

/* A region's function: shape_part.c. */
typedef struct ptx_part_hash {
    gphi_hash128 hash; /* of its text */
    uint32_t region;
    bool is_used;
} ptx_part_hash;

typedef struct ptx_fast {
    ptx_writer w; /* first: emit->shape points here */
    ptx_shape *s;
    ptx_emit emit;
    uint32_t region;          /* being written */
    char name[16];            /* of the loop over threads being written: "T7a" */
    ptx_value index64;        /* the thread's index there */
    uint8_t *inside, *wanted; /* by register */
    ptx_fast_remat *chain;
    uint32_t chain_count;
    uint32_t stride;   /* of x in the region's loops: see ptx_fast_stride() */
    bool round;        /* the copy in which all threads of a loop go round once more */
    bool again;        /* such a copy was written: it leads back into the loop */
    uint32_t rounds;   /* how many of them a thread makes in the copy being written */
    uint32_t round_at; /* which of them is being written */
    const ptx_quotients *quotients; /* of the copy being written, or NULL: shape_jam.c */
    const uint8_t *ways; /* by block: the way of its branch that all take, + 1; or NULL */
    const uint8_t
        *ways_before;         /* in all rounds of the copy but its last; NULL: the same */
    const ptx_side *side;     /* of the copy being written, or NULL */
    const ptx_window *window; /* of the copy being written, or NULL: all threads */
    ptx_value
        *flat; /* by block: the threads that come there, in a copy without branches */
    uint32_t piece;        /* the loop over x is one over so many, in another one; or 0 */
    const int64_t *slopes; /* by register: ptx_find_slopes(); NULL: not yet */
    const uint8_t *rows;   /* of the copy being written, by register; or NULL */
    char row_copy;         /* of the loop over threads then: 'e' or 'k' */
    uint8_t *narrow;       /* by register: how its small numbers are, shape_narrow.c */
    const ptx_range *ranges; /* by register, where there are narrow ones */
    ptx_bends *bends;        /* of the copy being written, or NULL */
    ptx_spare *spare;        /* of the copy being written, or NULL */
    ptx_settled settled;     /* of the copy being written */
    bool late_flags;         /* what needs them sets them up: ptx_fast_need_flags() */
    bool few;             /* it is for the first threads alone: the others have ended */
    const char *scan;     /* how many threads the region has, or "": all */
    const char *next;     /* the label after its loops, or NULL: after the region */
    ptx_part_hash *parts; /* a table by hash; NULL: none yet */
    uint32_t part_mask;
    uint32_t loop_nodes[PTX_LOOP_KINDS]; /* given out before the part being written */
} ptx_fast;

#define FAST_GUARDS_MAX 8u

/* ---- shape_remat.c ---- */
void ptx_fast_write_remat(ptx_fast *f);
/* After instruction i, in a thread's code: says that what it set is a multiple of 32 and the
 * lane, if it is. */
void ptx_fast_part_lane(ptx_fast *f, uint32_t i);

/* ---- shape_guard.c ---- */
/* Region copies for threads that are all or the first ones, and for those that flags
 * pick. `scan` says how many threads take part; in its top bit, that they are not the
 * first ones. */
void ptx_fast_write_choice(ptx_fast *f, const char *scan);
/* A copy for when all threads take the same ways, and one for when not. False, nothing
 * written: there is no such branch. */
bool ptx_fast_write_without_guards(ptx_fast *f);

/* ---- shape_bend.c ---- */
void ptx_fast_find_bends(ptx_fast *f); /* f->bends, for the copy to be written */
/* Between the loop over rows and the one over threads, which ends at `bound`. */
void ptx_fast_open_runs(ptx_fast *f, const char *first, const char *bound);
void ptx_fast_lower(ptx_fast *f, uint32_t insn); /* ptx_lower(), with regard to bends */

bool ptx_fast_is_compare(const ptx_fast *f, uint32_t insn); /* one that bends */

/* ---- shape_spare.c ---- */
bool ptx_fast_is_small_load(const ptx_fast *f, uint32_t insn);
void ptx_fast_find_spare(ptx_fast *f); /* f->spare, after f->bends */
void ptx_fast_keep_first(ptx_fast *f, uint32_t insn);
void ptx_fast_open_spare(ptx_fast *f);
void ptx_fast_open_branches(ptx_fast *f, const char *from);

/* ---- shape_jam.c ---- */

/* ---- shape_floor.c ---- */
bool ptx_fast_write_floor(ptx_fast *f, uint32_t insn);

/* ---- shape_narrow.c ---- */
void ptx_fast_plan_narrow(ptx_fast *f);
bool ptx_fast_write_narrow(ptx_fast *f, uint32_t insn);
/* A quotient that all lanes have. False: nothing is written, it is something else. */
bool ptx_fast_write_quotient(ptx_fast *f, uint32_t insn);
void ptx_fast_keep_narrow(ptx_fast *f, uint32_t reg);

/* ---- shape_row.c ---- */
/* A copy for all threads, where registers in arrays rise from thread to thread by what is
 * guessed; where they do not, the code goes on at `label`, as it does where `full` is false
 * (NULL: all threads are there). False, nothing written: there are no such registers. */
bool ptx_fast_write_rows(ptx_fast *f, const char *full, const char *label);
void ptx_fast_write_row_helpers(gphi_text *out);

/* ---- shape_stride.c ---- */
#define PTX_FAST_ROW_MAX 1024u /* threads along x */
/* Only threads whose x is a multiple of it have anything to do in the region. */
uint32_t ptx_fast_stride(const ptx_fast *f);
/* The block's instructions touch no memory and do nothing but compute. */
bool ptx_fast_only_computes(const ptx_fast *f, uint32_t block);

/* ---- shape_sides.c ---- */
/* The loops of a region with sides that only threads at an edge of the block have anything
 * to do in. False, nothing written: it has none, or they cannot be written after the rest. */
bool ptx_fast_write_sides(ptx_fast *f);
/* No masks, early ends or loops in the region; instructions that can be done again, and
 * accesses of memory. */
bool ptx_fast_is_plain(const ptx_fast *f);
bool ptx_fast_is_known(const ptx_fast *f); /* but that threads may have ended before */

/* ---- shape_settle.c ---- */
void ptx_fast_settle(ptx_fast *f, char copy); /* f->settled, for the copy to be written */
void ptx_fast_after_loops(const ptx_fast *f, char *label, size_t bytes);
void ptx_fast_write_settled(ptx_fast *f); /* after its loops */

/* ---- shape_flat.c ---- */
/* The region with and without its branches by thread. False, nothing written: it has none,
 * or where a thread's access would be is not known. */
bool ptx_fast_write_flat(ptx_fast *f);
bool ptx_fast_is_harmless(
    const ptx_insn *insn); /* for a thread that has not taken the way */
bool ptx_fast_ends_unmarked(const ptx_fast *f, uint32_t block);
void ptx_fast_begin_flat(ptx_fast *f, uint32_t block); /* around a block's instructions */
void ptx_fast_end_flat(ptx_fast *f, uint32_t block);
bool ptx_fast_leads_on(const ptx_fast *f, uint32_t block); /* each way may be for all */

/* ---- shape_aside.c ---- */
/* Whether the copy to be written has no branches, and stores that a thread does not come to
 * go aside. */
bool ptx_fast_sets_aside(ptx_fast *f);
/* Some threads end at the end of the block, and others go on in the region. */
bool ptx_fast_leaves_early(const ptx_fast *f, uint32_t block);
/* Not all threads come to the block in the copy to be written. */
bool ptx_fast_is_conditional(const ptx_fast *f, uint32_t block);
void ptx_fast_open_pieces(ptx_fast *f); /* the loop over x where f->piece is not 0 */
void ptx_fast_close_pieces(ptx_fast *f);

/* ---- shape_warp.c ---- */
/* The barrier or warp operation of the current region; `scan` as above, or "". */
void ptx_fast_write_cut(ptx_fast *f, const char *scan);

/* ---- shape_phase.c: a warp's form ---- */
/* Around all regions: the loops over phases and warps. */
void ptx_fast_open_warps(ptx_fast *f);
void ptx_fast_close_warps(ptx_fast *f);
void ptx_fast_write_phase(ptx_fast *f); /* the current region, a barrier */

/* ---- shape_part.c ---- */
/* Kernels of more regions have a function for each, and no warp's form. */
uint32_t ptx_regions_max(const ptx_shape *s);
/* What is written between the two goes into a function of its own. `scan`: the value that
 * says how many threads take part, or "". The code leads to R<n>.after or R<n>.back. */
void ptx_fast_begin_part(ptx_fast *f);
void ptx_fast_end_part(ptx_fast *f, const char *scan);
void ptx_fast_write_parts(ptx_fast *f); /* after the kernel's function */

/* Masks and live flags are as they are when a block begins, or as somebody set them. */
void ptx_fast_need_flags(ptx_fast *f);
/* A byte by thread: `array` to or from the slot `slot`. */
void ptx_fast_load_flag(ptx_fast *f, const char *array, uint32_t n, const char *slot);
void ptx_fast_store_flag(ptx_fast *f, const char *array, uint32_t n, const char *slot);
/* How many threads the flags of an array name: as soft.scan, see there. */
ptx_value ptx_fast_scan(ptx_fast *f, const char *array, uint32_t n);

/* ---- shape_block.c ---- */
void ptx_fast_write_helpers(gphi_text *out);

/* ---- shape_threads.c ---- */
void ptx_fast_write_snapshots(ptx_fast *f);
void ptx_fast_write_scalar(ptx_fast *f);
void ptx_fast_move_offsets(ptx_fast *f);
void ptx_fast_name_thread(ptx_fast *f);
void ptx_fast_name_run(ptx_fast *f); /* the first thread of a run of them */
/* Of threadIdx's axis, 0 to 2, or the lane, 3: that of the first thread of the block or
 * warp, and how much larger that of the last one is. */
ptx_value ptx_fast_first_index(const ptx_fast *f, int axis);
ptx_value ptx_fast_index_range(ptx_fast *f, int axis);
const char *ptx_fast_row(const ptx_fast *f);   /* how many threads x is over */
const char *ptx_fast_lanes(const ptx_fast *f); /* "32", or as many as a strip has */
void ptx_fast_name_first(ptx_fast *f);         /* in the scalar part of a region */
void ptx_fast_write_loops(ptx_fast *f, char copy, const char *from, const char *bound);

/* ---- shape_piece.c ---- */
#define PTX_FAST_CONTEXT ", !llvm.access.group !1, !alias.scope !8"
const ptx_region *ptx_fast_region(const ptx_fast *f); /* the current one */
uint32_t ptx_fast_insn_count(const ptx_fast *f);      /* of the current region */
/* The one instruction that sets a register, or NULL: only then does a value at the branch
 * follow from the text. */
const ptx_insn *ptx_fast_definition(const ptx_fast *f, uint32_t reg);
const ptx_operand *ptx_fast_operands(const ptx_fast *f, const ptx_insn *insn);
const char *ptx_fast_type(const ptx_fast *f, uint32_t reg);
const char *ptx_fast_memory_type(const ptx_fast *f, uint32_t reg);
void ptx_fast_load_context(ptx_fast *f, uint32_t reg);
bool ptx_fast_is_array(const ptx_fast *f, uint32_t reg);
/* The number of a metadata node for one loop over the threads of the current region. */
uint32_t ptx_fast_loop_node(ptx_fast *f);
void ptx_fast_load_row(ptx_fast *f, uint32_t reg); /* in a copy of rows, of a thread */
bool ptx_fast_is_whole(const ptx_insn *insn);   /* all its types are of whole numbers */
bool ptx_fast_is_32_bits(const ptx_insn *insn); /* of whole numbers or bits */
bool ptx_fast_is_scalar(const ptx_shape *s, uint32_t insn);
bool ptx_fast_is_inside(const ptx_shape *s, uint32_t insn);
const char *ptx_fast_all(const ptx_fast *f); /* threads: the block's, or a warp's */
bool ptx_fast_heads_loop(const ptx_fast *f, uint32_t region, uint32_t *loop);
void ptx_fast_set_name(ptx_value *value, const char *name);
void ptx_fast_set_scalar(ptx_fast *f,
                         bool scalar); /* code for the block, or for a thread */

/* ---- shape_label.c ---- */
bool ptx_fast_is_apart(const ptx_fast *f);   /* the region's code is another function */
bool ptx_fast_has_copies(const ptx_fast *f); /* or it is too large to be written twice */
/* Where the flow goes if no thread waits at the current region: past it, or past the loop
 * that it heads. */
void ptx_fast_empty_label(const ptx_fast *f, char *label, size_t bytes);
/* The label of `to` for a jump from `from`. */
void ptx_fast_region_label(const ptx_fast *f, uint32_t from, uint32_t to, char *label,
                           size_t bytes);
/* Where the flow goes after a masked region, or after the loops it ends. */
void ptx_fast_after_label(const ptx_fast *f, uint32_t region, bool skip_own_loop,
                          char *label, size_t bytes);

/* ---- shape_fast.c ---- */
void ptx_fast_write_region(ptx_fast *f, uint32_t region);

#endif
