// SPDX-License-Identifier: Apache-2.0
/* Requests that arrive while others are served. Two graphs do all the work: one admits a
 * request (its prefill), one takes a step of all slots; both read what they need from
 * device memory. Either the host launches them, or a resident graph on the device does, and
 * the host only writes into its queue. */
#ifndef DECODE_ONLINE_H
#define DECODE_ONLINE_H

#include "batch.h"

typedef struct online_stats {
    uint64_t steps, tokens;
    uint64_t all_ns;                 /* from the first arrival to the last token */
    uint64_t calls, host_ns;         /* that asked for a graph, and the time in them */
    uint64_t first_p50, first_p99;   /* ns from an arrival to its first token */
    uint64_t answer_p50, answer_p99; /* and to its last */
    gph_dispatch_stats dispatch;
} online_stats;

/* Serves all sequences, which arrive `gap_ns` apart on average, at moments that depend on
 * their numbers. Prompts have up to ASK_TOKENS tokens. */
GPH_CHECKED gph_status online_run(decoder *m, bool by_device, uint64_t gap_ns,
                                  sequence *list, size_t count, online_stats *stats,
                                  gph_error *error);

#endif
