// SPDX-License-Identifier: Apache-2.0
/* Stacks: addresses are kept as they come and put into words when somebody asks. */
#include "doctor/findings/stacks.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/path.h"
#include "base/plain.h"
#include "base/text.h"
#include "base/vec.h"
#include "symbol/symbol.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRAMES_MAX = 64,
    PYTHON_MAX = 32,
    LEVELS = 4, /* of a wrapper: frames of one stack that are counted */
    CALLS_MIN = 3,
};

typedef struct stack {
    uint64_t *addresses;
    char *python;                /* lines; cut into texts when asked for */
    uint64_t levels[2 * LEVELS]; /* keys in `calls`: the innermost Python line and its
                                    function, then those of its file that are around
                                    it; 0: none */
    uint64_t file;               /* of that line: key in `wrappers` */
    size_t python_bytes;
    gph_place *places;
    const char *entered; /* gphi_stacks_entered() */
    uint32_t address_count, place_count, place_room;
    uint64_t key; /* gphi_stacks_key(); 0: not asked for */
    bool is_known;
} stack;

struct gphi_stacks {
    gph_allocator heap;
    gphi_symbols *symbols;
    gphi_map by_id;    /* -> index in `list` */
    gphi_vec list;     /* of stack */
    gphi_map calls;    /* key of a line or function of Python -> up to CALLS_MIN different
                       calls of the driver that came from it, 16 bits each */
    gphi_map wrappers; /* key of a file of Python with a line that makes all calls -> 1 */
    gphi_vec names;    /* of char *: those that had to be made plain */
};

gph_status gphi_stacks_create(gph_allocator heap, gphi_stacks **out)
{
    gphi_stacks *stacks = gphi_heap_alloc(heap, sizeof(*stacks));
    if (!stacks)
        return GPH_E_NO_MEMORY;
    stacks->heap = heap;
    gphi_map_init(&stacks->by_id, heap);
    gphi_vec_init(&stacks->list, heap, sizeof(stack));
    gphi_map_init(&stacks->calls, heap);
    gphi_map_init(&stacks->wrappers, heap);
    gphi_vec_init(&stacks->names, heap, sizeof(char *));
    const gph_status status = gphi_symbols_create(&heap, &stacks->symbols, NULL);
    if (status != GPH_OK) {
        gphi_heap_free(heap, stacks, sizeof(*stacks));
        return status;
    }
    *out = stacks;
    return GPH_OK;
}

static void stack_fini(gph_allocator heap, stack *of)
{
    gphi_heap_free(heap, of->addresses, of->address_count * sizeof(uint64_t));
    gphi_heap_free(heap, of->python, of->python_bytes);
    gphi_heap_free(heap, of->places, of->place_room * sizeof(gph_place));
}

void gphi_stacks_destroy(gphi_stacks *stacks)
{
    if (!stacks)
        return;
    for (size_t i = 0; i < stacks->list.count; i++)
        stack_fini(stacks->heap, gphi_vec_at(&stacks->list, i));
    gphi_vec_fini(&stacks->list);
    gphi_map_fini(&stacks->by_id);
    gphi_map_fini(&stacks->calls);
    gphi_map_fini(&stacks->wrappers);
    GPHI_EACH (char *, name, &stacks->names)
        gphi_heap_free(stacks->heap, *name, strlen(*name) + 1);
    gphi_vec_fini(&stacks->names);
    gphi_symbols_destroy(stacks->symbols);
    gphi_heap_free(stacks->heap, stacks, sizeof(*stacks));
}

/* ---- coming in ---- */

static stack *stack_of(gphi_stacks *stacks, uint64_t id)
{
    const uint64_t *known = gphi_map_get(&stacks->by_id, id);
    if (known)
        return gphi_vec_at(&stacks->list, (size_t)*known);
    if (gphi_vec_reserve(&stacks->list, 1) != GPH_OK ||
        gphi_map_set(&stacks->by_id, id, stacks->list.count) != GPH_OK)
        return NULL;
    return gphi_vec_add(&stacks->list, 1);
}

static gph_status feed_addresses(gphi_stacks *stacks, const gphi_event *event)
{
    const uint32_t count =
        event->word_count < FRAMES_MAX ? event->word_count : FRAMES_MAX;
    stack *of = stack_of(stacks, event->id);
    if (!of)
        return GPH_E_NO_MEMORY;
    if (of->addresses || of->is_known || count == 0)
        return GPH_OK;
    of->addresses = gphi_heap_array(stacks->heap, count, sizeof(uint64_t));
    if (!of->addresses)
        return GPH_E_NO_MEMORY;
    of->address_count = count;
    for (uint32_t i = 0; i < count; i++)
        of->addresses[i] = gphi_event_word(event, i);
    return GPH_OK;
}

/* ---- modules that only wrap the driver ---- */

static uint64_t key_of(const char *file, size_t bytes, const char *function, int32_t line)
{
    const uint64_t key = gphi_hash_bytes(GPHI_HASH_START, file, bytes);
    return gphi_hash_word(function ? gphi_hash_text(key, function) : key, (uint64_t)line);
}

/* "file:line function", not cut yet. False: not of that form. */
static bool split_python(const char *line, size_t *file_bytes, int32_t *number,
                         char *function, size_t room)
{
    const char *space = line + strcspn(line, " \n"), *colon = space;
    while (colon > line && *colon != ':')
        colon--;
    if (*space != ' ' || *colon != ':')
        return false;
    *file_bytes = (size_t)(colon - line);
    *number = (int32_t)strtol(colon + 1, NULL, 10);
    snprintf(function, room, "%.*s", (int)strcspn(space + 1, "\n"), space + 1);
    return true;
}

static void note_levels(stack *of)
{
    const char *line = of->python;
    size_t first_bytes = 0;
    for (int i = 0; i < LEVELS && *line != '\0'; i++) {
        char function[128];
        size_t bytes;
        int32_t number;
        if (!split_python(line, &bytes, &number, function, sizeof(function)))
            return;
        if (i == 0) {
            first_bytes = bytes;
            of->file = key_of(line, bytes, NULL, 0);
        } else if (bytes != first_bytes || memcmp(line, of->python, bytes) != 0)
            return;
        of->levels[2 * i] = key_of(line, bytes, NULL, number);
        of->levels[2 * i + 1] = key_of(line, bytes, function, 0);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
}

/* How many different calls came from there. */
static int calls_of(const gphi_stacks *stacks, uint64_t key)
{
    const uint64_t *calls = gphi_map_get(&stacks->calls, key);
    int count = 0;
    while (calls && count < CALLS_MIN && (*calls >> 16 * count & 0xffff) != 0)
        count++;
    return count;
}

static void note_call(gphi_stacks *stacks, const gphi_event *event)
{
    const uint64_t *known =
        event->stack != 0 ? gphi_map_get(&stacks->by_id, event->stack) : NULL;
    const stack *of = known ? gphi_vec_at(&stacks->list, (size_t)*known) : NULL;
    for (int i = 0; of && i < 2 * LEVELS && of->levels[i] != 0; i++) {
        const uint64_t *at = gphi_map_get(&stacks->calls, of->levels[i]);
        const uint64_t calls = at ? *at : 0, call = event->u.call.call + 1ULL;
        const int count = calls_of(stacks, of->levels[i]);
        bool is_new = count < CALLS_MIN;
        for (int k = 0; k < count; k++)
            is_new &= (calls >> 16 * k & 0xffff) != call;
        if (is_new)
            (void)gphi_map_set(&stacks->calls, of->levels[i], calls | call << 16 * count);
        if (i == 0 && is_new && count + 1 == CALLS_MIN)
            (void)gphi_map_set(&stacks->wrappers, of->file, 1);
    }
}

static gph_status feed_python(gphi_stacks *stacks, uint64_t id, const char *text)
{
    stack *of = stack_of(stacks, id);
    if (!of)
        return GPH_E_NO_MEMORY;
    if (of->python || of->is_known)
        return GPH_OK;
    of->python = gphi_heap_text(stacks->heap, text);
    if (!of->python)
        return GPH_E_NO_MEMORY;
    of->python_bytes = strlen(text) + 1;
    note_levels(of);
    return GPH_OK;
}

gph_status gphi_stacks_feed(gphi_stacks *stacks, const gphi_event *event)
{
    switch ((gphi_event_kind)event->kind) {
    case GPHI_EVENT_CALL: note_call(stacks, event); return GPH_OK;
    case GPHI_EVENT_STACK: return feed_addresses(stacks, event);
    case GPHI_EVENT_PYTHON:
        return feed_python(stacks, event->id, gphi_event_text(event, 0));
    case GPHI_EVENT_MODULE: {
        const uint64_t start = gphi_event_word(event, 0), end = gphi_event_word(event, 1);
        if (start >= end)
            return GPH_OK;
        return gphi_symbols_module(stacks->symbols, start, end, gphi_event_word(event, 2),
                                   gphi_event_text(event, 0), gphi_event_text(event, 1));
    }
    default: return GPH_OK;
    }
}

/* After the numbers that processes have. */
uint32_t gphi_stacks_python(gphi_stacks *stacks, const char *text)
{
    const uint32_t id =
        (uint32_t)gphi_hash_text(GPHI_HASH_START, text) | GPHI_STACK_OF_TEXT;
    return stacks && feed_python(stacks, id, text) == GPH_OK ? id : 0;
}

/* ---- in words ---- */

/* libgph.so.0, libgph-attach.so; not a program whose name begins so. */
static bool is_libgph(const gph_place *place)
{
    const char *name = gphi_path_name(place->module);
    return gphi_text_begins(name, "libgph") && strstr(name, ".so");
}

/* Whose code stands between the program and the driver: libraries, the runtime where it
 * is linked into the program (it has no lines), and what nvcc adds to the program. */
static bool is_plumbing(const gph_place *place)
{
    const char *name = gphi_path_name(place->module), *file = gphi_path_name(place->file);
    const char *function = place->function;
    return is_libgph(place) || gphi_text_begins(name, "libcuda.so") ||
           gphi_text_begins(name, "libcudart.so") ||
           gphi_text_begins(function, "libcudart_static_") ||
           gphi_text_begins(function, "__device_stub__") ||
           gphi_text_begins(file, "cuda_runtime") ||
           gphi_text_begins(file, "device_functions.h") ||
           (!file && gphi_text_begins(function, "cuda") &&
            isupper((unsigned char)function[4]));
}

/* The interpreter, and what calls C for it: its frames are the Python frames. */
static bool is_interpreter(const gph_place *place)
{
    const char *name = gphi_path_name(place->module);
    return gphi_text_begins(name, "libpython") || gphi_text_begins(name, "python") ||
           gphi_text_begins(name, "libffi") || gphi_text_begins(name, "_ctypes.");
}

/* The last word of a demangled name before its arguments: what is before it is the
 * type that a template returns. */
static const char *word_of(const char *function)
{
    const char *word = function;
    int depth = 0;
    for (const char *at = function; *at != '\0' && (depth > 0 || *at != '('); at++) {
        depth += (*at == '<' || *at == '(') - (*at == '>' || *at == ')');
        if (depth == 0 && *at == ' ')
            word = at + 1;
    }
    return word;
}

/* The standard library of C++, which holds and calls what the program gave it: by the
 * header, by the library, or, where a function has no lines, by its name. */
static bool is_cxx_library(const gph_place *place)
{
    const char *name = gphi_path_name(place->module);
    if (gphi_text_begins(name, "libstdc++.so") || gphi_text_begins(name, "libc++.so"))
        return true;
    if (place->file)
        return strstr(place->file, "/include/c++/") != NULL;
    const char *word = place->function ? word_of(place->function) : NULL;
    return gphi_text_begins(word, "std::") || gphi_text_begins(word, "__gnu_cxx::");
}

/* Where a signal handler returns to, which has no name: softcuda says in one what the host
 * did. */
static bool is_trampoline(const gph_place *place)
{
    return gphi_text_begins(gphi_path_name(place->module), "libc.so") &&
           (!place->function || strcmp(place->function, "__restore_rt") == 0);
}

static bool is_start(const gph_place *place)
{
    const char *name = place->function;
    return gphi_text_begins(name, "__libc_start") || gphi_text_begins(name, "_start") ||
           gphi_text_begins(name, "start_thread") || gphi_text_begins(name, "clone3") ||
           gphi_text_begins(name, "__clone");
}

/* "file:line function", cut in place. False: not of that form. */
static bool read_python(char *line, gph_place *out)
{
    char *space = strchr(line, ' ');
    if (!space)
        return false;
    *space = '\0';
    char *colon = strrchr(line, ':');
    if (!colon)
        return false;
    *colon = '\0';
    *out = (gph_place){.function = space + 1,
                       .file = line,
                       .line = (int32_t)strtol(colon + 1, NULL, 10),
                       .is_python = 1};
    gphi_make_plain(space + 1, strlen(space + 1));
    gphi_make_plain(line, strlen(line));
    return true;
}

static void add_python(stack *of)
{
    uint32_t count = 0;
    for (char *line = of->python; line && *line != '\0' && count < PYTHON_MAX;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        if (read_python(line, &of->places[of->place_count])) {
            of->place_count++;
            count++;
        }
        line = end ? end + 1 : NULL;
    }
}

/* Adds a frame. False: it is the last. Below a host function stands the driver's thread.
 */
static bool add_place(stack *of, uint32_t first, const gph_place *place, bool is_only)
{
    if (of->place_count > first &&
        gphi_text_begins(gphi_path_name(place->module), "libcuda.so"))
        return false;
    const bool is_first = of->place_count == first;
    if ((is_first && is_plumbing(place) && !is_only) ||
        (is_cxx_library(place) && !(is_first && is_only)))
        return true;
    if ((!is_first && is_start(place)) || of->place_count == of->place_room)
        return false;
    of->places[of->place_count++] = *place;
    return !place->function || strcmp(place->function, "main") != 0;
}

/* Names of a program's file are the program's: a copy without what would forge a line. */
static const char *plain_name(gphi_stacks *stacks, const char *name)
{
    const size_t bytes = name ? strlen(name) + 1 : 0;
    if (bytes == 0 || gphi_is_plain(name, bytes))
        return name;
    char *copy = gphi_heap_alloc(stacks->heap, bytes);
    if (!copy || gphi_vec_push(&stacks->names, &copy) != GPH_OK) {
        gphi_heap_free(stacks->heap, copy, bytes);
        return "?";
    }
    memcpy(copy, name, bytes);
    gphi_make_plain(copy, bytes);
    return copy;
}

static void add_native(gphi_stacks *stacks, stack *of)
{
    const uint32_t first = of->place_count;
    for (uint32_t i = 0; i < of->address_count; i++) {
        gphi_symbol found[GPHI_SYMBOL_FRAMES];
        const uint32_t count =
            gphi_symbols_find(stacks->symbols, of->addresses[i], found);
        for (uint32_t k = 0; k < count; k++) {
            const gph_place place = {.function = plain_name(stacks, found[k].function),
                                     .file = plain_name(stacks, found[k].file),
                                     .line = found[k].line,
                                     .module = plain_name(stacks, found[k].module),
                                     .address = of->addresses[i]};
            if (i > 0 && of->place_count == first && is_trampoline(&place))
                continue;
            if (of->place_count == first && gphi_text_begins(place.function, "gph_") &&
                is_libgph(&place))
                of->entered = place.function;
            if (first > 0 && is_interpreter(&place))
                return;
            if (!add_place(of, first, &place,
                           i + 1 == of->address_count && k + 1 == count))
                return;
        }
    }
}

const gph_place *gphi_stacks_frames(gphi_stacks *stacks, uint32_t id, uint32_t *count)
{
    const uint64_t *known = stacks ? gphi_map_get(&stacks->by_id, id) : NULL;
    *count = 0;
    if (!known || id == 0)
        return NULL;
    stack *of = gphi_vec_at(&stacks->list, (size_t)*known);
    if (!of->is_known) {
        const uint32_t room = 2 * of->address_count + GPHI_SYMBOL_FRAMES + PYTHON_MAX;
        of->places = gphi_heap_array(stacks->heap, room, sizeof(gph_place));
        if (!of->places)
            return NULL;
        of->place_room = room;
        of->is_known = true;
        add_python(of);
        add_native(stacks, of);
    }
    *count = of->place_count;
    return of->place_count > 0 ? of->places : NULL;
}

bool gphi_stacks_place(gphi_stacks *stacks, uint64_t address, gph_place *out)
{
    gphi_symbol found[GPHI_SYMBOL_FRAMES];
    if (!stacks || address == 0 ||
        gphi_symbols_find(stacks->symbols, address + 1, found) == 0 || !found[0].module)
        return false;
    *out = (gph_place){.function = plain_name(stacks, found[0].function),
                       .file = plain_name(stacks, found[0].file),
                       .line = found[0].line,
                       .module = plain_name(stacks, found[0].module),
                       .address = address};
    return true;
}

const char *gphi_stacks_entered(gphi_stacks *stacks, uint32_t id)
{
    uint32_t count = 0;
    const uint64_t *known = stacks ? gphi_map_get(&stacks->by_id, id) : NULL;
    (void)gphi_stacks_frames(stacks, id, &count);
    return known && id != 0
               ? ((stack *)gphi_vec_at(&stacks->list, (size_t)*known))->entered
               : NULL;
}

uint64_t gphi_stacks_key(gphi_stacks *stacks, uint32_t id)
{
    uint32_t count = 0;
    const uint64_t *known = stacks ? gphi_map_get(&stacks->by_id, id) : NULL;
    stack *of = known ? gphi_vec_at(&stacks->list, (size_t)*known) : NULL;
    if (!of || !of->python)
        return id;
    if (of->key != 0)
        return of->key;
    const gph_place *frames = gphi_stacks_frames(stacks, id, &count);
    uint64_t hash = GPHI_HASH_START;
    for (uint32_t i = 0; i < count; i++) {
        hash = gphi_hash_text(hash, frames[i].function ? frames[i].function : "");
        hash = gphi_hash_text(hash, frames[i].file ? frames[i].file : "");
        hash = gphi_hash_word(hash, frames[i].is_python ? (uint64_t)frames[i].line
                                                        : frames[i].address);
    }
    return of->key = count > 0 ? hash | 1ULL << 32 : id; /* no number of a stack */
}

/* What Python programs call the driver through: of them the program's own line is of use. */
static bool is_binding(const char *package)
{
    static const char *const names[] = {"torch/",  "numba/", "numba_cuda/",
                                        "cupy",    "cuda/",  "pycuda/",
                                        "triton/", "warp/",  "graphophone/"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (gphi_text_begins(package, names[i]))
            return true;
    return false;
}

/* .../python3.11/contextlib.py and .../site-packages/torch/cuda/graphs.py, <frozen ...> */
static bool is_between(const gph_place *place)
{
    static const char folder[] = "-packages/";
    const char *file = place->file ? place->file : "";
    const char *library = strstr(file, "/lib/python3");
    const char *packages = strstr(file, folder);
    return place->is_python &&
           (gphi_text_begins(file, "<frozen") || (library && !packages) ||
            (packages && is_binding(packages + sizeof(folder) - 1)));
}

/* A line through which all calls go, and small functions around it in a module of its
 * own, of which each makes one call or two: a binding of the program's. */
static bool is_wrapper(const gphi_stacks *stacks, const gph_place *place,
                       const gph_place *outermost)
{
    if (!stacks || !place->is_python || !place->file || !place->function)
        return false;
    const size_t bytes = strlen(place->file);
    if (!gphi_map_get(&stacks->wrappers, key_of(place->file, bytes, NULL, 0)))
        return false;
    if (calls_of(stacks, key_of(place->file, bytes, NULL, place->line)) == CALLS_MIN)
        return true;
    const int calls = calls_of(stacks, key_of(place->file, bytes, place->function, 0));
    /* __init__ and the like are one of each class */
    const bool is_small = calls < CALLS_MIN || gphi_text_begins(place->function, "__");
    return strcmp(place->file, outermost->file) != 0 && calls > 0 && is_small;
}

/* One line of Python makes many calls of the driver there: it is not a binding. */
static bool is_by_torch(const gph_place *frames, uint32_t from, uint32_t count)
{
    for (uint32_t i = from; i < count; i++)
        if (frames[i].module &&
            gphi_text_begins(gphi_path_name(frames[i].module), "libtorch"))
            return true;
    return false;
}

uint32_t gphi_stacks_own(const gphi_stacks *stacks, const gph_place *frames,
                         uint32_t count)
{
    uint32_t own = 0, python = 0;
    while (python < count && frames[python].is_python)
        python++;
    const gphi_stacks *of = is_by_torch(frames, python, count) ? NULL : stacks;
    while (own < python && (is_between(&frames[own]) ||
                            is_wrapper(of, &frames[own], &frames[python - 1])))
        own++;
    return own < python ? own : 0;
}

void gphi_place_text(const gph_place *place, char *out, size_t bytes)
{
    const char *file = gphi_path_name(place->file),
               *module = gphi_path_name(place->module);
    const char *function = place->function ? place->function : "?";
    if (file)
        snprintf(out, bytes, "%s (%s:%d)", function, file, (int)place->line);
    else if (module)
        snprintf(out, bytes, "%s (%s)", function, module);
    else
        snprintf(out, bytes, "0x%llx", (unsigned long long)place->address);
}
