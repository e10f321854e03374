// SPDX-License-Identifier: Apache-2.0
/* Prints every rule, "id severity" a line, in the order of the tables; fails if one has
 * no words in the knowledge base, or two have one id. */
#include "doctor/rules/rules.h"

#include <gph/explain.h>
#include <stdio.h>
#include <string.h>

static const gphi_rule *const tables[] = {
#define X(class) gphi_rules_##class,
    GPHI_RULE_TABLES(X)
#undef X
};

enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

/* How often it is in a table, before row `end` of it (NULL: in all of it). */
static int count_of(const gphi_rule *table, const gphi_rule *end, const char *id)
{
    int count = 0;
    for (const gphi_rule *at = table; at != end && at->id != NULL; at++)
        count += strcmp(at->id, id) == 0;
    return count;
}

static int is_known(size_t table, const char *id)
{
    for (size_t t = 0; t < table; t++)
        if (count_of(tables[t], NULL, id) > 0)
            return 1;
    return 0;
}

int main(void)
{
    static const char *const words[] = {"info", "warning", "error"};
    int bad = 0;
    for (size_t t = 0; t < TABLES; t++)
        for (const gphi_rule *rule = tables[t]; rule->id != NULL; rule++) {
            if (!is_known(t, rule->id))
                printf("%s %s\n", rule->id, words[rule->severity]);
            if (gph_explain_get(rule->id) == NULL)
                bad = fprintf(stderr, "%s is not explained\n", rule->id);
            if (count_of(tables[t], rule, rule->id) > 0)
                bad = fprintf(stderr, "%s is there twice\n", rule->id);
        }
    return bad != 0;
}
