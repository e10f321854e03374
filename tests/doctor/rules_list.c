// SPDX-License-Identifier: Apache-2.0
/* Prints every rule, "id severity" a line, in the order of the tables; fails if one has
 * no words in the knowledge base, or two have one id. */
#include "doctor/rules/rules.h"

#include <gph/explain.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const gphi_rule *rules;
    const size_t *count;
} tables[] = {
#define X(class) {gphi_rules_##class, &gphi_rules_##class##_count},
    GPHI_RULE_TABLES(X)
#undef X
};

enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

/* How often it stands in a table, before row `end` of it. */
static int count_of(size_t table, size_t end, const char *id)
{
    int count = 0;
    for (size_t i = 0; i < end; i++)
        count += strcmp(tables[table].rules[i].id, id) == 0;
    return count;
}

static int is_known(size_t table, const char *id)
{
    for (size_t t = 0; t < table; t++)
        if (count_of(t, *tables[t].count, id) > 0)
            return 1;
    return 0;
}

int main(void)
{
    static const char *const words[] = {"info", "warning", "error"};
    int bad = 0;
    for (size_t t = 0; t < TABLES; t++)
        for (size_t i = 0; i < *tables[t].count; i++) {
            const gphi_rule *rule = &tables[t].rules[i];
            if (!is_known(t, rule->id))
                printf("%s %s\n", rule->id, words[rule->severity]);
            if (gph_explain_get(rule->id) == NULL)
                bad = fprintf(stderr, "%s is not explained\n", rule->id);
            if (count_of(t, i, rule->id) > 0)
                bad = fprintf(stderr, "%s stands there twice\n", rule->id);
        }
    return bad != 0;
}
