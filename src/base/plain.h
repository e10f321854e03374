// SPDX-License-Identifier: Apache-2.0
/* Text for a terminal that may obey what it is sent. Names of kernels, files, threads and
 * regions are the program's: an escape in one would clear the screen, move the cursor or set
 * the title. Controls other than newline and tab become '?'; of our own sequences those that
 * set a color pass, where there are colors at all. */
#ifndef GPHI_BASE_PLAIN_H
#define GPHI_BASE_PLAIN_H
#include "base/text.h"
#include <stdbool.h>

typedef struct gphi_plain {
    gph_write_fn *write; /* gets what is left */
    void *user;
    bool has_colours;
    unsigned char held[8]; /* the beginning of a sequence, or of a character */
    size_t held_bytes;
} gphi_plain;

/* A gph_write_fn whose user is a gphi_plain. Pieces may end anywhere; the last one with a
 * newline, or what is kept is dropped. */
gph_status gphi_plain_write(void *plain, const void *data, size_t bytes);

/* Names of a program, of one line: newlines and tabs are controls, too, since one would begin
 * a line of ours with theirs; so are the separators and the turns of direction of Unicode.
 * This is the one place that says what a name may not hold; zero bytes may be in it. */
size_t gphi_control_bytes(const char *at,
                          size_t left); /* of one at `at`; 0: there is none */
bool gphi_is_plain(const char *text, size_t bytes);

/* The name, a '?' for each of them. */
void gphi_text_put_name(gphi_text *text, const char *name);

/* Puts a '?' for each byte of what may not be in a name. The length stays. */
void gphi_make_plain(char *text, size_t bytes);
#endif
