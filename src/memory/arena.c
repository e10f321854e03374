// SPDX-License-Identifier: Apache-2.0
/* The arena: one reserved range, pages that come, lie idle, and go. */
#include "memory/arena.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "cuda/defer.h"
#include "cuda/status.h"
#include "memory/ledger.h"

/* ---- where ---- */

/* Pages without an owner, mapped or not. */
uint64_t gphi_arena_room(const gph_arena *arena, uint64_t first, uint64_t most)
{
    uint64_t count = 0;
    while (count < most && first + count < arena->page_count &&
           arena->pages[first + count].owner == 0)
        count++;
    return count;
}

/* The best run of idle pages in the gap [first, end): the smallest that has `count`, else
 * the largest that has room for `count` from its start. */
static void look_at_idle(const gph_arena *arena, uint64_t first, uint64_t end,
                         uint64_t count, uint64_t best[2])
{
    for (uint64_t i = first; i < end; i++) {
        const uint64_t start = i;
        while (i < end && arena->pages[i].is_mapped)
            i++;
        const uint64_t length = i - start;
        if (length == 0 || end - start < count)
            continue;
        const bool fits = length >= count, did_fit = best[1] >= count;
        if (best[1] == 0 || (fits && !did_fit) ||
            (fits == did_fit && (fits ? length < best[1] : length > best[1]))) {
            best[0] = start;
            best[1] = length;
        }
    }
}

/* Where idle pages lie is cheapest; else the middle of the largest gap. */
bool gphi_arena_place(const gph_arena *arena, uint64_t count, uint64_t *first)
{
    uint64_t idle[2] = {0, 0}, gap[2] = {0, 0};
    for (uint64_t i = 0; i < arena->page_count; i++) {
        const uint64_t start = i;
        while (i < arena->page_count && arena->pages[i].owner == 0)
            i++;
        if (i - start > gap[1]) {
            gap[0] = start;
            gap[1] = i - start;
        }
        if (arena->total_pages > arena->owned_pages)
            look_at_idle(arena, start, i, count, idle);
    }
    if (gap[1] < count)
        return false;
    if (idle[1] != 0)
        *first = idle[0];
    else if (gap[0] == 0)
        *first = 0;
    else /* in the middle, so that both neighbors can grow */
        *first = gap[0] + (gap[1] - count) / 2;
    return true;
}

/* ---- pages ---- */

uint64_t gphi_arena_cached(const gph_arena *arena)
{
    return arena->total_pages - arena->owned_pages;
}

/* Pages of one range, so an address and a number are the same. */
static CUdeviceptr page_address(const gph_arena *arena, uint64_t page)
{
    return arena->base + page * arena->page_bytes;
}

/* From the stock, which costs no call, before new memory of the device. */
static gph_status make_handle(gph_arena *arena, CUmemGenericAllocationHandle *out,
                              gph_error *error)
{
    if (arena->stock.count > 0) {
        *out = *(CUmemGenericAllocationHandle *)gphi_vec_at(&arena->stock,
                                                            --arena->stock.count);
        return GPH_OK;
    }
    if (arena->total_pages >= arena->budget_pages)
        return gphi_fail(error, CUDA_ERROR_OUT_OF_MEMORY, "the budget is %llu bytes",
                         (unsigned long long)(arena->budget_pages * arena->page_bytes));
    /* Room for all that exist, so that giving one back to the stock cannot fail. */
    if (arena->stock.capacity <= arena->total_pages &&
        gphi_vec_reserve(&arena->stock, (size_t)arena->total_pages + 1) != GPH_OK)
        return gphi_fail(error, GPH_E_NO_MEMORY, "keeping a page");
    const CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = arena->device}};
    GPHI_TRY(gphi_cuda_check(
        error, arena->runtime->cu.cuMemCreate(out, arena->page_bytes, &prop, 0),
        "cuMemCreate", "%llu bytes", (unsigned long long)arena->page_bytes));
    arena->total_pages++;
    gphi_ledger_pages(arena->device, (int64_t)arena->page_bytes);
    return GPH_OK;
}

/* Cannot fail: make_handle() keeps room for every handle that exists. */
static void put_handle(gph_arena *arena, CUmemGenericAllocationHandle handle)
{
    *(CUmemGenericAllocationHandle *)gphi_vec_add(&arena->stock, 1) = handle;
}

/* A page that stays mapped keeps its handle: it is lost, not used twice. */
static bool unmap_page(gph_arena *arena, uint64_t page)
{
    struct gphi_page *p = &arena->pages[page];
    const CUresult result =
        arena->runtime->cu.cuMemUnmap(page_address(arena, page), arena->page_bytes);
    if (result != CUDA_SUCCESS) {
        gphi_log("memory", GPH_LOG_ERROR, "cuMemUnmap of 0x%llx returned %s",
                 (unsigned long long)page_address(arena, page),
                 gph_status_name((gph_status)result));
        return false;
    }
    p->is_mapped = false;
    put_handle(arena, p->handle);
    return true;
}

/* No access yet, which is one call for a whole run. */
static gph_status map_page(gph_arena *arena, uint64_t page, gph_error *error)
{
    CUmemGenericAllocationHandle handle = 0;
    GPHI_TRY(make_handle(arena, &handle, error));
    const CUresult result = arena->runtime->cu.cuMemMap(page_address(arena, page),
                                                        arena->page_bytes, 0, handle, 0);
    if (result != CUDA_SUCCESS) {
        put_handle(arena, handle);
        return gphi_cuda_fail(error, (gph_status)result, "cuMemMap", "at 0x%llx",
                              (unsigned long long)page_address(arena, page));
    }
    arena->pages[page].handle = handle;
    arena->pages[page].is_mapped = true;
    return GPH_OK;
}

/* Maps a run that is not mapped, and lets the device at it. */
static gph_status map_run(gph_arena *arena, uint64_t first, uint64_t count,
                          gph_error *error)
{
    gph_status status = GPH_OK;
    uint64_t done = 0;
    while (done < count && status == GPH_OK) {
        status = map_page(arena, first + done, error);
        done += status == GPH_OK;
    }
    if (status == GPH_OK) {
        const CUmemAccessDesc access = {
            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = arena->device},
            .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        const CUresult result = arena->runtime->cu.cuMemSetAccess(
            page_address(arena, first), count * arena->page_bytes, &access, 1);
        if (result == CUDA_SUCCESS)
            return GPH_OK;
        status = gphi_cuda_fail(error, (gph_status)result, "cuMemSetAccess",
                                "%llu pages at 0x%llx", (unsigned long long)count,
                                (unsigned long long)page_address(arena, first));
    }
    while (done-- > 0)
        if (!unmap_page(arena, first + done)) /* nobody's, but never used again */
            arena->pages[first + done].owner = GPHI_LIMBO;
    return status;
}

/* Owners are set first, so that idle pages of the run itself are not unmapped for it. */
gph_status gphi_arena_take(gph_arena *arena, uint32_t owner, uint64_t first,
                           uint64_t count, gph_error *error)
{
    const CUstreamCaptureMode before = gphi_relax(&arena->runtime->cu);
    gph_status status = GPH_OK;
    uint64_t i = 0, from = 0, missing = 0;
    for (i = first; i < first + count; i++) {
        arena->pages[i].owner = owner;
        missing += !arena->pages[i].is_mapped;
    }
    /* Idle pages elsewhere are cheaper than new ones. */
    if (missing > arena->stock.count)
        gphi_arena_unmap(arena, missing - arena->stock.count);
    i = 0;
    /* Runs that were mapped before one failed stay, idle: they are cached pages. */
    while (i < count && status == GPH_OK) {
        from = i;
        while (i < count && !arena->pages[first + i].is_mapped)
            i++;
        if (i > from)
            status = map_run(arena, first + from, i - from, error);
        while (i < count && arena->pages[first + i].is_mapped)
            i++;
    }
    gphi_unrelax(&arena->runtime->cu, before);
    for (i = first; status != GPH_OK && i < first + count; i++)
        if (arena->pages[i].owner == owner) /* not in limbo */
            arena->pages[i].owner = 0;
    if (status == GPH_OK)
        arena->owned_pages += count;
    return status;
}

/* Pages stay mapped: the next taker may get them without a call. */
static void make_idle(gph_arena *arena, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++)
        arena->pages[i].owner = 0;
    arena->owned_pages -= count;
}

/* Without room for the note pages stay in limbo for good: lost, but never shared. */
void gphi_arena_give(gph_arena *arena, uint64_t first, uint64_t count, bool is_pending)
{
    if (!is_pending) {
        make_idle(arena, first, count);
        return;
    }
    for (uint64_t i = first; i < first + count; i++)
        arena->pages[i].owner = GPHI_LIMBO;
    struct gphi_limbo *limbo = gphi_vec_add(&arena->limbo, 1);
    if (limbo)
        *limbo = (struct gphi_limbo){first, count, arena->ticket};
}

/* By the oldest ticket that any stream still owes. */
void gphi_arena_settle(gph_arena *arena)
{
    gphi_streams_poll(arena);
    const uint64_t ended = gphi_streams_all_ended(arena);
    struct gphi_limbo *items = arena->limbo.items;
    size_t kept = 0;
    for (size_t i = 0; i < arena->limbo.count; i++) {
        if (items[i].ticket <= ended)
            make_idle(arena, items[i].first, items[i].count);
        else
            items[kept++] = items[i];
    }
    arena->limbo.count = kept;
}

/* From the end, where segments seldom are. Unmapping waits for the device, which would
 * invalidate a capture, and graphs of an open recording may have the addresses. */
uint64_t gphi_arena_unmap(gph_arena *arena, uint64_t most)
{
    uint64_t count = 0;
    if (arena->total_pages <= arena->owned_pages + arena->stock.count)
        return 0;
    if (arena->open_recordings > 0 || gphi_capture_open_count() > 0)
        return 0;
    for (uint64_t i = arena->page_count; i-- > 0 && count < most;)
        if (arena->pages[i].owner == 0 && arena->pages[i].is_mapped)
            count += unmap_page(arena, i);
    return count;
}

/* Counts recordings, not ranges: pages of several stay until the last is gone. */
void gphi_arena_pin(gph_arena *arena, CUdeviceptr address, uint64_t bytes, int by)
{
    const uint64_t first = (address - arena->base) / arena->page_bytes;
    const uint64_t last = (address + bytes - 1 - arena->base) / arena->page_bytes;
    for (uint64_t i = first; i <= last; i++)
        arena->pages[i].pins += (uint32_t)by;
}

/* Gives handles of the stock back to the device, until `keep` pages are cached. */
static gph_status release_stock(gph_arena *arena, uint64_t keep, uint64_t *released,
                                gph_error *error)
{
    while (arena->stock.count > 0 && gphi_arena_cached(arena) > keep) {
        const CUmemGenericAllocationHandle handle =
            *(CUmemGenericAllocationHandle *)gphi_vec_at(&arena->stock,
                                                         arena->stock.count - 1);
        GPHI_TRY(gphi_cuda_check(error, arena->runtime->cu.cuMemRelease(handle),
                                 "cuMemRelease", "a page"));
        arena->stock.count--;
        arena->total_pages--;
        gphi_ledger_pages(arena->device, -(int64_t)arena->page_bytes);
        (*released)++;
    }
    return GPH_OK;
}

/* The stock first: its handles are mapped nowhere. */
gph_status gphi_arena_release(gph_arena *arena, uint64_t keep, uint64_t *released,
                              gph_error *error)
{
    const CUstreamCaptureMode before = gphi_relax(&arena->runtime->cu);
    gph_status status = release_stock(arena, keep, released, error);
    if (status == GPH_OK && gphi_arena_cached(arena) > keep) {
        gphi_arena_unmap(arena, gphi_arena_cached(arena) - keep);
        status = release_stock(arena, keep, released, error);
    }
    gphi_unrelax(&arena->runtime->cu, before);
    return status;
}

/* ---- create and destroy ---- */

/* Takes a half-built one. Nothing may be mapped when the range is given back. */
static void destroy_arena(gph_arena *arena)
{
    const gph_allocator heap = arena->heap;
    const gphi_cuda_table *cu = &arena->runtime->cu;
    const CUstreamCaptureMode before = gphi_relax(&arena->runtime->cu);
    gphi_streams_fini(arena);
    for (uint64_t i = 0; arena->pages && i < arena->page_count; i++)
        if (arena->pages[i].is_mapped)
            unmap_page(arena, i);
    gph_error error;
    uint64_t released = 0;
    arena->owned_pages = 0;
    if (release_stock(arena, 0, &released, &error) != GPH_OK)
        gphi_log("memory", GPH_LOG_ERROR, "%s", error.message);
    if (arena->base != 0) {
        const CUresult result =
            cu->cuMemAddressFree(arena->base, arena->page_count * arena->page_bytes);
        if (result != CUDA_SUCCESS)
            gphi_log("memory", GPH_LOG_ERROR, "cuMemAddressFree returned %s",
                     gph_status_name((gph_status)result));
    }
    gphi_unrelax(&arena->runtime->cu, before);
    gphi_vec_fini(&arena->stock);
    gphi_vec_fini(&arena->limbo);
    gphi_heap_free(heap, arena->pages, arena->page_count * sizeof(*arena->pages));
    gphi_heap_free(heap, arena, sizeof(*arena));
}

void gph_arena_destroy(gph_arena *arena)
{
    if (!arena)
        return;
    if (arena->pools) {
        gphi_log("memory", GPH_LOG_ERROR,
                 "the arena at 0x%llx is not destroyed: it still has pools",
                 (unsigned long long)arena->base);
        return;
    }
    destroy_arena(arena);
}

static gph_status find_device(gph_arena *arena, int32_t wanted, gph_error *error)
{
    const gphi_cuda_table *cu = &arena->runtime->cu;
    CUdevice device = wanted, current = -1;
    int count = 0;
    if (wanted == -1)
        GPHI_TRY(gphi_cuda_check(error, cu->cuCtxGetDevice(&device), "cuCtxGetDevice",
                                 "the device of an arena"));
    GPHI_TRY(gphi_cuda_check(error, cu->cuDeviceGetCount(&count), "cuDeviceGetCount",
                             "device %d", wanted));
    if (device < 0 || device >= count)
        return gphi_fail(error, GPH_E_INVALID, "options.device %d: there are %d", wanted,
                         count);
    arena->is_alone = count == 1;
    if (!arena->is_alone && cu->cuCtxGetDevice(&current) == CUDA_SUCCESS &&
        current == device && cu->cuCtxGetCurrent(&arena->context) != CUDA_SUCCESS)
        arena->context = NULL;
    int can = 0;
    GPHI_TRY(gphi_cuda_check(
        error,
        cu->cuDeviceGetAttribute(
            &can, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device),
        "cuDeviceGetAttribute", "device %d", device));
    if (!can)
        return gphi_fail(error, GPH_E_UNSUPPORTED,
                         "device %d has no virtual memory calls", device);
    arena->device = device;
    return GPH_OK;
}

/* How large pages are, and how many addresses are to be had. */
static gph_status find_sizes(gph_arena *arena, const gph_arena_options *opt,
                             gph_error *error)
{
    const gphi_cuda_table *cu = &arena->runtime->cu;
    const CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = arena->device}};
    size_t page = 0, total = 0;
    GPHI_TRY(gphi_cuda_check(error,
                             cu->cuMemGetAllocationGranularity(
                                 &page, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
                             "cuMemGetAllocationGranularity", "device %d",
                             arena->device));
    GPHI_TRY(gphi_cuda_check(error, cu->cuDeviceTotalMem(&total, arena->device),
                             "cuDeviceTotalMem", "device %d", arena->device));
    if (opt->base % page != 0)
        return gphi_fail(error, GPH_E_INVALID,
                         "options.base 0x%llx is not a multiple of %zu",
                         (unsigned long long)opt->base, page);
    const uint64_t bytes =
        opt->reserve_bytes != 0 ? opt->reserve_bytes : 2 * (uint64_t)total;
    if (bytes > 1ull << 47)
        return gphi_fail(error, GPH_E_INVALID,
                         "options.reserve_bytes %llu are more addresses than there are",
                         (unsigned long long)bytes);
    arena->page_bytes = page;
    arena->page_count = (bytes + page - 1) / page;
    arena->budget_pages = opt->budget_bytes != 0 ? opt->budget_bytes / page : UINT64_MAX;
    return GPH_OK;
}

static gph_status reserve(gph_arena *arena, const gph_arena_options *opt,
                          gph_error *error)
{
    const gphi_cuda_table *cu = &arena->runtime->cu;
    CUdeviceptr base = 0;
    CUresult result = CUDA_SUCCESS;
    for (;;) {
        const uint64_t bytes = arena->page_count * arena->page_bytes;
        result = cu->cuMemAddressReserve(&base, bytes, 0, opt->base, 0);
        if (result == CUDA_SUCCESS)
            break;
        /* What nobody asked for may be less: other arenas want addresses too. */
        const bool may_shrink =
            opt->reserve_bytes == 0 && opt->base == 0 && arena->page_count > 64;
        if (opt->base != 0 &&
            (result == CUDA_ERROR_OUT_OF_MEMORY || result == CUDA_ERROR_INVALID_VALUE))
            return gphi_fail(error, GPH_E_STATE,
                             "%llu bytes of addresses from 0x%llx are not available: %s",
                             (unsigned long long)bytes, (unsigned long long)opt->base,
                             gph_status_name((gph_status)result));
        if (result != CUDA_ERROR_OUT_OF_MEMORY || !may_shrink)
            return gphi_cuda_fail(error, (gph_status)result, "cuMemAddressReserve",
                                  "%llu bytes of addresses", (unsigned long long)bytes);
        arena->page_count /= 2;
    }
    arena->base = base;
    if (opt->base != 0 && base != opt->base)
        return gphi_fail(error, GPH_E_STATE,
                         "addresses from 0x%llx are taken: the driver offers 0x%llx",
                         (unsigned long long)opt->base, (unsigned long long)base);
    arena->pages =
        gphi_heap_array(arena->heap, (size_t)arena->page_count, sizeof(*arena->pages));
    GPHI_TRY(gphi_made(error, arena->pages, "an arena of %llu pages",
                       (unsigned long long)arena->page_count));
    return GPH_OK;
}

gph_status gph_arena_create(gph_runtime *runtime, const gph_arena_options *options,
                            gph_arena **out, gph_error *error)
{
    gph_arena_options opt = GPH_ARENA_OPTIONS_INIT;
    if (options)
        GPHI_TRY(
            gphi_options_read(&opt, sizeof(opt), "gph_arena_options", options, error));
    GPHI_TRY(gphi_need(error, runtime, out));
    gph_arena *arena = gphi_heap_alloc(runtime->heap, sizeof(*arena));
    GPHI_TRY(gphi_made(error, arena, "an arena"));
    arena->runtime = runtime;
    arena->heap = runtime->heap;
    arena->oom = opt.oom;
    arena->oom_user = opt.oom_user;
    arena->mutex = (gphi_mutex)GPHI_MUTEX_INIT;
    gphi_vec_init(&arena->stock, arena->heap, sizeof(CUmemGenericAllocationHandle));
    gphi_vec_init(&arena->limbo, arena->heap, sizeof(struct gphi_limbo));
    gphi_vec_init(&arena->streams, arena->heap, sizeof(struct gphi_stream));
    gphi_vec_init(&arena->events, arena->heap, sizeof(struct gphi_spare_event));

    gph_status status = find_device(arena, opt.device, error);
    GPHI_THEN(status, find_sizes(arena, &opt, error));
    GPHI_THEN(status, reserve(arena, &opt, error));
    if (status != GPH_OK) {
        destroy_arena(arena);
        return status;
    }
    gphi_log("memory", GPH_LOG_INFO, "arena of %llu MiB of addresses at 0x%llx",
             (unsigned long long)(arena->page_count * arena->page_bytes >> 20),
             (unsigned long long)arena->base);
    *out = arena;
    return GPH_OK;
}

void gph_arena_range(const gph_arena *arena, CUdeviceptr *base, uint64_t *bytes)
{
    if (base)
        *base = arena ? arena->base : 0;
    if (bytes)
        *bytes = arena ? arena->page_count * arena->page_bytes : 0;
}

gph_runtime *gph_arena_runtime(const gph_arena *arena)
{
    return arena ? arena->runtime : NULL;
}
