// SPDX-License-Identifier: Apache-2.0
/* What debuggers and schedulers ask a driver: settings of core dumps, and what a device has
 * to be divided. As an H100 answers. */
#include "driver.h"

static CUcontext context;

static void core_dump_settings_have_their_sizes(void)
{
    size_t bytes;
    for (int which = 1; which <= 7; which++) {
        static const size_t expected[] = {0, 1, 1, 1, 0, 1024, 0, 4};
        bytes = 77;
        const CUresult status =
            cu.cuCoredumpGetAttribute((CUcoredumpSettings)which, NULL, &bytes);
        CHECK_IS(status, expected[which] ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
        CHECK(bytes == (expected[which] ? expected[which] : 77));
    }
    /* cuCoredumpGetAttributeGlobal() of NVIDIA's driver (580) fills 1,023 bytes, whatever
     * size it is given. */
    char text[1024] = "before";
    bytes = sizeof(text);
    OK(cu.cuCoredumpGetAttribute(CU_COREDUMP_FILE, text, &bytes));
    CHECK(bytes == sizeof(text) && text[0] == '\0');
    OK(cu.cuCoredumpGetAttributeGlobal(CU_COREDUMP_PIPE, text, &bytes));
    REFUSED(INVALID_VALUE, cu.cuCoredumpGetAttribute(CU_COREDUMP_PIPE, text, &bytes));
    REFUSED(INVALID_VALUE,
            cu.cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, text, &bytes));
    REFUSED(INVALID_VALUE,
            cu.cuCoredumpGetAttribute((CUcoredumpSettings)99, text, &bytes));
    REFUSED(INVALID_VALUE, cu.cuCoredumpGetAttribute(CU_COREDUMP_FILE, text, NULL));
}

static void core_dump_settings_are_kept_by_context(void)
{
    unsigned char on = 1, is = 0;
    int wide = 1;
    size_t bytes = 1;
    char file[] = "/tmp/dump", text[1024];
    OK(cu.cuCoredumpSetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &on, &bytes));
    bytes = sizeof(wide);
    REFUSED(INVALID_VALUE,
            cu.cuCoredumpSetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &wide, &bytes));
    bytes = 1;
    OK(cu.cuCoredumpGetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &is, &bytes));
    CHECK(is == 1 && bytes == 1);
    on = 0;
    OK(cu.cuCoredumpSetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &on, &bytes));
    OK(cu.cuCoredumpGetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &is, &bytes));
    CHECK(is == 0);
    /* What is set for all reaches contexts to come, not this one. */
    bytes = sizeof(file);
    OK(cu.cuCoredumpSetAttributeGlobal(CU_COREDUMP_FILE, file, &bytes));
    bytes = sizeof(text);
    OK(cu.cuCoredumpGetAttribute(CU_COREDUMP_FILE, text, &bytes));
    CHECK(text[0] == '\0');
    bytes = sizeof(file);
    OK(cu.cuCoredumpSetAttribute(CU_COREDUMP_FILE, file, &bytes));
}

static void multiprocessors_are_a_resource(void)
{
    CUdevResource all, of, part[4], rest;
    int count = 0;
    memset(&all, 0, sizeof(all));
    OK(cu.cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    OK(cu.cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    CHECK(all.type == CU_DEV_RESOURCE_TYPE_SM && all.sm.smCount == (unsigned)count);
    CHECK(all.sm.minSmPartitionSize == 8 && all.sm.smCoscheduledAlignment == 8);
    OK(cu.cuCtxGetDevResource(context, &of, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(of.sm.smCount == all.sm.smCount);
    REFUSED(INVALID_RESOURCE_TYPE,
            cu.cuDeviceGetDevResource(0, &of, CU_DEV_RESOURCE_TYPE_INVALID));
    REFUSED(INVALID_RESOURCE_TYPE,
            cu.cuDeviceGetDevResource(0, &of, (CUdevResourceType)77));
    unsigned groups = 1;
    REFUSED(INVALID_RESOURCE_CONFIGURATION,
            cu.cuDevSmResourceSplitByCount(part, &groups, &all, &rest, 0, 1000));
    groups = 4;
    OK(cu.cuDevSmResourceSplitByCount(part, &groups, &all, &rest, 0, 8));
    CHECK(groups == 4 && part[3].sm.smCount == 8 && rest.sm.smCount == 100);
    groups = 2;
    OK(cu.cuDevSmResourceSplitByCount(part, &groups, &all, &rest, 0, 5));
    CHECK(groups == 2 && part[0].sm.smCount == 8 && rest.sm.smCount == 116);
}

/* An H100 makes 15 groups of 8 out of its 132 multiprocessors: some of its clusters of them
 * have no room for two. How many that are is its own. */
static void a_split_without_room_is_counted(void)
{
    CUdevResource all;
    unsigned groups = 0;
    OK(cu.cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    OK(cu.cuDevSmResourceSplitByCount(NULL, &groups, &all, NULL, 0, 8));
    CHECK(groups == 15 || groups == 16);
}

int main(void)
{
    setenv("SOFTCUDA_MULTIPROCESSORS", "132", 0); /* an H100's */
    DEVICE_OR_SKIP();
    context = use_primary();
    RUN(core_dump_settings_have_their_sizes);
    RUN(core_dump_settings_are_kept_by_context);
    RUN(multiprocessors_are_a_resource);
    RUN(a_split_without_room_is_counted);
    return test_done();
}
