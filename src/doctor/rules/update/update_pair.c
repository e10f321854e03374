// SPDX-License-Identifier: Apache-2.0
/* What two partners of an update may not differ in. */
#include "base/fail.h"
#include "doctor/rules/update/update_why.h"
#include "graph/node.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { OPERANDS_MAX = 1 << 16, USE_NODE_PRIORITY = 8 };

/* ---- memory that operands stand on ---- */

void gphi_operands_init(gphi_operands *operands, gph_allocator heap)
{
    gphi_map_init(&operands->by_address, heap);
    gphi_vec_init(&operands->list, heap, sizeof(gphi_operand));
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
    const uint64_t type = gphi_event_word(event, 2), context = gphi_event_word(event, 3),
                   pool = gphi_event_word(event, 4);
    const gphi_operand seen = {
        .context = context,
        .pool = pool,
        .backing = pool != 0 || (context == 0 && type == CU_MEMORYTYPE_DEVICE)
                       ? GPHI_BACKING_POOL
                       : GPHI_BACKING_CONTEXT};
    const uint64_t *known = gphi_map_get(&operands->by_address, event->id);
    if (known != NULL) {
        *(gphi_operand *)gphi_vec_at(&operands->list, (size_t)*known) = seen;
        return;
    }
    if (operands->list.count >= OPERANDS_MAX)
        return;
    gphi_operand *place = gphi_vec_add(&operands->list, 1);
    if (place == NULL)
        return;
    *place = seen;
    if (gphi_map_set(&operands->by_address, event->id, operands->list.count - 1) !=
        GPH_OK)
        operands->list.count--;
}

/* What the driver said of the address is worth more than what calls let expect; but it
 * does not say whether memory is of a graph. */
static gphi_operand operand_of(const gphi_ask *ask, uint64_t address, char *text,
                               size_t bytes)
{
    const gphi_allocation *memory = gphi_model_memory(ask->model, address, false);
    if (memory == NULL)
        memory = gphi_model_memory(ask->model, address, true);
    const uint64_t *known = gphi_map_get(&ask->operands->by_address, address);
    gphi_operand out = {0};
    if (known != NULL)
        out = *(gphi_operand *)gphi_vec_at(&ask->operands->list, (size_t)*known);
    if (memory != NULL && memory->kind == GPHI_MEM_GRAPH)
        out.backing = GPHI_BACKING_GRAPH;
    else if (memory != NULL && known == NULL)
        out.backing = memory->kind == GPHI_MEM_ASYNC || memory->kind == GPHI_MEM_VMM
                          ? GPHI_BACKING_POOL
                          : GPHI_BACKING_CONTEXT;
    static const char *const names[] = {"memory of unknown sort", "memory of a context",
                                        "memory of no context (pool or mapped)",
                                        "memory of a graph"};
    int used = snprintf(text, bytes, "0x%" PRIx64 ", %s", address, names[out.backing]);
    if (memory != NULL && memory->allocated.number != 0 && used > 0 &&
        (size_t)used < bytes)
        used += snprintf(text + used, bytes - (size_t)used, " by %s",
                         gphi_call_name(memory->allocated.call));
    if (out.pool != 0 && used > 0 && (size_t)used < bytes)
        snprintf(text + used, bytes - (size_t)used, ", pool 0x%" PRIx64, out.pool);
    return out;
}

/* ---- fields ---- */

static bool clash(gphi_clash *out, gphi_why why, const char *field, const char *rule)
{
    out->why = why;
    out->rule = rule;
    snprintf(out->field, sizeof(out->field), "%s", field);
    return true;
}

static bool clash_numbers(gphi_clash *out, gphi_why why, const char *field, uint64_t a,
                          uint64_t b, const char *rule)
{
    if (a == b)
        return false;
    snprintf(out->before, sizeof(out->before), "%" PRIu64, a);
    snprintf(out->after, sizeof(out->after), "%" PRIu64, b);
    return clash(out, why, field, rule);
}

static bool clash_handles(gphi_clash *out, gphi_why why, const char *field, uint64_t a,
                          uint64_t b, const char *rule)
{
    if (a == b || a == 0 || b == 0)
        return false;
    snprintf(out->before, sizeof(out->before), "0x%" PRIx64, a);
    snprintf(out->after, sizeof(out->after), "0x%" PRIx64, b);
    return clash(out, why, field, rule);
}

static void find_kernel(const gphi_ask *ask, const gph_kernel_params *a,
                        const gph_kernel_params *b, gphi_clash *out)
{
    if (clash_handles(out, GPHI_WHY_UNSUPPORTED, "context", a->context, b->context,
                      "a kernel's function stays of one context") ||
        clash_numbers(out, GPHI_WHY_ATTRIBUTES, "cooperative", a->cooperative,
                      b->cooperative, "a kernel stays cooperative or not"))
        return;
    if (a->priority == b->priority || (ask->flags & USE_NODE_PRIORITY) == 0)
        return;
    snprintf(out->before, sizeof(out->before), "%" PRId32, a->priority);
    snprintf(out->after, sizeof(out->after), "%" PRId32, b->priority);
    (void)clash(out, GPHI_WHY_ATTRIBUTES, "priority",
                "an executable that uses the priorities of its nodes keeps them");
}

static const char *type_name(uint32_t type)
{
    static const char *const names[] = {"unknown", "HOST", "DEVICE", "ARRAY", "UNIFIED"};
    return names[type < sizeof(names) / sizeof(names[0]) ? type : 0];
}

static bool find_type(gphi_clash *out, const char *field, uint32_t a, uint32_t b)
{
    if (a == b)
        return false;
    snprintf(out->before, sizeof(out->before), "%s", type_name(a));
    snprintf(out->after, sizeof(out->after), "%s", type_name(b));
    return clash(out, GPHI_WHY_MEMCPY_KIND, field,
                 "a copy keeps the memory types that it declares");
}

static bool is_row(const gph_memcpy_params *copy)
{
    return copy->height <= 1 && copy->depth <= 1;
}

static bool keep_field(void *user, const char *field, const char *before,
                       const char *after)
{
    gphi_clash *out = user;
    snprintf(out->before, sizeof(out->before), "%s", before);
    snprintf(out->after, sizeof(out->after), "%s", after);
    return !clash(out, GPHI_WHY_MEMCPY_KIND, field,
                  "a copy of several rows stays as it is");
}

static bool find_backing(const gphi_ask *ask, gphi_clash *out, const char *field,
                         const gph_memcpy_side *a, const gph_memcpy_side *b)
{
    static const char rule[] =
        "an operand of a copy stays in memory of one sort: of a context, of pools and "
        "mapped ranges, or of graphs; which pool plays no part";
    if (a->memory == GPH_MEMORY_ARRAY || a->address == b->address)
        return false;
    const gphi_operand before =
        operand_of(ask, a->address, out->before, sizeof(out->before));
    const gphi_operand after =
        operand_of(ask, b->address, out->after, sizeof(out->after));
    if (before.backing == GPHI_BACKING_UNKNOWN || after.backing == GPHI_BACKING_UNKNOWN)
        return false;
    if (before.backing != after.backing)
        return clash(out, GPHI_WHY_OPERAND_BACKING, field, rule);
    if (strcmp(field, "src.address") != 0 || before.context == after.context ||
        before.context == 0 || after.context == 0)
        return false;
    return clash_handles(out, GPHI_WHY_OPERAND_BACKING, "src.context", before.context,
                         after.context, "the source of a copy stays of one context");
}

static void find_copy(const gphi_ask *ask, const gph_node *a, const gph_node *b,
                      gphi_clash *out)
{
    const gph_memcpy_params *left = &a->u.memcpy, *right = &b->u.memcpy;
    if (find_type(out, "dst.memory", left->dst.memory, right->dst.memory) ||
        find_type(out, "src.memory", left->src.memory, right->src.memory))
        return;
    if (!is_row(left) || !is_row(right))
        (void)gphi_node_compare(a, b, keep_field, out);
    if (out->why != GPHI_WHY_NONE ||
        find_backing(ask, out, "dst.address", &left->dst, &right->dst))
        return;
    (void)find_backing(ask, out, "src.address", &left->src, &right->src);
}

static void find_fill(const gph_memset_params *a, const gph_memset_params *b,
                      gphi_clash *out)
{
    static const char rows[] = "a fill keeps its number of rows";
    static const char shape[] =
        "a fill of several rows keeps its width, pitch and element";
    const gphi_why why = GPHI_WHY_MEMSET_SIZE;
    if (clash_numbers(out, why, "height", a->height, b->height, rows) || a->height <= 1)
        return;
    if (clash_numbers(out, why, "width", a->width, b->width, shape) ||
        clash_numbers(out, why, "pitch_bytes", a->pitch_bytes, b->pitch_bytes, shape))
        return;
    (void)clash_numbers(out, why, "element_bytes", a->element_bytes, b->element_bytes,
                        shape);
}

void gphi_clash_find(const gphi_ask *ask, const gph_node *a, const gph_node *b,
                     gphi_clash *out)
{
    memset(out, 0, sizeof(*out));
    switch (a->kind) {
    case GPH_NODE_KERNEL: find_kernel(ask, &a->u.kernel, &b->u.kernel, out); break;
    case GPH_NODE_MEMCPY: find_copy(ask, a, b, out); break;
    case GPH_NODE_MEMSET: find_fill(&a->u.memset, &b->u.memset, out); break;
    case GPH_NODE_BATCH_MEM_OP:
        (void)clash_numbers(out, GPHI_WHY_UNSUPPORTED, "ops", a->u.batch.count,
                            b->u.batch.count,
                            "a batch keeps the number and kinds of its operations");
        break;
    case GPH_NODE_SEMAPHORE_SIGNAL:
    case GPH_NODE_SEMAPHORE_WAIT:
        (void)clash_numbers(out, GPHI_WHY_UNSUPPORTED, "count", a->u.semaphore.count,
                            b->u.semaphore.count,
                            "a semaphore node keeps its number of semaphores");
        break;
    default: break;
    }
    if (out->why == GPHI_WHY_NONE)
        out->before[0] = out->after[0] = '\0';
}
