// SPDX-License-Identifier: Apache-2.0
/* From an image to compiled code: parse, compile, keep in the disk cache.
 *
 *   image --fatbin.c--> PTX --make_key()--> cache.c: a pack
 *                        | not there
 *                        '--> ptx_parse --> ptx_compile --> softcuda-jit.so --> pack.c
 *
 * The key is a hash of all that decides over the code: this build of the compiler, the
 * processor's features, the options and the text. A pack from the cache is checked as one
 * from a stranger would be. */
#include "softcuda/kernel/load/code.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

#include "base/clock.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "softcuda/check/mode.h"
#include "softcuda/kernel/load/cache.h"
#include "softcuda/kernel/load/fatbin.h"
#include "softcuda/kernel/load/jitload.h"
#include "softcuda/kernel/load/pack.h"
#include "softcuda/kernel/load/soft_build_id.h" /* made by the build: SOFT_BUILD_ID */
#include "softcuda/ptx/abi.h"

struct soft_code {
    atomic_uint references;
    bool was_cached;
    soft_pack pack;
    gph_allocator heap;
};

uint32_t soft_code_host_half(void)
{
#if defined(__x86_64__)
    /* By cpuid itself: __builtin_cpu_supports() needs a library that wheels do not link. */
    uint32_t a = 0, b = 0, c = 0, d = 0, saved = 0, high = 0;
    const uint32_t vectors = 0x06,
                   masks = 0xe0; /* that the system saves: YMM; ZMM and masks */
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_F16C))
        return PTX_HALF_NONE;
    __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    if ((saved & vectors) != vectors)
        return PTX_HALF_NONE;
    const bool computes = (saved & masks) == masks &&
                          __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & (1u << 23));
    return computes ? PTX_HALF_COMPUTES : PTX_HALF_CONVERTS;
#else
    const unsigned long scalar = 1ul << 9, vector = 1ul << 10; /* FPHP, ASIMDHP */
    const unsigned long has = getauxval(AT_HWCAP);
    return (has & scalar) && (has & vector) ? PTX_HALF_COMPUTES : PTX_HALF_CONVERTS;
#endif
}

void soft_code_options_init(soft_code_options *options)
{
    *options = (soft_code_options){0};
    const char *path = getenv("SOFTCUDA_PATH");
    options->force_slow = path && strcmp(path, "slow") == 0;
    options->check_memory = soft_check_mode_wanted().memory;
    options->half = soft_code_host_half();
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

static gphi_hash128 make_key(const soft_ptx_text *text, const soft_code_options *options)
{
    const uint32_t words[] = {PTX_ABI_VERSION,       options->force_slow,
                              options->check_memory, options->contract,
                              options->vector_bits,  options->half,
                              SOFT_JIT_VERSION};
    gphi_hash128 h = {0x67706873, 0x6f667463};
    h = gphi_hash128_bytes(h, SOFT_BUILD_ID, strlen(SOFT_BUILD_ID));
    h = gphi_hash128_bytes(h, words, sizeof(words));
    h = hash_cpu(h);
    return gphi_hash128_bytes(h, text->text, text->bytes);
}

/* ---- compiling -------------------------------------------------------------------- */

struct compilation {
    const soft_code_options *options;
    gph_allocator heap;
    gphi_hash128 key;
    gph_error *error;
    unsigned char *data; /* the result: packed, not yet read */
    size_t bytes;
};

/* Those this process may run on: LLVM gets a thread for each. */
static uint32_t cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return 1;
    const int count = CPU_COUNT(&set);
    return count > 0 ? (uint32_t)count : 1;
}

static uint32_t count_path(const ptx_program *program, ptx_path path)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < program->kernel_count; i++)
        count += program->kernels[i].path == path;
    return count;
}

static gph_status pack_result(struct compilation *c, const ptx_module *module,
                              const ptx_program *program, const soft_jit_result *result,
                              const char *info)
{
    soft_object objects[SOFT_JIT_PARTS_MAX];
    for (uint32_t i = 0; i < result->object_count; i++)
        objects[i] = (soft_object){result->objects[i].bytes, result->objects[i].count};
    const soft_pack_input input = {.key = c->key,
                                   .module = module,
                                   .program = program,
                                   .objects = objects,
                                   .object_count = result->object_count,
                                   .info = info};
    return soft_pack_write(&input, c->heap, &c->data, &c->bytes, c->error);
}

/* Machine code for the program, if it has a kernel that can run. */
static gph_status make_code(struct compilation *c, const ptx_module *module,
                            const ptx_program *program)
{
    const uint32_t fast = count_path(program, PTX_PATH_FAST);
    const uint32_t slow = count_path(program, PTX_PATH_SLOW);
    soft_jit_result result = {.object_count = 0};
    const uint64_t start = gphi_clock_ns();
    const soft_jit_api *jit = NULL;
    if (fast + slow != 0) {
        GPHI_TRY(soft_jit_load(&jit, c->error));
        const uint32_t cpus = cpu_count();
        const soft_jit_request request = {
            .ir = program->ir,
            .ir_bytes = program->ir_bytes,
            .vector_bits = c->options->vector_bits,
            .part_count = fast + slow < cpus ? fast + slow : cpus,
            .optimize = 1,
        };
        if (jit->compile(&request, &result) != 0)
            return gphi_fail(c->error, SOFT_ERROR_INVALID_PTX,
                             "no machine code could be made: %.400s", result.message);
    }
    char info[256];
    snprintf(info, sizeof(info),
             "%u kernels: %u on the fast path, %u on the slow one, %u not supported; "
             "compiled in %llu ms",
             program->kernel_count, fast, slow, program->kernel_count - fast - slow,
             (unsigned long long)((gphi_clock_ns() - start) / 1000000));
    const gph_status status = pack_result(c, module, program, &result, info);
    if (jit)
        jit->release(&result);
    return status;
}

/* All of it, from text to a pack; the module is needed until the pack is written. */
static gph_status compile(struct compilation *c, const soft_ptx_text *text)
{
    ptx_module *module;
    GPHI_TRY(ptx_parse(text->text, text->bytes, &c->heap, &module, c->error));
    const ptx_compile_options options = {.force_slow = c->options->force_slow,
                                         .check_memory = c->options->check_memory,
                                         .contract = c->options->contract,
                                         .vector_bits = c->options->vector_bits,
                                         .half = c->options->half,
                                         .allocator = &c->heap};
    ptx_program *program;
    gph_status status = ptx_compile(module, &options, &program, c->error);
    if (status == GPH_OK) {
        status = make_code(c, module, program);
        ptx_program_destroy(program);
    }
    ptx_module_destroy(module);
    return status;
}

/* ---- the object ------------------------------------------------------------------- */

static gph_status get_code(const soft_ptx_text *text, const soft_code_options *options,
                           soft_code *code, gph_error *error)
{
    struct compilation c = {.options = options,
                            .heap = code->heap,
                            .key = make_key(text, options),
                            .error = error};
    char directory[SOFT_CACHE_PATH_MAX];
    const bool cached = soft_cache_directory(options->cache, directory);
    if (cached && soft_cache_read(directory, c.key, c.heap, &c.data, &c.bytes)) {
        if (soft_pack_read(c.data, c.bytes, c.key, c.heap, &code->pack) == GPH_OK) {
            code->was_cached = true;
            return GPH_OK;
        }
        gphi_heap_free(c.heap, c.data, c.bytes);
        gphi_log("softcuda", GPH_LOG_INFO, "a file of the cache in %s is not valid",
                 directory);
    }
    GPHI_TRY(compile(&c, text));
    if (cached &&
        !soft_cache_write(directory, c.key, c.data, c.bytes, soft_cache_limit()))
        gphi_log("softcuda", GPH_LOG_INFO, "compiled code could not be kept in %s",
                 directory);
    const gph_status status = soft_pack_read(c.data, c.bytes, c.key, c.heap, &code->pack);
    if (status == GPH_OK)
        return GPH_OK;
    gphi_heap_free(c.heap, c.data, c.bytes);
    return gphi_fail(error, status, "reading compiled code of %zu bytes", c.bytes);
}

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
    code->heap = heap;
    atomic_init(&code->references, 1);
    const gph_status status = get_code(&text, options, code, error);
    soft_ptx_text_fini(&text);
    if (status != GPH_OK) {
        gphi_heap_free(heap, code, sizeof(*code));
        return status;
    }
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
    soft_pack_fini(&code->pack);
    gphi_heap_free(heap, code, sizeof(*code));
}

const soft_pack *soft_code_pack(const soft_code *code)
{
    return &code->pack;
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
