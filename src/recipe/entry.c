// SPDX-License-Identifier: Apache-2.0
/* Adding a graph to a recipe: all of it, or nothing.
 *
 * The bundle only grows at its ends, so that a mark (the counts before) undoes
 * everything. A refused graph is added all the same, with its name and reasons and
 * without contents: the process that loads must know that it is to capture this one.
 *
 * A check is two replays from the same inputs: a graph whose outputs differ between them
 * (atomics in floating point, say) cannot be judged by them, and is kept without. */
#include "base/fail.h"
#include "base/log.h"
#include "cuda/status.h"
#include "recipe/footprint.h"

#include <string.h>

gphi_bundle_mark gphi_recipe_mark(const gphi_bundle *bundle)
{
    return (gphi_bundle_mark){bundle->graphs.count, bundle->text.count,
                              bundle->args.count, bundle->kernels.count,
                              bundle->eager.count};
}

void gphi_recipe_go_back(gphi_bundle *bundle, gphi_bundle_mark mark)
{
    while (bundle->graphs.count > mark.graphs)
        gphi_bundle_graph_fini(
            GPHI_BUNDLE_AT(&bundle->graphs, graph, --bundle->graphs.count));
    bundle->text.count = mark.text;
    bundle->args.count = mark.args;
    bundle->kernels.count = mark.kernels;
    bundle->eager.count = mark.eager;
}

/* The first graph says which device and driver recorded: all graphs of a recipe are of
 * one process. It is for the reader (gph_recipe_summary_get()); what a device or a driver
 * takes is asked of kernels and graphs, one by one, when they are loaded. */
static gph_status read_device(const gphi_survey *survey)
{
    gphi_bundle *bundle = survey->bundle;
    const gphi_cuda_table *cu = &survey->runtime->cu;
    if (bundle->driver_version != 0)
        return GPH_OK;
    CUdevice device = 0;
    char name[128] = "";
    int major = 0, minor = 0;
    CUresult result = cu->cuCtxGetDevice(&device);
    GPHI_THEN(result, cu->cuDeviceGetName(name, sizeof(name), device));
    GPHI_THEN(result, cu->cuDeviceGetAttribute(
                          &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    GPHI_THEN(result, cu->cuDeviceGetAttribute(
                          &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    GPHI_TRY(gphi_cuda_check(survey->error, result, "cuDeviceGetAttribute",
                             "recording a graph"));
    uint32_t text = 0;
    if (!gphi_bundle_is_name(name))
        name[0] = '\0';
    GPHI_TRY(gphi_made(survey->error, gphi_bundle_text_add(bundle, name, &text) == GPH_OK,
                       "recording a graph"));
    bundle->device = text;
    bundle->capability = (uint32_t)(major * 10 + minor);
    bundle->library_version = gph_version();
    bundle->driver_version = (uint32_t)survey->runtime->info.version;
    return GPH_OK;
}

/* Everything that can be said without the driver is said before it is asked, so that a
 * wrong entry costs nothing. A recording belongs to one graph: two would lay out the
 * same memory twice. */
static gph_status check_entry(const gphi_bundle *bundle, const gph_recipe *recipe,
                              const gph_recipe_entry *entry, gph_error *error)
{
    if (!gphi_bundle_is_name(entry->name))
        return gphi_fail(error, GPH_E_INVALID, "the graph needs a printable name, %s",
                         !entry->name             ? "it is NULL"
                         : entry->name[0] == '\0' ? "it is empty"
                                                  : "this has other bytes");
    if (gph_recipe_find(recipe, entry->name) != UINT32_MAX)
        return gphi_fail(error, GPH_E_INVALID, "there is a graph %.200s already",
                         entry->name);
    if (!entry->graph)
        return gphi_fail(error, GPH_E_INVALID, "graph %.200s: it is NULL", entry->name);
    if (entry->key_count > GPHI_RECIPE_KEY_MAX || (entry->key_count > 0 && !entry->key))
        return gphi_fail(error, GPH_E_INVALID, "graph %.200s: %u numbers in its key",
                         entry->name, entry->key_count);
    if ((entry->input_count > 0 && !entry->inputs) ||
        (entry->output_count > 0 && !entry->outputs))
        return gphi_fail(error, GPH_E_INVALID, "graph %.200s: its tensors are NULL",
                         entry->name);
    for (size_t i = 0; entry->recording != 0 && i < bundle->graphs.count; i++)
        if (GPHI_BUNDLE_AT(&bundle->graphs, graph, i)->recording == entry->recording)
            return gphi_fail(error, GPH_E_INVALID,
                             "graph %.200s: recording %u is another graph's", entry->name,
                             entry->recording);
    if (bundle->graphs.count >= GPHI_BUNDLE_GRAPHS_MAX)
        return gphi_fail(error, GPH_E_INVALID, "more than %d graphs",
                         GPHI_BUNDLE_GRAPHS_MAX);
    return GPH_OK;
}

/* Replays the graph twice on what its inputs hold. */
static gph_status take_check(const gphi_survey *survey, const gph_recipe_entry *entry,
                             const gphi_check *check, struct gphi_bundle_graph *graph)
{
    gph_error *error = survey->error;
    const uint64_t bytes = gphi_check_input_bytes(check->tensors, check->inputs);
    if (bytes == UINT64_MAX)
        return gphi_fail(error, GPH_E_INVALID,
                         "graph %.200s: its inputs have more than %d bytes", entry->name,
                         GPHI_CHECK_BYTES_MAX);
    GPHI_TRY(gphi_made(error, bytes == 0 || gphi_vec_add(&graph->check_data, bytes),
                       "keeping %llu bytes of inputs", (unsigned long long)bytes));
    unsigned char again[GPHI_BUNDLE_HASH_BYTES];
    GPHI_TRY(gphi_check_copy(check, graph->check_data.items, false, error));
    GPHI_TRY(gphi_check_replay(check, graph->outputs_hash, error));
    GPHI_TRY(gphi_check_copy(check, graph->check_data.items, true, error));
    GPHI_TRY(gphi_check_replay(check, again, error));
    graph->has_check = memcmp(again, graph->outputs_hash, sizeof(again)) == 0;
    if (!graph->has_check) {
        gphi_log("recipe", GPH_LOG_WARN,
                 "graph %s: two replays of the same inputs differ: kept without a check",
                 entry->name);
        memset(graph->outputs_hash, 0, sizeof(graph->outputs_hash));
        gphi_vec_fini(&graph->check_data);
    }
    return GPH_OK;
}

/* Makes an executable of the caller's graph for the check alone: the graph itself is
 * only borrowed, and a check must not be what decides how it is instantiated. */
static gph_status add_check(const gphi_survey *survey, const gph_recipe_entry *entry,
                            struct gphi_bundle_graph *graph)
{
    gphi_check check = {.runtime = survey->runtime,
                        .inputs = entry->input_count,
                        .outputs = entry->output_count,
                        .stream = entry->stream ? entry->stream : CU_STREAM_PER_THREAD};
    gphi_vec tensors;
    gphi_vec_init(&tensors, survey->bundle->heap, sizeof(gph_tensor));
    for (size_t i = 0; i < graph->tensors.count; i++) {
        const gph_tensor *from = i < entry->input_count
                                     ? &entry->inputs[i]
                                     : &entry->outputs[i - entry->input_count];
        if (gphi_vec_push(&tensors, from) != GPH_OK) {
            gphi_vec_fini(&tensors);
            return gphi_fail(survey->error, GPH_E_NO_MEMORY, "checking a graph");
        }
    }
    check.tensors = tensors.items;
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    options.upload_stream = check.stream;
    gph_status status = gph_exec_create(survey->runtime, entry->graph, &options,
                                        &check.exec, survey->error);
    GPHI_THEN(status, take_check(survey, entry, &check, graph));
    gph_exec_destroy(check.exec);
    gphi_vec_fini(&tensors);
    return status;
}

/* Refusals of the second capture count as well, unless the first has its own: the
 * reader wants one cause, and that of the graph he knows. */
static gph_status survey_twice(const gphi_survey *survey, CUgraph shifted,
                               struct gphi_bundle_graph *graph)
{
    struct gphi_bundle_graph twin;
    gphi_bundle_graph_init(&twin, survey->bundle->heap);
    gph_status status = gphi_survey_graph(survey, shifted, &twin);
    if (status == GPH_OK && twin.refusals.count > 0 && graph->refusals.count == 0)
        status = gphi_refuse(
            survey, graph, -1, 0, -1, "only its second capture: %s",
            gphi_bundle_text(survey->bundle,
                             GPHI_BUNDLE_AT(&twin.refusals, refusal, 0)->why));
    if (status == GPH_OK && graph->refusals.count == 0)
        status = gphi_find_words(survey, graph, &twin);
    gphi_bundle_graph_fini(&twin);
    return status;
}

/* A refused graph keeps its name and reasons. */
static void drop_contents(struct gphi_bundle_graph *graph)
{
    gphi_vec *all[] = {&graph->nodes, &graph->edges,  &graph->copies,
                       &graph->fills, &graph->words,  &graph->attributes,
                       &graph->uses,  &graph->data,   &graph->order,
                       &graph->flows, &graph->bodies, &graph->handles};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        gphi_vec_fini(all[i]);
}

/* In the order in which failures are cheapest: tensors and text first, the driver's
 * queries after, replays last. */
static gph_status fill_graph(const gphi_survey *survey, const gph_recipe_entry *entry,
                             struct gphi_bundle_graph *graph)
{
    GPHI_TRY(gphi_add_tensors(survey, graph, entry->inputs, entry->input_count, "input"));
    GPHI_TRY(
        gphi_add_tensors(survey, graph, entry->outputs, entry->output_count, "output"));
    graph->input_count = entry->input_count;
    if (gphi_bundle_text_add(survey->bundle, entry->name, &graph->name) != GPH_OK ||
        (entry->key_count > 0 && !gphi_vec_add(&graph->keys, entry->key_count)))
        return gphi_fail(survey->error, GPH_E_NO_MEMORY, "recording a graph");
    if (entry->key_count > 0)
        memcpy(graph->keys.items, entry->key, entry->key_count * sizeof(int64_t));
    GPHI_TRY(gphi_footprint_keep(survey, entry->pool, entry->recording, graph));
    GPHI_TRY(gphi_survey_graph(survey, entry->graph, graph));
    graph->is_movable = entry->shifted != NULL;
    if (entry->shifted)
        GPHI_TRY(survey_twice(survey, entry->shifted, graph));
    else if (graph->refusals.count == 0)
        GPHI_TRY(gphi_find_words(survey, graph, NULL));
    if (graph->refusals.count > 0)
        drop_contents(graph);
    else if (entry->check != 0)
        GPHI_TRY(add_check(survey, entry, graph));
    return GPH_OK;
}

gph_status gph_recipe_add(gph_recipe *recipe, gph_runtime *runtime,
                          const gph_recipe_entry *entry, uint32_t *index,
                          gph_error *error)
{
    GPHI_TRY(gphi_need(error, recipe, runtime, entry));
    gph_recipe_entry opt;
    GPHI_TRY(gphi_options_read(&opt, sizeof(opt), "gph_recipe_entry", entry, error));
    gphi_bundle *bundle = &recipe->bundle;
    GPHI_TRY(check_entry(bundle, recipe, &opt, error));
    const gphi_survey survey = {.runtime = runtime,
                                .bundle = bundle,
                                .resolver = opt.resolver,
                                .error = error,
                                .unset = opt.unset != 0};
    GPHI_TRY(read_device(&survey));
    GPHI_TRY(gphi_made(error, gphi_vec_reserve(&bundle->graphs, 1) == GPH_OK,
                       "recording a graph"));

    const gphi_bundle_mark mark = gphi_recipe_mark(bundle);
    struct gphi_bundle_graph graph;
    gphi_bundle_graph_init(&graph, bundle->heap);
    const gph_status status = fill_graph(&survey, &opt, &graph);
    if (status != GPH_OK) {
        gphi_bundle_graph_fini(&graph);
        gphi_recipe_go_back(bundle, mark);
        return status;
    }
    *(struct gphi_bundle_graph *)gphi_vec_add(&bundle->graphs, 1) = graph;
    if (index)
        *index = (uint32_t)bundle->graphs.count - 1;
    return GPH_OK;
}

gph_status gph_recipe_record_twice(gph_recipe *recipe, gph_runtime *runtime,
                                   const gph_recipe_entry *entry,
                                   gph_recipe_capture_fn *capture, void *user,
                                   gph_error *error)
{
    GPHI_TRY(gphi_need(error, recipe, runtime, entry, capture));
    gph_recipe_entry both;
    GPHI_TRY(gphi_options_read(&both, sizeof(both), "gph_recipe_entry", entry, error));
    both.size = sizeof(both);
    both.graph = both.shifted = NULL;
    gph_status status = capture(user, 0, &both.graph, error);
    GPHI_THEN(status, capture(user, 1, &both.shifted, error));
    if (status == GPH_OK && (!both.graph || !both.shifted))
        status = gphi_fail(error, GPH_E_INVALID,
                           "graph %.200s: the capture function gave no graph %s",
                           entry->name ? entry->name : "(no name)",
                           !both.graph ? "in its first call" : "in its second call");
    GPHI_THEN(status, gph_recipe_add(recipe, runtime, &both, NULL, error));
    if (both.shifted)
        gphi_ignore((gph_status)runtime->cu.cuGraphDestroy(both.shifted),
                    "it is recorded, or the failure is reported already");
    if (both.graph)
        gphi_ignore((gph_status)runtime->cu.cuGraphDestroy(both.graph),
                    "it is recorded, or the failure is reported already");
    return status;
}
