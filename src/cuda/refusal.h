// SPDX-License-Identifier: Apache-2.0
/* The first call that the driver refused while somebody watched: the cause that a failed
 * capture is asked for. Needs a driver that tells (CUDA 12.9). */
#ifndef GPHI_CUDA_REFUSAL_H
#define GPHI_CUDA_REFUSAL_H
#include "cuda/table.h"

/* What the driver says of a refused call, in two lines: a sentence, which may be missing,
 * and "Returning 900 (CUDA_ERROR_...) from cuStreamSynchronize". */
struct gphi_refusal {
    uint64_t thread;  /* 0: none */
    bool is_complete; /* the second line is there, or will not come */
    char call[64];    /* of the second line; empty if there was none */
    char text[300];   /* the sentence; empty if there was none */
};

/* In its owner's memory, linked while it watches. */
typedef struct gphi_watch {
    struct gphi_watch *next;
    struct gphi_watch **link; /* what points to it; NULL while it does not watch */
    uint64_t thread;
    struct gphi_refusal own;   /* the first on the owner's thread */
    struct gphi_refusal other; /* the first on another */
} gphi_watch;

/* Asks the driver to tell; counted, undone by gphi_refusal_close(). False if it cannot.
 */
bool gphi_refusal_open(const gphi_cuda_table *cu);
void gphi_refusal_close(const gphi_cuda_table *cu);

void gphi_watch_begin(gphi_watch *watch);

/* After it the refusals are the owner's to read. */
void gphi_watch_end(gphi_watch *watch);
#endif
