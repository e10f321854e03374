// SPDX-License-Identifier: Apache-2.0
/* Memory that processes share. What can be shared lies in files without a name (memfd),
 * which the kernel keeps as long as one process has one open or mapped:
 *
 *   cuMemCreate with a file descriptor   a file of its own           [bytes | label]
 *   a pool with a file descriptor        a file of its own, sparse:  [slot 0 | 1 | ... | label]
 *   cuMemAlloc, by cuIpcGetMemHandle     the device's file, and a ledger that says where
 *   events between processes             a file of words, one a process (device/eventshare.c)
 *   checkpoints                          the state of a process (device/checkpoint.c)
 *
 * A label ends every file and says what it is; seals keep anybody from making a file
 * smaller, so that no reader can fault. Handles of 64 bytes carry no descriptor: they name
 * the process and its descriptor, which is opened through /proc while that process lives. */
#ifndef SOFT_MEMORY_SHARE_H
#define SOFT_MEMORY_SHARE_H
#include <stdatomic.h>

#include "softcuda/memory/memory.h"

typedef enum soft_share_kind {
    SOFT_SHARE_PHYSICAL = 1,
    SOFT_SHARE_POOL,
    SOFT_SHARE_DEVICE,
    SOFT_SHARE_LEDGER,
    SOFT_SHARE_EVENTS,
    SOFT_SHARE_PROCESS
} soft_share_kind;

#define SOFT_LABEL_BYTES 4096ull

typedef struct soft_label {
    char magic[16];
    uint32_t kind;   /* soft_share_kind */
    uint32_t device; /* ordinal without CUDA_VISIBLE_DEVICES */
    uint64_t bytes;  /* before the label */
    uint64_t id[2];  /* drawn: no other file has it */
} soft_label;

/* A handle of 64 bytes, as it goes through the program from process to process. */
typedef struct soft_share_handle {
    uint64_t check; /* hash of what follows */
    uint32_t kind;  /* of the file that `file` is */
    int32_t process, file;
    uint32_t entry;
    uint64_t id[2];
    uint64_t offset, bytes; /* of kind POOL: in the file */
    uint64_t serial;
} soft_share_handle;
_Static_assert(sizeof(soft_share_handle) == 64, "CU_IPC_HANDLE_SIZE");

/* Alone: one thread at a time runs code of devices, and no other process has had a way to
 * their memory. Then a load and a store of such code are an atomic operation to all that
 * PTX's scopes of a block, a cluster and a device hold; the host is in the system's. */
extern atomic_uint soft_share_alone;
void soft_share_begin_alone(void);
static inline bool soft_share_is_alone(void)
{
    return atomic_load_explicit(&soft_share_alone, memory_order_relaxed) == 1;
}

/* A new file of `bytes` and its label. Fails with 2. The descriptor is the caller's. */
GPH_CHECKED gph_status soft_share_create(soft_share_kind kind, uint32_t device,
                                         uint64_t bytes, int *out, gph_error *error);
/* Whether `file` is one of a kind, as soft_share_create() made it. Any number may be asked
 * about. */
bool soft_share_read(int file, soft_share_kind kind, soft_label *out);
/* The same file through another process, which must be alive; -1 if it is not there or
 * not that file any more. The descriptor is the caller's. */
int soft_share_reach(int process, int file, soft_share_kind kind, const uint64_t id[2],
                     soft_label *out);
/* Writes the check, and whether it is right. */
void soft_share_seal(soft_share_handle *handle);
bool soft_share_is_sealed(const soft_share_handle *handle, soft_share_kind kind);

/* ---- cuMemCreate ----------------------------------------------------------------------- */

/* As soft_physical_create(), with a file of its own. */
GPH_CHECKED gph_status soft_physical_create_shared(soft_memory *memory, uint64_t bytes,
                                                   soft_physical **out, gph_error *error);
/* The file, borrowed; -1 if it has none of its own. */
int soft_physical_file(const soft_physical *physical);
/* Whether it was created to be shared, here. */
bool soft_physical_is_shared(const soft_physical *physical);
/* Memory that another process, or this one, has made. Fails with INVALID_VALUE where the
 * file is nothing of that kind. `file` stays the caller's. */
GPH_CHECKED gph_status soft_physical_import(soft_memory *memory, int file,
                                            soft_physical **out, gph_error *error);

/* ---- cuIpc: memory of cuMemAlloc ------------------------------------------------------- */

/* The handle of the allocation that holds `address`. Fails with INVALID_VALUE where that is
 * none of cuMemAlloc, with 801 where the device has no file (ulimit -f). */
GPH_CHECKED gph_status soft_ipc_export(soft_memory *memory, uint64_t address,
                                       soft_share_handle *out, gph_error *error);
/* The memory of another process at an address here; opened again, the same one. */
GPH_CHECKED gph_status soft_ipc_open(soft_memory *memory, const soft_share_handle *handle,
                                     uint64_t *out, gph_error *error);
/* The last close of an address unmaps it; the caller has waited for the work that uses
 * it. */
GPH_CHECKED gph_status soft_ipc_close(soft_memory *memory, uint64_t address,
                                      gph_error *error);

/* ---- pools ----------------------------------------------------------------------------- */

/* As soft_pool_create(), with a file of its own. */
GPH_CHECKED gph_status soft_pool_create_shared(soft_memory *memory,
                                               const soft_pool_policy *policy,
                                               soft_pool **out, gph_error *error);
/* A pool of another process: nothing is allocated from it; pointers are imported. */
GPH_CHECKED gph_status soft_pool_import(soft_memory *memory, int file, soft_pool **out,
                                        gph_error *error);
int soft_pool_file(const soft_pool *pool); /* borrowed; -1 if it has none */
bool soft_pool_is_import(const soft_pool *pool);
/* Whether it is an import of that file. */
bool soft_pool_is_of(const soft_pool *pool, int file);
/* How many allocations live. */
uint64_t soft_pool_live(soft_pool *pool);
/* Its handle was given out, which an H200 wants before pointers. */
void soft_pool_export(soft_pool *pool);
/* Fails with INVALID_VALUE where `address` is not live memory of a pool that was exported. */
GPH_CHECKED gph_status soft_pool_export_pointer(soft_memory *memory, uint64_t address,
                                                soft_share_handle *out, gph_error *error);
/* The allocation in this process, until soft_pool_free(); imported again, the same. */
GPH_CHECKED gph_status soft_pool_import_pointer(soft_pool *pool,
                                                const soft_share_handle *handle,
                                                uint64_t *out, gph_error *error);

#endif
