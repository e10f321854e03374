// SPDX-License-Identifier: Apache-2.0
/* A graph as JSON. A line a node and a line an edge, so that two files compare well. */
#include "base/fail.h"
#include "base/json.h"
#include "graph/fields.h"
#include <gph/file.h>

#include <inttypes.h>
#include <string.h>

enum { BUFFER_BYTES = 4096 };

static void put_graph(gphi_text *out, const gph_graph *graph);

/* Readers of JSON keep 53 or 63 bits: what is larger is written as text. */
static void put_u64(gphi_text *out, uint64_t value)
{
    if (value <= INT64_MAX)
        gphi_text_add(out, "%" PRIu64, value);
    else
        gphi_text_add(out, "\"0x%" PRIx64 "\"", value);
}

static void put_bytes(gphi_text *out, const gph_kernel_params *kernel)
{
    gphi_text_put(out, "\"");
    for (size_t i = 0; i < kernel->buffer_bytes; i++)
        gphi_text_add(out, "%02x", kernel->buffer[i]);
    gphi_text_put(out, "\"");
}

/* As wide as the field's type; no such field is an array of bytes. */
static bool is_zero(const gph_node *node, const gphi_field *field)
{
    static const char zeros[3 * sizeof(uint32_t)];
    const size_t bytes = field->type == GPHI_FIELD_HEX      ? sizeof(uint64_t)
                         : field->type == GPHI_FIELD_TRIPLE ? sizeof(zeros)
                                                            : sizeof(uint32_t);
    return memcmp((const char *)node + field->offset, zeros, bytes) == 0;
}

/* Fields that may be missing are left out where they are empty. */
static bool is_empty(const gph_node *node, const gphi_field *field)
{
    if (field->may_be_zero)
        return is_zero(node, field);
    switch (field->type) {
    case GPHI_FIELD_TEXT: return !node->u.kernel.function;
    case GPHI_FIELD_ARGS: return node->u.kernel.arg_count == 0;
    case GPHI_FIELD_BYTES: return node->u.kernel.buffer_bytes == 0;
    case GPHI_FIELD_OPS: return node->u.batch.count == 0;
    case GPHI_FIELD_GRAPH: return !node->u.child;
    default: return false;
    }
}

/* A field that a node, a side of a copy and an operation may have; `base` is any. */
static void put_number(gphi_text *out, const void *base, const gphi_field *field)
{
    const char *at = (const char *)base + field->offset;
    uint32_t small[3] = {0};
    uint64_t large = 0;
    const size_t bytes =
        field->type == GPHI_FIELD_TRIPLE ? sizeof(small) : sizeof(*small);
    if (field->type == GPHI_FIELD_U64 || field->type == GPHI_FIELD_HEX)
        memcpy(&large, at, sizeof(large));
    else
        memcpy(small, at, bytes);

    if (field->type == GPHI_FIELD_U64)
        put_u64(out, large);
    else if (field->type == GPHI_FIELD_HEX)
        gphi_text_add(out, "\"0x%" PRIx64 "\"", large);
    else if (field->type == GPHI_FIELD_TRIPLE)
        gphi_text_add(out, "[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", small[0], small[1],
                      small[2]);
    else if (field->type == GPHI_FIELD_MEMORY && gphi_memory_name(small[0]))
        gphi_text_add(out, "\"%s\"", gphi_memory_name(small[0]));
    else if (field->type == GPHI_FIELD_I32)
        gphi_text_add(out, "%" PRId32, (int32_t)small[0]);
    else
        gphi_text_add(out, "%" PRIu32, small[0]);
}

/* An object all of whose members are there: sides of copies and operations. */
static void put_object(gphi_text *out, const void *base, gphi_fields fields)
{
    for (size_t i = 0; i < fields.count; i++) {
        gphi_text_add(out, "%s\"%s\": ", i > 0 ? ", " : "{", fields.items[i].key);
        put_number(out, base, &fields.items[i]);
    }
    gphi_text_put(out, "}");
}

/* An array of such objects. */
static void put_list(gphi_text *out, const void *items, uint32_t count, size_t item_bytes,
                     gphi_fields fields)
{
    gphi_text_put(out, "[");
    for (uint32_t i = 0; i < count; i++) {
        gphi_text_put(out, i > 0 ? ", " : "");
        put_object(out, (const char *)items + i * item_bytes, fields);
    }
    gphi_text_put(out, "]");
}

/* By the table of the node's fields, so that a new field is one row there. */
static void put_field(gphi_text *out, const gph_node *node, const gphi_field *field)
{
    switch (field->type) {
    case GPHI_FIELD_TEXT: gphi_json_text(out, node->u.kernel.function); break;
    case GPHI_FIELD_ARGS:
        put_list(out, node->u.kernel.args, node->u.kernel.arg_count,
                 sizeof(gph_kernel_arg), gphi_fields_of_arg());
        break;
    case GPHI_FIELD_BYTES: put_bytes(out, &node->u.kernel); break;
    case GPHI_FIELD_OPS:
        put_list(out, node->u.batch.ops, node->u.batch.count, sizeof(gph_mem_op),
                 gphi_fields_of_op());
        break;
    case GPHI_FIELD_GRAPH: put_graph(out, node->u.child); break;
    case GPHI_FIELD_SIDE:
        put_object(out, (const char *)node + field->offset, gphi_fields_of_side());
        break;
    default: put_number(out, node, field); break;
    }
}

static void put_node(gphi_text *out, const gph_node *node)
{
    gphi_text_add(out, "{\"kind\": \"%s\"", gph_node_kind_name(node->kind));
    if (node->name) {
        gphi_text_put(out, ", \"name\": ");
        gphi_json_text(out, node->name);
    }
    const gphi_fields fields = gphi_fields_of_node(node->kind);
    for (size_t i = 0; i < fields.count; i++) {
        if (is_empty(node, &fields.items[i]))
            continue;
        gphi_text_add(out, ", \"%s\": ", fields.items[i].key);
        put_field(out, node, &fields.items[i]);
    }
    gphi_text_put(out, "}");
}

/* Zero ports and types are left out, as they are nearly always. */
static void put_edge(gphi_text *out, const gph_edge *edge)
{
    gphi_text_add(out, "{\"from\": %" PRIu32 ", \"to\": %" PRIu32, edge->from, edge->to);
    if (edge->from_port != 0)
        gphi_text_add(out, ", \"from_port\": %d", edge->from_port);
    if (edge->type != 0)
        gphi_text_add(out, ", \"type\": %d", edge->type);
    gphi_text_put(out, "}");
}

static void put_graph(gphi_text *out, const gph_graph *graph)
{
    gphi_text_put(out, "{");
    if (gph_graph_name(graph)) {
        gphi_text_put(out, "\"name\": ");
        gphi_json_text(out, gph_graph_name(graph));
        gphi_text_put(out, ", ");
    }
    gphi_text_put(out, "\"nodes\": [");
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        gphi_text_put(out, i > 0 ? ",\n  " : "\n  ");
        put_node(out, gph_graph_node(graph, i));
    }
    gphi_text_put(out, "],\n\"edges\": [");
    for (size_t i = 0; i < gph_graph_edge_count(graph); i++) {
        gphi_text_put(out, i > 0 ? ",\n  " : "\n  ");
        put_edge(out, gph_graph_edge(graph, i));
    }
    gphi_text_put(out, "]}");
}

gph_status gph_json_write(const gph_graph *graph, const gph_file_options *options,
                          gph_write_fn *write, void *user, gph_error *error)
{
    gph_file_options opt;
    GPHI_TRY(gphi_options_read(&opt, sizeof(opt), "gph_file_options", options, error));
    GPHI_TRY(gphi_need(error, graph, write));

    char buffer[BUFFER_BYTES];
    gphi_text out;
    gphi_text_stream(&out, buffer, sizeof(buffer), write, user);
    gphi_text_add(&out, "{\"format\": \"%s\", \"version\": %d, \"graph\":\n",
                  GPHI_JSON_FORMAT, GPHI_JSON_VERSION);
    put_graph(&out, graph);
    gphi_text_put(&out, "}\n");
    return gphi_text_end(&out, error);
}
