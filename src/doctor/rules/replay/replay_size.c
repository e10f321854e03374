// SPDX-License-Identifier: Apache-2.0
/* Rule replay.frozen-size. What the host sends before a launch has another size than what it
 * sent before the first one, and the graph has that first size:
 *
 *   copies    a node takes `first` bytes from where more were sent
 *   more      a kernel has a number n, n * 1, 2, 4 or 8 = `first`; results grew alike
 *   less      the same, results are as large as before, and nobody wrote the rest
 *   grid      a kernel has as many threads as n asks for; n is set to more, the grid is not
 *   partial   less of each input, and a result of a few bytes (replay_partial.c)
 *   beside    a kernel launched after the graph is given the same buffer and the same number;
 *             after later launches it is given a larger one
 *
 * Where anything else is written into what the graph uses, the true size may be given to that
 * way, and nothing is reported. */
#include "doctor/rules/replay/rules_replay.h"

#include <inttypes.h>
#include <string.h>

enum { SIZES_MAX = 256, WORKS_MAX = 64, BYTES_MIN = 8, LAUNCHES_MIN = 2 };
enum { NUMBERS_END = 0x20000000 }; /* a larger word is a float, or no size */

/* ---- what was sent since the launch before ---- */

/* The one upload into what the executable uses; false: none, several, or other work that
 * writes there. */
static bool upload_of(const gphi_rule_run *run, gphi_work *out, const gphi_touch **touch)
{
    const gphi_history *history = run->history;
    const gphi_exec_history *exec = history->launched;
    const bool is_first = exec->launches == 1;
    const uint64_t back = exec->last_work > WORKS_MAX ? exec->last_work - WORKS_MAX : 0;
    uint64_t at = is_first ? back : history->before_work;
    const gphi_work *work;
    uint32_t uploads = 0;
    for (int i = 0; i < WORKS_MAX && (work = gphi_model_work_next(run->model, at)) &&
                    work->number < exec->last_work;
         i++, at = work->number) {
        if (work->is_captured)
            continue;
        if (work->function != 0 && !is_first)
            return false;
        const gphi_touch *met =
            work->write_bytes != 0
                ? gphi_history_touches(history, exec, work->write, work->write_bytes)
                : NULL;
        if (!met)
            continue;
        const bool is_upload = work->host != 0 && work->read_bytes == 0;
        if (!is_upload && !is_first)
            return false;
        if (!is_upload || met->address != work->write)
            continue;
        uploads += uploads == 0 || out->write != work->write;
        *out = *work;
        *touch = met;
    }
    return uploads == 1;
}

/* ---- the kernel's number ---- */

typedef struct number_search {
    const gph_kernel_params *params;
    uint64_t bytes, found;
} number_search;

static void look_at_number(void *user, const gphi_word *at)
{
    number_search *search = user;
    const uint64_t value = gphi_word_in(search->params->buffer, at);
    for (uint64_t size = 1; size <= 8; size *= 2)
        if (value >= BYTES_MIN && value * size == search->bytes)
            search->found = value;
}

static uint64_t number_of(const gphi_exec_history *exec, uint32_t index, uint64_t bytes)
{
    const gph_graph *graph = gphi_snapshot_graph(exec->source);
    const gph_node *node = graph ? gph_graph_node(graph, index) : NULL;
    if (!node || node->kind != GPH_NODE_KERNEL || !node->u.kernel.buffer)
        return 0;
    number_search search = {.params = &node->u.kernel, .bytes = bytes};
    gphi_each_word(search.params, look_at_number, &search);
    return search.found;
}

/* ---- calls ---- */

static void note_first(gphi_rule_run *run, const gphi_work *upload,
                       const gphi_touch *touch)
{
    const gphi_exec_history *exec = run->history->launched;
    gphi_vec *items = run->state;
    const bool is_copy = touch->function == 0;
    const uint64_t number =
        is_copy ? 0 : number_of(exec, touch->node, upload->write_bytes);
    if (items->count >= SIZES_MAX || upload->write_bytes < BYTES_MIN / 2 ||
        (is_copy ? !touch->reads || touch->bytes != upload->write_bytes : number == 0))
        return;
    const gphi_size_item new = {.created = exec->created,
                                .exec = exec,
                                .updated = exec->updated,
                                .address = upload->write,
                                .first = upload->write_bytes,
                                .sent = upload->write_bytes,
                                .number = number,
                                .node = touch->node,
                                .is_copy = is_copy,
                                .first_upload = upload->call};
    if (gphi_vec_push(items, &new) != GPH_OK)
        gphi_short(run);
}

static gphi_size_item *item_of(const gphi_rule_run *run, const gphi_exec_history *exec)
{
    gphi_vec *items = run->state;
    GPHI_EACH (gphi_size_item, one, items)
        if (one->created == exec->created && one->kernel == 0 && one->threads == 0)
            return one;
    return NULL;
}

static void on_launch(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_exec_history *exec = run->history->launched;
    gphi_work upload = {.number = 0};
    const gphi_touch *touch = NULL;
    gphi_size_item *one = exec->launches == 1 ? NULL : item_of(run, exec);
    if (exec->launches > 1 && !one)
        return;
    const bool is_one = upload_of(run, &upload, &touch);
    if (exec->launches == 1) {
        if (is_one)
            note_first(run, &upload, touch);
        return;
    }
    one->sent = is_one && upload.write == one->address && one->updated == exec->updated
                    ? upload.write_bytes
                    : 0;
    if (one->sent == 0 || one->sent == one->first)
        return;
    one->more += one->sent > one->first;
    one->less += one->sent < one->first;
    if (one->more + one->less == 1 || one->sent > one->first) {
        one->other = one->sent;
        one->upload = upload.call;
        one->launch = seen->call;
    }
}

static void on_read(gphi_rule_run *run, uint64_t address, uint64_t bytes)
{
    const gphi_exec_history *exec = run->history->recent[0];
    gphi_size_item *one = exec ? item_of(run, exec) : NULL;
    if (!one || one->sent == 0 ||
        !gphi_history_touches(run->history, exec, address, bytes))
        return;
    if (exec->launches == 1 && one->read_bytes == 0) {
        one->read = address;
        one->read_bytes = bytes;
    } else if (address == one->read && one->sent > one->first)
        one->is_grown |= bytes > one->read_bytes;
    else if (address == one->read && one->sent < one->first && bytes == one->read_bytes)
        one->as_many++;
    else if (one->sent < one->first)
        one->is_shrunk_read = true;
}

/* ---- grids ---- */

enum { NODES_MAX = 64 };

typedef struct grid_search {
    gphi_rule_run *run;
    const gphi_exec_history *exec;
    const gph_kernel_params *params;
    uint32_t node;
} grid_search;

/* Threads of a kernel in one direction; 0: in several. */
static uint64_t threads_of(const gph_kernel_params *params)
{
    const bool is_line = params->grid[1] == 1 && params->grid[2] == 1 &&
                         params->block[1] == 1 && params->block[2] == 1;
    return is_line ? (uint64_t)params->grid[0] * params->block[0] : 0;
}

/* A number that has a thread for each, and no block too many. */
static void note_grid(void *user, const gphi_word *at)
{
    const grid_search *search = user;
    gphi_vec *items = search->run->state;
    const uint64_t number = gphi_word_in(search->params->buffer, at);
    const uint64_t threads = threads_of(search->params);
    if (!at->is_number || number < BYTES_MIN || number > threads ||
        threads - number >= search->params->block[0] || items->count >= SIZES_MAX)
        return;
    const gphi_size_item new = {.created = search->exec->created,
                                .exec = search->exec,
                                .node = search->node,
                                .offset = at->offset,
                                .first = number,
                                .threads = threads};
    if (gphi_vec_push(items, &new) != GPH_OK)
        gphi_short(search->run);
}

static void note_grids(gphi_rule_run *run, const gphi_exec_history *exec)
{
    const gph_graph *graph = gphi_snapshot_graph(exec->source);
    for (uint32_t i = 0; i < gph_graph_node_count(graph) && i < NODES_MAX; i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind != GPH_NODE_KERNEL || !node->u.kernel.buffer)
            continue;
        grid_search search = {
            .run = run, .exec = exec, .params = &node->u.kernel, .node = i};
        gphi_each_word(search.params, note_grid, &search);
    }
}

/* What has been set since the first launch. */
static void look_at_grids(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_exec_history *exec = run->history->launched;
    const gph_graph *graph = gphi_snapshot_graph(exec->source);
    gphi_vec *items = run->state;
    GPHI_EACH (gphi_size_item, one, items) {
        if (one->threads == 0 || one->created != exec->created)
            continue;
        const gph_node *node = graph ? gph_graph_node(graph, one->node) : NULL;
        const gphi_word at = {.offset = one->offset, .bytes = 4};
        one->sent = 0;
        if (!node || node->kind != GPH_NODE_KERNEL || !node->u.kernel.buffer ||
            one->offset + 4 > node->u.kernel.buffer_bytes ||
            threads_of(&node->u.kernel) != one->threads)
            continue;
        const uint64_t number = gphi_word_in(node->u.kernel.buffer, &at);
        if (number <= one->threads || number >= NUMBERS_END)
            continue;
        one->sent = number;
        one->launch = seen->call;
        one->upload = exec->exec->updated;
    }
}

/* As many results are read as the number says. */
static void look_at_read(gphi_rule_run *run, uint64_t address, uint64_t bytes)
{
    const gphi_exec_history *exec = run->history->recent[0];
    gphi_vec *items = run->state;
    GPHI_EACH (gphi_size_item, one, items) {
        if (one->threads == 0 || one->sent == 0 || one->exec != exec)
            continue;
        GPHI_EACH (const gphi_touch, touch, &exec->touches)
            for (uint64_t size = 1; size <= 8; size *= 2)
                if (touch->node == one->node && touch->address == address &&
                    one->sent * size == bytes && one->other == 0) {
                    one->other = one->sent;
                    one->is_grown = true;
                    one->first_upload = one->upload;
                }
    }
}

static void report_grid(gphi_rule_run *run, const gphi_size_item *one)
{
    gphi_draft *draft = gphi_finding_begin(run, &one->first_upload, one->node);
    gphi_cause(draft,
               "%s was captured with the number %" PRIu64
               " and as many threads; the number was set to %" PRIu64
               ", and as many results were read, but it still has %" PRIu64 " threads",
               gphi_say_node(one->exec->source, one->node), one->first, one->other,
               one->threads);
    gphi_evidence_call(draft, gphi_snapshot_made(one->exec->source, one->node),
                       "the node was made by");
    gphi_evidence_call(draft, &one->launch, "launched then by");
    gphi_fix(draft, "Set gridDimX together with the arguments.");
}

/* ---- kernels beside the graph ---- */

typedef struct equal_search {
    const gph_kernel_params *params;
    uint64_t wanted;
    bool is_found;
} equal_search;

static void look_for_equal(void *user, const gphi_word *at)
{
    equal_search *search = user;
    search->is_found =
        search->is_found || gphi_word_in(search->params->buffer, at) == search->wanted;
}

/* A kernel of the executable that has the address, and the number: its node. */
static uint32_t node_with(const gphi_exec_history *exec, uint64_t address,
                          uint64_t number)
{
    const gph_graph *graph = gphi_snapshot_graph(exec->source);
    GPHI_EACH (const gphi_touch, touch, &exec->touches) {
        const gph_node *node = graph ? gph_graph_node(graph, touch->node) : NULL;
        if (touch->bytes != 0 || touch->address != address || !node ||
            node->kind != GPH_NODE_KERNEL || !node->u.kernel.buffer)
            continue;
        equal_search search = {.params = &node->u.kernel, .wanted = number};
        gphi_each_word(search.params, look_for_equal, &search);
        if (search.is_found)
            return touch->node;
    }
    return GPH_NODE_NONE;
}

static gphi_size_item *beside_of(const gphi_rule_run *run, const gphi_exec_history *exec,
                                 uint64_t kernel, uint32_t offset, uint64_t address)
{
    gphi_vec *items = run->state;
    GPHI_EACH (gphi_size_item, one, items)
        if (one->created == exec->created && one->kernel == kernel &&
            one->offset == offset && one->address == address)
            return one;
    return NULL;
}

/* A number that a kernel is given beside an address of the graph launched before. */
static void note_beside(gphi_rule_run *run, const gphi_seen *seen, uint64_t kernel,
                        const gphi_size_item *found)
{
    const gphi_exec_history *exec = run->history->recent[0];
    gphi_vec *items = run->state;
    gphi_size_item *one = beside_of(run, exec, kernel, found->offset, found->address);
    if (!one && exec->launches == 1 && items->count < SIZES_MAX) {
        const uint32_t node = node_with(exec, found->address, found->number);
        gphi_size_item new = *found;
        new.created = exec->created;
        new.exec = exec;
        new.updated = exec->updated;
        new.first = found->number;
        new.kernel = kernel;
        new.node = node;
        new.first_upload = seen->call;
        if (node != GPH_NODE_NONE && gphi_vec_push(items, &new) != GPH_OK)
            gphi_short(run);
        return;
    }
    if (!one || exec->launches == 1 || one->updated != exec->updated)
        return;
    one->less += found->number < one->first;
    if (found->number <= one->first || one->more++ != 0)
        return;
    one->other = found->number;
    one->upload = seen->call;
    one->launch = exec->last_launch;
}

static void on_kernel(gphi_rule_run *run, const gphi_seen *seen)
{
    enum { POINTERS = 16 };
    const gphi_exec_history *exec = run->history->recent[0];
    const gphi_part *part = gphi_event_part(seen->event, GPHI_PART_PARAMS, 0);
    const uint64_t kernel = gphi_launched_kernel(run->model, seen->event);
    const gphi_function *function = gphi_model_kernel_function(run->model, kernel);
    gphi_touch pointers[POINTERS];
    if (!exec || !gphi_exec_is_alive(exec) || !part || !function || !function->args ||
        exec->last_launch.thread != seen->call.thread)
        return;
    const uint32_t count = gphi_call_pointers(run->model, seen, pointers, POINTERS);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t address = pointers[i].address;
        if (!gphi_history_touches(run->history, exec, address, 1))
            continue;
        for (uint32_t k = 0; k < function->arg_count; k++) {
            const gph_kernel_arg *arg = &function->args[k];
            uint32_t number = 0;
            if (arg->bytes != sizeof(number) ||
                arg->offset + sizeof(number) > part->bytes)
                continue;
            memcpy(&number, (const char *)(part + 1) + arg->offset, sizeof(number));
            const gphi_size_item found = {
                .address = address, .number = number, .offset = arg->offset};
            if (number >= BYTES_MIN && number < NUMBERS_END)
                note_beside(run, seen, kernel, &found);
        }
    }
}

/* Nobody but the graph's kernels and this one works on the buffer: fills aside, what lies
 * in it comes from them. */
static bool is_between(const gphi_rule_run *run, const gphi_size_item *one)
{
    const gphi_history *history = run->history;
    const gphi_allocation *memory = gphi_model_memory(run->model, one->address, false);
    if (!memory)
        memory = gphi_model_memory(run->model, one->address, true);
    const gphi_memory_history *of = memory ? gphi_history_memory(history, memory) : NULL;
    if (!of || of->overflows)
        return false;
    GPHI_EACH (const gphi_range_history, range, &of->written)
        if (!range->is_fill)
            return false;
    GPHI_EACH (const gphi_touch, pointer, &of->pointers) {
        bool is_own = pointer->function == one->kernel;
        GPHI_EACH (const gphi_touch, touch, &one->exec->touches)
            is_own |= touch->function == pointer->function;
        if (!is_own)
            return false;
    }
    return true;
}

static void report_beside(gphi_rule_run *run, const gphi_size_item *one)
{
    const gphi_call *made = gphi_snapshot_made(one->exec->source, one->node);
    gphi_draft *draft = gphi_finding_begin(run, &one->launch, one->address);
    gphi_cause(draft,
               "%s has the number %" PRIu64
               ", like %s, which is launched after it on the same buffer; here that one "
               "is given %" PRIu64
               ", and the graph still processes only as much as before",
               gphi_say_node(one->exec->source, one->node), one->first,
               gphi_say("kernel %.200s", gphi_function_name(run->model, one->kernel)),
               one->other);
    gphi_evidence_call(draft, made, "the node was made by");
    gphi_evidence_call(draft, &one->first_upload, "after the first launch came");
    gphi_evidence_call(draft, &one->upload, "later");
}

void gphi_rule_size(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_call_ranges ranges;
    if (run->history->launched) {
        on_launch(run, seen);
        if (run->history->launched->launches == 1)
            note_grids(run, run->history->launched);
        else
            look_at_grids(run, seen);
    } else if (seen->work && !seen->work->is_captured && seen->call.result == 0 &&
               gphi_call_is_kernel(seen->call.call))
        on_kernel(run, seen);
    else if (seen->work && !seen->work->is_captured && seen->call.result == 0 &&
             gphi_call_ranges_of(seen, &ranges) && ranges.to_host) {
        on_read(run, ranges.read, ranges.read_bytes);
        look_at_read(run, ranges.read, ranges.read_bytes);
    }
    gphi_partial_call(run, seen);
}

void gphi_rule_size_init(gphi_rule_run *run)
{
    gphi_size_state *state = run->state;
    gphi_vec_init(&state->items, run->model->heap, sizeof(gphi_size_item));
    gphi_vec_init(&state->partials, run->model->heap, sizeof(gphi_partial));
}

void gphi_rule_size_fini(gphi_rule_run *run)
{
    gphi_size_state *state = run->state;
    gphi_vec_fini(&state->items);
    gphi_vec_fini(&state->partials);
}

/* ---- the end ---- */

static void report(gphi_rule_run *run, const gphi_size_item *one)
{
    const gphi_call *made = gphi_snapshot_made(one->exec->source, one->node);
    const bool is_less = one->other < one->first;
    const char *sent = gphi_say_bytes(one->other);
    gphi_draft *draft = gphi_finding_begin(
        run, is_less || made->number == 0 ? &one->launch : made, one->address);
    if (one->is_copy)
        gphi_cause(
            draft,
            "%s takes the %s that were sent before the first launch; later %s were "
            "sent to the same place, and the graph still takes as many as then",
            gphi_say_node(one->exec->source, one->node), gphi_say_bytes(one->first),
            sent);
    else if (is_less)
        gphi_cause(
            draft,
            "%s has the number %" PRIu64
            " from the capture, for the %s that were sent before the first launch; here "
            "%s were sent, and the rest is left over from an earlier launch",
            gphi_say_node(one->exec->source, one->node), one->number,
            gphi_say_bytes(one->first), sent);
    else
        gphi_cause(draft,
                   "%s has the number %" PRIu64
                   " from the capture, for the %s that were sent before the first "
                   "launch; later %s were sent, and more was read back, but the graph "
                   "still processes only as much as before",
                   gphi_say_node(one->exec->source, one->node), one->number,
                   gphi_say_bytes(one->first), sent);
    gphi_evidence_call(draft, made, "the node was made by");
    gphi_evidence_call(draft, &one->first_upload,
                       "before the first launch it was sent by");
    gphi_evidence_call(draft, &one->upload, "later by");
    gphi_evidence_call(draft, &one->launch, "launched then by");
}

void gphi_rule_size_end(gphi_rule_run *run)
{
    const gphi_vec *items = run->state;
    GPHI_EACH (const gphi_size_item, one, items) {
        if (one->threads != 0) {
            if (one->is_grown)
                report_grid(run, one);
            continue;
        }
        if (one->kernel != 0) {
            if (one->more > 0 && is_between(run, one))
                report_beside(run, one);
            continue;
        }
        const bool is_more = one->more > 0 && (one->is_copy || one->is_grown);
        const bool is_less = one->more == 0 && one->less >= LAUNCHES_MIN &&
                             one->as_many >= LAUNCHES_MIN && !one->is_copy &&
                             !one->is_shrunk_read;
        if (is_more || is_less)
            report(run, one);
    }
    gphi_partial_end(run);
}
