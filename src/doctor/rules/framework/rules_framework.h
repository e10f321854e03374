// SPDX-License-Identifier: Apache-2.0
/* What the parts of the rules framework.* share. */
#ifndef GPHI_DOCTOR_RULES_FRAMEWORK_H
#define GPHI_DOCTOR_RULES_FRAMEWORK_H
#include "doctor/rules/rules.h"

enum { GPHI_HEARD_BYTES = 4096 }; /* of a message, and of its frames */

/* The last launch of a graph, and what its thread has queued since. */
typedef struct gphi_launched {
    gphi_call call;     /* number 0: none */
    gphi_call captured; /* the begin of the graph's capture; number 0: it has none */
    uint64_t nodes, since;
} gphi_launched;

/* An exception, or a line of a framework's. */
typedef struct gphi_heard {
    gphi_call at;
    gphi_launched last;
    bool is_exception, is_thread; /* in a thread that ends with it, not the program */
    uint32_t frames_bytes, message_bytes;
    char frames[GPHI_HEARD_BYTES]; /* "file:line function\n", outermost first */
    char message[GPHI_HEARD_BYTES];
} gphi_heard;

/* What makes an exception that no entry knows one of a graph. */
typedef enum gphi_of_graph {
    GPHI_OF_NO_GRAPH,
    GPHI_OF_GRAPH_CALL, /* what calls the graph has refused the arguments */
    GPHI_OF_BACKWARD    /* it goes back through what a capture ran */
} gphi_of_graph;

/* Each call: keeps `last`. */
void gphi_framework_note(gphi_launched *last, const gphi_seen *seen);

/* Of an exception outside captures, with its frames. */
gphi_of_graph gphi_framework_of_graph(const gphi_heard *of);

/* The finding of such a one. */
void gphi_framework_tell(gphi_rule_run *run, const gphi_heard *of, gphi_of_graph kind);
#endif
