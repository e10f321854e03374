// SPDX-License-Identifier: Apache-2.0
/* Two tiers: quick code runs first, the best is made beside the program and takes over
 * between blocks with the same bytes; the cache keeps it; bindings may go meanwhile. */
#include "kernel_run.h"
#include "test.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"
#include "softcuda/kernel/tier.h"

#define BLOCK 64u
#define GRID 32u
#define THREADS (BLOCK * GRID)

static gph_error error;
static char folder[] = "/tmp/kernel_tier_XXXXXX";

/* A loop of n rounds around `length` steps, with a barrier and a shuffle in it. */
static char *make_kernel(uint32_t length)
{
    char *text = malloc(2000 + 60 * (size_t)length);
    if (text == NULL)
        abort();
    size_t at = (size_t)sprintf(
        text,
        ".version 7.0\n.target sm_80\n.address_size 64\n.shared .b32 s[%u];\n"
        ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n.reg .pred %%p<3>;\n"
        ".reg .b32 %%r<16>;\n.reg .b64 %%rd<4>;\nld.param.u64 %%rd1, [p];\n"
        "ld.param.u32 %%r1, [n];\nmov.u32 %%r2, %%tid.x;\nmov.u32 %%r5, %%ctaid.x;\n"
        "mad.lo.u32 %%r3, %%r5, %u, %%r2;\nmul.wide.u32 %%rd2, %%r3, 4;\n"
        "add.s64 %%rd1, %%rd1, %%rd2;\nmov.u32 %%r6, s;\nshl.b32 %%r7, %%r2, 2;\n"
        "add.u32 %%r6, %%r6, %%r7;\nmov.u32 %%r4, 7;\nL:\n"
        "st.shared.u32 [%%r6], %%r3;\nbar.sync 0;\n"
        "shfl.sync.bfly.b32 %%r8, %%r3, 5, 31, -1;\nxor.b32 %%r3, %%r3, %%r8;\n",
        BLOCK, BLOCK);
    for (uint32_t i = 0; i < length; i++)
        at += (size_t)sprintf(text + at, "mad.lo.u32 %%r%u, %%r%u, 1664525, %u;\n",
                              3 + i % 2, 4 - i % 2, i);
    sprintf(text + at,
            "sub.u32 %%r1, %%r1, 1;\nsetp.ne.u32 %%p1, %%r1, 0;\n@%%p1 bra L;\n"
            "st.global.u32 [%%rd1], %%r3;\nret;\n}\n");
    return text;
}

static void run_on(kernel_unit *unit, uint32_t n, uint32_t *out)
{
    const struct {
        void *out;
        uint32_t n;
    } params = {out, n};
    const kernel_call call = {.name = "k", .grid = {GRID}, .block = {BLOCK}};
    CHECK_OK(kernel_run(unit, &call, &params, &error), error);
}

static kernel_unit *open_as(const char *tier, const char *text, int flags)
{
    setenv("SOFTCUDA_TIER", tier, 1);
    kernel_unit *unit = kernel_open(text, flags, &error);
    CHECK(unit != NULL);
    return unit;
}

static void run_as(const char *tier, const char *text, uint32_t n, uint32_t *out)
{
    kernel_unit *unit = open_as(tier, text, KERNEL_FAST);
    if (unit)
        run_on(unit, n, out);
    kernel_close(unit);
}

static uint64_t swapped(void)
{
    uint64_t count, unmapped;
    soft_tiers_count(&count, &unmapped);
    return count;
}

static uint64_t unmapped(void)
{
    uint64_t count, gone;
    soft_tiers_count(&count, &gone);
    return gone;
}

static uint64_t compiled(void)
{
    soft_code_counts counts;
    soft_code_count(&counts);
    return counts.compiled;
}

static bool has_two_cpus(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 1;
}

static void the_best_takes_over_with_the_same_bytes(void)
{
    static uint32_t best[THREADS], out[THREADS];
    char *text = make_kernel(40);
    run_as("best", text, 3, best);
    kernel_unit *unit = open_as("soon", text, KERNEL_FAST);
    const uint64_t before = swapped(), gone = unmapped(), made = compiled();
    for (int i = 0; unit && i < 200 && swapped() == before; i++) {
        memset(out, 0, sizeof(out));
        run_on(unit, 3, out);
        if (!CHECK(memcmp(out, best, sizeof(best)) == 0))
            break;
    }
    soft_tiers_settle();
    CHECK(swapped() == before + 1 && compiled() == made + 2);
    run_on(unit, 3, out);
    CHECK(memcmp(out, best, sizeof(best)) == 0);
    CHECK(unmapped() == gone + 1);
    run_on(unit, 3, out);
    CHECK(memcmp(out, best, sizeof(best)) == 0);
    CHECK(swapped() == before + 1 && unmapped() == gone + 1 && compiled() == made + 2);
    kernel_close(unit);
    free(text);
}

/* A launch that was filled before: what an executable graph has. */
static void an_old_launch_takes_the_new_code(void)
{
    static uint32_t out[THREADS], again[THREADS];
    char *text = make_kernel(30);
    kernel_unit *unit = open_as("soon", text, KERNEL_FAST);
    const soft_kernel_code *code = unit ? soft_binding_find(unit->binding, "k") : NULL;
    const uint64_t before = swapped(), gone = unmapped();
    if (!CHECK(code != NULL))
        return;
    _Alignas(16) struct {
        void *out;
        uint32_t n;
    } params = {again, 3};
    const soft_kernel_env_options options = {.user = unit};
    const soft_kernel_dims dims = {.grid = {GRID, 1, 1}, .block = {BLOCK, 1, 1}};
    static soft_kernel_launch launch;
    CHECK_OK(soft_kernel_env_create(&options, &unit->env, &error), error);
    if (!CHECK_OK(soft_kernel_ready(code, &error), error) ||
        !CHECK_OK(
            soft_kernel_launch_init(&launch, unit->env, code, &dims, &params, &error),
            error))
        return;
    soft_kernel_env *env = unit->env;
    run_on(unit, 3, out);
    soft_tiers_settle();
    CHECK(swapped() == before + 1);
    soft_work work = {.kind = SOFT_WORK_PARTS};
    soft_kernel_launch_work(&launch, &work);
    CHECK_OK(kernel_run_work(unit, &work, &error), error);
    CHECK(memcmp(out, again, sizeof(out)) == 0 && unmapped() == gone + 1);
    soft_kernel_env_destroy(env);
    kernel_close(unit);
    free(text);
}

static void a_second_process_finds_the_best(void)
{
    static uint32_t out[THREADS], again[THREADS];
    char *text = make_kernel(50);
    setenv("SOFTCUDA_CACHE", folder, 1);
    kernel_unit *unit = open_as("soon", text, KERNEL_CACHE);
    if (unit)
        run_on(unit, 3, out);
    soft_tiers_settle();
    kernel_close(unit);
    const uint64_t before = swapped(), made = compiled();
    unit = open_as("soon", text, KERNEL_CACHE);
    if (unit)
        run_on(unit, 3, again);
    soft_tiers_settle();
    CHECK(memcmp(out, again, sizeof(out)) == 0);
    CHECK(compiled() == made && swapped() == before);
    CHECK(unit && soft_binding_find(unit->binding, "k")->tier == NULL);
    kernel_close(unit);
    unsetenv("SOFTCUDA_CACHE");
    free(text);
}

/* It was quick there, and is made better here: the object of the quick one is known. */
static void a_second_process_goes_on_where_the_first_ended(void)
{
    static uint32_t out[THREADS];
    char *text = make_kernel(60);
    setenv("SOFTCUDA_CACHE", folder, 1);
    kernel_unit *unit = open_as("soon", text, KERNEL_CACHE);
    if (unit)
        CHECK_OK(soft_kernel_ready(soft_binding_find(unit->binding, "k"), &error), error);
    kernel_close(unit);
    const uint64_t before = swapped(), made = compiled();
    unit = open_as("soon", text, KERNEL_CACHE);
    if (unit)
        run_on(unit, 3, out);
    soft_tiers_settle();
    CHECK(compiled() == made + 1 && swapped() == before + 1);
    kernel_close(unit);
    unsetenv("SOFTCUDA_CACHE");
    free(text);
}

static void a_binding_may_go_before_its_code_is_made(void)
{
    static uint32_t out[THREADS];
    for (uint32_t i = 0; i < 6; i++) {
        char *text = make_kernel(20 + i);
        run_as("soon", text, 1, out);
        free(text);
    }
    soft_tiers_settle();
    CHECK(out[1] != 0);
}

/* Only what takes long to make, and has run for long. */
static void rare_and_small_kernels_stay_as_they_are(void)
{
    static uint32_t best[THREADS], out[THREADS];
    char *small = make_kernel(20), *large = make_kernel(400);
    unsetenv("SOFTCUDA_WORKERS");
    const uint64_t before = swapped();
    kernel_unit *unit = open_as("auto", small, KERNEL_FAST);
    if (unit && has_two_cpus()) {
        run_on(unit, 3, out);
        CHECK(soft_binding_find(unit->binding, "k")->tier == NULL);
    }
    kernel_close(unit);
    run_as("best", large, 100, best);
    unit = open_as("auto", large, KERNEL_FAST);
    if (unit && has_two_cpus()) {
        run_on(unit, 1, out);
        soft_tiers_settle();
        CHECK(soft_binding_find(unit->binding, "k")->tier != NULL);
        CHECK(swapped() == before);
        for (int i = 0; i < 2000 && swapped() == before; i++)
            run_on(unit, 100, out);
        soft_tiers_settle();
        CHECK(swapped() == before + 1);
        CHECK(memcmp(out, best, sizeof(best)) == 0);
    }
    kernel_close(unit);
    free(small);
    free(large);
}

static void one_worker_has_nobody_beside_it(void)
{
    soft_code_options options;
    unsetenv("SOFTCUDA_TIER");
    setenv("SOFTCUDA_WORKERS", "1", 1);
    soft_code_options_init(&options);
    CHECK(options.tier == SOFT_TIER_SIZE);
    setenv("SOFTCUDA_TIER", "best", 1);
    soft_code_options_init(&options);
    CHECK(options.tier == SOFT_TIER_BEST);
    unsetenv("SOFTCUDA_WORKERS");
}

/* Ends while the best is being made, or waits to be. */
static void a_process_may_end_meanwhile(void)
{
    static uint32_t out[THREADS];
    static char *texts[3]; /* the process ends with them */
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        for (uint32_t i = 0; i < 3; i++) {
            texts[i] = make_kernel(100 + i);
            run_as("soon", texts[i], 1, out);
        }
        exit(out[1] != 0 ? 0 : 1);
    }
    int status = 1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

/* Steps with a barrier each, no two alike: the best takes seconds. */
static char *make_long_kernel(uint32_t steps)
{
    char *text = malloc(2000 + 300 * (size_t)steps);
    if (text == NULL)
        abort();
    size_t at = (size_t)sprintf(
        text,
        ".version 7.0\n.target sm_80\n.address_size 64\n.shared .b32 s[%u];\n"
        ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n.reg .pred %%p<3>;\n"
        ".reg .b32 %%r<16>;\n.reg .b64 %%rd<4>;\nld.param.u64 %%rd1, [p];\n"
        "mov.u32 %%r2, %%tid.x;\nmov.u32 %%r5, %%ctaid.x;\n"
        "mad.lo.u32 %%r3, %%r5, %u, %%r2;\nmul.wide.u32 %%rd2, %%r3, 4;\n"
        "add.s64 %%rd1, %%rd1, %%rd2;\nmov.u32 %%r6, s;\nshl.b32 %%r7, %%r2, 2;\n"
        "add.u32 %%r6, %%r6, %%r7;\nxor.b32 %%r9, %%r6, 28;\n",
        BLOCK, BLOCK);
    for (uint32_t i = 0; i < steps; i++)
        at += (size_t)sprintf(
            text + at,
            "st.shared.u32 [%%r6], %%r3;\nbar.sync 0;\nld.shared.u32 %%r8, [%%r9];\n"
            "mad.lo.u32 %%r3, %%r3, %u, %%r8;\nbar.sync 0;\nxor.b32 %%r3, %%r3, %u;\n",
            i * 8 + 5, i * 77);
    sprintf(text + at, "st.global.u32 [%%rd1], %%r3;\nret;\n}\n");
    return text;
}

static uint64_t cpu_us(const struct rusage *used)
{
    return (uint64_t)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000 +
           (uint64_t)(used->ru_utime.tv_usec + used->ru_stime.tv_usec);
}

/* What a process that runs the kernel once takes, and of it what it takes to end. */
static uint64_t cost_of_a_process(const char *tier, const char *text, uint64_t *ending)
{
    static uint32_t out[THREADS];
    struct rusage before = {.ru_utime.tv_sec = 0}, all;
    int ends[2], status = 1;
    if (!CHECK(pipe(ends) == 0))
        return 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        run_as(tier, text, 1, out);
        usleep(50000); /* the best has begun, most of the time */
        getrusage(RUSAGE_SELF, &before);
        exit(write(ends[1], &before, sizeof(before)) == sizeof(before) ? 0 : 1);
    }
    close(ends[1]);
    CHECK(child > 0 && read(ends[0], &before, sizeof(before)) == sizeof(before));
    close(ends[0]);
    CHECK(wait4(child, &status, 0, &all) == child && status == 0);
    *ending = cpu_us(&all) - cpu_us(&before);
    return cpu_us(&all);
}

/* In processor time, which a busy machine does not stretch. */
static void a_process_ends_soon(void)
{
    char *text = make_long_kernel(80);
    uint64_t ending;
    const uint64_t best = cost_of_a_process("best", text, &ending);
    cost_of_a_process("soon", text, &ending);
    printf("the best takes %llu us, a process that ends meanwhile %llu\n",
           (unsigned long long)best, (unsigned long long)ending);
    CHECK(ending < best / 3);
    free(text);
}

/* LLVM takes away at the end what it made when it first worked, here as it makes the best
 * for a process that has found its quick code. */
static void processes_end_while_llvm_works(void)
{
    enum { PROCESSES = 24 };
    static uint32_t out[THREADS];
    char *text = make_long_kernel(60);
    for (int i = 0; i < PROCESSES; i++) {
        int status = 1;
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            run_as("soon", text, 1, out);
            usleep((useconds_t)(i * 3000));
            exit(0);
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
    free(text);
}

static void survives_every_failed_allocation(void)
{
    char *text = make_kernel(20);
    setenv("SOFTCUDA_TIER", "soon", 1);
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        soft_code_options options;
        soft_code_options_init(&options);
        options.cache = folder;
        options.allocator = &allocator;
        soft_code *code = NULL;
        soft_binding *binding = NULL;
        gph_status status = soft_code_create(text, 0, &options, &code, &error);
        if (status == GPH_OK)
            status = soft_binding_create(code, NULL, &binding, &error);
        if (status == GPH_OK)
            status = soft_kernel_ready(soft_binding_kernel(binding, 0), &error);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK(status != GPH_OK || soft_binding_kernel(binding, 0)->tier != NULL);
        soft_binding_destroy(binding);
        soft_code_release(code);
        if (!CHECK(atomic_load(&heap.live_bytes) == 0) || status == GPH_OK)
            break;
    }
    free(text);
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        return 1;
    RUN(a_process_may_end_meanwhile);
    RUN(a_process_ends_soon);
    RUN(processes_end_while_llvm_works);
    RUN(the_best_takes_over_with_the_same_bytes);
    RUN(an_old_launch_takes_the_new_code);
    RUN(a_second_process_finds_the_best);
    RUN(a_second_process_goes_on_where_the_first_ended);
    RUN(a_binding_may_go_before_its_code_is_made);
    RUN(rare_and_small_kernels_stay_as_they_are);
    RUN(one_worker_has_nobody_beside_it);
    RUN(survives_every_failed_allocation);
    char command[96];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command) == 0 ? test_done() : 1;
}
