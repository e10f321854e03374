/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of other libraries than the driver's. A process may have several of a library:
 * which one is the caller's is asked of the linker, once for each place that calls. */
#ifndef ATTACH_BESIDE_H
#define ATTACH_BESIDE_H
#include "attach/driver/symbol.h"
#include <stdatomic.h>
#include <stdbool.h>

enum { ATTACH_PLACES = 1 << 10 };

/* A place that calls, and the function that is meant there. Never taken out. */
typedef struct attach_place {
    _Atomic uintptr_t key;
    attach_function *_Atomic real;
} attach_place;

typedef struct attach_beside_what {
    const char *name; /* of the function */
    const char *file; /* what the name of a file that has it begins with */
    uint64_t salt;    /* apart from other functions of the same table */
    void *picked; /* what dlsym() has given somebody who is not linked with it, or NULL */
} attach_beside_what;

/* In the file of `from` and what it is linked with; of the program itself, in all that is
 * linked after this library; else in a file of that name. NULL: none is there. `places` has
 * ATTACH_PLACES. */
attach_function *attach_beside(attach_place *places, const void *from,
                               const attach_beside_what *what);

/* Whether the process has a file of that name with that function. */
bool attach_beside_is_there(const char *file, const char *name);
#endif
