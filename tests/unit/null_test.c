// SPDX-License-Identifier: Apache-2.0
/* What is NULL is said with the function that was called and the name of what it lacks: of
 * several, the first, and never "a or b". */
#include "test.h"

#include <gph/gph.h>

static void says(gph_status status, const gph_error *error, const char *sentence)
{
    CHECK(status == GPH_E_INVALID);
    if (!CHECK(strcmp(error->message, sentence) == 0))
        fprintf(stderr, "\"%s\", expected \"%s\"\n", error->message, sentence);
}

#define SAYS(call, sentence)                                                             \
    do {                                                                                 \
        gph_error error = {0};                                                           \
        says(call, &error, sentence);                                                    \
    } while (0)

static int anything;

static void readers_name_what_they_lack(void)
{
    gph_graph *graph = NULL;
    gph_recipe *recipe = NULL;
    gph_plan_table *table = NULL;
    SAYS(gph_json_read(NULL, 5, NULL, &graph, &error), "gph_json_read: text is NULL");
    SAYS(gph_json_read("{}", 2, NULL, NULL, &error), "gph_json_read: out is NULL");
    SAYS(gph_json_load(NULL, NULL, &graph, &error), "gph_json_load: path is NULL");
    SAYS(gph_json_load("x", NULL, NULL, &error), "gph_json_load: out is NULL");
    SAYS(gph_recipe_load(NULL, NULL, &recipe, &error), "gph_recipe_load: path is NULL");
    SAYS(gph_recipe_load("x", NULL, NULL, &error), "gph_recipe_load: out is NULL");
    SAYS(gph_plan_table_read(NULL, 1, NULL, &table, &error),
         "gph_plan_table_read: text is NULL");
    SAYS(gph_plan_table_read("", 0, NULL, NULL, &error),
         "gph_plan_table_read: out is NULL");
    CHECK(!graph && !recipe && !table);
}

static void plans_name_what_they_lack(void)
{
    const gph_plan_buffer buffer = {.upper = 1, .size = 64};
    uint64_t offset = 0;
    size_t count = 0;
    SAYS(gph_plan_check(NULL, 1, &offset, NULL, &error),
         "gph_plan_check_bodies: buffers is NULL");
    SAYS(gph_plan_check(&buffer, 1, NULL, NULL, &error),
         "gph_plan_check_bodies: offsets is NULL");
    SAYS(gph_plan_check_bodies(&buffer, 1, NULL, 1, &offset, NULL, &error),
         "gph_plan_check_bodies: bodies is NULL");
    SAYS(gph_plan_ladder_make(NULL, &offset, 1, &count, &error),
         "gph_plan_ladder_make: rule is NULL");
    SAYS(gph_plan_cost_fit(NULL, 1, NULL, &error), "gph_plan_cost_fit: out is NULL");
}

static void of_several_the_first_that_is_missing_is_named(void)
{
    gph_graph *graph = NULL, *other = (gph_graph *)&anything;
    gph_diff *diff = NULL;
    gph_error error = {0};
    gph_runtime *runtime = (gph_runtime *)&anything; /* nothing reads it */
    gph_module *module = NULL;
    says(gph_graph_diff(NULL, NULL, &diff, &error), &error, "gph_graph_diff: a is NULL");
    says(gph_graph_diff(other, NULL, &diff, &error), &error, "gph_graph_diff: b is NULL");
    says(gph_graph_diff(other, other, NULL, &error), &error,
         "gph_graph_diff: out is NULL");
    says(gph_graph_describe(NULL, NULL, &graph, &error), &error,
         "gph_graph_describe: runtime is NULL");
    says(gph_module_load(runtime, NULL, 9, &module, &error), &error,
         "gph_module_load: image is NULL");
    says(gph_module_load(runtime, &anything, 0, &module, &error), &error,
         "gph_module_load: the image has 0 bytes");
    CHECK(!graph && !diff && !module);
}

int main(void)
{
    RUN(readers_name_what_they_lack);
    RUN(plans_name_what_they_lack);
    RUN(of_several_the_first_that_is_missing_is_named);
    return test_done();
}
