// SPDX-License-Identifier: Apache-2.0
/* Return addresses of this process, and what they mean. */
#define _GNU_SOURCE
#include "symbol/stack.h"
#include "base/heap.h"
#include "base/path.h"
#include "base/text.h"
#include "symbol/dwarf.h"

#include <dlfcn.h>
#include <link.h>
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
    uintptr_t at; /* in the call: the return address may be that of the next line */
    uintptr_t bias;
    const char *module, *path; /* as it calls itself; where it can be opened */
    const char *function;      /* or NULL */
    const char *file;          /* or NULL */
    int line;
};

/* Which file it is, as the dynamic linker knows. */
static void find_module(void *address, struct frame *out)
{
    Dl_info info;
    struct link_map *map = NULL;
    *out = (struct frame){.at = (uintptr_t)address - 1, .module = "", .path = ""};
    if (dladdr1((void *)out->at, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || !map)
        return;
    out->module = info.dli_fname ? info.dli_fname : "";
    out->bias = map->l_addr;
    out->function = info.dli_sname;
    /* The program itself has no name in the map, and maybe a relative one in `info`. */
    out->path = map->l_name[0] != '\0' ? map->l_name : "/proc/self/exe";
}

/* The file of the frame before, since the next one is mostly of the same. */
struct open_file {
    const char *path;
    gphi_dwarf *dwarf; /* NULL: it cannot be read */
};

/* Function and line, until another file is opened. */
static void look_up(struct open_file *file, struct frame *frame)
{
    gphi_dwarf_place place;
    bool is_same;
    if (!file->path || strcmp(file->path, frame->path) != 0) {
        gphi_dwarf_close(file->dwarf);
        file->dwarf = gphi_dwarf_open(gphi_heap(NULL), frame->path, "", &is_same);
        file->path = frame->path;
    }
    if (!file->dwarf)
        return;
    (void)gphi_dwarf_frames(file->dwarf, frame->at - frame->bias, &place, 1);
    if (place.function)
        frame->function = place.function;
    frame->file = place.file;
    frame->line = place.line;
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
    const char *function = frame->function ? frame->function : "?";
    if (frame->file)
        snprintf(out, bytes, "%s:%d (%s)", gphi_path_name(frame->file), frame->line,
                 function);
    else
        snprintf(out, bytes, "%s+0x%zx (%s)", gphi_path_name(frame->module),
                 (size_t)(frame->at - frame->bias), function);
}

static void put_line(const struct frame *frame, unsigned index, char *out, size_t bytes)
{
    const char *function = frame->function ? frame->function : "?";
    if (frame->file)
        snprintf(out, bytes, "#%u %s, %s:%d (%s)\n", index, function, frame->file,
                 frame->line, frame->module);
    else
        snprintf(out, bytes, "#%u %s (%s+0x%zx)\n", index, function, frame->module,
                 (size_t)(frame->at - frame->bias));
}

void gphi_stack_describe(const gphi_stack *stack, char *out, size_t bytes)
{
    gphi_text text;
    struct open_file file = {NULL, NULL};
    gphi_text_fix(&text, out, bytes);
    for (unsigned i = 0; i < stack->count; i++) {
        struct frame frame;
        char line[512];
        find_module(stack->frames[i], &frame);
        look_up(&file, &frame);
        put_line(&frame, i, line, sizeof(line));
        if (strlen(line) >= text.room - text.length)
            break; /* whole lines only */
        gphi_text_put(&text, line);
    }
    gphi_dwarf_close(file.dwarf);
}

void gphi_stack_caller(const gphi_stack *stack, char *out, size_t bytes)
{
    struct open_file file = {NULL, NULL};
    struct frame frame;
    out[0] = '\0';
    for (unsigned i = 0; i < stack->count; i++) {
        find_module(stack->frames[i], &frame);
        if (is_below(&frame))
            continue;
        look_up(&file, &frame);
        put_caller(&frame, out, bytes);
        break;
    }
    gphi_dwarf_close(file.dwarf);
}
