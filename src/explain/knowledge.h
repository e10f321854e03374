// SPDX-License-Identifier: Apache-2.0
/* The knowledge base as data: knowledge.json and asked.txt, made into C when it is built. */
#ifndef GPHI_EXPLAIN_KNOWLEDGE_H
#define GPHI_EXPLAIN_KNOWLEDGE_H
#include <gph/explain.h>

/* What people ask when an entry is what they need, a line each. */
typedef struct gphi_asked {
    const char *slug;  /* NULL: the list ends */
    const char *lines; /* each ends with a line feed */
} gphi_asked;

extern const gphi_asked gphi_asked_list[]; /* as asked.txt has them */
extern const gph_explain_entry gphi_knowledge[];
extern const size_t gphi_knowledge_count;
#endif
