// SPDX-License-Identifier: Apache-2.0
/* libdw of elfutils, opened when it is needed and not missed where it is not; and the
 * names of C++, by __cxa_demangle() of libstdc++, likewise. */
#define _GNU_SOURCE
#include "base/dwarf.h"

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
    X(int, dwarf_lineno, (Dwarf_Line *, int *))

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

/* File and line where the module has no table of addresses (clang makes none): by the
 * unit that has the address. */
static void look_up_unit(Dwfl_Module *module, uint64_t at, gphi_dwarf_place *out)
{
    uint64_t bias = 0;
    for (Dwarf_Die *unit = dw.dwfl_module_nextcu(module, NULL, &bias); unit != NULL;
         unit = dw.dwfl_module_nextcu(module, unit, &bias)) {
        if (dw.dwarf_haspc(unit, at - bias) != 1)
            continue;
        Dwarf_Line *line = dw.dwarf_getsrc_die(unit, at - bias);
        if (line == NULL || dw.dwarf_lineno(line, &out->line) != 0)
            continue;
        out->file = dw.dwarf_linesrc(line, NULL, NULL);
        return;
    }
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
