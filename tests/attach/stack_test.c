// SPDX-License-Identifier: Apache-2.0
/* Call stacks as numbers: the same stack has the same number, another one another, also
 * where all that differs is who called the caller; what is reported of them is enough to find
 * functions and lines when the process is gone. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "event/ring.h"
#include "symbol/symbol.h"
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int probe_open(const char *path);
uint32_t probe_stack(void);
uint32_t probe_below(size_t bytes);
uint32_t probe_python(void);

static gphi_event_ring_reader *reader;
static gphi_symbols *symbols;
static gph_error error;

static struct {
    uint32_t number, count;
    uint64_t frames[64];
} seen[256];
static uint32_t seen_count;

static void read_all(void)
{
    for (const gphi_event *event;
         (event = gphi_event_ring_next(reader, false)) != NULL;) {
        const uint64_t *words = gphi_event_words(event);
        if (event->kind == GPHI_EVENT_MODULE)
            CHECK(gphi_symbols_module(symbols, words[0], words[1], words[2],
                                      gphi_event_text(event, 0),
                                      gphi_event_text(event, 1)) == GPH_OK);
        if (event->kind != GPHI_EVENT_STACK || seen_count == 256)
            continue;
        seen[seen_count].number = (uint32_t)event->id;
        seen[seen_count].count = event->word_count;
        memcpy(seen[seen_count++].frames, words, event->word_count * sizeof(*words));
    }
}

static const char *function_of(uint32_t number, uint32_t frame)
{
    static gphi_symbol found[GPHI_SYMBOL_FRAMES];
    found[0].function = NULL;
    for (uint32_t i = 0; i < seen_count; i++)
        if (seen[i].number == number && frame < seen[i].count)
            gphi_symbols_find(symbols, seen[i].frames[frame], found);
    return found[0].function != NULL ? found[0].function : "";
}

#define APART __attribute__((noinline))

static APART uint32_t inner(void)
{
    const uint32_t number = probe_stack();
    __asm__ volatile("" ::: "memory");
    return number;
}

/* Frames of one size, so that `inner` has one stack pointer under both. */
static APART uint32_t left(void)
{
    const uint32_t number = inner();
    __asm__ volatile("nop" ::: "memory");
    return number;
}

static APART uint32_t right(void)
{
    const uint32_t number = inner();
    __asm__ volatile("nop" ::: "memory");
    return number;
}

static void a_number_is_a_stack(void)
{
    uint32_t (*const both[])(void) = {left, right};
    uint32_t numbers[2][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            numbers[k][i] = both[k]();
    CHECK(numbers[0][0] != 0 && numbers[1][0] != 0 && numbers[0][0] != numbers[1][0]);
    for (int k = 0; k < 2; k++)
        CHECK(numbers[k][1] == numbers[k][0] && numbers[k][2] == numbers[k][0]);
    read_all();
    CHECK(strcmp(function_of(numbers[0][0], 0), "inner") == 0);
    CHECK(strcmp(function_of(numbers[0][0], 1), "left") == 0);
    CHECK(strcmp(function_of(numbers[1][0], 1), "right") == 0);
    CHECK(strcmp(function_of(numbers[0][0], 2), "a_number_is_a_stack") == 0);
}

static APART uint32_t deep(unsigned levels)
{
    const uint32_t number = levels == 0 ? inner() : deep(levels - 1);
    __asm__ volatile("" ::: "memory");
    return number;
}

static void recursion_has_an_end(void)
{
    const unsigned levels[] = {3, 3, 500, 501};
    uint32_t numbers[4];
    for (int i = 0; i < 4; i++)
        numbers[i] = deep(levels[i]);
    CHECK(numbers[0] != 0 && numbers[1] == numbers[0]);
    CHECK(numbers[2] != 0 && numbers[2] != numbers[0]);
    CHECK(numbers[3] == numbers[2]); /* the innermost 32 frames are the same */
}

static void *in_thread(void *out)
{
    for (int i = 0; i < 1000; i++)
        *(uint32_t *)out = left();
    return NULL;
}

enum { HOLE = 512 };

static APART uint32_t shallow(size_t bytes)
{
    (void)bytes;
    const uint32_t number = probe_below((size_t)2 * HOLE);
    __asm__ volatile("" ::: "memory");
    return number;
}

/* Its frame has a hole, in which what shallow() had pushed for its call still lies. */
static APART uint32_t wide(size_t bytes)
{
    char hole[HOLE];
    __asm__ volatile("" ::"r"(hole) : "memory");
    const uint32_t number = probe_below(bytes);
    __asm__ volatile("" ::"r"(hole) : "memory");
    return number;
}

static void what_a_call_left_on_the_stack_is_no_frame(void)
{
    uint32_t (*const both[])(size_t) = {shallow, wide};
    uint32_t wrong = 0, numbers[2];
    for (size_t bytes = 0; bytes <= (size_t)2 * HOLE; bytes += 8) {
        for (int k = 0; k < 2; k++) /* from one place: their callers are the same */
            numbers[k] = both[k](bytes);
        wrong += numbers[0] == numbers[1];
    }
    CHECK(wrong == 0);
}

static void threads_share_numbers(void)
{
    pthread_t threads[4];
    uint32_t numbers[4] = {0};
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, in_thread, &numbers[i]) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(numbers[i] != 0 && numbers[i] == numbers[0]);
}

static void errno_is_kept(void)
{
    errno = 4711;
    probe_stack();
    probe_python();
    CHECK(errno == 4711);
}

static void without_python_it_is_the_same(void)
{
    CHECK(probe_python() != 0);
}

static void figures(void)
{
    enum { TIMES = 200000 };
    const uint64_t begin = gphi_clock_ns();
    for (int i = 0; i < TIMES; i++)
        left();
    printf("a stack that is known: %.0f ns\n",
           (double)(gphi_clock_ns() - begin) / (double)TIMES);
}

int main(void)
{
    char path[] = "/tmp/gph-stack-XXXXXX";
    const int fd = mkstemp(path);
    CHECK(fd >= 0 && close(fd) == 0 && unlink(path) == 0);
    CHECK(probe_open(path) == GPH_OK);
    CHECK_OK(gphi_event_ring_open(path, NULL, &reader, &error), error);
    CHECK_OK(gphi_symbols_create(NULL, &symbols, &error), error);
    RUN(a_number_is_a_stack);
    RUN(recursion_has_an_end);
    RUN(what_a_call_left_on_the_stack_is_no_frame);
    RUN(threads_share_numbers);
    RUN(errno_is_kept);
    RUN(without_python_it_is_the_same);
    RUN(figures);
    gphi_symbols_destroy(symbols);
    gphi_event_ring_close(reader);
    unlink(path);
    return test_done();
}
