// SPDX-License-Identifier: Apache-2.0
/* Module images: fatbins, good and hostile; the disk cache; running out of memory. */
#include "kernel_run.h"
#include "test.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault.h"
#include "softcuda/kernel/load/cache.h"
#include "softcuda/kernel/load/fatbin.h"
#ifdef SOFT_WITH_LZ4
#include <lz4.h>
#endif
#ifdef SOFT_WITH_ZSTD
#include <zstd.h>
#endif

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .b32 g[4] = {1, 2, 3, 4};\n"
    ".visible .entry one(.param .u64 out)\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<4>;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
    "add.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r1;\nbar.sync 0;\nret;\n}\n";

static gph_error error;

/* ---- fatbins ------------------------------------------------------------------------
 */

typedef struct fatbin {
    unsigned char bytes[8192];
    size_t count;
} fatbin;

static void put(fatbin *f, size_t at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        f->bytes[at + i] = (unsigned char)(value >> 8 * i);
}

static void start(fatbin *f)
{
    memset(f, 0, sizeof(*f));
    put(f, 0, 0xba55ed50, 4);
    put(f, 4, 1, 2);
    put(f, 6, 16, 2);
    f->count = 16;
}

static void add(fatbin *f, unsigned kind, unsigned architecture, uint64_t flags,
                const void *payload, size_t bytes, size_t plain)
{
    const size_t at = f->count, room = (bytes + 7) & ~(size_t)7;
    put(f, at, kind, 2);
    put(f, at + 4, 64, 4);
    put(f, at + 8, room, 8);
    put(f, at + 16, flags ? bytes : 0, 4);
    put(f, at + 28, architecture, 4);
    put(f, at + 40, flags, 8);
    put(f, at + 56, plain, 8);
    memcpy(f->bytes + at + 64, payload, bytes);
    f->count = at + 64 + room;
    put(f, 8, f->count - 16, 8);
}

static void a_fatbin_gives_its_best_ptx(void)
{
    fatbin f;
    start(&f);
    add(&f, 2, 90, 0, "cubin", 6, 0);
    add(&f, 1, 70, 0, "seventy", 8, 0);
    add(&f, 1, 90, 0, "ninety", 7, 0);
    add(&f, 1, 100, 0, "hundred", 8, 0);
    for (int sized = 0; sized < 2; sized++) {
        soft_ptx_text text;
        CHECK_OK(soft_ptx_find(f.bytes, sized ? f.count : 0, NULL, &text, &error), error);
        CHECK(text.bytes == 6 && memcmp(text.text, "ninety", 6) == 0);
        soft_ptx_text_fini(&text);
    }
    struct {
        uint32_t magic, version;
        const void *data;
        void *more;
    } wrapper = {0x466243b1, 1, f.bytes, NULL};
    soft_ptx_text text;
    CHECK_OK(soft_ptx_find(&wrapper, 0, NULL, &text, &error), error);
    CHECK(memcmp(text.text, "ninety", 6) == 0);
    soft_ptx_text_fini(&text);
}

/* A GPU runs the machine code then; alone, newer PTX is refused by the parser. */
static void newer_ptx_beside_machine_code_is_taken(void)
{
    static const char newer[] = "// made by 13.2\n.version 9.2\n.target sm_90\n";
    for (int has_code = 0; has_code < 2; has_code++) {
        fatbin f;
        soft_ptx_text text;
        start(&f);
        if (has_code)
            add(&f, 2, 90, 0, "cubin", 6, 0);
        add(&f, 1, 90, 0, newer, sizeof(newer), 0);
        CHECK_OK(soft_ptx_find(f.bytes, f.count, NULL, &text, &error), error);
        CHECK(text.bytes == sizeof(newer) - 1);
        CHECK((memmem(text.text, text.bytes, ".version 9.0\n", 13) != NULL) == has_code);
        CHECK(memmem(f.bytes, f.count, ".version 9.2", 12) != NULL); /* as it was */
        soft_ptx_text_fini(&text);
    }
}

/* Libraries such as CUB's have thousands of kernels in one text. */
static void newer_ptx_of_any_length_is_taken(void)
{
    const size_t bytes = (size_t)9 << 20;
    unsigned char *all = malloc(bytes);
    fatbin f;
    start(&f);
    add(&f, 2, 90, 0, "cubin", 6, 0);
    add(&f, 1, 90, 0, ".version 9.2\n", 13, 0);
    const size_t at = f.count - 16 - 64;
    put(&f, at + 8, bytes - at - 64, 8);
    put(&f, 8, bytes - 16, 8);
    CHECK(all != NULL);
    if (!all)
        return;
    memset(all, '\n', bytes);
    memcpy(all, f.bytes, at + 64 + 13);
    soft_ptx_text text;
    CHECK_OK(soft_ptx_find(all, bytes, NULL, &text, &error), error);
    CHECK(text.bytes == bytes - at - 64);
    CHECK(memcmp(text.text, ".version 9.0\n", 13) == 0);
    soft_ptx_text_fini(&text);
    free(all);
}

static void compressed_ptx_is_unpacked(void)
{
    char packed[4096];
    soft_ptx_text text;
    (void)packed;
    (void)text;
#ifdef SOFT_WITH_LZ4
    fatbin f;
    const int n = LZ4_compress_default(ptx, packed, sizeof(ptx), sizeof(packed));
    start(&f);
    add(&f, 1, 80, 0x2000, packed, (size_t)n, sizeof(ptx));
    CHECK_OK(soft_ptx_find(f.bytes, f.count, NULL, &text, &error), error);
    CHECK(text.bytes == sizeof(ptx) - 1 && memcmp(text.text, ptx, text.bytes) == 0);
    soft_ptx_text_fini(&text);
    f.bytes[16 + 64 + 20] ^= 0xff;
    put(&f, 16 + 56, sizeof(ptx) - 200, 8);
    CHECK(soft_ptx_find(f.bytes, f.count, NULL, &text, &error) ==
          SOFT_ERROR_INVALID_IMAGE);
#endif
#ifdef SOFT_WITH_ZSTD
    fatbin z;
    const size_t m = ZSTD_compress(packed, sizeof(packed), ptx, sizeof(ptx), 3);
    start(&z);
    add(&z, 1, 80, 0x8000, packed, m, sizeof(ptx));
    CHECK_OK(soft_ptx_find(z.bytes, z.count, NULL, &text, &error), error);
    CHECK(text.bytes == sizeof(ptx) - 1 && memcmp(text.text, ptx, text.bytes) == 0);
    soft_ptx_text_fini(&text);
#endif
}

static void images_without_ptx_are_told_apart(void)
{
    fatbin f;
    soft_ptx_text text;
    start(&f);
    add(&f, 2, 90, 0, "cubin", 6, 0);
    CHECK(soft_ptx_find(f.bytes, f.count, NULL, &text, &error) ==
          SOFT_ERROR_NO_BINARY_FOR_GPU);
    /* machine code is for another GPU; what only begins as ELF is nothing */
    unsigned char elf[64] = "\177ELF\2\1\1";
    elf[18] = 190;
    CHECK(soft_ptx_find(elf, sizeof(elf), NULL, &text, &error) ==
          SOFT_ERROR_NO_BINARY_FOR_GPU);
    CHECK(soft_ptx_find(elf, 0, NULL, &text, &error) == SOFT_ERROR_NO_BINARY_FOR_GPU);
    CHECK(soft_ptx_find(elf, 63, NULL, &text, &error) == SOFT_ERROR_INVALID_IMAGE);
    elf[18] = 62;
    CHECK(soft_ptx_find(elf, sizeof(elf), NULL, &text, &error) ==
          SOFT_ERROR_INVALID_IMAGE);
    CHECK(soft_ptx_find("\177ELF garbage", 0, NULL, &text, &error) ==
          SOFT_ERROR_INVALID_IMAGE);
    CHECK(soft_ptx_find(NULL, 0, NULL, &text, &error) == SOFT_ERROR_INVALID_IMAGE);
    const uint64_t wrapper[3] = {0x1466243b1, 0, 0};
    CHECK(soft_ptx_find(wrapper, 0, NULL, &text, &error) == SOFT_ERROR_INVALID_IMAGE);
}

/* What NVRTC makes with -dlto, alone and in a fatbin: the message says what to do. */
static void ltoir_is_refused_with_what_to_do(void)
{
    static const unsigned char ltoir[] = {0xed, 0x43, 0x4e, 0x7f, 1, 0x41, 2, 0x62};
    soft_ptx_text text;
    fatbin f;
    CHECK(soft_ptx_find(ltoir, sizeof(ltoir), NULL, &text, &error) ==
          SOFT_ERROR_INVALID_IMAGE);
    CHECK(strstr(error.message, "LTOIR") && strstr(error.message, "nvJitLink with -lto"));
    start(&f);
    add(&f, 8, 90, 0x41, ltoir, sizeof(ltoir), 0);
    CHECK(soft_ptx_find(f.bytes, f.count, NULL, &text, &error) ==
          SOFT_ERROR_NO_BINARY_FOR_GPU);
    CHECK(strstr(error.message, "LTOIR") && strstr(error.message, "without -dlto"));
    add(&f, 1, 80, 0, ptx, sizeof(ptx), 0);
    if (CHECK_OK(soft_ptx_find(f.bytes, f.count, NULL, &text, &error), error))
        soft_ptx_text_fini(&text);
}

static void damaged_fatbins_stay_within_their_bytes(void)
{
    fatbin f;
    start(&f);
    add(&f, 2, 90, 0, "cubin", 6, 0);
    add(&f, 1, 70, 0, "seventy", 8, 0);
    for (size_t n = 4; n < f.count; n++) {
        unsigned char *copy = malloc(n); /* asan sees a read past it */
        memcpy(copy, f.bytes, n);
        soft_ptx_text text;
        CHECK(soft_ptx_find(copy, n, NULL, &text, &error) != GPH_OK);
        free(copy);
    }
    for (size_t i = 0; i < f.count * 8; i++) {
        unsigned char *copy = malloc(f.count);
        memcpy(copy, f.bytes, f.count);
        copy[i / 8] ^= (unsigned char)(1u << i % 8);
        soft_ptx_text text;
        if (i / 8 >= 4 && soft_ptx_find(copy, f.count, NULL, &text, &error) == GPH_OK)
            soft_ptx_text_fini(&text);
        free(copy);
    }
}

/* ---- cache --------------------------------------------------------------------------
 */

static char folder[] = "/tmp/kernel_image_XXXXXX";

/* The path of the one file in the folder. */
static bool only_file(char path[512])
{
    DIR *stream = opendir(folder);
    int count = 0;
    for (struct dirent *e; stream != NULL && (e = readdir(stream)) != NULL;)
        if (e->d_name[0] != '.') {
            snprintf(path, 512, "%s/%.200s", folder, e->d_name);
            count++;
        }
    if (stream != NULL)
        closedir(stream);
    return count == 1;
}

static int load(bool *cached)
{
    const soft_code_options options = {.cache = folder};
    soft_code *code = NULL;
    const gph_status status = soft_code_create(ptx, 0, &options, &code, &error);
    *cached = code != NULL && soft_code_was_cached(code);
    if (code != NULL) {
        CHECK(soft_code_kernel_count(code) == 1 && soft_code_global_count(code) == 1);
        CHECK(strcmp(soft_code_kernel(code, 0)->name, "one") == 0);
        CHECK(soft_code_global_at(code, 0)->bytes == 16);
        CHECK(soft_code_ptx_version(code) == 70 && soft_code_ptx_target(code) == 70);
    }
    soft_code_release(code);
    return status;
}

static void change_byte(const char *path, long at)
{
    FILE *file = fopen(path, "r+b");
    if (!CHECK(file != NULL))
        return;
    fseek(file, at, at < 0 ? SEEK_END : SEEK_SET);
    const int byte = fgetc(file);
    fseek(file, at, at < 0 ? SEEK_END : SEEK_SET);
    fputc(byte ^ 0x40, file);
    fclose(file);
}

static void the_second_load_is_a_hit(void)
{
    bool cached = true;
    CHECK_OK(load(&cached), error);
    CHECK(!cached);
    CHECK_OK(load(&cached), error);
    CHECK(cached);
    struct stat info;
    char path[512];
    CHECK(only_file(path) && stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
}

static void damaged_files_are_compiled_anew(void)
{
    char path[512];
    bool cached;
    if (!CHECK(only_file(path)))
        return;
    const long places[] = {0, 9, 20, 60, 100, 500, -1, -200};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        change_byte(path, places[i]);
        CHECK_OK(load(&cached), error);
        CHECK(!cached);
        CHECK_OK(load(&cached), error);
        CHECK(cached);
    }
    CHECK(truncate(path, 333) == 0);
    CHECK_OK(load(&cached), error);
    CHECK(!cached);
}

static void files_that_others_may_write_are_not_read(void)
{
    char path[512];
    bool cached;
    if (!CHECK(only_file(path)))
        return;
    chmod(path, 0666);
    CHECK_OK(load(&cached), error);
    CHECK(!cached);
    chmod(folder, 0777);
    CHECK_OK(load(&cached), error);
    CHECK(!cached);
    chmod(folder, 0700);
}

static void the_cache_keeps_to_its_size(void)
{
    char inside[64];
    snprintf(inside, sizeof(inside), "%s/sub/deep", folder);
    unsigned char block[1000] = {1};
    for (uint64_t i = 0; i < 20; i++)
        CHECK(soft_cache_write(inside, (gphi_hash128){i, 7}, block, sizeof(block), 5500));
    size_t kept = 0;
    for (uint64_t i = 0; i < 20; i++) {
        unsigned char *data;
        size_t bytes;
        const gph_allocator heap = {fault_realloc, &(fault_heap){.fail_at = -1}};
        if (soft_cache_read(inside, (gphi_hash128){i, 7}, heap, &data, &bytes)) {
            CHECK(bytes == sizeof(block));
            free(data);
            kept++;
        }
    }
    CHECK(kept == 5);
}

/* A file and a note a kernel: many small ones. Links of one file are made soonest. */
static void room_is_made_among_all_files(void)
{
    enum { FILES = 4500, BLOCK = 10, LEFT = 100 };
    char inside[64], first[160], other[160];
    const unsigned char block[BLOCK] = {1};
    snprintf(inside, sizeof(inside), "%s/many", folder);
    CHECK(soft_cache_write(inside, (gphi_hash128){0, 8}, block, BLOCK, UINT64_MAX));
    snprintf(first, sizeof(first), "%s/%016x%016x.code", inside, 8, 0);
    for (unsigned i = 1; i < FILES; i++) {
        snprintf(other, sizeof(other), "%s/%016x%016x.code", inside, 8, i);
        if (!CHECK(link(first, other) == 0))
            return;
    }
    CHECK(soft_cache_write(inside, (gphi_hash128){FILES, 8}, block, BLOCK, LEFT * BLOCK));
    DIR *stream = opendir(inside);
    unsigned kept = 0;
    while (CHECK(stream) && readdir(stream))
        kept++;
    closedir(stream);
    CHECK(kept == LEFT + 2); /* . and .. */
    snprintf(other, sizeof(other), "%s/%016x%016x.code", inside, 8, FILES);
    CHECK(access(other, R_OK) == 0);
}

static uint64_t bytes_in(const char *path)
{
    uint64_t total = 0;
    char name[400];
    DIR *stream = opendir(path);
    for (struct dirent *entry; CHECK(stream) && (entry = readdir(stream));) {
        struct stat info;
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        if (stat(name, &info) == 0 && S_ISREG(info.st_mode))
            total += (uint64_t)info.st_size;
    }
    closedir(stream);
    return total;
}

/* Files are many, and to look at all of them takes longer than to compile a kernel. */
static void few_writes_look_for_room(void)
{
    enum { BLOCK = 10000, COUNT = 20, LIMIT = 64000 };
    static const unsigned char block[BLOCK] = {1};
    char inside[64];
    snprintf(inside, sizeof(inside), "%s/turns", folder);
    for (uint64_t i = 0; i < COUNT; i++)
        CHECK(soft_cache_write(inside, (gphi_hash128){i, 9}, block, BLOCK, UINT64_MAX));
    CHECK(soft_cache_write(inside, (gphi_hash128){500, 9}, block, 10, LIMIT));
    CHECK(bytes_in(inside) == COUNT * BLOCK + 10);
    CHECK(soft_cache_write(inside, (gphi_hash128){3, 9}, block, BLOCK, LIMIT));
    CHECK(bytes_in(inside) <= LIMIT);
}

static void no_cache_is_no_failure(void)
{
    const char *const places[] = {"off", "/proc/nowhere", "/dev/null/x"};
    for (int i = 0; i < 3; i++) {
        const soft_code_options options = {.cache = places[i]};
        soft_code *code = NULL;
        CHECK_OK(soft_code_create(ptx, sizeof(ptx), &options, &code, &error), error);
        soft_code_release(code);
    }
}

/* ---- memory -------------------------------------------------------------------------
 */

static gph_status load_and_bind(fault_heap *heap)
{
    const gph_allocator allocator = {fault_realloc, heap};
    const soft_code_options options = {.cache = folder, .allocator = &allocator};
    soft_code *code;
    gph_status status = soft_code_create(ptx, 0, &options, &code, &error);
    if (status != GPH_OK)
        return status;
    uint32_t memory[4];
    const uint64_t address = (uint64_t)(uintptr_t)memory;
    soft_binding *binding;
    status = soft_binding_create(code, &address, &binding, &error);
    if (status == GPH_OK) {
        soft_binding_init_global(binding, 0, memory);
        CHECK(memory[3] == 4 && soft_binding_find(binding, "one") != NULL);
        CHECK(soft_binding_find(binding, "two") == NULL);
        soft_binding_destroy(binding);
    }
    soft_code_release(code);
    return status;
}

/* From the cache, and compiling: the cache is emptied where `cold`. */
static void sweep(bool cold)
{
    for (long nth = 0; nth < 100000; nth++) {
        char path[512];
        if (cold && only_file(path))
            unlink(path);
        fault_heap heap = {.fail_at = nth};
        const gph_status status = load_and_bind(&heap);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        /* A failed allocation may cost the cache and nothing else: it was used up. */
        if (status == GPH_OK && atomic_load(&heap.fail_at) >= 0)
            return;
    }
    const bool ended = false;
    CHECK(ended);
}

static void every_failed_allocation_is_survived(void)
{
    char command[96];
    snprintf(command, sizeof(command), "rm -rf %s/sub", folder);
    CHECK(system(command) == 0);
    sweep(true);
    sweep(false);
}

int main(void)
{
    setenv("SOFTCUDA_JIT", KERNEL_RUN_JIT, 0);
    RUN(a_fatbin_gives_its_best_ptx);
    RUN(newer_ptx_beside_machine_code_is_taken);
    RUN(newer_ptx_of_any_length_is_taken);
    RUN(compressed_ptx_is_unpacked);
    RUN(images_without_ptx_are_told_apart);
    RUN(ltoir_is_refused_with_what_to_do);
    RUN(damaged_fatbins_stay_within_their_bytes);
    if (mkdtemp(folder) == NULL)
        return 1;
    RUN(the_second_load_is_a_hit);
    RUN(damaged_files_are_compiled_anew);
    RUN(files_that_others_may_write_are_not_read);
    RUN(the_cache_keeps_to_its_size);
    RUN(room_is_made_among_all_files);
    RUN(few_writes_look_for_room);
    RUN(no_cache_is_no_failure);
    RUN(every_failed_allocation_is_survived);
    char command[96];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command) == 0 ? test_done() : 1;
}
