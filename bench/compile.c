// SPDX-License-Identifier: Apache-2.0
/* bench/compile: how long the kernels of examples/decode take from PTX text to code that
 * can be called: compiled afresh, by phase, and from the disk cache. Each sample is a
 * process of its own, since the first use also loads LLVM.
 *
 *   bench_compile [SAMPLES]          (default 5) */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "softcuda/kernel/load/code.h"
#include "softcuda/kernel/load/jitload.h"

enum { SAMPLES_MAX = 51, PTX_BYTES_MAX = 1 << 20 };

typedef enum figure {
    WHOLE,
    PARSE,
    SHAPE,
    LOAD_LLVM,
    MACHINE_CODE,
    CACHED,
    FIGURES
} figure;

static char ptx[PTX_BYTES_MAX];
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

/* What a module's load does. */
static double load(const char *cache, bool cached)
{
    soft_code_options options;
    soft_code_options_init(&options);
    options.cache = cache;
    soft_code *code;
    soft_binding *binding;
    uint64_t from = gphi_clock_ns();
    must(soft_code_create(ptx, ptx_bytes, &options, &code, &error), "soft_code_create");
    must(soft_binding_create(code, NULL, &binding, &error), "soft_binding_create");
    const double ms = ms_since(&from);
    if (soft_code_was_cached(code) != cached) {
        fprintf(stderr, "bench_compile: this was %sfrom the cache\n",
                cached ? "not " : "");
        _exit(1);
    }
    return ms;
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
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t parts = cpus < 1 ? 1 : (uint32_t)cpus;
    parts = parts < program->kernel_count ? parts : program->kernel_count;
    const soft_jit_request request = {.ir = program->ir,
                                      .ir_bytes = program->ir_bytes,
                                      .part_count = parts,
                                      .optimize = 1};
    if (jit->compile(&request, &result) != 0) {
        fprintf(stderr, "bench_compile: %s\n", result.message);
        _exit(1);
    }
    ms[MACHINE_CODE] = ms_since(&from);
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
        else
            ms[what] = load(cache, what == CACHED);
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
    ptx_bytes = file != NULL ? fread(ptx, 1, sizeof(ptx) - 1, file) : 0;
    if (ptx_bytes == 0 || ptx_bytes == sizeof(ptx) - 1) {
        fprintf(stderr, "bench_compile: %s/decode.ptx: %s\n", BENCH_KERNELS,
                ptx_bytes ? "too long" : strerror(errno));
        exit(1);
    }
    fclose(file);
}

static void print(double (*samples)[SAMPLES_MAX], int count)
{
    static const struct {
        const char *name;
        double bar;
    } rows[FIGURES] = {{"compiled afresh", 2000}, {"  parse", 0},
                       {"  shape, IR", 0},        {"  load LLVM", 0},
                       {"  machine code", 0},     {"from the disk cache", 50}};
    printf(
        "kernels/decode.ptx to callable code, milliseconds, medians of %d processes\n\n",
        count);
    for (int f = 0; f < FIGURES; f++) {
        qsort(samples[f], (size_t)count, sizeof(double), by_value);
        const double ms = samples[f][count / 2];
        printf("%-20s %8.1f", rows[f].name, ms);
        if (rows[f].bar > 0)
            printf("   <= %.0f %s", rows[f].bar, ms <= rows[f].bar ? "" : "MISSED");
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    static double samples[FIGURES][SAMPLES_MAX];
    const int count = argc > 1 ? atoi(argv[1]) : 5;
    if (count < 1 || count > SAMPLES_MAX) {
        fprintf(stderr, "usage: bench_compile [SAMPLES], 1 to %d\n", SAMPLES_MAX);
        return 2;
    }
    setenv("SOFTCUDA_JIT", BENCH_JIT, 0);
    read_ptx();
    char cache[] = "/tmp/bench_compile_XXXXXX";
    if (mkdtemp(cache) == NULL) {
        perror(cache);
        return 1;
    }
    double ms[FIGURES] = {0};
    in_child(WHOLE, cache, ms); /* fills the cache, and the system's of files */
    for (int s = 0; s < count; s++) {
        in_child(WHOLE, "off", ms);
        samples[WHOLE][s] = ms[WHOLE];
        in_child(PARSE, NULL, ms);
        for (int f = PARSE; f <= MACHINE_CODE; f++)
            samples[f][s] = ms[f];
        in_child(CACHED, cache, ms);
        samples[CACHED][s] = ms[CACHED];
    }
    print(samples, count);
    return nftw(cache, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0 ? 0 : 1;
}
