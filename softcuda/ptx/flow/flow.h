// SPDX-License-Identifier: Apache-2.0
/* What is known of one function before a line of IR is written: its control flow graph,
 * its registers, its regions.
 *
 *   shape            one function being compiled, in an arena of its own
 *    ├─ insns[]      per instruction: role, registers read and written
 *    ├─ blocks[]     basic blocks; a barrier or warp operation is a block by itself
 *    ├─ loops[]      natural loops
 *    ├─ regs[]       per register: definitions, uniform or not, how it crosses a cut
 *    └─ regions[]    fast path only: what becomes one loop over the threads
 *
 * Running out of memory in here jumps to ptx_flow_memory.exit (ptx_compile() frees all). */
#ifndef SOFT_PTX_FLOW_FLOW_H
#define SOFT_PTX_FLOW_FLOW_H

#include <setjmp.h>

#include "softcuda/ptx/lower/emit.h"
#include "softcuda/ptx/ptx_arena.h"

#define SHAPE_EXIT                                                                       \
    0xffffffffu /* as a successor: the thread ends, the function returns                 \
                 */
#define SHAPE_NONE 0xfffffffeu

/* Rooms that are used again: an arena gives nothing back, and what is asked for at each of
 * many regions, as large as all of them, adds up to their square. */
typedef enum ptx_scratch_use {
    PTX_SCRATCH_STACK,
    PTX_SCRATCH_MARKS,
    PTX_SCRATCH_NAMES,
    PTX_SCRATCH_USED,
    PTX_SCRATCH_USES
} ptx_scratch_use;

typedef struct ptx_flow_memory {
    ptx_arena *arena;
    jmp_buf exit;
    struct {
        void *room;
        size_t bytes;
    } scratch[PTX_SCRATCH_USES];
} ptx_flow_memory;

/* Zeroed; never NULL. */
void *ptx_alloc(ptx_flow_memory *memory, size_t count, size_t bytes);
/* Until the next call for the same use; holds whatever was in it. Never NULL. */
void *ptx_scratch(ptx_flow_memory *memory, ptx_scratch_use use, size_t count,
                  size_t bytes);
static inline uint32_t *ptx_stack(ptx_flow_memory *memory, size_t count)
{
    return ptx_scratch(memory, PTX_SCRATCH_STACK, count, sizeof(uint32_t));
}
const char *ptx_format(ptx_flow_memory *memory, const char *format, ...) GPH_PRINTF(2, 3);

typedef struct ptx_flow_insn {
    uint8_t role; /* ptx_role */
    uint8_t reads_memory, writes_memory, is_volatile;
    uint8_t keeps_uniformity;
    uint8_t no_uniform_load; /* a store is before it in its region */
    uint8_t keeps_lockstep;  /* ptx_insn_keeps_lockstep() */
    uint8_t keeps_together;  /* with the one before it: see bound.c */
    uint8_t is_sum;          /* a sum of a warp: see join.c */
    uint8_t opens_region;    /* a uniform load, for those that come there: see region.c */
    uint8_t is_moment; /* reads a clock, once for all that come there: see clocks.c */
    uint32_t read_count, write_count;
    uint32_t *reads, *writes;
    uint32_t block;
} ptx_flow_insn;

typedef enum ptx_block_kind { SHAPE_CODE, SHAPE_BARRIER, SHAPE_WARP } ptx_block_kind;
typedef enum ptx_block_end {
    SHAPE_JUMP,   /* to succ[0] */
    SHAPE_BRANCH, /* succ[0] if `reg` (or not, by `negate`), else succ[1] */
    SHAPE_INDEX   /* succ[reg], brx.idx */
} ptx_block_end;

typedef struct ptx_flow_block {
    uint32_t first, count; /* instructions, without the branch or return at the end */
    uint8_t kind, end, negate;
    uint8_t reachable;
    uint8_t divergent; /* not every live thread of the block comes here together */
    uint8_t in_order;
    uint8_t reserved[2];
    uint32_t reg;
    uint32_t line; /* of the instruction at its end, for messages */
    uint32_t *succ, *pred;
    uint32_t succ_count, pred_count;
    uint32_t order; /* position in reverse postorder */
    uint32_t idom, ipdom;
    uint32_t loop; /* innermost, or SHAPE_NONE */
    uint32_t region;
} ptx_flow_block;

typedef struct ptx_flow_loop {
    uint32_t head, parent;
    uint32_t *blocks; /* bitmap */
    uint8_t uniform;  /* every live thread makes the same number of rounds */
    uint8_t lockstep; /* divergent, but run round by round under a mask */
    uint8_t spins;    /* leaves when another thread has done something */
    uint8_t outside;  /* its rounds are control flow around regions */
    uint8_t reserved[4];
} ptx_flow_loop;

typedef enum ptx_home {
    SHAPE_LOCAL,  /* lives in one region only */
    SHAPE_SCALAR, /* uniform */
    SHAPE_REMAT,  /* computed again where needed */
    SHAPE_AFFINE, /* a rematerializable base + a uniform offset */
    SHAPE_ARRAY   /* in a context array */
} ptx_home;

typedef struct ptx_flow_reg {
    uint32_t def_count;
    uint32_t def; /* an instruction that defines it; SHAPE_NONE */
    uint8_t divergent;
    uint8_t home;     /* ptx_home */
    uint8_t strict;   /* one value: every use is reached by the definition(s) alike */
    uint8_t warp_use; /* read or written by a warp operation or bar.red */
    uint8_t warp_write;
    uint32_t offset; /* of its context array: bytes a thread */
    uint32_t cost;   /* SHAPE_REMAT: instructions to compute it */
    uint32_t base;   /* SHAPE_AFFINE: the instruction that sets the base */
    uint32_t loop;   /* SHAPE_AFFINE: the lockstep loop of its steps, or SHAPE_NONE */
    uint32_t part;   /* SHAPE_AFFINE: the base adds a uniform value to this register, and
                        that value starts the offset; or SHAPE_NONE */
} ptx_flow_reg;

typedef struct ptx_region {
    uint32_t head;
    uint32_t *blocks; /* in order */
    uint32_t block_count;
    uint32_t *targets; /* regions that it leaves for */
    uint32_t target_count;
    uint32_t *preds;
    uint32_t pred_count;
    uint32_t *live_in, *live_out; /* bitmaps of registers */
    uint32_t next;                /* the next masked region of the chain, or SHAPE_NONE */
    uint32_t anchor;  /* the region that the chain hangs on; itself if not masked */
    uint32_t outcome; /* where all its threads go after the chain: a block, SHAPE_EXIT,
                         or SHAPE_DECIDED | the block whose uniform branch decides */
    uint32_t mask;    /* index of its mask array, or SHAPE_NONE */
    uint32_t order;
    uint8_t kind;        /* ptx_block_kind of its only block, or SHAPE_CODE */
    uint8_t masked;      /* only threads with their mask set run it */
    uint8_t exits;       /* a thread may end in it while others go on */
    uint8_t needs_live;  /* some thread may have ended before */
    uint8_t thread_code; /* there is anything to do by thread */
    uint8_t reserved[3];
} ptx_region;

typedef struct ptx_shape {
    ptx_flow_memory *memory;
    const ptx_module *module;
    const ptx_function *function;
    const ptx_compile_options *options;
    ptx_flow_insn *insns;
    ptx_flow_block *blocks;
    uint32_t block_count, entry;
    uint32_t *order; /* reachable blocks in reverse postorder */
    uint32_t order_count;
    ptx_flow_loop *loops;
    uint32_t loop_count;
    ptx_flow_reg *regs;
    uint32_t reg_words; /* of a bitmap of registers */
    uint32_t block_words;
    uint32_t **live_in;      /* by block: may be read from here on */
    uint32_t **maybe;        /* by block: some definition may have come before */
    uint32_t **uses, **defs; /* by block: read before written, written */
    ptx_region *regions;
    uint32_t region_count;
    uint32_t *linear; /* regions in the order of the code */
    uint32_t mask_count;
    uint8_t *forced; /* blocks that start a region */
    /* By block, for the scalar part of its region: whether it goes on to after[block]
     * instead of branching as written. */
    uint8_t *remat; /* by register: see ptx_is_remat() */
    uint8_t *passes, *linked;
    uint32_t *after;
    uint8_t irreducible;
    uint8_t has_cuts;
    uint8_t has_live;   /* threads may end early: an array of live flags */
    uint8_t by_warp;    /* planned for the 32 threads of a warp, not for a block */
    uint8_t alone;      /* a thread waits for other blocks: see alone.c */
    uint8_t one_row;    /* it is one thread where the block has one row alone */
    uint8_t has_phases; /* by_warp: there are barriers */
    uint8_t long_rows;  /* %row.x threads along x, of several blocks: see follow.c */
    uint8_t lanes;      /* by_warp: 32, or SHAPE_STRIP threads of a row */
    uint8_t joins;  /* sums of floats in memory are operations of a warp: see join.c */
    uint8_t clocks; /* clocks are read by all threads at one moment: see clocks.c */
    uint32_t local_bytes;           /* a thread; a multiple of */
    uint32_t local_align;           /* what its variables need */
    const uint32_t *offsets;        /* of the function's own variables */
    const uint32_t *shared_offsets; /* of the module's .shared variables */
    const char *slow_reason;        /* why not the fast path, or NULL */
    const char *refusal;            /* why not at all, or NULL */
    uint32_t array_bytes;           /* context arrays, a thread */
    uint32_t array_count;
    uint32_t mask_offset;   /* of the mask arrays, a byte each; the live flags after */
    struct ptx_shape *twin; /* of a block's form: the warp's, or NULL */
    const char *no_twin;    /* why it has none though it has shuffles or votes, or NULL */
    uint32_t no_twin_line;
    uint32_t *row_lines; /* of regions that have a copy for rows, as they were written */
    uint32_t row_line_count;
    uint32_t *rerolled_lines; /* see ptx_reroll() */
    uint32_t rerolled_count;
    /* Of a warp's form, see shape_phase.c. By register: the same in all warps; where it lies
     * in what a warp keeps over barriers, or 0. */
    uint8_t *steady;
    uint32_t *kept, kept_bytes;
    struct ptx_build *program;
} ptx_shape;

/* Whether instruction i writes it. */
static inline bool ptx_writes(const ptx_shape *s, uint32_t i, uint32_t reg)
{
    for (uint32_t k = 0; k < s->insns[i].write_count; k++)
        if (s->insns[i].writes[k] == reg)
            return true;
    return false;
}

static inline bool ptx_bit(const uint32_t *map, uint32_t i)
{
    return map[i >> 5] >> (i & 31) & 1;
}

static inline void ptx_set_bit(uint32_t *map, uint32_t i)
{
    map[i >> 5] |= 1u << (i & 31);
}

static inline void ptx_clear_bit(uint32_t *map, uint32_t i)
{
    map[i >> 5] &= ~(1u << (i & 31));
}

/* ---- cfg.c, domtree.c ---- */
/* Roles and registers of every instruction; shape->refusal if one cannot be written. */
void ptx_scan(ptx_shape *s);
void ptx_build_cfg(ptx_shape *s);
void ptx_order_blocks(ptx_shape *s); /* reachable blocks, their order and predecessors */
/* Dominators, loops, post-dominators (early exits ignored). */
void ptx_find_dominators(ptx_shape *s);
bool ptx_dominates(const ptx_shape *s, uint32_t a, uint32_t b);
bool ptx_in_loop(const ptx_shape *s, uint32_t loop, uint32_t block);
/* Marks what may run between a branch at the end of `block` and where its ways meet. */
void ptx_mark_influence(const ptx_shape *s, uint32_t block, uint32_t *map);

/* ---- bound.c: kernels that are cut though nothing in them asks for it ---- */
#define SHAPE_LARGE_INSNS 1200u  /* kernels up to here are not */
#define SHAPE_STRETCH_INSNS 200u /* of a block of a larger one */
bool ptx_is_large(const ptx_shape *s);
/* Blocks that begin a region since too much is before them: forced[]. */
void ptx_bound_regions(ptx_shape *s);

/* ---- web.c ---- */
/* The function with registers of their own for what one definition alone arrives at; itself
 * if there are none, or it is large. */
const ptx_function *ptx_split_registers(const ptx_shape *s);

/* ---- reroll.c ---- */
/* The function with loops that a compiler unrolled as they were, where threads part in them;
 * itself if there are none, or it is large. Their lines are in s->rerolled_lines. */
const ptx_function *ptx_reroll(ptx_shape *s);

/* ---- uniform.c ---- */
void ptx_find_uniformity(ptx_shape *s);
bool ptx_is_uniform_insn(const ptx_shape *s, uint32_t insn);
bool ptx_is_steady_load(const ptx_shape *s, uint32_t insn); /* a parameter or constant */
bool ptx_is_uniform_load(const ptx_shape *s,
                         uint32_t insn); /* of memory that may change */

/* ---- lane.c: what a warp's form knows of the thread's index ---- */
/* One value in a warp though it is made of the thread's index: threadIdx.y, the number of
 * the warp, threadIdx.x / 32 ... */
bool ptx_is_warp_uniform(const ptx_shape *s, uint32_t insn);
/* The lane and a uniform multiple of 32: threadIdx.x, %laneid, threadIdx.x % 32 ... */
bool ptx_is_lane(const ptx_shape *s, uint32_t reg);
/* The same without the multiple: the lane alone. */
bool ptx_is_bare_lane(const ptx_shape *s, uint32_t reg);

/* ---- follow.c ---- */
/* Whether blocks that follow each other along x may be run as one with a longer row. */
bool ptx_blocks_follow(const ptx_shape *s);

/* ---- strip.c ---- */
#define SHAPE_STRIP 16u
/* Whether the loop, whose rounds differ by thread, gains by being run round by round, some
 * threads at a time, each of them as a lane of vectors. */
bool ptx_gains_by_strips(const ptx_shape *s, uint32_t loop);
uint32_t ptx_strip_lanes(const ptx_shape *s); /* how many threads; 0: no such loop */

/* ---- slope.c ---- */
#define SHAPE_NO_SLOPE INT64_MIN
/* By register: how much it is thought to grow from a thread to the next; or NO_SLOPE. */
const int64_t *ptx_find_slopes(ptx_shape *s);

/* ---- range.c ---- */
typedef struct ptx_range {
    int64_t low, high; /* both in it; low > high: nothing sets the register */
} ptx_range;
/* By register, of whole numbers, as numbers with a sign. */
const ptx_range *ptx_find_ranges(ptx_shape *s);

/* ---- once.c: both are true where something has been found, and a plan is to be made again */
bool ptx_find_late_loads(ptx_shape *s);
bool ptx_find_region_loads(ptx_shape *s);
bool ptx_ends_threads(const ptx_shape *s, uint32_t block); /* some may end in it */

/* ---- wait.c ---- */
/* Whether a loop may go on until another thread does something. */
bool ptx_may_wait(const ptx_shape *s);
bool ptx_may_wait_unseen(const ptx_shape *s); /* in a loop that is not known to spin */
/* A compare-and-swap whose comparand changes from round to round tries again until it
 * succeeds: it waits for nobody. */
bool ptx_is_retry(const ptx_shape *s, uint32_t loop, uint32_t insn);

/* ---- commute.c ---- */
/* An atomic operation that gives the same in any order of threads, where no thread sees what
 * was there before. */
bool ptx_commutes(const ptx_shape *s, uint32_t insn);

/* ---- join.c ---- */
bool ptx_has_sums(const ptx_shape *s);
/* Makes sums of floats in global memory operations of a warp. */
void ptx_join_sums(ptx_shape *s);
bool ptx_gains_by_joining(const ptx_shape *s); /* which is planned with them */

/* ---- clocks.c ---- */
bool ptx_has_clock_waits(const ptx_shape *s); /* loops that go on until a time */
/* Makes reading a clock what all threads of a block do at the same moment. */
void ptx_join_clocks(ptx_shape *s);

/* ---- alone.c ---- */
/* Whether one thread at most waits in the loop, and the others of its block do nothing
 * meanwhile that it could wait for: then the shape is `alone`. */
bool ptx_waits_alone(ptx_shape *s, uint32_t loop);
void ptx_force_waits(ptx_shape *s); /* such waits begin a region */
/* Whether all waits of the kernel are such, and right after a barrier: then warps may run
 * one after the other. */
bool ptx_waits_by_warps(const ptx_shape *s);

/* ---- cost.c ---- */
uint32_t ptx_costs_max(const ptx_shape *s);
/* What makes a kernel of the fast path slow, in `out`, which has room for the most; text
 * is made in `memory`. How many. */
uint32_t ptx_find_costs(ptx_flow_memory *memory, const ptx_shape *s, ptx_cut *out);

/* ---- the module: compile.c ---- */
/* Loops over threads, by what their metadata says to the vectorizer. */
typedef enum ptx_loop_kind {
    PTX_LOOP_BLOCK,
    PTX_LOOP_BLOCK_EIGHT, /* eight at once, whatever it thinks of the cost */
    PTX_LOOP_WARP,
    PTX_LOOP_WARP_EIGHT,
    PTX_LOOP_PLAIN, /* thread by thread */
    PTX_LOOP_KINDS
} ptx_loop_kind;

typedef struct ptx_build {
    ptx_flow_memory memory; /* first: the program's own arena */
    const ptx_module *module;
    const ptx_compile_options *options;
    gphi_text text;
    gphi_text part, function, parts;     /* code that becomes functions of its own:
                                        shape_part.c */
    uint32_t loop_nodes[PTX_LOOP_KINDS]; /* given out */
    uint8_t
        *used_functions; /* device functions: bit 0 wanted, 1 written, 2 address taken */
    uint32_t *order;     /* all functions, callers after those they call */
    uint8_t *has_cuts;   /* by function: cuts, here or below; the thread may end */
    uint8_t *small;      /* by function: may be put in place of its calls */
    uint8_t *launches;   /* by function and kernel: LAUNCHES_, what it may call */
    uint8_t *names_open; /* likewise: calls or names a function whose address is taken */
    uint8_t *recursive;
    uint8_t *cuts_recursive;  /* by way of functions with cuts alone */
    uint32_t *shared_offsets; /* of module-level .shared variables that functions use */
    uint8_t *used_globals;
    uint8_t *waits;            /* by function: a loop, here or below, may wait */
    const char **refusals;     /* by function: why it cannot be written, or NULL */
    uint32_t *function_shared; /* by function: where its own .shared variables start */
    uint32_t function_shared_bytes;
    bool has_byte_runs; /* a byte a thread, and a row in pieces: shape_bend.c */
} ptx_build;

/* ---- calls.c ---- */
enum {
    FUNCTION_WANTED = 1,
    FUNCTION_WRITTEN = 2,
    FUNCTION_OPEN = 4,
    FUNCTION_NAMED = 8 /* a kernel whose address the text has */
};
enum { LAUNCHES_GRAPHS = 1, LAUNCHES_KERNELS = 2 };
#define SHAPE_SMALL_MAX 4000u

/* Fills order, used_functions (open ones), has_cuts, recursive, cuts_recursive, small,
 * launches, names_open. */
void ptx_find_calls(ptx_build *p);
/* Whom an instruction calls (a function or a register), or NULL. */
const ptx_operand *ptx_callee(const ptx_function *f, const ptx_insn *insn);
/* A device function that is defined here. */
bool ptx_has_body(const ptx_module *module, uint32_t function);

/* ---- inline.c ---- */
/* The kernel with functions that have cuts in place of their calls; itself if it calls
 * none, or one of them cannot be put there. */
const ptx_function *ptx_inline_calls(ptx_build *p, ptx_flow_memory *memory,
                                     const ptx_function *kernel);

/* ---- cut.c: a barrier or warp operation, taken apart ---- */

typedef enum ptx_cut_kind {
    SHAPE_CUT_SYNC, /* bar.sync */
    SHAPE_CUT_ARRIVE,
    SHAPE_CUT_REDUCE, /* bar.red; mode: 1 popc, 2 and, 3 or */
    SHAPE_CUT_WARPSYNC,
    SHAPE_CUT_SHFL,  /* mode: 0 up, 1 down, 2 bfly, 3 idx */
    SHAPE_CUT_VOTE,  /* mode: 0 all, 1 any, 2 uni, 3 ballot */
    SHAPE_CUT_MATCH, /* mode: 0 any, 1 all */
    SHAPE_CUT_REDUX, /* mode: 0 add 1 min.u 2 max.u 3 min.s 4 max.s 5 and 6 or 7 xor */
    SHAPE_CUT_ELECT,
    SHAPE_CUT_ACTIVE,
    SHAPE_CUT_SUM,   /* `value` is added at `b`; mode: 1 of the system's scope */
    SHAPE_CUT_MATRIX /* ptx_matrix_read() takes it apart */
} ptx_cut_kind;

typedef struct ptx_cut_form {
    ptx_cut_kind kind;
    uint32_t mode;
    ptx_type type; /* of the value */
    /* NULL: not written. `id`, `threads`: of barriers. */
    const ptx_operand *out, *out_pred, *value, *b, *c, *mask, *id, *threads;
    bool cluster; /* SYNC: of all blocks of the cluster */
} ptx_cut_form;

ptx_cut_form ptx_cut_of(const ptx_shape *s, uint32_t insn);
/* A barrier that all threads of the block share: id 0, no count. */
bool ptx_cut_is_whole(const ptx_cut_form *cut);

/* ---- registers.c ---- */
/* Registers a thread, about as a GPU's compiler reports them; uses liveness, which it
 * finds where it is not there yet and there is room for it. */
uint32_t ptx_estimate_registers(ptx_shape *s, uint32_t max_threads, bool has_room);

/* ---- region.c, value.c ---- */
#define SHAPE_DECIDED 0x80000000u
void ptx_find_lockstep(ptx_shape *s);
void ptx_find_homes(ptx_shape *s);
void ptx_find_liveness(ptx_shape *s);
uint32_t ptx_local_def(const ptx_shape *s, uint32_t insn, uint32_t reg);
bool ptx_is_remat(const ptx_shape *s, uint32_t reg);
/* It asks for the time: twice, it has two values. */
static inline bool ptx_is_clock(const ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_SREG && operand->index >= PTX_SREG_CLOCK &&
           operand->index <= PTX_SREG_GLOBALTIMER_HI;
}
/* One or two instructions of a processor, without memory or a fault. */
bool ptx_is_cheap(const ptx_shape *s, uint32_t insn);
bool ptx_has_one_meaning(const ptx_shape *s,
                         uint32_t reg); /* all definitions are alike */
#define SHAPE_STEP_MAX 64u
uint32_t ptx_find_step(const ptx_shape *s, uint32_t i, uint32_t reg, uint32_t *chain);
bool ptx_is_step(const ptx_shape *s, uint32_t insn, uint32_t reg);
/* Regions, homes of registers; sets slow_reason if the kernel has no fast form. */
void ptx_plan_fast(ptx_shape *s);

#endif
