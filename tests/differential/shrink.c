// SPDX-License-Identifier: Apache-2.0
/* One program: against the model, shown, and shortened. Shortening leaves steps out while
 * the driver still differs; every try is a child process, for it may crash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch.h"
#include "generate.h"
#include "record.h"

static bool loud, all_steps;

static void print_step(const struct transcript *t, int at)
{
    printf("%3d ", at);
    step_print(&t->program.steps[at]);
}

static void say(struct generator *gen, const struct answer *predicted)
{
    const struct transcript *t = gen->transcript;
    const int at = t->program.count - 1;
    if (!loud)
        return;
    printf("seed %u step ", t->program.seed);
    print_step(t, at);
    printf(": the model has ");
    answer_print(predicted);
    printf(", the driver ");
    answer_print(&t->answers[at]);
    printf("\n");
}

static void execute(const struct step *step, struct answer *out)
{
    if (all_steps) {
        step_print(step);
        fflush(stdout);
    }
    run_step(step, out);
    coverage_count(step, out);
    if (!all_steps)
        return;
    printf(" -> ");
    answer_print(out);
    printf("\n");
}

static int judge_memory(const struct model *model, uint32_t seed,
                        const struct finish *expected, const struct finish *got)
{
    int differences = got->code != expected->code;
    for (int b = 0; b < BUFFER_FIXED; b++) {
        if (got->hash[b] == expected->hash[b])
            continue;
        differences++;
        const unsigned char *bytes = run_memory(b);
        for (int i = 0; loud && i < BUFFER_BYTES; i++)
            if (bytes[i] != model->memory[b][i]) {
                printf("seed %u: buffer %d differs from byte %d on\n", seed, b, i);
                break;
            }
    }
    for (int i = 0; i < OBJECTS; i++)
        if (got->destroyed[i] != expected->destroyed[i]) {
            differences++;
            if (loud)
                printf("seed %u: object %d: destroyed %d, the model has %d\n", seed, i,
                       got->destroyed[i], expected->destroyed[i]);
        }
    return differences;
}

int model_program(uint32_t seed, bool verbose)
{
    static struct transcript t;
    struct model *model = model_create();
    struct generator gen = {
        .model = model, .transcript = &t, .execute = execute, .mismatch = say};
    struct finish expected, got;
    all_steps = verbose;
    if (!run_begin()) {
        model_destroy(model);
        return -1;
    }
    generate(&gen, seed);
    model_finish(model, &expected);
    run_finish(expected.destroyed, &got);
    int differences = gen.mismatches;
    if (!model->lost)
        differences += judge_memory(model, seed, &expected, &got);
    model_destroy(model);
    return differences;
}

int model_seeds(uint32_t first, uint32_t last)
{
    uint32_t programs = 0, differ = 0;
    loud = true;
    for (uint32_t seed = first; seed <= last; seed++) {
        const int found = model_program(seed, false);
        programs++;
        differ += found != 0;
        if (!run_is_alive())
            break;
    }
    printf("%u programs, %u differ from the model\n", programs, differ);
    return differ == 0 ? 0 : 1;
}

/* The model against a recording: no driver is asked. */
static int judge_transcript(const struct transcript *t)
{
    struct model *model = model_create();
    struct answer predicted;
    struct finish finish;
    int differences = 0;
    bool races = false;
    for (int i = 0; i < t->program.count && !model->lost; i++) {
        races = races ||
                (t->answers[i].code == 0 && model_races(model, &t->program.steps[i]));
        model_step(model, &t->program.steps[i], &t->answers[i], &predicted);
        coverage_count(&t->program.steps[i], &t->answers[i]);
        if (predicted.count == UNKNOWN) {
            predicted.count = t->answers[i].count;
            memcpy(predicted.v, t->answers[i].v, sizeof(predicted.v));
        }
        if (answers_equal(&predicted, &t->answers[i]))
            continue;
        differences++;
        printf("seed %u step ", t->program.seed);
        print_step(t, i);
        printf(": the model has ");
        answer_print(&predicted);
        printf(", recorded ");
        answer_print(&t->answers[i]);
        printf("\n");
    }
    model_finish(model, &finish);
    if (!model->lost && !races &&
        memcmp(finish.hash, t->finish.hash, sizeof(finish.hash)) != 0) {
        differences++;
        printf("seed %u: the model's memory is not as recorded\n", t->program.seed);
    }
    model_destroy(model);
    return differences;
}

int judge_model(const char *path)
{
    static struct transcript t;
    size_t bytes = 0;
    uint32_t programs = 0, differ = 0;
    unsigned char *all = file_read(path, &bytes);
    if (all == NULL)
        return 1;
    const unsigned char *at = all;
    while (file_next(&at, all + bytes, &t)) {
        if (t.crashed >= 0)
            continue;
        programs++;
        differ += judge_transcript(&t) != 0;
    }
    free(all);
    printf("%u programs: the model differs from %u\n", programs, differ);
    return programs > 0 && differ == 0 ? 0 : 1;
}

int show_program(uint32_t seed, bool verbose)
{
    loud = true;
    const int differences = model_program(seed, verbose);
    printf("seed %u: %d differences\n", seed, differences);
    return differences != 0;
}

/* ---- shortening ---- */

/* What the program should give: its recording, or the model. */
static void predict(struct transcript *t)
{
    struct model *model = model_create();
    for (int i = 0; i < t->program.count; i++)
        model_step(model, &t->program.steps[i], NULL, &t->answers[i]);
    model_finish(model, &t->finish);
    model_destroy(model);
}

/* Against the model: answers it does not know, and memory after racy steps, are left. */
static int try_model(struct transcript *t)
{
    struct answer got;
    struct finish finish;
    int differences = 0;
    predict(t);
    if (!run_begin())
        return -1;
    for (int i = 0; i < t->program.count && differences == 0; i++) {
        run_step(&t->program.steps[i], &got);
        if (t->answers[i].count == UNKNOWN)
            got.count = UNKNOWN;
        differences += got.code != t->answers[i].code || got.count != t->answers[i].count;
    }
    run_finish(t->finish.destroyed, &finish);
    if (differences == 0)
        differences = memcmp(finish.hash, t->finish.hash, sizeof(finish.hash)) != 0;
    return differences;
}

/* What a try found: shared with the child that tries. */
struct found {
    int at; /* the first step that differs, -1: memory alone */
    struct answer got;
    bool differs;
};

/* Against a recording only the same difference counts: leaving out what a step needs
 * makes others. */
static void try_recorded(const struct transcript *t, struct found *out)
{
    struct answer got;
    struct finish finish;
    if (!run_begin())
        return;
    for (int i = 0; i < t->program.count; i++) {
        run_step(&t->program.steps[i], &got);
        if (answers_equal(&got, &t->answers[i]))
            continue;
        *out = (struct found){i, got, true};
        break;
    }
    run_finish(t->finish.destroyed, &finish);
}

/* In a child: whether it differs, or dies. */
static bool differs(struct transcript *t, bool recorded, struct found *shared)
{
    int how = 0;
    const char *why = NULL;
    *shared = (struct found){.at = -1};
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        if (!run_open(&why))
            _exit(77);
        if (recorded)
            try_recorded(t, shared);
        else
            shared->differs = try_model(t) != 0;
        _exit(0);
    }
    (void)waitpid(pid, &how, 0);
    return !WIFEXITED(how) || shared->differs;
}

static void drop(struct transcript *t, int at)
{
    const size_t left = (size_t)(t->program.count - at - 1);
    memmove(&t->program.steps[at], &t->program.steps[at + 1],
            left * sizeof(t->program.steps[0]));
    memmove(&t->answers[at], &t->answers[at + 1], left * sizeof(t->answers[0]));
    t->program.count--;
}

static bool find(const char *path, uint32_t seed, struct transcript *t)
{
    size_t bytes = 0;
    unsigned char *all = file_read(path, &bytes);
    const unsigned char *at = all;
    bool found = false;
    while (all && !found && file_next(&at, all + bytes, t))
        found = t->program.seed == seed;
    free(all);
    return found;
}

/* The steps of a program as the generator draws it with the model alone. */
static void draw_alone(struct transcript *t, uint32_t seed)
{
    struct model *model = model_create();
    struct generator gen = {.model = model, .transcript = t};
    generate(&gen, seed);
    model_destroy(model);
}

/* Leaves out what can be left out; `found` says which difference has to stay. */
static void shorten(struct transcript *t, bool recorded, struct found *found)
{
    static struct transcript tried;
    const struct found first = *found;
    struct step last = {0};
    if (recorded && first.at >= 0) {
        t->program.count = first.at + 1;
        last = t->program.steps[first.at];
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int at = t->program.count - 1; at >= 0; at--) {
            tried = *t;
            drop(&tried, at);
            if (!differs(&tried, recorded, found))
                continue;
            if (recorded && first.at >= 0 &&
                (found->at != tried.program.count - 1 ||
                 memcmp(&tried.program.steps[found->at], &last, sizeof(last)) != 0 ||
                 !answers_equal(&found->got, &first.got)))
                continue;
            *t = tried;
            changed = true;
        }
    }
    printf("the driver answers ");
    answer_print(&first.got);
    printf("\n");
}

int show_transcript(const char *path, uint32_t seed)
{
    static struct transcript t;
    if (!find(path, seed, &t)) {
        printf("no seed %u in %s\n", seed, path);
        return 1;
    }
    for (int i = 0; i < t.program.count; i++) {
        print_step(&t, i);
        printf(" -> ");
        answer_print(&t.answers[i]);
        printf("\n");
    }
    return 0;
}

int shrink_program(const char *path, uint32_t seed)
{
    static struct transcript t;
    if (path == NULL)
        draw_alone(&t, seed);
    else if (!find(path, seed, &t))
        return (printf("no seed %u in %s\n", seed, path), 1);
    struct found *found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED || !differs(&t, path != NULL, found)) {
        printf("seed %u does not differ in an answer\n", seed);
        return 1;
    }
    shorten(&t, path != NULL, found);
    if (path == NULL)
        predict(&t);
    printf("seed %u, shortened to %d steps:\n", seed, t.program.count);
    for (int i = 0; i < t.program.count; i++) {
        print_step(&t, i);
        printf(" -> %s ", path ? "recorded" : "model");
        answer_print(&t.answers[i]);
        printf("\n");
    }
    return 0;
}
