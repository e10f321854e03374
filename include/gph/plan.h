/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Plans addresses over plain arrays, without a driver: where buffers of known lifetimes
 *  are placed in one block of memory, so that two that live at the same time do not
 *  overlap and the block is small. Tier: experimental. */
#ifndef GPH_PLAN_H
#define GPH_PLAN_H

#include <gph/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A buffer and its life. Times are any numbers that order events, such as positions of
 *  kernels in a launch order. Layout frozen: planners read arrays of it. */
typedef struct gph_plan_buffer {
    uint64_t lower;     /**< first time at which it lives */
    uint64_t upper;     /**< first time at which it no longer lives; > lower */
    uint64_t size;      /**< bytes, > 0 */
    uint64_t alignment; /**< its offset is a multiple of this; 0 means 1 */
    uint64_t offset;    /**< where it must be, if pinned */
    uint32_t pinned;    /**< nonzero: at `offset` and nowhere else */
    uint32_t body;      /**< number, from 1, of the body that it belongs to, in the bodies
                        passed with the buffers; 0: none */
} gph_plan_buffer;

/** The body of a branch, a case or a loop. Cases of one choice exclude each other: only
 *  one of them runs, so their buffers may overlap even if their times do. A buffer that
 *  lives when the rounds of a loop begin, and ends during them, lives until they end: the
 *  next round reads it again. Layout frozen: planners read arrays of it. */
typedef struct gph_plan_body {
    uint32_t parent; /**< number of the body around it, lower than its own; 0: none */
    uint32_t choice; /**< the caller's number for its IF or SWITCH: bodies of one parent
                          with the same number exclude each other. 0: a loop */
    uint64_t lower;  /**< for a loop: first time of its rounds */
    uint64_t upper;  /**< for a loop: first time after its rounds; > lower */
} gph_plan_body;

/** The progress of a search. Lent: grows at the end. */
typedef struct gph_plan_progress {
    double elapsed_s;     /**< since the call */
    double limit_s;       /**< when it will end at the latest */
    uint64_t height;      /**< bytes of the lowest plan so far */
    uint64_t lower_bound; /**< bytes; no plan is lower */
    uint64_t steps;       /**< buffers placed by the search so far */
} gph_plan_progress;

/** Called about ten times a second. A nonzero result ends the search with the best plan
 *  so far. */
typedef int gph_plan_progress_fn(void *user, const gph_plan_progress *now);

/** Start from GPH_PLAN_OPTIONS_INIT. */
typedef struct gph_plan_options {
    uint32_t size;       /**< sizeof(gph_plan_options) */
    uint32_t reserved;   /**< zero */
    uint64_t capacity;   /**< bytes; the first plan that fits is taken. 0: the lowest
                              plan */
    double time_limit_s; /**< seconds for the search; 0: 1 second */
    uint64_t step_limit; /**< the search ends after this many steps; 0: no limit */
    gph_plan_progress_fn *progress; /**< or NULL */
    void *progress_user;            /**< passed to `progress`; borrowed */
    const gph_allocator *allocator; /**< borrowed; NULL: the C library's heap */
    const gph_plan_body *bodies;    /**< borrowed; `body_count` of them, 4,096 at most */
    size_t body_count;              /**< 0: none, and no buffer belongs to one */
} gph_plan_options;
/** Every option at its default. */
#define GPH_PLAN_OPTIONS_INIT GPH_SIZED(gph_plan_options)

/** What came out. */
typedef struct gph_plan_result {
    uint32_t size;        /**< sizeof(gph_plan_result) */
    uint32_t optimal;     /**< nonzero: proven that no plan is lower */
    uint64_t height;      /**< bytes the plan takes: the highest end of a buffer */
    uint64_t lower_bound; /**< no plan takes less: the most bytes that live at one time,
                               counting only the largest of the cases that exclude each
                               other */
    uint64_t steps;       /**< buffers placed by the search, tries included */
    double elapsed_s;     /**< of the call */
} gph_plan_result;

/** Finds offsets for `count` buffers. It first tries greedy rules (several orders, best
 *  fit and first fit), then, where nothing is pinned, no bodies exclude each other and
 *  there are at most a few thousand buffers, an exact search over canonical plans: depth
 *  first, with bounds per section of time, independent parts solved apart, restarts that
 *  learn where it is tight, and cuts at narrow times. Deterministic except for the time
 *  limit.
 *
 *  offsets  out: `count` offsets in bytes, the caller's array
 *  result   out, may be NULL
 *  options  borrowed for the call; NULL means all defaults
 *
 *  GPH_E_INVALID: a life that ends before it begins, a size of 0, sums beyond 2^62 bytes,
 *  a body that does not exist or whose parent comes after it, pinned buffers that overlap
 *  or are not aligned, a capacity below the bound (the message has the values).
 *  GPH_E_STATE: no plan within `capacity` was found in time. GPH_E_NO_MEMORY. On failure
 *  the outputs are untouched. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_plan_addresses(
    const gph_plan_buffer *buffers, size_t count, const gph_plan_options *options,
    uint64_t *offsets, gph_plan_result *result, gph_error *error);

/** Checks a plan: alignment, pinned offsets, and that no two buffers that live at the
 *  same time overlap. GPH_E_INVALID names the first buffers that break this. `height`:
 *  out, may be NULL. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_plan_check(const gph_plan_buffer *buffers,
                                              size_t count, const uint64_t *offsets,
                                              uint64_t *height, gph_error *error);

/** As gph_plan_check(), for buffers that belong to bodies: `body_count` of them,
 *  borrowed for the call. */
GPH_API GPH_CHECKED gph_status gph_plan_check_bodies(
    const gph_plan_buffer *buffers, size_t count, const gph_plan_body *bodies,
    size_t body_count, const uint64_t *offsets, uint64_t *height, gph_error *error);

/** Buffers with names, as read from a table. */
typedef struct gph_plan_table gph_plan_table;

/** Reads CSV: a line of column names, then one line per buffer. Columns, in any order:
 *  id, lower, upper, size; optionally alignment, offset and bodies. An empty offset leaves
 *  the buffer free, a number pins it. `bodies` is the path to the body of a buffer from
 *  outside, with steps joined by "/": CHOICE:CASE, a name and a number, or
 *  `LOOP@LOWER-UPPER`, a name and the times of its rounds; empty: none. Blanks around
 *  values and empty lines are allowed, quotes are not.
 *
 *  text       borrowed for the call; `bytes` of it, no zero needed
 *  allocator  NULL: the C library's heap; copied
 *  out        the caller's; end it with gph_plan_table_destroy()
 *
 *  GPH_E_FORMAT names line, column and value; GPH_E_NO_MEMORY. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_plan_table_read(const char *text, size_t bytes,
                                                   const gph_allocator *allocator,
                                                   gph_plan_table **out,
                                                   gph_error *error);
/** Destroys a table, its buffers and names. NULL is allowed. */
GPH_API void gph_plan_table_destroy(gph_plan_table *table);
/** Its buffers, in the order of the lines. Lent, like all below, until
 *  gph_plan_table_destroy(). */
GPH_API const gph_plan_buffer *gph_plan_table_buffers(const gph_plan_table *table);
/** How many there are. */
GPH_API size_t gph_plan_table_count(const gph_plan_table *table);
/** The bodies that its buffers belong to, `count` of them; lent. */
GPH_API const gph_plan_body *gph_plan_table_bodies(const gph_plan_table *table,
                                                   size_t *count);
/** The value in the column id; lent. `index` must be below the count. */
GPH_API const char *gph_plan_table_id(const gph_plan_table *table, size_t index);

/** Writes a plan as CSV: id, lower, upper, size, offset, and bodies if there are any, one
 *  line per buffer. The file is complete or stays as it was; what is not a plain file,
 *  such as a pipe, is written to directly.
 *
 *  offsets  borrowed; gph_plan_table_count() of them
 *  path     borrowed for the call
 *
 *  GPH_E_INVALID: a pointer is NULL, or the path is too long. GPH_E_IO: the message has
 *  the system's reason. GPH_E_NO_MEMORY. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_plan_table_save(const gph_plan_table *table,
                                                   const uint64_t *offsets,
                                                   const char *path, gph_error *error);

/** As gph_plan_table_save(), but in pieces to a function, whose failure is passed on. */
GPH_API GPH_CHECKED gph_status gph_plan_table_write(const gph_plan_table *table,
                                                    const uint64_t *offsets,
                                                    gph_write_fn *write, void *user,
                                                    gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
