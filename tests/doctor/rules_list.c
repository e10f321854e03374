// SPDX-License-Identifier: Apache-2.0
/* Prints every rule, "id severity" a line, in the order of the tables; fails if one has
 * no words in the knowledge base, or two have one id. */
#include "doctor/rules.h"

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

static int count_of(const char *id)
{
    int count = 0;
    for (size_t t = 0; t < TABLES; t++)
        for (size_t i = 0; i < *tables[t].count; i++)
            count += strcmp(tables[t].rules[i].id, id) == 0;
    return count;
}

int main(void)
{
    static const char *const words[] = {"info", "warning", "error"};
    int bad = 0;
    for (size_t t = 0; t < TABLES; t++)
        for (size_t i = 0; i < *tables[t].count; i++) {
            const gphi_rule *rule = &tables[t].rules[i];
            printf("%s %s\n", rule->id, words[rule->severity]);
            if (gph_explain_get(rule->id) == NULL)
                bad = fprintf(stderr, "%s is not explained\n", rule->id);
            if (count_of(rule->id) != 1)
                bad = fprintf(stderr, "%s stands there %d times\n", rule->id,
                              count_of(rule->id));
        }
    return bad != 0;
}
