// SPDX-License-Identifier: Apache-2.0
/* Machine code mapped for one set of addresses of globals.
 *
 *   soft_code (shared) --> soft_binding
 *                            |- an entry a kernel: empty until it is ready
 *                            '- an image a unit: its object, mapped and relocated,
 *                               findable by address (place.c)
 *
 * A kernel's code refers to functions whose address is taken by the address that they
 * have in the binding: they are a unit of their own, which is mapped before it. */
#include "softcuda/kernel/load/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "base/thread.h"
#include "softcuda/kernel/run/place.h"
#include "softcuda/kernel/run/rtcalls.h"
#include "softcuda/kernel/tier.h"

#define SYMBOL_MAX 1024
#define THREADS_MAX 16u

/* The slow path of a kernel that is on the fast one for blocks of one row. */
struct by_threads {
    soft_kernel_code code;
    ptx_kernel kernel;
};

/* Of a unit; base NULL until it is mapped. */
struct mapped {
    soft_image image;
    bool placed;
};

struct soft_binding {
    soft_code *code;
    uint64_t *addresses; /* of the globals, by index */
    soft_kernel_code *kernels;
    struct by_threads *by_threads; /* by kernel: filled where it has one_row */
    pthread_mutex_t lock;          /* what follows, and that a kernel becomes ready */
    struct mapped *units;          /* by kernel, and the functions */
    gph_allocator heap;
};

static uint32_t functions_unit(const soft_binding *binding)
{
    return soft_code_pack(binding->code)->kernel_count;
}

static uint64_t function_address(const soft_binding *binding, const char *symbol)
{
    const soft_image *image = &binding->units[functions_unit(binding)].image;
    const soft_image_function *function = soft_image_find(image, symbol);
    return function ? (uint64_t)(uintptr_t)image->base + function->start : 0;
}

/* What a kernel's address is in generated code: its record's, 0 for none of the name. */
static uint64_t kernel_address(const soft_binding *binding, const char *name)
{
    return (uint64_t)(uintptr_t)soft_binding_find(binding, name);
}

/* Names that the machine code leaves open: `g.` of the module's globals, whose addresses
 * are this binding's own; `f.` of functions whose address is taken; `k.` of kernels that
 * kernels launch; all others are the run time's. A list is searched through, since a kernel is bound once for each context. */
static uint64_t resolve(void *user, const char *name)
{
    const soft_binding *binding = user;
    const soft_pack *pack = soft_code_pack(binding->code);
    if (name[0] == 'g' && name[1] == '.')
        for (uint32_t i = 0; i < pack->global_count; i++)
            if (strcmp(pack->globals[i].about.name, name + 2) == 0)
                return binding->addresses[i];
    if (name[0] == 'f' && name[1] == '.')
        return function_address(binding, name);
    if (name[0] == 'k' && name[1] == '.')
        return kernel_address(binding, name + 2);
    return soft_rtcall_find(name);
}

/* One function runs a block or, on the slow path, a thread: by its name. */
static gph_status find_entry(const soft_image *image, soft_kernel_code *code,
                             gph_error *error)
{
    const ptx_kernel *kernel = code->kernel;
    char symbol[SYMBOL_MAX];
    snprintf(symbol, sizeof(symbol), "%c.%s", kernel->path == PTX_PATH_FAST ? 'b' : 't',
             kernel->name);
    const soft_image_function *function = soft_image_find(image, symbol);
    if (!function)
        return gphi_fail(error, SOFT_ERROR_INVALID_IMAGE,
                         "kernel %.200s has no machine code", kernel->name);
    const uintptr_t address = (uintptr_t)image->base + function->start;
    if (kernel->path == PTX_PATH_FAST)
        code->entry.block = (ptx_block_fn *)address;
    else
        code->entry.thread = (ptx_thread_fn *)address;
    return GPH_OK;
}

/* The same kernel as a second one, which launches take for blocks of several rows: it has
 * no context arrays, and lives as long as the binding. */
static void fill_by_threads(soft_binding *binding, uint32_t i)
{
    struct by_threads *slow = &binding->by_threads[i];
    slow->kernel = *binding->kernels[i].kernel;
    slow->kernel.path = PTX_PATH_SLOW;
    slow->kernel.one_row = 0;
    slow->kernel.scratch_thread_bytes = slow->kernel.scratch_fixed_bytes = 0;
    slow->code = (soft_kernel_code){.kernel = &slow->kernel, .binding = binding};
    binding->kernels[i].by_threads = &slow->code;
}

/* A kernel that cannot run never gets an entry: that it cannot run is an error of its
 * launch. */
static void fill_kernels(soft_binding *binding)
{
    const soft_pack *pack = soft_code_pack(binding->code);
    for (uint32_t i = 0; i < pack->kernel_count; i++) {
        const ptx_kernel *kernel = &pack->kernels[i];
        binding->kernels[i] = (soft_kernel_code){.kernel = kernel, .binding = binding};
        if (kernel->one_row)
            fill_by_threads(binding, i);
    }
}

/* ---- units ------------------------------------------------------------------------ */

static gph_status map_image(soft_binding *binding, const soft_pack *pack,
                            soft_image *image, gph_error *error)
{
    const soft_loader_input input = {.objects = pack->objects,
                                     .object_count = pack->object_count,
                                     .resolve = resolve,
                                     .user = binding};
    GPHI_TRY(soft_image_load(&input, &binding->heap, image, error));
    /* Noted for as long as it is mapped, so that a fault in it is known as a kernel's. */
    if (soft_place_add(image))
        return GPH_OK;
    soft_image_unload(image);
    return gphi_fail(error, GPH_E_NO_MEMORY, "noting where machine code lies");
}

static gph_status map_locked(soft_binding *binding, uint32_t index, const soft_pack *pack,
                             gph_error *error)
{
    struct mapped *unit = &binding->units[index];
    if (unit->image.base)
        return GPH_OK;
    GPHI_TRY(map_image(binding, pack, &unit->image, error));
    unit->placed = true;
    return GPH_OK;
}

/* The functions' unit is mapped, since the quick code was bound to it, too. */
static gph_status map_best(soft_binding *binding, uint32_t index, const soft_pack *pack,
                           soft_image *image, ptx_block_fn **entry, gph_error *error)
{
    soft_kernel_code found = {.kernel = binding->kernels[index].kernel};
    GPHI_TRY(map_image(binding, pack, image, error));
    const gph_status status = find_entry(image, &found, error);
    if (status != GPH_OK) {
        soft_place_remove(image);
        soft_image_unload(image);
        return status;
    }
    *entry = found.entry.block;
    return GPH_OK;
}

/* The machine code is made, or waited for, before the lock is taken. */
static gph_status map_functions(soft_binding *binding, gph_error *error)
{
    const uint32_t index = functions_unit(binding);
    const soft_pack *pack;
    GPHI_TRY(soft_units_get(soft_code_units(binding->code), index, &pack, error));
    pthread_mutex_lock(&binding->lock);
    const gph_status status = map_locked(binding, index, pack, error);
    pthread_mutex_unlock(&binding->lock);
    return status;
}

static gph_status map_kernel_locked(soft_binding *binding, uint32_t index,
                                    const soft_pack *pack, gph_error *error)
{
    soft_kernel_code *code = &binding->kernels[index];
    if (atomic_load_explicit(&code->ready, memory_order_relaxed))
        return GPH_OK;
    GPHI_TRY(map_locked(binding, index, pack, error));
    const soft_image *image = &binding->units[index].image;
    GPHI_TRY(find_entry(image, code, error));
    if (code->kernel->one_row)
        GPHI_TRY(find_entry(image, &binding->by_threads[index].code, error));
    /* The last that can fail: what comes before is done again by the next try. */
    const soft_tier_input tier = {code, index, binding->code,
                                  &binding->units[index].image, map_best};
    if (soft_units_may_improve(soft_code_units(binding->code), index))
        GPHI_TRY(soft_tier_create(&tier, binding->heap, error));
    /* with the acquire load in soft_kernel_ready() */
    atomic_store_explicit(&code->ready, true, memory_order_release);
    return GPH_OK;
}

gph_status soft_kernel_ready(const soft_kernel_code *kernel, gph_error *error)
{
    if (atomic_load_explicit(&kernel->ready, memory_order_acquire) ||
        kernel->kernel->path == PTX_PATH_UNSUPPORTED)
        return GPH_OK;
    soft_binding *binding = kernel->binding;
    const uint32_t index = (uint32_t)(kernel - binding->kernels);
    const soft_pack *pack;
    if (kernel->kernel->names_functions)
        GPHI_TRY(map_functions(binding, error));
    GPHI_TRY(soft_units_get(soft_code_units(binding->code), index, &pack, error));
    pthread_mutex_lock(&binding->lock);
    const gph_status status = map_kernel_locked(binding, index, pack, error);
    pthread_mutex_unlock(&binding->lock);
    return status;
}

/* ---- several at once: a thread a processor, each with the next that nobody took ---- */

struct together {
    const soft_kernel_code *const *kernels;
    uint32_t count;
    atomic_uint next;     /* relaxed: whoever gets a number has it alone */
    pthread_mutex_t lock; /* the first failure */
    gph_status status;
    gph_error *error;
};

static void note_failure(struct together *t, gph_status status, const gph_error *error)
{
    pthread_mutex_lock(&t->lock);
    if (t->status == GPH_OK && t->error)
        *t->error = *error;
    if (t->status == GPH_OK)
        t->status = status;
    pthread_mutex_unlock(&t->lock);
}

static void *make_some(void *argument)
{
    struct together *t = argument;
    for (;;) {
        const uint32_t i = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed);
        if (i >= t->count)
            return NULL;
        gph_error error = {0};
        const gph_status status = soft_kernel_ready(t->kernels[i], &error);
        if (status != GPH_OK)
            note_failure(t, status, &error);
    }
}

/* This thread is one of them; what cannot get a thread is its own. */
gph_status soft_kernels_ready(const soft_kernel_code *const *kernels, uint32_t count,
                              gph_error *error)
{
    struct together t = {.kernels = kernels,
                         .count = count,
                         .lock = PTHREAD_MUTEX_INITIALIZER,
                         .error = error};
    pthread_t threads[THREADS_MAX];
    uint32_t made = 0;
    const uint32_t processors = gphi_processors();
    const uint32_t most = processors < THREADS_MAX ? processors : THREADS_MAX;
    while (made + 1 < most && made + 1 < count &&
           pthread_create(&threads[made], NULL, make_some, &t) == 0)
        made++;
    make_some(&t);
    while (made > 0)
        pthread_join(threads[--made], NULL);
    pthread_mutex_destroy(&t.lock);
    return t.status;
}

static gph_status ready_all(soft_binding *binding, gph_error *error)
{
    const uint32_t count = soft_code_pack(binding->code)->kernel_count;
    const soft_kernel_code **kernels =
        gphi_heap_array(binding->heap, count + 1u, sizeof(*kernels));
    GPHI_TRY(gphi_made(error, kernels, "compiling %u kernels", count));
    for (uint32_t i = 0; i < count; i++)
        kernels[i] = &binding->kernels[i];
    const gph_status status = soft_kernels_ready(kernels, count, error);
    gphi_heap_free(binding->heap, kernels, (count + 1ull) * sizeof(*kernels));
    return status;
}

/* Initial values that hold addresses of functions; kernels have theirs without code. */
static bool names_functions(const soft_binding *binding)
{
    const soft_pack *pack = soft_code_pack(binding->code);
    for (uint32_t g = 0; g < pack->global_count; g++)
        for (uint32_t i = 0; i < pack->globals[g].relocation_count; i++) {
            const soft_pack_relocation *r = &pack->globals[g].relocations[i];
            if (r->global == UINT32_MAX && !soft_binding_find(binding, r->function))
                return true;
        }
    return false;
}

static gph_status fill(soft_binding *binding, const uint64_t *addresses, gph_error *error)
{
    const soft_pack *pack = soft_code_pack(binding->code);
    const gph_allocator heap = binding->heap;
    const size_t count = pack->kernel_count + 1u;
    binding->addresses = gphi_heap_array(heap, pack->global_count + 1u, 8);
    binding->kernels = gphi_heap_array(heap, count, sizeof(*binding->kernels));
    binding->by_threads = gphi_heap_array(heap, count, sizeof(*binding->by_threads));
    binding->units = gphi_heap_array(heap, count, sizeof(*binding->units));
    GPHI_TRY(gphi_made(error,
                       binding->addresses && binding->kernels && binding->by_threads &&
                           binding->units,
                       "binding %u kernels", pack->kernel_count));
    for (size_t i = 0; i < count; i++)
        binding->units[i].image.heap = heap;
    if (pack->global_count != 0)
        memcpy(binding->addresses, addresses, pack->global_count * sizeof(*addresses));
    fill_kernels(binding);
    if (names_functions(binding))
        GPHI_TRY(map_functions(binding, error));
    return soft_code_is_eager(binding->code) ? ready_all(binding, error) : GPH_OK;
}

gph_status soft_binding_create(soft_code *code, const uint64_t *addresses,
                               soft_binding **out, gph_error *error)
{
    const gph_allocator heap = soft_code_pack(code)->heap;
    soft_binding *binding = gphi_heap_alloc(heap, sizeof(*binding));
    GPHI_TRY(gphi_made(error, binding, "binding a module"));
    binding->heap = heap;
    pthread_mutex_init(&binding->lock, NULL);
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

/* An image is taken out of the places before it is unmapped: nobody may find what is
 * gone. */
static void unmap_units(soft_binding *binding, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct mapped *unit = &binding->units[i];
        if (unit->placed)
            soft_place_remove(&unit->image);
        soft_image_unload(&unit->image);
    }
}

/* The counts of the arrays come from the code, so the code goes last. */
void soft_binding_destroy(soft_binding *binding)
{
    if (!binding)
        return;
    const soft_pack *pack = soft_code_pack(binding->code);
    for (uint32_t i = 0; binding->kernels && i < pack->kernel_count; i++)
        soft_tier_destroy(binding->kernels[i].tier, binding->heap);
    if (binding->units)
        unmap_units(binding, pack->kernel_count + 1);
    pthread_mutex_destroy(&binding->lock);
    gphi_heap_free(binding->heap, binding->units,
                   (pack->kernel_count + 1ull) * sizeof(*binding->units));
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
    uint64_t address = function_address(binding, symbol);
    if (address == 0)
        address = kernel_address(binding, r->function);
    if (address == 0) /* it has no body */
        return 0;
    return (address + (uint64_t)r->addend) >> r->shift;
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
