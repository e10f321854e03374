// SPDX-License-Identifier: Apache-2.0
/* A shim between libgph and its driver, which fails the n-th call and counts what lives:
 *
 *   libgph ── shim ── the driver (`below`)
 *
 * Rules name the calls that go through it; all others go past. What a test does itself it
 * asks of `below`. One a process; libgph's internal headers. */
#ifndef TEST_SHIM_H
#define TEST_SHIM_H
#include "cuda/loader.h"
#include "cuda/runtime.h"

#include <stdatomic.h>
#include <stdbool.h>

struct shim_rule {
    const char *name;
    atomic_int *count; /* what the call counts when it succeeded, or NULL */
    int change;        /* by; below 0: it takes something back, and never fails */
};

#define SHIM_CALL(call)                                                                  \
    {                                                                                    \
        .name = #call                                                                    \
    }
#define SHIM_GIVE(call, counter, by)                                                     \
    {                                                                                    \
        .name = #call, .count = &(counter), .change = (by)                               \
    }
#define SHIM_END                                                                         \
    {                                                                                    \
        .name = NULL                                                                     \
    }

struct shim {
    const struct shim_rule *rules; /* ends with a NULL name */
    bool has_all; /* calls without a rule go through it, too; all fail but those whose
                     names say that they give something back */
    atomic_long fail_at; /* calls left before the failing one; negative: none fails */
    CUresult code;       /* what it gives */
    const char *_Atomic failed; /* the last that did */
    atomic_long calls;          /* that could have failed */
    /* A call of the test's own instead: true, and it or NULL, as if the driver had none. */
    bool (*special)(const char *name, int version, gph_cuda_fn *out);
};

extern struct shim shim;
extern gphi_cuda_table below;
extern gphi_cuda_source shim_source; /* the shim as a driver, for gphi_runtime_create() */

/* Whether the call that is made now is the one to fail. For calls of the test's own. */
bool shim_fails(const char *name);

/* Opens the driver beneath; false: there is none, and the reason was printed. */
bool shim_open(gph_driver which, const struct shim_rule *rules);
void shim_close(void);

/* For a runtime that is open: `calls` go through the shim, or past it again. */
void shim_over(gphi_cuda_table *calls, const struct shim_rule *rules, bool is_on);
#endif
