// SPDX-License-Identifier: Apache-2.0
/* What the doctor says that two partners of an update differ in is what updates say:
 * graph/update_rules.h. */
#include "base/heap.h"
#include "doctor/model/model_feed.h"
#include "doctor/rules/update/update_why.h"

#include "test.h"

static gphi_clash clash_of(const gph_node *a, const gph_node *b)
{
    gphi_model *model = NULL;
    gphi_operands operands;
    gphi_clash out = {0};
    CHECK(gphi_model_create(gphi_heap(NULL), &model) == GPH_OK);
    gphi_operands_init(&operands, gphi_heap(NULL));
    const gphi_ask ask = {.model = model, .operands = &operands, .said = ""};
    gphi_clash_find(&ask, a, b, &out);
    gphi_operands_fini(&operands);
    gphi_model_destroy(model);
    return out;
}

/* The driver compares where the rows lie, not how a program came to say so. */
static void a_copy_that_starts_at_the_same_byte_fits(void)
{
    gph_node a = {.kind = GPH_NODE_MEMCPY};
    a.u.memcpy = (gph_memcpy_params){
        .dst = {.memory = GPH_MEMORY_DEVICE, .address = 0x1000, .pitch_bytes = 256},
        .src = {.memory = GPH_MEMORY_DEVICE, .address = 0x8000, .pitch_bytes = 256},
        .width_bytes = 64,
        .height = 4,
        .depth = 1};
    gph_node b = a;
    b.u.memcpy.dst.address -= 256 + 16;
    b.u.memcpy.dst.y = 1;
    b.u.memcpy.dst.x_bytes = 16;
    CHECK(clash_of(&a, &b).why == GPHI_WHY_NONE);
    b.u.memcpy.dst.x_bytes = 32;
    CHECK(clash_of(&a, &b).why == GPHI_WHY_MEMCPY_KIND);
    CHECK(strcmp(clash_of(&a, &b).field, "dst.address") == 0);
}

static void a_batch_keeps_the_kinds_of_its_operations(void)
{
    const gph_mem_op writes[] = {{.operation = 2}, {.operation = 2}};
    const gph_mem_op waits[] = {{.operation = 2}, {.operation = 0}};
    gph_node a = {.kind = GPH_NODE_BATCH_MEM_OP}, b = a;
    a.u.batch.count = b.u.batch.count = 2;
    a.u.batch.ops = b.u.batch.ops = writes;
    CHECK(clash_of(&a, &b).why == GPHI_WHY_NONE);
    b.u.batch.ops = waits;
    const gphi_clash found = clash_of(&a, &b);
    CHECK(found.why == GPHI_WHY_UNSUPPORTED);
    CHECK(strcmp(found.field, "ops.operation") == 0);
    CHECK(strcmp(found.before, "2") == 0 && strcmp(found.after, "0") == 0);
}

int main(void)
{
    RUN(a_copy_that_starts_at_the_same_byte_fits);
    RUN(a_batch_keeps_the_kinds_of_its_operations);
    return test_done();
}
