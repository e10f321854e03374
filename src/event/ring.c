// SPDX-License-Identifier: Apache-2.0
/* The writing end: units are taken by compare-and-swap on `head`, so that a record that
 * does not fit takes nothing. */
#define _GNU_SOURCE
#include "event/ring.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/limit.h"
#include "event/ring_format.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { UNITS_MIN = 64, UNITS_MAX = 1 << 26 };

struct gphi_event_ring {
    gphi_event_ring_head *head;
    gphi_event *units;
    uint64_t mask;
    uint64_t secret;
    size_t bytes; /* mapped */
};

static gph_status fail_io(gph_error *error, const char *verb, const char *path, int code)
{
    return gphi_fail(error, GPH_E_IO, "cannot %s %.300s: %s", verb, path, strerror(code));
}

static uint64_t make_secret(void)
{
    uint64_t secret;
    if (getrandom(&secret, sizeof(secret), GRND_NONBLOCK) != (ssize_t)sizeof(secret))
        secret = gphi_clock_ns() * UINT64_C(0x9e3779b97f4a7c15);
    return secret;
}

/* Maps a new file of `bytes`. Its room is reserved: a full disk must not end in SIGBUS in
 * somebody's program; and its pages are there, so that no call pays for one. */
static gph_status map_file(const char *path, size_t bytes, void **out, gph_error *error)
{
    unlink(path);
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail_io(error, "make", path, errno);
    const int refused = gphi_limit_allocate(fd, (off_t)bytes);
    void *base = refused == 0 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_POPULATE, fd, 0)
                              : MAP_FAILED;
    const int code = refused != 0 ? refused : errno;
    close(fd);
    if (base == MAP_FAILED) {
        unlink(path);
        errno = code; /* for those who pass no error */
        return fail_io(error, refused != 0 ? "reserve room for" : "map", path, code);
    }
    *out = base;
    return GPH_OK;
}

gph_status gphi_event_ring_create(const char *path, uint32_t units, gphi_event_ring **out,
                                  gph_error *error)
{
    if (units < UNITS_MIN || units > UNITS_MAX || (units & (units - 1)) != 0)
        return gphi_fail(error, GPH_E_INVALID,
                         "%u units are not a power of two from %d to %d", units,
                         UNITS_MIN, UNITS_MAX);
    const size_t bytes = GPHI_RING_UNITS_AT + (size_t)units * GPHI_RING_UNIT;
    /* Not from the heap: the program's allocator may be what is being looked at. */
    gphi_event_ring *ring = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ring == MAP_FAILED)
        return gphi_fail(error, GPH_E_NO_MEMORY, "a ring's %zu bytes", sizeof(*ring));
    void *base = NULL;
    const gph_status status = map_file(path, bytes, &base, error);
    if (status != GPH_OK) {
        const int code = errno;
        munmap(ring, sizeof(*ring));
        errno = code;
        return status;
    }
    gphi_event_ring_head *head = base;
    head->version = gphi_event_version();
    head->secret = make_secret();
    head->units = units;
    head->process = (uint32_t)getpid();
    *ring = (gphi_event_ring){.head = head,
                              .units = (gphi_event *)((char *)base + GPHI_RING_UNITS_AT),
                              .mask = units - 1,
                              .secret = head->secret,
                              .bytes = bytes};
    __atomic_store_n(&head->magic, GPHI_RING_MAGIC, __ATOMIC_RELEASE);
    *out = ring;
    return GPH_OK;
}

/* ---- slots ---- */

/* Takes the first that is free. */
static gphi_event_slot *take_slot(gphi_event_slot *slots, uint32_t thread)
{
    for (uint32_t i = 0; i < GPHI_RING_SLOTS; i++) {
        uint32_t there = __atomic_load_n(&slots[i].thread, __ATOMIC_RELAXED);
        if (there == 0 &&
            __atomic_compare_exchange_n(&slots[i].thread, &there, thread, 0,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            gphi_event_slot_leave(&slots[i]);
            return &slots[i];
        }
    }
    return NULL;
}

/* Some threads end without a word. */
static void free_slots_of_ended(gphi_event_slot *slots, uint32_t process)
{
    for (uint32_t i = 0; i < GPHI_RING_SLOTS; i++) {
        uint32_t thread = __atomic_load_n(&slots[i].thread, __ATOMIC_RELAXED);
        if (thread != 0 && syscall(SYS_tgkill, process, thread, 0) != 0 && errno == ESRCH)
            __atomic_compare_exchange_n(&slots[i].thread, &thread, 0, 0, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED);
    }
}

gphi_event_slot *gphi_event_ring_slot(gphi_event_ring *ring, uint32_t thread)
{
    gphi_event_slot *slots = (void *)((char *)ring->head + GPHI_RING_PAGE);
    gphi_event_slot *slot = take_slot(slots, thread);
    if (slot)
        return slot;
    free_slots_of_ended(slots, ring->head->process);
    return take_slot(slots, thread);
}

void gphi_event_slot_release(gphi_event_slot *slot)
{
    if (!slot)
        return;
    gphi_event_slot_leave(slot);
    __atomic_store_n(&slot->thread, 0, __ATOMIC_RELEASE);
}

void gphi_event_ring_forget(gphi_event_ring *ring)
{
    if (!ring)
        return;
    munmap(ring->head, ring->bytes);
    munmap(ring, sizeof(*ring));
}

/* Units come back by way of the reader: put_at()'s release, its acquire, its release of
 * `tail`, take()'s acquire. The reader has its own mapping, mostly in another process,
 * which tsan cannot follow: an annotation says so. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define GIVEN_TO_READER(ring) __tsan_release((ring)->head)
#define GIVEN_BY_READER(ring) __tsan_acquire((ring)->head)
#endif
#endif
#ifndef GIVEN_TO_READER
#define GIVEN_TO_READER(ring) ((void)0)
#define GIVEN_BY_READER(ring) ((void)0)
#define LAST_STORE(mark, value) __atomic_store_n(mark, value, __ATOMIC_RELEASE)
#else
/* After what tsan takes for the release, so not for its eyes. */
__attribute__((no_sanitize("thread"))) static void store_unseen(volatile uint64_t *mark,
                                                                uint64_t value)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
    *mark = value;
}
#define LAST_STORE(mark, value) store_unseen(mark, value)
#endif

static void put_at(const gphi_event_ring *ring, uint64_t position)
{
    gphi_event *event = &ring->units[position & ring->mask];
    GIVEN_TO_READER(ring);
    LAST_STORE(&event->mark, gphi_event_ring_mark(ring->secret, position));
}

/* `need` units in a row, or NULL. The record's `mark` keeps its position meanwhile, as
 * its complement: never a mark (put_at() has the position from it). */
static gphi_event *take(gphi_event_ring *ring, uint32_t need)
{
    gphi_event_ring_head *shared = ring->head;
    uint64_t head = __atomic_load_n(&shared->head, __ATOMIC_RELAXED);
    uint64_t skip;
    do {
        const uint64_t to_end = ring->mask + 1 - (head & ring->mask);
        skip = need > to_end ? to_end : 0;
        /* acquire: what the reader read of these units, it has read */
        const uint64_t tail = __atomic_load_n(&shared->tail, __ATOMIC_ACQUIRE);
        if (head + skip + need - tail > ring->mask + 1)
            return NULL;
    } while (!__atomic_compare_exchange_n(&shared->head, &head, head + skip + need, 1,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    GIVEN_BY_READER(ring);
    if (skip > 0) {
        gphi_event *filler = &ring->units[head & ring->mask];
        filler->kind = GPHI_RING_SKIP;
        filler->units = (uint16_t)skip; /* less than `need` */
        put_at(ring, head);
    }
    gphi_event *event = &ring->units[(head + skip) & ring->mask];
    __atomic_store_n(&event->mark, ~(head + skip), __ATOMIC_RELAXED);
    event->units = (uint16_t)need;
    return event;
}

void gphi_event_ring_put(gphi_event_ring *ring, gphi_event *event)
{
    put_at(ring, ~event->mark);
}

static void say_lost(gphi_event_ring *ring)
{
    uint64_t *unsaid = &ring->head->unsaid;
    const uint64_t count = __atomic_exchange_n(unsaid, 0, __ATOMIC_RELAXED);
    if (count == 0)
        return; /* another thread says it */
    gphi_event *event = take(ring, 1);
    if (!event) {
        __atomic_fetch_add(unsaid, count, __ATOMIC_RELAXED);
        return;
    }
    event->kind = GPHI_EVENT_LOST;
    event->thread = (uint32_t)syscall(SYS_gettid);
    event->time_ns = gphi_clock_ns();
    event->id = count;
    event->word_count = event->part_count = 0;
    event->stack = 0;
    memset(&event->u, 0, sizeof(event->u));
    gphi_event_ring_put(ring, event);
}

gphi_event *gphi_event_ring_take(gphi_event_ring *ring, size_t bytes)
{
    gphi_event_ring_head *shared = ring->head;
    const size_t need = 1 + (bytes + GPHI_RING_UNIT - 1) / GPHI_RING_UNIT;
    if (__atomic_load_n(&shared->unsaid, __ATOMIC_RELAXED) != 0)
        say_lost(ring);
    gphi_event *event =
        need <= UINT16_MAX && need <= ring->mask ? take(ring, (uint32_t)need) : NULL;
    if (!event) {
        __atomic_fetch_add(&shared->lost, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&shared->unsaid, 1, __ATOMIC_RELAXED);
    }
    return event;
}
