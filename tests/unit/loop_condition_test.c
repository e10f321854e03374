// SPDX-License-Identifier: Apache-2.0
/* Loops whose condition is a comparison of two values. */
#include "loop_world.h"
#include <gph/replay_flow.h>

/* Comparisons as conditions: `done` counts up from 0 until it does not hold any more. */
static void a_comparison_is_a_condition(void)
{
    const CUdeviceptr wide = world.at[AT_DEVICE] + 512;
    const uint64_t limit = 6;
    OK(world.cu->cuMemcpyHtoD(wide, &limit, 4));
    OK(world.cu->cuStreamSynchronize(NULL));
    for (int way = 0; way < LOOP_WAYS; way++)
        for (uint32_t unroll = 1; unroll <= 3; unroll += 2)
            for (int of_two = 0; of_two < 2; of_two++) {
                gph_loop_options options = loop_options(loop_ways[way]);
                gph_condition test = GPH_CONDITION_INIT;
                test.kind = GPH_CONDITION_COMPARE;
                test.left = loops.done;
                test.relation = GPH_LESS;
                test.type = GPH_VALUE_I32;
                test.right = of_two ? wide : 0;
                test.constant.i = 6;
                options.condition = 0;
                options.test = &test;
                options.unroll = unroll;
                gph_loop *loop = loop_of(tick_body(), &options);
                test.left = 0; /* it was read */
                set_words(0, 0);
                gph_loop_result result = run(loop, GPH_OK);
                CHECK(result.end == GPH_LOOP_DONE && result.steps == 6 && result.changed);
                CHECK(word_at(loops.done) == 6 && result.condition == 0);
                set_words(0, (uint32_t)-2); /* with a sign */
                result = run(loop, GPH_OK);
                CHECK(result.steps == 8 && word_at(loops.done) >= 6);
                FINE(gph_loop_limits_set(loop, 2, 0, &world.error));
                set_words(0, 0);
                result = run(loop, GPH_E_STATE);
                CHECK(result.condition == 1 && result.changed);
                CHECK(says("a comparison of the value at") && says("is 1 and not 0"));
                gph_loop_destroy(loop);
            }
}

static void put_value(uint32_t type, double value)
{
    const float single = (float)value;
    const int64_t whole = (int64_t)value;
    const void *from = type == GPH_VALUE_F32   ? (const void *)&single
                       : type == GPH_VALUE_F64 ? (const void *)&value
                                               : (const void *)&whole;
    OK(world.cu->cuMemcpyHtoD(
        loops.word, from,
        type == GPH_VALUE_U64 || type == GPH_VALUE_I64 || type == GPH_VALUE_F64 ? 8 : 4));
}

/* Each type and relation with values around the constant; the body changes nothing of it,
 * so a loop ends at once or at its ceiling. */
static void comparisons_are_those_of_c(void)
{
    static const uint32_t relations[] = {GPH_LESS,          GPH_EQUAL,   GPH_LESS_EQUAL,
                                         GPH_GREATER_EQUAL, GPH_GREATER, GPH_NOT_EQUAL};
    for (uint32_t type = GPH_VALUE_U32; type <= GPH_VALUE_F64; type++)
        for (int r = 0; r < 6; r++) {
            const bool has_sign = type != GPH_VALUE_U32 && type != GPH_VALUE_U64;
            const double limit = has_sign ? -3 : 3;
            gph_loop_options options = loop_options(GPH_LOOP_WHILE);
            gph_condition test = GPH_CONDITION_INIT;
            test.kind = GPH_CONDITION_COMPARE;
            test.left = loops.word;
            test.relation = relations[r];
            test.type = type;
            if (type >= GPH_VALUE_F32)
                test.constant.f = limit;
            else
                test.constant.i = (int64_t)limit;
            options.condition = 0;
            options.test = &test;
            options.ceiling = 1;
            CUgraph body = loop_graph();
            CUdeviceptr aside = world.at[AT_SECOND];
            void *arguments[] = {&aside};
            loop_node(body, NULL, "tick", arguments);
            gph_loop *loop = loop_of(body, &options);
            for (double d = -1; d <= 1; d++) {
                const bool holds = (relations[r] == GPH_LESS && d < 0) ||
                                   (relations[r] == GPH_EQUAL && d == 0) ||
                                   (relations[r] == GPH_LESS_EQUAL && d <= 0) ||
                                   (relations[r] == GPH_GREATER_EQUAL && d >= 0) ||
                                   (relations[r] == GPH_GREATER && d > 0) ||
                                   (relations[r] == GPH_NOT_EQUAL && d != 0);
                put_value(type, limit + d);
                CHECK(run(loop, holds ? GPH_E_STATE : GPH_OK).steps == (holds ? 1 : 0));
            }
            gph_loop_destroy(loop);
        }
}

static void wrong_comparisons_are_refused(void)
{
    gph_loop *loop = NULL;
    CUgraph body = tick_body();
    gph_loop_options options = loop_options(GPH_LOOP_WHILE);
    gph_condition test = GPH_CONDITION_INIT;
    options.test = &test;
#define REFUSES(words)                                                                   \
    CHECK(gph_loop_create(world.runtime, body, &options, &loop, &world.error) ==         \
              GPH_E_INVALID &&                                                           \
          says(words) && loop == NULL)
    REFUSES("are both given");
    options.condition = 0;
    REFUSES("condition.left is 0");
    test.left = loops.word;
    REFUSES("options.test is of kind 0");
    test.kind = GPH_CONDITION_COMPARE;
    test.relation = 5;
    REFUSES("condition.relation 5");
    options.test = NULL;
    REFUSES("options.condition 0x0");
#undef REFUSES
    OK(world.cu->cuGraphDestroy(body));
}

int main(void)
{
    const int skipped = world_open();
    if (skipped)
        return skipped;
    loops_open();
    RUN(a_comparison_is_a_condition);
    RUN(comparisons_are_those_of_c);
    RUN(wrong_comparisons_are_refused);
    return test_done();
}
