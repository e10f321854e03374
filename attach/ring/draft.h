// SPDX-License-Identifier: Apache-2.0
/* A record before it is written: its head, words, and where its parts come from. Sizes
 * are known first, so that it is filled in place, in one piece of the ring. */
#ifndef ATTACH_DRAFT_H
#define ATTACH_DRAFT_H
#include "event/event.h"
#include <stdbool.h>
#include <string.h>

/* Of a kernel's arguments. */
typedef struct attach_layout {
    uint32_t generation;
    uint32_t count;
    uint32_t bytes;    /* of the argument buffer */
    uint32_t places[]; /* offset and size, in turn */
} attach_layout;

typedef struct attach_piece {
    uint16_t kind, arg; /* of the part */
    uint32_t bytes;     /* of the part */
    uint32_t have;      /* bytes at `from`, the rest is 0 */
    /* Reads what may not be there; NULL: the driver has read it, too. */
    bool (*read)(void *to, const void *from, size_t bytes);
    const void *from;            /* or, with a layout, */
    const attach_layout *layout; /* the kernelParams of a launch */
} attach_piece;

enum { ATTACH_PIECES_MAX = 12 };

typedef struct attach_draft {
    gphi_event head; /* kind, id, stack, u; thread 0: this one; time 0: now */
    const uint64_t *words;
    uint32_t word_count, piece_count;
    attach_piece pieces[ATTACH_PIECES_MAX]; /* the first `piece_count` */
} attach_draft;

/* Empty, but for what is given. Pieces that are not there cost nothing. */
static inline void attach_draft_begin(attach_draft *draft, gphi_event_kind kind,
                                      uint64_t id)
{
    memset(draft, 0, offsetof(attach_draft, pieces));
    draft->head.kind = (uint16_t)kind;
    draft->head.id = id;
}

static inline void attach_draft_words(attach_draft *draft, const uint64_t *words,
                                      uint32_t count)
{
    draft->words = words;
    draft->word_count = count;
}

/* A part, as it is there until the draft is written. Nothing of NULL, or of 0 bytes.
 */
void attach_add(attach_draft *draft, uint16_t kind, uint16_t arg, const void *from,
                size_t bytes);
void attach_add_text(attach_draft *draft, const char *text);

/* What a launch passes: `params` as the layout says, or the buffer in `extra`. */
void attach_add_params(attach_draft *draft, uint16_t arg, const attach_layout *layout,
                       void **params, void **extra);

/* False: there is no ring, or it did not fit. */
bool attach_write(attach_draft *draft);

/* A record of words and of a text, which may be NULL, at once. */
bool attach_tell(gphi_event_kind kind, uint64_t id, uint32_t stack, const uint64_t *words,
                 uint32_t count, const char *text);
#endif
