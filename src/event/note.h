// SPDX-License-Identifier: Apache-2.0
/* Notes: what libgph says of itself to the attached library, which writes them as records
 * (GPHI_EVENT_NOTE). Where none is attached a note costs one load and a branch.
 *
 * The attached library exports gph_attach_note(); it is looked for once, in what the
 * process has loaded when the first note is written. */
#ifndef GPHI_EVENT_NOTE_H
#define GPHI_EVENT_NOTE_H
#include "event/event.h"
#include <gph/base.h>
#include <stdatomic.h>
#include <stdbool.h>

/* `words` and `text` are read during the call only. Any thread; never fails. */
typedef void gph_attach_note_fn(uint32_t kind, const uint64_t *words, uint32_t word_count,
                                const char *text);

/* 0: not looked for yet, 1: there is none, else its address. Relaxed: the address leads
 * to code alone, which was there before. */
extern _Atomic(uintptr_t) gphi_note_sink;

/* Looks for it: whether there is one. */
bool gphi_note_find(void);

/* Looks for it and writes the note. */
void gphi_note_write(gphi_note_kind kind, const char *text, const uint64_t *words,
                     uint32_t word_count);

/* False: nothing is attached, so that words need not be gathered. */
static inline bool gphi_note_is_on(void)
{
    return atomic_load_explicit(&gphi_note_sink, memory_order_relaxed) != 1;
}

static inline void gphi_note(gphi_note_kind kind, const char *text, const uint64_t *words,
                             uint32_t word_count)
{
    if (gphi_note_is_on())
        gphi_note_write(kind, text, words, word_count);
}
#endif
