// SPDX-License-Identifier: Apache-2.0
/* Addresses in graphs and calls. */
#include "doctor/history/touch.h"
#include "base/hash.h"

#include <ctype.h>
#include <string.h>

/* ---- names ---- */

static bool begins_with(const char *text, const char *word)
{
    for (; *word != '\0'; text++, word++)
        if (tolower((unsigned char)*text) != *word)
            return false;
    return true;
}

/* Short words count at the start of a word only: "rng" is not in "string". */
bool gphi_name_has(const char *name, const char *const *words)
{
    for (; name && *words; words++)
        for (const char *at = name; *at != '\0'; at++)
            if (begins_with(at, *words) &&
                (strlen(*words) > 3 || at == name || !isalpha((unsigned char)at[-1])))
                return true;
    return false;
}

const char *gphi_function_name(const gphi_model *model, uint64_t kernel)
{
    const gphi_function *function = gphi_model_kernel_function(model, kernel);
    return function && function->name ? function->name : "?";
}

static bool is_random_name(const char *name)
{
    static const char *const words[] = {"philox",    "curand", "random", "dropout",
                                        "bernoulli", "rng",    "rnd",    NULL};
    /* libgph's own advances the state; that it does not is for its users to fear */
    static const char *const not_drawing[] = {"grad", "backward", "bwd", "gph_rng", NULL};
    return gphi_name_has(name, words) && !gphi_name_has(name, not_drawing);
}

static bool is_nccl_name(const char *name)
{
    static const char *const words[] = {"nccl", NULL};
    return gphi_name_has(name, words);
}

/* ---- what lay where when ---- */

static bool was_alive(const gphi_allocation *memory, uint64_t at)
{
    return memory->allocated.number <= at &&
           (memory->freed.number == 0 || memory->freed.number > at);
}

gphi_allocation *gphi_memory_at(const gphi_model *model, uint64_t address, uint64_t at)
{
    gphi_allocation *memory = gphi_model_memory(model, address, false);
    if (memory && was_alive(memory, at))
        return memory;
    gphi_allocation *dead = gphi_model_memory(model, address, true);
    if (!memory && !dead)
        return NULL;
    if (dead && was_alive(dead, at))
        return dead;
    for (size_t i = model->allocations.count; i-- > 0;) {
        gphi_allocation *one = gphi_vec_pointer(&model->allocations, i);
        if (address - one->address < one->bytes && was_alive(one, at))
            return one;
    }
    return memory;
}

/* ---- touches of a graph ---- */

typedef struct collect {
    const gphi_model *model;
    gphi_exec_history *into;
    uint64_t since;
    uint32_t node;
    bool is_short;
} collect;

static void mix(uint64_t *hash, uint64_t value)
{
    *hash = gphi_hash_word(*hash, value);
}

static void add(collect *c, gphi_vec *to, gphi_touch touch)
{
    gphi_touch *new = gphi_vec_add(to, 1);
    if (!new) {
        c->is_short = true;
        return;
    }
    for (int i = 0; i < 4; i++)
        if (!touch.memory)
            c->into->memories[i] = UINT64_MAX; /* it may be any */
    if (touch.memory)
        c->into->memories[gphi_memory_bit(touch.memory) / 64] |=
            UINT64_C(1) << gphi_memory_bit(touch.memory) % 64;
    *new = touch;
    new->node = c->node;
    new->since = c->since;
}

/* What the kernel's code says of a word of its arguments. */
static void read_code(const gphi_model *model, gphi_touch *touch, uint32_t offset,
                      uint64_t threads)
{
    const gphi_word_use use = gphi_model_word_use(model, touch->function, offset);
    const gphi_allocation *memory = touch->memory;
    const uint64_t rest = memory->address + memory->bytes - touch->address;
    touch->is_kept = use.is_known && !use.writes;
    touch->is_written = use.writes && threads * use.store_bytes >= rest;
    touch->is_atomic = use.writes && use.only_adds;
    touch->is_loaded = use.reads || !use.is_known;
}

static uint64_t threads_of(const uint32_t *grid, const uint32_t *block)
{
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++)
        threads *= (uint64_t)grid[i] * block[i];
    return threads;
}

/* Every aligned word of an argument that is an address of memory. Whether there are words
 * that may be addresses and are none that is known. */
static bool add_argument(collect *c, const gph_kernel_params *kernel, uint32_t arg,
                         uint32_t offset, uint32_t bytes)
{
    const bool is_random = is_random_name(kernel->function);
    bool is_strange = false;
    for (uint32_t at = (offset + 7U) & ~7U; at + 8 <= offset + bytes; at += 8) {
        uint64_t word;
        memcpy(&word, kernel->buffer + at, sizeof(word));
        gphi_allocation *memory =
            word != 0 ? gphi_memory_at(c->model, word, c->since) : NULL;
        is_strange = is_strange || (!memory && word > UINT32_MAX);
        if (!memory)
            continue;
        gphi_touch touch = {.address = word,
                            .memory = memory,
                            .memory_number = memory->allocated.number,
                            .function = kernel->handle,
                            .name = kernel->function,
                            .arg = arg,
                            .is_random = is_random};
        read_code(c->model, &touch, at, threads_of(kernel->grid, kernel->block));
        add(c, &c->into->touches, touch);
    }
    return is_strange;
}

/* One address is all that a kernel has and may write, from touch `first` on: of a child's,
 * too, which counts as one node. */
static void mark_only(gphi_touch *touches, size_t count)
{
    const gphi_touch *one = NULL;
    for (size_t i = 0; i < count; i++) {
        if (touches[i].is_kept)
            continue;
        if (one && one->address != touches[i].address)
            return;
        one = &touches[i];
    }
    for (size_t i = 0; i < count; i++)
        touches[i].is_only = !touches[i].is_kept;
}

static void add_kernel(collect *c, const gph_kernel_params *kernel)
{
    gphi_exec_history *history = c->into;
    history->kernels++;
    history->random_kernels += is_random_name(kernel->function);
    history->nccl_kernels += is_nccl_name(kernel->function);
    mix(&history->class_hash, kernel->function
                                  ? gphi_hash_text(GPHI_HASH_START, kernel->function)
                                  : kernel->handle);
    for (int i = 0; i < 3; i++)
        mix(&history->shape_hash, (uint64_t)kernel->grid[i] << 32 | kernel->block[i]);
    mix(&history->shape_hash, kernel->shared_bytes);
    if (!kernel->buffer)
        return;
    const size_t first = history->touches.count;
    bool is_strange = false;
    for (size_t i = 0; i < kernel->buffer_bytes; i++)
        mix(&history->values_hash, kernel->buffer[i]);
    for (uint32_t i = 0; i < kernel->arg_count && kernel->args; i++)
        if ((uint64_t)kernel->args[i].offset + kernel->args[i].bytes <=
            kernel->buffer_bytes)
            is_strange |=
                add_argument(c, kernel, i, kernel->args[i].offset, kernel->args[i].bytes);
    if (kernel->arg_count == 0 || !kernel->args)
        is_strange |= add_argument(c, kernel, 0, 0, (uint32_t)kernel->buffer_bytes);
    if (!is_strange && history->touches.count > first)
        mark_only(gphi_vec_at(&history->touches, first), history->touches.count - first);
}

static void add_range(collect *c, uint64_t address, uint64_t bytes, bool writes)
{
    if (address == 0 || bytes == 0)
        return;
    gphi_allocation *memory = gphi_memory_at(c->model, address, c->since);
    add(c, &c->into->touches,
        (gphi_touch){.address = address,
                     .bytes = bytes,
                     .memory = memory,
                     .memory_number = memory ? memory->allocated.number : 0,
                     .reads = !writes,
                     .writes = writes});
}

static void add_side(collect *c, const gph_memcpy_params *copy,
                     const gph_memcpy_side *side, bool writes)
{
    const gphi_range range = gphi_copy_range(copy, side);
    if (side->memory == GPH_MEMORY_DEVICE || side->memory == GPH_MEMORY_UNIFIED)
        add_range(c, range.start, range.bytes, writes);
}

static void add_copy(collect *c, const gph_memcpy_params *copy)
{
    mix(&c->into->shape_hash, copy->width_bytes);
    mix(&c->into->shape_hash, copy->height << 32 | copy->depth);
    mix(&c->into->values_hash, copy->src.address + copy->src.x_bytes);
    mix(&c->into->values_hash, copy->dst.address + copy->dst.x_bytes);
    add_side(c, copy, &copy->src, false);
    add_side(c, copy, &copy->dst, true);
}

static void add_fill(collect *c, const gph_memset_params *fill)
{
    const gphi_range range = gphi_fill_range(fill);
    mix(&c->into->shape_hash, fill->width * fill->element_bytes);
    mix(&c->into->shape_hash, fill->height);
    mix(&c->into->values_hash, fill->address);
    mix(&c->into->values_hash, fill->value);
    add_range(c, range.start, range.bytes, true);
}

/* Words that a batch writes, or waits for. */
static void add_batch(collect *c, const gph_batch_params *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        const gph_mem_op *op = &batch->ops[i];
        const bool writes = op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ||
                            op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
        const bool is_long = op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64 ||
                             op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
        mix(&c->into->values_hash, op->address);
        mix(&c->into->values_hash, op->value);
        add_range(c, op->address, is_long ? 8 : 4, writes);
    }
}

/* A graph may allocate an address again that it has freed: each free is of one. */
static void add_free(collect *c, uint64_t address)
{
    gphi_vec *allocations = &c->into->allocations;
    GPHI_EACH (gphi_touch, one, allocations) {
        if (one->address == address && !one->writes && !one->reads) {
            one->reads = true;
            return;
        }
    }
    add(c, allocations, (gphi_touch){.address = address, .writes = true});
}

static void add_node(collect *c, const gph_node *node)
{
    mix(&c->into->class_hash, (uint64_t)node->kind + 1);
    c->into->nodes++;
    switch (node->kind) {
    case GPH_NODE_KERNEL: add_kernel(c, &node->u.kernel); break;
    case GPH_NODE_MEMCPY: add_copy(c, &node->u.memcpy); break;
    case GPH_NODE_MEMSET: add_fill(c, &node->u.memset); break;
    case GPH_NODE_BATCH_MEM_OP: add_batch(c, &node->u.batch); break;
    case GPH_NODE_MEM_ALLOC:
        add(c, &c->into->allocations,
            (gphi_touch){.address = node->u.memory.address,
                         .bytes = node->u.memory.bytes,
                         .memory =
                             gphi_model_memory(c->model, node->u.memory.address, false)});
        break;
    case GPH_NODE_MEM_FREE: add_free(c, node->u.memory.address); break;
    case GPH_NODE_CONDITIONAL: c->into->has_bodies = true; break;
    default: break;
    }
}

static void add_graph(collect *c, const gph_graph *graph, uint32_t depth)
{
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind == GPH_NODE_CHILD && depth < GPH_GRAPH_DEPTH_MAX)
            add_graph(c, node->u.child, depth + 1);
        else
            add_node(c, node);
    }
}

uint64_t gphi_edit_key(const gphi_exec_state *exec, uint64_t node)
{
    return gphi_hash_word(node, (uint64_t)(uintptr_t)exec);
}

/* The call that put a node's parameters where they are. */
static uint64_t node_since(const gphi_history *all, const gphi_exec_history *history,
                           uint32_t node)
{
    const gphi_snapshot *source = history->source;
    const gphi_exec_state *exec = history->exec;
    uint64_t since = gphi_snapshot_made(source, node)->number;
    if (since == 0)
        since = exec->updated.number != 0 ? exec->updated.number : exec->created.number;
    const uint64_t handle = source->handles ? source->handles[node] : 0;
    const gphi_exec_state *const of[] = {NULL, exec};
    for (int i = 0; i < 2 && handle != 0; i++) {
        const uint64_t *edit = gphi_map_get(&all->edits, gphi_edit_key(of[i], handle));
        if (edit && *edit > since)
            since = *edit;
    }
    return since;
}

bool gphi_touches_collect(const gphi_history *all, gphi_exec_history *history)
{
    collect c = {.model = all->model, .into = history};
    history->touches.count = history->allocations.count = 0;
    history->class_hash = history->shape_hash = history->values_hash = 1;
    memset(history->memories, 0, sizeof(history->memories));
    history->has_bodies = false;
    history->nodes = history->kernels = history->random_kernels = history->nccl_kernels =
        0;
    if (!history->source || !history->source->data)
        return true;
    const gph_graph *graph = history->source->data;
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        c.node = i;
        c.since = node_since(all, history, i);
        if (node->kind == GPH_NODE_CHILD)
            add_graph(&c, node->u.child, 1);
        else
            add_node(&c, node);
    }
    mix(&history->class_hash, gph_graph_edge_count(graph));
    mix(&history->shape_hash, history->class_hash);
    return !c.is_short;
}

/* ---- calls ---- */

uint32_t gphi_call_pointers(const gphi_model *model, const gphi_seen *seen,
                            gphi_touch *out, uint32_t capacity)
{
    if (!gphi_call_is_kernel(seen->call.call))
        return 0;
    const gphi_part *part = gphi_event_part(seen->event, GPHI_PART_PARAMS, 0);
    const uint64_t kernel = gphi_launched_kernel(model, seen->event);
    const gphi_function *function = gphi_model_kernel_function(model, kernel);
    const bool has_args = function && function->args && function->arg_count != 0;
    const gphi_launch_shape shape = gphi_launch_shape_of(seen->event);
    uint32_t count = 0, arg = 0;
    for (uint32_t at = 0; part && at + 8 <= part->bytes && count < capacity; at += 8) {
        uint64_t word;
        memcpy(&word, (const char *)(part + 1) + at, sizeof(word));
        while (has_args && arg + 1 < function->arg_count &&
               function->args[arg + 1].offset <= at)
            arg++;
        if (has_args && (function->args[arg].bytes < 8 || word == 0))
            continue;
        gphi_allocation *memory = gphi_model_memory(model, word, false);
        if (!memory)
            continue;
        gphi_touch *touch = &out[count++];
        *touch = (gphi_touch){.address = word,
                              .memory = memory,
                              .memory_number = memory->allocated.number,
                              .function = kernel,
                              .arg = has_args ? arg : at / 8};
        read_code(model, touch, at, threads_of(shape.grid, shape.block));
    }
    mark_only(out, count);
    return count;
}

uint32_t gphi_call_written(const gphi_model *model, const gphi_seen *seen,
                           gphi_touch *out, uint32_t capacity)
{
    const uint32_t count = gphi_call_pointers(model, seen, out, capacity);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (gphi_touch_is_writer(&out[i]))
            out[kept++] = out[i];
    return kept;
}

bool gphi_call_ranges_of(const gphi_seen *seen, gphi_call_ranges *out)
{
    gphi_work work = {.number = 0};
    if (!gphi_work_ranges(seen->event, &work))
        return false;
    *out = (gphi_call_ranges){.write = work.write,
                              .write_bytes = work.write_bytes,
                              .read = work.read,
                              .read_bytes = work.read_bytes};
    out->is_fill = strncmp(gphi_call_name(seen->call.call), "cuMemset", 8) == 0;
    out->to_host = !out->is_fill && out->write_bytes == 0;
    out->from_host = !out->is_fill && out->read_bytes == 0;
    return true;
}

/* ---- words ---- */

const char *gphi_say_touch(const gphi_exec_history *exec, const gphi_touch *touch)
{
    const char *node = gphi_say_node(exec->source, touch->node);
    const gph_node *of = gph_graph_node(gphi_snapshot_graph(exec->source), touch->node);
    if (touch->bytes != 0)
        return gphi_say("%s, which %s %s", node, touch->writes ? "writes" : "reads",
                        gphi_say_bytes(touch->bytes));
    if (of && of->kind == GPH_NODE_CHILD)
        return gphi_say("kernel %.80s inside %s, argument %u",
                        touch->name ? touch->name : "?", node, touch->arg);
    return gphi_say("%s, argument %u", node, touch->arg);
}
