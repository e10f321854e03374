// SPDX-License-Identifier: Apache-2.0
/* The entries by index and by slug. */
#include "explain/knowledge.h"

#include <string.h>

size_t gph_explain_count(void)
{
    return gphi_knowledge_count;
}

const gph_explain_entry *gph_explain_at(size_t index)
{
    return index < gphi_knowledge_count ? &gphi_knowledge[index] : NULL;
}

const gph_explain_entry *gph_explain_get(const char *slug)
{
    for (size_t i = 0; slug && i < gphi_knowledge_count; i++)
        if (strcmp(gphi_knowledge[i].slug, slug) == 0)
            return &gphi_knowledge[i];
    return NULL;
}
