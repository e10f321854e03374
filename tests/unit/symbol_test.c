// SPDX-License-Identifier: Apache-2.0
/* Words for addresses, from the files alone: this process's own, as a stranger sees them.
 */
#define _GNU_SOURCE
#include "fault.h"
#include "symbol/dwarf.h"
#include "symbol/symbol.h"
#include "test.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

static gph_error error;

/* A frame of its own, whatever the compiler thinks. */
#define APART __attribute__((noinline))

struct map {
    uint64_t start, end, bias;
};

/* The program itself: the first that is reported. */
static int first_file(struct dl_phdr_info *info, size_t bytes, void *user)
{
    struct map *map = user;
    (void)bytes;
    map->bias = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            map->start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            map->end = map->start + info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

static gphi_symbols *create(void)
{
    gphi_symbols *symbols = NULL;
    if (!CHECK_OK(gphi_symbols_create(NULL, &symbols, &error), error))
        exit(1);
    return symbols;
}

/* Where the caller goes on. */
static APART void caller_of(void **out)
{
    *out = __builtin_return_address(0);
}

static APART void a_call_has_function_file_and_line(void)
{
    struct map map = {0};
    dl_iterate_phdr(first_file, &map);
    gphi_symbols *symbols = create();
    void *at = NULL;
    const int line = __LINE__ + 1;
    caller_of(&at);
    CHECK(gphi_symbols_module(symbols, map.start, map.end, map.bias, "/proc/self/exe",
                              "") == GPH_OK);
    gphi_symbol found[GPHI_SYMBOL_FRAMES];
    CHECK(gphi_symbols_find(symbols, (uint64_t)(uintptr_t)at, found) == 1);
    const gphi_symbol symbol = found[0];
    CHECK(strcmp(symbol.module, "/proc/self/exe") == 0 && symbol.offset != 0);
    CHECK(symbol.function != NULL &&
          strcmp(symbol.function, "a_call_has_function_file_and_line") == 0);
    CHECK(symbol.file != NULL && strstr(symbol.file, "symbol_test.c") != NULL);
    CHECK(symbol.line == line);
    CHECK(gphi_symbols_find(symbols, (uint64_t)(uintptr_t)at, found) == 1);
    CHECK(memcmp(&symbol, found, sizeof(symbol)) == 0); /* remembered */
    gphi_symbols_destroy(symbols);
}

static int inlined_line;

static inline __attribute__((always_inline)) void take_inline(void **at)
{
    inlined_line = __LINE__ + 1;
    caller_of(at);
    __asm__ volatile("" ::: "memory");
}

static int outer_line;

static inline __attribute__((always_inline)) void take_twice_inline(void **at)
{
    outer_line = __LINE__ + 1;
    take_inline(at);
    __asm__ volatile("" ::: "memory");
}

/* Where each was inlined, not where it is defined. */
static APART void functions_inlined_into_each_other_are_frames(void)
{
    struct map map = {0};
    dl_iterate_phdr(first_file, &map);
    gphi_symbols *symbols = create();
    void *at = NULL;
    const int line = __LINE__ + 1;
    take_twice_inline(&at);
    CHECK(gphi_symbols_module(symbols, map.start, map.end, map.bias, "/proc/self/exe",
                              "") == GPH_OK);
    gphi_symbol found[GPHI_SYMBOL_FRAMES];
    const uint32_t count = gphi_symbols_find(symbols, (uint64_t)(uintptr_t)at, found);
    if (CHECK(count == 3)) {
        CHECK(strcmp(found[0].function, "take_inline") == 0);
        CHECK(found[0].line == inlined_line);
        CHECK(strcmp(found[1].function, "take_twice_inline") == 0);
        CHECK(found[1].line == outer_line);
        CHECK(strcmp(found[2].function, __func__) == 0 && found[2].line == line);
    }
    gphi_symbols_destroy(symbols);
}

static APART void an_inlined_function_is_a_frame(void)
{
    struct map map = {0};
    dl_iterate_phdr(first_file, &map);
    gphi_symbols *symbols = create();
    void *at = NULL;
    const int line = __LINE__ + 1;
    take_inline(&at);
    CHECK(gphi_symbols_module(symbols, map.start, map.end, map.bias, "/proc/self/exe",
                              "") == GPH_OK);
    gphi_symbol found[GPHI_SYMBOL_FRAMES];
    const uint32_t count = gphi_symbols_find(symbols, (uint64_t)(uintptr_t)at, found);
    if (CHECK(count == 2)) {
        CHECK(strcmp(found[0].function, "take_inline") == 0);
        CHECK(found[0].line == inlined_line);
        CHECK(strcmp(found[1].function, __func__) == 0 && found[1].line == line);
        CHECK(strstr(found[1].file, "symbol_test.c") != NULL);
    }
    gphi_symbols_destroy(symbols);
}

static void another_file_at_the_path_gives_no_lines(void)
{
    struct map map = {0};
    dl_iterate_phdr(first_file, &map);
    gphi_symbols *symbols = create();
    void *at = NULL;
    caller_of(&at);
    CHECK(gphi_symbols_module(symbols, map.start, map.end, map.bias, "/proc/self/exe",
                              "0123456789abcdef") == GPH_OK);
    gphi_symbol found[GPHI_SYMBOL_FRAMES];
    CHECK(gphi_symbols_find(symbols, (uint64_t)(uintptr_t)at, found) == 1);
    const gphi_symbol symbol = found[0];
    CHECK(symbol.function == NULL && symbol.file == NULL && symbol.module != NULL);
    gphi_symbols_destroy(symbols);
}

static void what_is_unknown_is_null(void)
{
    gphi_symbols *symbols = create();
    gphi_symbol found[GPHI_SYMBOL_FRAMES] = {{.line = 7}};
    CHECK(gphi_symbols_find(symbols, 0x1234, found));
    CHECK(found->module == NULL && found->function == NULL && found->line == 0);
    CHECK(gphi_symbols_module(symbols, 0x1000, 0x2000, 0, "/no/such/file", "") == GPH_OK);
    CHECK(gphi_symbols_find(symbols, 0x1234, found));
    CHECK(strcmp(found->module, "/no/such/file") == 0 && found->function == NULL);
    CHECK(gphi_symbols_module(symbols, 0x1800, 0x2000, 0, "/later", "") == GPH_OK);
    CHECK(gphi_symbols_find(symbols, 0x1900, found));
    CHECK(strcmp(found->module, "/later") == 0); /* hides what was there */
    CHECK(gphi_symbols_find(symbols, 0x1234, found));
    CHECK(strcmp(found->module, "/no/such/file") == 0);
    CHECK(gphi_symbols_find(symbols, 0x2001, found) && found->module == NULL);
    gphi_symbols_destroy(symbols);
}

static void names_of_cxx_are_readable(void)
{
    char *name = gphi_demangle("_ZN3foo3barEi");
    CHECK(name == NULL || strcmp(name, "foo::bar(int)") == 0);
    CHECK(name != NULL || dlopen("libstdc++.so.6", RTLD_NOW) == NULL);
    free(name);
    CHECK(gphi_demangle("main") == NULL && gphi_demangle("_Zwhat") == NULL);
}

static void every_allocation_fails(void)
{
    for (long fail_at = 0;; fail_at++) {
        fault_heap heap = {.fail_at = fail_at};
        const gph_allocator allocator = {fault_realloc, &heap};
        gphi_symbols *symbols = NULL;
        gphi_symbol symbol[GPHI_SYMBOL_FRAMES];
        bool is_done = gphi_symbols_create(&allocator, &symbols, &error) == GPH_OK;
        is_done = is_done &&
                  gphi_symbols_module(symbols, 0x1000, 0x2000, 0, "/no", "") == GPH_OK;
        is_done = is_done && gphi_symbols_find(symbols, 0x1100, symbol) == 1;
        is_done = is_done && gphi_symbols_find(symbols, 0x1200, symbol) == 1;
        gphi_symbols_destroy(symbols);
        CHECK(heap.live_bytes == 0);
        if (is_done)
            break;
    }
}

int main(void)
{
    RUN(a_call_has_function_file_and_line);
    RUN(an_inlined_function_is_a_frame);
    RUN(functions_inlined_into_each_other_are_frames);
    RUN(another_file_at_the_path_gives_no_lines);
    RUN(what_is_unknown_is_null);
    RUN(names_of_cxx_are_readable);
    RUN(every_allocation_fails);
    return test_done();
}
