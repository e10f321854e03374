// SPDX-License-Identifier: Apache-2.0
/* What must not happen while a stream is captured, put off until none is.
 *
 * Destroying an executable, unloading a module, freeing memory: while any capture of the
 * process is open such a call is refused, and may invalidate that capture, of whichever
 * thread it is. The code that destroys cannot know, so libgph does: it counts the captures that it
 * opened, and what is destroyed meanwhile waits in a list.
 *
 *   open = 2      items -> exec -> module -> exec -> NULL        (in order of arrival)
 *   open = 0      the thread that ended the last capture runs them, outside locks
 *
 * A capture begins when no such work is under way: it waits for threads that run some. */
#ifndef GPHI_CUDA_DEFER_H
#define GPHI_CUDA_DEFER_H
#include <gph/cuda.h>
#include <stdbool.h>

/* Lies in what is to be destroyed, so that putting it off cannot fail. */
typedef struct gphi_deferred {
    struct gphi_deferred *next;
    gph_defer_fn *run;
    void *user;
} gphi_deferred;

/* Runs `run(user)` now, on this thread, if no capture is open, else when the last one
 * ends. `item` is the callee's until `run` is called, which may free it. `run` may defer
 * more; it must neither open a capture nor wait for a thread that does. */
void gphi_defer(gphi_deferred *item, gph_defer_fn *run, void *user);

/* Around every capture: before cuStreamBeginCapture, and after cuStreamEndCapture (or a
 * begin that failed). The last close runs what was put off. */
void gphi_capture_open(void);
void gphi_capture_close(void);

/* Captures that are open now; for tests and messages. */
unsigned gphi_capture_open_count(void);
#endif
