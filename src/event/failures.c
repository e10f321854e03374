// SPDX-License-Identifier: Apache-2.0
/* What libgph refuses, as notes. The program may ignore a status; the attached library then
 * is the only one that hears of it.
 *
 * A refusal of the driver has its own record: none is written for it. */
#include "base/fail.h"
#include "event/note.h"

static void heard(gph_status code, const char *message)
{
    const uint64_t words[] = {(uint64_t)(int64_t)code};
    if (code <= GPH_OK)
        gphi_note(GPHI_NOTE_FAILED, message, words, 1);
}

/* The attached library is loaded before the program's own. Where it comes later (CUDA's
 * injection) failures are not heard of. */
__attribute__((constructor)) static void begin_to_hear(void)
{
    if (gphi_note_find())
        atomic_store_explicit(&gphi_fail_ear, (uintptr_t)heard, memory_order_relaxed);
}
