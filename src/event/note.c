// SPDX-License-Identifier: Apache-2.0
/* The way of a note out of libgph: one symbol, looked up once. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "event/note.h"

#include <dlfcn.h>
#include <string.h>

_Atomic(uintptr_t) gphi_note_sink;

/* The same answer whoever asks first; two threads may both ask. */
static uintptr_t find_sink(void)
{
    uintptr_t sink = (uintptr_t)dlsym(RTLD_DEFAULT, "gph_attach_note");
    if (sink == 0)
        sink = 1;
    atomic_store_explicit(&gphi_note_sink, sink, memory_order_relaxed);
    return sink;
}

bool gphi_note_find(void)
{
    const uintptr_t sink = atomic_load_explicit(&gphi_note_sink, memory_order_relaxed);
    return (sink == 0 ? find_sink() : sink) != 1;
}

void gphi_note_write(gphi_note_kind kind, const char *text, const uint64_t *words,
                     uint32_t word_count)
{
    uintptr_t sink = atomic_load_explicit(&gphi_note_sink, memory_order_relaxed);
    if (sink == 0)
        sink = find_sink();
    if (sink == 1)
        return;
    gph_attach_note_fn *write = NULL;
    memcpy(&write, &sink, sizeof(write)); /* ISO C has no cast from object to function */
    write((uint32_t)kind, words, word_count, text ? text : "");
}
