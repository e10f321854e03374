// SPDX-License-Identifier: Apache-2.0
/* The driver that this process uses, and its entries. */
#ifndef ATTACH_FIND_H
#define ATTACH_FIND_H
#include "attach/driver/symbol.h"
#include <stdbool.h>

/* Its entry, or NULL if it has none (or there is no driver). */
attach_function *attach_real(uint32_t symbol);
#define ATTACH_REAL(symbol) ((__typeof__(symbol) *)attach_real(ATTACH_##symbol))

/* Asks the driver. */
#define ATTACH_ASK(symbol, ...)                                                          \
    (attach_real(ATTACH_##symbol) ? ATTACH_REAL(symbol)(__VA_ARGS__)                     \
                                  : CUDA_ERROR_NOT_SUPPORTED)

/* The same by name. */
void *attach_entry(const char *symbol);

/* Any other symbol of the driver's file; NULL: it has none. */
void *attach_driver_symbol(const char *name);

/* What cuGetProcAddress() is to give instead of `entry`. */
void *attach_wrap(void *entry, const char *name, int version, uint64_t flags);

/* The driver's file and code; "" and 0 if there is none yet. */
typedef struct attach_library {
    char path[1024];
    uintptr_t start, end;
} attach_library;
const attach_library *attach_driver(void);

/* The driver's cuInit() has succeeded: no other library takes its place any more. */
void attach_keep_driver(void);

/* Whether an address is the host's: with unified addresses a copy does not say. */
bool attach_is_host(uint64_t pointer);

/* The next function of that name after this library's: the C library's, if nobody is between. */
void *attach_next(const char *name);

/* A symbol of a library that dlopen() gave, by the C library's own dlsym(). */
void *attach_symbol_in(void *handle, const char *name);

/* Other libraries' functions that this one has, too. Asked by dlsym(); NULL until somebody
 * sets it. */
typedef struct attach_others {
    /* What replaces `entry`, or NULL: nothing. With `entry` NULL: whether anything may. */
    void *(*pick)(const char *name, void *entry);
    /* Whether a library of the process that is known by its file has the function. */
    bool (*is_there)(const char *name);
} attach_others;
extern const attach_others *attach_other;

/* Runs another injection library's InitializeInjection(); 1 if there is none. */
int attach_chain(const char *path);
#endif
