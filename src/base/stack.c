// SPDX-License-Identifier: Apache-2.0
/* Return addresses, and what they mean: by libdw of elfutils, opened when it is needed
 * and not missed where it is not, else by dladdr(). */
#define _GNU_SOURCE
#include "base/stack.h"
#include "base/thread.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__has_include)
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define HAS_BACKTRACE 1
#endif
#endif

#ifdef HAS_BACKTRACE
void gphi_stack_prepare(void)
{
    void *frames[2];
    backtrace(frames, 2); /* loads the unwinder */
}

void gphi_stack_take(gphi_stack *out, unsigned skip)
{
    void *all[GPHI_STACK_FRAMES + 8];
    const int found = backtrace(all, (int)(sizeof(all) / sizeof(*all)));
    skip += 2; /* this function and its caller */
    out->count = 0;
    for (int i = (int)skip; i < found && out->count < GPHI_STACK_FRAMES; i++)
        out->frames[out->count++] = all[i];
}
#else
void gphi_stack_prepare(void) {}

void gphi_stack_take(gphi_stack *out, unsigned skip)
{
    (void)skip;
    out->count = 0;
}
#endif

/* ---- libdw ---- */

/* What of <elfutils/libdwfl.h> and <elfutils/libdw.h> is used here: stable since elfutils
 * 0.122. */
typedef struct Dwfl Dwfl;
typedef struct Dwfl_Module Dwfl_Module;
typedef struct Dwfl_Line Dwfl_Line;
typedef struct Dwarf_Line Dwarf_Line;
typedef struct Dwarf_Die {
    void *address;
    struct Dwarf_CU *unit;
    void *abbreviation;
    long padding;
} Dwarf_Die;
typedef struct Dwfl_Callbacks {
    void *find_elf, *find_debuginfo, *section_address;
    char **debuginfo_path;
} Dwfl_Callbacks;

#define DW_CALLS(X)                                                                      \
    X(Dwfl *, dwfl_begin, (const Dwfl_Callbacks *))                                      \
    X(void, dwfl_end, (Dwfl *))                                                          \
    X(int, dwfl_linux_proc_report, (Dwfl *, pid_t))                                      \
    X(int, dwfl_report_end, (Dwfl *, void *, void *))                                    \
    X(Dwfl_Module *, dwfl_addrmodule, (Dwfl *, uint64_t))                                \
    X(const char *, dwfl_module_addrname, (Dwfl_Module *, uint64_t))                     \
    X(Dwfl_Line *, dwfl_module_getsrc, (Dwfl_Module *, uint64_t))                        \
    X(const char *, dwfl_lineinfo,                                                       \
      (Dwfl_Line *, uint64_t *, int *, int *, uint64_t *, uint64_t *))                   \
    X(Dwarf_Die *, dwfl_module_nextcu, (Dwfl_Module *, Dwarf_Die *, uint64_t *))         \
    X(int, dwarf_haspc, (Dwarf_Die *, uint64_t))                                         \
    X(Dwarf_Line *, dwarf_getsrc_die, (Dwarf_Die *, uint64_t))                           \
    X(const char *, dwarf_linesrc, (Dwarf_Line *, uint64_t *, uint64_t *))               \
    X(int, dwarf_lineno, (Dwarf_Line *, int *))

static struct {
#define X(type, name, arguments) type(*name) arguments;
    DW_CALLS(X)
#undef X
    Dwfl_Callbacks callbacks;
    bool is_tried, is_there;
} dw;

/* libdw does not promise threads. */
static gphi_mutex dw_mutex = GPHI_MUTEX_INIT;

/* Without the standard finder of debug information, which may ask servers of the
 * network. */
static bool open_dw_locked(void) GPHI_REQUIRES(&dw_mutex)
{
    if (dw.is_tried)
        return dw.is_there;
    dw.is_tried = true;
    void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return false;
    bool all = true;
#define X(type, name, arguments)                                                         \
    *(void **)&dw.name = dlsym(library, #name);                                          \
    all = all && dw.name != NULL;
    DW_CALLS(X)
#undef X
    dw.callbacks.find_elf = dlsym(library, "dwfl_linux_proc_find_elf");
    dw.callbacks.find_debuginfo = dlsym(library, "dwfl_build_id_find_debuginfo");
    dw.is_there =
        all && dw.callbacks.find_elf != NULL && dw.callbacks.find_debuginfo != NULL;
    return dw.is_there;
}

/* The process as libdw sees it now, or NULL. */
static Dwfl *begin_dw_locked(void) GPHI_REQUIRES(&dw_mutex)
{
    if (!open_dw_locked())
        return NULL;
    Dwfl *dwfl = dw.dwfl_begin(&dw.callbacks);
    if (dwfl == NULL)
        return NULL;
    if (dw.dwfl_linux_proc_report(dwfl, getpid()) == 0 &&
        dw.dwfl_report_end(dwfl, NULL, NULL) == 0)
        return dwfl;
    dw.dwfl_end(dwfl);
    return NULL;
}

/* ---- words ---- */

struct frame {
    uintptr_t at; /* in the call, not behind it */
    const char *module;
    const void *base;     /* of the module */
    const char *function; /* or NULL */
    const char *file;     /* or NULL */
    int line;
};

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* File and line where the module has no table of addresses (clang makes none): by the
 * unit that has the address. */
static void look_up_unit(Dwfl_Module *module, struct frame *out)
{
    uint64_t bias = 0;
    for (Dwarf_Die *unit = dw.dwfl_module_nextcu(module, NULL, &bias); unit != NULL;
         unit = dw.dwfl_module_nextcu(module, unit, &bias)) {
        if (dw.dwarf_haspc(unit, out->at - bias) != 1)
            continue;
        Dwarf_Line *line = dw.dwarf_getsrc_die(unit, out->at - bias);
        if (line == NULL || dw.dwarf_lineno(line, &out->line) != 0)
            continue;
        out->file = dw.dwarf_linesrc(line, NULL, NULL);
        return;
    }
}

/* What the dynamic linker knows. */
static void look_up(void *address, struct frame *out)
{
    *out = (struct frame){.at = (uintptr_t)address - 1, .module = ""};
    Dl_info info;
    if (dladdr((void *)out->at, &info) == 0)
        return;
    out->module = info.dli_fname != NULL ? info.dli_fname : "";
    out->base = info.dli_fbase;
    out->function = info.dli_sname;
}

/* What libdw knows; `dwfl` may be NULL. */
static void look_up_line(Dwfl *dwfl, struct frame *out)
{
    Dwfl_Module *module = dwfl != NULL ? dw.dwfl_addrmodule(dwfl, out->at) : NULL;
    if (module == NULL)
        return;
    const char *name = dw.dwfl_module_addrname(module, out->at);
    if (name != NULL)
        out->function = name;
    Dwfl_Line *line = dw.dwfl_module_getsrc(module, out->at);
    if (line != NULL)
        out->file = dw.dwfl_lineinfo(line, NULL, &out->line, NULL, NULL, NULL);
    else
        look_up_unit(module, out);
}

/* Whether a frame lies between the program and the driver. */
static bool is_below(const struct frame *frame)
{
    const char *name = last_part(frame->module);
    return strncmp(name, "libgph.so", 9) == 0 || strncmp(name, "libcuda.so", 10) == 0 ||
           strncmp(name, "libcudart.so", 12) == 0;
}

static void put_caller(const struct frame *frame, char *out, size_t bytes)
{
    const char *function = frame->function != NULL ? frame->function : "?";
    if (frame->file != NULL)
        snprintf(out, bytes, "%s:%d (%s)", last_part(frame->file), frame->line, function);
    else
        snprintf(out, bytes, "%s+0x%zx (%s)", last_part(frame->module),
                 (size_t)(frame->at - (uintptr_t)frame->base), function);
}

static void put_line(const struct frame *frame, unsigned index, char *out, size_t bytes)
{
    const char *function = frame->function != NULL ? frame->function : "?";
    if (frame->file != NULL)
        snprintf(out, bytes, "#%u %s, %s:%d (%s)\n", index, function, frame->file,
                 frame->line, frame->module);
    else
        snprintf(out, bytes, "#%u %s (%s+0x%zx)\n", index, function, frame->module,
                 (size_t)(frame->at - (uintptr_t)frame->base));
}

/* Whole lines only. */
static bool append(char *text, size_t bytes, const char *line)
{
    const size_t used = strlen(text), more = strlen(line);
    if (used + more >= bytes)
        return false;
    memcpy(text + used, line, more + 1);
    return true;
}

void gphi_stack_describe(const gphi_stack *stack, char *out, size_t bytes)
{
    out[0] = '\0';
    if (stack->count == 0)
        return;

    gphi_mutex_lock(&dw_mutex);
    Dwfl *dwfl = begin_dw_locked();
    bool has_room = true;
    for (unsigned i = 0; i < stack->count && has_room; i++) {
        struct frame frame;
        char line[512];
        look_up(stack->frames[i], &frame);
        look_up_line(dwfl, &frame);
        put_line(&frame, i, line, sizeof(line));
        has_room = append(out, bytes, line);
    }
    if (dwfl != NULL)
        dw.dwfl_end(dwfl);
    else if (has_room)
        append(out, bytes, "(files and lines need libdw.so.1 of elfutils)\n");
    gphi_mutex_unlock(&dw_mutex);
}

void gphi_stack_caller(const gphi_stack *stack, char *out, size_t bytes)
{
    out[0] = '\0';
    struct frame frame;
    unsigned i = 0;
    for (; i < stack->count; i++) {
        look_up(stack->frames[i], &frame);
        if (!is_below(&frame))
            break;
    }
    if (i == stack->count)
        return;

    gphi_mutex_lock(&dw_mutex);
    Dwfl *dwfl = begin_dw_locked();
    look_up_line(dwfl, &frame);
    put_caller(&frame, out, bytes);
    if (dwfl != NULL)
        dw.dwfl_end(dwfl); /* the texts in `frame` were its */
    gphi_mutex_unlock(&dw_mutex);
}
