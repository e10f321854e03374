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
    free(first.bytes);
    free(second.bytes);
    gph_graph_destroy(again);
    gph_graph_destroy(graph);
    return 0;
}
