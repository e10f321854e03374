// SPDX-License-Identifier: Apache-2.0
/* Inputs that a Launcher's graph copies by itself: PULL slots of libgph, and who launches. */
#ifndef GPHPY_PULLS_H
#define GPHPY_PULLS_H
#include "gphpy.h"

typedef struct gphpy_pulls gphpy_pulls;

/* From a sequence of (address, bytes), or None: *out is NULL then. -1 with an exception. */
int gphpy_pulls_read(PyObject *list, gphpy_pulls **out);
/* The executable of a graph, which copies the inputs; the graph is as before. Where that is not
 * possible *pulls is NULL and the executable a plain one. */
gph_status gphpy_pulls_instantiate(gphpy_pulls **pulls, gph_runtime *runtime,
                                   CUgraph graph, const gph_exec_options *options,
                                   gph_exec **out, gph_error *error);
/* Work with it must have ended. NULL is allowed. */
void gphpy_pulls_free(gphpy_pulls *pulls);
uint32_t gphpy_pulls_count(const gphpy_pulls *pulls);
/* Launches: `from` is where each input lies, NULL: in its place. Thread: any. */
gph_status gphpy_pulls_launch(gphpy_pulls *pulls, gph_exec *exec, const CUdeviceptr *from,
                              CUstream stream, gph_error *error);
#endif
