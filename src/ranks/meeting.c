// SPDX-License-Identifier: Apache-2.0
/* How ranks meet: a file in shared memory, named after the job. A rank that comes locks its own
 * byte of it, for as long as it lives: the kernel takes the lock away when the process
 * ends, however it ends. One byte more is for one who comes or gives up, so that
 * these are one at a time. The last one to come takes the name away.
 *
 * These are record locks: a forked child has none of them, as a flock() would be. The
 * price: they go when the process closes any descriptor of the file, so it has one. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/limit.h"
#include "base/log.h"
#include "base/save.h"
#include "ranks/ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC "gphrank1"
#define NAP_NS UINT64_C(1000000)
#define DOOR ((off_t)GPH_RANKS_MAX) /* the byte of who comes */

/* ---- groups of this process ---- */

static gphi_mutex groups_mutex = GPHI_MUTEX_INIT;
static gph_ranks *groups; /* that have a file */
static atomic_uint forks;
static pthread_once_t forks_once = PTHREAD_ONCE_INIT;

/* The parent's groups are not the child's, and its other threads are not there. */
static void forget_groups(void)
{
    groups_mutex = (gphi_mutex)GPHI_MUTEX_INIT;
    groups = NULL;
    atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
}

static void count_forks(void)
{
    pthread_atfork(NULL, NULL, forget_groups);
}

void gphi_ranks_own(gph_ranks *ranks)
{
    pthread_once(&forks_once, count_forks);
    ranks->forks = atomic_load_explicit(&forks, memory_order_relaxed);
}

gph_status gphi_ranks_owned(const gph_ranks *ranks, gph_error *error)
{
    if (ranks->forks == atomic_load_explicit(&forks, memory_order_relaxed))
        return GPH_OK;
    return gphi_fail(error, GPH_E_STATE,
                     "process %ld is a forked child, and the group its parent's: it can "
                     "only close it",
                     (long)getpid());
}

static void nap(void)
{
    const struct timespec time = {.tv_nsec = (long)NAP_NS};
    nanosleep(&time, NULL);
}

/* ---- locks ---- */

static bool lock_byte(int fd, off_t at, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    return fcntl(fd, F_SETLK, &lock) == 0;
}

/* The process that has a lock there, or 0; -1: it is not to be seen from here. */
static long locker(int fd, off_t at, off_t bytes)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = bytes};
    if (fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
        return 0;
    return lock.l_pid > 0 ? (long)lock.l_pid : -1;
}

/* Whoever is in there does a few stores; but it may be stopped there. */
static gph_status enter(gph_ranks *ranks, gph_error *error)
{
    const uint64_t begin = gphi_clock_ns();
    while (!lock_byte(ranks->fd, DOOR, F_WRLCK)) {
        if (errno != EAGAIN && errno != EACCES && errno != EINTR)
            return gphi_save_fail(error, "lock", ranks->path);
        if (gphi_span_ns(begin, gphi_clock_ns()) > ranks->patience_ns)
            return gphi_fail(error, GPH_E_STATE,
                             "process %ld does not let others in to %s",
                             locker(ranks->fd, DOOR, 1), ranks->path);
        nap();
    }
    return GPH_OK;
}

static void go_out(gph_ranks *ranks)
{
    lock_byte(ranks->fd, DOOR, F_UNLCK);
}

/* ---- the file ---- */

static void name_file(gph_ranks *ranks)
{
    const gphi_hash128 hash =
        gphi_hash128_bytes((gphi_hash128){0}, ranks->who.name, strlen(ranks->who.name));
    const char *folder = "/dev/shm", *wish = getenv("TMPDIR");
    if (access(folder, W_OK) != 0)
        folder = wish && wish[0] == '/' && strlen(wish) < 128 ? wish : "/tmp";
    snprintf(ranks->path, sizeof(ranks->path), "%s/gph-ranks-%u-%016llx%016llx", folder,
             (unsigned)geteuid(), (unsigned long long)hash.high,
             (unsigned long long)hash.low);
}

static bool has_name(const gph_ranks *ranks)
{
    struct stat named, ours;
    return lstat(ranks->path, &named) == 0 && fstat(ranks->fd, &ours) == 0 &&
           named.st_ino == ours.st_ino && named.st_dev == ours.st_dev;
}

static gph_status map_board(gph_ranks *ranks, size_t bytes, int fd, gph_error *error)
{
    const int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (memory == MAP_FAILED)
        return gphi_save_fail(error, "map", fd < 0 ? "memory" : ranks->path);
    ranks->board = memory;
    ranks->board_bytes = bytes;
    return GPH_OK;
}

static size_t bytes_of(uint32_t count)
{
    return sizeof(gphi_ranks_board) + count * sizeof(gphi_ranks_slot);
}

static void begin_board(gph_ranks *ranks)
{
    gphi_ranks_board *board = ranks->board;
    board->version = gph_version();
    board->slot_bytes = sizeof(gphi_ranks_slot);
    board->count = ranks->who.count;
    board->patience_ns = ranks->patience_ns;
    board->notice_ns = ranks->notice_ns;
    memcpy(board->magic, MAGIC, sizeof(board->magic));
}

/* The room is reserved: a full disk must not end in SIGBUS. */
static gph_status make_board(gph_ranks *ranks, gph_error *error)
{
    const size_t bytes = bytes_of(ranks->who.count);
    errno = gphi_limit_allocate(ranks->fd, (off_t)bytes);
    if (errno != 0)
        return gphi_save_fail(error, "write", ranks->path);
    GPHI_TRY(map_board(ranks, bytes, ranks->fd, error));
    begin_board(ranks);
    return GPH_OK;
}

/* A cause that no rank of the board gives: of one who comes. It must be in there. */
static void visitor_gives_up(gph_ranks *ranks, uint32_t rank, const gph_error *cause)
{
    gphi_ranks_board *board = ranks->board;
    unsigned none = 0;
    if (board->visitor.code != 0 || atomic_load(&board->cause) != 0)
        return;
    board->visitor.rank = rank;
    board->visitor.code = cause->code;
    memcpy(board->visitor.message, cause->message, sizeof(board->visitor.message));
    atomic_compare_exchange_strong(&board->cause, &none, board->count + 1);
    gphi_futex_wake(&board->met);
}

/* Is the file what another job left, or one that has failed? */
static bool is_stale(gph_ranks *ranks, size_t bytes)
{
    gphi_ranks_board *board = ranks->board;
    if (bytes < sizeof(*board) ||
        memcmp(board->magic, MAGIC, sizeof(board->magic)) != 0 ||
        locker(ranks->fd, 0, GPH_RANKS_MAX) == 0)
        return true;
    if (board->version != gph_version() || board->slot_bytes != sizeof(board->slots[0]))
        return false;
    if (atomic_load(&board->cause) != 0 || atomic_load(&board->met) != 0)
        return true;
    for (uint32_t rank = 0; rank < board->count && bytes >= bytes_of(rank + 1); rank++) {
        if (atomic_load(&board->slots[rank].state) == GPHI_RANK_ABSENT ||
            locker(ranks->fd, (off_t)rank, 1) != 0)
            continue;
        gph_error cause;
        gphi_fail(&cause, GPH_E_STATE,
                  "rank %u (process %lld) ended before all ranks had come", rank,
                  (long long)board->slots[rank].process);
        visitor_gives_up(ranks, rank, &cause);
        return true;
    }
    return false;
}

/* Does the board fit what this rank was asked for? The others are not left to wait. */
static gph_status check_board(gph_ranks *ranks, size_t bytes, gph_error *error)
{
    const gphi_ranks_board *board = ranks->board;
    if (board->version != gph_version() || board->slot_bytes != sizeof(board->slots[0]))
        return gphi_fail(error, GPH_E_INVALID,
                         "rank %u has libgph %u (%zu), others of its group have %u (%u)",
                         ranks->who.rank, gph_version(), sizeof(board->slots[0]),
                         board->version, board->slot_bytes);
    char mine[32], theirs[32];
    gph_error cause = {0};
    if (board->count != ranks->who.count)
        gphi_fail(&cause, GPH_E_INVALID, "rank %u came for %u ranks, others for %u",
                  ranks->who.rank, ranks->who.count, board->count);
    else if (board->patience_ns != ranks->patience_ns)
        gphi_fail(&cause, GPH_E_INVALID, "rank %u has a patience of %s, others %s",
                  ranks->who.rank, gphi_ranks_time(ranks->patience_ns, mine),
                  gphi_ranks_time(board->patience_ns, theirs));
    else if (board->notice_ns != ranks->notice_ns)
        gphi_fail(&cause, GPH_E_INVALID, "rank %u has a notice of %s, others %s",
                  ranks->who.rank, gphi_ranks_time(ranks->notice_ns, mine),
                  gphi_ranks_time(board->notice_ns, theirs));
    else if (bytes < bytes_of(board->count))
        gphi_fail(&cause, GPH_E_IO, "%s has %zu bytes, not %zu", ranks->path, bytes,
                  bytes_of(board->count));
    if (cause.code == GPH_OK)
        return GPH_OK;
    visitor_gives_up(ranks, ranks->who.rank, &cause);
    return gphi_fail(error, cause.code, "%s", cause.message);
}

static void drop_file(gph_ranks *ranks)
{
    if (ranks->board)
        munmap(ranks->board, ranks->board_bytes);
    ranks->board = NULL;
    if (ranks->fd >= 0)
        close(ranks->fd); /* and its locks */
    ranks->fd = -1;
}

/* ---- coming ---- */

static void take_slot(gph_ranks *ranks)
{
    gphi_ranks_board *board = ranks->board;
    gphi_ranks_slot *slot = &board->slots[ranks->who.rank];
    slot->process = (int64_t)getpid();
    gethostname(slot->host, sizeof(slot->host) - 1);
    /* Release: process and host were written before. */
    atomic_store_explicit(&slot->state, GPHI_RANK_HERE, memory_order_release);
    if (atomic_fetch_add(&board->came, 1) + 1 < board->count)
        return;
    if (ranks->fd >= 0 && unlink(ranks->path) != 0)
        gphi_log("ranks", GPH_LOG_WARN, "cannot remove %s: %s", ranks->path,
                 strerror(errno));
    atomic_store_explicit(&board->met, 1, memory_order_release);
    gphi_futex_wake(&board->met);
}

/* In there, with a file that may be anything. Sets `again` where it was not the one. */
static gph_status come_in(gph_ranks *ranks, bool *again, gph_error *error)
{
    struct stat info;
    if (fstat(ranks->fd, &info) != 0)
        return gphi_save_fail(error, "read", ranks->path);
    if (info.st_uid != geteuid())
        return gphi_fail(error, GPH_E_IO, "%s belongs to user %u, not %u", ranks->path,
                         (unsigned)info.st_uid, (unsigned)geteuid());
    *again = !has_name(ranks);
    if (*again)
        return GPH_OK;
    const size_t bytes = (size_t)info.st_size;
    if (bytes == 0) {
        GPHI_TRY(make_board(ranks, error));
    } else {
        GPHI_TRY(map_board(ranks, bytes, ranks->fd, error));
        *again = is_stale(ranks, bytes);
        if (*again && unlink(ranks->path) != 0)
            return gphi_save_fail(error, "remove", ranks->path);
        if (*again)
            return GPH_OK;
        GPHI_TRY(check_board(ranks, bytes, error));
    }
    if (!lock_byte(ranks->fd, (off_t)ranks->who.rank, F_WRLCK))
        return gphi_fail(error, GPH_E_STATE,
                         "process %ld is rank %u of '%s' already, and process %ld came",
                         locker(ranks->fd, (off_t)ranks->who.rank, 1), ranks->who.rank,
                         ranks->who.name, (long)getpid());
    take_slot(ranks);
    return GPH_OK;
}

static gph_status come(gph_ranks *ranks, gph_error *error)
{
    bool again = true;
    while (again) {
        again = false;
        ranks->fd = open(ranks->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (ranks->fd < 0)
            return gphi_save_fail(error, "open", ranks->path);
        gph_status status = enter(ranks, error);
        if (status == GPH_OK) {
            status = come_in(ranks, &again, error);
            go_out(ranks);
        }
        if (status != GPH_OK || again)
            drop_file(ranks);
        GPHI_TRY(status);
    }
    return GPH_OK;
}

static void list_missing(const gph_ranks *ranks, char *out, size_t bytes)
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t rank = 0; rank < ranks->who.count && used + 16 < bytes; rank++)
        if (atomic_load(&ranks->board->slots[rank].state) == GPHI_RANK_ABSENT)
            used += (size_t)snprintf(out + used, bytes - used, "%s%u", used ? ", " : "",
                                     rank);
}

/* Its patience is over, or it was stopped. It gives up for all, unless the last one came just
 * now. */
static void give_up_meeting_inside(gph_ranks *ranks, bool is_stopped)
{
    char missing[128], time[32];
    gph_error cause;
    if (atomic_load(&ranks->board->met) != 0)
        return;
    list_missing(ranks, missing, sizeof(missing));
    if (is_stopped)
        gphi_fail(&cause, GPH_E_STATE,
                  "rank %u was stopped by its program when of the %u ranks of '%s' "
                  "these had not come: %s",
                  ranks->who.rank, ranks->who.count, ranks->who.name, missing);
    else
        gphi_fail(&cause, GPH_E_STATE,
                  "of the %u ranks of '%s' these did not come within %s: %s",
                  ranks->who.count, ranks->who.name,
                  gphi_ranks_time(ranks->patience_ns, time), missing);
    gphi_ranks_give_up(ranks, ranks->who.rank, &cause);
}

/* A meeting that has failed leaves no file; the name may be a later one's. */
static void remove_name_inside(gph_ranks *ranks)
{
    if (atomic_load(&ranks->board->met) == 0 && has_name(ranks) &&
        unlink(ranks->path) != 0)
        gphi_log("ranks", GPH_LOG_WARN, "cannot remove %s: %s", ranks->path,
                 strerror(errno));
}

static void end_meeting(gph_ranks *ranks, bool is_stopped)
{
    gph_error cause;
    if (enter(ranks, &cause) != GPH_OK) {
        gphi_ranks_give_up(ranks, ranks->who.rank, &cause);
        return;
    }
    if (!gphi_ranks_failed(ranks))
        give_up_meeting_inside(ranks, is_stopped);
    if (gphi_ranks_failed(ranks))
        remove_name_inside(ranks);
    go_out(ranks);
}

static gph_status wait_for_others(gph_ranks *ranks, gph_error *error)
{
    const uint64_t begin = gphi_clock_ns();
    /* Acquire: all slots were taken before. */
    while (!atomic_load_explicit(&ranks->board->met, memory_order_acquire)) {
        const bool is_over = gphi_ranks_failed(ranks) ||
                             gphi_span_ns(begin, gphi_clock_ns()) > ranks->patience_ns;
        const bool is_stopped = !is_over && gphi_ranks_stopped(ranks);
        if (is_over || is_stopped)
            end_meeting(ranks, is_stopped);
        GPHI_TRY(gphi_ranks_cause_get(ranks, error));
        gphi_futex_wait(&ranks->board->met, 0, 16 * NAP_NS);
        gphi_ranks_look(ranks);
    }
    return GPH_OK;
}

static gph_status come_once(gph_ranks *ranks, gph_error *error)
    GPHI_REQUIRES(&groups_mutex);

static gph_status come_once(gph_ranks *ranks, gph_error *error)
{
    for (const gph_ranks *other = groups; other; other = other->next)
        if (strcmp(other->path, ranks->path) == 0)
            return gphi_fail(
                error, GPH_E_STATE,
                "this process is rank %u of '%s' already; another group needs "
                "another name",
                other->who.rank, ranks->who.name);
    GPHI_TRY(come(ranks, error));
    ranks->next = groups;
    groups = ranks;
    return GPH_OK;
}

gph_status gphi_ranks_meet(gph_ranks *ranks, gph_error *error)
{
    if (ranks->who.count == 1 || ranks->foreign) {
        GPHI_TRY(map_board(ranks, bytes_of(ranks->who.count), -1, error));
        begin_board(ranks);
        take_slot(ranks);
        return GPH_OK;
    }
    name_file(ranks);
    gphi_mutex_lock(&groups_mutex);
    const gph_status status = come_once(ranks, error);
    gphi_mutex_unlock(&groups_mutex);
    GPHI_TRY(status);
    return wait_for_others(ranks, error);
}

void gphi_ranks_leave(gph_ranks *ranks)
{
    if (ranks->board && gphi_ranks_owned(ranks, NULL) == GPH_OK) {
        gphi_ranks_slot *slot = &ranks->board->slots[ranks->who.rank];
        /* Release: its last step comes before. */
        atomic_store_explicit(&slot->state, GPHI_RANK_LEFT, memory_order_release);
        if (atomic_load(&slot->sleepers) > 0)
            gphi_futex_wake(&slot->seq);
        gphi_mutex_lock(&groups_mutex);
        for (gph_ranks **at = &groups; *at; at = &(*at)->next) {
            if (*at != ranks)
                continue;
            *at = ranks->next;
            break;
        }
        drop_file(ranks); /* before another group of that name can come */
        gphi_mutex_unlock(&groups_mutex);
    }
    drop_file(ranks);
}
