// SPDX-License-Identifier: Apache-2.0
/* A graph file of whatever bytes: refused, or read into a graph that can be written and
 * read again to the same bytes. */
#include <gph/file.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct text {
    char *bytes;
    size_t count;
};

static gph_status keep(void *user, const void *data, size_t bytes)
{
    struct text *text = user;
    char *larger = realloc(text->bytes, text->count + bytes);
    if (larger == NULL)
        return GPH_E_NO_MEMORY;
    memcpy(larger + text->count, data, bytes);
    text->bytes = larger;
    text->count += bytes;
    return GPH_OK;
}

static gph_status drop(void *user, const void *data, size_t bytes)
{
    (void)user;
    (void)data;
    (void)bytes;
    return GPH_OK;
}

static void write_or_abort(const gph_graph *graph, struct text *out)
{
    if (gph_json_write(graph, NULL, keep, out, NULL) != GPH_OK ||
        gph_dot_write(graph, NULL, drop, NULL, NULL) != GPH_OK)
        abort();
}

/* A graph and itself, read twice, are of one class and do not differ. */
static void compare_or_abort(const gph_graph *a, const gph_graph *b)
{
    gph_signature x, y;
    gph_diff *diff = NULL;
    int matches = 0;
    if (gph_graph_signature(a, GPH_SIGNATURE_KERNELS, &x, NULL) != GPH_OK ||
        gph_graph_signature(b, GPH_SIGNATURE_KERNELS, &y, NULL) != GPH_OK ||
        memcmp(&x, &y, sizeof(x)) != 0 ||
        gph_graph_matches(a, b, GPH_SIGNATURE_KERNELS, &matches, NULL) != GPH_OK ||
        !matches || gph_graph_diff(a, b, &diff, NULL) != GPH_OK ||
        gph_diff_count(diff) != 0)
        abort();
    gph_diff_destroy(diff);
}

/* One and an empty one: every node and edge is reported. */
static void tell_or_abort(const gph_graph *graph)
{
    gph_graph *none = NULL;
    gph_diff *diff = NULL;
    char line[64];
    if (gph_graph_create(NULL, &none, NULL) != GPH_OK ||
        gph_graph_diff(graph, none, &diff, NULL) != GPH_OK ||
        gph_diff_count(diff) != gph_graph_node_count(graph) + gph_graph_edge_count(graph))
        abort();
    for (size_t i = 0; i < gph_diff_count(diff); i++) {
        gph_buffer text = {line, sizeof(line), 0};
        if (gph_change_write(gph_diff_at(diff, i), gph_write_buffer, &text, NULL) !=
                GPH_OK ||
            text.length == 0)
            abort();
    }
    gph_diff_destroy(diff);
    gph_graph_destroy(none);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gph_error error = {0};
    gph_graph *graph = NULL, *again = NULL;
    if (gph_json_read((const char *)data, size, NULL, &graph, &error) != GPH_OK) {
        if (graph != NULL || error.message[0] == '\0')
            abort();
        return 0;
    }
    struct text first = {0}, second = {0};
    write_or_abort(graph, &first);
    if (gph_json_read(first.bytes, first.count, NULL, &again, &error) != GPH_OK)
        abort();
    write_or_abort(again, &second);
    if (first.count != second.count ||
        memcmp(first.bytes, second.bytes, first.count) != 0)
        abort();
    compare_or_abort(graph, again);
    tell_or_abort(graph);
    free(first.bytes);
    free(second.bytes);
    gph_graph_destroy(again);
    gph_graph_destroy(graph);
    return 0;
}
