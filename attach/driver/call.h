// SPDX-License-Identifier: Apache-2.0
/* A call on its way.
 *
 *   program ─> wrapper of a symbol (wrappers.c)
 *                 attach_enter()   the driver's own entry (driver/find.c), what must be
 *                                  asked before
 *                 the driver
 *                 attach_leave()   what the hooks do (hook.c), the record
 * (record/record.c)
 *
 * Nothing here allocates from the heap, or takes a lock, once the driver is found. Own
 * calls of the driver go to its entries directly, while `attach_me.busy` is set. */
#ifndef ATTACH_CALL_H
#define ATTACH_CALL_H
#include "attach/driver/symbol.h"
#include <stdbool.h>

typedef struct attach_call {
    const attach_symbol *symbol; /* NULL: passed on, and not looked at */
    const attach_symbol *late;   /* then: looked at if it fails; or NULL */
    const uint64_t *words;
    const uint64_t *raw; /* as they were passed, of an older signature too */
    const void *from;    /* return address of the wrapper */
    const void *above;   /* where the program's frames begin */
    uint64_t enter_ns, begin_ns, end_ns;
    uint64_t kept;    /* of attach_hook_before() */
    uint64_t capture; /* that END is about to end */
    uint32_t open;
    uint32_t flags;  /* gphi_call_flag */
    uint32_t stack;  /* taken before the driver was called, or 0 */
    uint16_t depth;  /* of the thread, before it */
    bool is_python;  /* the stack was taken with Python's frames */
    bool is_counted; /* by cupti.c */
    uint64_t own[ATTACH_WORDS_MAX];
} attach_call;
/* What the driver has put where an argument points, a handle; 0: nowhere. */
static inline uint64_t attach_filled(const attach_call *call, uint32_t index)
{
    const void *const *out = (const void *)(uintptr_t)call->words[index];
    return out ? (uint64_t)(uintptr_t)*out : 0;
}
#endif
