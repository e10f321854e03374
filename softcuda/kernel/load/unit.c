// SPDX-License-Identifier: Apache-2.0
/* Machine code of one unit: its IR is written, and is the key under which the cache may
 * have the object; if not, LLVM makes it.
 *
 *   unit     IDLE --> BUSY --> READY        one thread makes it, with no lock held;
 *              ^-------'                    others that want it wait for a change
 *
 * The key is a hash of the IR, which has in it all that the code of a kernel depends on:
 * its instructions, those of the functions that it calls, where its variables lie. So a
 * module finds all its kernels but the edited one. */
#include "softcuda/kernel/load/unit.h"

#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/kernel/load/jitload.h"

enum { IDLE, BUSY, READY };

typedef struct unit {
    uint8_t state;
    soft_pack pack; /* READY: one object */
} unit;

struct soft_units {
    gph_allocator heap;
    soft_code_options options;
    gphi_hash128 seed;
    char *directory;
    size_t directory_bytes;
    soft_ptx_text text;
    pthread_mutex_t parsing;
    ptx_module *module;   /* under `parsing` until it is there, then immutable */
    pthread_mutex_t lock; /* the states */
    pthread_cond_t changed;
    uint32_t kernel_count;
    unit units[]; /* a kernel each, and the functions */
};

static struct {
    _Atomic uint64_t described, compiled, cached, compile_ns;
} counts; /* relaxed: figures, which order nothing */

void soft_code_counted(uint32_t kernels)
{
    atomic_fetch_add_explicit(&counts.described, kernels, memory_order_relaxed);
}

void soft_code_count(soft_code_counts *out)
{
    *out = (soft_code_counts){
        .described = atomic_load_explicit(&counts.described, memory_order_relaxed),
        .compiled = atomic_load_explicit(&counts.compiled, memory_order_relaxed),
        .cached = atomic_load_explicit(&counts.cached, memory_order_relaxed),
        .compile_ns = atomic_load_explicit(&counts.compile_ns, memory_order_relaxed)};
}

static size_t bytes_of(uint32_t kernel_count)
{
    return sizeof(soft_units) + ((size_t)kernel_count + 1) * sizeof(unit);
}

gph_status soft_units_create(const soft_units_input *input, soft_ptx_text *text,
                             gph_allocator heap, soft_units **out, gph_error *error)
{
    const size_t bytes = input->directory ? strlen(input->directory) + 1 : 0;
    soft_units *units = gphi_heap_alloc(heap, bytes_of(input->kernel_count));
    char *directory = bytes ? gphi_heap_alloc(heap, bytes) : NULL;
    if (!units || (bytes && !directory)) {
        gphi_heap_free(heap, units, bytes_of(input->kernel_count));
        gphi_heap_free(heap, directory, bytes);
        return gphi_fail(error, GPH_E_NO_MEMORY, "the code of %u kernels",
                         input->kernel_count);
    }
    if (bytes)
        memcpy(directory, input->directory, bytes);
    units->heap = heap;
    units->options = *input->options;
    units->options.cache = NULL;
    units->options.allocator = NULL;
    units->seed = input->seed;
    units->directory = directory;
    units->directory_bytes = bytes;
    units->text = *text;
    units->module = input->module;
    units->kernel_count = input->kernel_count;
    pthread_mutex_init(&units->parsing, NULL);
    pthread_mutex_init(&units->lock, NULL);
    pthread_cond_init(&units->changed, NULL);
    *out = units;
    return GPH_OK;
}

void soft_units_destroy(soft_units *units)
{
    if (!units)
        return;
    const gph_allocator heap = units->heap;
    for (uint32_t i = 0; i <= units->kernel_count; i++)
        if (units->units[i].state == READY)
            soft_pack_fini(&units->units[i].pack);
    ptx_module_destroy(units->module);
    soft_ptx_text_fini(&units->text);
    gphi_heap_free(heap, units->directory, units->directory_bytes);
    pthread_cond_destroy(&units->changed);
    pthread_mutex_destroy(&units->lock);
    pthread_mutex_destroy(&units->parsing);
    gphi_heap_free(heap, units, bytes_of(units->kernel_count));
}

/* ---- making one ------------------------------------------------------------------- */

/* Parsed by the first that asks, if its description came from the cache. */
static gph_status get_module(soft_units *units, const ptx_module **out, gph_error *error)
{
    gph_status status = GPH_OK;
    pthread_mutex_lock(&units->parsing);
    if (!units->module)
        status = ptx_parse(units->text.text, units->text.bytes, &units->heap,
                           &units->module, error);
    *out = units->module;
    pthread_mutex_unlock(&units->parsing);
    return status;
}

static const char *name_of(const soft_units *units, const ptx_program *program,
                           uint32_t index)
{
    return index < units->kernel_count && program->kernel_count ? program->kernels[0].name
                                                                : "(functions)";
}

/* What LLVM's best takes grows faster than the code even where regions are bounded: from
 * here on (about 4,000 instructions of straight code, 800 with a barrier every four) it
 * would be seconds. Not on the slow path, where a thread has 64 KiB of stack. */
#define QUICK_IR_BYTES ((size_t)700 << 10)

static uint32_t tier_of(const soft_units *units, const ptx_program *program)
{
    const bool is_fast = program->kernel_count == 1 &&
                         program->kernels[0].path == PTX_PATH_FAST &&
                         !program->kernels[0].one_row;
    switch (units->options.tier) {
    case SOFT_TIER_BEST: return SOFT_JIT_BEST;
    case SOFT_TIER_QUICK: return SOFT_JIT_QUICK;
    default:
        return is_fast && program->ir_bytes > QUICK_IR_BYTES ? SOFT_JIT_QUICK
                                                             : SOFT_JIT_BEST;
    }
}

/* LLVM makes it, and the cache gets it. */
static gph_status make_code(soft_units *units, uint32_t index, const ptx_program *program,
                            gphi_hash128 key, soft_pack *out, gph_error *error)
{
    const soft_jit_api *jit;
    GPHI_TRY(soft_jit_load(&jit, error));
    const soft_jit_request request = {.ir = program->ir,
                                      .ir_bytes = program->ir_bytes,
                                      .vector_bits = units->options.vector_bits,
                                      .part_count = 1,
                                      .optimize = tier_of(units, program)};
    soft_jit_result result;
    const uint64_t start = gphi_clock_ns();
    if (jit->compile(&request, &result) != 0)
        return gphi_fail(error, SOFT_ERROR_INVALID_PTX,
                         "kernel %.100s: no machine code could be made: %.300s",
                         name_of(units, program, index), result.message);
    atomic_fetch_add_explicit(&counts.compile_ns, gphi_clock_ns() - start,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&counts.compiled, 1, memory_order_relaxed);
    const soft_object object = {result.objects[0].bytes, result.objects[0].count};
    const soft_pack_input input = {
        .key = key, .objects = &object, .object_count = 1, .info = ""};
    const gph_status status =
        soft_pack_make(&input, units->directory, units->heap, out, error);
    jit->release(&result);
    return status;
}

static gph_status make(soft_units *units, uint32_t index, soft_pack *out,
                       gph_error *error)
{
    const ptx_module *module;
    GPHI_TRY(get_module(units, &module, error));
    const soft_code_options *o = &units->options;
    const ptx_compile_options options = {
        .force_slow = o->force_slow,
        .check_memory = o->check_memory,
        .contract = o->contract,
        .vector_bits = o->vector_bits,
        .half = o->half,
        .part = index < units->kernel_count ? PTX_PART_KERNEL : PTX_PART_FUNCTIONS,
        .kernel = index,
        .allocator = &units->heap};
    ptx_program *program;
    GPHI_TRY(ptx_compile(module, &options, &program, error));
    const uint32_t tier = tier_of(units, program);
    const gphi_hash128 key =
        gphi_hash128_bytes(gphi_hash128_bytes(units->seed, &tier, sizeof(tier)),
                           program->ir, program->ir_bytes);
    gph_status status = GPH_OK;
    if (units->directory && soft_pack_cached(units->directory, key, units->heap, out))
        atomic_fetch_add_explicit(&counts.cached, 1, memory_order_relaxed);
    else
        status = make_code(units, index, program, key, out, error);
    ptx_program_destroy(program);
    if (status == GPH_OK && out->object_count != 1) {
        soft_pack_fini(out);
        return gphi_fail(error, SOFT_ERROR_INVALID_IMAGE,
                         "machine code of %u objects, not one", out->object_count);
    }
    return status;
}

gph_status soft_units_get(soft_units *units, uint32_t index, const soft_object **out,
                          gph_error *error)
{
    unit *u = &units->units[index];
    gph_status status = GPH_OK;
    pthread_mutex_lock(&units->lock);
    while (u->state == BUSY)
        pthread_cond_wait(&units->changed, &units->lock);
    if (u->state == IDLE) {
        soft_pack pack;
        u->state = BUSY;
        pthread_mutex_unlock(&units->lock);
        status = make(units, index, &pack, error);
        pthread_mutex_lock(&units->lock);
        u->state = status == GPH_OK ? READY : IDLE;
        if (status == GPH_OK)
            u->pack = pack;
        pthread_cond_broadcast(&units->changed);
    }
    pthread_mutex_unlock(&units->lock);
    if (status == GPH_OK)
        *out = &u->pack.objects[0];
    return status;
}
