// SPDX-License-Identifier: Apache-2.0
/* Short questions as they were meant. */
#ifndef GPHI_EXPLAIN_MEANT_H
#define GPHI_EXPLAIN_MEANT_H
#include "explain/scan.h"

enum { GPHI_MEANT_MAX = 400 }; /* bytes of a text that is looked at */

/* Adds the entry that has the very question in asked.txt. */
void gphi_meant_question(const char *text, size_t bytes, gphi_hits *hits);

/* The text with names of CUDA's written as they are; 0: it has no other. */
size_t gphi_meant_names(const char *text, size_t bytes, char out[GPHI_MEANT_MAX]);
#endif
