// SPDX-License-Identifier: Apache-2.0
/* Random functions in one pool, called in random order, recorded and eagerly, and a model
 * on the host beside them. A call may be refused for its order; what is not refused must
 * give what the model gives, and eager results stay whole until they are freed. Seeds:
 * CALLABLE_SEEDS=FIRST:LAST. */
#define _GNU_SOURCE
#include "unit/callable_run.h"

enum {
    CALLABLES = 6,
    OPS_MAX = 12,
    REGISTERS = 2 + OPS_MAX, /* inputs first */
    OUTPUTS = 2,
    HELD_MAX = 4,
    CALLS = 60
};

static uint64_t random_state;

static uint32_t below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % limit;
}

/* registers[2 + i] = registers[a] * scale + registers[b], in memory of its own; then
 * `freed` goes, if it is neither an input nor an output. */
struct op {
    int a, b, scale, freed;
};

struct program {
    struct op ops[OPS_MAX];
    int count;
    int outputs[OUTPUTS]; /* registers */
};

/* Each register is used by its number; freed ones are not used again. */
static struct program draw_program(void)
{
    struct program p = {.count = 2 + (int)below(OPS_MAX - 2)};
    bool is_live[REGISTERS] = {true, true};
    for (int i = 0; i < p.count; i++) {
        struct op *op = &p.ops[i];
        do
            op->a = (int)below((uint32_t)(2 + i));
        while (!is_live[op->a]);
        do
            op->b = (int)below((uint32_t)(2 + i));
        while (!is_live[op->b]);
        op->scale = (int)below(3) - 1;
        op->freed = -1;
        is_live[2 + i] = true;
        const int victim = 2 + (int)below((uint32_t)i + 1);
        if (below(2) == 0 && is_live[victim] && victim != 2 + i) {
            op->freed = victim;
            is_live[victim] = false;
        }
    }
    for (int i = 0; i < OUTPUTS; i++) /* an input now and then: a view */
        do
            p.outputs[i] = (int)below((uint32_t)(2 + p.count));
        while (!is_live[p.outputs[i]]);
    return p;
}

static void compute(const struct program *p, const float *inputs, float *outputs)
{
    float registers[REGISTERS] = {inputs[0], inputs[1]};
    for (int i = 0; i < p->count; i++)
        registers[2 + i] =
            registers[p->ops[i].a] * (float)p->ops[i].scale + registers[p->ops[i].b];
    for (int i = 0; i < OUTPUTS; i++)
        outputs[i] = registers[p->outputs[i]];
}

static gph_status put_op(const struct op *op, gph_tensor *registers, int at,
                         gph_call *call, gph_error *out)
{
    CUdeviceptr y = 0;
    gph_status status =
        gph_pool_alloc(call->pool, N * sizeof(float), call->stream, &y, out);
    registers[at] = floats(y);
    if (status == GPH_OK)
        status = put_copy(y, registers[op->a].data, call->stream, out);
    if (status == GPH_OK)
        status =
            put_scale_add(y, registers[op->b].data, (float)op->scale, call->stream, out);
    if (status == GPH_OK && op->freed >= 0) {
        status = gph_pool_free(call->pool, registers[op->freed].data, call->stream, out);
        registers[op->freed].data = 0;
    }
    return status;
}

static gph_status run_program(void *user, gph_call *call, gph_error *out)
{
    const struct program *p = user;
    gph_tensor registers[REGISTERS] = {call->inputs[0], call->inputs[1]};
    gph_status status = GPH_OK;
    for (int i = 0; i < p->count && status == GPH_OK; i++)
        status = put_op(&p->ops[i], registers, 2 + i, call, out);
    for (int i = 0; i < OUTPUTS; i++)
        call->outputs[i] = registers[p->outputs[i]];
    for (int i = 2; i < 2 + p->count && status == GPH_OK; i++)
        if (registers[i].data != 0 && i != p->outputs[0] && i != p->outputs[1])
            status = gph_pool_free(call->pool, registers[i].data, call->stream, out);
    return status;
}

/* One recorded function, and what the model knows of it. */
struct unit {
    struct program program;
    gph_callable *callable;
    uint8_t modes[2];
    int from[2], from_output[2]; /* of managed inputs */
    float outputs[OUTPUTS];
    uint64_t epoch; /* of `outputs` */
};

/* Outputs of an eager call that nobody may touch. */
struct held {
    CUdeviceptr blocks[OUTPUTS];
    float values[OUTPUTS];
    bool is_used;
};

static struct unit units[CALLABLES];
static struct held holds[HELD_MAX];
static CUdeviceptr sources[2];
static int refused, replayed, read_back;

static void set_source(int index, float value)
{
    union {
        float f;
        uint32_t u;
    } bits = {.f = value};
    CU(MemsetD32Async, sources[index], bits.u, N, stream);
}

static void make_unit(int index)
{
    struct unit *unit = &units[index];
    gph_tensor inputs[2];
    *unit = (struct unit){.program = draw_program()};
    for (int i = 0; i < 2; i++) {
        unit->modes[i] = GPH_INPUT_COPY;
        inputs[i] = floats(sources[i]);
        if (index == 0 || below(2) == 0)
            continue;
        unit->from[i] = (int)below((uint32_t)index);
        unit->from_output[i] = (int)below(OUTPUTS);
        inputs[i] = gph_callable_output(units[unit->from[i]].callable,
                                        (uint32_t)unit->from_output[i]);
        unit->modes[i] = GPH_INPUT_MANAGED;
    }
    gph_callable_options options = options_for(run_program, inputs, 2, OUTPUTS);
    options.user = &unit->program;
    options.modes = unit->modes;
    options.warmup_count = below(2);
    options.flags = below(2) ? GPH_CALLABLE_SHARE_INPUTS : 0;
    CHECK_OK(gph_callable_create(runtime, &options, &unit->callable, &error), error);
}

/* What lies where a unit left an output. A view of a managed input is its source. False:
 * nothing was put there yet. */
static bool value_of(int index, int output, float *out)
{
    for (;;) {
        const struct unit *unit = &units[index];
        const int view = unit->program.outputs[output];
        if (view >= 2 || unit->modes[view] != GPH_INPUT_MANAGED) {
            *out = unit->outputs[output];
            return unit->epoch != 0;
        }
        index = unit->from[view];
        output = unit->from_output[view];
    }
}

static void check_values(const char *what, const CUdeviceptr *at, const float *values)
{
    for (int i = 0; i < OUTPUTS; i++) {
        const float got = first_float(at[i]);
        if (!CHECK(got == values[i]))
            fprintf(stderr, "  %s: output %d is %g, not %g\n", what, i, (double)got,
                    (double)values[i]);
    }
    read_back++;
}

static void call_unit(int index)
{
    struct unit *unit = &units[index];
    gph_tensor inputs[2] = {{0}}, outputs[OUTPUTS];
    float values[2];
    bool is_known = true;
    for (int i = 0; i < 2; i++) {
        values[i] = (float)below(8);
        if (unit->modes[i] == GPH_INPUT_COPY) {
            set_source(i, values[i]);
            inputs[i] = floats(sources[i]);
        } else {
            is_known &= value_of(unit->from[i], unit->from_output[i], &values[i]);
        }
    }
    const gph_arguments arguments = args(inputs, 2);
    const gph_status status =
        gph_callable_call(unit->callable, &arguments, stream, outputs, &error);
    if (status == GPH_E_STATE) {
        refused++;
        return;
    }
    if (!CHECK_OK(status, error))
        return;
    CHECK(is_known); /* inputs that were never made are refused */
    replayed++;
    unit->epoch = gph_callable_epoch(unit->callable);
    compute(&unit->program, values, unit->outputs);
    check_values("a replay", (CUdeviceptr[]){outputs[0].data, outputs[1].data},
                 unit->outputs);
}

/* An eager call in the same pool; its outputs are held. */
static void hold(struct held *held)
{
    struct program program = draw_program();
    const float values[2] = {(float)below(8), (float)below(8)};
    gph_tensor inputs[2], outputs[OUTPUTS];
    for (int i = 0; i < 2; i++) {
        set_source(i, values[i]);
        inputs[i] = floats(sources[i]);
        while (program.outputs[i] < 2) /* no views of inputs */
            program = draw_program();
    }
    if (program.outputs[0] < 2)
        program.outputs[0] = program.outputs[1];
    gph_callable_options options = options_for(run_program, inputs, 2, OUTPUTS);
    options.user = &program;
    if (!CHECK_OK(gph_function_call(runtime, &options, NULL, stream, outputs, &error),
                  error))
        return;
    compute(&program, values, held->values);
    for (int i = 0; i < OUTPUTS; i++)
        held->blocks[i] = outputs[i].data;
    held->is_used = true;
    check_values("an eager call", held->blocks, held->values);
}

static void let_go(struct held *held)
{
    check_values("a held output", held->blocks, held->values);
    CHECK_OK(gph_pool_free(pool, held->blocks[0], stream, &error), error);
    if (held->blocks[1] != held->blocks[0])
        CHECK_OK(gph_pool_free(pool, held->blocks[1], stream, &error), error);
    held->is_used = false;
}

static void run_seed(uint64_t seed)
{
    random_state = seed * 0x9e3779b97f4a7c15u + 1;
    for (int i = 0; i < CALLABLES; i++)
        make_unit(i);
    for (int i = 0; i < CALLS && test_failures < 20; i++) {
        struct held *held = &holds[below(HELD_MAX)];
        const uint32_t kind = below(8);
        if (kind > 1)
            call_unit(i % 3 ? (int)below(CALLABLES) : i / 3 % CALLABLES);
        else if (kind == 0 && !held->is_used)
            hold(held);
        else if (held->is_used)
            let_go(held);
    }
    for (int i = 0; i < HELD_MAX; i++)
        if (holds[i].is_used)
            let_go(&holds[i]);
    for (int i = 0; i < CALLABLES; i++) { /* all in order: nothing is in the way now */
        const int before = refused;
        call_unit(i);
        CHECK(refused == before);
    }
    CU(StreamSynchronize, stream);
    for (int i = CALLABLES; i-- > 0;)
        gph_callable_destroy(units[i].callable);
}

static void random_functions_give_what_the_model_gives(void)
{
    unsigned long long first = 1, last = 40;
    const char *range = getenv("CALLABLE_SEEDS");
    if (range != NULL)
        CHECK(sscanf(range, "%llu:%llu", &first, &last) == 2);
    for (unsigned long long seed = first; seed <= last; seed++) {
        run_seed(seed);
        if (test_failures > 0) {
            fprintf(stderr, "  seed %llu\n", seed);
            break;
        }
    }
    printf("  %d replays, %d refused, %d results compared\n", replayed, refused,
           read_back);
    CHECK(replayed > 10 && refused > 0);
}

int main(void)
{
    if (!set_up())
        return 1;
    for (int i = 0; i < 2; i++)
        sources[i] = new_floats(0);
    RUN(random_functions_give_what_the_model_gives);
    CU(MemFree, sources[0]);
    CU(MemFree, sources[1]);
    return tear_down();
}
