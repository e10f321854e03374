// SPDX-License-Identifier: Apache-2.0
/* cuGetProcAddress(): from the name and version of a call to its symbol.
 *
 * Programs find all other calls through this one. The version is that of the program's
 * headers: it gets the newest signature that is not newer. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/hash.h"
#include "softcuda/api/exports.h"
#include "softcuda/api/symbols.h"
#include "softcuda/device/settings.h"

/* Chains of symbols by the hash of their name: a program asks for hundreds of names when
 * it starts. Positions are one more than the index; 0 ends a chain. */
#define BUCKETS 1024
#define SYMBOLS_MAX 1024
static uint16_t first_of[BUCKETS], next_of[SYMBOLS_MAX];
static pthread_once_t chains_once = PTHREAD_ONCE_INIT;

static uint64_t bucket_of(const char *name)
{
    return gphi_hash_text(GPHI_HASH_START, name) % BUCKETS;
}

static void make_chains(void)
{
    assert(soft_symbol_count < SYMBOLS_MAX);
    for (size_t i = 0; i < soft_symbol_count; i++) {
        const uint64_t bucket = bucket_of(soft_symbols[i].name);
        next_of[i] = first_of[bucket];
        first_of[bucket] = (uint16_t)(i + 1);
    }
}

/* The newest signature that `version` may see; the per-thread one first, if wanted. */
static const soft_symbol *newest(const char *name, int version, int per_thread,
                                 bool *known)
{
    const soft_symbol *best = NULL;
    pthread_once(&chains_once, make_chains);
    for (uint32_t at = first_of[bucket_of(name)]; at != 0; at = next_of[at - 1]) {
        const soft_symbol *entry = &soft_symbols[at - 1];
        if (strcmp(entry->name, name) != 0)
            continue;
        *known = true;
        if (entry->version <= version && entry->per_thread == per_thread &&
            (!best || entry->version > best->version))
            best = entry;
    }
    return best;
}

static CUresult find(const char *name, void **out, int version, cuuint64_t flags,
                     CUdriverProcAddressQueryResult *status)
{
    if (!name || !out)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL",
                         !name ? "the symbol" : "pfn");
    if (version > soft_driver_version())
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%s is asked for CUDA %d, the driver is %d", name, version,
                         soft_driver_version());
    const cuuint64_t allowed =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if ((flags & ~allowed) != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%llx",
                         (unsigned long long)flags);
    bool known = false;
    const soft_symbol *entry = NULL;
    const soft_symbol *legacy = newest(name, version, 0, &known);
    if ((flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0)
        entry = newest(name, version, 1, &known);
    if (!entry)
        entry = legacy;
    *out = NULL;
    if (entry)
        memcpy(out, &entry->function, sizeof(*out));
    if (status)
        *status = entry   ? CU_GET_PROC_ADDRESS_SUCCESS
                  : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                          : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}

/* Works before cuInit(), as the real one does. */
CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    soft_thread_self()->call = __func__;
    return find(name, out, version, flags, status);
}

CUresult cuGetProcAddress(const char *name, void **out, int version, cuuint64_t flags)
{
    soft_thread_self()->call = __func__;
    CUdriverProcAddressQueryResult status;
    SOFT_TRY(find(name, out, version, flags, &status));
    if (status != CU_GET_PROC_ADDRESS_SUCCESS)
        return soft_fail(CUDA_ERROR_NOT_FOUND, "there is no %s for CUDA %d", name,
                         version);
    return CUDA_SUCCESS;
}
