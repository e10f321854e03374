// SPDX-License-Identifier: Apache-2.0
/* Addresses of another process: the loaded files in order of loading, each opened once it
 * is asked for; answers are remembered by address.
 *
 *   address ──> newest file that spans it ──> its symbols and lines ──> words
 *
 * A file may be loaded where another was before: the later one hides it. */
#include "symbol/symbol.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/vec.h"
#include "symbol/dwarf.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct module {
    uint64_t start, end, bias;
    char *path, *build_id;
    gphi_dwarf *dwarf; /* what the file says, or NULL */
    bool is_tried;
};

struct found {
    uint32_t count;
    gphi_symbol frames[GPHI_SYMBOL_FRAMES];
    char *demangled[GPHI_SYMBOL_FRAMES]; /* malloc'ed */
};

struct gphi_symbols {
    gph_allocator heap;
    gphi_vec modules;  /* of struct module */
    gphi_vec found;    /* of struct found */
    gphi_map by_place; /* return address ^ module << 48 -> index in found */
};

gph_status gphi_symbols_create(const gph_allocator *allocator, gphi_symbols **out,
                               gph_error *error)
{
    const gph_allocator heap = gphi_heap(allocator);
    gphi_symbols *symbols = gphi_heap_alloc(heap, sizeof(*symbols));
    GPHI_TRY(gphi_made(error, symbols, "reading symbols"));
    symbols->heap = heap;
    gphi_vec_init(&symbols->modules, heap, sizeof(struct module));
    gphi_vec_init(&symbols->found, heap, sizeof(struct found));
    gphi_map_init(&symbols->by_place, heap);
    *out = symbols;
    return GPH_OK;
}

void gphi_symbols_destroy(gphi_symbols *symbols)
{
    if (!symbols)
        return;
    GPHI_EACH (struct found, found, &symbols->found) {
        for (uint32_t k = 0; k < found->count; k++)
            free(found->demangled[k]);
    }
    GPHI_EACH (struct module, module, &symbols->modules) {
        gphi_dwarf_close(module->dwarf);
        gphi_heap_text_free(symbols->heap, module->path);
        gphi_heap_text_free(symbols->heap, module->build_id);
    }
    gphi_vec_fini(&symbols->modules);
    gphi_vec_fini(&symbols->found);
    gphi_map_fini(&symbols->by_place);
    gphi_heap_free(symbols->heap, symbols, sizeof(*symbols));
}

gph_status gphi_symbols_module(gphi_symbols *symbols, uint64_t start, uint64_t end,
                               uint64_t bias, const char *path, const char *build_id)
{
    char *own_path = gphi_heap_text(symbols->heap, path);
    char *own_id = gphi_heap_text(symbols->heap, build_id);
    struct module *module =
        own_path && own_id ? gphi_vec_add(&symbols->modules, 1) : NULL;
    if (!module) {
        gphi_heap_text_free(symbols->heap, own_path);
        gphi_heap_text_free(symbols->heap, own_id);
        return GPH_E_NO_MEMORY;
    }
    *module = (struct module){start, end, bias, own_path, own_id, NULL, false};
    return GPH_OK;
}

/* What the file says, if it is still the one that was loaded. */
static void open_module(const gphi_symbols *symbols, struct module *module)
{
    bool is_same = false;
    if (module->is_tried)
        return;
    module->is_tried = true;
    module->dwarf =
        gphi_dwarf_open(symbols->heap, module->path, module->build_id, &is_same);
    if (!module->dwarf || is_same)
        return;
    gphi_dwarf_close(module->dwarf);
    module->dwarf = NULL;
}

static struct module *module_of(const gphi_symbols *symbols, uint64_t at, size_t *index)
{
    for (size_t i = symbols->modules.count; i-- > 0;) {
        struct module *module = gphi_vec_at(&symbols->modules, i);
        if (module->start <= at && at < module->end) {
            *index = i;
            return module;
        }
    }
    return NULL;
}

static void look_up(const gphi_symbols *symbols, struct module *module, uint64_t at,
                    struct found *out)
{
    gphi_dwarf_place places[GPHI_SYMBOL_FRAMES] = {{0}};
    open_module(symbols, module);
    out->count = 1;
    if (module->dwarf)
        out->count = gphi_dwarf_frames(module->dwarf, at - module->bias, places,
                                       GPHI_SYMBOL_FRAMES);
    for (uint32_t i = 0; i < out->count; i++) {
        const char *name = places[i].function;
        out->demangled[i] = name ? gphi_demangle(name) : NULL;
        out->frames[i] = (gphi_symbol){
            .function = out->demangled[i] ? out->demangled[i] : name,
            .file = places[i].file,
            .line = places[i].line,
            .module = module->path,
            .offset = at - module->bias,
        };
    }
}

uint32_t gphi_symbols_find(gphi_symbols *symbols, uint64_t return_address,
                           gphi_symbol out[GPHI_SYMBOL_FRAMES])
{
    const uint64_t at = return_address - 1; /* in the call, not after it */
    size_t index = 0;
    out[0] = (gphi_symbol){0};
    struct module *module = module_of(symbols, at, &index);
    if (!module)
        return 1;
    const uint64_t key = return_address ^ (uint64_t)index << 48;
    const uint64_t *known = gphi_map_get(&symbols->by_place, key);
    if (!known) {
        struct found *fresh = gphi_map_reserve(&symbols->by_place, 1) == GPH_OK
                                  ? gphi_vec_add(&symbols->found, 1)
                                  : NULL;
        if (!fresh)
            return 0;
        look_up(symbols, module, at, fresh);
        if (gphi_map_set(&symbols->by_place, key, symbols->found.count - 1) != GPH_OK)
            return 0;
        known = gphi_map_get(&symbols->by_place, key);
    }
    const struct found *found = gphi_vec_at(&symbols->found, *known);
    memcpy(out, found->frames, found->count * sizeof(*out));
    return found->count;
}
