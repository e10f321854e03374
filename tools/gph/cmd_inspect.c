// SPDX-License-Identifier: Apache-2.0
/* gph inspect: what is in a graph file. Recipes are recipe.c's, PTX is ptx.c's: which
 * of the three a file is decides the option --ptx, or the file's first bytes. */
#include "commands.h"
#include "output.h"
#include "seems.h"
#include <gph/softcuda.h>

#include <stdlib.h>
#include <string.h>

static void put_kinds(const gph_graph *graph)
{
    for (gph_node_kind kind = GPH_NODE_KERNEL; kind <= GPH_NODE_CONDITIONAL; kind++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < gph_graph_node_count(graph); i++)
            count += gph_graph_node(graph, i)->kind == kind;
        char left[48];
        snprintf(left, sizeof(left), "  %s", gph_node_kind_name(kind));
        if (count > 0)
            put_row(stdout, left, "%u", count);
    }
}

static const char *kernel_of(const gph_node *node)
{
    if (node->kind != GPH_NODE_KERNEL)
        return NULL;
    return node->u.kernel.function ? node->u.kernel.function : "(no name)";
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Regions are names that a recording gave to its nodes. */
static const char *region_of(const gph_node *node)
{
    return node->name;
}

/* A row a text: how many nodes have it. Sorted, so that equal texts are together and two
 * files' lists can be compared by eye. */
static bool put_texts(const gph_graph *graph, const char *title,
                      const char *(*text_of)(const gph_node *))
{
    const uint32_t all = gph_graph_node_count(graph);
    const char **names = calloc(all + 1, sizeof(*names));
    if (!names)
        return false;
    size_t count = 0;
    for (uint32_t i = 0; i < all; i++)
        if (text_of(gph_graph_node(graph, i)))
            names[count++] = text_of(gph_graph_node(graph, i));
    qsort(names, count, sizeof(*names), by_text);
    for (size_t i = 0, same; i < count; i += same) {
        for (same = 1; i + same < count && strcmp(names[i], names[i + same]) == 0; same++)
            continue;
        if (i == 0)
            printf("\n%s\n", title);
        printf("%6zu x ", same);
        put_text(stdout, names[i]);
        putchar('\n');
    }
    free(names);
    return true;
}

/* An edge between places in an order in which each edge points forward. */
typedef struct hop {
    uint32_t from, to;
} hop;

static int by_source(const void *a, const void *b)
{
    const uint32_t x = ((const hop *)a)->from, y = ((const hop *)b)->from;
    return (x > y) - (x < y);
}

/* Nodes on the longest way through the graph; false if memory is short. The file's reader
 * has seen to it that there is no cycle. Sources in order: a node's own length is final
 * before it is passed on. */
static bool longest_path(const gph_graph *graph, uint32_t *out)
{
    const uint32_t nodes = gph_graph_node_count(graph);
    const size_t edges = gph_graph_edge_count(graph);
    uint32_t *order = calloc(3 * ((size_t)nodes + 1), sizeof(*order));
    hop *hops = calloc(edges + 1, sizeof(*hops));
    const bool is_ready = order && hops && gph_graph_order(graph, order, NULL) == GPH_OK;
    *out = nodes > 0;
    if (is_ready) {
        uint32_t *place = order + nodes, *length = place + nodes;
        for (uint32_t i = 0; i < nodes; i++)
            place[order[i]] = i;
        for (size_t i = 0; i < edges; i++) {
            const gph_edge *edge = gph_graph_edge(graph, i);
            hops[i] = (hop){place[edge->from], place[edge->to]};
        }
        qsort(hops, edges, sizeof(*hops), by_source);
        for (size_t i = 0; i < edges; i++) {
            uint32_t *to = &length[hops[i].to];
            const uint32_t here = length[hops[i].from] + 1;
            *to = here > *to ? here : *to;
            *out = here + 1 > *out ? here + 1 : *out;
        }
    }
    free(hops);
    free(order);
    return is_ready;
}

static int put_graph(const gph_graph *graph)
{
    const char *name = gph_graph_name(graph);
    printf("%-28s ", "graph");
    put_text(stdout, name ? name : "(no name)");
    putchar('\n');
    put_row(stdout, "nodes", "%u", gph_graph_node_count(graph));
    put_kinds(graph);
    put_row(stdout, "nodes with children's", "%llu",
            (unsigned long long)gph_graph_node_count_deep(graph));
    put_row(stdout, "edges", "%zu", gph_graph_edge_count(graph));
    uint32_t longest = 0;
    const bool is_known = longest_path(graph, &longest);
    put_row(stdout, "longest path", "%u nodes", longest);
    if (!put_texts(graph, "kernels", kernel_of) ||
        !put_texts(graph, "regions", region_of) || !is_known) {
        fprintf(stderr, "gph inspect: out of memory\n");
        return EXIT_FAILED;
    }
    return EXIT_OK;
}

static int inspect_graph(const char *path, const char *named, const char *dot)
{
    gph_graph *graph = NULL;
    gph_error error = {0};
    if (gph_json_load(path, NULL, &graph, &error) != GPH_OK)
        return fail_contents(path, named, FILE_GRAPH, &error);
    int code = put_graph(graph);
    gph_file_options verbose = GPH_FILE_OPTIONS_INIT;
    verbose.verbose = 1;
    if (code == EXIT_OK && dot && gph_dot_save(graph, &verbose, dot, &error) != GPH_OK)
        code = fail(&error);
    gph_graph_destroy(graph);
    return code;
}

static int inspect_file(const char *path, const char *dot)
{
    input in;
    int code = EXIT_USAGE;
    if (!input_open(path, &in))
        return EXIT_FAILED;
    if (!is_recipe(in.path))
        code = inspect_graph(in.path, path, dot);
    else if (!dot)
        code = inspect_recipe(in.path, path);
    else
        fprintf(stderr, "gph inspect: --dot is for graphs; this is a recipe\n");
    input_close(&in);
    return code;
}

int cmd_inspect(const command_line *line)
{
    if (line->operand_count != 1) {
        fprintf(stderr,
                "gph inspect: needs one file, got %d\n"
                "try: gph inspect --help\n",
                line->operand_count);
        return EXIT_USAGE;
    }
    static const struct {
        int option;
        unsigned int flag;
    } flags[] = {{INSPECT_IR, GPH_PTX_REPORT_IR},
                 {INSPECT_ASM, GPH_PTX_REPORT_ASM},
                 {INSPECT_SLOW, GPH_PTX_REPORT_SLOW},
                 {INSPECT_QUICK, GPH_PTX_REPORT_NO_JIT},
                 {INSPECT_JSON, GPH_PTX_REPORT_JSON}};
    const bool is_ptx = line->values[INSPECT_PTX];
    unsigned int wanted = 0;
    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
        if (line->values[flags[i].option])
            wanted |= flags[i].flag;
    if ((wanted != 0 && !is_ptx) || (is_ptx && line->values[INSPECT_DOT])) {
        fprintf(stderr,
                "gph inspect: --dot is for graphs, the other options for --ptx\n");
        return EXIT_USAGE;
    }
    if (is_same_file(line->operands[0], line->values[INSPECT_DOT])) {
        fprintf(stderr, "gph inspect: --dot names the file that is read\n");
        return EXIT_USAGE;
    }
    return is_ptx ? inspect_ptx(line->operands[0], wanted)
                  : inspect_file(line->operands[0], line->values[INSPECT_DOT]);
}
