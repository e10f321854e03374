// SPDX-License-Identifier: Apache-2.0
/* Exceptions whose words are those of any program, and whose cause is a graph: the code that calls
 * it refuses arguments of other sizes, and autograd goes back through a forward pass that only its
 * capture has run. */
#include "doctor/findings/said.h"
#include "doctor/rules/framework/rules_framework.h"

#include <string.h>

void gphi_framework_note(gphi_launched *last, const gphi_seen *seen)
{
    const gphi_snapshot *source = seen->exec ? seen->exec->source : NULL;
    if (seen->call.call == GPHI_CALL_cuGraphLaunch && source) {
        *last = (gphi_launched){.call = seen->call, .nodes = source->node_count};
        if (source->capture)
            last->captured = source->capture->begin;
    } else if (seen->work && !seen->work->is_captured &&
               seen->call.thread == last->call.thread)
        last->since++;
}

/* The innermost frame's file ends so. */
static bool is_innermost(const gphi_heard *of, const char *file)
{
    const char *at = of->frames, *next;
    while ((next = strchr(at, '\n')) && next[1] != '\0')
        at = next + 1;
    const char *end = strchr(at, ':');
    const size_t length = strlen(file);
    return end && (size_t)(end - at) >= length &&
           strncmp(end - length, file, length) == 0;
}

static bool is_of_sizes(const gphi_heard *of)
{
    return gphi_said_has(of->message, "size") || gphi_said_has(of->message, "shape") ||
           gphi_said_has(of->message, "dimension");
}

/* Autograd's words for values that it has saved, and that are gone or others by now. */
static bool is_of_saved(const gphi_heard *of)
{
    return strstr(of->message, "backward through the graph a second time") ||
           strstr(of->message,
                  "needed for gradient computation has been modified by an inplace");
}

gphi_of_graph gphi_framework_of_graph(const gphi_heard *of)
{
    if (is_of_sizes(of) && is_innermost(of, "/torch/cuda/graphs.py"))
        return GPHI_OF_GRAPH_CALL;
    /* an eager forward pass after the launch would have launched as much as the graph has */
    if (is_of_saved(of) && of->last.captured.number != 0 &&
        of->last.call.thread == of->at.thread && of->last.since < of->last.nodes)
        return GPHI_OF_BACKWARD;
    return GPHI_OF_NO_GRAPH;
}

void gphi_framework_tell(gphi_rule_run *run, const gphi_heard *of, gphi_of_graph kind)
{
    gphi_draft *draft = gphi_finding_begin(run, &of->at, of->last.call.number);
    if (kind == GPHI_OF_GRAPH_CALL) {
        gphi_cause(draft,
                   "a call that a graph stands for was given tensors of other sizes: the "
                   "graph reads those that it was captured with, and only arguments of "
                   "their sizes can be copied there");
        gphi_fix(draft,
                 "Pad the arguments to the captured size, leave a smaller last batch out "
                 "(drop_last=True), call the function itself for it, or make a callable "
                 "for each size.");
    } else {
        gphi_cause(draft,
                   "a backward pass was to go back through a forward pass that a capture "
                   "ran: what autograd saved, it saved once, then, and a replay computes "
                   "new values without making it again");
        gphi_fix(draft, "Capture the backward pass, too, in the same graph, or let "
                        "torch.cuda.make_graphed_callables() make both.");
    }
    gphi_evidence(draft, "standard error: %.600s", of->message);
    if (of->last.captured.number != 0)
        gphi_evidence_call(draft, &of->last.captured, "the capture was begun by");
    if (of->last.call.number != 0)
        gphi_evidence_call(draft, &of->last.call, "last launched by");
}
