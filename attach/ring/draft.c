// SPDX-License-Identifier: Apache-2.0
/* Records on their way into the ring: their size is known first, so that a record takes
 * its place once and is filled there, while other threads fill theirs. */
#include "attach/ring/draft.h"
#include "attach/ring/state.h"
#include "attach/ring/thread.h"
#include "base/clock.h"

static size_t padded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

/* Arguments that are NULL stay 0: the driver does not read those of size 0. */
static void fill_params(char *to, const attach_piece *piece)
{
    void *const *params = piece->from;
    const attach_layout *layout = piece->layout;
    for (uint32_t i = 0; i < layout->count; i++)
        if (params[i])
            memcpy(to + layout->places[2 * i], params[i], layout->places[2 * i + 1]);
}

/* Padding is cleared, so that nothing of an earlier record, or of the program, is
 * written by chance. */
static char *fill_piece(char *to, const attach_piece *piece)
{
    const gphi_part part = {piece->kind, piece->arg, piece->bytes};
    memcpy(to, &part, sizeof(part));
    to += sizeof(part);
    const size_t bytes = padded(piece->bytes);
    if (piece->have < bytes || piece->layout)
        memset(to, 0, bytes);
    if (piece->layout)
        fill_params(to, piece);
    else if (!piece->read)
        memcpy(to, piece->from, piece->have);
    else if (!piece->read(to, piece->from, piece->have))
        memset(to, 0, bytes);
    if (piece->kind == GPHI_PART_TEXT)
        to[piece->bytes - 1] = '\0';
    return to + bytes;
}

bool attach_write(attach_draft *draft)
{
    gphi_event_ring *ring = attach_ring();
    if (!ring)
        return false;
    size_t bytes = draft->word_count * sizeof(uint64_t);
    for (uint32_t i = 0; i < draft->piece_count; i++)
        bytes += sizeof(gphi_part) + padded(draft->pieces[i].bytes);
    gphi_event *event = gphi_event_ring_take(ring, bytes);
    if (!event)
        return false;
    if (draft->head.thread == 0)
        draft->head.thread = attach_thread();
    if (draft->head.time_ns == 0)
        draft->head.time_ns = gphi_clock_ns();
    draft->head.word_count = (uint16_t)draft->word_count;
    draft->head.part_count = (uint16_t)draft->piece_count;
    event->kind = draft->head.kind;
    const size_t from = offsetof(gphi_event, thread);
    memcpy((char *)event + from, (const char *)&draft->head + from,
           sizeof(*event) - from);
    char *at = (char *)(event + 1);
    if (draft->word_count > 0)
        memcpy(at, draft->words, draft->word_count * sizeof(uint64_t));
    at += draft->word_count * sizeof(uint64_t);
    for (uint32_t i = 0; i < draft->piece_count; i++)
        at = fill_piece(at, &draft->pieces[i]);
    gphi_event_ring_put(ring, event);
    return true;
}

void attach_add(attach_draft *draft, uint16_t kind, uint16_t arg, const void *from,
                size_t bytes)
{
    if (draft->piece_count < ATTACH_PIECES_MAX && from && bytes > 0)
        draft->pieces[draft->piece_count++] = (attach_piece){.kind = kind,
                                                             .arg = arg,
                                                             .bytes = (uint32_t)bytes,
                                                             .have = (uint32_t)bytes,
                                                             .from = from};
}

void attach_add_text(attach_draft *draft, const char *text)
{
    attach_add(draft, GPHI_PART_TEXT, 0, text, strlen(text) + 1);
}

/* The buffer of CU_LAUNCH_PARAM_BUFFER_POINTER. */
static const void *buffer_of(void **extra, size_t *bytes)
{
    const void *buffer = NULL;
    *bytes = 0;
    for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *bytes = *(const size_t *)extra[1];
    }
    return buffer;
}

void attach_add_params(attach_draft *draft, uint16_t arg, const attach_layout *layout,
                       void **params, void **extra)
{
    if (!params) {
        size_t bytes;
        const void *buffer = buffer_of(extra, &bytes);
        attach_add(draft, GPHI_PART_PARAMS, arg, buffer, bytes <= 1 << 16 ? bytes : 0);
    } else if (layout && layout->bytes > 0) {
        attach_add(draft, GPHI_PART_PARAMS, arg, params, layout->bytes);
        draft->pieces[draft->piece_count - 1].layout = layout;
    }
}

bool attach_tell(gphi_event_kind kind, uint64_t id, uint32_t stack, const uint64_t *words,
                 uint32_t count, const char *text)
{
    attach_draft draft;
    attach_draft_begin(&draft, kind, id);
    attach_draft_words(&draft, words, count);
    draft.head.stack = stack;
    if (text)
        attach_add_text(&draft, text);
    return attach_write(&draft);
}
