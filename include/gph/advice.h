/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Would a CUDA graph work here, and would it pay? Judges what a doctor reads about a
 *  program that runs eagerly: `gph doctor --capturable` and `gph doctor --advise`.
 *  Tier: experimental. */
#ifndef GPH_ADVICE_H
#define GPH_ADVICE_H

#include <gph/doctor.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The advice that a doctor's events lead to. One thread at a time, the doctor's
 *  thread. */
typedef struct gph_advice gph_advice;

/** Whether recording a repeated sequence pays. */
typedef enum gph_verdict {
    GPH_VERDICT_UNKNOWN = 0,      /**< something was not measured, or differs too much */
    GPH_VERDICT_PAYS = 1,         /**< faster, and the cost of recording is paid back */
    GPH_VERDICT_DOES_NOT_PAY = 2, /**< not faster, or too few repetitions */
    GPH_VERDICT_CANNOT_CAPTURE = 3, /**< only after something is changed */
    GPH_VERDICT_NEEDS_BUCKETS = 4   /**< saves time, but only with one graph per size */
} gph_verdict;

/** Which part of the advice is printed. */
typedef enum gph_advice_part {
    GPH_ADVICE_CAPTURABLE = 1, /**< what would break a capture, escape it, be frozen */
    GPH_ADVICE_PAYOFF = 2,     /**< whether, and how much, graphs would pay */
    GPH_ADVICE_BOTH = 3        /**< both */
} gph_advice_part;

/** A sequence of work that the program repeats, eagerly, and what graphs would change.
 *  Texts are lent until gph_advice_destroy(). Times are for one repetition, in
 *  microseconds; negative: not measured. Lent: grows at the end. */
typedef struct gph_prediction {
    gph_verdict verdict;  /**< see there */
    uint32_t graphs;      /**< that one repetition needs: cut where it must be */
    uint32_t launches;    /**< work calls in one repetition */
    uint32_t kernels;     /**< how many of them launch kernels */
    uint32_t changed;     /**< arguments that changed between repetitions */
    uint32_t windows;     /**< usable measurements of the GPU's time */
    uint64_t repetitions; /**< that were seen */
    double eager_us;      /**< as it runs now, minus the doctor's own cost */
    double busy_us;       /**< the GPU's time with all of it queued beforehand */
    double graph_us;      /**< predicted */
    double once_us;       /**< capture, instantiation and upload, predicted */
    double break_even;    /**< repetitions that pay `once_us` back; negative: never */
    const char *why;      /**< the reason for the verdict, one sentence */
    gph_place place;      /**< of its first work call */
    double saves_low;     /**< share of `eager_us` that graphs save, 0.1 for 10 %: the
                            least */
    double saves_high;    /**< and the most, since measurements differ */
    uint32_t updates;     /**< nodes whose arguments change with each repetition */
    double update_us;     /**< what setting them takes; included in `graph_us` */
} gph_prediction;

/** Settings. */
typedef struct gph_advice_options {
    uint32_t size;                  /**< sizeof(gph_advice_options) */
    const gph_allocator *allocator; /**< copied; NULL: the C library's heap */
} gph_advice_options;
/** Defaults. */
#define GPH_ADVICE_OPTIONS_INIT GPH_SIZED(gph_advice_options)

/** Attaches to a doctor that has not read anything yet. The program should run with
 *  GPH_DOCTOR_ADVISE=1 in its environment, or only the calls' own times are known.
 *
 *  doctor  borrowed until gph_advice_destroy(), which comes before
 *          gph_doctor_destroy().
 *  options  borrowed for the call; NULL means all defaults.
 *  out     owned by the caller on success: gph_advice_destroy(). Untouched on failure.
 *
 *  Fails with GPH_E_INVALID, GPH_E_STATE (the doctor has read something already) and
 *  GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_advice_create(gph_doctor *doctor,
                                                 const gph_advice_options *options,
                                                 gph_advice **out, gph_error *error);

/** Ends it. NULL is allowed. */
GPH_API void gph_advice_destroy(gph_advice *advice);

/** Draws the conclusions; call it after gph_doctor_finish(). Fails with GPH_E_STATE and
 *  GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_advice_finish(gph_advice *advice, gph_error *error);

/** How many repeated sequences there are, after gph_advice_finish(); the one that takes
 *  most time is the first. */
GPH_API uint32_t gph_advice_count(const gph_advice *advice);

/** A repeated sequence; NULL if the index is too large. */
GPH_API const gph_prediction *gph_advice_prediction(const gph_advice *advice,
                                                    uint32_t index);

/** Writes the advice as text of many lines, for a terminal; after gph_advice_finish().
 *
 *  write  borrowed for the call; gets the text in pieces, no zero at the end.
 *  user   borrowed for the call.
 *
 *  Fails with what `write` returns, and GPH_E_STATE. */
GPH_API GPH_CHECKED gph_status gph_advice_text_write(const gph_advice *advice,
                                                     gph_advice_part part,
                                                     int with_colours,
                                                     gph_write_fn *write, void *user,
                                                     gph_error *error);

/** Writes the same as one JSON object, without a line break at its end. Arguments and
 *  failures as gph_advice_text_write(). */
GPH_API GPH_CHECKED gph_status gph_advice_json_write(const gph_advice *advice,
                                                     gph_advice_part part,
                                                     gph_write_fn *write, void *user,
                                                     gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
