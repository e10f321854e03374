// SPDX-License-Identifier: Apache-2.0
/* Machine code mapped for one set of addresses of globals.
 *
 *   soft_code (immutable, shared) --> soft_binding: its objects, mapped and relocated
 *                                       |- an image, findable by address (place.c)
 *                                       '- an entry a kernel */
#include "softcuda/kernel/load/pack.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/kernel/run/place.h"
#include "softcuda/kernel/run/rtcalls.h"

#define SYMBOL_MAX 1024

/* The slow path of a kernel that is on the fast one for blocks of one row. */
struct by_threads {
    soft_kernel_code code;
    ptx_kernel kernel;
};

struct soft_binding {
    soft_code *code;
    uint64_t *addresses; /* of the globals, by index */
    soft_kernel_code *kernels;
    struct by_threads *by_threads; /* by kernel: filled where it has one_row */
    soft_image image;              /* base NULL: no kernel can run */
    bool placed;
    gph_allocator heap;
};

/* Names that the machine code leaves open: `g.` of the module's globals, whose addresses
 * are this binding's own; all others are the run time's. A list is searched through,
 * since a module is bound once for each context. */
static uint64_t resolve(void *user, const char *name)
{
    const soft_binding *binding = user;
    const soft_pack *pack = soft_code_pack(binding->code);
    if (name[0] == 'g' && name[1] == '.')
        for (uint32_t i = 0; i < pack->global_count; i++)
            if (strcmp(pack->globals[i].about.name, name + 2) == 0)
                return binding->addresses[i];
    return soft_rtcall_find(name);
}

/* One function runs a block or, on the slow path, a thread: by its name. */
static gph_status find_entry(soft_binding *binding, soft_kernel_code *code,
                             gph_error *error)
{
    const ptx_kernel *kernel = code->kernel;
    char symbol[SYMBOL_MAX];
    snprintf(symbol, sizeof(symbol), "%c.%s", kernel->path == PTX_PATH_FAST ? 'b' : 't',
             kernel->name);
    const soft_image_function *function = soft_image_find(&binding->image, symbol);
    if (!function)
        return gphi_fail(error, SOFT_ERROR_INVALID_IMAGE,
                         "kernel %.200s has no machine code", kernel->name);
    const uintptr_t address = (uintptr_t)binding->image.base + function->start;
    if (kernel->path == PTX_PATH_FAST)
        code->entry.block = (ptx_block_fn *)address;
    else
        code->entry.thread = (ptx_thread_fn *)address;
    return GPH_OK;
}

/* The same kernel as a second one, which launches take for blocks of several rows: it has
 * no context arrays, and lives as long as the binding. */
static gph_status find_by_threads(soft_binding *binding, uint32_t i, gph_error *error)
{
    struct by_threads *slow = &binding->by_threads[i];
    slow->kernel = *binding->kernels[i].kernel;
    slow->kernel.path = PTX_PATH_SLOW;
    slow->kernel.one_row = 0;
    slow->kernel.scratch_thread_bytes = slow->kernel.scratch_fixed_bytes = 0;
    slow->code = (soft_kernel_code){.kernel = &slow->kernel, .binding = binding};
    binding->kernels[i].by_threads = &slow->code;
    return find_entry(binding, &slow->code, error);
}

/* A kernel that cannot run has no machine code and keeps an empty entry: that it cannot
 * run is an error of its launch, not of the module's load. */
static gph_status find_entries(soft_binding *binding, gph_error *error)
{
    const soft_pack *pack = soft_code_pack(binding->code);
    for (uint32_t i = 0; i < pack->kernel_count; i++) {
        const ptx_kernel *kernel = &pack->kernels[i];
        soft_kernel_code *code = &binding->kernels[i];
        *code = (soft_kernel_code){.kernel = kernel, .binding = binding};
        if (kernel->path == PTX_PATH_UNSUPPORTED)
            continue;
        GPHI_TRY(find_entry(binding, code, error));
        if (kernel->one_row)
            GPHI_TRY(find_by_threads(binding, i, error));
    }
    return GPH_OK;
}

static gph_status fill(soft_binding *binding, const uint64_t *addresses, gph_error *error)
{
    const soft_pack *pack = soft_code_pack(binding->code);
    const gph_allocator heap = binding->heap;
    binding->addresses = gphi_heap_array(heap, pack->global_count + 1u, 8);
    binding->kernels =
        gphi_heap_array(heap, pack->kernel_count + 1u, sizeof(*binding->kernels));
    binding->by_threads =
        gphi_heap_array(heap, pack->kernel_count + 1u, sizeof(*binding->by_threads));
    GPHI_TRY(gphi_made(error,
                       binding->addresses && binding->kernels && binding->by_threads,
                       "binding %u kernels", pack->kernel_count));
    if (pack->global_count != 0)
        memcpy(binding->addresses, addresses, pack->global_count * sizeof(*addresses));
    if (pack->object_count != 0) {
        const soft_loader_input input = {.objects = pack->objects,
                                         .object_count = pack->object_count,
                                         .resolve = resolve,
                                         .user = binding};
        GPHI_TRY(soft_image_load(&input, &heap, &binding->image, error));
        /* Noted for as long as it is mapped, so that a fault in it is known as a kernel's. */
        binding->placed = soft_place_add(&binding->image);
        GPHI_TRY(gphi_made(error, binding->placed, "noting where machine code lies"));
    }
    return find_entries(binding, error);
}

gph_status soft_binding_create(soft_code *code, const uint64_t *addresses,
                               soft_binding **out, gph_error *error)
{
    const gph_allocator heap = soft_code_pack(code)->heap;
    soft_binding *binding = gphi_heap_alloc(heap, sizeof(*binding));
    GPHI_TRY(gphi_made(error, binding, "binding a module"));
    binding->heap = heap;
    binding->image.heap = heap;
    binding->code = code;
    soft_code_retain(code);
    /* From here on the binding counts as complete for destroy(), which frees what is
     * there. */
    const gph_status status = fill(binding, addresses, error);
    if (status != GPH_OK) {
        soft_binding_destroy(binding);
        return status;
    }
    *out = binding;
    return GPH_OK;
}

/* The counts of the arrays come from the code, so the code goes last. The image is taken
 * out of the places before it is unmapped: nobody may find what is gone. */
void soft_binding_destroy(soft_binding *binding)
{
    if (!binding)
        return;
    const soft_pack *pack = soft_code_pack(binding->code);
    if (binding->placed)
        soft_place_remove(&binding->image);
    soft_image_unload(&binding->image);
    gphi_heap_free(binding->heap, binding->addresses, (pack->global_count + 1ull) * 8);
    gphi_heap_free(binding->heap, binding->kernels,
                   (pack->kernel_count + 1ull) * sizeof(*binding->kernels));
    gphi_heap_free(binding->heap, binding->by_threads,
                   (pack->kernel_count + 1ull) * sizeof(*binding->by_threads));
    soft_code *code = binding->code;
    gphi_heap_free(binding->heap, binding, sizeof(*binding));
    soft_code_release(code);
}

const soft_kernel_code *soft_binding_kernel(const soft_binding *binding, uint32_t index)
{
    return &binding->kernels[index];
}

const soft_kernel_code *soft_binding_find(const soft_binding *binding, const char *name)
{
    const soft_pack *pack = soft_code_pack(binding->code);
    for (uint32_t i = 0; i < pack->kernel_count; i++)
        if (strcmp(pack->kernels[i].name, name) == 0)
            return &binding->kernels[i];
    return NULL;
}

/* An initializer's address, shifted as its mask wants it: .b8 x[] = {0xFF00(f), ...}. */
static uint64_t relocated(const soft_binding *binding, const soft_pack_relocation *r)
{
    if (r->global != UINT32_MAX)
        return (binding->addresses[r->global] + (uint64_t)r->addend) >> r->shift;
    char symbol[SYMBOL_MAX];
    snprintf(symbol, sizeof(symbol), "f.%s", r->function);
    const soft_image_function *function = soft_image_find(&binding->image, symbol);
    if (!function) /* no kernel that can run uses it */
        return 0;
    return ((uint64_t)(uintptr_t)binding->image.base + function->start +
            (uint64_t)r->addend) >>
           r->shift;
}

/* For each context again, since a context has its own memory and so its own addresses. */
void soft_binding_init_global(const soft_binding *binding, uint32_t index,
                              void *destination)
{
    const soft_pack_global *global = &soft_code_pack(binding->code)->globals[index];
    if (global->about.bytes == 0)
        return;
    if (!global->init) {
        memset(destination, 0, global->about.bytes);
        return;
    }
    memcpy(destination, global->init, global->about.bytes);
    for (uint32_t i = 0; i < global->relocation_count; i++) {
        const soft_pack_relocation *r = &global->relocations[i];
        const uint64_t value = relocated(binding, r);
        memcpy((unsigned char *)destination + r->offset, &value, r->bytes);
    }
}
