// SPDX-License-Identifier: Apache-2.0
/* The switches of rules, in builds that have them. */
#include "softcuda/rules/rules.h"

#ifdef SOFTCUDA_RULE_SWITCHES
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define RULE(id, class, source, text) #id,
#include "softcuda/rules/all.def"
#undef RULE
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool off[SOFT_RULE_COUNT];

static bool lists(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; *at != '\0'; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && memcmp(at, name, length) == 0)
            return true;
    return false;
}

static void read_switches(void)
{
    const char *list = getenv("RULES_OFF");
    for (unsigned i = 0; list && i < SOFT_RULE_COUNT; i++)
        off[i] = lists(list, names[i]);
}

bool soft_rule_is_on(enum soft_rule_id id)
{
    pthread_once(&once, read_switches);
    return !off[id];
}
#endif
