// SPDX-License-Identifier: Apache-2.0
/* What ran outside graphs, and where a graph's kernels stand in it. */
#include "doctor/rules/replay/rules_replay.h"

#include <string.h>

enum { ARGUMENTS_MAX = 4096, BYTES_MAX = 4 << 20 };

void gphi_eager_init(gphi_eager_log *log, gph_allocator heap)
{
    gphi_vec_init(&log->items, heap, sizeof(gphi_eager));
    gphi_vec_init(&log->bytes, heap, 1);
}

void gphi_eager_fini(gphi_eager_log *log)
{
    gphi_vec_fini(&log->items);
    gphi_vec_fini(&log->bytes);
}

const gphi_eager *gphi_eager_at(const gphi_eager_log *log, uint64_t number)
{
    if (number >= log->count || log->count - number > GPHI_EAGER_MAX)
        return NULL;
    return gphi_vec_at(&log->items, number % GPHI_EAGER_MAX);
}

const unsigned char *gphi_eager_args(const gphi_eager_log *log, const gphi_eager *item)
{
    if (item->arg_bytes == 0 || log->byte_count - item->at > BYTES_MAX)
        return NULL;
    return gphi_vec_at(&log->bytes, item->at % BYTES_MAX);
}

/* Arguments stand in one piece: none goes round the end. */
static bool keep_args(gphi_eager_log *log, gphi_eager *item, const gphi_part *part)
{
    if (!part || part->bytes == 0 || part->bytes > ARGUMENTS_MAX)
        return true;
    if (log->byte_count % BYTES_MAX + part->bytes > BYTES_MAX)
        log->byte_count += BYTES_MAX - log->byte_count % BYTES_MAX;
    const uint64_t at = log->byte_count % BYTES_MAX;
    if (at + part->bytes > log->bytes.count &&
        !gphi_vec_add(&log->bytes, at + part->bytes - log->bytes.count))
        return false;
    memcpy(gphi_vec_at(&log->bytes, at), part + 1, part->bytes);
    item->at = log->byte_count;
    item->arg_bytes = part->bytes;
    log->byte_count += part->bytes;
    return true;
}

static uint64_t shape_of(const uint32_t grid[3], const uint32_t block[3], uint32_t shared)
{
    uint64_t hash = shared;
    for (int i = 0; i < 3; i++)
        hash = gphi_hash_word(hash, (uint64_t)grid[i] << 32 | block[i]);
    return hash;
}

static uint64_t shape_of_launch(const gphi_event *event)
{
    const gphi_launch_shape shape = gphi_launch_shape_of(event);
    return shape_of(shape.grid, shape.block, shape.shared_bytes);
}

static uint64_t contents_of(const gphi_event *event)
{
    const gphi_part *part = gphi_event_part(event, GPHI_PART_HASH, 0);
    uint64_t hash = 0;
    if (part && part->bytes == sizeof(hash))
        memcpy(&hash, part + 1, sizeof(hash));
    return hash;
}

bool gphi_eager_note(gphi_eager_log *log, const gphi_model *model, const gphi_seen *seen)
{
    gphi_call_ranges ranges;
    if (gphi_call_is_wait(seen->call.call) && !seen->capture)
        log->steps++;
    if (!seen->work || seen->work->is_captured || seen->call.result != 0 || seen->exec)
        return true;
    gphi_eager item = {.call = seen->call, .steps = log->steps};
    bool holds = true;
    if (gphi_call_is_kernel(seen->call.call)) {
        item.kernel = gphi_launched_kernel(model, seen->event);
        item.shape = shape_of_launch(seen->event);
        holds = keep_args(log, &item, gphi_event_part(seen->event, GPHI_PART_PARAMS, 0));
    } else if (gphi_call_ranges_of(seen, &ranges)) {
        item.address = ranges.write;
        item.bytes = ranges.write_bytes;
        item.is_fill = ranges.is_fill;
        item.is_from_host = ranges.from_host;
        item.is_to_host = ranges.to_host;
        item.host = seen->work->host;
        if (ranges.to_host) {
            item.address = ranges.read;
            item.bytes = ranges.read_bytes;
        }
        item.contents = contents_of(seen->event);
        log->steps += ranges.from_host || ranges.to_host;
    } else
        return true;
    if (log->items.count < GPHI_EAGER_MAX)
        holds = gphi_vec_push(&log->items, &item) == GPH_OK && holds;
    else
        *(gphi_eager *)gphi_vec_at(&log->items, log->count % GPHI_EAGER_MAX) = item;
    if (log->count < log->items.count || log->items.count == GPHI_EAGER_MAX)
        log->count++;
    return holds;
}

/* ---- rounds ---- */

static bool add_kernels(gphi_vec *to, const gph_graph *graph, uint32_t top,
                        uint32_t depth)
{
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        const uint32_t at = depth == 0 ? i : top;
        if (node->kind == GPH_NODE_CHILD && depth < GPH_GRAPH_DEPTH_MAX &&
            !add_kernels(to, node->u.child, at, depth + 1))
            return false;
        if (node->kind == GPH_NODE_KERNEL &&
            gphi_vec_push(to, &(gphi_step_kernel){at, &node->u.kernel}) != GPH_OK)
            return false;
    }
    return true;
}

static uint64_t shape_of_node(const gph_kernel_params *params)
{
    return shape_of(params->grid, params->block, params->shared_bytes);
}

bool gphi_is_step_kernel(const gphi_eager *item, const gphi_step_kernel *kernel)
{
    const gph_kernel_params *params = kernel->params;
    return item->kernel == params->handle && item->arg_bytes <= params->buffer_bytes &&
           item->arg_bytes != 0 && item->shape == shape_of_node(params);
}

bool gphi_is_step_shape(const gphi_step_kernel *a, const gphi_step_kernel *b)
{
    return shape_of_node(a->params) == shape_of_node(b->params);
}

/* One round that ends before item *end; *end is its first kernel then. */
static bool find_one(gphi_rounds *rounds, const gphi_eager_log *log, gphi_vec *places,
                     uint64_t *end)
{
    const size_t count = rounds->kernels.count;
    const uint64_t most = count * 2 + 64;
    size_t left = count;
    uint64_t at = *end, last = 0;
    if (!gphi_vec_add(places, count))
        return false;
    for (const gphi_eager *item; left > 0 && at-- > 0;) {
        if (!(item = gphi_eager_at(log, at)) || (left < count && last - at > most))
            return false;
        if (!item->kernel ||
            !gphi_is_step_kernel(item, gphi_vec_at(&rounds->kernels, left - 1)))
            continue;
        if (left-- == count)
            last = at;
        *(uint64_t *)gphi_vec_at(places, left) = *end = at;
    }
    return left == 0;
}

/* The same place in a loop: what several rounds of one kernel must have, since the
 * same kernel is launched for many purposes. */
static bool is_loop(const gphi_rounds *rounds, const gphi_eager_log *log)
{
    const gphi_eager *first = gphi_round_of(log, rounds, 0, 0);
    for (uint32_t i = 1; rounds->kernels.count == 1 && i < rounds->count; i++)
        if (gphi_round_of(log, rounds, i, 0)->call.stack != first->call.stack)
            return false;
    return true;
}

/* Another thread's steps are not this one's, though their kernels be the same. */
static bool is_of_thread(const gphi_rounds *rounds, const gphi_eager_log *log)
{
    return gphi_round_of(log, rounds, rounds->count, 0)->call.thread ==
           gphi_round_of(log, rounds, 0, 0)->call.thread;
}

bool gphi_rounds_find(gphi_rounds *rounds, const gphi_eager_log *log,
                      const gphi_exec_history *exec, uint64_t before)
{
    const gph_allocator heap = log->items.heap;
    memset(rounds, 0, sizeof(*rounds));
    gphi_vec_init(&rounds->kernels, heap, sizeof(gphi_step_kernel));
    for (uint32_t i = 0; i < GPHI_ROUNDS_MAX; i++)
        gphi_vec_init(&rounds->places[i], heap, sizeof(uint64_t));
    const gph_graph *graph = gphi_snapshot_graph(exec->source);
    if (!graph || !add_kernels(&rounds->kernels, graph, 0, 0) ||
        rounds->kernels.count == 0)
        return false;
    uint64_t end = log->count;
    while (end > 0 && gphi_eager_at(log, end - 1) &&
           gphi_eager_at(log, end - 1)->call.number > before)
        end--;
    while (rounds->count < GPHI_ROUNDS_MAX &&
           find_one(rounds, log, &rounds->places[rounds->count], &end) &&
           is_of_thread(rounds, log))
        rounds->count++;
    /* a number that each draw was given is a seed, wherever it was drawn */
    return rounds->count >= 2 && (exec->random_kernels > 0 || is_loop(rounds, log));
}

void gphi_rounds_fini(gphi_rounds *rounds)
{
    gphi_vec_fini(&rounds->kernels);
    for (uint32_t i = 0; i < GPHI_ROUNDS_MAX; i++)
        gphi_vec_fini(&rounds->places[i]);
}
