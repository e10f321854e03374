// SPDX-License-Identifier: Apache-2.0
/* libdw of elfutils, opened when it is needed and not missed where it is not; and the
 * names of C++, by __cxa_demangle() of libstdc++, likewise. */
#define _GNU_SOURCE
#include "symbol/dwarf.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What of <elfutils/libdwfl.h> and <elfutils/libdw.h> is used here: stable since elfutils
 * 0.122. */
typedef struct Dwfl Dwfl;
typedef struct Dwfl_Module Dwfl_Module;
typedef struct Dwfl_Line Dwfl_Line;
typedef struct Dwarf_Line Dwarf_Line;
typedef struct Dwarf_Files Dwarf_Files;
typedef struct Dwarf_Attribute {
    unsigned code, form;
    unsigned char *value;
    struct Dwarf_CU *unit;
} Dwarf_Attribute;
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
    X(Dwfl_Module *, dwfl_report_elf,                                                    \
      (Dwfl *, const char *, const char *, int, uint64_t, bool))                         \
    X(int, dwfl_module_build_id, (Dwfl_Module *, const unsigned char **, uint64_t *))    \
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
    X(int, dwarf_lineno, (Dwarf_Line *, int *))                                          \
    X(Dwarf_Die *, dwfl_module_addrdie, (Dwfl_Module *, uint64_t, uint64_t *))           \
    X(int, dwarf_getscopes, (Dwarf_Die *, uint64_t, Dwarf_Die **))                       \
    X(int, dwarf_getscopes_die, (Dwarf_Die *, Dwarf_Die **))                             \
    X(int, dwarf_tag, (Dwarf_Die *))                                                     \
    X(const char *, dwarf_diename, (Dwarf_Die *))                                        \
    X(Dwarf_Attribute *, dwarf_attr_integrate,                                           \
      (Dwarf_Die *, unsigned, Dwarf_Attribute *))                                        \
    X(const char *, dwarf_formstring, (Dwarf_Attribute *))                               \
    X(int, dwarf_formudata, (Dwarf_Attribute *, uint64_t *))                             \
    X(int, dwarf_getsrcfiles, (Dwarf_Die *, Dwarf_Files **, size_t *))                   \
    X(const char *, dwarf_filesrc, (Dwarf_Files *, size_t, uint64_t *, uint64_t *))

static struct {
#define X(type, name, arguments) type(*name) arguments;
    DW_CALLS(X)
#undef X
    Dwfl_Callbacks callbacks;
    bool is_tried, is_there;
} dw;

gphi_mutex gphi_dwarf_mutex = GPHI_MUTEX_INIT;

/* Without the standard finder of debug information, which may ask servers of the
 * network. */
static bool open_dw_locked(void) GPHI_REQUIRES(&gphi_dwarf_mutex)
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

Dwfl *gphi_dwarf_begin(void)
{
    return open_dw_locked() ? dw.dwfl_begin(&dw.callbacks) : NULL;
}

void gphi_dwarf_end(Dwfl *dwfl)
{
    if (dwfl != NULL)
        dw.dwfl_end(dwfl);
}

Dwfl *gphi_dwarf_self(void)
{
    Dwfl *dwfl = gphi_dwarf_begin();
    if (dwfl == NULL)
        return NULL;
    if (dw.dwfl_linux_proc_report(dwfl, getpid()) == 0 &&
        dw.dwfl_report_end(dwfl, NULL, NULL) == 0)
        return dwfl;
    dw.dwfl_end(dwfl);
    return NULL;
}

/* Whether a file is the one that was loaded. */
static bool has_build_id(Dwfl_Module *module, const char *build_id)
{
    const unsigned char *bits = NULL;
    uint64_t at;
    char hex[2 * 64 + 1] = "";
    const int count = dw.dwfl_module_build_id(module, &bits, &at);
    for (int i = 0; i < count && i < 64; i++)
        snprintf(hex + 2 * i, 3, "%02x", bits[i]);
    return strcmp(hex, build_id) == 0;
}

bool gphi_dwarf_report(Dwfl *dwfl, const char *path, uint64_t bias, const char *build_id,
                       bool *is_same)
{
    Dwfl_Module *module = dw.dwfl_report_elf(dwfl, path, path, -1, bias, true);
    *is_same = module == NULL || build_id[0] == '\0' || has_build_id(module, build_id);
    return module != NULL;
}

bool gphi_dwarf_report_end(Dwfl *dwfl)
{
    return dw.dwfl_report_end(dwfl, NULL, NULL) == 0;
}

/* The unit that has the address: by the module's table of addresses or, where it has none
 * (clang makes none), one after the other. */
static Dwarf_Die *unit_of(Dwfl_Module *module, uint64_t at, uint64_t *bias)
{
    Dwarf_Die *unit = dw.dwfl_module_addrdie(module, at, bias);
    if (unit != NULL)
        return unit;
    for (unit = dw.dwfl_module_nextcu(module, NULL, bias); unit != NULL;
         unit = dw.dwfl_module_nextcu(module, unit, bias))
        if (dw.dwarf_haspc(unit, at - *bias) == 1)
            return unit;
    return NULL;
}

static void look_up_unit(Dwfl_Module *module, uint64_t at, gphi_dwarf_place *out)
{
    uint64_t bias = 0;
    Dwarf_Die *unit = unit_of(module, at, &bias);
    Dwarf_Line *line = unit != NULL ? dw.dwarf_getsrc_die(unit, at - bias) : NULL;
    if (line != NULL && dw.dwarf_lineno(line, &out->line) == 0)
        out->file = dw.dwarf_linesrc(line, NULL, NULL);
}

void gphi_dwarf_find(Dwfl *dwfl, uint64_t at, gphi_dwarf_place *out)
{
    Dwfl_Module *module = dwfl != NULL ? dw.dwfl_addrmodule(dwfl, at) : NULL;
    if (module == NULL)
        return;
    const char *name = dw.dwfl_module_addrname(module, at);
    if (name != NULL)
        out->function = name;
    Dwfl_Line *line = dw.dwfl_module_getsrc(module, at);
    if (line != NULL)
        out->file = dw.dwfl_lineinfo(line, NULL, &out->line, NULL, NULL, NULL);
    else
        look_up_unit(module, at, out);
}

/* ---- functions that were inlined ---- */

enum {
    DW_TAG_INLINED_SUBROUTINE = 0x1d,
    DW_TAG_SUBPROGRAM = 0x2e,
    DW_AT_CALL_FILE = 0x58,
    DW_AT_CALL_LINE = 0x59,
    DW_AT_LINKAGE_NAME = 0x6e
};

static const char *name_of(Dwarf_Die *scope)
{
    Dwarf_Attribute attribute;
    const char *name = NULL;
    if (dw.dwarf_attr_integrate(scope, DW_AT_LINKAGE_NAME, &attribute) != NULL)
        name = dw.dwarf_formstring(&attribute);
    return name != NULL ? name : dw.dwarf_diename(scope);
}

/* Where an inlined function was called. False: it is not said. */
static bool read_call_site(Dwarf_Die *unit, Dwarf_Die *scope, gphi_dwarf_place *out)
{
    Dwarf_Attribute file, line;
    uint64_t file_number = 0, line_number = 0;
    Dwarf_Files *files = NULL;
    size_t count = 0;
    if (dw.dwarf_attr_integrate(scope, DW_AT_CALL_FILE, &file) == NULL ||
        dw.dwarf_attr_integrate(scope, DW_AT_CALL_LINE, &line) == NULL ||
        dw.dwarf_formudata(&file, &file_number) != 0 ||
        dw.dwarf_formudata(&line, &line_number) != 0 ||
        dw.dwarf_getsrcfiles(unit, &files, &count) != 0 || file_number >= count)
        return false;
    out->file = dw.dwarf_filesrc(files, (size_t)file_number, NULL, NULL);
    out->line = (int)line_number;
    return out->file != NULL;
}

uint32_t gphi_dwarf_frames(Dwfl *dwfl, uint64_t at, gphi_dwarf_place *out, uint32_t room)
{
    gphi_dwarf_place place = {0};
    Dwfl_Module *module = dwfl != NULL ? dw.dwfl_addrmodule(dwfl, at) : NULL;
    if (module == NULL || room == 0)
        return 0;
    gphi_dwarf_find(dwfl, at, &place);
    const char *outer = place.function;
    uint64_t bias = 0;
    Dwarf_Die *unit = unit_of(module, at, &bias), *innermost = NULL, *scopes = NULL;
    int depth = unit != NULL ? dw.dwarf_getscopes(unit, at - bias, &innermost) : 0;
    /* Beyond the first inlined function those are where it is defined, not where it was
     * inlined. */
    depth = depth > 0 ? dw.dwarf_getscopes_die(&innermost[0], &scopes) : 0;
    free(innermost);
    uint32_t count = 0;
    for (int i = 0; i < depth && count + 1 < room; i++) {
        if (dw.dwarf_tag(&scopes[i]) == DW_TAG_SUBPROGRAM)
            break;
        if (dw.dwarf_tag(&scopes[i]) != DW_TAG_INLINED_SUBROUTINE)
            continue;
        place.function = name_of(&scopes[i]);
        out[count] = place;
        if (!read_call_site(unit, &scopes[i], &place))
            break;
        count++;
    }
    free(scopes);
    place.function = outer;
    out[count++] = place;
    return count;
}

/* ---- names of C++ ---- */

char *gphi_demangle(const char *name)
{
    typedef char *demangle_fn(const char *, char *, size_t *, int *);
    static demangle_fn *demangle;
    static bool is_tried;
    if (strncmp(name, "_Z", 2) != 0)
        return NULL;
    gphi_mutex_lock(&gphi_dwarf_mutex);
    if (!is_tried) {
        void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        if (library != NULL)
            *(void **)&demangle = dlsym(library, "__cxa_demangle");
        is_tried = true;
    }
    demangle_fn *found = demangle;
    gphi_mutex_unlock(&gphi_dwarf_mutex);
    int status = 0;
    return found != NULL ? found(name, NULL, NULL, &status) : NULL;
}
