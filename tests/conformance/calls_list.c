// SPDX-License-Identifier: Apache-2.0
/* Writes docs/driver-calls.md: which calls of the driver API softcuda has. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "event/event.h"

static const struct call {
    const char *name;
    int version;
} calls[] = {
#define X(name, version, args) {#name, version},
    GPHI_CUDA_CALLS(X)
#undef X
};
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

static const struct symbol {
    const char *symbol, *name;
    int version, per_thread;
} symbols[] = {
#define X(symbol, name, version, per_thread, args) {#symbol, #name, version, per_thread},
    GPHI_CUDA_SYMBOLS(X)
#undef X
};

static const char *symbol_of(const struct call *call)
{
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
        if (!symbols[i].per_thread && symbols[i].version == call->version &&
            strcmp(symbols[i].name, call->name) == 0)
            return symbols[i].symbol;
    return call->name;
}

/* Calls that refuse with a GPU's codes what no driver does, and else are not built. */
static int only_refuses(const char *name)
{
    return strcmp(name, "cuMemPoolExportToShareableHandle") == 0 ||
           strcmp(name, "cuMemPoolExportPointer") == 0;
}

/* Arguments by their names, as cuEventRecord(hEvent, hStream). */
static void print_call(uint32_t call)
{
    printf("- %s(", gphi_call_name(call));
    for (uint32_t i = 0;; i++) {
        int length = 0;
        const char *name = gphi_call_argument(call, i, &length);
        if (name[0] == '?')
            break;
        printf("%s%.*s", i > 0 ? ", " : "", length, name);
    }
    printf(")\n");
}

static void list(const int *has, int wanted)
{
    for (int i = 0; i < CALLS; i++)
        if (has[i] == wanted)
            print_call((uint32_t)i);
}

int main(int argc, char **argv)
{
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    int (*ask)(const char *) = NULL;
    if (library != NULL)
        *(void **)&ask = dlsym(library, "gph_softcuda_has");
    if (ask == NULL) {
        fprintf(stderr, "usage: calls_list SOFTCUDA\n");
        return 2;
    }
    int has[CALLS], count = 0;
    for (int i = 0; i < CALLS; i++) {
        has[i] = ask(symbol_of(&calls[i])) == 1 && !only_refuses(calls[i].name);
        count += has[i] == 1;
    }
    printf(
        "# The driver API in softcuda\n\n"
        "softcuda exports every name of CUDA %d.%d's driver (%d calls, %d symbols with "
        "older\nsignatures and per-thread variants). %d calls do what they do on a GPU; "
        "the others\nreturn `CUDA_ERROR_NOT_SUPPORTED` and name themselves in the log "
        "(`CUDA_LOG_FILE`).\nThis list is made by tests/conformance/calls_list.c from "
        "the library itself.\n\n## Built\n\n",
        CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10, CALLS,
        (int)(sizeof(symbols) / sizeof(symbols[0])), count);
    list(has, 1);
    printf("\n## Not built\n\n");
    list(has, 0);
    return 0;
}
