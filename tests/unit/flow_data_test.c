// SPDX-License-Identifier: Apache-2.0
/* Control flow as data: described, written, read, compared, signed, updated, and in a
 * callable. */
#include "flow_run.h"

/* while (w0) { if (w1) mark(then) else { mark(2); mark(3) } step w0 }, with regions. */
static struct made record_one(unsigned then, uint32_t branches)
{
    gph_capture *capture = open_capture(NULL);
    gph_condition rounds = word_at(word(0)), inner = word_at(word(1));
    mark(0);
    CHECK_OK(gph_region_push(capture, "solver", &error), error);
    CHECK_OK(gph_capture_while(capture, &rounds, &error), error);
    CHECK_OK(gph_region_push(capture, "choose", &error), error);
    CHECK_OK(gph_capture_if(capture, &inner, branches, &error), error);
    mark(then);
    if (branches == 2) {
        CHECK_OK(gph_capture_else(capture, &error), error);
        mark(2);
        mark(3);
    }
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    CHECK_OK(gph_region_pop(capture, &error), error);
    step(0);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    CHECK_OK(gph_region_pop(capture, &error), error);
    return close_capture(capture);
}

static gph_graph *describe(const struct made *made)
{
    gph_graph *graph = NULL;
    CHECK_OK(gph_recording_describe(made->recording, 0, &graph, &error), error);
    return graph;
}

static const gph_node *body_node(const gph_graph *graph, uint32_t node, uint32_t body,
                                 uint32_t index)
{
    const gph_node *chooser = gph_graph_node(graph, node);
    if (!CHECK(chooser && chooser->kind == GPH_NODE_CONDITIONAL))
        exit(1);
    const gph_node *child = gph_graph_node(chooser->u.conditional.bodies, body);
    if (!CHECK(child && child->kind == GPH_NODE_CHILD))
        exit(1);
    return gph_graph_node(child->u.child, index);
}

static bool is_kernel(const gph_node *node, const char *function, const char *region)
{
    return CHECK(node && node->kind == GPH_NODE_KERNEL) &&
           CHECK(strcmp(node->u.kernel.function, function) == 0) &&
           CHECK((!node->name && !region) ||
                 (node->name && region && strcmp(node->name, region) == 0));
}

/* mark, set, WHILE: {set, IF: {mark} {mark, mark}, step, set}. */
static void it_is_described(void)
{
    if (!has_forms())
        SKIP("the driver has no ELSE");
    struct made made = record_one(1, 2);
    gph_graph *graph = describe(&made);
    CHECK(gph_graph_node_count(graph) == 3 && gph_graph_node_count_deep(graph) == 10);
    const gph_node *loop = gph_graph_node(graph, 2);
    CHECK(loop->u.conditional.form == GPH_FORM_WHILE && loop->name &&
          strcmp(loop->name, "solver") == 0);
    is_kernel(gph_graph_node(graph, 0), "mark", NULL);
    is_kernel(gph_graph_node(graph, 1), "gph_set_word", "solver");
    is_kernel(body_node(graph, 2, 0, 0), "gph_set_word", "solver/choose");
    is_kernel(body_node(graph, 2, 0, 2), "step", "solver");
    const gph_node *chooser = body_node(graph, 2, 0, 1);
    CHECK(chooser->kind == GPH_NODE_CONDITIONAL &&
          chooser->u.conditional.form == GPH_FORM_IF);
    const gph_graph *bodies = chooser->u.conditional.bodies;
    CHECK(gph_graph_node_count(bodies) == 2);
    const gph_graph *otherwise = gph_graph_node(bodies, 1)->u.child;
    CHECK(strcmp(gph_graph_name(otherwise), "else") == 0);
    CHECK(gph_graph_node_count(otherwise) == 2 && gph_graph_edge_count(otherwise) == 1);
    is_kernel(gph_graph_node(otherwise, 1), "mark", "solver/choose");
    CHECK_OK(gph_graph_check(graph, &error), error);
    gph_graph_destroy(graph);

    /* A bare graph of the driver's is known by its nodes, as long as it lives. */
    CUgraph bare = gph_recording_graph(made.recording, 0);
    CHECK_OK(gph_graph_describe(runtime, bare, &graph, &error), error);
    CHECK(gph_graph_node_count_deep(graph) == 10);
    gph_graph_destroy(graph);
    drop(&made);
}

/* ---- files ---- */

struct text {
    char bytes[1 << 16];
    size_t count;
};

static gph_status add(void *user, const void *bytes, size_t count)
{
    struct text *text = user;
    if (text->count + count >= sizeof(text->bytes))
        return GPH_E_NO_MEMORY;
    memcpy(text->bytes + text->count, bytes, count);
    text->count += count;
    text->bytes[text->count] = '\0';
    return GPH_OK;
}

/* Without jansson none is built. */
static bool has_reader(void)
{
    static const char empty[] = "{\"nodes\": [], \"edges\": []}";
    gph_graph *graph = NULL;
    const gph_status status =
        gph_json_read(empty, sizeof(empty) - 1, NULL, &graph, &error);
    gph_graph_destroy(graph);
    return status != GPH_E_UNSUPPORTED;
}

static void files_have_it(void)
{
    if (!has_reader())
        SKIP("built without jansson");
    static struct text first, second, drawing;
    struct made made = record_one(1, 1);
    gph_graph *graph = describe(&made), *again = NULL;
    gph_diff *diff = NULL;
    CHECK_OK(gph_json_write(graph, NULL, add, &first, &error), error);
    CHECK_OK(gph_json_read(first.bytes, first.count, NULL, &again, &error), error);
    CHECK_OK(gph_json_write(again, NULL, add, &second, &error), error);
    CHECK(strcmp(first.bytes, second.bytes) == 0);
    CHECK(strstr(first.bytes, "\"form\": 2") && strstr(first.bytes, "\"form\": 1"));
    CHECK_OK(gph_graph_diff(graph, again, &diff, &error), error);
    CHECK(gph_diff_count(diff) == 0);
    CHECK_OK(gph_dot_write(graph, NULL, add, &drawing, &error), error);
    CHECK(strstr(drawing.bytes, "shape=diamond") != NULL);
    CHECK(strstr(drawing.bytes, "label=\"then\"") && strstr(drawing.bytes, "solver"));
    gph_diff_destroy(diff);
    gph_graph_destroy(again);
    gph_graph_destroy(graph);
    drop(&made);
}

static void wrong_files_are_refused(void)
{
    if (!has_reader())
        SKIP("built without jansson");
    static const struct {
        const char *node, *says;
    } cases[] = {
        {"{\"kind\": \"conditional\", \"form\": 4}", "form 4"},
        {"{\"kind\": \"conditional\", \"graph\": {\"nodes\": [{\"kind\": \"empty\"}], "
         "\"edges\": []}}",
         "not a child graph"},
        {"{\"kind\": \"conditional\", \"graph\": 7}", "graph"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char text[400];
        gph_graph *graph = NULL;
        snprintf(text, sizeof(text),
                 "{\"format\": \"gph-graph\", \"version\": 1, \"graph\": {\"nodes\": "
                 "[%s], \"edges\": []}}",
                 cases[i].node);
        CHECK(gph_json_read(text, strlen(text), NULL, &graph, &error) != GPH_OK &&
              !graph && says(cases[i].says));
    }
}

/* ---- comparison ---- */

static void differences_are_found_in_bodies(void)
{
    if (!has_forms())
        SKIP("the driver has no ELSE");
    struct made one = record_one(1, 2), two = record_one(9, 2), less = record_one(1, 1);
    gph_graph *a = describe(&one), *b = describe(&two), *c = describe(&less);
    gph_diff *diff = NULL;
    gph_signature sa, sb, sc;
    int same = -1;
    bool has_mark = false;
    CHECK_OK(gph_graph_diff(a, b, &diff, &error), error);
    CHECK(!gph_diff_is_topology(diff));
    for (size_t i = 0; i < gph_diff_count(diff); i++) {
        const gph_change *change = gph_diff_at(diff, i);
        const bool is_mark = strcmp(change->path, "2/0/1/0") == 0;
        has_mark |= is_mark && strcmp(change->after, "0x9") == 0;
        CHECK(is_mark || strstr(change->node, "solver")); /* else handles of conditions */
    }
    CHECK(has_mark);
    gph_diff_destroy(diff);
    CHECK_OK(gph_graph_signature(a, 0, &sa, &error), error);
    CHECK_OK(gph_graph_signature(b, 0, &sb, &error), error);
    CHECK_OK(gph_graph_signature(c, 0, &sc, &error), error);
    CHECK(memcmp(&sa, &sb, sizeof(sa)) == 0 && memcmp(&sa, &sc, sizeof(sa)) != 0);
    CHECK_OK(gph_graph_matches(a, b, 0, &same, &error), error);
    CHECK(same == 1);
    CHECK_OK(gph_graph_matches(a, c, 0, &same, &error), error);
    CHECK(same == 0);
    CHECK_OK(gph_graph_diff(a, c, &diff, &error), error);
    CHECK(gph_diff_is_topology(diff));
    gph_diff_destroy(diff);
    gph_graph_destroy(a);
    gph_graph_destroy(b);
    gph_graph_destroy(c);
    drop(&one);
    drop(&two);
    drop(&less);
}

/* ---- updates ---- */

/* Kernels of bodies hold handles, so it is one whole update, which pairs these. */
static void an_update_reaches_bodies(void)
{
    if (!has_forms())
        SKIP("the driver has no ELSE");
    struct made one = record_one(1, 2), two = record_one(9, 2), less = record_one(1, 1);
    gph_exec *exec = gph_replay_exec(one.replay, 0);
    gph_update_report report = GPH_UPDATE_REPORT_INIT;
    CHECK_OK(gph_exec_track(exec, gph_recording_graph(one.recording, 0), NULL, &error),
             error);
    CHECK_OK(
        gph_exec_compatible(exec, gph_recording_graph(one.recording, 0), &report, &error),
        error);
    CHECK(report.way == GPH_UPDATE_NOTHING && report.is_certain);
    CHECK_OK(gph_exec_compatible(exec, gph_recording_graph(less.recording, 0), &report,
                                 &error),
             error);
    CHECK(report.way == GPH_UPDATE_REINSTANTIATE && report.rule &&
          strcmp(report.rule, "R69f") == 0 && strcmp(report.field, "bodies") == 0);
    CHECK_OK(gph_exec_update(exec, gph_recording_graph(two.recording, 0), NULL, &report,
                             &error),
             error);
    CHECK(report.way == GPH_UPDATE_WHOLE);
    gph_update_report_fini(&report);
    put(0, 2);
    put(1, 1);
    LOGS(&one, 0, 9, 9);
    put(0, 1);
    put(1, 0);
    LOGS(&one, 0, 2, 3);
    drop(&one);
    drop(&two);
    drop(&less);
}

/* ---- a callable ---- */

/* Eagerly the host decides, in a capture the device: the same source but for that. */
static gph_status branch(void *user, gph_call *call, gph_error *why)
{
    unsigned value = 0;
    gph_condition condition = word_at(call->inputs[0].data);
    CUstream before = stream;
    (void)user;
    if (!call->capture) {
        CU(MemcpyDtoHAsync, &value, call->inputs[0].data, 4, call->stream);
        CU(StreamSynchronize, call->stream);
        mark_in(call->stream, value ? 5 : 6);
        return GPH_OK;
    }
    gph_status status = gph_capture_if(call->capture, &condition, 2, why);
    stream = call->stream;
    if (status == GPH_OK)
        mark(5);
    if (status == GPH_OK)
        status = gph_capture_else(call->capture, why);
    if (status == GPH_OK)
        mark(6);
    stream = before;
    return status == GPH_OK ? gph_capture_flow_end(call->capture, why) : status;
}

static void a_callable_may_branch(void)
{
    gph_arena *arena = NULL;
    gph_pool *pool = NULL;
    gph_callable *callable = NULL;
    unsigned got[LOG_WORDS];
    const int64_t shape[] = {1};
    gph_tensor input = gph_tensor_dense(word(3), GPH_DTYPE_I32, 1, shape);
    gph_callable_options options = GPH_CALLABLE_OPTIONS_INIT;
    CHECK_OK(gph_arena_create(runtime, NULL, &arena, &error), error);
    CHECK_OK(gph_pool_create(arena, NULL, &pool, &error), error);
    options.function = branch;
    options.pool = pool;
    options.stream = stream;
    options.sample.inputs = &input;
    options.sample.input_count = 1;
    options.warmup_count = 1;
    CHECK_OK(gph_callable_create(runtime, &options, &callable, &error), error);
    for (unsigned value = 0; value < 2 && callable; value++) {
        CU(MemsetD32Async, log_at, 0, LOG_WORDS, stream);
        put(3, value);
        CHECK_OK(gph_callable_call(callable, &options.sample, stream, NULL, &error),
                 error);
        CU(MemcpyDtoHAsync, got, log_at, sizeof(got), stream);
        CU(StreamSynchronize, stream);
        CHECK(got[0] == 1 && got[1] == 6 - value);
    }
    gph_callable_destroy(callable);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

int main(void)
{
    if (!set_up())
        return test_done();
    RUN(it_is_described);
    RUN(files_have_it);
    RUN(wrong_files_are_refused);
    RUN(differences_are_found_in_bodies);
    RUN(an_update_reaches_bodies);
    RUN(a_callable_may_branch);
    return test_done();
}
