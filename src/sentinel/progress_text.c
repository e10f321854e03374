// SPDX-License-Identifier: Apache-2.0
/* Progress as text: nodes that are alike and follow each other in one line. */
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "sentinel/progress.h"

#include <string.h>

static const char *const launch_words[] = {
    [GPH_LAUNCH_NONE] = "no launch has begun",
    [GPH_LAUNCH_ENDED] = "all launches that began have ended",
    [GPH_LAUNCH_UNDER_WAY] = "a launch is under way",
    [GPH_LAUNCH_MAYBE_ENDED] = "a launch is under way, or all have ended"};

static const char *const state_words[] = {[GPH_NODE_UNKNOWN] = "unknown",
                                          [GPH_NODE_DONE] = "done",
                                          [GPH_NODE_RUNNING] = "running",
                                          [GPH_NODE_WAITING] = "waiting"};

/* Of one line: nodes of one state, region and place; one that runs has its own. */
static uint32_t run_of(const gph_progress_exec *exec, uint32_t from)
{
    const gph_progress_node *first = &exec->nodes[from];
    uint32_t to = from + 1;
    while (to < exec->node_count && first->state != GPH_NODE_RUNNING &&
           exec->nodes[to].state == first->state &&
           exec->nodes[to].index == exec->nodes[to - 1].index + 1 &&
           strcmp(exec->nodes[to].region, first->region) == 0 &&
           strcmp(exec->nodes[to].place, first->place) == 0)
        to++;
    return to;
}

static void put_node(gphi_text *text, const gph_progress_node *node)
{
    gphi_text_add(text, "node %u (%s%s%s)", node->index,
                  gph_node_kind_name((gph_node_kind)node->kind),
                  node->kernel[0] != '\0' ? " " : "", node->kernel);
}

static void put_run(gphi_text *text, const gph_progress_exec *exec, uint32_t from,
                    uint32_t to)
{
    const gph_progress_node *first = &exec->nodes[from];
    gphi_text_add(text, "  %-8s ", state_words[first->state]);
    if (to == from + 1)
        put_node(text, first);
    else
        gphi_text_add(text, "nodes %u to %u", first->index, exec->nodes[to - 1].index);
    if (first->region[0] != '\0')
        gphi_text_add(text, ", region %s", first->region);
    if (first->place[0] != '\0')
        gphi_text_add(text, ", recorded at %s", gphi_path_name(first->place));
    for (uint32_t i = 0; i < first->waits_for_count; i++)
        gphi_text_add(text, "%s %u", i == 0 ? ", for node" : ",", first->waits_for[i]);
    gphi_text_put(text, "\n");
}

static void put_exec(gphi_text *text, const gph_progress *progress,
                     const gph_progress_exec *exec)
{
    gphi_text_add(text, "executable 0x%llx of process %llu, %llu %s: %s\n",
                  (unsigned long long)exec->handle, (unsigned long long)progress->process,
                  (unsigned long long)exec->launches,
                  exec->launches == 1 ? "launch" : "launches", launch_words[exec->state]);
    if (exec->state == GPH_LAUNCH_NONE || exec->state == GPH_LAUNCH_ENDED)
        return;
    for (uint32_t from = 0; from < exec->node_count;) {
        const uint32_t to = run_of(exec, from);
        put_run(text, exec, from, to);
        from = to;
    }
}

gph_status gph_progress_write(const gph_progress *progress, gph_write_fn *write,
                              void *user, gph_error *error)
{
    char buffer[1024];
    gphi_text text;
    GPHI_TRY(gphi_need(error, progress, write));
    gphi_text_stream(&text, buffer, sizeof(buffer), write, user);
    for (uint32_t i = 0; i < gph_progress_exec_count(progress); i++)
        put_exec(&text, progress, gph_progress_exec_at(progress, i));
    return gphi_text_end(&text, error);
}
