// SPDX-License-Identifier: Apache-2.0
/* The CUDA runtime's last error. The runtime keeps the code of a call that failed, by
 * thread, until somebody asks: also where the program has long dealt with it. No call to
 * the driver shows who asks, so the two functions by which a program does are exported
 * here, go on to the runtime's, and what they give is noted.
 *
 *   program, or a library ─> here ─> the runtime that the caller is linked with
 *
 * Several runtimes may be in one process, each with its own last error: which one is the
 * caller's is asked of the linker, once for each place that calls. A runtime that is linked
 * in statically is not seen; what it says of an error is on standard error, if anywhere. */
#include "attach/beside.h"
#include "attach/record/sentence.h"
#include "attach/ring/state.h"
#include "attach/ring/thread.h"

#include <errno.h>

typedef int last_error(void);

ATTACH_API int cudaGetLastError(void);
ATTACH_API int cudaPeekAtLastError(void);

static int ask(attach_place *places, const char *name, gphi_kept_how how,
               const void *from, const void *above)
{
    const int saved = errno;
    const attach_beside_what what = {.name = name, .file = "libcudart"};
    last_error *real = (last_error *)attach_beside(places, from, &what);
    errno = saved;
    const int code = real ? real() : 0;
    if (code != 0 && attach_me.busy == 0 &&
        atomic_load_explicit(&attach_is, memory_order_acquire) == ATTACH_ON)
        attach_kept(code, how, above);
    return code;
}

int cudaGetLastError(void)
{
    static attach_place places[ATTACH_PLACES];
    return ask(places, "cudaGetLastError", GPHI_KEPT_TAKEN, __builtin_return_address(0),
               __builtin_dwarf_cfa());
}

int cudaPeekAtLastError(void)
{
    static attach_place places[ATTACH_PLACES];
    return ask(places, "cudaPeekAtLastError", GPHI_KEPT_SEEN, __builtin_return_address(0),
               __builtin_dwarf_cfa());
}
