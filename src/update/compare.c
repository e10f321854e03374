// SPDX-License-Identifier: Apache-2.0
/* Comparing an executable's contents with a graph. Where the topology is byte for byte
 * the same, as after a new capture of the same work, nodes are looked at in their order,
 * which is quick; only where one is refused are they looked at again in the driver's. */
#include "update/compare.h"
#include "base/heap.h"
#include "graph/class.h"
#include "graph/node.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TOPOLOGY CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED
#define PARAMETERS CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED
#define ATTRIBUTES CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED

static bool refuse(gphi_comparison *of, CUgraphExecUpdateResult result, const char *rule,
                   const char *field)
{
    of->is_refused = true;
    of->result = result;
    of->rule = rule;
    of->field = field;
    return false;
}

static bool refuse_numbers(gphi_comparison *of, CUgraphExecUpdateResult result,
                           const char *rule, const char *field, const uint64_t values[2])
{
    snprintf(of->before, sizeof(of->before), "%" PRIu64, values[0]);
    snprintf(of->after, sizeof(of->after), "%" PRIu64, values[1]);
    return refuse(of, result, rule, field);
}

static bool refuse_handles(gphi_comparison *of, CUgraphExecUpdateResult result,
                           const char *rule, const char *field, const uint64_t values[2])
{
    snprintf(of->before, sizeof(of->before), "0x%" PRIx64, values[0]);
    snprintf(of->after, sizeof(of->after), "0x%" PRIx64, values[1]);
    return refuse(of, result, rule, field);
}

/* ---- kernels ------------------------------------------------------------------------
 */

static bool check_kernel(gphi_comparison *of, const gph_kernel_params *a,
                         const gph_kernel_params *b)
{
    if (a->context != b->context)
        return refuse_handles(of, CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE,
                              "R69", "context",
                              (const uint64_t[]){a->context, b->context});
    if (a->cooperative != b->cooperative)
        return refuse_numbers(of, ATTRIBUTES, "R69a", "cooperative",
                              (const uint64_t[]){a->cooperative, b->cooperative});
    if (a->priority != b->priority &&
        (of->flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) != 0) {
        snprintf(of->before, sizeof(of->before), "%" PRId32, a->priority);
        snprintf(of->after, sizeof(of->after), "%" PRId32, b->priority);
        return refuse(of, ATTRIBUTES, "R69a", "priority");
    }
    /* No setter of a single node takes attributes. */
    of->needs_whole |= a->priority != b->priority ||
                       memcmp(a->cluster, b->cluster, sizeof(a->cluster)) != 0;
    return true;
}

/* ---- copies -------------------------------------------------------------------------
 */

/* The first byte, wherever the offsets stand. */
static uint64_t start(const gph_memcpy_side *side)
{
    return side->address + side->x_bytes +
           side->pitch_bytes * (side->y + side->height * side->z);
}

static bool same_place(const gph_memcpy_side *a, const gph_memcpy_side *b, bool planes)
{
    if (a->memory == GPH_MEMORY_ARRAY)
        return a->address == b->address && a->x_bytes == b->x_bytes && a->y == b->y &&
               a->z == b->z && a->lod == b->lod;
    return start(a) == start(b) && a->pitch_bytes == b->pitch_bytes &&
           (!planes || a->height == b->height);
}

struct first_field {
    gphi_comparison *of;
    const char *field;
};

static bool keep_field(void *user, const char *field, const char *before,
                       const char *after)
{
    static const char *const known[] = {"dst.address",
                                        "dst.x_bytes",
                                        "dst.y",
                                        "dst.z",
                                        "dst.pitch_bytes",
                                        "dst.height",
                                        "src.address",
                                        "src.x_bytes",
                                        "src.y",
                                        "src.z",
                                        "src.lod",
                                        "src.pitch_bytes",
                                        "src.height",
                                        "dst.lod",
                                        "width_bytes",
                                        "height",
                                        "depth"};
    struct first_field *to = user;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(known[i], field) == 0)
            to->field = known[i]; /* which lives as long as the report */
    snprintf(to->of->before, sizeof(to->of->before), "%s", before);
    snprintf(to->of->after, sizeof(to->of->after), "%s", after);
    return to->field == NULL;
}

static bool check_rows(gphi_comparison *of, const gph_node *a, const gph_node *b)
{
    const gph_memcpy_params *left = &a->u.memcpy, *right = &b->u.memcpy;
    if (gphi_is_flat(left) && gphi_is_flat(right))
        return true;
    const bool planes = left->depth > 1;
    if (left->width_bytes == right->width_bytes && left->height == right->height &&
        left->depth == right->depth && same_place(&left->dst, &right->dst, planes) &&
        same_place(&left->src, &right->src, planes))
        return true;
    struct first_field first = {of, NULL};
    (void)gphi_node_compare(a, b, keep_field, &first);
    return refuse(of, PARAMETERS, "R69d", first.field);
}

static const char *backing_name(uint8_t backing)
{
    switch (backing) {
    case GPHI_BACKING_CONTEXT: return "memory of a context or the host";
    case GPHI_BACKING_POOL: return "memory of a pool or mapped";
    case GPHI_BACKING_GRAPH: return "memory of a graph";
    default: return "no memory";
    }
}

static bool check_backing(gphi_comparison *of, const char *field, const gphi_operand *a,
                          const gphi_operand *b)
{
    if (a->backing == b->backing)
        return true;
    snprintf(of->before, sizeof(of->before), "%s", backing_name(a->backing));
    snprintf(of->after, sizeof(of->after), "%s", backing_name(b->backing));
    return refuse(of, PARAMETERS, "M_U07_backing", field);
}

/* Without a context: array, or ordinary host memory, or memory that is gone. */
static bool check_context(gphi_comparison *of, const char *field, const gphi_operand *a,
                          const gphi_operand *b)
{
    if (a->context == 0 || b->context == 0 || a->context == b->context)
        return true;
    return refuse_handles(of, PARAMETERS, "M_U07_context", field,
                          (const uint64_t[]){a->context, b->context});
}

/* Ordinary host memory goes with the copy's context, unless it stays host memory. */
static bool check_source(gphi_comparison *of, gphi_operand a, gphi_operand b)
{
    if (a.context == 0 && b.context != 0)
        a.context = (uintptr_t)of->a->context;
    else if (b.context == 0 && a.context != 0)
        b.context = (uintptr_t)of->b->context;
    return check_context(of, "src.address", &a, &b);
}

static bool check_copy(gphi_comparison *of, const gphi_place *a, const gphi_place *b)
{
    const gph_memcpy_params *left = &a->node->u.memcpy, *right = &b->node->u.memcpy;
    if (left->dst.memory != right->dst.memory)
        return refuse_numbers(of, PARAMETERS, "R69c", "dst.memory",
                              (const uint64_t[]){left->dst.memory, right->dst.memory});
    if (left->src.memory != right->src.memory)
        return refuse_numbers(of, PARAMETERS, "R69c", "src.memory",
                              (const uint64_t[]){left->src.memory, right->src.memory});
    return check_rows(of, a->node, b->node) &&
           check_backing(of, "dst.address", &a->dst, &b->dst) &&
           check_backing(of, "src.address", &a->src, &b->src) &&
           check_source(of, a->src, b->src);
}

/* ---- fills, batches, semaphores -----------------------------------------------------
 */

static bool check_fill(gphi_comparison *of, const gphi_place *a, const gphi_place *b)
{
    const gph_memset_params *left = &a->node->u.memset, *right = &b->node->u.memset;
    const uint64_t addresses[] = {left->address, right->address};
    if (!b->dst.is_known && !gphi_node_same(a->node, b->node))
        return refuse_handles(of, CU_GRAPH_EXEC_UPDATE_ERROR, "M_capture_fill", "address",
                              addresses);
    if (left->height != right->height)
        return refuse_numbers(of, PARAMETERS, "M_U06_fill_shape", "height",
                              (const uint64_t[]){left->height, right->height});
    if (left->height > 1 && left->width != right->width)
        return refuse_numbers(of, PARAMETERS, "M_U06_fill_shape", "width",
                              (const uint64_t[]){left->width, right->width});
    if (left->height > 1 && left->pitch_bytes != right->pitch_bytes)
        return refuse_numbers(of, PARAMETERS, "M_U06_fill_shape", "pitch_bytes",
                              (const uint64_t[]){left->pitch_bytes, right->pitch_bytes});
    if (left->height > 1 && left->element_bytes != right->element_bytes)
        return refuse_numbers(
            of, PARAMETERS, "M_U06_fill_shape", "element_bytes",
            (const uint64_t[]){left->element_bytes, right->element_bytes});
    if (left->address != right->address && a->dst.is_freed && b->dst.is_freed)
        return refuse_handles(of, CU_GRAPH_EXEC_UPDATE_ERROR, "M_fill_freed", "address",
                              addresses);
    return check_context(of, "address", &a->dst, &b->dst);
}

static bool check_batch(gphi_comparison *of, const gph_batch_params *a,
                        const gph_batch_params *b)
{
    of->needs_whole = true;
    if (a->count != b->count)
        return refuse_numbers(of, PARAMETERS, "R69e", "ops",
                              (const uint64_t[]){a->count, b->count});
    for (uint32_t i = 0; i < a->count; i++)
        if (a->ops[i].operation != b->ops[i].operation)
            return refuse_numbers(
                of, PARAMETERS, "R69e", "ops.operation",
                (const uint64_t[]){a->ops[i].operation, b->ops[i].operation});
    if (a->context != b->context)
        return refuse_handles(of, PARAMETERS, "R69e", "context",
                              (const uint64_t[]){a->context, b->context});
    return true;
}

static bool check_semaphores(gphi_comparison *of, uint32_t a, uint32_t b)
{
    of->needs_whole = true; /* which semaphores is not known */
    if (a == b)
        return true;
    return refuse_numbers(of, PARAMETERS, "R69e", "count", (const uint64_t[]){a, b});
}

/* Whether a pair that differs may. */
static bool check_pair(gphi_comparison *of, const gphi_place *a, const gphi_place *b)
{
    switch (b->node->kind) {
    case GPH_NODE_KERNEL: return check_kernel(of, &a->node->u.kernel, &b->node->u.kernel);
    case GPH_NODE_MEMCPY: return check_copy(of, a, b);
    case GPH_NODE_MEMSET: return check_fill(of, a, b);
    case GPH_NODE_BATCH_MEM_OP:
        return check_batch(of, &a->node->u.batch, &b->node->u.batch);
    case GPH_NODE_SEMAPHORE_SIGNAL:
    case GPH_NODE_SEMAPHORE_WAIT:
        return check_semaphores(of, a->node->u.semaphore.count,
                                b->node->u.semaphore.count);
    case GPH_NODE_MEM_ALLOC:
    case GPH_NODE_MEM_FREE:
    case GPH_NODE_CONDITIONAL: of->needs_whole = true; return true;
    case GPH_NODE_HOST:
    case GPH_NODE_CHILD:
    case GPH_NODE_EMPTY:
    case GPH_NODE_EVENT_WAIT:
    case GPH_NODE_EVENT_RECORD: break;
    }
    return true;
}

/* ---- pairs --------------------------------------------------------------------------
 */

struct walk {
    gphi_comparison *of;
    const gphi_level *a, *b;
    bool quick;
    gph_status status;
};

static bool compare_level(gphi_comparison *of, uint32_t a, uint32_t b, bool quick,
                          gph_status *status);

static bool same_operand(const gphi_operand *a, const gphi_operand *b)
{
    return a->backing == b->backing && a->context == b->context;
}

static bool is_unchanged(const gphi_place *a, const gphi_place *b)
{
    const gph_node_kind kind = b->node->kind;
    if (!gphi_node_same(a->node, b->node) || kind == GPH_NODE_CONDITIONAL ||
        kind == GPH_NODE_SEMAPHORE_SIGNAL || kind == GPH_NODE_SEMAPHORE_WAIT)
        return false;
    return (kind != GPH_NODE_MEMCPY && kind != GPH_NODE_MEMSET) ||
           (same_operand(&a->dst, &b->dst) && same_operand(&a->src, &b->src));
}

/* a and b are flat numbers. */
static bool look_at(struct walk *walk, uint32_t a, uint32_t b)
{
    gphi_comparison *of = walk->of;
    const gphi_place *left = &of->a->places[a], *right = &of->b->places[b];
    of->node_a = a;
    of->node_b = b;
    of->from_b = GPH_NODE_NONE;
    if (of->partner != NULL)
        of->partner[a] = b;
    if (left->node->kind != right->node->kind) {
        snprintf(of->before, sizeof(of->before), "%s",
                 gph_node_kind_name(left->node->kind));
        snprintf(of->after, sizeof(of->after), "%s",
                 gph_node_kind_name(right->node->kind));
        return refuse(of, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, "R68", "kind");
    }
    if (right->child != GPH_NODE_NONE && left->child != GPH_NODE_NONE)
        return compare_level(of, left->child, right->child, walk->quick, &walk->status);
    if (is_unchanged(left, right))
        return true;
    if (!check_pair(of, left, right))
        return false;
    gphi_changed *place = gphi_vec_add(&of->changed, 1);
    if (place == NULL) {
        walk->status = GPH_E_NO_MEMORY;
        return false;
    }
    *place = (gphi_changed){a, b};
    return true;
}

static bool visit(void *user, const gphi_pairing *pairing, uint32_t a, uint32_t b)
{
    struct walk *walk = user;
    (void)pairing;
    return look_at(walk, walk->a->first + a, walk->b->first + b);
}

/* What the pairing itself found, as the driver says it. */
static void refuse_topology(struct walk *walk, const gphi_pairing *pairing)
{
    gphi_comparison *of = walk->of;
    const gphi_topology *a = pairing->a, *b = pairing->b;
    const uint32_t first_a = walk->a->first, first_b = walk->b->first;
    const uint32_t none = GPH_NODE_NONE;
    of->node_a = pairing->node_a == none ? none : first_a + pairing->node_a;
    of->node_b = pairing->node_b == none ? none : first_b + pairing->node_b;
    of->from_b = pairing->from_b == none ? none : first_b + pairing->from_b;
    switch (pairing->mismatch) {
    case GPHI_MISMATCH_COUNT:
        refuse_numbers(of, TOPOLOGY, "R64", "nodes",
                       (const uint64_t[]){a->count, b->count});
        break;
    case GPHI_MISMATCH_SINKS:
        refuse_numbers(of, TOPOLOGY, "R65", "nodes without dependents",
                       (const uint64_t[]){a->sink_count, b->sink_count});
        break;
    case GPHI_MISMATCH_DEGREE:
        refuse_numbers(of, TOPOLOGY, "R66", "dependencies",
                       (const uint64_t[]){
                           a->first[pairing->node_a + 1] - a->first[pairing->node_a],
                           b->first[pairing->node_b + 1] - b->first[pairing->node_b]});
        break;
    case GPHI_MISMATCH_DEPENDENCY:
        snprintf(of->before, sizeof(of->before), "another node or other edge data");
        snprintf(of->after, sizeof(of->after), "node %u", pairing->from_b);
        refuse(of, TOPOLOGY, "R66", "dependency");
        break;
    case GPHI_MISMATCH_CYCLE: refuse(of, TOPOLOGY, "R66", "cycle"); break;
    case GPHI_MATCH:
    case GPHI_MISMATCH_VISIT: break;
    }
}

static bool compare_quickly(struct walk *walk)
{
    if (!gphi_topology_same(&walk->a->topology, &walk->b->topology))
        return false;
    for (uint32_t i = 0; i < walk->a->count; i++)
        if (!look_at(walk, walk->a->first + i, walk->b->first + i))
            return false;
    return true;
}

static bool compare_level(gphi_comparison *of, uint32_t a, uint32_t b, bool quick,
                          gph_status *status)
{
    struct walk walk = {
        .of = of, .a = &of->a->levels[a], .b = &of->b->levels[b], .quick = quick};
    if (quick) {
        const bool same = compare_quickly(&walk);
        *status = walk.status != GPH_OK ? walk.status : *status;
        return same;
    }
    gphi_pairing pairing = {
        .a = &walk.a->topology, .b = &walk.b->topology, .visit = visit, .user = &walk};
    const gph_status ran = gphi_pairing_run(&pairing);
    if (ran != GPH_OK || walk.status != GPH_OK) {
        *status = ran != GPH_OK ? ran : walk.status;
        gphi_pairing_fini(&pairing);
        return false;
    }
    if (pairing.mismatch != GPHI_MATCH && pairing.mismatch != GPHI_MISMATCH_VISIT)
        refuse_topology(&walk, &pairing);
    gphi_pairing_fini(&pairing);
    return pairing.mismatch == GPHI_MATCH;
}

static void begin(gphi_comparison *of)
{
    of->changed.count = 0;
    of->needs_whole = false;
    of->is_refused = false;
    of->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    of->rule = of->field = NULL;
    of->before[0] = of->after[0] = '\0';
    of->node_a = of->node_b = of->from_b = GPH_NODE_NONE;
    of->is_certain = !of->a->has_unknown && !of->b->has_unknown &&
                     (!of->b->has_memory || of->a->source == of->b->source);
}

gph_status gphi_compare(gphi_comparison *of)
{
    const gph_allocator heap = of->a->runtime->heap;
    gph_status status = GPH_OK;
    gphi_vec_init(&of->changed, heap, sizeof(gphi_changed));
    of->partner = NULL;
    begin(of);
    of->is_identity = of->a->count == of->b->count &&
                      of->a->level_count == of->b->level_count &&
                      compare_level(of, 0, 0, true, &status);
    if (of->is_identity || status != GPH_OK) {
        of->node_a = of->node_b = GPH_NODE_NONE;
        return status;
    }
    begin(of);
    if (of->a->count > 0) {
        of->partner = gphi_heap_array(heap, of->a->count, sizeof(*of->partner));
        if (of->partner == NULL)
            return GPH_E_NO_MEMORY;
        of->partner_count = of->a->count;
    }
    (void)compare_level(of, 0, 0, false, &status);
    if (!of->is_refused)
        of->node_a = of->node_b = of->from_b = GPH_NODE_NONE;
    return status;
}

/* What was compared may be gone by now. */
void gphi_comparison_fini(gphi_comparison *of)
{
    gphi_heap_free(of->changed.heap, of->partner,
                   of->partner_count * sizeof(*of->partner));
    of->partner = NULL;
    gphi_vec_fini(&of->changed);
}

/* ---- words --------------------------------------------------------------------------
 */

static void put_node(const gphi_comparison *of, char *out, size_t bytes)
{
    char path[200] = "", label[100];
    if (of->node_b == GPH_NODE_NONE) {
        snprintf(out, bytes, "the graph");
        return;
    }
    gphi_place_path(of->b, of->node_b, path, sizeof(path));
    gphi_node_label(of->b->places[of->node_b].node, label, sizeof(label));
    snprintf(out, bytes, "node %s (%s)", path, label);
}

void gphi_comparison_text(const gphi_comparison *of, char *out, size_t bytes)
{
    char node[320];
    if (!of->is_refused) {
        const char *also =
            !of->is_certain
                ? "; what no query tells (memory nodes of a graph with another "
                  "executable, conditional nodes) could still be refused"
                : "";
        if (of->is_stale)
            snprintf(out, bytes,
                     "fits; what the nodes hold is not known since a whole "
                     "update without a snapshot%s",
                     also);
        else
            snprintf(out, bytes, "%zu of %u nodes differ%s%s", of->changed.count,
                     of->b->count,
                     of->needs_whole ? ", in what no setter of a single node takes" : "",
                     also);
        return;
    }
    put_node(of, node, sizeof(node));
    snprintf(out, bytes, "%s: %s may not go from %s to %s (%s)", node,
             of->field != NULL ? of->field : "it", of->before[0] ? of->before : "this",
             of->after[0] ? of->after : "that", of->rule);
}
