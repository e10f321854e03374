// SPDX-License-Identifier: Apache-2.0
/* Many programs: recorded from a driver in child processes (a driver may crash or hang),
 * or compared with what was recorded. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "batch.h"
#include "generate.h"
#include "record.h"

enum { IN_CHILD = 40, SECONDS_IN_CHILD = 25 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What a child leaves: shared, so that it is there after a crash. */
struct shared {
    struct transcript t;
    uint32_t done; /* programs that ended */
    uint32_t mismatches;
    bool dead; /* the device failed: a new process is needed */
};

static struct shared *share(void)
{
    void *at = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static bool append(FILE *file, const struct transcript *t)
{
    static unsigned char bytes[RECORD_BYTES_MAX];
    const size_t count = transcript_frame(t, bytes);
    return fwrite(bytes, 1, count, file) == count && fflush(file) == 0;
}

static void say_mismatch(struct generator *gen, const struct answer *predicted)
{
    const struct transcript *t = gen->transcript;
    const int at = t->program.count - 1;
    printf("seed %u step %d: ", t->program.seed, at);
    step_print(&t->program.steps[at]);
    printf(": model ");
    answer_print(predicted);
    printf(", driver ");
    answer_print(&t->answers[at]);
    printf("\n");
}

static void run_program(struct transcript *t, uint32_t seed, uint32_t *mismatches)
{
    struct model *model = model_create();
    struct generator gen = {
        .model = model, .transcript = t, .execute = run_step, .mismatch = say_mismatch};
    struct finish expected;
    if (!run_begin())
        _exit(3);
    generate(&gen, seed);
    model_finish(model, &expected);
    run_finish(expected.destroyed, &t->finish);
    *mismatches += (uint32_t)gen.mismatches;
    if (gen.mismatches == 0 &&
        memcmp(expected.hash, t->finish.hash, sizeof(expected.hash)) != 0) {
        printf("seed %u: the model's memory differs\n", seed);
        *mismatches += 1;
    }
    model_destroy(model);
}

static void child(FILE *file, uint32_t first, uint32_t last, struct shared *shared)
{
    const char *why = NULL;
    if (!run_open(&why)) {
        fprintf(stderr, "no driver: %s\n", why);
        _exit(77);
    }
    for (uint32_t seed = first; seed <= last; seed++) {
        run_program(&shared->t, seed, &shared->mismatches);
        if (shared->t.finish.code != 0) /* the context failed */
            shared->t.crashed = shared->t.program.count;
        if (!append(file, &shared->t))
            _exit(4);
        shared->done++;
        shared->dead = !run_is_alive();
        if (shared->dead)
            break;
    }
    fflush(stdout);
    _exit(0);
}

static int wait_for(pid_t pid)
{
    const double until = now() + (double)SECONDS_IN_CHILD;
    int how = 0;
    while (waitpid(pid, &how, WNOHANG) == 0) {
        if (now() > until) {
            kill(pid, SIGKILL);
            (void)waitpid(pid, &how, 0);
            break;
        }
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return how;
}

int record_seeds(const char *path, uint32_t first, uint32_t last, double seconds)
{
    struct shared *shared = share();
    FILE *file = fopen(path, "wb");
    if (shared == NULL || file == NULL) {
        perror(path);
        return 1;
    }
    const double begun = now();
    uint32_t seed = first, crashed = 0, mismatches = 0;
    while (seed <= last && now() - begun < seconds) {
        uint32_t end = last - seed < IN_CHILD ? last : seed + IN_CHILD - 1;
        memset(shared, 0, sizeof(*shared));
        fflush(NULL);
        const pid_t pid = fork();
        if (pid == 0)
            child(file, seed, end, shared);
        const int how = pid < 0 ? -1 : wait_for(pid);
        mismatches += shared->mismatches;
        seed += shared->done;
        if (WIFEXITED(how) && (WEXITSTATUS(how) == 0 || shared->done > 0))
            continue; /* a fresh process goes on after what is done */
        if (!WIFSIGNALED(how)) {
            printf("recording ended: status %d\n", how);
            break;
        }
        fseek(file, 0, SEEK_END);
        shared->t.crashed = shared->t.program.count - 1;
        printf("seed %u CRASHED (signal %d) at step %d: ", seed, WTERMSIG(how),
               shared->t.crashed);
        if (shared->t.crashed >= 0)
            step_print(&shared->t.program.steps[shared->t.crashed]);
        printf("\n");
        memset(&shared->t.finish, 0, sizeof(shared->t.finish));
        if (shared->t.program.seed != seed)
            shared->t = (struct transcript){.program = {.seed = seed}, .crashed = 0};
        append(file, &shared->t);
        crashed++;
        seed++;
    }
    fclose(file);
    printf("%u programs in %.0f s, %u crashed, %u answers other than the model's\n",
           seed - first, now() - begun, crashed, mismatches);
    return seed > last ? 0 : 1;
}

/* ---- compare ---- */

static void say_difference(const struct transcript *t, int at, const struct answer *got)
{
    printf("seed %u step %d: ", t->program.seed, at);
    step_print(&t->program.steps[at]);
    printf(": recorded ");
    answer_print(&t->answers[at]);
    printf(", now ");
    answer_print(got);
    printf("\n");
}

/* The number of differences; the first ends the program, for what follows hangs on it. */
int compare_program(const struct transcript *t, bool verbose, bool quiet)
{
    struct answer got;
    struct finish finish;
    int differences = 0;
    if (!run_begin())
        return -1;
    for (int i = 0; i < t->program.count && differences == 0; i++) {
        run_step(&t->program.steps[i], &got);
        coverage_count(&t->program.steps[i], &got);
        if (verbose) {
            printf("%3d ", i);
            step_print(&t->program.steps[i]);
            printf(" -> ");
            answer_print(&got);
            printf("\n");
        }
        if (answers_equal(&got, &t->answers[i]))
            continue;
        differences++;
        if (!quiet)
            say_difference(t, i, &got);
    }
    run_finish(t->finish.destroyed, &finish);
    if (differences > 0)
        return differences;
    if (finish.code != t->finish.code) {
        differences++;
        if (!quiet)
            printf("seed %u: the end answers %d, recorded %d\n", t->program.seed,
                   finish.code, t->finish.code);
    }
    for (int b = 0; b < BUFFER_FIXED; b++) {
        if (finish.hash[b] == t->finish.hash[b])
            continue;
        differences++;
        if (!quiet)
            printf("seed %u: buffer %d holds other bytes\n", t->program.seed, b);
    }
    for (int i = 0; i < OBJECTS; i++) {
        if (finish.destroyed[i] == t->finish.destroyed[i])
            continue;
        differences++;
        if (!quiet)
            printf("seed %u: object %d was destroyed %d times, recorded %d\n",
                   t->program.seed, i, finish.destroyed[i], t->finish.destroyed[i]);
    }
    return differences;
}

int compare_file(const char *path, const struct choice *choice, bool verbose)
{
    static struct transcript t;
    size_t bytes = 0;
    uint32_t programs = 0, differ = 0, crashed = 0;
    unsigned char *all = file_read(path, &bytes);
    if (all == NULL)
        return 1;
    const unsigned char *at = all;
    while (file_next(&at, all + bytes, &t)) {
        if (t.program.seed < choice->first || t.program.seed > choice->last ||
            t.program.seed % choice->parts != choice->part)
            continue;
        crashed += t.crashed >= 0;
        if (t.crashed >= 0)
            continue;
        const int found = compare_program(&t, verbose, false);
        programs++;
        differ += found != 0;
        if (found < 0 || !run_is_alive())
            break;
    }
    const bool whole = at == all + bytes;
    free(all);
    printf("%u programs compared, %u differ, %u had crashed\n", programs, differ,
           crashed);
    return differ == 0 && whole && programs > 0 ? 0 : 1;
}
