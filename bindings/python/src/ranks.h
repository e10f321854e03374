// SPDX-License-Identifier: Apache-2.0
/* What Ranks and Comm share: the group, and who still needs it. */
#ifndef GPHPY_RANKS_H
#define GPHPY_RANKS_H
#include "gphpy.h"

typedef struct gphpy_ranks {
    PyObject_HEAD gph_ranks *gph;
    gphpy_lock lock; /* of agreements: one at a time */
    /* Of the object until it is closed, of each call and each Comm; the last one leaves. */
    _Atomic(int) holds;
    _Atomic(int) is_closed;
    _Atomic(gphpy_runtime *) runtime; /* of its first Comm; or NULL */
    uint32_t rank, count, local;
} gphpy_ranks;

/* Takes a hold; NULL with an exception: the Ranks are closed. */
gph_ranks *gphpy_ranks_take(gphpy_ranks *self);
void gphpy_ranks_give(gphpy_ranks *self);

/* For libgph: the text of a place, or NULL. Lent by it. */
const char *gphpy_ranks_place(PyObject *place);
#endif
