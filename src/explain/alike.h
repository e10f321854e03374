// SPDX-License-Identifier: Apache-2.0
/* Words that are asked for the same thing in a wider sense than the synonyms of terms.c:
 * "stuck" and "timeout", "buffer" and "tensor". A term has the numbers of the groups that
 * it is in; entries and questions that share a group but no word are a little alike. */
#ifndef GPHI_EXPLAIN_ALIKE_H
#define GPHI_EXPLAIN_ALIKE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GPHI_ALIKE_MAX = 4 /* groups of one word */ };

/* The groups of a stem, or of a pair of Chinese characters, by its hash. Gives how many
 * there are. Thread: any, after gphi_alike_make(). */
size_t gphi_alike(uint64_t hash, uint8_t groups[GPHI_ALIKE_MAX]);

/* Makes the table of groups; `stem_hash` hashes a word as terms are. Once a process. */
void gphi_alike_make(uint64_t (*stem_hash)(const char *word, size_t bytes));
#endif
