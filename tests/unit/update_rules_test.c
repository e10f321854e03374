// SPDX-License-Identifier: Apache-2.0
/* The one table of what an update may change in a node, kind by kind: what
 * docs/conformance.md says of R69 to R69e, M_U06, M_U07, M_capture_fill, M_fill_freed. */
#include "graph/update_rules.h"
#include "test.h"

static gph_node kernel(void)
{
    return (gph_node){.kind = GPH_NODE_KERNEL,
                      .u.kernel = {.handle = 0x10, .context = 0xc0, .priority = -1}};
}

static gph_node copy(uint64_t rows, uint64_t planes)
{
    return (gph_node){.kind = GPH_NODE_MEMCPY,
                      .u.memcpy = {.dst = {.memory = GPH_MEMORY_DEVICE,
                                           .address = 0x7000,
                                           .pitch_bytes = 256,
                                           .height = 8},
                                   .src = {.memory = GPH_MEMORY_HOST,
                                           .address = 0x5000,
                                           .pitch_bytes = 256,
                                           .height = 8},
                                   .width_bytes = 64,
                                   .height = rows,
                                   .depth = planes}};
}

static gph_node fill(uint64_t rows)
{
    return (gph_node){.kind = GPH_NODE_MEMSET,
                      .u.memset = {.address = 0x7000,
                                   .width = 16,
                                   .height = rows,
                                   .pitch_bytes = 64,
                                   .element_bytes = 4}};
}

static gph_node batch(const gph_mem_op *ops, uint32_t count)
{
    return (gph_node){.kind = GPH_NODE_BATCH_MEM_OP,
                      .u.batch = {.context = 0xc0, .count = count, .ops = ops}};
}

static gphi_update_clash judge(const gphi_update_side *a, const gphi_update_side *b,
                               uint64_t flags)
{
    gphi_update_clash clash = {.rule = GPHI_UPDATE_FITS, .field = ""};
    CHECK(gphi_update_fits(a, b, flags, &clash) == (clash.rule == GPHI_UPDATE_FITS));
    return clash;
}

static bool fits(const gph_node *a, const gph_node *b)
{
    const gphi_update_side left = {.node = a}, right = {.node = b};
    return judge(&left, &right, 0).rule == GPHI_UPDATE_FITS;
}

static bool clashes(const gph_node *a, const gph_node *b, gphi_update_rule rule,
                    const char *field)
{
    const gphi_update_side left = {.node = a}, right = {.node = b};
    const gphi_update_clash found = judge(&left, &right, 0);
    return CHECK(found.rule == rule) && CHECK(strcmp(found.field, field) == 0) &&
           CHECK(strcmp(found.before, found.after) != 0);
}

static void a_kernel_keeps_its_context_and_what_it_is(void)
{
    gph_node a = kernel(), b = kernel();
    b.u.kernel.handle = 0x20;
    b.u.kernel.grid[0] = 9;
    b.u.kernel.priority = 0;
    CHECK(fits(&a, &b));
    b.u.kernel.context = 0; /* unknown */
    CHECK(fits(&a, &b));
    b.u.kernel.context = 0xd0;
    CHECK(clashes(&a, &b, GPHI_UPDATE_KERNEL_CONTEXT, "context"));
    b = kernel();
    b.u.kernel.cooperative = 1;
    CHECK(clashes(&a, &b, GPHI_UPDATE_COOPERATIVE, "cooperative"));
}

static void a_priority_counts_where_it_is_used(void)
{
    gph_node a = kernel(), b = kernel();
    b.u.kernel.priority = 0;
    const gphi_update_side left = {.node = &a}, right = {.node = &b};
    const gphi_update_clash found =
        judge(&left, &right, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
    CHECK(found.rule == GPHI_UPDATE_PRIORITY && strcmp(found.before, "-1") == 0);
}

static void a_copy_keeps_its_types_and_its_rows(void)
{
    gph_node a = copy(1, 1), b = copy(1, 1);
    b.u.memcpy.width_bytes = 4;
    b.u.memcpy.dst.address = 1;
    b.u.memcpy.height = 0; /* a row as well */
    CHECK(fits(&a, &b));
    b = copy(2, 1);
    CHECK(clashes(&a, &b, GPHI_UPDATE_COPY_ROWS, "height"));
    a = copy(2, 1);
    CHECK(fits(&a, &b));
    b.u.memcpy.src.address++;
    CHECK(clashes(&a, &b, GPHI_UPDATE_COPY_ROWS, "src.address"));
    b = copy(2, 1);
    b.u.memcpy.width_bytes++;
    CHECK(clashes(&a, &b, GPHI_UPDATE_COPY_ROWS, "width_bytes"));
    b = copy(2, 1);
    b.u.memcpy.src.memory = GPH_MEMORY_UNIFIED;
    CHECK(clashes(&a, &b, GPHI_UPDATE_COPY_TYPE, "src.memory"));
}

/* The driver compares where the first byte is, not how it is said. */
static void a_copy_of_rows_begins_at_its_first_byte(void)
{
    gph_node a = copy(2, 1), b = copy(2, 1);
    b.u.memcpy.dst.address = 0x7000 - 256 - 16;
    b.u.memcpy.dst.y = 1;
    b.u.memcpy.dst.x_bytes = 16;
    CHECK(fits(&a, &b));
    b.u.memcpy.dst.x_bytes = 17;
    CHECK(clashes(&a, &b, GPHI_UPDATE_COPY_ROWS, "dst.address"));
    b = copy(2, 1);
    b.name = "a name is not a parameter";
    b.u.memcpy.dst.height = 99; /* of no account in one plane */
    CHECK(fits(&a, &b));
    a = copy(2, 3);
    b.u.memcpy.depth = 3;
    CHECK(clashes(&a, &b, GPHI_UPDATE_COPY_ROWS, "dst.height"));
}

static void an_array_of_rows_keeps_its_offsets(void)
{
    gph_node a = copy(2, 1);
    a.u.memcpy.dst.memory = GPH_MEMORY_ARRAY;
    gph_node b = a;
    b.u.memcpy.dst.pitch_bytes = 1;
    CHECK(fits(&a, &b));
    b.u.memcpy.dst.y = 1;
    CHECK(clashes(&a, &b, GPHI_UPDATE_COPY_ROWS, "dst.y"));
}

static void an_operand_stays_in_memory_of_its_sort(void)
{
    gph_node node = copy(1, 1);
    gphi_update_side a = {.node = &node, .context = 0xc0}, b = a;
    a.dst.backing = GPHI_BACKING_CONTEXT;
    CHECK(judge(&a, &b, 0).rule == GPHI_UPDATE_FITS); /* b's is unknown */
    b.dst.backing = GPHI_BACKING_POOL;
    CHECK(judge(&a, &b, 0).rule == GPHI_UPDATE_COPY_BACKING);
    b.dst = a.dst;
    b.dst.context = 0xd0; /* which a destination may change */
    a.dst.context = 0xc0;
    CHECK(judge(&a, &b, 0).rule == GPHI_UPDATE_FITS);
    a.src.context = 0xc0;
    b.src.context = 0xd0;
    CHECK(judge(&a, &b, 0).rule == GPHI_UPDATE_OPERAND_CONTEXT);
    b.src.context = 0; /* host memory: of the copy's own context */
    CHECK(judge(&a, &b, 0).rule == GPHI_UPDATE_FITS);
    b.context = 0xd0;
    CHECK(judge(&a, &b, 0).rule == GPHI_UPDATE_OPERAND_CONTEXT);
    a.src.context = 0;
    CHECK(judge(&a, &b, 0).rule == GPHI_UPDATE_FITS);
}

static void a_fill_keeps_its_rows(void)
{
    gph_node a = fill(1), b = fill(1);
    b.u.memset.address = b.u.memset.width = 7;
    b.u.memset.element_bytes = 1;
    CHECK(fits(&a, &b));
    b = fill(3);
    CHECK(clashes(&a, &b, GPHI_UPDATE_FILL_ROWS, "height"));
    a = fill(3);
    b.u.memset.address = 7;
    CHECK(fits(&a, &b));
    b.u.memset.element_bytes = 2;
    CHECK(clashes(&a, &b, GPHI_UPDATE_FILL_ROW, "element_bytes"));
    b.u.memset.width = 2;
    CHECK(clashes(&a, &b, GPHI_UPDATE_FILL_ROW, "width"));
}

static void a_fill_stays_in_memory_that_is_there(void)
{
    gph_node from = fill(1), to = fill(1);
    to.u.memset.address = 0x8000;
    gphi_update_side a = {.node = &from}, b = {.node = &to};
    a.dst.is_freed = b.dst.is_freed = true;
    CHECK(judge(&a, &b, 0).rule == GPHI_UPDATE_FILL_FREED);
    b.dst.is_nowhere = true;
    CHECK(judge(&a, &b, 0).rule == GPHI_UPDATE_FILL_NOWHERE);
    b.dst = (gphi_operand){.context = 0xd0};
    a.dst = (gphi_operand){.context = 0xc0};
    CHECK(judge(&a, &b, 0).rule == GPHI_UPDATE_OPERAND_CONTEXT);
}

static void a_batch_keeps_number_kinds_and_context(void)
{
    const gph_mem_op ops[] = {{.operation = 1, .value = 5}, {.operation = 2}};
    const gph_mem_op other[] = {{.operation = 1, .value = 6}, {.operation = 2}};
    const gph_mem_op kinds[] = {{.operation = 1}, {.operation = 4}};
    gph_node a = batch(ops, 2), b = batch(other, 2);
    CHECK(fits(&a, &b));
    b = batch(ops, 1);
    CHECK(clashes(&a, &b, GPHI_UPDATE_BATCH, "ops"));
    b = batch(kinds, 2);
    CHECK(clashes(&a, &b, GPHI_UPDATE_BATCH, "ops.operation"));
    b = batch(ops, 2);
    b.u.batch.context = 0xd0;
    CHECK(clashes(&a, &b, GPHI_UPDATE_BATCH, "context"));
}

static void semaphores_keep_their_number(void)
{
    gph_node a = {.kind = GPH_NODE_SEMAPHORE_WAIT, .u.semaphore = {.count = 1}}, b = a;
    CHECK(fits(&a, &b));
    b.u.semaphore.count = 2;
    CHECK(clashes(&a, &b, GPHI_UPDATE_SEMAPHORES, "count"));
}

static void every_rule_has_words(void)
{
    for (gphi_update_rule rule = GPHI_UPDATE_FITS + 1; rule < GPHI_UPDATE_RULE_COUNT;
         rule++) {
        const gphi_update_words *words = gphi_update_words_of(rule);
        CHECK(words->number[0] != '\0' && words->text[0] != '\0');
        CHECK(words->result != CU_GRAPH_EXEC_UPDATE_SUCCESS);
    }
}

int main(void)
{
    RUN(a_kernel_keeps_its_context_and_what_it_is);
    RUN(a_priority_counts_where_it_is_used);
    RUN(a_copy_keeps_its_types_and_its_rows);
    RUN(a_copy_of_rows_begins_at_its_first_byte);
    RUN(an_array_of_rows_keeps_its_offsets);
    RUN(an_operand_stays_in_memory_of_its_sort);
    RUN(a_fill_keeps_its_rows);
    RUN(a_fill_stays_in_memory_that_is_there);
    RUN(a_batch_keeps_number_kinds_and_context);
    RUN(semaphores_keep_their_number);
    RUN(every_rule_has_words);
    return test_done();
}
