// SPDX-License-Identifier: Apache-2.0
/* The printed report: 80 columns, plain text. */
#include "report.h"

#include "fail.h"
#include <gph/softcuda.h>
#include <stdlib.h>
#include <unistd.h>

/* 1234567 as "1,234,567". One of a few buffers, used in turn. */
static const char *grouped(uint64_t value)
{
    static char buffers[8][32];
    static unsigned turn;
    char *buffer = buffers[turn++ % 8];
    char *at = buffer + 31;
    *at = 0;
    for (int digits = 0; value != 0 || digits == 0; digits++, value /= 10) {
        if (digits != 0 && digits % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + value % 10);
    }
    return at;
}

/* A path as it is shorter to type from here. */
static const char *from_here(const char *path)
{
    static char here[4096];
    const char *folder = getcwd(here, sizeof(here));
    const size_t length = folder ? strlen(folder) : 0;
    if (length > 1 && strncmp(path, folder, length) == 0 && path[length] == '/')
        return path + length + 1;
    return path;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static double per(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        count++;
    return count;
}

/* How softcuda runs the kernels: by its own account of this very file. */
static void report_paths(const report *r)
{
    typedef gph_status report_fn(const char *, size_t, uint32_t, gph_write_fn *, void *,
                                 gph_error *);
    static char text[1 << 20];
    gph_buffer buffer = {text, sizeof(text), 0};
    gph_cuda_fn make = NULL;
    char *ptx = NULL;
    size_t bytes = 0;
    if (!(r->d->info.features & GPH_FEATURE_SOFTCUDA) ||
        gph_cuda_find(r->d->runtime, "gph_softcuda_report_write", &make, NULL) !=
            GPH_OK ||
        file_read(&r->d->heap, r->d->ptx_path, 16 << 20, &ptx, &bytes, NULL) != GPH_OK) {
        printf("%d kernels, compiled by the driver\n", KERNEL_COUNT);
        return;
    }
    const uint32_t flags = GPH_PTX_REPORT_NO_JIT | GPH_PTX_REPORT_JSON;
    if (((report_fn *)make)(ptx, bytes - 1, flags, gph_write_buffer, &buffer, NULL) ==
        GPH_OK)
        printf("%zu kernels on the fast path, %zu on the slow path\n",
               count_of(text, "\"path\":\"fast\"") + count_of(text, "\"path\": \"fast\""),
               count_of(text, "\"path\":\"slow\"") +
                   count_of(text, "\"path\": \"slow\""));
    else
        printf("%d kernels\n", KERNEL_COUNT);
    heap_free(&r->d->heap, ptx, bytes);
}

static bool progress_shown;

void report_progress(const char *what, size_t done, size_t all)
{
    static uint64_t last;
    const uint64_t now = device_clock_ns();
    if (!isatty(STDERR_FILENO) || now - last < 100000000)
        return;
    last = now;
    if (all > 0)
        fprintf(stderr, "\r  %s: %zu of %zu \033[K", what, done, all);
    else
        fprintf(stderr, "\r  %s ... \033[K", what);
    fflush(stderr);
    progress_shown = true;
}

void report_progress_end(void)
{
    if (progress_shown)
        fprintf(stderr, "\r\033[K");
    progress_shown = false;
}

void report_head(const report *r)
{
    const config *c = &r->w->c;
    const options *o = r->o;
    const int version = r->d->info.version;
    printf(
        "\n  model    %s\n           Llama: %u layers, width %u, %u heads, %s weights\n",
        from_here(r->model), c->layers, c->width, c->heads, grouped(r->w->parameters));
    printf("  driver   %s: %s, CUDA %d.%d\n",
           r->d->info.driver == GPH_DRIVER_SOFT ? "softcuda, on CPU threads" : "NVIDIA",
           r->d->name, version / 1000, version % 1000 / 10);
    printf("           chosen by %s; module loaded in %.0f ms\n", r->d->info.why,
           (double)r->d->load_ns * 1e-6);
    printf("  kernels  %s\n           ", from_here(r->d->ptx_path));
    report_paths(r);
    printf("  work     ");
    if (r->problems != NULL)
        printf("%s problems, ", grouped(r->problem_count));
    else
        printf("%zu tokens to continue, ", r->prompt_count);
    for (uint32_t i = 0; i < o->batch_count; i++)
        printf("%s %u%s", i ? " and" : "batch", o->batch[i],
               i + 1 == o->batch_count ? ", " : "");
    if (o->top_p > 0)
        printf("top-p %g at temperature %g, seed %llu\n\n", o->top_p, o->temperature,
               (unsigned long long)o->seed);
    else
        printf("greedy\n\n");
    fflush(stdout);
}

static void report_tokens(const sequence *s)
{
    int column = 2;
    printf("  ");
    for (uint32_t i = 0; i < s->out_count; i++) {
        if (column > 70) {
            printf("\n  ");
            column = 2;
        }
        column += printf("%d ", s->out[i]);
    }
    printf("\n\n");
}

void report_answers(const report *r, const mode_result *result)
{
    if (r->problems == NULL) {
        printf("  the tokens that follow:\n");
        report_tokens(&result->list[0]);
        return;
    }
    const size_t shown = r->problem_count < 4 ? r->problem_count : 4;
    printf("  ");
    for (size_t i = 0; i < shown; i++) {
        const problem *p = &r->problems[i];
        const sequence *s = &result->list[i];
        unsigned long long answer;
        if (answer_read(s->out, s->out_count, &answer))
            printf("%u+%u=%llu%s   ", p->a, p->b, answer,
                   answer == p->sum ? "" : " (wrong)");
        else
            printf("%u+%u=? (no number)   ", p->a, p->b);
    }
    printf("%s\n\n", r->problem_count > shown ? "..." : "");
}

static void report_row(const report *r, const mode_result *result)
{
    const batch_stats *s = &result->stats;
    char exact[64] = "";
    if (r->problems != NULL)
        snprintf(exact, sizeof(exact), "%zu of %zu", result->exact, result->count);
    printf("  %5u  %-5s %14s %10s %15.3f %14.3f %8.3f\n", result->batch, result->name,
           exact, grouped((uint64_t)(per(s->tokens, s->decode_ns) * 1e9)),
           per(s->launches, s->tokens), per(s->host_ns, s->tokens) * 1e-3,
           (double)s->decode_ns * 1e-9);
}

void report_table(const report *r, const leg *legs, size_t count)
{
    printf("  %5s  %-5s %14s %10s %15s %14s %8s\n", "batch", "mode",
           r->problems ? "exact answers" : "", "tokens/s", "launches/token",
           "host us/token", "seconds");
    for (size_t i = 0; i < count; i++)
        for (int mode = 0; mode < MODE_COUNT; mode++)
            if (legs[i].result[mode].run_count > 0)
                report_row(r, &legs[i].result[mode]);
    printf("  (decode steps alone%s; host: inside launch calls%s)\n",
           r->o->repeat > 1 ? ", medians of runs taken in turn" : "",
           r->problems ? "; exact: sums that the model itself gets right" : "");
    if (r->d->info.driver == GPH_DRIVER_SOFT)
        printf("  (on CPU threads a launch costs little: what graphs gain is seen on a "
               "GPU)\n");
    printf("\n");
}

/* Beside eager, if that ran. */
static void report_beside(const leg *l, decode_mode mode)
{
    const mode_result *eager = &l->result[MODE_EAGER], *other = &l->result[mode];
    const batch_stats *e = &eager->stats, *o = &other->stats;
    if (eager->run_count == 0 || other->run_count == 0)
        return;
    printf("    %s: %.2f x the tokens/s of eager, with %.1f %% of its host time\n",
           other->name, per(o->tokens, o->decode_ns) / per(e->tokens, e->decode_ns),
           100 * per(o->host_ns, e->host_ns));
}

/* On softcuda the thread that waits does the work, so its CPU time says nothing. */
static void report_loop(const report *r, const mode_result *loop)
{
    const batch_stats *s = &loop->stats;
    if (loop->run_count == 0)
        return;
    printf("    loop: %s launch%s for %s step%s; %s\n", grouped(s->loops),
           s->loops == 1 ? "" : "es", grouped(s->steps), plural(s->steps), s->ways.text);
    if (r->d->info.driver == GPH_DRIVER_CUDA)
        printf("          %.1f us of the host's CPU time a launch, with the wait\n",
               per(s->loop_cpu_ns, s->loops) * 1e-3);
}

void report_leg(const report *r, const leg *l)
{
    const mode_result *some = &l->result[MODE_EAGER];
    while (some->run_count == 0)
        some++;
    const batch_stats *s = &some->stats;
    size_t tokens = 0;
    for (size_t i = 0; i < some->count; i++)
        tokens += some->list[i].out_count;
    printf(
        "  batch %u: %s prompt tokens in %s eager prefill%s (%.3f s), then %s step%s\n",
        some->batch, grouped(s->prompt_tokens), grouped(s->prefills), plural(s->prefills),
        (double)s->prefill_ns * 1e-9, grouped(s->steps), plural(s->steps));
    for (int mode = MODE_GRAPH; mode < MODE_COUNT; mode++)
        if (l->result[mode].run_count > 0)
            printf("    a step is %u kernels, made a %s once in %.2f ms\n",
                   l->result[mode].stats.nodes, l->result[mode].name,
                   (double)l->result[mode].stats.capture_ns * 1e-6);
    report_loop(r, &l->result[MODE_LOOP]);
    report_beside(l, MODE_GRAPH);
    report_beside(l, MODE_LOOP);
    if (l->logit_bytes == 0)
        return;
    if (l->alike)
        printf("    all %s tokens and %s bytes of logits are the same in all modes\n",
               grouped(tokens), grouped(l->logit_bytes));
    else
        printf("    THE MODES DIFFER: tokens or logits are not the same\n");
}

void report_next(const report *r)
{
    char gph[4096];
    snprintf(gph, sizeof(gph), "%s", from_here(DECODE_GPH));
    printf("\n  next:\n"
           "    %s --batch 8 --mode graph\n"
           "    %s --tokens 9,9,9,9,10,1,11 --top-p 0.95 --seed 7\n"
           "    %s inspect --ptx %s\n"
           "  or edit kernels/decode.cu and run this again: the answers change\n\n",
           r->program, r->program, gph, from_here(r->d->ptx_path));
}
