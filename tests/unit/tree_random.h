// SPDX-License-Identifier: Apache-2.0
/* Random programs on a tree and on a model that only knows values: functions, branches,
 * views, writes, releases, steps and failures in any order. After every call each output
 * that is held has the value of the model, and each that is not is refused.
 *
 * What the tree is built on is a world of the file that includes this. */
#ifndef TREE_RANDOM_H
#define TREE_RANDOM_H
#include "base/clock.h"
#include "unit/tree_spec.h"

/* The tree of a program, and its end, which leaves nothing behind. */
static gph_status world_tree(const gph_tree_options *options, gph_tree **out);
static void world_end(gph_tree *tree);
static gph_status spec_fn(void *user, gph_call *call, gph_error *error);
/* The n-th tensor of the user's own memory, filled; what a tensor holds. */
static gph_tensor world_tensor(uint32_t n, uint32_t units, uint64_t seed);
static value world_value(const gph_tensor *tensor);
/* The n-th operation from now on fails; none does any more. */
static void world_arm(uint32_t nth);
static bool world_disarm(void); /* whether one has failed */
/* What else must hold after each action; how long a replay took. */
static void world_check(const gph_tree_stats *stats);
static void world_timed(uint64_t ns);

enum { FUNCTIONS = 6, HANDLES = 64, WEIGHTS = 4, INPUTS = 3 };

/* What lies somewhere: outputs and the views of them share one. */
typedef struct handle {
    gph_tree_output output;
    uint32_t storage; /* in `storages` */
    uint32_t holders;
    uint64_t path;
    uint64_t made; /* order */
    bool is_used;
} handle;

typedef struct actor {
    gph_tree_function *fn;
    spec spec;
    uint8_t flags[INPUTS];
    uint32_t inputs;
    gph_tree_kind kind;
    bool is_root;
} actor;

static gph_error error;
static gph_tree *tree;
static actor functions[FUNCTIONS];
static handle handles[HANDLES];
static value storages[HANDLES * OUTPUTS_MAX]; /* of handles; then of weights */
static gph_tensor weights[WEIGHTS];
static value weight_values[WEIGHTS];
static bool has_views; /* else writes: views and copies of a view distinguish them */
static uint64_t state;
static uint64_t made_count;
static uint64_t total_replays, total_calls, total_restores, total_refused;

/* The model's path. */
static uint64_t path;
static const actor *root;
static uint32_t due;
static bool is_explicit;
static bool has_failures;
static bool is_strict;
static uint64_t total_strict;
static uint32_t failures_max = 5; /* operations from here on, of which one fails */

static uint32_t draw(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 33) % limit);
}

static bool one_in(uint32_t n)
{
    return draw(n) == 0;
}

static uint32_t held(void)
{
    uint32_t count = 0;
    for (int i = 0; i < HANDLES; i++)
        count += handles[i].is_used && handles[i].path == path && handles[i].holders != 0;
    return count;
}

static bool is_held(const handle *h)
{
    return h->is_used && h->path == path && h->holders != 0;
}

/* In the order in which they were made, so that like draws find like outputs. */
static handle *any_held(void)
{
    const uint32_t count = held();
    if (count == 0)
        return NULL;
    const uint32_t nth = draw(count);
    for (int i = 0; i < HANDLES; i++) {
        uint32_t before = 0;
        for (int k = 0; k < HANDLES; k++)
            before += is_held(&handles[k]) && handles[k].made < handles[i].made;
        if (is_held(&handles[i]) && before == nth)
            return &handles[i];
    }
    return NULL;
}

/* A place that no held handle needs. */
static handle *free_handle(void)
{
    for (uint32_t tries = 0; tries < 1000; tries++) {
        handle *h = &handles[spec_mix(made_count, tries) % HANDLES];
        if (!h->is_used || h->path != path || h->holders == 0)
            return h;
    }
    return NULL;
}

static bool is_shared(uint32_t storage, const handle *but)
{
    for (int i = 0; i < HANDLES; i++)
        if (&handles[i] != but && handles[i].is_used && handles[i].path == path &&
            handles[i].holders != 0 && handles[i].storage == storage)
            return true;
    return false;
}

static uint32_t free_storage(void)
{
    for (uint32_t s = 0;; s++) {
        if (!is_shared(s, NULL))
            return s;
    }
}

/* ---- checks ---- */

static void check_handle(const handle *h)
{
    gph_tensor at;
    const gph_status status = gph_tree_output_tensor(tree, h->output, &at, &error);
    if (h->path != path || h->holders == 0) {
        total_refused++;
        CHECK(status == GPH_E_STATE);
        CHECK(strstr(error.message, h->path != path ? "made by call" : "was released"));
        return;
    }
    if (!CHECK_OK(status, error))
        return;
    const value got = world_value(&at);
    CHECK(same_value(&got, &storages[h->storage]));
}

static void check_all(void)
{
    gph_tree_stats stats = GPH_SIZED(gph_tree_stats);
    gph_tree_stats_get(tree, &stats);
    CHECK(stats.live_outputs == held());
    CHECK(stats.due == due);
    world_check(&stats);
    CHECK(stats.calls == stats.replays + stats.recordings + stats.warmups + stats.eager);
    for (int i = 0; i < HANDLES; i++)
        if (handles[i].is_used)
            check_handle(&handles[i]);
    for (int i = 0; i < WEIGHTS; i++) {
        const value got = world_value(&weights[i]);
        CHECK(same_value(&got, &weight_values[i]));
    }
}

/* ---- what is done ---- */

static void make_function(uint32_t i)
{
    actor *fn = &functions[i];
    gph_tree_function_options opt = GPH_TREE_FUNCTION_OPTIONS_INIT;
    memset(fn, 0, sizeof(*fn));
    fn->spec.salt = spec_mix(state, i);
    fn->spec.temporaries = draw(4);
    fn->spec.outputs = draw(OUTPUTS_MAX + 1);
    fn->inputs = 1 + draw(INPUTS);
    for (uint32_t k = 0; k < OUTPUTS_MAX; k++) {
        fn->spec.units[k] = one_in(10) ? 0 : 1 + draw(5);
        if (has_views && one_in(4))
            fn->spec.view_input[k] = 1 + draw(fn->inputs);
        else if (has_views && k != 0 && one_in(4))
            fn->spec.view_output[k] = 1 + draw(k);
    }
    for (uint32_t k = 0; k < fn->inputs; k++)
        fn->flags[k] = one_in(3) ? GPH_TREE_INPUT_STATIC : 0;
    if (!has_views && one_in(3)) {
        fn->spec.mutates = 1 + draw(fn->inputs);
        fn->flags[fn->spec.mutates - 1] |= GPH_TREE_INPUT_MUTATED;
    }
    if (one_in(8))
        fn->spec.capture_fails = 900;
    fn->kind = one_in(4)   ? GPH_TREE_FORWARD
               : one_in(4) ? GPH_TREE_BACKWARD
                           : GPH_TREE_PLAIN;
    fn->is_root = one_in(4);
    opt.kind = fn->kind;
    opt.inputs = fn->flags;
    opt.input_count = fn->inputs;
    opt.output_count = fn->spec.outputs;
    opt.key_count = 1;
    opt.flags = (fn->is_root ? GPH_TREE_FUNCTION_ROOT : 0u) |
                (one_in(10) ? GPH_TREE_FUNCTION_EAGER : 0u);
    CHECK_OK(gph_tree_function_add(tree, spec_fn, &fn->spec, &opt, &fn->fn, &error),
             error);
}

/* A call, as the model has it. */
typedef struct attempt {
    actor *fn;
    gph_tree_input inputs[INPUTS];
    value *values[INPUTS];
    handle *from[INPUTS];
    gph_tree_output outputs[OUTPUTS_MAX];
    int64_t key;
    bool reads_path;
} attempt;

static void choose_inputs(attempt *a)
{
    for (uint32_t i = 0; i < a->fn->inputs; i++) {
        handle *h = one_in(3) ? NULL : any_held();
        if (h != NULL) {
            a->inputs[i].output = h->output;
            a->inputs[i].take = one_in(3);
            a->values[i] = &storages[h->storage];
            a->from[i] = h;
            a->reads_path = true;
            continue;
        }
        /* Static inputs move rarely, else nothing would be replayed. */
        const uint32_t w = (a->fn->flags[i] & GPH_TREE_INPUT_STATIC) != 0 && !one_in(20)
                               ? i
                               : draw(WEIGHTS);
        a->inputs[i].tensor = weights[w];
        a->values[i] = &weight_values[w];
    }
}

/* What the path does before the call, whether it works or not. */
static void model_path(const attempt *a)
{
    const bool ends =
        root != NULL && (held() == 0 || (!is_explicit && due == 0 && !a->reads_path &&
                                         (a->fn->is_root || a->fn == root)));
    if (!ends)
        return;
    path++;
    root = NULL;
    due = 0;
}

static uint32_t output_storage(const attempt *a, uint32_t k, uint32_t *storage,
                               const value *ins)
{
    const spec *s = &a->fn->spec;
    if (s->view_output[k] != 0 && s->view_input[k] == 0)
        return storage[s->view_output[k] - 1];
    if (s->view_input[k] != 0 && a->from[s->view_input[k] - 1] != NULL)
        return a->from[s->view_input[k] - 1]->storage;
    const uint32_t at = free_storage();
    if (s->view_input[k] != 0)
        storages[at] = ins[s->view_input[k] - 1];
    else
        storages[at] = spec_value(s, k, &a->key, 1, ins, a->fn->inputs, s->units[k]);
    return at;
}

static void model_call(attempt *a)
{
    const spec *s = &a->fn->spec;
    value ins[INPUTS];
    uint32_t storage[OUTPUTS_MAX];
    if (root == NULL)
        root = a->fn;
    if (a->fn->kind == GPH_TREE_FORWARD)
        due++;
    else if (a->fn->kind == GPH_TREE_BACKWARD && due != 0)
        due--;
    for (uint32_t i = 0; i < a->fn->inputs; i++)
        ins[i] = *a->values[i];
    for (uint32_t k = 0; k < s->outputs; k++) {
        handle *h = free_handle();
        storage[k] = output_storage(a, k, storage, ins);
        if (h == NULL) { /* nobody holds it */
            gph_tree_output_release(tree, a->outputs[k]);
            continue;
        }
        *h = (handle){a->outputs[k], storage[k], 1, path, ++made_count, true};
    }
    if (s->mutates != 0)
        *a->values[s->mutates - 1] =
            spec_value(s, 100, &a->key, 1, ins, a->fn->inputs, ins[s->mutates - 1].units);
    for (uint32_t i = 0; i < a->fn->inputs; i++)
        if (a->from[i] != NULL && a->inputs[i].take != 0 && a->from[i]->holders != 0)
            a->from[i]->holders--;
}

/* What the input that is written holds now. */
static void reread(const attempt *a)
{
    const uint32_t i = a->fn->spec.mutates - 1;
    gph_tensor at = a->inputs[i].tensor;
    if (a->from[i] != NULL &&
        (a->from[i]->path != path ||
         gph_tree_output_tensor(tree, a->from[i]->output, &at, &error) != GPH_OK))
        return;
    *a->values[i] = world_value(&at);
}

static void do_call(void)
{
    attempt a = {.fn = &functions[draw(FUNCTIONS)], .key = one_in(8)};
    choose_inputs(&a);
    if (has_failures)
        world_arm(draw(failures_max));
    /* A place that is taken now stays so while the outputs are put away. */
    model_path(&a);
    const uint64_t start = gphi_clock_ns();
    const gph_status status =
        gph_tree_call(tree, a.fn->fn, &a.key, a.inputs, a.outputs, &error);
    const uint64_t spent = gphi_clock_ns() - start;
    const bool has_failed = world_disarm();
    gph_tree_event event = GPH_SIZED(gph_tree_event);
    gph_tree_event_get(tree, &event);
    if (status == GPH_OK && event.action == GPH_TREE_REPLAYED)
        world_timed(spent);
    if (status == GPH_OK)
        model_call(&a);
    else if (is_strict && status == GPH_E_STATE)
        total_strict++; /* nothing was done */
    else if (CHECK(has_failed) && a.fn->spec.mutates != 0)
        reread(&a); /* it may have written before it failed */
}

static void do_release(void)
{
    handle *h = any_held();
    if (h == NULL)
        return;
    if (one_in(4)) {
        CHECK_OK(gph_tree_output_retain(tree, h->output, &error), error);
        h->holders++;
        return;
    }
    gph_tree_output_release(tree, h->output);
    h->holders--;
}

static void do_step(void)
{
    CHECK_OK(gph_tree_step_begin(tree, &error), error);
    is_explicit = true;
    path++;
    root = NULL;
    due = 0;
}

static void begin(uint64_t seed)
{
    state = spec_mix(seed, 99);
    memset(handles, 0, sizeof(handles));
    has_views = one_in(2);
    path = 1;
    root = NULL;
    due = 0;
    is_explicit = false;
    gph_tree_options opt = GPH_TREE_OPTIONS_INIT;
    opt.depth_max = one_in(3) ? 2 + draw(6) : 0;
    opt.rerecords_max = one_in(2) ? 1 + draw(4) : 0;
    opt.backoff = one_in(2) ? 1 + draw(8) : 0;
    opt.moves_max = one_in(2) ? 1 + draw(3) : 0;
    opt.settle = one_in(2) ? 2 + draw(9) : 0;
    opt.warmups = draw(3);
    is_strict = one_in(6);
    opt.flags = is_strict ? GPH_TREE_STRICT : 0;
    CHECK_OK(world_tree(&opt, &tree), error);
    for (uint32_t i = 0; i < WEIGHTS; i++) {
        weights[i] = world_tensor(i, 1 + i % 2, seed + i);
        weight_values[i] = world_value(&weights[i]);
    }
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        make_function(i);
}

static void run_seed(uint64_t seed, uint32_t actions)
{
    begin(seed);
    const uint32_t length = 2 + draw(8), odd = 2 + draw(20);
    const bool has_steps = one_in(2);
    uint64_t chance = state;
    /* A script of actions, again and again; now and then another one in its place. */
    for (uint32_t i = 0; i < actions && atomic_load(&test_failures) == 0; i++) {
        chance = spec_mix(chance, i);
        const bool is_odd = chance % odd == 0;
        state = spec_mix(seed, i % length + (is_odd ? 1000 * (1 + chance / odd % 2) : 0));
        has_failures = chance / 64 % 24 == 0;
        if (i % length == 0 && has_steps)
            do_step();
        else if (draw(10) < 6)
            do_call();
        else
            do_release();
        check_all();
    }
    gph_tree_stats stats = GPH_SIZED(gph_tree_stats);
    gph_tree_stats_get(tree, &stats);
    total_replays += stats.replays;
    total_calls += stats.calls;
    total_restores += stats.restores;
    world_end(tree);
    if (atomic_load(&test_failures) != 0)
        fprintf(stderr, "  seed %llu\n", (unsigned long long)seed);
}
#endif
