// SPDX-License-Identifier: Apache-2.0
/* Names that exist, whether or not an entry is about them. */
#ifndef GPHI_EXPLAIN_NAMES_H
#define GPHI_EXPLAIN_NAMES_H
#include <stdbool.h>
#include <stddef.h>

extern const char *const gphi_names[];
extern const size_t gphi_names_count;

enum { GPHI_NAME_MAX_BYTES = 64, GPHI_NAME_FAR = 1000 };

/* Letters that were changed, left out, added or exchanged with their neighbor; case
 * counts for nothing. GPHI_NAME_FAR where they are more than `most`, or a name is too
 * long. */
int gphi_name_distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes,
                       int most);

/* How many of its bytes are left without what names of versions end in: _v2, _ptsz. */
size_t gphi_name_plain(const char *word, size_t bytes);

/* Whether a word looks like a name of graphs, captures or errors: if it is none,
 * gph_explain_missing() says so. */
bool gphi_name_has_shape(const char *word, size_t bytes);

/* The name of the list, whatever version the word has after it (_v2); NULL: it is none.
 */
const char *gphi_name_known(const char *word, size_t bytes);
#endif
