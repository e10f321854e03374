// SPDX-License-Identifier: Apache-2.0
/* Speculative decoding as a tree of graphs. */
#ifndef DECODE_SPECULATE_H
#define DECODE_SPECULATE_H

#include "serve.h"

/* serve_run() in SERVE_TREE. */
GPH_CHECKED gph_status speculate_run(decoder *m, sequence *list, size_t count,
                                     serve_stats *stats, gph_error *error);

#endif
