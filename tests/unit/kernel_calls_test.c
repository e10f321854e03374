// SPDX-License-Identifier: Apache-2.0
/* What kernels ask of the run time: printing, the device heap, assertions, clocks; blocks
 * and threads that wait for each other; each on both paths where both take it. */
#include "kernel_run.h"
#include "test.h"

#include <fcntl.h>
#include <unistd.h>

static const int paths[] = {KERNEL_FAST, KERNEL_SLOW};
static kernel_unit *units[2];
static gph_error error;

/* What a function writes to a file descriptor. */
static void catch_output(int descriptor, char *text, size_t bytes, void (*run)(int),
                         int path)
{
    char name[] = "/tmp/kernel_calls_XXXXXX";
    const int file = mkstemp(name), kept = dup(descriptor);
    fflush(NULL);
    dup2(file, descriptor);
    run(path);
    fflush(NULL);
    dup2(kept, descriptor);
    close(kept);
    const ssize_t n = pread(file, text, bytes - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    close(file);
    unlink(name);
}

static void run_print(int path)
{
    const kernel_call call = {.name = "print", .grid = {3}, .block = {32}};
    CHECK_OK(kernel_run(units[path], &call, NULL, &error), error);
}

static void kernels_print(void)
{
    for (int path = 0; path < 2; path++) {
        char text[512];
        catch_output(1, text, sizeof(text), run_print, path);
        CHECK(strcmp(text, "thread 0 half 0.00 text -5% 0xff|     7|\n"
                           "thread 1 half 0.50 text -5% 0xff|     7|\n") == 0);
    }
}

static void kernels_allocate(void)
{
    for (int path = 0; path < 2; path++) {
        static uint32_t out[1024];
        struct {
            void *out;
            uint32_t n;
        } params = {out, 100};
        kernel_call call = {.name = "heap", .block = {1024}};
        CHECK_OK(kernel_run(units[path], &call, &params, &error), error);
        for (uint32_t i = 0; i < 1024; i++)
            CHECK(out[i] == 100 * i + 4950);
        params.n = 16 << 20; /* more than the heap has */
        call.block[0] = 1;
        CHECK_OK(kernel_run(units[path], &call, &params, &error), error);
        CHECK(out[0] == 0);
        void *at = out;
        call = (kernel_call){.name = "wild_free", .block = {32}};
        CHECK(kernel_run(units[path], &call, &at, &error) == SOFT_ERROR_ILLEGAL_ADDRESS);
        CHECK(strstr(error.message, "free()") != NULL);
    }
}

static void run_check(int path)
{
    const uint32_t n = 70;
    const kernel_call call = {.name = "check", .grid = {4}, .block = {32}};
    CHECK(kernel_run(units[path], &call, &n, &error) == SOFT_ERROR_ASSERT);
}

static void a_failed_assertion_says_where(void)
{
    for (int path = 0; path < 2; path++) {
        char text[512];
        catch_output(2, text, sizeof(text), run_check, path);
        CHECK(strcmp(text, "file.cu:42: check(u32): block: [2,0,0], thread: [6,0,0] "
                           "Assertion `n is small` failed.\n") == 0);
        const soft_fault *fault = &units[path]->fault;
        CHECK(fault->ctaid[0] == 2 && fault->has_thread && fault->tid[0] == 6);
        CHECK(strstr(fault->text, "file.cu:42") && strstr(fault->text, "kernel check"));
    }
}

static void clocks_run_forward(void)
{
    for (int path = 0; path < 2; path++) {
        uint64_t out[3] = {0};
        void *at = out;
        const kernel_call call = {.name = "clocks"};
        CHECK_OK(kernel_run(units[path], &call, &at, &error), error);
        CHECK(out[2] > out[0]);
        CHECK(out[1] > 1600000000ull * 1000000000);
    }
}

static void blocks_wait_for_earlier_ones(void)
{
    enum { BLOCKS = 300 };
    for (uint32_t workers = 1; workers <= 4; workers += 3) {
        static uint32_t state[BLOCKS], out[BLOCKS];
        memset(state, 0, sizeof(state));
        const struct {
            void *state, *out;
        } params = {state, out};
        units[0]->workers = workers;
        const kernel_call call = {.name = "look_back", .grid = {BLOCKS}, .block = {32}};
        CHECK_OK(kernel_run(units[0], &call, &params, &error), error);
        for (uint32_t i = 0; i < BLOCKS; i++)
            CHECK(out[i] == i && state[i] == i + 1);
    }
    units[0]->workers = 0;
}

static void a_cooperative_grid_waits_for_all_its_blocks(void)
{
    enum { BLOCKS = 60 };
    for (uint32_t workers = 1; workers <= 4; workers++) {
        static uint32_t out[BLOCKS * 32];
        uint32_t count = 0;
        const struct {
            void *count, *out;
            uint32_t n;
        } params = {&count, out, BLOCKS};
        units[0]->workers = workers;
        const kernel_call call = {
            .name = "all_blocks", .grid = {BLOCKS}, .block = {32}, .cooperative = 1};
        CHECK_OK(kernel_run(units[0], &call, &params, &error), error);
        for (uint32_t i = 0; i < BLOCKS * 32; i++)
            CHECK(out[i] == BLOCKS);
    }
    units[0]->workers = 0;
}

static void threads_take_turns_at_a_lock(void)
{
    for (int path = 0; path < 2; path++) {
        uint32_t lock = 0, sum = 0;
        const struct {
            void *lock, *sum;
        } params = {&lock, &sum};
        const kernel_call call = {.name = "spin_lock", .grid = {8}, .block = {64}};
        CHECK_OK(kernel_run(units[path], &call, &params, &error), error);
        CHECK(sum == 8 * 64 && lock == 0);
    }
}

static void divergent_threads_meet(void)
{
    uint32_t out[32];
    void *at = out;
    const kernel_call call = {.name = "divergent", .block = {32}};
    CHECK(kernel_about(units[0], "divergent")->path == PTX_PATH_SLOW);
    CHECK_OK(kernel_run(units[0], &call, &at, &error), error);
    for (uint32_t i = 0; i < 32; i++)
        CHECK(out[i] == i * (i < 16 ? 2 : 3) + (i % 2 == 0));
}

static void local_memory_is_each_threads_own(void)
{
    static uint32_t out[2][96];
    for (int path = 0; path < 2; path++) {
        const struct {
            void *out;
            uint32_t n;
        } params = {out[path], 20};
        const kernel_call call = {.name = "local", .grid = {3}, .block = {32}};
        CHECK_OK(kernel_run(units[path], &call, &params, &error), error);
        for (uint32_t i = 0; i < 96; i++) {
            uint32_t sum = 0;
            for (uint32_t k = 0; k < 20; k++)
                sum = sum * 31 + i % 32 * k;
            CHECK(out[path][i] == sum);
        }
    }
}

int main(void)
{
    static char ptx[1 << 20];
    FILE *file = fopen(KERNEL_CALLS_PTX, "r");
    if (file == NULL || fread(ptx, 1, sizeof(ptx) - 1, file) == 0)
        return 1;
    fclose(file);
    for (int path = 0; path < 2; path++) {
        units[path] = kernel_open(ptx, paths[path], &error);
        if (units[path] == NULL) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
    }
    RUN(kernels_print);
    RUN(kernels_allocate);
    RUN(a_failed_assertion_says_where);
    RUN(clocks_run_forward);
    RUN(blocks_wait_for_earlier_ones);
    RUN(a_cooperative_grid_waits_for_all_its_blocks);
    RUN(threads_take_turns_at_a_lock);
    RUN(divergent_threads_meet);
    RUN(local_memory_is_each_threads_own);
    kernel_close(units[0]);
    kernel_close(units[1]);
    return test_done();
}
