// SPDX-License-Identifier: Apache-2.0
/* What of a node no update changes, as words: what signatures hash and updates compare.
 */
#ifndef GPHI_GRAPH_CLASS_H
#define GPHI_GRAPH_CLASS_H
#include <gph/graph.h>
#include <stdbool.h>

enum { GPHI_CLASS_WORDS = 32 };

/* Fills `words`; returns how many. A child graph is not entered. */
size_t gphi_class_words(const gph_node *node, uint32_t flags,
                        uint64_t words[GPHI_CLASS_WORDS]);

/* Of one class, child graphs not entered. */
bool gphi_class_same(const gph_node *a, const gph_node *b, uint32_t flags);

/* A copy of one row, whose every parameter an update may change. */
static inline bool gphi_is_flat(const gph_memcpy_params *copy)
{
    return copy->height <= 1 && copy->depth <= 1;
}
#endif
