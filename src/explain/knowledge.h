// SPDX-License-Identifier: Apache-2.0
/* The knowledge base as data: knowledge.json, made into C when it is built. */
#ifndef GPHI_EXPLAIN_KNOWLEDGE_H
#define GPHI_EXPLAIN_KNOWLEDGE_H
#include <gph/explain.h>

extern const gph_explain_entry gphi_knowledge[];
extern const size_t gphi_knowledge_count;
#endif
