// SPDX-License-Identifier: Apache-2.0
/* bench/compile: how long the kernels of examples/decode take from PTX text to code that
 * can be called: loaded, compiled afresh, by phase, and from the disk cache. Each sample is
 * a process of its own, since the first use also loads LLVM.
 *
 *   bench_compile [SAMPLES]          (default 5)
 *   bench_compile large [COUNT ...]  kernels of so many instructions, of five kinds, up to
 *                                    code that can be called (default 1000 5000 20000), and
 *                                    loading a module of 350 kernels
 *   bench_compile many [SAMPLES]     a module of 350 kernels, all of them from the disk
 *                                    cache */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "compile_large.h"
#include "softcuda/kernel/load/code.h"
#include "softcuda/kernel/load/jitload.h"

enum { SAMPLES_MAX = 51, PTX_BYTES_MAX = 1 << 20, MANY = 350, KERNELS_MAX = MANY };

typedef enum figure {
    WHOLE,
    LOADED,
    PARSE,
    SHAPE,
    LOAD_LLVM,
    MACHINE_CODE,
    CACHED,
    CACHED_LOADED,
    CACHED_USER,
    CACHED_CPU,
    FIGURES
} figure;

static char decode[PTX_BYTES_MAX];
static const char *ptx = decode;
static size_t ptx_bytes;
static gph_error error;

static void must(gph_status status, const char *what)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "bench_compile: %s: %s\n", what, error.message);
    _exit(1);
}

static double ms_since(uint64_t *from)
{
    const uint64_t now = gphi_clock_ns();
    const double ms = (double)(now - *from) / 1e6;
    *from = now;
    return ms;
}

static double user_ms(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_utime.tv_sec * 1e3 + (double)used.ru_utime.tv_usec / 1e3;
}

/* User and system together are counted; what of it was user time is sampled. */
static double cpu_ms(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec * 1e3 + (double)used.tv_nsec / 1e6;
}

/* What a module's load does, and then what launches of all its kernels do. */
static void load(const char *cache, bool cached, double *loaded, double *whole)
{
    soft_code_options options;
    soft_code_options_init(&options);
    options.cache = cache;
    soft_code *code;
    soft_binding *binding;
    uint64_t from = gphi_clock_ns();
    must(soft_code_create(ptx, ptx_bytes, &options, &code, &error), "soft_code_create");
    must(soft_binding_create(code, NULL, &binding, &error), "soft_binding_create");
    *loaded = ms_since(&from);
    const soft_kernel_code *kernels[KERNELS_MAX];
    const uint32_t count = soft_code_kernel_count(code);
    for (uint32_t i = 0; i < count && i < KERNELS_MAX; i++)
        kernels[i] = soft_binding_kernel(binding, i);
    must(soft_kernels_ready(kernels, count < KERNELS_MAX ? count : KERNELS_MAX, &error),
         "soft_kernels_ready");
    *whole = *loaded + ms_since(&from);
    if (soft_code_was_cached(code) != cached) {
        fprintf(stderr, "bench_compile: this was %sfrom the cache\n",
                cached ? "not " : "");
        _exit(1);
    }
}

/* The same steps one by one. */
static void phases(double *ms)
{
    ptx_module *module;
    ptx_program *program;
    const soft_jit_api *jit;
    soft_jit_result result = {.object_count = 0};
    uint64_t from = gphi_clock_ns();
    must(ptx_parse(ptx, ptx_bytes, NULL, &module, &error), "ptx_parse");
    ms[PARSE] = ms_since(&from);
    must(ptx_compile(module, NULL, &program, &error), "ptx_compile");
    ms[SHAPE] = ms_since(&from);
    must(soft_jit_load(&jit, &error), "soft_jit_load");
    ms[LOAD_LLVM] = ms_since(&from);
    const soft_jit_request request = {
        .ir = program->ir, .ir_bytes = program->ir_bytes, .part_count = 1, .optimize = 1};
    if (jit->compile(&request, &result) != 0) {
        fprintf(stderr, "bench_compile: %s\n", result.message);
        _exit(1);
    }
    ms[MACHINE_CODE] = ms_since(&from);
}

static void load_cached(const char *cache, double *ms)
{
    const double user = user_ms(), cpu = cpu_ms();
    load(cache, true, &ms[CACHED_LOADED], &ms[CACHED]);
    ms[CACHED_USER] = user_ms() - user;
    ms[CACHED_CPU] = cpu_ms() - cpu;
}

/* Runs one measurement in a process of its own, which fills in some of the figures. */
static void in_child(figure what, const char *cache, double ms[FIGURES])
{
    int ends[2];
    if (pipe(ends) != 0) {
        perror("pipe");
        exit(1);
    }
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (what == PARSE)
            phases(ms);
        else if (what == CACHED)
            load_cached(cache, ms);
        else
            load(cache, false, &ms[LOADED], &ms[what]);
        const ssize_t bytes = FIGURES * (ssize_t)sizeof(*ms);
        _exit(write(ends[1], ms, (size_t)bytes) == bytes ? 0 : 1);
    }
    close(ends[1]);
    const ssize_t got = read(ends[0], ms, FIGURES * sizeof(*ms));
    close(ends[0]);
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0 ||
        got != FIGURES * (ssize_t)sizeof(*ms)) {
        fprintf(stderr, "bench_compile: a measurement failed\n");
        exit(1);
    }
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int remove_one(const char *path, const struct stat *about, int type,
                      struct FTW *where)
{
    (void)about;
    (void)type;
    (void)where;
    return remove(path);
}

static void read_ptx(void)
{
    FILE *file = fopen(BENCH_KERNELS "/decode.ptx", "rb");
    ptx_bytes = file != NULL ? fread(decode, 1, sizeof(decode) - 1, file) : 0;
    if (ptx_bytes == 0 || ptx_bytes == sizeof(decode) - 1) {
        fprintf(stderr, "bench_compile: %s/decode.ptx: %s\n", BENCH_KERNELS,
                ptx_bytes ? "too long" : strerror(errno));
        exit(1);
    }
    fclose(file);
}

static double samples[FIGURES][SAMPLES_MAX];

static void sample_cached(const char *cache, int s)
{
    double ms[FIGURES] = {0};
    in_child(CACHED, cache, ms);
    for (int f = CACHED; f < FIGURES; f++)
        samples[f][s] = ms[f];
}

static void print(int count, figure first)
{
    static const struct {
        const char *name;
        double bar;
    } rows[FIGURES] = {{"compiled afresh", 2000},
                       {"  until it is loaded", 0},
                       {"  parse", 0},
                       {"  shape, IR", 0},
                       {"  load LLVM", 0},
                       {"  machine code, one part", 0},
                       {"from the disk cache", 50},
                       {"  until it is loaded", 0},
                       {"  user time", 0},
                       {"  user and system time", 0}};
    printf("%s to callable code, milliseconds, medians of %d processes\n\n",
           ptx == decode ? "kernels/decode.ptx" : "350 kernels", count);
    for (int f = (int)first; f < FIGURES; f++) {
        qsort(samples[f], (size_t)count, sizeof(double), by_value);
        const double ms = samples[f][count / 2];
        printf("%-24s %8.1f", rows[f].name, ms);
        if (rows[f].bar > 0 && first == WHOLE)
            printf("   <= %.0f %s", rows[f].bar, ms <= rows[f].bar ? "" : "MISSED");
        printf("\n");
    }
}

/* ---- large ------------------------------------------------------------------------ */

/* In a process of its own, which prints the line. */
static void measure_large(large_kind kind, unsigned kernels, unsigned count)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        soft_code_options options;
        soft_code_options_init(&options);
        options.cache = "off";
        soft_code *code;
        soft_binding *binding;
        char *module = large_module(kind, kernels, count);
        const double cpu = user_ms();
        uint64_t from = gphi_clock_ns();
        must(soft_code_create(module, 0, &options, &code, &error), "soft_code_create");
        must(soft_binding_create(code, NULL, &binding, &error), "soft_binding_create");
        const double loaded = ms_since(&from);
        if (kernels == 1)
            must(soft_kernel_ready(soft_binding_kernel(binding, 0), &error), "compiling");
        const double whole = loaded + ms_since(&from), user = user_ms() - cpu;
        struct rusage used;
        getrusage(RUSAGE_SELF, &used);
        printf("%-20s %7u %8u %9.0f %9.0f %9.0f %8ld  %s\n", large_names[kind], kernels,
               count, loaded, whole, user, used.ru_maxrss / 1024,
               soft_code_kernel(code, 0)->path == PTX_PATH_FAST ? "fast" : "slow");
        exit(0);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "bench_compile: a measurement failed\n");
        exit(1);
    }
}

static int large(int argc, char **argv)
{
    static char *defaults[] = {"1000", "5000", "20000"};
    if (argc == 0) {
        argv = defaults;
        argc = 3;
    }
    printf(
        "asked: 1,000 <= 250 ms, 5,000 <= 1,200, 20,000 <= 5,000, <= 200 MB; 350 kernels "
        "loaded <= 300 ms\n%-20s %7s %8s %9s %9s %9s %8s\n",
        "kind", "kernels", "insns", "load ms", "all ms", "user ms", "peak MB");
    for (int i = 0; i < argc; i++)
        for (int kind = 0; kind < LARGE_KINDS; kind++)
            measure_large((large_kind)kind, 1, (unsigned)atoi(argv[i]));
    for (int kind = 0; kind < LARGE_KINDS; kind++)
        measure_large((large_kind)kind, MANY, 150);
    return 0;
}

static void afresh_and_cached(const char *cache, int count)
{
    double ms[FIGURES] = {0};
    for (int s = 0; s < count; s++) {
        in_child(WHOLE, "off", ms);
        samples[WHOLE][s] = ms[WHOLE];
        samples[LOADED][s] = ms[LOADED];
        in_child(PARSE, NULL, ms);
        for (int f = PARSE; f <= MACHINE_CODE; f++)
            samples[f][s] = ms[f];
        sample_cached(cache, s);
    }
    print(count, WHOLE);
}

int main(int argc, char **argv)
{
    setenv("SOFTCUDA_JIT", BENCH_JIT, 0);
    if (argc > 1 && strcmp(argv[1], "large") == 0)
        return large(argc - 2, argv + 2);
    const bool many = argc > 1 && strcmp(argv[1], "many") == 0;
    const int count = argc > 1 + many ? atoi(argv[1 + many]) : 5;
    if (count < 1 || count > SAMPLES_MAX) {
        fprintf(stderr,
                "usage: bench_compile [[many] SAMPLES | large [COUNT ...]], 1 to %d\n",
                SAMPLES_MAX);
        return 2;
    }
    read_ptx();
    if (many) {
        ptx = large_module((large_kind)0, MANY, 150);
        ptx_bytes = strlen(ptx);
    }
    char cache[] = "/tmp/bench_compile_XXXXXX";
    if (mkdtemp(cache) == NULL) {
        perror(cache);
        return 1;
    }
    double ms[FIGURES] = {0};
    in_child(WHOLE, cache, ms); /* fills the cache, and the system's of files */
    if (many) {
        for (int s = 0; s < count; s++)
            sample_cached(cache, s);
        print(count, CACHED);
    } else {
        afresh_and_cached(cache, count);
    }
    return nftw(cache, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0 ? 0 : 1;
}
