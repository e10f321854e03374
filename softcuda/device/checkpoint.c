// SPDX-License-Identifier: Apache-2.0
/* The state of a process, in a file without a name that others find by its name in /proc:
 *
 *   RUNNING --lock--> LOCKED --checkpoint--> CHECKPOINTED
 *      ^---unlock-----'  ^-------restore---------'
 *
 * Memory of the device is memory of the process already, and so is all else of the driver:
 * a checkpoint has nothing to bring anywhere, and a dump of the process has all of it. Calls
 * wait at their begin; those that began before, and work that runs, go on. */
#include "softcuda/device/checkpoint.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "softcuda/device/driver.h"
#include "softcuda/memory/share.h"

#define BYTES 4096u
#define NAME "/memfd:softcuda-process"

static _Atomic uint32_t alone; /* the state, until it is published */
_Atomic uint32_t *_Atomic soft_checkpoint_word = &alone;
static int own_file = -1;

void soft_checkpoint_wait(void)
{
    _Atomic uint32_t *word = atomic_load(&soft_checkpoint_word);
    for (;;) {
        const uint32_t state = atomic_load_explicit(word, memory_order_acquire);
        if (state == CU_PROCESS_STATE_RUNNING)
            return;
        (void)syscall(SYS_futex, word, FUTEX_WAIT, state, NULL, NULL, 0);
    }
}

static _Atomic uint32_t *map(int file)
{
    void *page = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return page == MAP_FAILED ? NULL : page;
}

void soft_checkpoint_publish(void)
{
    int file = -1;
    if (own_file >= 0)
        return;
    if (soft_share_create(SOFT_SHARE_PROCESS, 0, BYTES, &file, soft_error()) == GPH_OK) {
        _Atomic uint32_t *word = map(file);
        if (word) {
            own_file = file;
            atomic_store(&soft_checkpoint_word, word);
            return;
        }
        close(file);
    }
    soft_log(CU_LOG_LEVEL_WARNING,
             "no memory file for the state of this process: others cannot lock it");
}

void soft_checkpoint_after_fork(void)
{
    if (own_file >= 0)
        close(own_file);
    own_file = -1;
    atomic_store(&alone, CU_PROCESS_STATE_RUNNING);
    atomic_store(&soft_checkpoint_word, &alone);
}

/* ---- of any process --------------------------------------------------------------------- */

/* The descriptor of that name among those of a process; -1: it has none. */
static int find_file(int pid)
{
    char path[64], target[64];
    int found = -1;
    soft_label label;
    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    DIR *folder = opendir(path);
    if (!folder)
        return -1;
    for (struct dirent *entry; found < 0 && (entry = readdir(folder));) {
        const ssize_t length =
            readlinkat(dirfd(folder), entry->d_name, target, sizeof(target) - 1);
        if (length < (ssize_t)strlen(NAME) || memcmp(target, NAME, strlen(NAME)) != 0)
            continue;
        const int file = openat(dirfd(folder), entry->d_name,
                                O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (soft_share_read(file, SOFT_SHARE_PROCESS, &label) && label.bytes == BYTES)
            found = file;
        else if (file >= 0)
            close(file);
    }
    closedir(folder);
    return found;
}

/* The word of a process, until drop_word(). */
static CUresult reach_word(int pid, _Atomic uint32_t **out)
{
    if (pid == (int)getpid() && soft_driver_phase() == SOFT_PHASE_READY) {
        *out = atomic_load(&soft_checkpoint_word);
        return CUDA_SUCCESS;
    }
    const int file = pid > 0 && pid != (int)getpid() ? find_file(pid) : -1;
    if (file < 0 && pid != (int)getpid() && (pid <= 0 || kill(pid, 0) != 0))
        return soft_fail(CUDA_ERROR_OPERATING_SYSTEM,
                         "process %d is not there, or is another user's", pid);
    if (file < 0)
        return soft_fail(CUDA_ERROR_NOT_INITIALIZED,
                         "process %d does not use softcuda, or its descriptors cannot be "
                         "read",
                         pid);
    *out = map(file);
    close(file);
    return *out ? CUDA_SUCCESS
                : soft_fail(CUDA_ERROR_OUT_OF_MEMORY,
                            "no memory to map the state of process %d", pid);
}

static void drop_word(_Atomic uint32_t *word)
{
    if (word != atomic_load(&soft_checkpoint_word))
        munmap((void *)(uintptr_t)word, BYTES);
}

CUresult soft_checkpoint_get(int pid, CUprocessState *out)
{
    _Atomic uint32_t *word;
    SOFT_TRY(reach_word(pid, &word));
    *out = (CUprocessState)atomic_load_explicit(word, memory_order_acquire);
    drop_word(word);
    return CUDA_SUCCESS;
}

CUresult soft_checkpoint_change(int pid, CUprocessState from, CUprocessState to)
{
    static const char *const names[] = {"running", "locked", "checkpointed", "failed"};
    _Atomic uint32_t *word;
    uint32_t now = from;
    SOFT_TRY(reach_word(pid, &word));
    const bool changed = atomic_compare_exchange_strong(word, &now, to);
    if (changed && to == CU_PROCESS_STATE_RUNNING)
        (void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    drop_word(word);
    return changed ? CUDA_SUCCESS
                   : soft_fail(CUDA_ERROR_ILLEGAL_STATE, "process %d is %s, not %s", pid,
                               names[now & 3], names[from]);
}
