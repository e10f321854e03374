// SPDX-License-Identifier: Apache-2.0
/* gph inspect of a recipe: what it holds, and what had to be refused. Works without a
 * driver and without the device that it was recorded on: nothing is loaded. */
#include "commands.h"
#include "output.h"

#include <string.h>

/* By its first bytes, as the file's reader knows it: names of files mean nothing. */
bool is_recipe(const char *path)
{
    char head[4] = "";
    FILE *file = fopen(path, "rb");
    const bool is_one = file && fread(head, 1, sizeof(head), file) == sizeof(head) &&
                        memcmp(head, "gphr", sizeof(head)) == 0;
    if (file)
        fclose(file);
    return is_one;
}

static void put_summary(const gph_recipe *recipe)
{
    gph_recipe_summary summary = GPH_SIZED(gph_recipe_summary);
    gph_recipe_summary_get(recipe, &summary);
    const uint32_t library = summary.library_version;
    put_row(stdout, "recipe", "%u graphs, %u of them refused", summary.graph_count,
            summary.refused_count);
    put_row(stdout, "nodes", "%llu", (unsigned long long)summary.node_count);
    put_row(stdout, "recorded by", "libgph %u.%u.%u, CUDA %d.%d", library / 10000,
            library / 100 % 100, library % 100, (int)summary.driver_version / 1000,
            (int)summary.driver_version % 1000 / 10);
    put_row(stdout, "device", "%s, compute capability %u.%u",
            summary.device[0] != '\0' ? summary.device : "(no name)",
            summary.capability / 10, summary.capability % 10);
    put_row(stdout, "kernels", "%u of %u images", summary.kernel_count,
            summary.image_count);
}

static void put_ranges(const gph_recipe *recipe)
{
    gph_recipe_range range = GPH_SIZED(gph_recipe_range);
    for (uint32_t i = 0; gph_recipe_range_get(recipe, i, &range); i++)
        printf("%s  %-20s 0x%llx, %s%s\n", i == 0 ? "\nranges\n" : "", range.name,
               (unsigned long long)range.address, bytes_text((double)range.bytes),
               range.shifted != range.address ? ", may move" : "");
}

/* An image by the first 8 bytes of its digest: enough to see whether two recipes were made
 * with the same kernels. */
static void put_kernels(const gph_recipe *recipe)
{
    gph_kernel_id kernel;
    uint64_t nodes = 0;
    for (uint32_t i = 0; gph_recipe_kernel_get(recipe, i, &kernel, &nodes); i++) {
        printf("%s%6llu x %s, image ", i == 0 ? "\nkernels\n" : "",
               (unsigned long long)nodes, kernel.name);
        for (int j = 0; j < 8; j++)
            printf("%02x", kernel.image[j]);
        printf("\n");
    }
}

/* By node and word where that is known: it is what has to change in the program before the
 * graph can be kept. */
static void put_refusals(const gph_recipe *recipe, uint32_t graph)
{
    gph_recipe_refusal refusal = GPH_SIZED(gph_recipe_refusal);
    for (uint32_t i = 0; gph_recipe_refusal_get(recipe, graph, i, &refusal); i++) {
        printf("    ");
        if (refusal.node >= 0)
            printf("node %lld (%s)", (long long)refusal.node,
                   gph_node_kind_name(refusal.kind));
        else
            printf("the whole");
        if (refusal.offset >= 0)
            printf(", word at %lld", (long long)refusal.offset);
        printf(": %s\n", refusal.why);
    }
}

static void put_graphs(const gph_recipe *recipe)
{
    gph_recipe_graph graph = GPH_SIZED(gph_recipe_graph);
    for (uint32_t i = 0; gph_recipe_graph_get(recipe, i, &graph); i++) {
        printf("%s  %-20s ", i == 0 ? "\ngraphs\n" : "", graph.name);
        if (graph.refusal_count > 0)
            printf("refused: it has to be captured\n");
        else
            printf("%u nodes, %u edges, %u addresses, loads %s%s\n", graph.node_count,
                   graph.edge_count, graph.pointer_count,
                   graph.is_movable ? "anywhere" : "at the same addresses only",
                   graph.has_check ? ", has a check" : "");
        put_refusals(recipe, i);
    }
}

int inspect_recipe(const char *path, const char *named)
{
    gph_recipe *recipe = NULL;
    gph_error error = {0};
    if (gph_recipe_load(path, NULL, &recipe, &error) != GPH_OK)
        return fail_file(named, &error);
    put_summary(recipe);
    put_ranges(recipe);
    put_kernels(recipe);
    put_graphs(recipe);
    gph_recipe_destroy(recipe);
    return EXIT_OK;
}
