// SPDX-License-Identifier: Apache-2.0
/* The advice's insides.
 *
 *   records ──> sites (call, source line, stream)           beats.c
 *          └──> beats of each thread (site, time, values)
 *                   │        of threads that hand over, one after the other: join.c
 *                   └──> loops: what repeats                loops.c
 *                          └──> one period in pieces        period.c, obstacles.c
 *                                 └──> a prediction         cost.c, flow.c
 *                                        └──> text, JSON    advice_text.c, advice_json.c
 *
 * A beat is a call that counts: work, waits, allocations, everything but questions whose
 * answer is known. A segment is what one graph can hold: work between two waits. */
#ifndef GPHI_ADVICE_ADVICE_H
#define GPHI_ADVICE_ADVICE_H
#include "advice/effect.h"
#include "base/map.h"
#include "base/vec.h"
#include "doctor/language/language.h"
#include "doctor/model/model.h"
#include <gph/advice.h>

/* A source line that makes one call on one stream. */
typedef struct gphi_site {
    uint32_t call; /* gphi_call_id */
    uint32_t stack, thread;
    uint64_t function;         /* of a kernel */
    const char *name;          /* of that kernel, or NULL */
    const gphi_stream *stream; /* or NULL: the call has none */
    gphi_effect effect;        /* what a capture would make of it */
    uint64_t count, duration_ns, last_ns;
    uint64_t pageable;      /* copies whose host side is not known to be pinned */
    uint64_t host_side;     /* copies with a host side */
    bool is_beat, is_fetch; /* is_fetch: a copy's host side is written */
} gphi_site;

/* A call that counts. */
typedef struct gphi_beat {
    uint64_t time_ns;     /* when it began */
    uint32_t duration_ns; /* saturates */
    uint32_t site;
    uint32_t weak;     /* same call, function, stream */
    uint32_t strong;   /* and grid, block, bytes */
    uint32_t value_at; /* in advice.values */
    uint16_t value_words;
    uint16_t nodes;   /* of a graph; 1 for other work; 0: no node */
    uint32_t extra;   /* calls since the beat before that are not beats */
    uint32_t grid;    /* a kernel's, and its blocks' */
    uint32_t threads; /* of a kernel with one dimension, else 0; saturates */
} gphi_beat;

enum { GPHI_TRACK_THREADS = 8 };

typedef struct gphi_track {
    uint32_t threads[GPHI_TRACK_THREADS]; /* several that hand over: see join.c */
    uint32_t thread_count;
    uint32_t extra;    /* see gphi_beat */
    uint32_t back;     /* how often its clock went back: its times measure nothing */
    gphi_model *model; /* of its process */
    gphi_vec beats;    /* of gphi_beat */
} gphi_track;

/* Calls whose time on the GPU was measured: delayed and released together, or as nodes of
 * one graph. */
typedef struct gphi_window {
    uint32_t thread, calls;
    bool is_graph, is_interrupted; /* a thread lost its processor to another meanwhile */
    uint64_t first_ns, last_ns, gpu_ns, instantiate_ns;
    uint64_t own_ns[3]; /* by gphi_bound: that the wrappers add to a call */
} gphi_window;

/* What repeats: stretches of a thread, its runs, in which each beat is like the one a
 * period earlier. */
typedef struct gphi_loop {
    uint32_t track, number;
    uint64_t first, period, count; /* beats of its longest run, and of a period */
    uint64_t total_ns;             /* of all runs, each from its first beat to its last */
    uint64_t repetitions;          /* of all runs */
    uint32_t content;              /* a hash of the period, wherever it begins */
    bool is_step;                  /* the shortest that repeats, a wait and all */
    bool is_queued; /* waits are left out: they come in some repetitions only */
    bool is_outer;  /* repetitions of a step, most of it */
    uint64_t outer_calls, outer_count; /* the loop that it lies in; 0: none is known */
} gphi_loop;

typedef struct gphi_run {
    uint32_t loop; /* its number */
    uint64_t first, count;
} gphi_run;

typedef enum gphi_piece_kind {
    GPHI_SEGMENT, /* work that a graph would hold */
    GPHI_WAIT,    /* the host waits for the GPU */
    GPHI_OTHER    /* stays with the host */
} gphi_piece_kind;

/* Of what was measured several times: the least, the usual, and what it took at most but
 * for the odd one. */
typedef enum gphi_bound { GPHI_LOW, GPHI_USUAL, GPHI_HIGH, GPHI_BOUNDS } gphi_bound;

/* A part of a period, in order. Times in ns. */
typedef struct gphi_piece {
    gphi_piece_kind kind;
    uint32_t from, count; /* beats, from the period's first */
    uint32_t nodes;       /* of the graph */
    uint32_t streams;
    uint32_t copies, waits; /* of the nodes, no kernels; streams for events */
    double gap_ns;          /* the host's own time before it, that stays */
    double host_ns;         /* of its calls and what is between them, as it runs now */
    double own_ns;          /* of that, the doctor's */
    double held_ns[GPHI_BOUNDS];  /* the GPU's, of them in streams; < 0: not measured */
    double graph_ns[GPHI_BOUNDS]; /* the same in a graph, without its start; likewise */
    uint32_t updates;             /* nodes whose arguments change, of one graph */
    double instantiate_ns;        /* the host's, of that graph; < 0: not measured */
} gphi_piece;

/* How an argument changes from one repetition to the next. */
typedef struct gphi_change {
    uint32_t beat; /* of the period */
    uint32_t argument, offset, bytes;
    bool is_address;
    uint64_t before, after;
} gphi_change;

/* Kernels one after the other that one kernel could do the work of. */
typedef struct gphi_fusion {
    uint32_t from, count; /* beats of the period */
    double saves_ns;      /* of launches in a graph */
    uint64_t bytes;       /* between them, with 4 a thread */
} gphi_fusion;

typedef enum gphi_obstacle_kind {
    GPHI_BREAKS,    /* the capture fails */
    GPHI_ESCAPES,   /* done at capture, missing in the graph */
    GPHI_MOVES,     /* on the legacy stream, as all of it: a node on a created stream */
    GPHI_CUTS,      /* what is before it and after it are two graphs */
    GPHI_ELSEWHERE, /* of another thread: breaks captures in global mode */
    GPHI_FREEZES,   /* the graph keeps what it was given: pointer, state */
    GPHI_CHANGES,   /* else fine, but arguments change from one repetition to the next */
    GPHI_STAYS,     /* outside what a graph would hold */
    GPHI_FINE,
    GPHI_OBSTACLES
} gphi_obstacle_kind;

/* A call of the period, as a capture would take it. */
typedef struct gphi_obstacle {
    gphi_obstacle_kind kind;
    uint32_t site;
    uint64_t count;   /* a repetition; of ELSEWHERE: in all */
    const char *text; /* or NULL */
} gphi_obstacle;

typedef enum gphi_answer { GPHI_NO, GPHI_YES, GPHI_NOT_KNOWN } gphi_answer;

/* A question of the decision flow or of the checklist. */
typedef struct gphi_question {
    const char *text, *rule; /* rule: of thumb, or NULL */
    gphi_answer answer;
    char because[320];
} gphi_question;

enum { GPHI_FLOW = 5, GPHI_CHECKS = 10 };

/* A loop with all that is known of it. */
typedef struct gphi_repeat {
    gphi_loop loop;
    uint32_t start;     /* the beat of the period that is taken as its first */
    uint32_t inner;     /* the period is so many repetitions of one sequence and a wait */
    gphi_vec begins;    /* of uint64_t: the first beat of each repetition, of all runs */
    gphi_vec pieces;    /* of gphi_piece */
    gphi_vec changes;   /* of gphi_change */
    gphi_vec obstacles; /* of gphi_obstacle */
    gphi_vec fusions;   /* of gphi_fusion */
    const gphi_stream *stream; /* that most of its work is on */
    double eager_ns, busy_ns, graph_ns, once_ns, launch_ns;
    double least_ns;            /* eager_ns, if the doctor costs as much as it may */
    double spread[GPHI_BOUNDS]; /* a repetition's time now, with the doctor's part */
    double own[GPHI_BOUNDS];    /* that part; until it is known, by the usual one */
    double graph_spread[GPHI_BOUNDS]; /* its graphs' time; < 0: not known */
    uint32_t graph_windows; /* that the graph's time rests on, of the worst segment */
    uint32_t windows, interrupted; /* of them interrupted */
    uint32_t other_shapes,
        shapes;        /* repetitions that differ in size from the one before */
    uint32_t compared; /* repetitions whose sizes were compared */
    uint32_t odd;   /* of them so few of other sizes that they stay outside the graph */
    uint64_t shape; /* of the others, where some are odd */
    uint32_t variants; /* sets of arguments that take turns; 0: more than a few */
    uint32_t graph_launches;
    gphi_question flow[GPHI_FLOW], checks[GPHI_CHECKS];
    gph_prediction prediction;
    char why[640];
} gphi_repeat;

/* What the functions and lines of a stack number are. */
typedef const gph_place *gphi_frames_fn(void *user, uint32_t stack, uint32_t *count);

struct gph_advice {
    gph_allocator heap;
    gph_doctor *doctor; /* NULL in tests */
    uint32_t language;  /* a gph_explain_language: of texts, not of words of JSON */
    gphi_model *model;  /* of the process that is looked at */
    gphi_frames_fn *frames;
    void *frames_user;
    gphi_vec sites;                      /* of gphi_site */
    gphi_map by_site;                    /* hash -> index + 1 of sites */
    gphi_vec tracks;                     /* of gphi_track */
    gphi_vec values;                     /* of uint64_t */
    gphi_vec windows;                    /* of gphi_window */
    gphi_vec runs;                       /* of gphi_run, by track and time */
    gphi_vec repeats;                    /* of gphi_repeat *, most expensive first */
    uint64_t anchors[GPHI_ANCHOR_COUNT]; /* ps */
    bool has_anchors, is_done;
    int32_t anchor_failure;              /* why there are none: a CUresult, or 0 */
    char anchor_call[32];                /* what failed, or "" */
    uint64_t beat_count, beats_left_out; /* too many to keep */
    uint64_t first_ns, last_ns, graph_launches, captures;
};

/* ---- advice.c ---- */

/* An empty one, without a doctor. */
gph_status gphi_advice_make(const gph_allocator *allocator, gph_advice **out);

/* GPH_E_STATE: there is nothing to print before gph_advice_finish(). */
gph_status gphi_advice_check(const gph_advice *advice, gph_error *error);

/* ---- beats.c ---- */

/* Takes a record. `seen` as gphi_listener has it. */
gph_status gphi_advice_feed(gph_advice *advice, const gphi_event *event,
                            const gphi_seen *seen, gph_error *error);

static inline gphi_site *gphi_advice_site(const gph_advice *advice, uint32_t index)
{
    return (gphi_site *)gphi_vec_at(&advice->sites, index);
}

static inline gphi_track *gphi_advice_track(const gph_advice *advice, uint32_t index)
{
    return (gphi_track *)gphi_vec_at(&advice->tracks, index);
}

static inline gphi_beat *gphi_track_beat(const gphi_track *track, uint64_t index)
{
    return (gphi_beat *)gphi_vec_at(&track->beats, index);
}

static inline gphi_repeat *gphi_advice_repeat(const gph_advice *advice, size_t index)
{
    return *(gphi_repeat **)gphi_vec_at(&advice->repeats, index);
}

static inline uint64_t gphi_beat_end(const gphi_beat *beat)
{
    return beat->time_ns + beat->duration_ns;
}

static inline bool gphi_track_has(const gphi_track *track, uint32_t thread)
{
    for (uint32_t i = 0; i < track->thread_count; i++)
        if (track->threads[i] == thread)
            return true;
    return false;
}

/* What was measured of this machine, in ns. */
static inline double gphi_advice_anchor(const gph_advice *advice, gphi_anchor which)
{
    return (double)advice->anchors[which] / 1e3;
}

/* The beat of a repetition, by its place in the period counted from `start`. */
static inline const gphi_beat *gphi_repeat_beat(const gph_advice *advice,
                                                const gphi_repeat *repeat,
                                                uint64_t repetition, uint32_t place)
{
    const uint64_t *first = gphi_vec_at(&repeat->begins, repetition);
    return gphi_track_beat(gphi_advice_track(advice, repeat->loop.track), *first + place);
}

static inline const gphi_site *gphi_repeat_site(const gph_advice *advice,
                                                const gphi_repeat *repeat, uint32_t place)
{
    return gphi_advice_site(advice, gphi_repeat_beat(advice, repeat, 0, place)->site);
}

/* Whole repetitions from `start` on, of all runs. */
static inline uint64_t gphi_repeat_count(const gphi_repeat *repeat)
{
    return repeat->begins.count;
}

/* Whether a repetition follows the one before it at once, in the same run. */
static inline bool gphi_repeat_goes_on(const gphi_repeat *repeat, uint64_t repetition)
{
    const uint64_t *at = gphi_vec_at(&repeat->begins, repetition);
    const uint64_t waits = repeat->loop.is_queued ? 2 : 0; /* may come between */
    return repetition > 0 && repetition < repeat->begins.count &&
           at[0] - at[-1] <= repeat->loop.period + waits;
}

/* What is in the way first, of a kind; NULL: nothing. */
static inline const gphi_obstacle *gphi_repeat_obstacle(const gphi_repeat *repeat,
                                                        gphi_obstacle_kind kind)
{
    GPHI_EACH (const gphi_obstacle, o, &repeat->obstacles)
        if (o->kind == kind)
            return o;
    return NULL;
}

/* ---- median.c ---- */

double gphi_median(double *values, size_t count); /* sorts them; 0 of none */

/* ---- join.c ---- */

/* Makes one track of those whose threads hand over. The others, and what was theirs, are
 * as they were. */
gph_status gphi_advice_join(gph_advice *advice);

/* ---- loops.c ---- */

/* The loops of one track, added to `out`. */
gph_status gphi_track_loops(gph_advice *advice, uint32_t index, gphi_vec *out);

/* The loops of all tracks, most expensive first: `out` of gphi_loop; their runs. */
gph_status gphi_advice_loops(gph_advice *advice, gphi_vec *out);

/* How many beats of a loop's longest run are of runs of another loop. */
uint64_t gphi_loop_overlap(const gph_advice *advice, const gphi_loop *loop,
                           const gphi_loop *by);

/* ---- period.c ---- */

/* Finds where the period begins, its pieces, what changes, what is in the way. */
gph_status gphi_repeat_read(const gph_advice *advice, gphi_repeat *repeat);

/* ---- obstacles.c ---- */
/* Whether a call of the period is a result that the host copies and waits for. */
bool gphi_repeat_is_read(const gph_advice *advice, const gphi_repeat *repeat,
                         uint32_t place);

/* Finds the stream of the period and what is in the way; its pieces are known. */
gph_status gphi_repeat_look(const gph_advice *advice, gphi_repeat *repeat);

/* ---- measure.c ---- */

/* Times of the pieces, and eager_ns. */
gph_status gphi_repeat_measure(const gph_advice *advice, gphi_repeat *repeat);

/* ---- cost.c ---- */

double gphi_graph_launch_ns(const gph_advice *advice, const gphi_piece *piece);

/* graph_ns, once_ns, the verdict. */
void gphi_repeat_predict(const gph_advice *advice, gphi_repeat *repeat);

/* ---- fuse.c ---- */

/* Runs of kernels that fusing would help, of the first repetition. */
gph_status gphi_repeat_fuse(const gph_advice *advice, gphi_repeat *repeat);

/* ---- flow.c ---- */

/* The questions and their answers. */
void gphi_repeat_ask(const gph_advice *advice, gphi_repeat *repeat);

/* ---- titles.c ---- */

/* In English: what JSON has, and keys of the other languages. */
const char *gphi_answer_text(gphi_answer answer);
const char *gphi_verdict_text(gph_verdict verdict);
const char *gphi_obstacle_title(gphi_obstacle_kind kind);
const char *gphi_obstacle_name(gphi_obstacle_kind kind);

/* "cuLaunchKernel tiny", as a site is called; in static storage of the thread. */
const char *gphi_site_text(const gphi_site *site);

/* The innermost frame of the program's own; all NULL if unknown. */
gph_place gphi_advice_place(const gph_advice *advice, uint32_t stack);
#endif
