// SPDX-License-Identifier: Apache-2.0
/* From an image to what is known of its kernels; their machine code is unit.c's.
 *
 *   image --fatbin.c--> PTX --module_key()--> keep.c: a pack, without objects
 *                        | not there
 *                        '--> ptx_parse --> ptx_compile (no text) --> pack.c
 *
 * The key is a hash of all that decides over the code: this build of the compiler, the
 * processor's features, the options and the text. */
#include "softcuda/kernel/load/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

#include "base/fail.h"
#include "base/heap.h"
#include "base/thread.h"
#include "softcuda/check/mode.h"
#include "softcuda/jit/jit.h"
#include "softcuda/kernel/load/cache.h"
#include "softcuda/kernel/load/soft_build_id.h" /* made by the build: SOFT_BUILD_ID */
#include "softcuda/kernel/load/unit.h"
#include "softcuda/ptx/abi.h"

struct soft_code {
    atomic_uint references;
    bool was_cached, is_eager;
    soft_pack pack;    /* kernels and globals; no objects */
    soft_units *units; /* machine code */
    gph_allocator heap;
};

#if defined(__x86_64__)
/* Features of leaf 1, in ecx, that `wanted` names, and that the system saves the registers
 * `saved` (XCR0). By cpuid itself: __builtin_cpu_supports() needs a library that wheels do
 * not link. */
#define SAVES_VECTORS 0x06u      /* XMM, YMM */
#define SAVES_WIDE_VECTORS 0xe6u /* and masks and ZMM */
static bool host_has(uint32_t wanted, uint32_t saved)
{
    uint32_t a = 0, b = 0, c = 0, d = 0, low = 0, high = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || (c & wanted) != wanted)
        return false;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & saved) == saved;
}
#endif

uint32_t soft_code_host_half(void)
{
#if defined(__x86_64__)
    uint32_t a = 0, b = 0, c = 0, d = 0;
    if (!host_has(bit_F16C, SAVES_VECTORS))
        return PTX_HALF_NONE;
    const bool computes = host_has(bit_F16C, SAVES_WIDE_VECTORS) &&
                          __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & (1u << 23));
    return computes ? PTX_HALF_COMPUTES : PTX_HALF_CONVERTS;
#else
    const unsigned long scalar = 1ul << 9, vector = 1ul << 10; /* FPHP, ASIMDHP */
    const unsigned long has = getauxval(AT_HWCAP);
    return (has & scalar) && (has & vector) ? PTX_HALF_COMPUTES : PTX_HALF_CONVERTS;
#endif
}

/* LLVM would take 256 bits on most processors that have 512: what they gain there are clocks
 * beside scalar code, and code here is little but vectors. */
uint32_t soft_code_host_vectors(void)
{
#if defined(__x86_64__)
    uint32_t a = 0, b = 0, c = 0, d = 0;
    const uint32_t wanted = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL;
    if (host_has(0, SAVES_WIDE_VECTORS) && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
        (b & wanted) == wanted)
        return 512;
#endif
    return 0;
}

/* Beside one worker, or on one processor, code would be made in the program's own time. */
static uint32_t tier_wanted(void)
{
    static const struct {
        const char *name;
        uint32_t tier;
    } names[] = {{"best", SOFT_TIER_BEST},
                 {"quick", SOFT_TIER_QUICK},
                 {"size", SOFT_TIER_SIZE},
                 {"soon", SOFT_TIER_SOON}};
    const char *tier = getenv("SOFTCUDA_TIER"), *workers = getenv("SOFTCUDA_WORKERS");
    for (size_t i = 0; tier && i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(tier, names[i].name) == 0)
            return names[i].tier;
    const bool is_alone = (workers && strcmp(workers, "1") == 0) || gphi_processors() < 2;
    return is_alone ? SOFT_TIER_SIZE : SOFT_TIER_BOTH;
}

void soft_code_options_init(soft_code_options *options)
{
    *options = (soft_code_options){0};
    const char *path = getenv("SOFTCUDA_PATH");
    options->force_slow = path && strcmp(path, "slow") == 0;
    options->check_memory = soft_check_mode_wanted().memory;
    options->tier = tier_wanted();
    options->half = soft_code_host_half();
    options->vector_bits = soft_code_host_vectors();
}

/* ---- the key of the cache --------------------------------------------------------- */

/* What the processor can do: LLVM compiles for the host, so code from another one is not
 * for here. */
static gphi_hash128 hash_cpu(gphi_hash128 h)
{
#if defined(__x86_64__)
    unsigned r[4] = {0, 0, 0, 0};
    for (unsigned leaf = 0; leaf <= 7; leaf++) {
        if (leaf != 0 && leaf != 1 && leaf != 7)
            continue;
        __cpuid_count(leaf, 0, r[0], r[1], r[2], r[3]);
        if (leaf == 1)
            r[1] = 0; /* which core this is */
        h = gphi_hash128_bytes(h, r, sizeof(r));
    }
#else
    const unsigned long words[2] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
    h = gphi_hash128_bytes(h, words, sizeof(words));
#endif
    return h;
}

/* All of it but the text. */
static gphi_hash128 make_seed(const soft_code_options *options)
{
    const uint32_t words[] = {PTX_ABI_VERSION,       options->force_slow,
                              options->check_memory, options->contract,
                              options->vector_bits,  options->half,
                              SOFT_JIT_VERSION};
    gphi_hash128 h = {0x67706873, 0x6f667463};
    h = gphi_hash128_bytes(h, SOFT_BUILD_ID, strlen(SOFT_BUILD_ID));
    h = gphi_hash128_bytes(h, words, sizeof(words));
    return hash_cpu(h);
}

/* ---- describing ------------------------------------------------------------------- */

struct loading {
    const soft_code_options *options;
    const char *directory; /* of the cache, or NULL */
    gphi_hash128 seed, key;
    gph_error *error;
    ptx_module *module; /* NULL where the cache had the description */
};

static uint32_t count_path(const ptx_program *program, ptx_path path)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < program->kernel_count; i++)
        count += program->kernels[i].path == path;
    return count;
}

static gph_status describe(struct loading *l, soft_code *code)
{
    const ptx_compile_options options = {.force_slow = l->options->force_slow,
                                         .check_memory = l->options->check_memory,
                                         .contract = l->options->contract,
                                         .vector_bits = l->options->vector_bits,
                                         .half = l->options->half,
                                         .part = PTX_PART_NONE,
                                         .allocator = &code->heap};
    ptx_program *program;
    GPHI_TRY(ptx_compile(l->module, &options, &program, l->error));
    const uint32_t fast = count_path(program, PTX_PATH_FAST);
    const uint32_t slow = count_path(program, PTX_PATH_SLOW);
    char info[256];
    snprintf(info, sizeof(info),
             "%u kernels: %u on the fast path, %u on the slow one, %u not supported; "
             "each is compiled when it is first launched",
             program->kernel_count, fast, slow, program->kernel_count - fast - slow);
    const soft_pack_input input = {
        .key = l->key, .module = l->module, .program = program, .info = info};
    const gph_status status =
        soft_pack_make(&input, l->directory, code->heap, &code->pack, l->error);
    ptx_program_destroy(program);
    return status;
}

/* From the cache, or from the text. */
static gph_status get_pack(struct loading *l, const soft_ptx_text *text, soft_code *code)
{
    if (l->directory && soft_pack_cached(l->directory, l->key, code->heap, &code->pack)) {
        code->was_cached = true;
        return GPH_OK;
    }
    soft_code_parsed();
    GPHI_TRY(ptx_parse(text->text, text->bytes, &code->heap, &l->module, l->error));
    const gph_status status = describe(l, code);
    if (status != GPH_OK) {
        ptx_module_destroy(l->module);
        l->module = NULL;
    }
    return status;
}

/* The image is the caller's, and the text is needed again. */
static gph_status own_text(soft_ptx_text *text, gph_error *error)
{
    if (text->owned)
        return GPH_OK;
    char *copy = gphi_heap_alloc(text->heap, text->bytes + 1);
    GPHI_TRY(gphi_made(error, copy, "a copy of %zu bytes of PTX", text->bytes));
    memcpy(copy, text->text, text->bytes);
    copy[text->bytes] = '\0';
    text->text = text->owned = copy;
    text->owned_bytes = text->bytes + 1;
    return GPH_OK;
}

/* `text` is taken on success. */
static gph_status fill(struct loading *l, soft_ptx_text *text, soft_code *code)
{
    GPHI_TRY(own_text(text, l->error));
    GPHI_TRY(get_pack(l, text, code));
    const soft_units_input input = {.options = l->options,
                                    .directory = l->directory,
                                    .seed = l->seed,
                                    .key = l->key,
                                    .kernel_count = code->pack.kernel_count,
                                    .module = l->module};
    const gph_status status =
        soft_units_create(&input, text, code->heap, &code->units, l->error);
    if (status == GPH_OK)
        return GPH_OK;
    ptx_module_destroy(l->module);
    soft_pack_fini(&code->pack);
    return status;
}

/* ---- the object ------------------------------------------------------------------- */

gph_status soft_code_create(const void *image, size_t bytes,
                            const soft_code_options *options, soft_code **out,
                            gph_error *error)
{
    soft_code_options all_defaults;
    soft_code_options_init(&all_defaults);
    if (!options)
        options = &all_defaults;
    const gph_allocator heap = gphi_heap(options->allocator);
    soft_ptx_text text;
    GPHI_TRY(soft_ptx_find(image, bytes, &heap, &text, error));
    soft_code *code = gphi_heap_alloc(heap, sizeof(*code));
    if (!code) {
        soft_ptx_text_fini(&text);
        return gphi_fail(error, GPH_E_NO_MEMORY, "the code of a module");
    }
    *code = (soft_code){.heap = heap, .is_eager = options->eager};
    atomic_init(&code->references, 1);
    char directory[SOFT_CACHE_PATH_MAX];
    struct loading l = {.options = options, .seed = make_seed(options), .error = error};
    l.key = gphi_hash128_bytes(l.seed, text.text, text.bytes);
    if (soft_cache_directory(options->cache, directory))
        l.directory = directory;
    const gph_status status = fill(&l, &text, code);
    if (status != GPH_OK) {
        soft_ptx_text_fini(&text);
        gphi_heap_free(heap, code, sizeof(*code));
        return status;
    }
    soft_code_counted(code->pack.kernel_count);
    *out = code;
    return GPH_OK;
}

/* Counted: a module and every binding made of it keep the code. */
void soft_code_retain(soft_code *code)
{
    atomic_fetch_add_explicit(&code->references, 1, memory_order_relaxed);
}

void soft_code_release(soft_code *code)
{
    if (!code ||
        atomic_fetch_sub_explicit(&code->references, 1, memory_order_acq_rel) != 1)
        return;
    const gph_allocator heap = code->heap;
    soft_units_destroy(code->units);
    soft_pack_fini(&code->pack);
    gphi_heap_free(heap, code, sizeof(*code));
}

const soft_pack *soft_code_pack(const soft_code *code)
{
    return &code->pack;
}

soft_units *soft_code_units(const soft_code *code)
{
    return code->units;
}

bool soft_code_is_eager(const soft_code *code)
{
    return code->is_eager;
}

uint32_t soft_code_kernel_count(const soft_code *code)
{
    return code->pack.kernel_count;
}

const ptx_kernel *soft_code_kernel(const soft_code *code, uint32_t index)
{
    return &code->pack.kernels[index];
}

uint32_t soft_code_global_count(const soft_code *code)
{
    return code->pack.global_count;
}

const soft_code_global *soft_code_global_at(const soft_code *code, uint32_t index)
{
    return &code->pack.globals[index].about;
}

const char *soft_code_info(const soft_code *code)
{
    return code->pack.info;
}

bool soft_code_was_cached(const soft_code *code)
{
    return code->was_cached;
}

uint32_t soft_code_ptx_version(const soft_code *code)
{
    return code->pack.ptx_version;
}

uint32_t soft_code_ptx_target(const soft_code *code)
{
    return code->pack.ptx_target;
}
