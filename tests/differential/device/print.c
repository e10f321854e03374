// SPDX-License-Identifier: Apache-2.0
/* A program in words, and where two results differ. */
#include <stdio.h>

#include "result.h"

static const char *const kinds[] = {"mix",   "take",   "note",   "blocks", "copy",
                                    "fill",  "decide", "count",  "side",   "child",
                                    "if",    "while",  "switch", "fire",   "self",
                                    "param", "enable", "grid",   "apply"};
static const char *const streams[] = {"", "tail", "forget", "sibling"};
static const char *const calls[] = {"launch",     "launch twice", "upload", "edit",
                                    "switch off", "switch on",    "refill"};
const char *const question_names[QUESTIONS] = {"plain", "edited by both", "changed late",
                                               "changed in bodies",
                                               "launches beside bodies"};

static void print_word(int at)
{
    if (at >= GUARDS_AT)
        printf("guard %d", at - GUARDS_AT);
    else if (at >= COUNTERS_AT)
        printf("counter %d", at - COUNTERS_AT);
    else if (at % DOMAIN_WORDS >= CELLS)
        printf("log %d of domain %d", at % DOMAIN_WORDS - CELLS, at / DOMAIN_WORDS);
    else
        printf("cell %d of domain %d", at % DOMAIN_WORDS, at / DOMAIN_WORDS);
}

static void print_list(const struct device_program *p, int list, int depth);

static void print_item(const struct device_program *p, int at, int depth)
{
    const struct item *item = &p->item[at];
    printf("%*s%d %s", 2 * depth, "", at, kinds[item->kind]);
    if (item->kind >= PARAM && item->kind < APPLY)
        printf(" of item %d to cell %d", p->changed_item[item->target], item->src);
    else if (item->kind == FIRE || item->kind == SELF)
        printf(" graph %d as %s, word %d", item->target, streams[item->stream],
               item->dst);
    else if (item->kind < SIDE || item->kind > SWITCH)
        printf(" %d from %d, %u", item->dst, item->src, item->value);
    if (item->kind == DECIDE || item->kind == COUNT || item->kind >= IF)
        printf(" handle %d", item->handle);
    if (item->changed >= 0)
        printf(" (kernels change it)");
    putchar('\n');
    for (int i = 0; i < item->updates; i++)
        printf("%*s%s of item %d to %u\n", 2 * depth + 4, "", kinds[item->update[i].kind],
               p->changed_item[item->update[i].node], item->update[i].value);
    for (int i = 0; i < item->branches; i++) {
        printf("%*sbranch %d\n", 2 * depth + 2, "", i);
        print_list(p, item->branch[i], depth + 2);
    }
}

static void print_list(const struct device_program *p, int list, int depth)
{
    for (int i = 0; i < p->list[list].count; i++)
        print_item(p, p->list[list].items[i], depth);
}

void print_program(const struct device_program *p)
{
    printf("program %u, %s\n", p->seed, question_names[p->question]);
    for (int g = 0; g < p->graphs; g++) {
        printf("graph %d of %s, domain %d\n", g,
               p->graph[g].is_device ? "the device" : "the host", p->graph[g].domain);
        print_list(p, p->graph[g].list, 1);
    }
    for (int i = 0; i < p->handles; i++)
        printf("handle %d: %u%s\n", i, p->handle[i].initial,
               p->handle[i].assigned ? " at each launch" : "");
    for (int i = 0; i < p->calls; i++)
        printf("call %d: %s graph %d, item %d, %u\n", i, calls[p->call[i].call],
               p->call[i].graph, p->call[i].item, p->call[i].value);
}

/* The first words that differ; true if none does. */
bool results_equal(uint32_t seed, const struct result *is, const struct result *should)
{
    enum { SHOWN = 6 };
    int shown = 0;
    if (is->code != 0)
        printf("%u: %s gave %u after %d calls\n", seed, is->failed, is->code, is->calls);
    for (int call = 0; call < is->calls && shown == 0; call++)
        for (int at = 0; at < WORDS && shown < SHOWN; at++) {
            if (is->words[call][at] == should->words[call][at])
                continue;
            printf("%u (%s), call %d: ", seed, question_names[question_of(seed)], call);
            print_word(at);
            printf(" is %u, the model has %u\n", is->words[call][at],
                   should->words[call][at]);
            shown++;
        }
    return shown == 0 && is->code == 0 && is->calls == should->calls;
}

void result_line(uint32_t seed, const struct result *result, char line[LINE_BYTES])
{
    int used = snprintf(line, LINE_BYTES, "%u %u", seed, result->code);
    for (int i = 0; i < result->calls; i++)
        used += snprintf(line + used, LINE_BYTES - (size_t)used, " %08x",
                         memory_hash(result->words[i], sizeof(result->words[i])));
}
