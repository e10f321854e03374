// SPDX-License-Identifier: Apache-2.0
/* Text for a terminal that may obey what it is sent. Names of kernels, files, threads and
 * regions are the program's: an escape in one would clear the screen, move the cursor or set
 * the title. Controls other than newline and tab become '?'; of our own sequences those that
 * set a color pass, where there are colors at all. */
#ifndef GPHI_BASE_PLAIN_H
#define GPHI_BASE_PLAIN_H
#include <gph/base.h>
#include <stdbool.h>

typedef struct gphi_plain {
    gph_write_fn *write; /* gets what is left */
    void *user;
    bool has_colours;
    unsigned char held[8]; /* the beginning of a sequence, or of a character */
    size_t held_bytes;
} gphi_plain;

/* A gph_write_fn whose user is a gphi_plain. Pieces may end anywhere; the last one with a
 * newline, or what is held is dropped. */
gph_status gphi_plain_write(void *plain, const void *data, size_t bytes);
#endif
