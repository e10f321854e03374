// SPDX-License-Identifier: Apache-2.0
/* The counters of events between processes.
 *
 *   file of a process   [word][word][word] ...   a word an event, mapped by whoever opened it
 *
 * A word is used again once nobody has it: its process and all that opened it count. A
 * process that is killed keeps its words in use, and a record of work that it had not done
 * is never over: who waits for it waits forever, as on an H100. */
#include "softcuda/device/eventshare.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "softcuda/device/alloc.h"

#define WORDS 16384u
#define PAGE 4096u
enum { NAP_NS = 50000, LAUNCHES = 256 };

/* Shared memory. Release and acquire pair in `done` and in `serial`. */
struct word {
    _Alignas(64) _Atomic uint64_t recorded;
    _Atomic uint64_t done;
    _Atomic uint32_t users;
    _Atomic uint32_t serial; /* 0: its event is destroyed */
};
_Static_assert(sizeof(struct word) == 64 && PAGE % sizeof(struct word) == 0,
               "words do not cross pages");

struct soft_event_share {
    atomic_uint references; /* the event's, and one for each wait that is queued */
    struct word *word;
    void *page;               /* of an event that was opened: its mapping */
    soft_share_handle handle; /* of one that this process made */
    soft_queue *queue; /* of waits, whose numbers rise: none waits for a later one */
    /* Numbers of the launches whose record node has yet to run; under the event's mutex. */
    uint64_t numbers[LAUNCHES], launched, stamped;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct word *own; /* of this process; NULL until the first event */
static int own_file = -1;
static uint64_t own_id[2];
static uint32_t last_serial;

static CUresult make_file_locked(void)
{
    soft_label label;
    int file;
    if (own)
        return CUDA_SUCCESS;
    SOFT_TRY(soft_pass(soft_share_create(
        SOFT_SHARE_EVENTS, 0, WORDS * sizeof(struct word), &file, soft_error())));
    void *words = mmap(NULL, WORDS * sizeof(struct word), PROT_READ | PROT_WRITE,
                       MAP_SHARED, file, 0);
    if (words == MAP_FAILED || !soft_share_read(file, SOFT_SHARE_EVENTS, &label)) {
        close(file);
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for events of processes");
    }
    madvise(words, WORDS * sizeof(struct word), MADV_DONTFORK);
    own = words;
    own_file = file;
    memcpy(own_id, label.id, sizeof(own_id));
    return CUDA_SUCCESS;
}

static CUresult take_word_locked(struct soft_event_share *out)
{
    SOFT_TRY(make_file_locked());
    for (uint32_t i = 0; i < WORDS; i++) {
        uint32_t nobody = 0;
        if (!atomic_compare_exchange_strong(&own[i].users, &nobody, 1))
            continue;
        atomic_store(&own[i].recorded, 0);
        atomic_store(&own[i].done, 0);
        if (++last_serial == 0)
            last_serial = 1;
        atomic_store_explicit(&own[i].serial, last_serial, memory_order_release);
        out->word = &own[i];
        out->handle = (soft_share_handle){.kind = SOFT_SHARE_EVENTS,
                                          .process = getpid(),
                                          .file = own_file,
                                          .entry = i,
                                          .id = {own_id[0], own_id[1]},
                                          .serial = last_serial};
        soft_share_seal(&out->handle);
        return CUDA_SUCCESS;
    }
    return soft_fail(CUDA_ERROR_OUT_OF_MEMORY,
                     "%u events between processes are in use already", WORDS);
}

static CUresult new_share(const soft_context *context, struct soft_event_share **out)
{
    struct soft_event_share *share = soft_new(sizeof(*share));
    SOFT_TRY(soft_made(share, "no memory for an event between processes"));
    atomic_init(&share->references, 1);
    const CUresult result = soft_pass(
        soft_queue_create(context->device->engine, 0, &share->queue, soft_error()));
    if (result == CUDA_SUCCESS)
        *out = share;
    else
        soft_delete(share);
    return result;
}

/* Without a word: an event that could not be made. */
static void drop_share(struct soft_event_share *share)
{
    /* acq_rel: the last one sees what the others wrote before they let go. */
    if (atomic_fetch_sub_explicit(&share->references, 1, memory_order_acq_rel) != 1)
        return;
    if (share->word)
        atomic_fetch_sub(&share->word->users, 1);
    if (share->page)
        munmap(share->page, PAGE);
    soft_queue_release(share->queue);
    soft_delete(share);
}

CUresult soft_event_share(soft_event *event)
{
    struct soft_event_share *share;
    SOFT_TRY(new_share(event->context, &share));
    pthread_mutex_lock(&lock);
    const CUresult result = take_word_locked(share);
    pthread_mutex_unlock(&lock);
    if (result == CUDA_SUCCESS)
        event->share = share;
    else
        drop_share(share);
    return result;
}

void soft_event_unshare(soft_event *event)
{
    struct soft_event_share *share = event->share;
    if (!share)
        return;
    if (!share->page)
        atomic_store(&share->word->serial, 0);
    drop_share(share);
    event->share = NULL;
}

CUresult soft_event_export(soft_event *event, soft_share_handle *out)
{
    if (!event->share || event->share->page)
        return soft_fail(CUDA_ERROR_INVALID_HANDLE, "the event %s",
                         event->share ? "is another process'"
                                      : "was created without CU_EVENT_INTERPROCESS");
    *out = event->share->handle;
    return CUDA_SUCCESS;
}

/* ---- opening ----------------------------------------------------------------------- */

/* One more user of a word that is in use, and still the handle's. */
static bool join(struct word *word, uint32_t serial)
{
    uint32_t users = atomic_load(&word->users);
    while (users > 0 && !atomic_compare_exchange_weak(&word->users, &users, users + 1))
        ;
    if (users == 0)
        return false;
    if (atomic_load_explicit(&word->serial, memory_order_acquire) == serial)
        return true;
    atomic_fetch_sub(&word->users, 1);
    return false;
}

static CUresult map_word(const soft_share_handle *handle, struct soft_event_share *share)
{
    soft_label label;
    const uint32_t per_page = PAGE / sizeof(struct word);
    const int file = handle->entry < WORDS
                         ? soft_share_reach(handle->process, handle->file,
                                            SOFT_SHARE_EVENTS, handle->id, &label)
                         : -1;
    if (file < 0 || label.bytes != WORDS * sizeof(struct word)) {
        if (file >= 0)
            close(file);
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "process %d does not have that event any more: it has ended, or "
                         "is of another user or PID namespace",
                         handle->process);
    }
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                      (off_t)(handle->entry / per_page) * PAGE);
    close(file);
    if (page == MAP_FAILED)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory to map an event");
    madvise(page, PAGE, MADV_DONTFORK);
    struct word *word = (struct word *)page + handle->entry % per_page;
    if (join(word, (uint32_t)handle->serial)) {
        share->page = page;
        share->word = word;
        return CUDA_SUCCESS;
    }
    munmap(page, PAGE);
    return soft_fail(CUDA_ERROR_INVALID_VALUE, "process %d has destroyed the event",
                     handle->process);
}

CUresult soft_event_open(const soft_context *context, const soft_share_handle *handle,
                         struct soft_event_share **out)
{
    if (!soft_share_is_sealed(handle, SOFT_SHARE_EVENTS))
        return soft_fail(CUDA_ERROR_MAP_FAILED,
                         "the handle is not one of cuIpcGetEventHandle");
    if (handle->process == getpid())
        return soft_fail(CUDA_ERROR_INVALID_CONTEXT,
                         "the handle is of this process: it has the event already");
    struct soft_event_share *share;
    SOFT_TRY(new_share(context, &share));
    const CUresult result = map_word(handle, share);
    if (result == CUDA_SUCCESS)
        *out = share;
    else
        drop_share(share);
    return result;
}

/* ---- records and waits ------------------------------------------------------------- */

uint64_t soft_event_shared_begin(soft_event *event)
{
    return atomic_fetch_add(&event->share->word->recorded, 1) + 1;
}

void soft_event_shared_end(soft_event *event, uint64_t number)
{
    _Atomic uint64_t *done = &event->share->word->done;
    uint64_t before = atomic_load(done);
    while (before < number &&
           !atomic_compare_exchange_weak_explicit(
               done, &before, number, memory_order_acq_rel, memory_order_relaxed))
        ;
}

static bool is_over(const struct word *word, uint64_t number)
{
    return atomic_load_explicit(&((struct word *)(uintptr_t)word)->done,
                                memory_order_acquire) >= number;
}

bool soft_event_shared_done(soft_event *event)
{
    const struct word *word = event->share->word;
    return is_over(word, atomic_load(&event->share->word->recorded));
}

struct waiting {
    struct soft_event_share *share;
    uint64_t number;
};

/* Asked by one thread of the engine at a time, until it says true. */
static bool poll_wait(void *argument)
{
    struct waiting *waiting = argument;
    if (!is_over(waiting->share->word, waiting->number))
        return false;
    drop_share(waiting->share);
    soft_delete(waiting);
    return true;
}

/* Without memory for a work of the queue this thread waits itself. */
soft_point soft_event_shared_point(soft_event *event)
{
    struct soft_event_share *share = event->share;
    const uint64_t number = atomic_load(&share->word->recorded);
    soft_point point = {0};
    if (is_over(share->word, number))
        return point;
    struct waiting *waiting = soft_new(sizeof(*waiting));
    if (waiting) {
        *waiting = (struct waiting){.share = share, .number = number};
        atomic_fetch_add_explicit(&share->references, 1, memory_order_relaxed);
        const soft_work work = {
            .kind = SOFT_WORK_POLL, .poll = poll_wait, .argument = waiting};
        if (soft_queue_submit(share->queue, &work, NULL, 0, &point) == GPH_OK)
            return point;
        drop_share(share); /* the engine ends */
        soft_delete(waiting);
        return (soft_point){0};
    }
    while (!is_over(share->word, number))
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    return point;
}

/* ---- record nodes ------------------------------------------------------------------ */

void soft_event_shared_launch(soft_event *event)
{
    struct soft_event_share *share = event->share;
    const uint64_t number = soft_event_shared_begin(event);
    pthread_mutex_lock(&event->mutex);
    while (share->launched - share->stamped == LAUNCHES) {
        pthread_mutex_unlock(&event->mutex);
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        pthread_mutex_lock(&event->mutex);
    }
    share->numbers[share->launched++ % LAUNCHES] = number;
    pthread_mutex_unlock(&event->mutex);
}

void soft_event_shared_stamp(soft_event *event)
{
    struct soft_event_share *share = event->share;
    pthread_mutex_lock(&event->mutex);
    const uint64_t number = share->numbers[share->stamped++ % LAUNCHES];
    pthread_mutex_unlock(&event->mutex);
    soft_event_shared_end(event, number);
}
