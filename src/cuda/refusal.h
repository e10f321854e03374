// SPDX-License-Identifier: Apache-2.0
/* The calls that the driver refused while somebody watched: the first cause that a failed
 * capture is asked for. Needs a driver that reports them (CUDA 12.9). */
#ifndef GPHI_CUDA_REFUSAL_H
#define GPHI_CUDA_REFUSAL_H
#include "cuda/table.h"
#include "symbol/stack.h"

/* What the driver says of a refused call, in two lines: a sentence, which may be missing,
 * and "Returning 900 (CUDA_ERROR_...) from cuStreamSynchronize". */
struct gphi_refusal {
    uint64_t thread;  /* 0: none */
    uint64_t time_ns; /* since the watch began */
    bool is_complete; /* the second line is there, or will not come */
    int code;         /* of the second line; 0 if there was none */
    char call[64];    /* of the second line; empty if there was none */
    char text[300];   /* the sentence; empty if there was none */
    gphi_stack stack; /* of the call: the driver's frames, then who called it */
};

/* How many are kept: half of the watch's own thread, half of others. Of those that come
 * later only the first that can have invalidated a capture, in place of the last. */
enum { GPHI_REFUSALS = 8 };

/* In its owner's memory, linked while it watches. */
typedef struct gphi_watch {
    struct gphi_watch *next;
    struct gphi_watch **link; /* what points to it; NULL while it does not watch */
    uint64_t thread;
    uint64_t begin_ns;
    unsigned count;
    struct gphi_refusal refusals[GPHI_REFUSALS]; /* `count` of them */
} gphi_watch;

/* Asks the driver to report; counted, undone by gphi_refusal_close(). False if it cannot.
 */
bool gphi_refusal_open(const gphi_cuda_table *cu);
void gphi_refusal_close(const gphi_cuda_table *cu);

void gphi_watch_begin(gphi_watch *watch);

/* After it the refusals are the owner's to read. */
void gphi_watch_end(gphi_watch *watch);

/* What most likely invalidated the capture that was watched, or NULL: the first refusal by a
 * rule of captures (900 to 908), else the first of all; 901, which is what calls return
 * once it is invalidated, last. `all_threads`: calls of other threads invalidate it as those of the
 * watch's own do; else they come after these. */
const struct gphi_refusal *gphi_watch_first(const gphi_watch *watch, bool all_threads);

/* Whether its code is one by which a capture is refused or invalidated: 900 to 908 without
 * 901. */
bool gphi_refusal_is_of_capture(const struct gphi_refusal *refusal);

/* The stream that a sentence names ("stream 0x55d0"), or NULL. */
CUstream gphi_refusal_stream(const struct gphi_refusal *refusal);
#endif
