// SPDX-License-Identifier: Apache-2.0
/* A part of an application that records work on the application's stream and replays it.
 */
#ifndef EMBED_GRAPHS_H
#define EMBED_GRAPHS_H

#include <gph/gph.h>

typedef struct graphs {
    gph_runtime *gph;
    const gph_cuda_calls *cu;
    CUstream stream;
    CUmodule module;
    CUdeviceptr x, sum;
    gph_exec *exec;
} graphs;

/* Everything is borrowed until graphs_close(). On failure nothing is held. */
gph_status graphs_open(graphs *out, gph_runtime *gph, CUstream stream, const char *ptx,
                       gph_error *error);
gph_status graphs_run(graphs *g, float *sum, gph_error *error);

/* Does on purpose what a capture forbids. Always fails, and the stream stays usable. */
gph_status graphs_misuse(graphs *g, gph_error *error);
void graphs_close(graphs *g);

#endif
