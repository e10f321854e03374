/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Planners for families of graphs, over plain arrays, without a driver. Ladders: for
 *  which sizes a graph is recorded, and to which of them a call is padded. Sharing: which
 *  graphs keep an executable of their own. Fits: what a size that was not measured will
 *  take. Tier: experimental. */
#ifndef GPH_PLAN_LADDER_H
#define GPH_PLAN_LADDER_H

#include <gph/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A point of a curve. Layout frozen: two coordinates. */
typedef struct gph_plan_point {
    uint64_t size; /**< along the axis */
    double value;  /**< at that size; finite and >= 0 */
} gph_plan_point;

/** A value for every size: points in order of size, with straight lines between them;
 *  before the first point and after the last, the line through the two nearest points
 *  continues, but never below 0. One point: the same value everywhere. Layout frozen: an
 *  array and its length. */
typedef struct gph_plan_curve {
    const gph_plan_point *points; /**< borrowed; sizes rise */
    size_t count;                 /**< how many; 0: no curve is given */
} gph_plan_curve;

/** The value of a curve at a size; 0 if it has no point. The curve is not checked.
 *  Thread: any. */
GPH_API double gph_plan_curve_at(const gph_plan_curve *curve, uint64_t size);

/** The usual ladders. */
typedef enum gph_plan_ladder_kind {
    GPH_PLAN_LADDER_POWERS = 0,  /**< from, and powers of two above it, and to */
    GPH_PLAN_LADDER_LINEAR = 1,  /**< from, from + step, from + 2 step .. and to */
    GPH_PLAN_LADDER_SERVING = 2, /**< vLLM's: 1 2 4, every 8th from 8 to 256, every 16th
                                      above; those from `from` up to `to`, and `to` */
    GPH_PLAN_LADDER_LIST = 3     /**< as given: rising sizes */
} gph_plan_ladder_kind;

/** Describes a ladder. {0} with `from` and `to` set gives powers of two. Layout frozen:
 *  {0} is valid; a later kind takes the place of `reserved`. */
typedef struct gph_plan_ladder_rule {
    uint32_t kind;        /**< gph_plan_ladder_kind */
    uint32_t reserved;    /**< zero */
    uint64_t from;        /**< lowest rung, > 0; LIST: ignored */
    uint64_t to;          /**< highest rung, >= from; LIST: ignored */
    uint64_t step;        /**< LINEAR: > 0; else ignored */
    const uint64_t *list; /**< LIST: the sizes, > 0; borrowed for the call */
    size_t list_count;    /**< LIST: how many, > 0 */
} gph_plan_ladder_rule;

/** Writes the rungs of a ladder in rising order.
 *
 *  rule   borrowed for the call
 *  rungs  out: the caller's array; NULL with `room` 0 only counts
 *  room   how many rungs it holds
 *  count  out: how many rungs the ladder has; may be NULL
 *
 *  GPH_E_INVALID: a rule that does not describe a ladder, more than 2^20 rungs, or more
 *  than `room` (the message has the number). On failure the outputs are untouched.
 *  Thread: any. */
GPH_API GPH_CHECKED gph_status gph_plan_ladder_make(const gph_plan_ladder_rule *rule,
                                                    uint64_t *rungs, size_t room,
                                                    size_t *count, gph_error *error);

/** How often a size was asked for. Layout frozen: a bar of a histogram. */
typedef struct gph_plan_size {
    uint64_t size;  /**< > 0 */
    uint64_t count; /**< calls of this size; 0 is allowed */
} gph_plan_size;

/** Sizes in any order; a size may occur more than once. Layout frozen: an array and its
 *  length. */
typedef struct gph_plan_histogram {
    const gph_plan_size *sizes; /**< borrowed */
    size_t count;               /**< of `sizes` */
} gph_plan_histogram;

/** Start from GPH_PLAN_LADDER_OPTIONS_INIT. */
typedef struct gph_plan_ladder_options {
    uint32_t size;          /**< sizeof(gph_plan_ladder_options) */
    uint32_t bucket_max;    /**< at most this many rungs; 0: no limit */
    gph_plan_curve cost;    /**< cost of a replay at a rung; not given: the rung itself */
    gph_plan_curve eager;   /**< cost of a call without a graph; not given: every size
                                 gets a rung; given: sizes above the last rung may run
                                 without a graph */
    gph_plan_curve bytes;   /**< memory of a rung; not given: 0 */
    gph_plan_curve seconds; /**< time to warm up and capture a rung; not given: 0 */
    uint64_t byte_budget;   /**< at most this many bytes for all rungs; 0: no limit */
    double second_budget;   /**< at most this many seconds for all; 0: no limit */
    double byte_weight;     /**< what a byte costs, in the unit of `cost` */
    double second_weight;   /**< what a second of start-up costs, in the same unit */
    uint64_t multiple;      /**< rungs are multiples of it; 0 means 1 */
    const gph_allocator *allocator; /**< NULL: the C library's heap; borrowed */
} gph_plan_ladder_options;
/** Every option at its default. */
#define GPH_PLAN_LADDER_OPTIONS_INIT GPH_SIZED(gph_plan_ladder_options)

/** What a ladder means for a histogram. */
typedef struct gph_plan_ladder_result {
    uint32_t size;         /**< sizeof(gph_plan_ladder_result) */
    uint32_t exact;        /**< nonzero: proven that no ladder costs less */
    size_t rung_count;     /**< rungs of the ladder */
    double cost;           /**< cost of all calls, those without a graph included */
    double cost_unbounded; /**< cost with a rung for every size that was asked for */
    double padding;        /**< share of padding in everything that graphs replay: 0 to
                                1 */
    double bytes;          /**< of all rungs */
    double seconds;        /**< to capture all rungs */
    uint64_t eager_count;  /**< calls above the last rung */
} gph_plan_ladder_result;

/** Plans a ladder for a histogram over one axis: the rungs that minimize sum(count x cost
 *  of the rung that the size is padded to) + byte_weight x bytes + second_weight x
 *  seconds within the limits. Rungs are sizes that were asked for, rounded up to
 *  `multiple`, and, where a curve falls, its points. Dynamic programming, n k log n steps
 *  for n sizes and k rungs; exact, unless a budget limits a curve that is not constant
 *  and there are very many sizes (`exact` says so). For several axes, plan one after the
 *  other, each with its own histogram: a cache's buckets are the product of its ladders.
 *
 *  histogram  borrowed for the call
 *  options    borrowed for the call; NULL means all defaults
 *  rungs      out: the caller's array, rising
 *  room       how many rungs it holds, which limits the ladder like `bucket_max`
 *  result     out: how many rungs, and what they mean
 *
 *  GPH_E_INVALID: no size, a size of 0, more than 65,536 different ones, a size or a sum
 *  of counts beyond 2^53, a curve whose sizes do not rise or whose values are not numbers
 *  >= 0. GPH_E_STATE: no ladder fits the budgets (the message names the least bytes and
 *  seconds). GPH_E_NO_MEMORY. On failure the outputs are untouched. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_plan_ladder(const gph_plan_histogram *histogram,
                                               const gph_plan_ladder_options *options,
                                               uint64_t *rungs, size_t room,
                                               gph_plan_ladder_result *result,
                                               gph_error *error);

/** What a given ladder means for a histogram, with the same options; limits and weights
 *  are ignored, and a ladder whose top is below some size needs `eager`.
 *
 *  rungs  borrowed for the call; rising
 *
 *  Failures as gph_plan_ladder(). Thread: any. */
GPH_API GPH_CHECKED gph_status gph_plan_ladder_judge(
    const gph_plan_histogram *histogram, const gph_plan_ladder_options *options,
    const uint64_t *rungs, size_t rung_count, gph_plan_ladder_result *result,
    gph_error *error);

/** A histogram and curves, as read from a table. */
typedef struct gph_plan_traffic gph_plan_traffic;

/** Reads CSV: a line of column names, then one line per size. Columns, in any order: size
 *  and count, whole numbers; optionally cost, eager, bytes and seconds, decimal numbers,
 *  at that size; an empty field gives the curve no point there. Otherwise as
 *  gph_plan_table_read(); sizes with a point must rise.
 *
 *  text       borrowed for the call; `bytes` of it, no zero needed
 *  allocator  NULL: the C library's heap; copied
 *  out        the caller's; end it with gph_plan_traffic_destroy()
 *
 *  GPH_E_FORMAT names line, column and value; GPH_E_NO_MEMORY. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_plan_traffic_read(const char *text, size_t bytes,
                                                     const gph_allocator *allocator,
                                                     gph_plan_traffic **out,
                                                     gph_error *error);
/** Ends it. NULL is allowed. */
GPH_API void gph_plan_traffic_destroy(gph_plan_traffic *traffic);
/** Its sizes. Lent until gph_plan_traffic_destroy(). */
GPH_API gph_plan_histogram gph_plan_traffic_histogram(const gph_plan_traffic *traffic);
/** Sets the curves of `options` that the table has. They are lent until
 *  gph_plan_traffic_destroy(). */
GPH_API void gph_plan_traffic_curves(const gph_plan_traffic *traffic,
                                     gph_plan_ladder_options *options);

/** A graph that may have an executable of its own, or use the one of its class. Layout
 *  frozen: planners read arrays of it. */
typedef struct gph_plan_sharer {
    uint64_t topology;  /**< graphs of one class can update one executable */
    uint64_t bytes;     /**< size of its executable */
    double frequency;   /**< replays, in any unit of time; >= 0 */
    double launch_cost; /**< cost of a launch of its own executable; >= 0 */
    double update_cost; /**< cost of a whole update before a launch of a shared one; >=
                             0 */
} gph_plan_sharer;

/** Start from GPH_PLAN_SHARE_OPTIONS_INIT. */
typedef struct gph_plan_share_options {
    uint32_t size;                  /**< sizeof(gph_plan_share_options) */
    uint32_t exec_max;              /**< at most this many executables; 0: no limit */
    uint64_t byte_budget;           /**< for all of them; 0: no limit */
    const gph_allocator *allocator; /**< NULL: the C library's heap; borrowed */
} gph_plan_share_options;
/** Every option at its default. */
#define GPH_PLAN_SHARE_OPTIONS_INIT GPH_SIZED(gph_plan_share_options)

/** The result of gph_plan_share(). */
typedef struct gph_plan_share_result {
    uint32_t size;        /**< sizeof(gph_plan_share_result) */
    uint32_t exec_count;  /**< executables: own ones, and one per class that shares */
    uint32_t own_count;   /**< graphs with their own */
    uint64_t bytes;       /**< of all executables; a shared one has the size of its
                               largest user */
    uint64_t bytes_apart; /**< with one for each graph */
    double cost;          /**< sum(frequency x cost of a replay) */
    double cost_apart;    /**< with one for each graph */
    uint32_t exact;       /**< nonzero: proven that no choice costs less */
} gph_plan_share_result;

/** Chooses which graphs keep an executable of their own (hot) and which share the one of
 *  their class (cold), so that the expected cost is lowest within the limits. A replay of
 *  a shared executable counts as one update and one launch. Dynamic programming over all
 *  choices that can be best; exact unless there are so many that some had to be left out
 *  (`exact` says so). Among equal graphs, those with lower indices keep their own.
 *
 *  graphs   borrowed for the call; `count` of them, at least one
 *  options  borrowed for the call; NULL means all defaults: every graph has its own
 *  owners   out: the caller's array of `count`: the index of the graph whose executable
 *           this one uses. A hot graph uses its own; cold ones that of the cold graph of
 *           their class that is replayed most
 *  result   out, may be NULL
 *
 *  GPH_E_INVALID: a cost or frequency below 0 or not a number, a sum of bytes beyond 2^62,
 *  more than 4,096 graphs. GPH_E_STATE: one executable per class is more than the limits
 *  allow (the message has both numbers). GPH_E_NO_MEMORY. On failure the outputs are
 *  untouched. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_plan_share(const gph_plan_sharer *graphs, size_t count,
                                              const gph_plan_share_options *options,
                                              uint32_t *owners,
                                              gph_plan_share_result *result,
                                              gph_error *error);

/** What a bucket of some size took, or will take. Layout frozen: planners read arrays of
 *  it and return it by value. */
typedef struct gph_plan_measure {
    uint64_t size;       /**< of the bucket, > 0 */
    double tensor_bytes; /**< of its tensors, in a pool of its own */
    double exec_bytes;   /**< of its executable */
    double seconds;      /**< to warm up and capture it */
} gph_plan_measure;

/** value(size) = base + slope x size, both >= 0. Layout frozen: two coefficients and
 *  their error. */
typedef struct gph_plan_line {
    double base;     /**< at size 0 */
    double slope;    /**< for each unit of size */
    double spread;   /**< standard error of one value, as a share of it; < 0: unknown,
                          since two measurements leave no error */
    double reserved; /**< zero */
} gph_plan_line;

/** Lines fitted to measurements. Layout frozen: three lines and the range that was
 *  measured. */
typedef struct gph_plan_fit {
    gph_plan_line tensor_bytes; /**< of gph_plan_measure::tensor_bytes */
    gph_plan_line exec_bytes;   /**< of gph_plan_measure::exec_bytes */
    gph_plan_line seconds;      /**< of gph_plan_measure::seconds */
    uint64_t size_min;          /**< the smallest size measured */
    uint64_t size_max;          /**< the largest */
} gph_plan_fit;

/** Fits lines to measured buckets by least squares of relative errors, so that small and
 *  large buckets count the same. A fit neither falls with the size nor is below 0.
 *
 *  measures  borrowed for the call; `count` of them, at least two different sizes
 *  out       untouched on failure
 *
 *  GPH_E_INVALID: fewer than two sizes, a size of 0, a value below 0 or not a number.
 *  Thread: any. */
GPH_API GPH_CHECKED gph_status gph_plan_cost_fit(const gph_plan_measure *measures,
                                                 size_t count, gph_plan_fit *out,
                                                 gph_error *error);

/** What a bucket of this size will take. Thread: any. */
GPH_API gph_plan_measure gph_plan_cost_at(const gph_plan_fit *fit, uint64_t size);

#ifdef __cplusplus
}
#endif
#endif
