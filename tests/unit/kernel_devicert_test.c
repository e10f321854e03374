// SPDX-License-Identifier: Apache-2.0
/* The grid barrier of CUDA's device library, which modules declare and do not have. */
#include "kernel_run.h"
#include "test.h"

#include "fault.h"
#include "softcuda/kernel/load/fatbin.h"
#include "softcuda/ptx/link.h"

enum { BLOCKS = 6, THREADS = 64, ROUNDS = 5 };

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
#define DECLARED                                                                         \
    ".extern .func (.param .b64 h) cudaCGGetIntrinsicHandle(.param .b32 s);\n"           \
    ".extern .func (.param .b32 e) cudaCGSynchronize(.param .b64 h, .param .b32 f);\n"

/* Round by round each thread adds 1 to its place and reads that of the thread as far from
 * the end: out[i] is the sum of what it read; out of the last place: the barrier's error. */
#define KERNEL                                                                           \
    ".visible .entry rounds(.param .u64 out, .param .u64 at, .param .u32 scope)\n{\n"    \
    ".reg .b64 %rd<8>;\n.reg .b32 %r<16>;\n.reg .pred %p<3>;\n"                          \
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [at];\nld.param.u32 %r9, [scope];\n"  \
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"              \
    "mad.lo.u32 %r4, %r1, %r2, %r3;\nmov.u32 %r5, %nctaid.x;\n"                          \
    "mul.lo.u32 %r5, %r5, %r2;\nsub.u32 %r5, %r5, 1;\nsub.u32 %r5, %r5, %r4;\n"          \
    "mul.wide.u32 %rd3, %r4, 4;\nmul.wide.u32 %rd4, %r5, 4;\nadd.s64 %rd1, %rd1, "       \
    "%rd3;\n"                                                                            \
    "add.s64 %rd3, %rd2, %rd3;\nadd.s64 %rd4, %rd2, %rd4;\n"                             \
    "{\n.param .b32 s;\n.param .b64 h;\nst.param.b32 [s], %r9;\n"                        \
    "call.uni (h), cudaCGGetIntrinsicHandle, (s);\nld.param.b64 %rd5, [h];\n}\n"         \
    "mov.u32 %r6, 0;\nmov.u32 %r7, 0;\n"                                                 \
    "again:\nld.global.u32 %r8, [%rd3];\nadd.u32 %r8, %r8, 1;\nst.global.u32 [%rd3], "   \
    "%r8;\n" BARRIER "setp.ne.u32 %p2, %r10, 0;\n@%p2 bra refused;\n"                    \
    "ld.global.u32 %r8, [%rd4];\nadd.u32 %r7, %r7, %r8;\n" BARRIER                       \
    "add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 5;\n@%p1 bra again;\n"                  \
    "st.global.u32 [%rd1], %r7;\nret;\n"                                                 \
    "refused:\nadd.u32 %r10, %r10, 1000;\nst.global.u32 [%rd1], %r10;\nret;\n}\n"
#define BARRIER                                                                          \
    "{\n.param .b64 h;\n.param .b32 f;\n.param .b32 e;\nst.param.b64 [h], %rd5;\n"       \
    "st.param.b32 [f], 0;\ncall.uni (e), cudaCGSynchronize, (h, f);\n"                   \
    "ld.param.b32 %r10, [e];\n}\n"

static const char text[] = HEAD DECLARED KERNEL;
static gph_error error;

/* out[0] after a run; all others are the same. */
static uint32_t rounds(kernel_unit *unit, uint32_t scope, uint32_t cooperative)
{
    static uint32_t out[BLOCKS * THREADS], at[BLOCKS * THREADS];
    memset(out, 0, sizeof(out));
    memset(at, 0, sizeof(at));
    const struct {
        void *out, *at;
        uint32_t scope;
    } params = {out, at, scope};
    const kernel_call call = {.name = "rounds",
                              .grid = {BLOCKS},
                              .block = {THREADS},
                              .cooperative = cooperative};
    CHECK_OK(kernel_run(unit, &call, &params, &error), error);
    for (uint32_t i = 1; i < BLOCKS * THREADS; i++)
        CHECK(out[i] == out[0]);
    return out[0];
}

static void a_grid_waits_for_itself(void)
{
    for (int flags = KERNEL_FAST; flags <= KERNEL_SLOW; flags++) {
        kernel_unit *unit = kernel_open(text, flags, &error);
        if (!CHECK(unit != NULL)) {
            fprintf(stderr, "%s\n", error.message);
            continue;
        }
        CHECK(rounds(unit, 1, 1) == ROUNDS * (ROUNDS + 1) / 2);
        CHECK(rounds(unit, 1, 1) == ROUNDS * (ROUNDS + 1) / 2);
        kernel_close(unit);
    }
}

static void without_a_cooperative_launch_it_is_an_error(void)
{
    kernel_unit *unit = kernel_open(text, KERNEL_FAST, &error);
    if (!CHECK(unit != NULL))
        return;
    CHECK(rounds(unit, 1, 0) == 1001); /* cudaErrorInvalidValue */
    CHECK(rounds(unit, 0, 1) == 1001); /* a scope that is not the grid's */
    kernel_close(unit);
}

static void a_module_keeps_its_own(void)
{
    static const char own[] =
        HEAD ".visible .func (.param .b64 h) cudaCGGetIntrinsicHandle(.param .b32 s)\n"
             "{\nst.param.b64 [h], 0;\nret;\n}\n"
             ".extern .func (.param .b32 e) cudaCGSynchronize(.param .b64 h, .param .b32 "
             "f);\n" KERNEL;
    kernel_unit *unit = kernel_open(own, KERNEL_FAST, &error);
    if (!CHECK(unit != NULL))
        return;
    CHECK(rounds(unit, 1, 1) == 1001);
    kernel_close(unit);
}

static void linked_inputs_may_name_them(void)
{
    static const char other[] = HEAD ".visible .func nothing()\n{\nret;\n}\n";
    const ptx_link_input inputs[] = {{text, sizeof(text) - 1, "a"},
                                     {other, sizeof(other) - 1, "b"}};
    char *linked;
    size_t bytes;
    if (!CHECK_OK(ptx_link(inputs, 2, NULL, &linked, &bytes, &error), error))
        return;
    kernel_unit *unit = kernel_open(linked, KERNEL_FAST, &error);
    if (CHECK(unit != NULL))
        CHECK(rounds(unit, 1, 1) == ROUNDS * (ROUNDS + 1) / 2);
    kernel_close(unit);
    free(linked);
}

/* What nvcc wrote for <<< >>> in a kernel before CUDA 12: linked, and alone. */
static void the_first_dynamic_parallelism_is_refused_by_name(void)
{
    static const char parent[] =
        HEAD ".extern .func (.param .b32 e) cudaLaunchDeviceV2(.param .b64 b, "
             ".param .b64 s);\n"
             ".visible .entry k()\n{\n.reg .b64 %rd1;\nmov.u64 %rd1, 0;\n{\n"
             ".param .b64 b;\nst.param.b64 [b], %rd1;\n.param .b64 s;\n"
             "st.param.b64 [s], %rd1;\n.param .b32 e;\n"
             "call.uni (e), cudaLaunchDeviceV2, (b, s);\n}\nret;\n}\n";
    static const char other[] = HEAD ".visible .func nothing()\n{\nret;\n}\n";
    const ptx_link_input inputs[] = {{parent, sizeof(parent) - 1, "a"},
                                     {other, sizeof(other) - 1, "b"}};
    char *linked;
    size_t bytes;
    CHECK(ptx_link(inputs, 2, NULL, &linked, &bytes, &error) != GPH_OK);
    CHECK(strstr(error.message, "first dynamic parallelism"));
    ptx_module *module = NULL;
    ptx_program *program = NULL;
    if (CHECK_OK(ptx_parse(parent, sizeof(parent) - 1, NULL, &module, &error), error) &&
        CHECK_OK(ptx_compile(module, NULL, &program, &error), error)) {
        CHECK(program->kernels[0].path == PTX_PATH_UNSUPPORTED);
        CHECK(strstr(program->kernels[0].reason, "first dynamic parallelism"));
    }
    ptx_program_destroy(program);
    ptx_module_destroy(module);
}

static void every_failed_allocation_is_survived(void)
{
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        soft_ptx_text found = {.text = NULL};
        const gph_status status = soft_ptx_find(text, 0, &allocator, &found, &error);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK((found.text != NULL) == (status == GPH_OK));
        if (status == GPH_OK)
            soft_ptx_text_fini(&found);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (status == GPH_OK)
            return;
    }
}

int main(void)
{
    setenv("SOFTCUDA_JIT", KERNEL_RUN_JIT, 0);
    RUN(a_grid_waits_for_itself);
    RUN(without_a_cooperative_launch_it_is_an_error);
    RUN(a_module_keeps_its_own);
    RUN(linked_inputs_may_name_them);
    RUN(the_first_dynamic_parallelism_is_refused_by_name);
    RUN(every_failed_allocation_is_survived);
    return test_done();
}
