// SPDX-License-Identifier: Apache-2.0
/* A graph from JSON. Every value is checked before it is used; an error names its place,
 * such as "graph.nodes[3].grid". jansson parses (it limits nesting itself), we judge. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/text.h"
#include "base/vec.h"
#include "graph/fields.h"
#include "graph/graph.h"
#include <gph/file.h>

#if GPHI_HAS_JANSSON
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const uint64_t BYTES_MAX_DEFAULT = UINT64_C(256) << 20;
static const uint64_t NODES_MAX_DEFAULT = 1000000;

/* Where in the file: a list from the value to the root, on the stack. */
struct place {
    const struct place *up;
    const char *key; /* NULL: an entry of an array */
    size_t index;
};

struct reader {
    gph_allocator heap;
    uint64_t nodes_left;
    gphi_vec args;   /* of gph_kernel_arg, of the kernel being read */
    gphi_vec buffer; /* its bytes */
    gphi_vec ops;    /* of gph_mem_op, of the batch being read */
    gph_error *error;
};

/* "graph.nodes[3].grid"; a place that does not fit is cut, not lost. */
static void put_place(gphi_text *out, const struct place *at)
{
    if (!at)
        return;
    put_place(out, at->up);
    if (!at->key)
        gphi_text_add(out, "[%zu]", at->index);
    else
        gphi_text_add(out, "%s%.40s", out->length > 0 ? "." : "", at->key);
}

GPH_PRINTF(3, 4)
static gph_status fail_at(const struct reader *reader, const struct place *at,
                          const char *format, ...)
{
    char place[160], what[200];
    gphi_text text;
    gphi_text_fix(&text, place, sizeof(place));
    put_place(&text, at);
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    return gphi_fail(reader->error, GPH_E_FORMAT, "%s%s%s",
                     place[0] != '\0' ? place : "the file", " ", what);
}

/* Memory is not the file's fault, so no place in it is named. */
static gph_status fail_memory(const struct reader *reader)
{
    return gphi_fail(reader->error, GPH_E_NO_MEMORY, "reading a graph");
}

/* What gph_graph refused is the file's fault; its memory is not. */
static gph_status pass(const struct reader *reader, const struct place *at,
                       gph_status status, const gph_error *inner)
{
    if (status == GPH_OK || status == GPH_E_NO_MEMORY)
        return status == GPH_OK ? GPH_OK : fail_memory(reader);
    return fail_at(reader, at, "is refused: %.150s", inner->message);
}

/* Only what the writer writes: small letters, 0x in front, up to 16 digits. */
static gph_status read_hex(const struct reader *reader, const struct place *at,
                           const char *text, uint64_t *out)
{
    uint64_t value = 0;
    const size_t digits = strlen(text) < 2 ? 0 : strlen(text) - 2;
    if (digits < 1 || digits > 16 || text[0] != '0' || text[1] != 'x')
        return fail_at(reader, at, "\"%.40s\" is not a hexadecimal number of 64 bits",
                       text);
    for (const char *c = text + 2; *c != '\0'; c++) {
        const char *found = strchr("0123456789abcdef", *c);
        if (!found)
            return fail_at(reader, at, "\"%.40s\" is not a hexadecimal number", text);
        value = value << 4 | (uint64_t)(found - "0123456789abcdef");
    }
    *out = value;
    return GPH_OK;
}

/* JSON numbers have 63 bits in jansson; larger ones are hexadecimal texts. */
static gph_status read_uint(const struct reader *reader, const struct place *at,
                            const json_t *value, uint64_t max, uint64_t *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        (uint64_t)json_integer_value(value) > max)
        return fail_at(reader, at, "is not a whole number from 0 to %llu",
                       (unsigned long long)max);
    *out = (uint64_t)json_integer_value(value);
    return GPH_OK;
}

/* The sign travels in the 32 bits of the field. */
static gph_status read_int(const struct reader *reader, const struct place *at,
                           const json_t *value, uint64_t *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < INT32_MIN ||
        json_integer_value(value) > INT32_MAX)
        return fail_at(reader, at, "is not a whole number of 32 bits");
    *out = (uint32_t)(int32_t)json_integer_value(value);
    return GPH_OK;
}

/* Kinds of memory are words in files: numbers would tie them to one CUDA. */
static gph_status read_memory(const struct reader *reader, const struct place *at,
                              const json_t *value, uint64_t *out)
{
    for (uint32_t kind = GPH_MEMORY_HOST; kind <= GPH_MEMORY_UNIFIED; kind++)
        if (json_is_string(value) &&
            strcmp(json_string_value(value), gphi_memory_name(kind)) == 0) {
            *out = kind;
            return GPH_OK;
        }
    return fail_at(reader, at, "is not one of host, device, array, unified");
}

static gph_status read_triple(const struct reader *reader, const struct place *up,
                              const json_t *value, uint32_t out[3])
{
    if (!json_is_array(value) || json_array_size(value) != 3)
        return fail_at(reader, up, "is not an array of three numbers");
    for (size_t i = 0; i < 3; i++) {
        const struct place at = {up, NULL, i};
        uint64_t number;
        GPHI_TRY(read_uint(reader, &at, json_array_get(value, i), UINT32_MAX, &number));
        out[i] = (uint32_t)number;
    }
    return GPH_OK;
}

/* A field that a node, a side of a copy and an operation may have; `base` is any. */
static gph_status read_number(const struct reader *reader, const struct place *at,
                              const json_t *value, void *base, const gphi_field *field)
{
    char *to = (char *)base + field->offset;
    uint64_t number = 0;
    if (field->type == GPHI_FIELD_TRIPLE) {
        uint32_t triple[3];
        GPHI_TRY(read_triple(reader, at, value, triple));
        memcpy(to, triple, sizeof(triple));
        return GPH_OK;
    }

    const bool is_wide = field->type == GPHI_FIELD_U64 || field->type == GPHI_FIELD_HEX;
    if (is_wide && json_is_string(value))
        GPHI_TRY(read_hex(reader, at, json_string_value(value), &number));
    else if (field->type == GPHI_FIELD_MEMORY)
        GPHI_TRY(read_memory(reader, at, value, &number));
    else if (field->type == GPHI_FIELD_I32)
        GPHI_TRY(read_int(reader, at, value, &number));
    else
        GPHI_TRY(read_uint(reader, at, value, is_wide ? INT64_MAX : UINT32_MAX, &number));

    const uint32_t narrow = (uint32_t)number;
    if (is_wide)
        memcpy(to, &number, sizeof(number));
    else
        memcpy(to, &narrow, sizeof(narrow));
    return GPH_OK;
}

/* Lent by the parsed file until it is dropped; the graph copies it. */
static gph_status read_text(const struct reader *reader, const struct place *at,
                            const json_t *value, const char **out)
{
    if (value && !json_is_string(value))
        return fail_at(reader, at, "is not a text");
    *out = json_string_value(value); /* NULL gives NULL */
    return GPH_OK;
}

/* A key that is not known is a mistake: a misspelled field would be left at 0. */
static bool is_known_key(gphi_fields fields, const char *const *more, const char *key)
{
    for (size_t i = 0; i < fields.count; i++)
        if (strcmp(fields.items[i].key, key) == 0)
            return true;
    for (; *more; more++)
        if (strcmp(*more, key) == 0)
            return true;
    return false;
}

/* Objects hold what they may hold; `more` ends with NULL. */
static gph_status check_object(const struct reader *reader, const struct place *at,
                               json_t *value, gphi_fields fields, const char *const *more)
{
    if (!json_is_object(value))
        return fail_at(reader, at, "is not an object");
    for (void *at_key = json_object_iter(value); at_key;
         at_key = json_object_iter_next(value, at_key)) {
        const char *key = json_object_iter_key(at_key);
        if (!is_known_key(fields, more, key))
            return fail_at(reader, at, "has the unknown key \"%.40s\"", key);
    }
    return GPH_OK;
}

/* An object all of whose fields must be there. */
static gph_status read_object(const struct reader *reader, const struct place *up,
                              json_t *value, gphi_fields fields, void *out)
{
    static const char *const none[] = {NULL};
    GPHI_TRY(check_object(reader, up, value, fields, none));
    for (size_t i = 0; i < fields.count; i++) {
        const struct place at = {up, fields.items[i].key, 0};
        const json_t *number = json_object_get(value, fields.items[i].key);
        if (!number)
            return fail_at(reader, &at, "is missing");
        GPHI_TRY(read_number(reader, &at, number, out, &fields.items[i]));
    }
    return GPH_OK;
}

static gph_status count_array(const struct reader *reader, const struct place *at,
                              const json_t *value, size_t *count)
{
    if (!json_is_array(value))
        return fail_at(reader, at, "is not an array");
    *count = json_array_size(value);
    return GPH_OK;
}

/* Objects of these fields into an array of the reader's, which is used again for each
 * node; the graph copies it. `owner` has at most 65,535 of them. */
static gph_status read_list(struct reader *reader, const struct place *up, json_t *value,
                            gphi_fields fields, const char *owner, gphi_vec *out)
{
    size_t count;
    GPHI_TRY(count_array(reader, up, value, &count));
    if (count > UINT16_MAX)
        return fail_at(reader, up, "has %zu entries, more than any %s", count, owner);
    if (count > 0 && !gphi_vec_add(out, count))
        return fail_memory(reader);
    for (size_t i = 0; i < count; i++) {
        const struct place at = {up, NULL, i};
        GPHI_TRY(read_object(reader, &at, json_array_get(value, i), fields,
                             gphi_vec_at(out, i)));
    }
    return GPH_OK;
}

static gph_status read_args(struct reader *reader, const struct place *at, json_t *value,
                            gph_kernel_params *out)
{
    GPHI_TRY(read_list(reader, at, value, gphi_fields_of_arg(), "kernel", &reader->args));
    out->args = reader->args.items;
    out->arg_count = (uint32_t)reader->args.count;
    return GPH_OK;
}

static gph_status read_ops(struct reader *reader, const struct place *at, json_t *value,
                           gph_batch_params *out)
{
    GPHI_TRY(read_list(reader, at, value, gphi_fields_of_op(), "batch", &reader->ops));
    out->ops = reader->ops.items;
    out->count = (uint32_t)reader->ops.count;
    return GPH_OK;
}

/* Two digits a byte, by the reader of numbers. */
static gph_status read_bytes(struct reader *reader, const struct place *at,
                             const json_t *value, gph_kernel_params *out)
{
    const char *text = json_string_value(value);
    if (!text || strlen(text) % 2 != 0)
        return fail_at(reader, at, "is not a text of two hexadecimal digits a byte");
    const size_t count = strlen(text) / 2;
    if (count > 0 && !gphi_vec_add(&reader->buffer, count))
        return fail_memory(reader);
    for (size_t i = 0; i < count; i++) {
        const char digits[] = {'0', 'x', text[2 * i], text[2 * i + 1], '\0'};
        uint64_t byte;
        GPHI_TRY(read_hex(reader, at, digits, &byte));
        *(unsigned char *)gphi_vec_at(&reader->buffer, i) = (unsigned char)byte;
    }
    out->buffer = reader->buffer.items;
    out->buffer_bytes = count;
    return GPH_OK;
}

static gph_status read_graph(struct reader *reader, const struct place *up, json_t *value,
                             uint32_t depth, gph_graph **out);

static gph_status read_field(struct reader *reader, const struct place *at, json_t *value,
                             const gphi_field *field, gph_node *out)
{
    switch (field->type) {
    case GPHI_FIELD_TEXT: return read_text(reader, at, value, &out->u.kernel.function);
    case GPHI_FIELD_ARGS: return read_args(reader, at, value, &out->u.kernel);
    case GPHI_FIELD_BYTES: return read_bytes(reader, at, value, &out->u.kernel);
    case GPHI_FIELD_SIDE:
        return read_object(reader, at, value, gphi_fields_of_side(),
                           (char *)out + field->offset);
    case GPHI_FIELD_OPS: return read_ops(reader, at, value, &out->u.batch);
    case GPHI_FIELD_GRAPH: return GPH_OK; /* read_node() knows the depth */
    default: return read_number(reader, at, value, out, field);
    }
}

/* What the writer leaves out; see is_empty() in json_write.c. */
static bool may_be_missing(const gphi_field *field)
{
    switch (field->type) {
    case GPHI_FIELD_TEXT:
    case GPHI_FIELD_ARGS:
    case GPHI_FIELD_BYTES:
    case GPHI_FIELD_OPS:
    case GPHI_FIELD_GRAPH: return true;
    default: return field->may_be_zero;
    }
}

static gph_status read_kind(const struct reader *reader, const struct place *up,
                            const json_t *value, gph_node_kind *out)
{
    const struct place at = {up, "kind", 0};
    const char *word = json_string_value(json_object_get(value, "kind"));
    for (int kind = GPH_NODE_KERNEL; word && kind <= GPH_NODE_CONDITIONAL; kind++)
        if (strcmp(word, gph_node_kind_name((gph_node_kind)kind)) == 0) {
            *out = (gph_node_kind)kind;
            return GPH_OK;
        }
    return fail_at(reader, &at, "\"%.40s\" is not a kind of node", word ? word : "");
}

/* Everything but a child graph. */
static gph_status read_node(struct reader *reader, const struct place *up, json_t *value,
                            gph_node *out)
{
    static const char *const always[] = {"kind", "name", NULL};
    if (!json_is_object(value))
        return fail_at(reader, up, "is not an object");
    GPHI_TRY(read_kind(reader, up, value, &out->kind));
    const gphi_fields fields = gphi_fields_of_node(out->kind);
    GPHI_TRY(check_object(reader, up, value, fields, always));
    const struct place at_name = {up, "name", 0};
    GPHI_TRY(read_text(reader, &at_name, json_object_get(value, "name"), &out->name));

    reader->args.count = 0;
    reader->buffer.count = 0;
    reader->ops.count = 0;
    for (size_t i = 0; i < fields.count; i++) {
        const struct place at = {up, fields.items[i].key, 0};
        json_t *part = json_object_get(value, fields.items[i].key);
        if (!part && may_be_missing(&fields.items[i]))
            continue;
        if (!part)
            return fail_at(reader, &at, "is missing");
        GPHI_TRY(read_field(reader, &at, part, &fields.items[i], out));
    }
    return GPH_OK;
}

/* A child graph is read first and taken by the node; if the node is refused it is ours
 * again. */
static gph_status add_node(struct reader *reader, const struct place *up, json_t *value,
                           uint32_t depth, gph_graph *graph)
{
    gph_node node = {.kind = GPH_NODE_EMPTY};
    GPHI_TRY(read_node(reader, up, value, &node));
    json_t *inner = json_object_get(value, "graph");
    const struct place at = {up, "graph", 0};
    if (gphi_kind_has_graph(node.kind) && inner)
        GPHI_TRY(read_graph(reader, &at, inner, depth + 1, &node.u.child));

    gph_error refused = {0};
    const gph_status status = gph_graph_node_add(graph, &node, NULL, &refused);
    if (status != GPH_OK && gphi_kind_has_graph(node.kind))
        gph_graph_destroy(node.u.child);
    return pass(reader, up, status, &refused);
}

/* The limit is of the whole file: child graphs take from the same number. */
static gph_status add_nodes(struct reader *reader, const struct place *up, json_t *nodes,
                            uint32_t depth, gph_graph *graph)
{
    size_t count;
    GPHI_TRY(count_array(reader, up, nodes, &count));
    if (count > reader->nodes_left)
        return fail_at(reader, up, "has %zu nodes, %llu more are allowed", count,
                       (unsigned long long)reader->nodes_left);
    reader->nodes_left -= count;
    for (size_t i = 0; i < count; i++) {
        const struct place at = {up, NULL, i};
        GPHI_TRY(add_node(reader, &at, json_array_get(nodes, i), depth, graph));
    }
    return GPH_OK;
}

/* Ends are required, data is not: most edges are ordinary. */
static gph_status add_edge(const struct reader *reader, const struct place *up,
                           json_t *value, gph_graph *graph)
{
    static const char *const keys[] = {"from", "to", "from_port", "type", NULL};
    static const uint64_t most[] = {UINT32_MAX, UINT32_MAX, UINT8_MAX, UINT8_MAX};
    GPHI_TRY(check_object(reader, up, value, (gphi_fields){NULL, 0}, keys));
    uint64_t numbers[4] = {0};
    for (size_t i = 0; i < 4; i++) {
        const struct place at = {up, keys[i], 0};
        const json_t *number = json_object_get(value, keys[i]);
        if (number || i < 2)
            GPHI_TRY(read_uint(reader, &at, number, most[i], &numbers[i]));
    }
    const gph_edge edge = {.from = (uint32_t)numbers[0],
                           .to = (uint32_t)numbers[1],
                           .from_port = (uint8_t)numbers[2],
                           .type = (uint8_t)numbers[3]};
    gph_error refused = {0};
    const gph_status status = gph_graph_edge_add(graph, &edge, &refused);
    return pass(reader, up, status, &refused);
}

static gph_status add_edges(const struct reader *reader, const struct place *up,
                            json_t *edges, gph_graph *graph)
{
    size_t count;
    GPHI_TRY(count_array(reader, up, edges, &count));
    for (size_t i = 0; i < count; i++) {
        const struct place at = {up, NULL, i};
        GPHI_TRY(add_edge(reader, &at, json_array_get(edges, i), graph));
    }
    return GPH_OK;
}

/* Edges come after the nodes that they join. */
static gph_status fill_graph(struct reader *reader, const struct place *up, json_t *value,
                             uint32_t depth, gph_graph *graph)
{
    const struct place at_nodes = {up, "nodes", 0}, at_edges = {up, "edges", 0},
                       at_name = {up, "name", 0};
    const char *name = NULL;
    GPHI_TRY(read_text(reader, &at_name, json_object_get(value, "name"), &name));
    if (name && gph_graph_name_set(graph, name, NULL) != GPH_OK)
        return fail_memory(reader);
    GPHI_TRY(add_nodes(reader, &at_nodes, json_object_get(value, "nodes"), depth, graph));
    return add_edges(reader, &at_edges, json_object_get(value, "edges"), graph);
}

static gph_status read_graph(struct reader *reader, const struct place *up, json_t *value,
                             uint32_t depth, gph_graph **out)
{
    static const char *const keys[] = {"name", "nodes", "edges", NULL};
    if (depth > GPH_GRAPH_DEPTH_MAX)
        return fail_at(reader, up, "nests deeper than %d graphs", GPH_GRAPH_DEPTH_MAX);
    GPHI_TRY(check_object(reader, up, value, (gphi_fields){NULL, 0}, keys));
    gph_graph *graph = NULL;
    GPHI_TRY(gph_graph_create(&reader->heap, &graph, reader->error));
    const gph_status status = fill_graph(reader, up, value, depth, graph);
    if (status != GPH_OK) {
        gph_graph_destroy(graph);
        return status;
    }
    *out = graph;
    return GPH_OK;
}

/* The graph is checked as a whole last: cycles and doubles show only then. */
static gph_status read_file(struct reader *reader, json_t *root, gph_graph **out)
{
    static const char *const keys[] = {"format", "version", "graph", NULL};
    GPHI_TRY(check_object(reader, NULL, root, (gphi_fields){NULL, 0}, keys));
    const char *format = json_string_value(json_object_get(root, "format"));
    if (!format || strcmp(format, GPHI_JSON_FORMAT) != 0)
        return fail_at(reader, NULL, "says format \"%.40s\", not \"%s\"",
                       format ? format : "", GPHI_JSON_FORMAT);
    const struct place at_version = {NULL, "version", 0}, at_graph = {NULL, "graph", 0};
    uint64_t version;
    GPHI_TRY(read_uint(reader, &at_version, json_object_get(root, "version"), UINT32_MAX,
                       &version));
    if (version != GPHI_JSON_VERSION)
        return gphi_fail(reader->error, GPH_E_UNSUPPORTED,
                         "the file is of version %llu, this build reads version %d",
                         (unsigned long long)version, GPHI_JSON_VERSION);

    gph_graph *graph = NULL;
    GPHI_TRY(read_graph(reader, &at_graph, json_object_get(root, "graph"), 1, &graph));
    gph_error refused = {0};
    const gph_status status = gph_graph_check(graph, &refused);
    if (status != GPH_OK) {
        gph_graph_destroy(graph);
        return pass(reader, &at_graph, status, &refused);
    }
    *out = graph;
    return GPH_OK;
}

/* Keys that come twice are refused: which of the two counted would be a guess. */
static gph_status parse(const char *text, size_t bytes, json_t **out, gph_error *error)
{
    json_error_t at;
    json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &at);
    if (root) {
        *out = root;
        return GPH_OK;
    }
    if (json_error_code(&at) == json_error_out_of_memory)
        return gphi_fail(error, GPH_E_NO_MEMORY, "reading %zu bytes of JSON", bytes);
    if (bytes == 0)
        return gphi_fail(error, GPH_E_FORMAT, "the file is empty");
    return gphi_fail(error, GPH_E_FORMAT, "line %d, column %d: %s", at.line, at.column,
                     at.text);
}
#endif

gph_status gph_json_read(const char *text, size_t bytes, const gph_file_options *options,
                         gph_graph **out, gph_error *error)
{
    gph_file_options opt;
    GPHI_TRY(gphi_options_read(&opt, sizeof(opt), "gph_file_options", options, error));
    GPHI_TRY(gphi_need_named(error, __func__, text || bytes == 0, "text"));
    GPHI_TRY(gphi_need(error, out));
#if GPHI_HAS_JANSSON
    const uint64_t limit = opt.bytes_max != 0 ? opt.bytes_max : BYTES_MAX_DEFAULT;
    if (bytes > limit)
        return gphi_fail(error, GPH_E_FORMAT, "%zu bytes, at most %llu are allowed",
                         bytes, (unsigned long long)limit);
    json_t *root = NULL;
    GPHI_TRY(parse(text ? text : "", bytes, &root, error));

    struct reader reader = {.heap = gphi_heap(opt.allocator),
                            .nodes_left =
                                opt.nodes_max != 0 ? opt.nodes_max : NODES_MAX_DEFAULT,
                            .error = error};
    gphi_vec_init(&reader.args, reader.heap, sizeof(gph_kernel_arg));
    gphi_vec_init(&reader.buffer, reader.heap, 1);
    gphi_vec_init(&reader.ops, reader.heap, sizeof(gph_mem_op));
    const gph_status status = read_file(&reader, root, out);
    gphi_vec_fini(&reader.ops);
    gphi_vec_fini(&reader.buffer);
    gphi_vec_fini(&reader.args);
    json_decref(root);
    return status;
#else
    return gphi_fail(error, GPH_E_UNSUPPORTED,
                     "this build has no JSON reader: jansson was missing");
#endif
}
