// SPDX-License-Identifier: Apache-2.0
/* Return addresses, and what they mean: by libdw where it is there, else by dladdr(). */
#define _GNU_SOURCE
#include "symbol/stack.h"
#include "base/path.h"
#include "symbol/dwarf.h"

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

/* ---- words ---- */

struct frame {
    uintptr_t at; /* in the call, not behind it */
    const char *module;
    const void *base;     /* of the module */
    const char *function; /* or NULL */
    const char *file;     /* or NULL */
    int line;
};

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
static void look_up_line(Dwfl *dwfl, struct frame *out) GPHI_REQUIRES(&gphi_dwarf_mutex)
{
    gphi_dwarf_place place = {.function = out->function};
    gphi_dwarf_find(dwfl, out->at, &place);
    out->function = place.function;
    out->file = place.file;
    out->line = place.line;
}

/* Whether a frame lies between the program and the driver. */
static bool is_below(const struct frame *frame)
{
    const char *name = gphi_path_name(frame->module);
    return strncmp(name, "libgph.so", 9) == 0 ||
           strncmp(name, "libgph-attach.so", 16) == 0 ||
           strncmp(name, "libcuda.so", 10) == 0 || strncmp(name, "libcudart.so", 12) == 0;
}

static void put_caller(const struct frame *frame, char *out, size_t bytes)
{
    const char *function = frame->function != NULL ? frame->function : "?";
    if (frame->file != NULL)
        snprintf(out, bytes, "%s:%d (%s)", gphi_path_name(frame->file), frame->line,
                 function);
    else
        snprintf(out, bytes, "%s+0x%zx (%s)", gphi_path_name(frame->module),
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

    gphi_mutex_lock(&gphi_dwarf_mutex);
    Dwfl *dwfl = gphi_dwarf_self();
    bool has_room = true;
    for (unsigned i = 0; i < stack->count && has_room; i++) {
        struct frame frame;
        char line[512];
        look_up(stack->frames[i], &frame);
        look_up_line(dwfl, &frame);
        put_line(&frame, i, line, sizeof(line));
        has_room = append(out, bytes, line);
    }
    if (dwfl == NULL && has_room)
        append(out, bytes, "(files and lines need libdw.so.1 of elfutils)\n");
    gphi_dwarf_end(dwfl);
    gphi_mutex_unlock(&gphi_dwarf_mutex);
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

    gphi_mutex_lock(&gphi_dwarf_mutex);
    Dwfl *dwfl = gphi_dwarf_self();
    look_up_line(dwfl, &frame);
    put_caller(&frame, out, bytes);
    gphi_dwarf_end(dwfl); /* the texts in `frame` were its */
    gphi_mutex_unlock(&gphi_dwarf_mutex);
}
