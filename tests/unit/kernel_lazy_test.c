// SPDX-License-Identifier: Apache-2.0
/* Machine code is made for what is launched, once, whoever asks first; a kernel that
 * cannot be compiled fails its own launch alone. Counts are asserted, not times. */
#include <dirent.h>
#include <ftw.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"
#include "kernel_run.h"
#include "mutate.h"
#include "softcuda/kernel/load/cache.h"
#include "softcuda/kernel/load/pack.h"
#include "test.h"

#define HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"
#define MANY 350
#define THREADS 4

static gph_error error;

/* Kernels that store their number, `extra` instructions later. */
static char *make_module(uint32_t count, uint32_t extra)
{
    char *text = malloc(200 + count * (400 + 40ull * extra));
    if (text == NULL)
        abort();
    size_t at = (size_t)sprintf(text, HEAD);
    for (uint32_t i = 0; i < count; i++) {
        at += (size_t)sprintf(text + at,
                              ".visible .entry k%u(.param .u64 p)\n{\n.reg .b32 %%r<4>;\n"
                              ".reg .b64 %%rd<4>;\nld.param.u64 %%rd1, [p];\n"
                              "mov.u32 %%r1, %u;\n",
                              i, i);
        for (uint32_t k = 0; k < extra; k++)
            at += (size_t)sprintf(text + at, "xor.b32 %%r1, %%r1, %u;\n", k / 2 * 7 + 1);
        at += (size_t)sprintf(text + at, "st.global.u32 [%%rd1], %%r1;\nret;\n}\n");
    }
    return text;
}

static soft_code_counts counts_since(const soft_code_counts *before)
{
    soft_code_counts now;
    soft_code_count(&now);
    now.described -= before->described;
    now.compiled -= before->compiled;
    now.cached -= before->cached;
    now.parsed -= before->parsed;
    now.written -= before->written;
    return now;
}

static uint32_t result_of(kernel_unit *unit, const char *name)
{
    uint32_t out = UINT32_MAX;
    uint32_t *params = &out;
    const kernel_call call = {.name = name};
    CHECK_OK(kernel_run(unit, &call, &params, &error), error);
    return out;
}

static void a_missing_compiler_fails_the_launch_and_no_load(void)
{
    char *before = strdup(getenv("SOFTCUDA_JIT"));
    char *text = make_module(2, 0);
    setenv("SOFTCUDA_JIT", "/nowhere/softcuda-jit.so", 1);
    kernel_unit *unit = kernel_open(text, 0, &error);
    if (CHECK(unit != NULL)) {
        const soft_kernel_code *code = soft_binding_find(unit->binding, "k1");
        for (int i = 0; i < 2; i++) {
            CHECK(soft_kernel_ready(code, &error) == SOFT_ERROR_JIT_COMPILER_NOT_FOUND);
            CHECK(strstr(error.message, "/nowhere/softcuda-jit.so") != NULL);
        }
        setenv("SOFTCUDA_JIT", before, 1);
        CHECK(result_of(unit, "k1") == 1); /* a failure is not kept */
    }
    kernel_close(unit);
    free(text);
    free(before);
}

static void a_large_module_loads_without_machine_code(void)
{
    soft_code_counts before;
    soft_code_count(&before);
    char *text = make_module(MANY, 0);
    kernel_unit *unit = kernel_open(text, 0, &error);
    if (CHECK(unit != NULL)) {
        soft_code_counts now = counts_since(&before);
        CHECK(now.described == MANY && now.compiled == 0 && now.cached == 0);
        CHECK(kernel_about(unit, "k7")->registers > 0);
        CHECK(kernel_about(unit, "k7")->param_bytes == 8);
        CHECK(result_of(unit, "k300") == 300);
        CHECK(result_of(unit, "k300") == 300);
        CHECK(result_of(unit, "k2") == 2);
        now = counts_since(&before);
        CHECK(now.compiled == 2);
    }
    kernel_close(unit);
    free(text);
}

static void eager_code_is_made_at_once(void)
{
    soft_code_counts before;
    soft_code_count(&before);
    char *text = make_module(9, 0);
    const soft_code_options options = {.cache = "off", .eager = 1};
    soft_code *code = NULL;
    soft_binding *binding = NULL;
    if (CHECK_OK(soft_code_create(text, 0, &options, &code, &error), error) &&
        CHECK_OK(soft_binding_create(code, NULL, &binding, &error), error)) {
        CHECK(counts_since(&before).compiled == 9);
        for (uint32_t i = 0; i < 9; i++)
            CHECK(atomic_load(&soft_binding_kernel(binding, i)->ready));
    }
    soft_binding_destroy(binding);
    soft_code_release(code);
    free(text);
}

/* ---- the first launch, by several ------------------------------------------------- */

struct racer {
    pthread_barrier_t *start;
    const soft_kernel_code *code;
    gph_status status;
};

static void *race(void *argument)
{
    struct racer *r = argument;
    gph_error own = {0};
    pthread_barrier_wait(r->start);
    r->status = soft_kernel_ready(r->code, &own);
    return NULL;
}

/* Of `kinds` kernels. */
static void race_for(uint32_t kinds)
{
    soft_code_counts before;
    soft_code_count(&before);
    char *text = make_module(THREADS, 100);
    kernel_unit *unit = kernel_open(text, 0, &error);
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, THREADS);
    pthread_t threads[THREADS];
    struct racer racers[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        char name[8];
        snprintf(name, sizeof(name), "k%u", i % kinds);
        racers[i] = (struct racer){&start, soft_binding_find(unit->binding, name), -1};
        CHECK(pthread_create(&threads[i], NULL, race, &racers[i]) == 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(racers[i].status == GPH_OK);
    }
    pthread_barrier_destroy(&start);
    CHECK(counts_since(&before).compiled == kinds);
    CHECK(result_of(unit, "k1") == 1);
    kernel_close(unit);
    free(text);
}

static void one_thread_compiles_and_the_others_wait(void)
{
    race_for(1);
}

static void different_kernels_are_compiled_at_once(void)
{
    race_for(THREADS);
}

/* ---- the cache -------------------------------------------------------------------- */

static void run_cached(const char *text, const char *folder, const char *name,
                       soft_code_counts *out)
{
    soft_code_counts before;
    const soft_code_options options = {.cache = folder};
    soft_code *code = NULL;
    soft_binding *binding = NULL;
    soft_code_count(&before);
    if (CHECK_OK(soft_code_create(text, 0, &options, &code, &error), error) &&
        CHECK_OK(soft_binding_create(code, NULL, &binding, &error), error)) {
        const soft_kernel_code *kernel = soft_binding_find(binding, name);
        CHECK_OK(soft_kernel_ready(kernel, &error), error);
    }
    *out = counts_since(&before);
    soft_binding_destroy(binding);
    soft_code_release(code);
}

static int remove_one(const char *path, const struct stat *about, int type,
                      struct FTW *where)
{
    (void)about;
    (void)type;
    (void)where;
    return remove(path);
}

/* Nothing was done but reading files. */
static bool is_all_cached(const soft_code_counts *counts)
{
    return counts->compiled == 0 && counts->cached == 1 && counts->parsed == 0 &&
           counts->written == 0;
}

/* The key of a kernel is what it is made of, not its module. */
static void an_edited_kernel_leaves_the_others_cached(void)
{
    char folder[] = "/tmp/kernel_lazy_XXXXXX";
    if (!CHECK(mkdtemp(folder) != NULL))
        return;
    char *text = make_module(3, 2);
    soft_code_counts now;
    run_cached(text, folder, "k0", &now);
    CHECK(now.compiled == 1 && now.cached == 0);
    run_cached(text, folder, "k0", &now);
    CHECK(is_all_cached(&now));
    run_cached(text, folder, "k1", &now);
    CHECK(now.compiled == 1 && now.cached == 0 && now.parsed == 1 && now.written == 1);
    char *edit = strstr(text, "mov.u32 %r1, 2;");
    if (CHECK(edit != NULL))
        memcpy(edit, "mov.u32 %r1, 5;", 15);
    run_cached(text, folder, "k1", &now);
    CHECK(now.compiled == 0 && now.cached == 1 && now.parsed == 1 && now.written == 1);
    run_cached(text, folder, "k1", &now);
    CHECK(is_all_cached(&now));
    run_cached(text, folder, "k2", &now);
    CHECK(now.compiled == 1 && now.cached == 0);
    free(text);
    CHECK(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

/* ---- its files -------------------------------------------------------------------- */

enum { FILE_MAX_BYTES = 1 << 16, KEY_AT = 24 };
typedef enum file_kind { NOTE, DESCRIPTION, CODE } file_kind;

typedef struct cache_file {
    char path[400];
    unsigned char bytes[FILE_MAX_BYTES];
    size_t count;
} cache_file;

static void put_file(const cache_file *file)
{
    FILE *stream = fopen(file->path, "wb");
    if (CHECK(stream != NULL)) {
        CHECK(fwrite(file->bytes, 1, file->count, stream) == file->count);
        fclose(stream);
    }
}

static file_kind kind_of(const cache_file *file)
{
    if (memmem(file->bytes, file->count, "\177ELF", 4))
        return CODE;
    return file->count < 200 ? NOTE : DESCRIPTION;
}

/* Finds the files of a kind; the last of them; removed where that is asked for. */
static uint32_t find_files(const char *folder, file_kind kind, bool removes,
                           cache_file *out)
{
    static cache_file file;
    uint32_t count = 0;
    DIR *stream = opendir(folder);
    for (struct dirent *e; stream != NULL && (e = readdir(stream)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(file.path, sizeof(file.path), "%s/%.200s", folder, e->d_name);
        FILE *one = fopen(file.path, "rb");
        if (!CHECK(one != NULL))
            continue;
        file.count = fread(file.bytes, 1, sizeof(file.bytes), one);
        fclose(one);
        if (kind_of(&file) != kind)
            continue;
        count++;
        if (out)
            *out = file;
        if (removes)
            CHECK(unlink(file.path) == 0);
    }
    if (stream != NULL)
        closedir(stream);
    return count;
}

static void a_missing_file_is_made_again(void)
{
    char folder[] = "/tmp/kernel_lazy_XXXXXX";
    if (!CHECK(mkdtemp(folder) != NULL))
        return;
    char *text = make_module(2, 2);
    soft_code_counts now;
    run_cached(text, folder, "k0", &now);
    CHECK(find_files(folder, DESCRIPTION, false, NULL) == 1);
    CHECK(find_files(folder, CODE, true, NULL) == 1);
    run_cached(text, folder, "k0", &now);
    CHECK(now.compiled == 1 && now.cached == 0 && now.parsed == 1 && now.written == 1);
    run_cached(text, folder, "k0", &now);
    CHECK(is_all_cached(&now));
    CHECK(find_files(folder, NOTE, true, NULL) == 1);
    run_cached(text, folder, "k0", &now);
    CHECK(now.compiled == 0 && now.cached == 1 && now.parsed == 1 && now.written == 1);
    run_cached(text, folder, "k0", &now);
    CHECK(is_all_cached(&now));
    CHECK(find_files(folder, DESCRIPTION, true, NULL) == 1);
    run_cached(text, folder, "k0", &now); /* only what describes it is made again */
    CHECK(now.compiled == 0 && now.cached == 1 && now.parsed == 1 && now.written == 0);
    free(text);
    CHECK(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

/* Each byte changed, each length cut off, and other changes; some of them change nothing.
 */
static void a_damaged_note_is_ignored(void)
{
    char folder[] = "/tmp/kernel_lazy_XXXXXX";
    if (!CHECK(mkdtemp(folder) != NULL))
        return;
    static cache_file note, other;
    char *text = make_module(1, 0);
    soft_code_counts now;
    run_cached(text, folder, "k0", &now);
    CHECK(find_files(folder, NOTE, false, &note) == 1);
    for (size_t i = 0; i < note.count * 2; i++) {
        other = note;
        if (i < note.count)
            other.bytes[i] ^= (unsigned char)(1u << i % 8);
        else
            other.count = i - note.count;
        put_file(&other);
        run_cached(text, folder, "k0", &now);
        CHECK(now.compiled == 0 && now.cached == 1 && now.written == 1);
    }
    for (int i = 0; i < 300; i++) {
        other = note;
        other.count = mutate(other.bytes, other.count, sizeof(other.bytes));
        put_file(&other);
        run_cached(text, folder, "k0", &now);
        CHECK(now.compiled == 0 && now.cached == 1);
    }
    run_cached(text, folder, "k0", &now);
    CHECK(is_all_cached(&now));
    free(text);
    CHECK(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

/* Whole, with objects that are not the key of code. */
static void put_note(const char *folder, gphi_hash128 key, const soft_object *objects,
                     uint32_t count)
{
    const gph_allocator heap = {fault_realloc, &(fault_heap){.fail_at = -1}};
    const soft_pack_input input = {
        .key = key, .objects = objects, .object_count = count, .info = ""};
    unsigned char *data;
    size_t bytes;
    if (!CHECK_OK(soft_pack_write(&input, heap, &data, &bytes, &error), error))
        return;
    CHECK(soft_cache_write(folder, key, data, bytes, UINT64_MAX));
    free(data);
}

static void a_note_that_names_no_code_is_ignored(void)
{
    char folder[] = "/tmp/kernel_lazy_XXXXXX";
    if (!CHECK(mkdtemp(folder) != NULL))
        return;
    static cache_file note, description;
    gphi_hash128 keys[3] = {{1, 2}};
    char *text = make_module(1, 0);
    soft_code_counts now;
    run_cached(text, folder, "k0", &now);
    CHECK(find_files(folder, NOTE, false, &note) == 1);
    CHECK(find_files(folder, DESCRIPTION, false, &description) == 1);
    memcpy(&keys[1], note.bytes + KEY_AT, sizeof(keys[1]));
    memcpy(&keys[2], description.bytes + KEY_AT, sizeof(keys[2]));
    for (uint32_t i = 0; i < 7; i++) {
        const struct {
            gphi_hash128 key;
            uint32_t may_improve, reserved;
        } body[2] = {{.key = keys[i < 3 ? i : 0]}, {.key = keys[0]}};
        const soft_object objects[2] = {
            {(const unsigned char *)&body[0], i < 5 ? 24u : (i - 5) * 25u},
            {(const unsigned char *)&body[1], 24}};
        put_note(folder, keys[1], objects, i == 3 ? 0 : i == 4 ? 2 : 1);
        run_cached(text, folder, "k0", &now);
        CHECK(now.compiled == 0 && now.cached == 1 && now.written == 1);
        run_cached(text, folder, "k0", &now);
        CHECK(is_all_cached(&now));
    }
    free(text);
    CHECK(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

static void processes_that_race_share_what_they_made(void)
{
    char folder[] = "/tmp/kernel_lazy_XXXXXX";
    if (!CHECK(mkdtemp(folder) != NULL))
        return;
    char *text = make_module(3, 20);
    soft_code_counts now;
    pid_t children[THREADS];
    for (int i = 0; i < THREADS; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            const int failed = atomic_load(&test_failures);
            run_cached(text, folder, "k0", &now);
            run_cached(text, folder, i % 2 ? "k1" : "k2", &now);
            _exit(atomic_load(&test_failures) != failed);
        }
    }
    for (int i = 0; i < THREADS; i++) {
        int status = -1;
        CHECK(children[i] > 0 && waitpid(children[i], &status, 0) == children[i]);
        CHECK(status == 0);
    }
    for (int i = 0; i < 3; i++) {
        const char *const names[] = {"k0", "k1", "k2"};
        run_cached(text, folder, names[i], &now);
        CHECK(is_all_cached(&now));
    }
    CHECK(find_files(folder, CODE, false, NULL) == 3);
    CHECK(find_files(folder, NOTE, false, NULL) == 3);
    free(text);
    CHECK(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

/* ---- functions -------------------------------------------------------------------- */

#define FUNCTION(name, number)                                                           \
    ".func (.reg .b32 %r) " name "(.reg .b32 %a)\n{\nadd.u32 %r, %a, " number            \
    ";\nret;\n}\n"
#define KERNEL(name, body)                                                               \
    ".visible .entry " name "(.param .u64 p)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"  \
    "ld.param.u64 %rd1, [p];\n" body "ret;\n}\n"

static const char functions[] = HEAD FUNCTION("one", "1") FUNCTION("two", "2")
    FUNCTION("three", "3") ".global .align 8 .u64 table[2] = {one, two};\n" KERNEL(
        "address", "mov.u64 %rd2, two;\nst.global.u64 [%rd1], %rd2;\n")
        KERNEL("stored", "ld.global.u64 %rd2, [table+8];\nst.global.u64 [%rd1], %rd2;\n")
            KERNEL("direct", "mov.u32 %r1, 40;\ncall (%r2), two, (%r1);\n"
                             "st.global.u32 [%rd1], %r2;\n")
                KERNEL("closed", "mov.u32 %r1, 40;\ncall (%r2), three, (%r1);\n"
                                 "st.global.u32 [%rd1], %r2;\n");

static uint64_t address_of(kernel_unit *unit, const char *name)
{
    uint64_t out = 0;
    uint64_t *params = &out;
    const kernel_call call = {.name = name};
    CHECK_OK(kernel_run(unit, &call, &params, &error), error);
    return out;
}

/* Kernels are compiled one by one, and agree on where a function is. */
static void a_function_has_one_address(void)
{
    kernel_unit *unit = kernel_open(functions, 0, &error);
    if (CHECK(unit != NULL)) {
        const uint64_t named = address_of(unit, "address");
        CHECK(named != 0 && named == address_of(unit, "stored"));
        const uint64_t *table = kernel_global(unit, "table");
        CHECK(table[1] == named && table[0] != 0 && table[0] != named);
        CHECK(result_of(unit, "direct") == 42);
        CHECK(!kernel_about(unit, "closed")->names_functions);
        CHECK(kernel_about(unit, "direct")->names_functions);
        CHECK(result_of(unit, "closed") == 43);
    }
    kernel_close(unit);
}

/* ---- memory ----------------------------------------------------------------------- */

static gph_status load_and_ready(fault_heap *heap, const char *folder)
{
    const gph_allocator allocator = {fault_realloc, heap};
    const soft_code_options options = {.cache = folder, .allocator = &allocator};
    uint64_t memory[2];
    const uint64_t address = (uint64_t)(uintptr_t)memory;
    soft_code *code = NULL;
    soft_binding *binding = NULL;
    gph_status status = soft_code_create(functions, 0, &options, &code, &error);
    if (status == GPH_OK)
        status = soft_binding_create(code, &address, &binding, &error);
    if (status == GPH_OK)
        status = soft_kernel_ready(soft_binding_find(binding, "direct"), &error);
    if (status != GPH_OK && binding) { /* and once there is memory again it works */
        atomic_store(&heap->fail_at, -1);
        CHECK_OK(soft_kernel_ready(soft_binding_find(binding, "direct"), &error), error);
    }
    soft_binding_destroy(binding);
    soft_code_release(code);
    return status;
}

/* With a warm cache, where nothing but LLVM is missing from what allocates; without its
 * notes, and with them. */
static void sweep(bool has_notes)
{
    char folder[] = "/tmp/kernel_lazy_XXXXXX";
    if (!CHECK(mkdtemp(folder) != NULL))
        return;
    fault_heap heap = {.fail_at = -1};
    CHECK_OK(load_and_ready(&heap, folder), error);
    for (long nth = 0; nth < 10000; nth++) {
        if (!has_notes)
            find_files(folder, NOTE, true, NULL);
        atomic_store(&heap.fail_at, nth);
        const gph_status status = load_and_ready(&heap, folder);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        /* A failed allocation may cost the cache and nothing else: it was used up. */
        if (status == GPH_OK && atomic_load(&heap.fail_at) >= 0)
            break;
        CHECK(nth < 9999);
    }
    CHECK(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

static void survives_every_failed_allocation(void)
{
    sweep(false);
    sweep(true);
}

int main(void)
{
    setenv("SOFTCUDA_JIT", KERNEL_RUN_JIT, 0);
    RUN(a_missing_compiler_fails_the_launch_and_no_load);
    RUN(a_large_module_loads_without_machine_code);
    RUN(eager_code_is_made_at_once);
    RUN(one_thread_compiles_and_the_others_wait);
    RUN(different_kernels_are_compiled_at_once);
    RUN(an_edited_kernel_leaves_the_others_cached);
    RUN(a_missing_file_is_made_again);
    RUN(a_damaged_note_is_ignored);
    RUN(a_note_that_names_no_code_is_ignored);
    RUN(processes_that_race_share_what_they_made);
    RUN(a_function_has_one_address);
    RUN(survives_every_failed_allocation);
    return test_done();
}
