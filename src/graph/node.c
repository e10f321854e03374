// SPDX-License-Identifier: Apache-2.0
/* Two nodes of one kind, field by field. */
#include "graph/node.h"
#include "graph/fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct comparison {
    gphi_field_fn *call;
    void *user;
    bool goes_on;
};

static void say(struct comparison *to, const char *field, const char *before,
                const char *after)
{
    if (to->goes_on)
        to->goes_on = to->call(to->user, field, before, after);
}

static void put_number(const void *base, const gphi_field *field, char *out)
{
    const char *at = (const char *)base + field->offset;
    uint32_t small[3] = {0};
    uint64_t large = 0;
    const bool wide = field->type == GPHI_FIELD_U64 || field->type == GPHI_FIELD_HEX;
    if (wide)
        memcpy(&large, at, sizeof(large));
    else
        memcpy(small, at,
               field->type == GPHI_FIELD_TRIPLE ? sizeof(small) : sizeof(*small));
    const size_t bytes = GPHI_VALUE_BYTES_MAX;
    if (field->type == GPHI_FIELD_HEX)
        snprintf(out, bytes, "0x%" PRIx64, large);
    else if (field->type == GPHI_FIELD_U64)
        snprintf(out, bytes, "%" PRIu64, large);
    else if (field->type == GPHI_FIELD_TRIPLE)
        snprintf(out, bytes, "%" PRIu32 " %" PRIu32 " %" PRIu32, small[0], small[1],
                 small[2]);
    else if (field->type == GPHI_FIELD_I32)
        snprintf(out, bytes, "%" PRId32, (int32_t)small[0]);
    else if (field->type == GPHI_FIELD_MEMORY && gphi_memory_name(small[0]))
        snprintf(out, bytes, "%s", gphi_memory_name(small[0]));
    else
        snprintf(out, bytes, "%" PRIu32, small[0]);
}

/* Unknown handles are not a difference. */
static bool is_unknown(const void *base, const gphi_field *field)
{
    uint64_t value = 0;
    if (field->type != GPHI_FIELD_HEX ||
        (strcmp(field->key, "handle") != 0 && strcmp(field->key, "context") != 0))
        return false;
    memcpy(&value, (const char *)base + field->offset, sizeof(value));
    return value == 0;
}

static void compare_number(struct comparison *to, const char *prefix, const void *a,
                           const void *b, const gphi_field *field)
{
    char before[GPHI_VALUE_BYTES_MAX], after[GPHI_VALUE_BYTES_MAX];
    char name[GPHI_FIELD_BYTES_MAX];
    put_number(a, field, before);
    put_number(b, field, after);
    if (strcmp(before, after) == 0 || is_unknown(a, field) || is_unknown(b, field))
        return;
    snprintf(name, sizeof(name), "%s%s", prefix, field->key);
    say(to, name, before, after);
}

static void compare_object(struct comparison *to, const char *prefix, const void *a,
                           const void *b, gphi_fields fields)
{
    for (size_t i = 0; i < fields.count; i++)
        compare_number(to, prefix, a, b, &fields.items[i]);
}

static void compare_text(struct comparison *to, const char *field, const char *a,
                         const char *b)
{
    char before[GPHI_VALUE_BYTES_MAX], after[GPHI_VALUE_BYTES_MAX];
    if (!a || !b || strcmp(a, b) == 0)
        return;
    snprintf(before, sizeof(before), "%s", a);
    snprintf(after, sizeof(after), "%s", b);
    say(to, field, before, after);
}

/* ---- arguments ---- */

/* A number where it has the size of one, else its bytes. */
static void put_bytes(const unsigned char *from, size_t count, char *out)
{
    uint64_t value = 0;
    if (count == 1 || count == 2 || count == 4 || count == 8) {
        for (size_t i = count; i-- > 0;)
            value = value << 8 | from[i];
        snprintf(out, GPHI_VALUE_BYTES_MAX, "0x%" PRIx64, value);
        return;
    }
    size_t used = 0;
    for (size_t i = 0; i < count && i < 32; i++, used += 2)
        snprintf(out + used, GPHI_VALUE_BYTES_MAX - used, "%02x", from[i]);
    snprintf(out + used, GPHI_VALUE_BYTES_MAX - used, "%s", count > 32 ? "..." : "");
}

static void compare_bytes(struct comparison *to, const char *field,
                          const unsigned char *a, const unsigned char *b, size_t count)
{
    char before[GPHI_VALUE_BYTES_MAX], after[GPHI_VALUE_BYTES_MAX];
    if (count == 0 || memcmp(a, b, count) == 0)
        return;
    size_t first = 0; /* of a long one, what differs is shown */
    while (count > 32 && a[first] == b[first])
        first++;
    put_bytes(a + first, count - first, before);
    put_bytes(b + first, count - first, after);
    say(to, field, before, after);
}

static bool same_layout(const gph_kernel_params *a, const gph_kernel_params *b)
{
    if (a->arg_count != b->arg_count || a->buffer_bytes != b->buffer_bytes)
        return false;
    for (uint32_t i = 0; i < a->arg_count; i++)
        if (a->args[i].offset != b->args[i].offset ||
            a->args[i].bytes != b->args[i].bytes)
            return false;
    return true;
}

static void compare_arguments(struct comparison *to, const gph_kernel_params *a,
                              const gph_kernel_params *b)
{
    char before[GPHI_VALUE_BYTES_MAX], after[GPHI_VALUE_BYTES_MAX];
    char name[GPHI_FIELD_BYTES_MAX];
    if (!same_layout(a, b)) {
        snprintf(before, sizeof(before), "%" PRIu32 " in %zu bytes", a->arg_count,
                 a->buffer_bytes);
        snprintf(after, sizeof(after), "%" PRIu32 " in %zu bytes", b->arg_count,
                 b->buffer_bytes);
        say(to, "args", before,
            strcmp(before, after) == 0 ? "other sizes or offsets" : after);
        return;
    }
    for (uint32_t i = 0; i < a->arg_count; i++) {
        const gph_kernel_arg arg = a->args[i];
        snprintf(name, sizeof(name), "args[%" PRIu32 "]", i);
        compare_bytes(to, name, a->buffer + arg.offset, b->buffer + arg.offset,
                      arg.bytes);
    }
    if (a->arg_count == 0)
        compare_bytes(to, "buffer", a->buffer, b->buffer, a->buffer_bytes);
}

static void compare_ops(struct comparison *to, const gph_batch_params *a,
                        const gph_batch_params *b)
{
    char before[GPHI_VALUE_BYTES_MAX], after[GPHI_VALUE_BYTES_MAX];
    char prefix[GPHI_FIELD_BYTES_MAX];
    if (a->count != b->count) {
        snprintf(before, sizeof(before), "%" PRIu32 " operations", a->count);
        snprintf(after, sizeof(after), "%" PRIu32 " operations", b->count);
        say(to, "ops", before, after);
        return;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        snprintf(prefix, sizeof(prefix), "ops[%" PRIu32 "].", i);
        compare_object(to, prefix, &a->ops[i], &b->ops[i], gphi_fields_of_op());
    }
}

/* ---- nodes ---- */

static void compare_field(struct comparison *to, const gph_node *a, const gph_node *b,
                          const gphi_field *field)
{
    char prefix[GPHI_FIELD_BYTES_MAX];
    switch (field->type) {
    case GPHI_FIELD_TEXT:
        compare_text(to, field->key, a->u.kernel.function, b->u.kernel.function);
        break;
    case GPHI_FIELD_ARGS: compare_arguments(to, &a->u.kernel, &b->u.kernel); break;
    case GPHI_FIELD_BYTES: break; /* with the arguments */
    case GPHI_FIELD_OPS: compare_ops(to, &a->u.batch, &b->u.batch); break;
    case GPHI_FIELD_GRAPH: break;
    case GPHI_FIELD_SIDE:
        snprintf(prefix, sizeof(prefix), "%s.", field->key);
        compare_object(to, prefix, (const char *)a + field->offset,
                       (const char *)b + field->offset, gphi_fields_of_side());
        break;
    default: compare_number(to, "", a, b, field); break;
    }
}

bool gphi_node_compare(const gph_node *a, const gph_node *b, gphi_field_fn *call,
                       void *user)
{
    struct comparison to = {call, user, true};
    const gphi_fields fields = gphi_fields_of_node(a->kind);
    compare_text(&to, "name", a->name, b->name);
    for (size_t i = 0; i < fields.count && to.goes_on; i++)
        compare_field(&to, a, b, &fields.items[i]);
    return to.goes_on;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || !a || !b || strcmp(a, b) == 0;
}

static bool same_known(uint64_t a, uint64_t b)
{
    return a == b || a == 0 || b == 0;
}

/* What lies between arguments is not a difference. */
static bool same_arguments(const gph_kernel_params *a, const gph_kernel_params *b)
{
    if (a->buffer_bytes != b->buffer_bytes)
        return false;
    if (a->buffer_bytes == 0 || memcmp(a->buffer, b->buffer, a->buffer_bytes) == 0)
        return true;
    if (a->arg_count == 0 || a->arg_count != b->arg_count)
        return false;
    for (uint32_t i = 0; i < a->arg_count; i++)
        if (memcmp(a->buffer + a->args[i].offset, b->buffer + a->args[i].offset,
                   a->args[i].bytes) != 0)
            return false;
    return true;
}

static bool same_kernel(const gph_kernel_params *a, const gph_kernel_params *b)
{
    return same_known(a->handle, b->handle) && same_known(a->context, b->context) &&
           memcmp(a->grid, b->grid, sizeof(a->grid)) == 0 &&
           memcmp(a->block, b->block, sizeof(a->block)) == 0 &&
           a->shared_bytes == b->shared_bytes && a->cooperative == b->cooperative &&
           a->priority == b->priority &&
           memcmp(a->cluster, b->cluster, sizeof(a->cluster)) == 0 &&
           same_arguments(a, b) &&
           /* One handle has one layout, and one name. */
           ((a->handle != 0 && a->handle == b->handle) ||
            (same_layout(a, b) && same_text(a->function, b->function)));
}

/* The parameters below are numbers without gaps, so bytes say whether they are equal. */
_Static_assert(sizeof(gph_memcpy_side) == 56 && sizeof(gph_memcpy_params) == 136 &&
                   sizeof(gph_memset_params) == 40 && sizeof(gph_mem_op) == 24,
               "parameters with gaps");

static bool same_bytes(const gph_node *a, const gph_node *b, size_t bytes)
{
    return memcmp(&a->u, &b->u, bytes) == 0;
}

static bool same_batch(const gph_batch_params *a, const gph_batch_params *b)
{
    return a->count == b->count && same_known(a->context, b->context) &&
           (a->count == 0 || memcmp(a->ops, b->ops, a->count * sizeof(*a->ops)) == 0);
}

bool gphi_node_same(const gph_node *a, const gph_node *b)
{
    if (a->kind != b->kind || !same_text(a->name, b->name))
        return false;
    switch (a->kind) {
    case GPH_NODE_KERNEL: return same_kernel(&a->u.kernel, &b->u.kernel);
    case GPH_NODE_MEMCPY: return same_bytes(a, b, sizeof(a->u.memcpy));
    case GPH_NODE_MEMSET: return same_bytes(a, b, sizeof(a->u.memset));
    case GPH_NODE_BATCH_MEM_OP: return same_batch(&a->u.batch, &b->u.batch);
    case GPH_NODE_HOST: return same_bytes(a, b, sizeof(a->u.host));
    case GPH_NODE_EVENT_WAIT:
    case GPH_NODE_EVENT_RECORD: return same_bytes(a, b, sizeof(a->u.event));
    case GPH_NODE_MEM_ALLOC:
    case GPH_NODE_MEM_FREE: return same_bytes(a, b, sizeof(a->u.memory));
    case GPH_NODE_SEMAPHORE_SIGNAL:
    case GPH_NODE_SEMAPHORE_WAIT: return same_bytes(a, b, sizeof(a->u.semaphore));
    case GPH_NODE_CONDITIONAL:
        return same_known(a->u.conditional.form, b->u.conditional.form);
    case GPH_NODE_CHILD:
    case GPH_NODE_EMPTY: break;
    }
    return true;
}

void gphi_node_label(const gph_node *node, char *out, size_t bytes)
{
    const char *kind = gph_node_kind_name(node->kind);
    const char *name = node->name;
    if (!name && node->kind == GPH_NODE_KERNEL)
        name = node->u.kernel.function;
    snprintf(out, bytes, "%s%s%.60s", kind, name ? " " : "", name ? name : "");
}
