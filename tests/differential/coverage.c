// SPDX-License-Identifier: Apache-2.0
/* Which call answered which code, and how often; and the calls that are never sent. */
#include <stdio.h>

#include "differential.h"

enum { CODES = 24 };

static struct {
    int32_t code;
    uint64_t count;
} seen[OP_COUNT][CODES];

void coverage_count(const struct step *step, const struct answer *answer)
{
    for (int i = 0; i < CODES; i++) {
        if (seen[step->op][i].count && seen[step->op][i].code != answer->code)
            continue;
        seen[step->op][i].code = answer->code;
        seen[step->op][i].count++;
        return;
    }
}

void coverage_print(void)
{
    int pairs = 0;
    for (int op = 0; op < OP_COUNT; op++) {
        printf("%-18s", op_names[op]);
        for (int i = 0; i < CODES && seen[op][i].count; i++) {
            if (seen[op][i].code == SKIPPED)
                continue;
            printf(" %d:%llu", seen[op][i].code, (unsigned long long)seen[op][i].count);
            pairs++;
        }
        printf("\n");
    }
    printf("%d pairs of call and code\n", pairs);
}

/* Found on an H100 with driver 580 unless the reason says otherwise. */
static const struct {
    const char *call, *reason;
} never[] = {
    {"any call with a destroyed or invented stream, event or context handle",
     "the driver follows the pointer: cuStreamIsCapturing() crashes"},
    {"any call with a destroyed graph, node or executable",
     "the handle may be that of a newer object by now: the answer is chance"},
    {"cuGraphAddChildGraphNode() of a graph to itself or to a graph inside it",
     "crashes"},
    {"cuThreadExchangeStreamCaptureMode(NULL)", "crashes"},
    {"cuStreamBeginCaptureToGraph() after nodes of a graph that is captured into",
     "crashes, not always"},
    {"captures into a graph that belongs to a node of another one",
     "crashes later: a failed one destroys a graph that is not the program's"},
    {"launches of an executable with a fill that is switched off",
     "other nodes now and then run wrongly (4 of 28 programs; 719 in two)"},
    {"copies with a memory type that does not exist, of graph memory",
     "taken, unlike others"},
    {"cuEventDestroy() of an event that a live executable waits for",
     "the launch crashes"},
    {"cuMemFreeHost() or free() of memory that a live executable copies from",
     "the launch crashes"},
    {"cuUserObjectRelease() of more references than the caller has",
     "documented as undefined"},
    {"cuGraphDestroy() of a graph that a stream captures into",
     "documented as undefined"},
    {"cuGraphDestroyNode() of a node of a graph that a stream captures into",
     "documented as undefined"},
    {"kernels with an address that belongs to nobody",
     "ends the context (700): nothing after it could be compared"},
    {"an array of nodes with a NULL in it", "the driver follows the pointer"},
    {"cuStreamWaitValue() for a value that nothing writes", "never ends"},
    {"copies between overlapping ranges", "documented as undefined"},
    {"copies from pageable memory on a stream",
     "read at the call or later, as the driver likes"},
};

void never_print(void)
{
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
        printf("%s: %s\n", never[i].call, never[i].reason);
}
