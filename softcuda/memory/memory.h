// SPDX-License-Identifier: Apache-2.0
/* The memory of one soft device: an address range, 2 MiB physical chunks, and what lies
 * on them: allocations, pools, VMM mappings; and the registry of host memory that CUDA
 * knows.
 *
 *   address range   64 GiB reserved, PROT_NONE      |....|AAAA|....|SSSS|....|VV..|
 *   slots           one a 2 MiB of the range             large  slab      VMM
 *   chunks          2 MiB pieces of a memfd, mapped into slots (one chunk may be mapped
 * twice)
 *
 * Allocations over half a chunk get slots of their own and are unmapped when freed, so
 * that using them afterwards faults; smaller ones share slabs of 512-byte granules. */
#ifndef SOFT_MEMORY_MEMORY_H
#define SOFT_MEMORY_MEMORY_H

#include "softcuda/engine/engine.h"

#define SOFT_CHUNK_BYTES (2ull << 20)
#define SOFT_GRANULE_BYTES 512ull

typedef struct soft_memory soft_memory;     /* one a device; any thread */
typedef struct soft_pool soft_pool;         /* any thread */
typedef struct soft_physical soft_physical; /* cuMemCreate's handle; any thread */

typedef enum soft_memory_kind {
    SOFT_MEMORY_DEVICE, /* cuMemAlloc */
    SOFT_MEMORY_MANAGED,
    SOFT_MEMORY_POOL,      /* stream-ordered */
    SOFT_MEMORY_GRAPH,     /* of a graph's alloc node */
    SOFT_MEMORY_VMM,       /* a mapped range */
    SOFT_MEMORY_SHARED,    /* another process', by cuIpcOpenMemHandle */
    SOFT_MEMORY_EXTERNAL,  /* of a file, by cuExternalMemoryGetMappedBuffer */
    SOFT_MEMORY_HOST,      /* cuMemHostAlloc */
    SOFT_MEMORY_REGISTERED /* cuMemHostRegister */
} soft_memory_kind;

/* What is known of one allocation. Copied out of the registry under its lock. */
typedef struct soft_allocation {
    uint64_t base, bytes; /* as asked for */
    soft_memory_kind kind;
    uint32_t device;    /* ordinal */
    uint32_t flags;     /* the creating call's */
    uint64_t buffer_id; /* unique in the process: CU_POINTER_ATTRIBUTE_BUFFER_ID */
    void *owner;        /* the context (device, managed, host kinds), else NULL */
    soft_pool *pool;    /* POOL, GRAPH */
    bool is_managed;    /* MANAGED, and POOL where the host may touch it, too */
    bool of_host;       /* POOL: the host's own, which devices reach */
} soft_allocation;

typedef struct soft_memory_options {
    uint32_t device;      /* ordinal, kept in the allocations */
    uint32_t physical;    /* ordinal that other processes know it by */
    uint64_t limit_bytes; /* physical memory; rounded down to chunks */
    uint64_t range_bytes; /* 0: 64 GiB; halved until the reservation fits */
    /* Check mode: the host is kept out. Addresses that are given out have no access;
     * soft_memory_reach() says where kernels and the driver find the bytes. Managed
     * memory is there at both places. */
    bool keeps_host_out;
    const gph_allocator *allocator;
} soft_memory_options;

typedef struct soft_memory_info {
    uint64_t limit_bytes, range_bytes;
    uint64_t free_bytes; /* physical bytes that no allocation or pool holds */
    uint64_t used_bytes,
        peak_bytes;     /* of allocations of every kind but HOST, REGISTERED */
    uint64_t map_calls; /* mmap calls so far: a launch that needs no remap adds 0 */
} soft_memory_info;

GPH_CHECKED gph_status soft_memory_create(const soft_memory_options *options,
                                          soft_memory **out, gph_error *error);
void soft_memory_destroy(soft_memory *memory); /* takes NULL; everything in it dies */
void soft_memory_get_info(soft_memory *memory, soft_memory_info *out);
/* Rises with each free, unmapping or change of access. */
uint64_t soft_memory_changes(const soft_memory *memory);
/* True if the address lies in the device's range, allocated or not. */
bool soft_memory_contains(const soft_memory *memory, uint64_t address);
uint64_t soft_memory_base(const soft_memory *memory);
/* Where a kernel or the driver finds the bytes of an address of the device's range: the
 * address itself, but where the host is kept out. Runs keep their length. */
uint64_t soft_memory_reach(const soft_memory *memory, uint64_t address);

/* Fails with 2 (CUDA_ERROR_OUT_OF_MEMORY), values in the message; bytes 0 with 1. `kind`
 * is DEVICE or MANAGED. The address is a multiple of 512. Contents are undefined. */
GPH_CHECKED gph_status soft_memory_alloc(soft_memory *memory, soft_memory_kind kind,
                                         uint64_t bytes, uint32_t flags, void *owner,
                                         uint64_t *out, gph_error *error);
/* Frees what soft_memory_alloc gave; another address is INVALID_VALUE, with a sentence. The
 * caller has waited for the work that uses it (cuMemFree synchronizes). */
GPH_CHECKED gph_status soft_memory_free(soft_memory *memory, uint64_t address,
                                        gph_error *error);
/* Frees every allocation of `owner` (cuCtxDestroy). */
void soft_memory_free_owner(soft_memory *memory, void *owner);
/* The live allocation (not HOST, not REGISTERED) that holds `address`. */
bool soft_memory_find(soft_memory *memory, uint64_t address, soft_allocation *out);
/* Memory freed in stream order that work queued before may touch still. */
bool soft_memory_find_held(soft_memory *memory, uint64_t address, soft_allocation *out);
/* One sentence about any address, for faults and refusals: "16 bytes past the end of the
 * 4096-byte allocation at 0x...", "was freed", "not device memory". */
void soft_memory_describe(soft_memory *memory, uint64_t address, char *text,
                          size_t bytes);

/* ---- check mode -------------------------------------------------------------------- */

typedef struct soft_check {
    uint64_t at;      /* where the bytes are, if the access is right */
    char reason[200]; /* what is wrong, of the address: "was freed ..." */
} soft_check;

/* Whether a kernel may touch [address, address + bytes): live device memory of one of the
 * devices, with that access, or host memory that CUDA knows. Byte grain. Thread: any. */
bool soft_check_access(soft_memory *const *memories, uint32_t count, uint64_t address,
                       uint64_t bytes, bool write, soft_check *out);

/* ---- host memory that CUDA knows: one registry a process --------------------------- */

/* Fails with 2; the memory is zeroed and page aligned. */
GPH_CHECKED gph_status soft_host_alloc(uint64_t bytes, uint32_t flags, void *owner,
                                       uint64_t *out, gph_error *error);
GPH_CHECKED gph_status soft_host_free(uint64_t address, gph_error *error);
/* Fails with HOST_MEMORY_ALREADY_REGISTERED on overlap. */
GPH_CHECKED gph_status soft_host_register(uint64_t address, uint64_t bytes,
                                          uint32_t flags, void *owner, gph_error *error);
/* Fails with HOST_MEMORY_NOT_REGISTERED, and INVALID_VALUE inside what is registered. */
GPH_CHECKED gph_status soft_host_unregister(uint64_t address, gph_error *error);
bool soft_host_find(uint64_t address, soft_allocation *out);
void soft_host_free_owner(void *owner);

/* ---- VMM --------------------------------------------------------------------------- */

GPH_CHECKED gph_status soft_range_reserve(soft_memory *memory, uint64_t bytes,
                                          uint64_t alignment, uint64_t wanted,
                                          uint64_t *out, gph_error *error);
/* Refused while something is mapped in it, or if it is not exactly one reservation. */
GPH_CHECKED gph_status soft_range_free(soft_memory *memory, uint64_t address,
                                       uint64_t bytes, gph_error *error);
GPH_CHECKED gph_status soft_physical_create(soft_memory *memory, uint64_t bytes,
                                            soft_physical **out, gph_error *error);
void soft_physical_retain(soft_physical *physical);
void soft_physical_release(soft_physical *physical); /* mappings keep the chunks alive */
/* Maps without access. Fails with 1 (not reserved, already mapped), with 801 where the
 * size is not the memory's. */
GPH_CHECKED gph_status soft_range_map(soft_memory *memory, uint64_t address,
                                      uint64_t bytes, soft_physical *physical,
                                      gph_error *error);
/* Whole mappings, any number; what is reserved and not mapped stays as it is. */
GPH_CHECKED gph_status soft_range_unmap(soft_memory *memory, uint64_t address,
                                        uint64_t bytes, gph_error *error);
/* access: 0 none, 1 read, 3 read and write (CUmemAccess_flags). The range must be mapped.
 */
GPH_CHECKED gph_status soft_range_set_access(soft_memory *memory, uint64_t address,
                                             uint64_t bytes, uint32_t access,
                                             gph_error *error);
bool soft_range_get_access(soft_memory *memory, uint64_t address, uint32_t *access);
/* The same for one device: the range can be used as the device with the widest access
 * may; which kernels may use it is looked up. The two above mean the memory's own. */
GPH_CHECKED gph_status soft_range_set_access_of(soft_memory *memory, uint64_t address,
                                                uint64_t bytes, uint32_t device,
                                                uint32_t access, gph_error *error);
bool soft_range_get_access_of(soft_memory *memory, uint64_t address, uint32_t device,
                              uint32_t *access);
/* Whether access was ever given to another device than the memory's own. */
bool soft_range_has_peers(const soft_memory *memory);
/* The handle mapped at an address, retained for the caller; NULL if none. */
soft_physical *soft_range_physical(soft_memory *memory, uint64_t address);

/* ---- stream-ordered pools ---------------------------------------------------------- */

typedef struct soft_pool_stats {
    uint64_t reserved_bytes, reserved_high_bytes, used_bytes, used_high_bytes;
} soft_pool_stats;

typedef struct soft_pool_policy {
    uint64_t release_threshold_bytes; /* kept when a synchronization trims; default 0 */
    uint32_t follow_event_dependencies, allow_opportunistic, allow_internal_dependencies;
    uint64_t max_bytes;       /* 0: the device's limit */
    bool is_managed, of_host; /* what it gives out; never changed */
} soft_pool_policy;

GPH_CHECKED gph_status soft_pool_create(soft_memory *memory,
                                        const soft_pool_policy *policy, soft_pool **out,
                                        gph_error *error);
/* With allocations alive the pool goes when the last one is freed (R109). */
void soft_pool_destroy(soft_pool *pool);
void soft_pool_get_policy(soft_pool *pool, soft_pool_policy *out);
void soft_pool_set_policy(soft_pool *pool, const soft_pool_policy *policy);
void soft_pool_get_stats(soft_pool *pool, soft_pool_stats *out);
void soft_pool_reset_high(soft_pool *pool, bool reserved, bool used);

/* Allocates for work submitted to `queue` from now on. Memory freed on the same queue is
 * reused at once, on other queues when the free has been reached, or when `follows` (may
 * be NULL) says that `queue` already waits for that point. If memory freed but not yet
 * reached is all there is, and internal dependencies are allowed, *wait is set to a point
 * that the work must wait for (else to {NULL, 0}). Fails with 2. */
GPH_CHECKED gph_status soft_pool_alloc(soft_pool *pool, uint64_t bytes, soft_queue *queue,
                                       bool (*follows)(void *user, soft_point point),
                                       void *user, uint64_t *out, soft_point *wait,
                                       gph_error *error);
/* The memory is free for others once `freed` is reached. Another pool's address, or one
 * freed already, fails with INVALID_VALUE. */
GPH_CHECKED gph_status soft_pool_free(soft_memory *memory, uint64_t address,
                                      soft_point freed, gph_error *error);
/* Gives reserved memory that nothing uses back, down to keep_bytes. */
void soft_pool_trim(soft_pool *pool, uint64_t keep_bytes);
/* What a stream, event or context synchronization does: trims to the release threshold.
 */
void soft_memory_synchronized(soft_memory *memory);

#endif
