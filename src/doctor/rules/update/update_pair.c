// SPDX-License-Identifier: Apache-2.0
/* What two partners of an update may not differ in: the rules are those that updates
 * predict by (graph/update_rules.h). Here stands what the doctor knows of the memory
 * that operands lie in, and which of its own rules a broken one is reported as. */
#include "base/fail.h"
#include "doctor/language/language.h"
#include "doctor/rules/update/update_why.h"

#include <inttypes.h>
#include <string.h>

enum { OPERANDS_MAX = 1 << 16 };

/* ---- memory that operands stand on ---- */

void gphi_operands_init(gphi_operands *operands, gph_allocator heap)
{
    gphi_map_init(&operands->by_address, heap);
    gphi_vec_init(&operands->list, heap, sizeof(gphi_pointer));
}

void gphi_operands_fini(gphi_operands *operands)
{
    gphi_map_fini(&operands->by_address);
    gphi_vec_fini(&operands->list);
}

/* Where there is no memory left for it, the model's allocations have to do. */
void gphi_operands_note(gphi_operands *operands, const gphi_event *event)
{
    if (event->kind != GPHI_EVENT_POINTER)
        return;
    const uint64_t type = gphi_event_word(event, 2), context = gphi_event_word(event, 3);
    const uint64_t pool = gphi_event_word(event, 4);
    const bool is_pool = pool != 0 || (context == 0 && type == CU_MEMORYTYPE_DEVICE);
    const gphi_pointer seen = {
        .operand = {.context = context,
                    .backing = is_pool ? GPHI_BACKING_POOL : GPHI_BACKING_CONTEXT},
        .pool = pool};
    const uint64_t *known = gphi_map_get(&operands->by_address, event->id);
    if (known)
        *(gphi_pointer *)gphi_vec_at(&operands->list, (size_t)*known) = seen;
    else if (operands->list.count < OPERANDS_MAX &&
             gphi_vec_push(&operands->list, &seen) == GPH_OK &&
             gphi_map_set(&operands->by_address, event->id, operands->list.count - 1) !=
                 GPH_OK)
        operands->list.count--;
}

/* The allocation that is, or was last, at an address. */
static const gphi_allocation *memory_of(const gphi_ask *ask, uint64_t address)
{
    const gphi_allocation *memory = gphi_model_memory(ask->model, address, false);
    return memory ? memory : gphi_model_memory(ask->model, address, true);
}

/* What the driver said of the address is worth more than what calls let expect; but it
 * does not say whether memory is of a graph. */
static gphi_pointer pointer_of(const gphi_ask *ask, uint64_t address)
{
    const gphi_allocation *memory = memory_of(ask, address);
    const uint64_t *known = gphi_map_get(&ask->operands->by_address, address);
    gphi_pointer out = {.pool = 0};
    if (known)
        out = *(gphi_pointer *)gphi_vec_at(&ask->operands->list, (size_t)*known);
    if (memory && memory->kind == GPHI_MEM_GRAPH)
        out.operand.backing = GPHI_BACKING_GRAPH;
    else if (memory && !known)
        out.operand.backing =
            memory->kind == GPHI_MEM_ASYNC || memory->kind == GPHI_MEM_VMM
                ? GPHI_BACKING_POOL
                : GPHI_BACKING_CONTEXT;
    return out;
}

static gphi_operand operand_of(const gphi_ask *ask, const gph_memcpy_side *side)
{
    return side->memory != GPH_MEMORY_ARRAY ? pointer_of(ask, side->address).operand
                                            : (gphi_operand){.context = 0};
}

/* "the buffer of 64 bytes from f (a.c:3), memory of no context (pool or mapped) by
 * cuMemAllocAsync, of the default pool of device 0" */
static void say_operand(const gphi_ask *ask, uint64_t address, char *out, size_t bytes)
{
    const gphi_allocation *memory = memory_of(ask, address);
    const gphi_pointer pointer = pointer_of(ask, address);
    gphi_text text;
    gphi_text_fix(&text, out, bytes);
    gphi_text_say(&text, "%s, %s", gphi_say_memory(ask->model, address),
                  gphi_backing_name(pointer.operand.backing));
    if (memory && memory->allocated.number != 0)
        gphi_text_say(&text, " by %s", gphi_call_name(memory->allocated.call));
    if (pointer.pool != 0)
        gphi_text_say(&text, ", of %s", gphi_say_pool(ask->model, pointer.pool));
}

/* ---- two nodes ---- */

static gphi_update_side side_of(const gphi_ask *ask, const gph_node *node)
{
    gphi_update_side side = {.node = node};
    if (node->kind == GPH_NODE_MEMCPY) {
        side.dst = operand_of(ask, &node->u.memcpy.dst);
        side.src = operand_of(ask, &node->u.memcpy.src);
    }
    return side;
}

static gphi_why why_of(gphi_update_rule rule)
{
    switch (rule) {
    case GPHI_UPDATE_COOPERATIVE:
    case GPHI_UPDATE_PRIORITY: return GPHI_WHY_ATTRIBUTES;
    case GPHI_UPDATE_COPY_TYPE:
    case GPHI_UPDATE_COPY_ROWS: return GPHI_WHY_MEMCPY_KIND;
    case GPHI_UPDATE_COPY_BACKING:
    case GPHI_UPDATE_OPERAND_CONTEXT: return GPHI_WHY_OPERAND_BACKING;
    case GPHI_UPDATE_FILL_ROWS:
    case GPHI_UPDATE_FILL_ROW: return GPHI_WHY_MEMSET_SIZE;
    case GPHI_UPDATE_FITS: return GPHI_WHY_NONE;
    default: return GPHI_WHY_UNSUPPORTED;
    }
}

void gphi_clash_find(const gphi_ask *ask, const gph_node *a, const gph_node *b,
                     gphi_clash *out)
{
    const gphi_update_side left = side_of(ask, a), right = side_of(ask, b);
    gphi_update_clash clash = {.rule = GPHI_UPDATE_FITS};
    memset(out, 0, sizeof(*out));
    if (gphi_update_fits(&left, &right, ask->flags, &clash))
        return;
    out->why = why_of(clash.rule);
    out->field = clash.rule == GPHI_UPDATE_OPERAND_CONTEXT ? "src.context" : clash.field;
    out->rule = gphi_update_words_of(clash.rule)->text;
    memcpy(out->before, clash.before, sizeof(clash.before));
    memcpy(out->after, clash.after, sizeof(clash.after));
    if (clash.rule != GPHI_UPDATE_COPY_BACKING)
        return;
    const bool is_dst = strcmp(clash.field, "dst.address") == 0;
    const gph_memcpy_params *x = &a->u.memcpy, *y = &b->u.memcpy;
    say_operand(ask, is_dst ? x->dst.address : x->src.address, out->before,
                sizeof(out->before));
    say_operand(ask, is_dst ? y->dst.address : y->src.address, out->after,
                sizeof(out->after));
}
