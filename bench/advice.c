// SPDX-License-Identifier: Apache-2.0
/* bench/advice: what the advice predicts, beside what capturing gives. Each work runs
 * eagerly in a process of its own under the attached library, as under `gph doctor
 * --advise`, which predicts; then in another one without it, eagerly and as graphs in
 * turn.
 *
 *   bench_advice [--samples N] [--assert] [--text] [WORK...]     on either driver
 *
 * A graph pays if it saves 5 % or more and the program repeats often enough to earn its
 * recording, in nine of ten pairs of batches, one eager and one as graphs; "either" is printed
 * where they do not agree, and then no verdict is judged ("open"). --assert: exit 1 if a
 * verdict is wrong. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gph/gph_doctor.h>

#include "advice_measure.h"
#include "sample.h"

enum { ROUNDS_MAX = 15, PAIRS_MAX = ROUNDS_MAX * MEASURED_BATCHES };
static const double agreed =
    0.9; /* of the pairs of batches: then it is known what is right */

static gph_error error;

/* What a round gave. */
typedef struct round_of {
    gph_prediction forecast;
    char why[320];
    measured seen;
    bool is_soft;
} round_of;

/* What became of a prediction. Open: the measured batches do not agree. */
typedef enum outcome { RIGHT, UNKNOWN, OPEN, WRONG, OUTCOMES } outcome;

typedef struct row {
    double predicted_eager, predicted, busy, once;
    double eager, graph, measured_once;
    double agree; /* share of the pairs of batches in which a graph pays */
    int outcomes[OUTCOMES];
    int wrong; /* the first round that is; < 0: none */
} row;

/* ---- children ---- */

static int child_eager(const work *w, uint32_t rounds)
{
    shop s;
    shop_open(&s, BENCH_KERNELS, BENCH_MODEL, rounds);
    measure_eager_run(&s, w);
    shop_close(&s);
    return 0;
}

static int child_measure(const work *w, uint32_t rounds)
{
    shop s;
    measured m;
    shop_open(&s, BENCH_KERNELS, BENCH_MODEL, rounds);
    measure_both(&s, w, &m);
    printf("%.17g %.17g %.17g %.17g %d\n", m.eager_us, m.graph_us, m.once_us, m.nodes,
           s.is_soft);
    for (int i = 0; i < MEASURED_BATCHES; i++)
        printf("%.17g\n", m.saves[i]);
    shop_close(&s);
    return 0;
}

static int child_calibrate(void)
{
    shop s;
    shop_open(&s, BENCH_KERNELS, BENCH_MODEL, 1000);
    printf("%u\n", shop_calibrate(&s));
    shop_close(&s);
    return 0;
}

static const work *find_work(const char *name)
{
    for (int i = 0; i < work_count; i++)
        if (strcmp(works[i].name, name) == 0)
            return &works[i];
    fprintf(stderr, "bench_advice: there is no work %s\n", name);
    exit(2);
}

/* ---- the parent ---- */

/* Starts this program again; its standard output is read through *out. */
static pid_t start(const char *const *arguments, const char *folder, FILE **out)
{
    int ends[2];
    if (pipe(ends) != 0) {
        perror("bench_advice: pipe");
        exit(1);
    }
    const pid_t child = fork();
    if (child < 0) {
        perror("bench_advice: fork");
        exit(1);
    }
    if (child > 0) {
        close(ends[1]);
        *out = fdopen(ends[0], "r");
        return child;
    }
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    if (folder != NULL) {
        setenv("LD_PRELOAD", BENCH_ATTACH, 1);
        setenv("CUDA_INJECTION64_PATH", BENCH_ATTACH, 1);
        setenv("GPH_DOCTOR_DIR", folder, 1);
        setenv("GPH_DOCTOR_ADVISE", "1", 1);
    }
    execv("/proc/self/exe", (char *const *)(uintptr_t)arguments);
    perror("bench_advice: execv");
    _exit(1);
}

static void finish(pid_t child, FILE *out, const char *what)
{
    int status = 0;
    if (out != NULL)
        fclose(out);
    while (waitpid(child, &status, 0) < 0)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "bench_advice: %s: ended with %d\n", what, status);
        exit(1);
    }
}

static void remove_rings(const char *folder)
{
    char command[4200];
    snprintf(command, sizeof(command), "rm -rf -- '%s'", folder);
    if (system(command) != 0)
        fprintf(stderr, "bench_advice: %s is left behind\n", folder);
}

static void predict(const char *name, const char *rounds, bool with_text, round_of *r)
{
    char folder[] = "/tmp/bench_advice.XXXXXX";
    FILE *out = NULL;
    gph_doctor *doctor = NULL;
    gph_advice *advice = NULL;
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        exit(1);
    }
    shop_must(gph_doctor_create(NULL, &doctor, &error), "gph_doctor_create");
    shop_must(gph_advice_create(doctor, NULL, &advice, &error), "gph_advice_create");
    const pid_t child = start(
        (const char *[]){"bench_advice", "--eager", name, rounds, NULL}, folder, &out);
    siginfo_t info = {0};
    while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0) {
        shop_must(gph_doctor_poll(doctor, folder, 0, &error), "gph_doctor_poll");
        usleep(20000);
    }
    finish(child, out, name);
    shop_must(gph_doctor_poll(doctor, folder, 1, &error), "gph_doctor_poll");
    shop_must(gph_doctor_finish(doctor, &error), "gph_doctor_finish");
    shop_must(gph_advice_finish(advice, &error), "gph_advice_finish");
    const gph_prediction *forecast = gph_advice_prediction(advice, 0);
    r->forecast = forecast == NULL ? (gph_prediction){.graph_us = -1} : *forecast;
    snprintf(r->why, sizeof(r->why), "%s",
             forecast == NULL ? "nothing repeats" : forecast->why);
    uint64_t lost = 0;
    const uint64_t events = gph_doctor_event_count(doctor, &lost);
    if (with_text || lost > 0)
        printf("%llu events, %llu lost; %u calls, %u windows\n",
               (unsigned long long)events, (unsigned long long)lost, r->forecast.launches,
               r->forecast.windows);
    if (with_text) {
        shop_must(gph_advice_text_write(advice, GPH_ADVICE_BOTH, 0, gph_write_file,
                                        stdout, &error),
                  "gph_advice_text_write");
        shop_must(gph_advice_json_write(advice, GPH_ADVICE_PAYOFF, gph_write_file, stdout,
                                        &error),
                  "gph_advice_json_write");
        putchar('\n');
    }
    gph_advice_destroy(advice);
    gph_doctor_destroy(doctor);
    remove_rings(folder);
}

static void measure(const char *name, const char *rounds, round_of *r)
{
    FILE *out = NULL;
    int is_soft = 0;
    const pid_t child = start(
        (const char *[]){"bench_advice", "--measure", name, rounds, NULL}, NULL, &out);
    if (fscanf(out, "%lf %lf %lf %lf %d", &r->seen.eager_us, &r->seen.graph_us,
               &r->seen.once_us, &r->seen.nodes, &is_soft) != 5)
        exit(fprintf(stderr, "bench_advice: %s could not be measured\n", name) > 0);
    for (int i = 0; i < MEASURED_BATCHES; i++)
        if (fscanf(out, "%lf", &r->seen.saves[i]) != 1)
            exit(fprintf(stderr, "bench_advice: %s: batches\n", name) > 0);
    r->is_soft = is_soft != 0;
    finish(child, out, name);
}

static uint32_t calibrate(void)
{
    FILE *out = NULL;
    unsigned rounds = 0;
    const pid_t child =
        start((const char *[]){"bench_advice", "--calibrate", NULL}, NULL, &out);
    if (fscanf(out, "%u", &rounds) != 1)
        rounds = 1000;
    finish(child, out, "calibration");
    return rounds;
}

/* Of one field of all rounds, the median; predictions are of the sequence that was found,
 * which need not be one iteration: `per_call` scales them. */
static double field(const round_of *rounds, int count, size_t offset, bool per_call)
{
    double values[ROUNDS_MAX];
    for (int i = 0; i < count; i++) {
        const round_of *r = &rounds[i];
        memcpy(&values[i], (const char *)r + offset, sizeof(double));
        if (per_call && r->forecast.launches > 0)
            values[i] *= r->seen.nodes / r->forecast.launches;
    }
    return median(values, count);
}
#define FORECAST(name) field(rounds, count, offsetof(round_of, forecast.name), true)
#define SEEN(name) field(rounds, count, offsetof(round_of, seen.name), false)

/* Of all pairs of batches, the share in which a graph pays. */
static double paid_share(const round_of *rounds, int count, double once_us,
                         double eager_us, int iterations)
{
    int paid = 0;
    for (int i = 0; i < count; i++)
        for (int b = 0; b < MEASURED_BATCHES; b++) {
            const double saves = rounds[i].seen.saves[b];
            paid += saves >= 0.05 && saves * eager_us * iterations > once_us;
        }
    return (double)paid / (count * MEASURED_BATCHES);
}

static outcome outcome_of(gph_verdict verdict, double agree)
{
    if (verdict == GPH_VERDICT_UNKNOWN)
        return UNKNOWN;
    if (agree < agreed && agree > 1 - agreed)
        return OPEN;
    return verdict == (agree >= agreed ? GPH_VERDICT_PAYS : GPH_VERDICT_DOES_NOT_PAY)
               ? RIGHT
               : WRONG;
}

static row sum_up(const work *w, const round_of *rounds, int count)
{
    const int iterations = rounds[0].is_soft ? w->soft_iterations : w->iterations;
    row out = {.predicted_eager = FORECAST(eager_us),
               .predicted = FORECAST(graph_us),
               .busy = FORECAST(busy_us),
               .once = FORECAST(once_us),
               .eager = SEEN(eager_us),
               .graph = SEEN(graph_us),
               .measured_once = SEEN(once_us),
               .wrong = -1};
    out.agree = paid_share(rounds, count, out.measured_once, out.eager, iterations);
    for (int i = 0; i < count; i++) {
        const outcome now = outcome_of(rounds[i].forecast.verdict, out.agree);
        out.outcomes[now]++;
        out.wrong = now == WRONG && out.wrong < 0 ? i : out.wrong;
    }
    return out;
}

static void print_head(void)
{
    printf("microseconds an iteration; predicted / measured\n\n"
           "%-15s %19s %19s %7s %9s %15s  %-9s %5s %7s %5s %5s\n",
           "work", "eager", "as a graph", "error", "GPU busy", "once", "measured",
           "right", "unknown", "open", "wrong");
}

static void print_row(const char *name, const row *r, double error_of)
{
    printf("%-15s %9.1f /%8.1f %9.1f /%8.1f %6.1f%% %9.1f %7.0f /%6.0f  %-9s %5d %7d %5d "
           "%5d\n",
           name, r->predicted_eager, r->eager, r->predicted, r->graph, error_of * 100,
           r->busy, r->once, r->measured_once,
           r->agree >= agreed       ? "pays"
           : r->agree <= 1 - agreed ? "does not"
                                    : "either",
           r->outcomes[RIGHT], r->outcomes[UNKNOWN], r->outcomes[OPEN],
           r->outcomes[WRONG]);
    fflush(stdout);
}

typedef struct settings {
    int samples, name_count;
    bool is_strict, with_text;
    char **names;
} settings;

static bool is_wanted(const settings *o, const char *name)
{
    for (int i = 0; i < o->name_count; i++)
        if (strcmp(o->names[i], name) == 0)
            return true;
    return o->name_count == 0;
}

static void print_sum(const int outcomes[OUTCOMES], double *errors, int predicted)
{
    const int all =
        outcomes[RIGHT] + outcomes[UNKNOWN] + outcomes[OPEN] + outcomes[WRONG];
    if (all == 0)
        return;
    printf("\nmedian error %.1f %%; of %d verdicts %d right (%.0f %%), %d unknown (%.0f "
           "%%), "
           "%d where batches do not agree (%.0f %%), %d wrong (asked: 0)\n",
           median(errors, predicted) * 100, all, outcomes[RIGHT],
           100.0 * outcomes[RIGHT] / all, outcomes[UNKNOWN],
           100.0 * outcomes[UNKNOWN] / all, outcomes[OPEN], 100.0 * outcomes[OPEN] / all,
           outcomes[WRONG]);
}

static int compare_all(const settings *o)
{
    double errors[64];
    int predicted = 0, outcomes[OUTCOMES] = {0};
    char rounds_text[16];
    snprintf(rounds_text, sizeof(rounds_text), "%u", calibrate());
    print_head();
    for (int i = 0; i < work_count; i++) {
        round_of rounds[ROUNDS_MAX];
        if (!is_wanted(o, works[i].name))
            continue;
        for (int n = 0; n < o->samples; n++) {
            predict(works[i].name, rounds_text, o->with_text && n == 0, &rounds[n]);
            measure(works[i].name, rounds_text, &rounds[n]);
        }
        const row r = sum_up(&works[i], rounds, o->samples);
        const double off = fabs(r.predicted - r.graph) / r.graph;
        print_row(works[i].name, &r, off);
        if (r.predicted >= 0)
            errors[predicted++] = off;
        for (int k = 0; k < OUTCOMES; k++)
            outcomes[k] += r.outcomes[k];
        if (r.wrong >= 0)
            printf("    %s\n", rounds[r.wrong].why);
        else if (r.outcomes[UNKNOWN] == o->samples)
            printf("    %s\n", rounds[0].why);
    }
    print_sum(outcomes, errors, predicted);
    return o->is_strict && outcomes[WRONG] > 0;
}

int main(int argc, char **argv)
{
    settings o = {.samples = 3};
    if (argc == 2 && strcmp(argv[1], "--calibrate") == 0)
        return child_calibrate();
    if (argc == 4 && strcmp(argv[1], "--eager") == 0)
        return child_eager(find_work(argv[2]), (uint32_t)atoi(argv[3]));
    if (argc == 4 && strcmp(argv[1], "--measure") == 0)
        return child_measure(find_work(argv[2]), (uint32_t)atoi(argv[3]));
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--samples") == 0 && i + 1 < argc)
            o.samples = atoi(argv[++i]);
        else if (strcmp(argv[i], "--assert") == 0)
            o.is_strict = true;
        else if (strcmp(argv[i], "--text") == 0)
            o.with_text = true;
        else
            o.samples = 0;
    }
    if (o.samples < 1 || o.samples > ROUNDS_MAX) {
        fprintf(stderr,
                "usage: bench_advice [--samples 1..%d] [--assert] [--text] [WORK...]\n",
                ROUNDS_MAX);
        return 2;
    }
    o.names = argv + i;
    o.name_count = argc - i;
    for (int n = 0; n < o.name_count; n++)
        (void)find_work(o.names[n]);
    return compare_all(&o);
}
