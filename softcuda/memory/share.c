// SPDX-License-Identifier: Apache-2.0
/* Files that processes share: how one is made, and how one that comes from elsewhere is
 * known to be what it says. Nothing that a process gets from another is believed: the
 * label must be there, the size must be the label's, and seals must keep both so. */
#include "softcuda/memory/share.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/limit.h"
#include "cuda/abi.h"

#define MAGIC "softcuda share 1"
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

static const char *const names[] = {
    "softcuda",         "softcuda-memory", "softcuda-pool",   "softcuda-device",
    "softcuda-exports", "softcuda-events", "softcuda-process"};

enum { NOT_YET, ALONE, NOT_ANY_MORE };
atomic_uint soft_share_alone = NOT_YET;

void soft_share_begin_alone(void)
{
    unsigned before = NOT_YET;
    atomic_compare_exchange_strong(&soft_share_alone, &before, ALONE);
}

/* Another process has, or may get, memory of this one. */
static void end_alone(soft_share_kind kind)
{
    if (kind != SOFT_SHARE_PROCESS && kind != SOFT_SHARE_EVENTS)
        atomic_store(&soft_share_alone, NOT_ANY_MORE);
}

static bool write_label(int file, soft_label *label)
{
    _Static_assert(sizeof(MAGIC) - 1 == sizeof(label->magic), "16 characters");
    memcpy(label->magic, MAGIC, sizeof(label->magic));
    if (getrandom(label->id, sizeof(label->id), 0) != (ssize_t)sizeof(label->id))
        return false;
    return ftruncate(file, (off_t)(label->bytes + SOFT_LABEL_BYTES)) == 0 &&
           gphi_limit_write_at(file, label, sizeof(*label), (off_t)label->bytes) &&
           fcntl(file, F_ADD_SEALS, SEALS | F_SEAL_SEAL) == 0;
}

gph_status soft_share_create(soft_share_kind kind, uint32_t device, uint64_t bytes,
                             int *out, gph_error *error)
{
    soft_label label = {.kind = kind, .device = device, .bytes = bytes};
    if (!gphi_limit_allows(bytes + SOFT_LABEL_BYTES))
        return gphi_fail(error, CUDA_ERROR_OUT_OF_MEMORY,
                         "this process may not make a file of %llu MiB (ulimit -f)",
                         (unsigned long long)(bytes >> 20));
    const int file = memfd_create(names[kind], MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file >= 0 && write_label(file, &label)) {
        if (kind != SOFT_SHARE_DEVICE) /* every device has one: shown by a ledger */
            end_alone(kind);
        *out = file;
        return GPH_OK;
    }
    if (file >= 0)
        close(file);
    return gphi_fail(error, CUDA_ERROR_OUT_OF_MEMORY,
                     "the system refuses a memory file of %llu MiB",
                     (unsigned long long)(bytes >> 20));
}

bool soft_share_read(int file, soft_share_kind kind, soft_label *out)
{
    struct stat what;
    if (file < 0 || fstat(file, &what) != 0 || !S_ISREG(what.st_mode) ||
        what.st_size < (off_t)SOFT_LABEL_BYTES)
        return false;
    /* Before the first read: from here on nobody can make the file smaller. */
    const int seals = fcntl(file, F_GET_SEALS);
    if (seals < 0 || (seals & SEALS) != SEALS)
        return false;
    const off_t at = what.st_size - (off_t)SOFT_LABEL_BYTES;
    const bool known = pread(file, out, sizeof(*out), at) == (ssize_t)sizeof(*out) &&
                       memcmp(out->magic, MAGIC, sizeof(out->magic)) == 0 &&
                       out->kind == kind && out->bytes == (uint64_t)at;
    if (known)
        end_alone(kind);
    return known;
}

int soft_share_reach(int process, int file, soft_share_kind kind, const uint64_t id[2],
                     soft_label *out)
{
    char path[64];
    if (process <= 0 || file < 0)
        return -1;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", process, file);
    /* It may be anything by now: opening it must neither wait nor have an effect. */
    const int own = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (own >= 0 && soft_share_read(own, kind, out) &&
        memcmp(out->id, id, sizeof(out->id)) == 0)
        return own;
    if (own >= 0)
        close(own);
    return -1;
}

static uint64_t check_of(const soft_share_handle *handle)
{
    return gphi_hash_fnv(GPHI_HASH_FNV_START, &handle->kind,
                         sizeof(*handle) - offsetof(soft_share_handle, kind));
}

void soft_share_seal(soft_share_handle *handle)
{
    handle->check = check_of(handle);
}

bool soft_share_is_sealed(const soft_share_handle *handle, soft_share_kind kind)
{
    return handle->check == check_of(handle) && handle->kind == kind;
}
