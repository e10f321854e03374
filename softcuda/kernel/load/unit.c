// SPDX-License-Identifier: Apache-2.0
/* Machine code of one unit: its IR is written, and is the key under which the cache may
 * have the object; if not, LLVM makes it.
 *
 *   module key, tier, index --> note: the key of the object --> object
 *      | none, or it names no object                             ^
 *      '--> text, parsed --> IR --> its hash: the same key ------'
 *
 *   unit     IDLE --> BUSY --> READY        one thread makes it, with no lock held;
 *              ^-------'       |            others that want it wait for a change
 *                              '-- of quick code: the best, made later (tier.c), whose
 *                                  key the note gets: so a second process has the best
 *
 * The key is a hash of the IR, which has in it all that the code of a kernel depends on:
 * its instructions, those of the functions that it calls, where its variables lie. So a
 * module finds all its kernels but the edited one. With the note (a pack whose one object
 * is a key) a module that was seen before is neither parsed nor written as IR. A note is
 * written after its object, and two processes that write it write the same. */
#include "softcuda/kernel/load/unit.h"

#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/thread.h"
#include "softcuda/kernel/load/jitload.h"

enum { IDLE, BUSY, READY };

typedef struct unit {
    uint8_t state;
    bool may_improve, has_best;
    soft_pack pack; /* READY: objects, several of a large kernel */
    soft_pack best; /* has_best: made later; images of `pack` still lend its names */
} unit;

/* What a note holds. */
struct note {
    gphi_hash128 key; /* of the object */
    uint32_t may_improve, reserved;
};

struct soft_units {
    gph_allocator heap;
    soft_code_options options;
    gphi_hash128 seed, key;
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
    _Atomic uint64_t described, parsed, written, compiled, cached, compile_ns;
} counts; /* relaxed: figures, which order nothing */

void soft_code_counted(uint32_t kernels)
{
    atomic_fetch_add_explicit(&counts.described, kernels, memory_order_relaxed);
}

static void count_one(_Atomic uint64_t *figure)
{
    atomic_fetch_add_explicit(figure, 1, memory_order_relaxed);
}

void soft_code_parsed(void)
{
    count_one(&counts.parsed);
}

void soft_code_count(soft_code_counts *out)
{
    *out = (soft_code_counts){
        .parsed = atomic_load_explicit(&counts.parsed, memory_order_relaxed),
        .written = atomic_load_explicit(&counts.written, memory_order_relaxed),
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
    units->key = input->key;
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
    for (uint32_t i = 0; i <= units->kernel_count; i++) {
        if (units->units[i].state == READY)
            soft_pack_fini(&units->units[i].pack);
        if (units->units[i].has_best)
            soft_pack_fini(&units->units[i].best);
    }
    ptx_module_destroy(units->module);
    soft_ptx_text_fini(&units->text);
    gphi_heap_free(heap, units->directory, units->directory_bytes);
    pthread_cond_destroy(&units->changed);
    pthread_mutex_destroy(&units->lock);
    pthread_mutex_destroy(&units->parsing);
    gphi_heap_free(heap, units, bytes_of(units->kernel_count));
}

/* What a unit gets. */
struct made {
    soft_pack pack;
    bool may_improve;
};

/* ---- notes ------------------------------------------------------------------------ */

/* All that decides over the IR and what is asked of LLVM. */
static gphi_hash128 note_key(const soft_units *units, uint32_t index)
{
    const uint32_t words[] = {0x65746f6e, units->options.tier, index}; /* "note" */
    return gphi_hash128_bytes(units->key, words, sizeof(words));
}

/* What is not as it should be is not there. */
static bool find_noted(const soft_units *units, uint32_t index, struct made *out)
{
    soft_pack pack;
    struct note note;
    if (!units->directory ||
        !soft_pack_cached(units->directory, note_key(units, index), units->heap, &pack))
        return false;
    const bool is_note = pack.object_count == 1 && pack.objects[0].count == sizeof(note);
    if (is_note)
        memcpy(&note, pack.objects[0].bytes, sizeof(note));
    soft_pack_fini(&pack);
    if (!is_note ||
        !soft_pack_cached(units->directory, note.key, units->heap, &out->pack))
        return false;
    out->may_improve = note.may_improve != 0;
    /* a note is not code */
    if (out->pack.object_count > 0 && out->pack.objects[0].count > sizeof(note))
        return true;
    soft_pack_fini(&out->pack);
    return false;
}

/* Without one, the next process takes longer. */
static void write_note(const soft_units *units, uint32_t index, gphi_hash128 key,
                       bool may_improve)
{
    const struct note note = {key, may_improve, 0};
    const soft_object object = {(const unsigned char *)&note, sizeof(note)};
    const soft_pack_input input = {
        .key = note_key(units, index), .objects = &object, .object_count = 1, .info = ""};
    if (units->directory)
        soft_pack_keep(&input, units->directory, units->heap);
}

/* ---- making one ------------------------------------------------------------------- */

/* Parsed by the first that asks, if its description came from the cache. */
static gph_status get_module(soft_units *units, const ptx_module **out, gph_error *error)
{
    gph_status status = GPH_OK;
    pthread_mutex_lock(&units->parsing);
    if (!units->module) {
        soft_code_parsed();
        status = ptx_parse(units->text.text, units->text.bytes, &units->heap,
                           &units->module, error);
    }
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
/* And from here on it is more than 50 ms (250 instructions of straight code): worth two
 * tiers. */
#define TIERED_IR_BYTES ((size_t)48 << 10)

/* Above, the best would take minutes: a kernel of that size keeps its quick code. */
#define BEST_IR_BYTES ((size_t)4 << 20)

static bool has_both(const soft_units *units)
{
    return units->options.tier == SOFT_TIER_BOTH || units->options.tier == SOFT_TIER_SOON;
}

static uint32_t tier_of(const soft_units *units, const ptx_program *program)
{
    const size_t above[] = {[SOFT_TIER_SIZE] = QUICK_IR_BYTES,
                            [SOFT_TIER_BEST] = SIZE_MAX,
                            [SOFT_TIER_QUICK] = 0,
                            [SOFT_TIER_BOTH] = TIERED_IR_BYTES,
                            [SOFT_TIER_SOON] = 0};
    const bool is_fast = program->kernel_count == 1 &&
                         program->kernels[0].path == PTX_PATH_FAST &&
                         !program->kernels[0].one_row;
    if (units->options.tier == SOFT_TIER_QUICK)
        return SOFT_JIT_QUICK;
    return is_fast && program->ir_bytes > above[units->options.tier] ? SOFT_JIT_QUICK
                                                                     : SOFT_JIT_BEST;
}

struct source {
    const ptx_program *program;
    uint32_t tier; /* soft_jit_tier */
    const _Atomic uint32_t *cancel;
};

/* Somebody waits for quick code; each thread takes some 30 MB. */
#define QUICK_THREADS_MAX 4u

static uint32_t thread_count(const soft_units *units, const struct source *source)
{
    if (source->tier != SOFT_JIT_QUICK || units->options.tier == SOFT_TIER_SIZE)
        return 1;
    const uint32_t processors = gphi_processors();
    return processors < QUICK_THREADS_MAX ? processors : QUICK_THREADS_MAX;
}

/* LLVM makes it, and the cache gets it. */
static gph_status make_code(soft_units *units, uint32_t index,
                            const struct source *source, gphi_hash128 key, soft_pack *out,
                            gph_error *error)
{
    const ptx_program *program = source->program;
    const soft_jit_api *jit;
    GPHI_TRY(soft_jit_load(&jit, error));
    const soft_jit_request request = {.ir = program->ir,
                                      .ir_bytes = program->ir_bytes,
                                      .vector_bits = units->options.vector_bits,
                                      .part_count = 1,
                                      .optimize = source->tier,
                                      .thread_count = thread_count(units, source),
                                      .cancel = source->cancel};
    soft_jit_result result;
    const uint64_t start = gphi_clock_ns();
    if (jit->compile(&request, &result) != 0)
        return gphi_fail(error, SOFT_ERROR_INVALID_PTX,
                         "kernel %.100s: no machine code could be made: %.300s",
                         name_of(units, program, index), result.message);
    atomic_fetch_add_explicit(&counts.compile_ns, gphi_clock_ns() - start,
                              memory_order_relaxed);
    count_one(&counts.compiled);
    soft_object objects[SOFT_JIT_PARTS_MAX];
    for (uint32_t i = 0; i < result.object_count; i++)
        objects[i] = (soft_object){result.objects[i].bytes, result.objects[i].count};
    const soft_pack_input input = {
        .key = key, .objects = objects, .object_count = result.object_count, .info = ""};
    const gph_status status =
        soft_pack_make(&input, units->directory, units->heap, out, error);
    jit->release(&result);
    return status;
}

static gphi_hash128 code_key(const soft_units *units, const struct source *source)
{
    return gphi_hash128_bytes(
        gphi_hash128_bytes(units->seed, &source->tier, sizeof(source->tier)),
        source->program->ir, source->program->ir_bytes);
}

static bool find_code(const soft_units *units, gphi_hash128 key, soft_pack *out)
{
    const bool is_there =
        units->directory && soft_pack_cached(units->directory, key, units->heap, out);
    if (is_there)
        count_one(&counts.cached);
    return is_there;
}

/* The best one of the cache, even where a quick one would do. */
static gph_status find_or_make(soft_units *units, uint32_t index,
                               const struct source *asked, struct made *out,
                               gph_error *error)
{
    const ptx_program *program = asked->program;
    struct source source = *asked;
    if (source.tier == SOFT_JIT_NONE)
        source.tier = tier_of(units, program);
    gphi_hash128 key = code_key(units, &source);
    const bool is_quick = source.tier == SOFT_JIT_QUICK && has_both(units);
    const struct source better = {program, SOFT_JIT_BEST, NULL};
    const gphi_hash128 better_key = is_quick ? code_key(units, &better) : key;
    bool is_better = false;
    if (is_quick && find_code(units, better_key, &out->pack)) {
        key = better_key;
        is_better = true;
    } else if (!find_code(units, key, &out->pack)) {
        GPHI_TRY(make_code(units, index, &source, key, &out->pack, error));
    }
    if (out->pack.object_count == 0) {
        soft_pack_fini(&out->pack);
        return gphi_fail(error, SOFT_ERROR_INVALID_IMAGE, "machine code of no object");
    }
    out->may_improve = is_quick && !is_better && program->ir_bytes <= BEST_IR_BYTES;
    write_note(units, index, key, out->may_improve);
    return GPH_OK;
}

/* By its IR; `asked`: how, but for the program. */
static gph_status make(soft_units *units, uint32_t index, struct source asked,
                       struct made *out, gph_error *error)
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
    count_one(&counts.written);
    GPHI_TRY(ptx_compile(module, &options, &program, error));
    asked.program = program;
    const gph_status status = find_or_make(units, index, &asked, out, error);
    ptx_program_destroy(program);
    return status;
}

gph_status soft_units_get(soft_units *units, uint32_t index, const soft_pack **out,
                          gph_error *error)
{
    unit *u = &units->units[index];
    gph_status status = GPH_OK;
    pthread_mutex_lock(&units->lock);
    while (u->state == BUSY)
        pthread_cond_wait(&units->changed, &units->lock);
    if (u->state == IDLE) {
        struct made made = {0};
        u->state = BUSY;
        pthread_mutex_unlock(&units->lock);
        if (find_noted(units, index, &made))
            count_one(&counts.cached);
        else
            status =
                make(units, index, (struct source){.tier = SOFT_JIT_NONE}, &made, error);
        pthread_mutex_lock(&units->lock);
        u->state = status == GPH_OK ? READY : IDLE;
        if (status == GPH_OK) {
            u->pack = made.pack;
            u->may_improve = made.may_improve;
        }
        pthread_cond_broadcast(&units->changed);
    }
    if (status == GPH_OK)
        *out = u->has_best ? &u->best : &u->pack;
    pthread_mutex_unlock(&units->lock);
    return status;
}

/* ---- the best, later -------------------------------------------------------------- */

bool soft_units_may_improve(soft_units *units, uint32_t index)
{
    pthread_mutex_lock(&units->lock);
    const bool may = units->units[index].may_improve && !units->units[index].has_best;
    pthread_mutex_unlock(&units->lock);
    return may && has_both(units);
}

bool soft_units_is_hasty(const soft_units *units)
{
    return units->options.tier == SOFT_TIER_SOON;
}

gph_status soft_units_improve(soft_units *units, uint32_t index,
                              const _Atomic uint32_t *cancel, const soft_pack **out,
                              gph_error *error)
{
    unit *u = &units->units[index];
    pthread_mutex_lock(&units->lock);
    const bool is_there = u->has_best;
    pthread_mutex_unlock(&units->lock);
    if (!is_there) {
        struct made made = {0};
        const struct source best = {.tier = SOFT_JIT_BEST, .cancel = cancel};
        GPHI_TRY(make(units, index, best, &made, error));
        pthread_mutex_lock(&units->lock);
        u->best = made.pack;
        u->has_best = true;
        pthread_mutex_unlock(&units->lock);
    }
    *out = &u->best;
    return GPH_OK;
}
