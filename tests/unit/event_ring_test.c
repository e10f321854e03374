// SPDX-License-Identifier: Apache-2.0
/* The ring: what was put comes out, in order, whatever happens to the writer. */
#define _GNU_SOURCE
#include "event/ring.h"
#include "fault.h"
#include "test.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char ring_path[64];

static void fill(gphi_event *event, uint64_t id, uint64_t words)
{
    event->kind = GPHI_EVENT_STACK;
    event->thread = 7;
    event->time_ns = id;
    event->id = id;
    event->word_count = (uint16_t)words;
    event->part_count = 0;
    event->stack = 0;
    memset(&event->u, 0, sizeof(event->u));
    uint64_t *at = (uint64_t *)(event + 1);
    for (uint64_t i = 0; i < words; i++)
        at[i] = id * 1000 + i;
}

static int add(gphi_event_ring *ring, uint64_t id, uint64_t words)
{
    gphi_event *event = gphi_event_ring_take(ring, words * 8);
    if (event == NULL)
        return 0;
    fill(event, id, words);
    gphi_event_ring_put(ring, event);
    return 1;
}

static void check_body(const gphi_event *event)
{
    int is_right = 1;
    for (uint32_t i = 0; i < event->word_count; i++)
        is_right &= gphi_event_word(event, i) == event->id * 1000 + i;
    CHECK(is_right);
}

static gphi_event_ring *make(uint32_t units)
{
    gphi_event_ring *ring = NULL;
    gph_error error = {0};
    CHECK_OK(gphi_event_ring_create(ring_path, units, &ring, &error), error);
    return ring;
}

static gphi_event_ring_reader *reader_of(const gph_allocator *allocator)
{
    gphi_event_ring_reader *reader = NULL;
    gph_error error = {0};
    CHECK_OK(gphi_event_ring_open(ring_path, allocator, &reader, &error), error);
    return reader;
}

static void records_come_out_in_order_across_the_end(void)
{
    gphi_event_ring *ring = make(64);
    gphi_event_ring_reader *reader = reader_of(NULL);
    CHECK(gphi_event_ring_process(reader) == (uint32_t)getpid());
    uint64_t read = 0;
    for (uint64_t id = 0; id < 5000; id++) {
        CHECK(add(ring, id, id % 61)); /* 1 to 9 units, so the end is met in every way */
        if (id % 3 != 2)
            continue;
        for (const gphi_event *event;
             (event = gphi_event_ring_next(reader, false)) != NULL;) {
            CHECK(event->id == read++ && event->word_count == event->id % 61);
            check_body(event);
        }
    }
    while (gphi_event_ring_next(reader, false) != NULL)
        read++;
    CHECK(read == 5000 && gphi_event_ring_lost(reader) == 0);
    gphi_event_ring_close(reader);
    gphi_event_ring_forget(ring);
}

static void what_does_not_fit_is_counted_and_said(void)
{
    gphi_event_ring *ring = make(64);
    gphi_event_ring_reader *reader = reader_of(NULL);
    uint64_t kept = 0;
    for (uint64_t id = 0; id < 100; id++)
        kept += (uint64_t)add(ring, id, 8); /* 2 units */
    CHECK(kept == 32 && gphi_event_ring_lost(reader) == 68);
    for (uint64_t id = 0; id < 32; id++) {
        const gphi_event *event = gphi_event_ring_next(reader, false);
        CHECK(event != NULL && event->kind == GPHI_EVENT_STACK && event->id == id);
    }
    CHECK(gphi_event_ring_next(reader, false) == NULL);
    CHECK(add(ring, 1000, 8)); /* there is room again: first, what is missing is said */
    const gphi_event *event = gphi_event_ring_next(reader, false);
    CHECK(event != NULL && event->kind == GPHI_EVENT_LOST && event->id == 68);
    event = gphi_event_ring_next(reader, false);
    CHECK(event != NULL && event->id == 1000);
    CHECK(gphi_event_ring_take(ring, 64 * 64) == NULL); /* larger than the ring */
    CHECK(gphi_event_ring_take(ring, (size_t)1 << 40) == NULL);
    CHECK(gphi_event_ring_lost(reader) == 70);
    gphi_event_ring_close(reader);
    gphi_event_ring_forget(ring);
}

/* Of three threads: one in no call, two in calls that began at 100 and 200. */
static void the_call_that_lasts_longest_is_found(void)
{
    gphi_event_ring *ring = make(64);
    gphi_event_ring_reader *reader = reader_of(NULL);
    gphi_event_slot *slots[3], found = {0};
    for (uint32_t i = 0; i < 3; i++) {
        slots[i] = gphi_event_ring_slot(ring, 70 + i);
        gphi_event_slot_begin(slots[i]);
        slots[i]->time_ns = i * 100;
    }
    CHECK(!gphi_event_ring_stuck(reader, 1000, &found));
    gphi_event_slot_enter(slots[1], GPHI_CALL_cuStreamSynchronize);
    gphi_event_slot_enter(slots[2], GPHI_CALL_cuCtxSynchronize);
    CHECK(!gphi_event_ring_stuck(reader, 99, &found));
    CHECK(gphi_event_ring_stuck(reader, 1000, &found) && found.thread == 71);
    gphi_event_slot_leave(slots[1]);
    CHECK(!gphi_event_ring_stuck(reader, 199, &found));
    CHECK(gphi_event_ring_stuck(reader, 200, &found) && found.thread == 72 &&
          found.time_ns == 200);
    gphi_event_ring_close(reader);
    gphi_event_ring_forget(ring);
}

/* A thread asks and comes back; its slot says when, until its next call. */
static void who_asks_for_an_end_is_found(void)
{
    gphi_event_ring *ring = make(64);
    gphi_event_ring_reader *reader = reader_of(NULL);
    gphi_event_slot *slot = gphi_event_ring_slot(ring, 70), found = {0};
    gphi_event_slot_begin(slot);
    slot->time_ns = 300;
    CHECK(!gphi_event_ring_polls(reader, 100, &found));
    gphi_event_slot_enter(slot, GPHI_CALL_cuEventQuery);
    gphi_event_slot_leave(slot);
    CHECK(gphi_event_ring_polls(reader, 300, &found) && found.thread == 70);
    CHECK(!gphi_event_ring_polls(reader, 301, &found));
    gphi_event_slot_enter(slot, GPHI_CALL_cuStreamQuery);
    CHECK(gphi_event_ring_polls(reader, 300, &found));
    gphi_event_slot_enter(slot, GPHI_CALL_cuMemAlloc);
    CHECK(!gphi_event_ring_polls(reader, 100, &found));
    gphi_event_slot_leave(slot);
    gphi_event_slot_release(slot);
    gphi_event_ring_close(reader);
    gphi_event_ring_forget(ring);
}

enum { WRITERS = 4, EACH = 20000 };

static void *write_many(void *argument)
{
    gphi_event_ring *ring = argument;
    static _Atomic uint64_t next_writer;
    const uint64_t writer = atomic_fetch_add(&next_writer, 1) % WRITERS;
    for (uint64_t i = 0; i < EACH; i++)
        add(ring, writer * EACH + i, i % 20);
    return NULL;
}

static void several_threads_write_while_one_reads(void)
{
    gphi_event_ring *ring = make(1024);
    gphi_event_ring_reader *reader = reader_of(NULL);
    pthread_t threads[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, write_many, ring);
    uint64_t next[WRITERS] = {0}, read = 0, lost = 0;
    int joined = 0;
    for (;;) {
        const gphi_event *event = gphi_event_ring_next(reader, false);
        if (event == NULL && joined)
            break;
        if (event == NULL) {
            for (; !joined && read + gphi_event_ring_lost(reader) == WRITERS * EACH;
                 joined = 1)
                for (int i = 0; i < WRITERS; i++)
                    pthread_join(threads[i], NULL);
            continue;
        }
        if (event->kind == GPHI_EVENT_LOST) {
            lost += event->id;
            continue;
        }
        read++;
        check_body(event);
        const uint64_t writer = event->id / EACH, i = event->id % EACH;
        CHECK(writer < WRITERS && i >= next[writer]);
        next[writer % WRITERS] = i + 1; /* in each thread's order */
    }
    CHECK(read + gphi_event_ring_lost(reader) == WRITERS * EACH);
    CHECK(lost <= gphi_event_ring_lost(reader));
    gphi_event_ring_close(reader);
    gphi_event_ring_forget(ring);
}

/* A process that is killed with records unfinished, between finished ones. */
static void a_killed_writer_leaves_what_it_had_put(void)
{
    const pid_t child = fork();
    if (child == 0) {
        gphi_event_ring *ring = NULL;
        if (gphi_event_ring_create(ring_path, 256, &ring, NULL) != GPH_OK)
            _exit(1);
        for (uint64_t id = 0; id < 10; id++) {
            add(ring, id, 30);
            gphi_event *open = gphi_event_ring_take(ring, 8 * 30); /* never put */
            if (open != NULL && id % 2 == 0)
                fill(open, 555, 30);
        }
        raise(SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    gphi_event_ring_reader *reader = reader_of(NULL);
    const gphi_event *event = gphi_event_ring_next(reader, false);
    CHECK(event != NULL && event->id == 0);
    CHECK(gphi_event_ring_next(reader, false) ==
          NULL); /* not known yet that it is over */
    for (uint64_t id = 1; id < 10; id++) {
        event = gphi_event_ring_next(reader, true);
        if (CHECK(event != NULL && event->id == id))
            check_body(event);
    }
    CHECK(gphi_event_ring_next(reader, true) == NULL);
    gphi_event_ring_close(reader);
}

static void killed_at_any_moment(void)
{
    for (int round = 0; round < 20; round++) {
        int ready[2];
        CHECK(pipe(ready) == 0);
        const pid_t child = fork();
        if (child == 0) {
            gphi_event_ring *ring = NULL;
            if (gphi_event_ring_create(ring_path, 64, &ring, NULL) != GPH_OK ||
                write(ready[1], "x", 1) != 1)
                _exit(1);
            for (uint64_t id = 0;; id++)
                add(ring, id, id % 40);
        }
        char byte;
        CHECK(read(ready[0], &byte, 1) == 1);
        gphi_event_ring_reader *reader = reader_of(NULL);
        uint64_t last = 0, seen = 0;
        while (seen < 200u * (unsigned)(round + 1)) {
            const gphi_event *event = gphi_event_ring_next(reader, false);
            if (event == NULL || event->kind == GPHI_EVENT_LOST)
                continue;
            CHECK(seen == 0 || event->id > last);
            check_body(event);
            last = event->id;
            seen++;
        }
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        for (const gphi_event *event;
             (event = gphi_event_ring_next(reader, true)) != NULL;)
            if (event->kind != GPHI_EVENT_LOST) {
                CHECK(event->id > last);
                check_body(event);
                last = event->id;
            }
        gphi_event_ring_close(reader);
        close(ready[0]);
        close(ready[1]);
    }
}

/* Wild writes of the program into its own ring. */
static void a_scribbled_file_gives_whole_records_or_none(void)
{
    unsigned seed = 12345;
    for (int round = 0; round < 300; round++) {
        gphi_event_ring *ring = make(64);
        for (uint64_t id = 0; id < 12; id++)
            add(ring, id, (id * 7) % 30);
        gphi_event_ring_forget(ring);
        FILE *file = fopen(ring_path, "r+b");
        if (!CHECK(file != NULL))
            return;
        for (int i = 0; i < 20; i++) {
            seed = seed * 1103515245 + 12345;
            fseek(file, (long)(seed >> 8) % (4096 + 64 * 64 - 64), SEEK_SET);
            if (i == 0 && round % 2 == 0)
                fseek(file, 64 * (1 + round % 3), SEEK_SET); /* head, tail, lost */
            else if (i > 0 && round % 4 == 0)
                fseek(file, 4096 + (long)((seed >> 8) % 4000), SEEK_SET);
            fputc((int)(seed >> 16) & 0xFF, file);
        }
        fclose(file);
        gphi_event_ring_reader *reader = NULL;
        if (gphi_event_ring_open(ring_path, NULL, &reader, NULL) != GPH_OK)
            continue;
        int count = 0;
        for (const gphi_event *event;
             (event = gphi_event_ring_next(reader, true)) != NULL;) {
            CHECK(gphi_event_is_whole(event, (size_t)event->units * 64));
            count++;
        }
        CHECK(count <= 64);
        gphi_event_ring_close(reader);
    }
}

static void refuses_with_words(void)
{
    gphi_event_ring *ring = NULL;
    gphi_event_ring_reader *reader = NULL;
    gph_error error = {0};
    CHECK(gphi_event_ring_create(ring_path, 100, &ring, &error) == GPH_E_INVALID);
    CHECK(strstr(error.message, "100 units") != NULL && ring == NULL);
    CHECK(gphi_event_ring_create(ring_path, 32, &ring, &error) == GPH_E_INVALID);
    CHECK(gphi_event_ring_create("/nonexistent/x.ring", 64, &ring, &error) == GPH_E_IO);
    CHECK(gphi_event_ring_open("/nonexistent/x.ring", NULL, &reader, &error) == GPH_E_IO);
    CHECK(gphi_event_ring_open("/dev/null", NULL, &reader, &error) == GPH_E_FORMAT);
    FILE *file = fopen(ring_path, "wb");
    for (int i = 0; i < 5000; i++)
        fputc('x', file);
    fclose(file);
    CHECK(gphi_event_ring_open(ring_path, NULL, &reader, &error) == GPH_E_FORMAT);
    CHECK(reader == NULL);
}

static void a_ring_is_private(void)
{
    gphi_event_ring *ring = make(64);
    struct stat info;
    CHECK(stat(ring_path, &info) == 0 && (info.st_mode & 0777) == 0600);
    gphi_event_ring_forget(ring);
    gphi_event_ring_forget(NULL);
}

static void survives_every_failed_allocation(void)
{
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        gphi_event_ring *ring = make(64);
        add(ring, 1, 3);
        add(ring, 2, 30);
        gphi_event_ring_reader *reader = NULL;
        const gph_status status =
            gphi_event_ring_open(ring_path, &allocator, &reader, NULL);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        int count = 0;
        while (status == GPH_OK && gphi_event_ring_next(reader, true) != NULL)
            count++;
        gphi_event_ring_close(reader);
        gphi_event_ring_forget(ring);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (status == GPH_OK && count == 2)
            return;
    }
}

static void the_call_of_each_slot_is_told_when_the_writer_is_gone(void)
{
    gphi_event_ring *ring = make(64);
    gphi_event_ring_reader *reader = reader_of(NULL);
    gphi_event_slot *first = gphi_event_ring_slot(ring, 11);
    gphi_event_slot *second = gphi_event_ring_slot(ring, 12);
    gphi_event_slot *third = gphi_event_ring_slot(ring, 13);
    if (!CHECK(first != NULL && second != NULL && third != NULL))
        return;
    gphi_event_slot_begin(first);
    first->time_ns = 40;
    first->stack = 5;
    first->open = 2;
    first->flags = GPHI_CALL_PER_THREAD;
    first->word_count = 2;
    first->words[0] = 77;
    first->words[1] = 78;
    gphi_event_slot_enter(first, GPHI_CALL_cuGraphLaunch);
    gphi_event_slot_begin(second);
    gphi_event_slot_enter(second, GPHI_CALL_cuStreamSynchronize);
    gphi_event_slot_leave(second); /* has returned */
    gphi_event_slot_begin(third);
    third->from = 0x1234;
    gphi_event_slot_enter(third, GPHI_CALL_cuCtxSynchronize);
    CHECK(add(ring, 90, 1));
    CHECK(gphi_event_ring_next(reader, false) != NULL);
    CHECK(gphi_event_ring_next(reader, false) == NULL); /* it may still return */
    const gphi_event *event = gphi_event_ring_next(reader, true);
    CHECK(event != NULL && event->kind == GPHI_EVENT_CALL && event->thread == 11 &&
          event->u.call.call == GPHI_CALL_cuGraphLaunch && event->time_ns == 40 &&
          event->u.call.duration_ns == 50 && event->stack == 5 &&
          event->u.call.open == 2 && event->u.call.result == CUDA_ERROR_UNKNOWN &&
          event->u.call.flags == (GPHI_CALL_PER_THREAD | GPHI_CALL_UNRETURNED) &&
          gphi_event_word(event, 1) == 78 && event->word_count == 2);
    event = gphi_event_ring_next(reader, true);
    CHECK(event != NULL && event->kind == GPHI_EVENT_STACK &&
          gphi_event_word(event, 0) == 0x1234);
    const uint64_t number = event != NULL ? event->id : 0;
    event = gphi_event_ring_next(reader, true);
    CHECK(event != NULL && event->kind == GPHI_EVENT_CALL && event->thread == 13 &&
          event->stack == number && number != 0 && event->time_ns == 90);
    CHECK(gphi_event_ring_next(reader, true) == NULL);
    gphi_event_ring_close(reader);
    gphi_event_ring_forget(ring);
}

enum { MANY = 2000 };

static void slots_come_back(void)
{
    gphi_event_ring *ring = make(64);
    const uint32_t here = (uint32_t)getpid(); /* lives; no thread has the number 2^30 */
    uint32_t count = 0;
    while (count < MANY && gphi_event_ring_slot(ring, here) != NULL)
        count++;
    CHECK(count >= 64 && count < MANY);
    gphi_event_ring_forget(ring);
    ring = make(64);
    for (uint32_t i = 0; i < MANY; i++) { /* released */
        gphi_event_slot *slot = gphi_event_ring_slot(ring, here);
        CHECK(slot != NULL && slot->call == 0);
        gphi_event_slot_release(slot);
    }
    for (uint32_t i = 0; i < MANY; i++) /* of threads that ended without a word */
        CHECK(gphi_event_ring_slot(ring, (1U << 30) + i) != NULL);
    gphi_event_slot_release(NULL);
    gphi_event_ring_forget(ring);
}

int main(void)
{
    snprintf(ring_path, sizeof(ring_path), "/tmp/event_ring_test.%d", (int)getpid());
    RUN(records_come_out_in_order_across_the_end);
    RUN(what_does_not_fit_is_counted_and_said);
    RUN(the_call_that_lasts_longest_is_found);
    RUN(who_asks_for_an_end_is_found);
    RUN(several_threads_write_while_one_reads);
    RUN(a_killed_writer_leaves_what_it_had_put);
    RUN(killed_at_any_moment);
    RUN(the_call_of_each_slot_is_told_when_the_writer_is_gone);
    RUN(slots_come_back);
    RUN(a_scribbled_file_gives_whole_records_or_none);
    RUN(refuses_with_words);
    RUN(a_ring_is_private);
    RUN(survives_every_failed_allocation);
    unlink(ring_path);
    return test_done();
}
