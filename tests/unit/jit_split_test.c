// SPDX-License-Identifier: Apache-2.0
/* The texts that a large kernel's IR becomes before LLVM gets it: functions of regions
 * merged, and batches of them. That LLVM takes them, and the bytes of results, are
 * kernel_bound_test's. */
#include "test.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/jit/merge.h"
#include "softcuda/jit/split.h"

#define REGION(name, constant, offset, factor)                                           \
    "define internal i1 @\"b.k." name "\"(ptr %in0, i32 %a1) noinline nounwind {\n"      \
    "  %a2 = add i32 %a1, " constant "\n"                                                \
    "  %a3 = getelementptr i8, ptr %in0, i64 " offset "\n"                               \
    "  %a4 = shl i32 %a2, " factor "\n  store i32 %a4, ptr %a3\n"                        \
    "  %a5 = add nuw nsw i32 %a1, 1\n  ret i1 false\n}\n\n"

static const char text[] =
    "declare void @ptx_rt_safepoint(ptr) nounwind\n"
    "define internal i32 @x_one(i32 %0) alwaysinline nounwind {\n  ret i32 %0\n}\n\n"
    "define void @\"b.k\"(ptr %block) noinline #0 {\n"
    "  %back.1 = call i1 @\"b.k.R1\"(ptr %u.1, i32 %threads)\n"
    "  %back.22 = call i1 @\"b.k.R22\"(ptr %u.2, i32 %threads)\n"
    "  %back.3 = call i1 @\"b.k.R3\"(ptr %u.1, i32 %threads)\n"
    "  %back.4 = call i1 @\"b.k.R22\"(ptr %u.3, i32 %threads)\n  ret void\n}\n\n" REGION(
        "R1", "-7", "16", "2") REGION("R22", "12", "3000000000", "2")
        REGION("R3", "12", "16", "3") "@\"g.v\" = external global i8\n\nattributes #0 = "
                                      "{ nounwind }\n!1 = distinct !{}\n";

static bool has(const char *whole, const char *part)
{
    if (strstr(whole, part))
        return true;
    fprintf(stderr, "not in:\n%s\n", whole);
    return false;
}

static char *merged(void)
{
    size_t bytes = strlen(text);
    char *out = soft_merge(text, &bytes);
    CHECK(out && strlen(out) == bytes);
    return out;
}

static void functions_that_differ_by_constants_are_merged(void)
{
    char *out = merged();
    if (!out)
        return;
    CHECK(has(out, "@\"b.k.R1\"(ptr %in0, i32 %a1, i32 %k0, i64 %k1) noinline"));
    CHECK(has(out, "  %a2 = add i32 %a1, %k0\n"));
    CHECK(has(out, "  %a3 = getelementptr i8, ptr %in0, i64 %k1\n"));
    CHECK(has(out, "  %back.1 = call i1 @\"b.k.R1\"(ptr %u.1, i32 %threads, i32 -7, i64 "
                   "16)\n"));
    CHECK(has(out, "  %back.22 = call i1 @\"b.k.R1\"(ptr %u.2, i32 %threads, i32 12, i64 "
                   "3000000000)\n"));
    CHECK(has(out, "  %back.4 = call i1 @\"b.k.R1\"(ptr %u.3, i32 %threads, i32 12, i64 "
                   "3000000000)\n"));
    CHECK(strstr(out, "b.k.R22") == NULL);
    /* a shift is no such constant, and a function for itself stays as it is */
    CHECK(has(out, REGION("R3", "12", "16", "3")));
    CHECK(has(out, "call i1 @\"b.k.R3\"(ptr %u.1, i32 %threads)\n"));
    CHECK(has(out, "%a5 = add nuw nsw i32 %a1, 1\n"));
    CHECK(has(out, "!1 = distinct !{}\n"));
    free(out);
}

static void what_has_no_equals_stays(void)
{
    static const char one[] = "define void @\"b.k\"(ptr %block) {\n"
                              "  ret void\n}\n\n" REGION("R1", "1", "2", "3");
    size_t bytes = strlen(one);
    CHECK(soft_merge(one, &bytes) == NULL && bytes == strlen(one));
    bytes = 0;
    CHECK(soft_merge("", &bytes) == NULL);
}

static void batches_have_what_they_need(void)
{
    const size_t bytes = strlen(text);
    soft_split *split = soft_split_create(text, bytes, 200, 8);
    if (!CHECK(split != NULL))
        return;
    CHECK(soft_split_count(split) ==
          1 + (3 * (strlen(REGION("R1", "-7", "16", "2"))) + 199) / 200);
    size_t length;
    char *kernel = soft_split_text(split, 0, &length);
    CHECK(kernel && strlen(kernel) == length);
    CHECK(has(kernel, "define void @\"b.k\"(ptr %block)"));
    CHECK(has(kernel,
              "declare hidden i1 @\"b.k.R1\"(ptr %in0, i32 %a1) noinline nounwind"));
    CHECK(strstr(kernel, "%a2 = add") == NULL && has(kernel, "\n!1 = distinct"));
    uint32_t regions = 0;
    for (uint32_t i = 1; i < soft_split_count(split); i++) {
        char *batch = soft_split_text(split, i, &length);
        if (!CHECK(batch && strlen(batch) == length))
            continue;
        for (const char *at = batch; (at = strstr(at, "define hidden i1")) != NULL; at++)
            regions++;
        CHECK(strstr(batch, "@\"b.k\"(") == NULL && has(batch, "@x_one"));
        CHECK(has(batch, "@\"g.v\"") && has(batch, "attributes #0"));
        free(batch);
    }
    CHECK(regions == 3);
    free(kernel);
    soft_split_destroy(split);
}

static void what_is_small_or_has_no_regions_is_one(void)
{
    static const char plain[] = "define void @\"b.k\"(ptr %block) {\n  ret void\n}\n";
    CHECK(soft_split_create(text, strlen(text), strlen(text), 8) == NULL);
    CHECK(soft_split_create(text, strlen(text), 200, 1) == NULL);
    CHECK(soft_split_create(plain, strlen(plain), 4, 8) == NULL);
    soft_split_destroy(NULL);
}

int main(void)
{
    RUN(functions_that_differ_by_constants_are_merged);
    RUN(what_has_no_equals_stays);
    RUN(batches_have_what_they_need);
    RUN(what_is_small_or_has_no_regions_is_one);
    return test_done();
}
