// SPDX-License-Identifier: Apache-2.0
/* Steps and answers: names, arguments, printing; and which bytes a work touches. */
#include <stdio.h>
#include <string.h>

#include "differential.h"

const char *const op_names[OP_COUNT] = {
#define OP(name, words) #name,
    OPS(OP)
#undef OP
};

static const char *const op_words[OP_COUNT] = {
#define OP(name, words) words,
    OPS(OP)
#undef OP
};

static const char *const kind_names[WORK_KINDS] = {
    "kernel", "memcpy", "memset", "host",  "child", "empty", "wait",
    "record", "?",      "?",      "alloc", "free",  "batch"};

enum { WORK_WORDS = 2 + WORK_PARAMS };

static int word_count(int op)
{
    int count = 0;
    for (const char *c = op_words[op]; *c; c++)
        count += c == op_words[op] || c[-1] == ' ';
    return count;
}

int op_work_at(int op)
{
    const char *words = op_words[op];
    const size_t length = strlen(words);
    if (length == 0 || words[length - 1] != 'w' || words[length - 2] != ' ')
        return -1;
    return word_count(op) - 1;
}

int op_arguments(int op)
{
    const int at = op_work_at(op);
    return at < 0 ? word_count(op) : at + WORK_WORDS;
}

struct work step_work(const struct step *step)
{
    const int at = op_work_at(step->op);
    struct work work = {.kind = step->a[at], .bad = step->a[at + 1]};
    memcpy(work.p, &step->a[at + 2], sizeof(work.p));
    return work;
}

void step_set_work(struct step *step, const struct work *work)
{
    const int at = op_work_at(step->op);
    step->a[at] = work->kind;
    step->a[at + 1] = work->bad;
    memcpy(&step->a[at + 2], work->p, sizeof(work->p));
}

static void print_work(const struct work *work)
{
    static const int counts[WORK_KINDS] = {6, 6, 6, 3, 2, 0, 1, 1, 0, 0, 2, 1, 3};
    const int kind = work->kind;
    printf(" %s(", kind >= 0 && kind < WORK_KINDS ? kind_names[kind] : "?");
    const int count = kind >= 0 && kind < WORK_KINDS ? counts[kind] : WORK_PARAMS;
    for (int i = 0; i < count; i++) {
        const int32_t p = work->p[i];
        const bool address =
            (kind == WORK_KERNEL && i >= 1 && i <= 3) || (kind == WORK_MEMCPY && i < 2) ||
            (kind == WORK_MEMSET && i == 0) || (kind == WORK_HOST && i == 1) ||
            kind == WORK_FREE || (kind == WORK_BATCH && i == 0);
        if (address)
            printf("%sb%d+%d", i ? ", " : "", BUFFER_OF(p), OFFSET_OF(p));
        else
            printf("%s%d", i ? ", " : "", p);
    }
    printf(")%s", work->bad ? " BAD" : "");
    if (work->bad)
        printf("%d", work->bad);
}

void step_print(const struct step *step)
{
    printf("%s", op_names[step->op]);
    const char *word = op_words[step->op];
    const int work_at = op_work_at(step->op);
    const int count = word_count(step->op);
    for (int i = 0; i < count; i++) {
        const int length = (int)strcspn(word, " ");
        if (i != work_at)
            printf(" %.*s=%d", length, word, step->a[i]);
        word += length + 1;
    }
    if (work_at >= 0) {
        const struct work work = step_work(step);
        print_work(&work);
    }
}

void answer_print(const struct answer *answer)
{
    if (answer->code == SKIPPED) {
        printf("skipped");
        return;
    }
    printf("%d", answer->code);
    for (int i = 0; i < answer->count; i++)
        printf("%s%d", i ? " " : " [", answer->v[i]);
    if (answer->count > 0)
        printf("]");
}

bool answers_equal(const struct answer *a, const struct answer *b)
{
    return a->code == b->code && a->count == b->count &&
           memcmp(a->v, b->v, (size_t)a->count * sizeof(a->v[0])) == 0;
}

void answer_push(struct answer *answer, int32_t value)
{
    if (answer->count < ANSWER_VALUES)
        answer->v[answer->count++] = value;
}

/* ---- bytes ---- */

static void kernel_spans(const struct work *work, span_visit *visit, void *user)
{
    const bool reads_dst = work->p[0] == KERNEL_MIX || work->p[0] == KERNEL_ATOMIC;
    if (work->p[0] != KERNEL_STORE && work->p[0] != KERNEL_ATOMIC)
        visit(user, work->p[2], CELL_BYTES, false);
    if (work->p[0] == KERNEL_ADD || work->p[0] == KERNEL_FLOAT)
        visit(user, work->p[3], CELL_BYTES, false);
    if (reads_dst)
        visit(user, work->p[1], CELL_BYTES, false);
    visit(user, work->p[1], CELL_BYTES, true);
}

void work_spans(const struct work *work, span_visit *visit, void *user)
{
    const int32_t *p = work->p;
    switch (work->kind) {
    case WORK_KERNEL: kernel_spans(work, visit, user); return;
    case WORK_MEMCPY:
        for (int row = 0; row < p[3]; row++) {
            visit(user, p[1] + row * ROW_PITCH, p[2], false);
            visit(user, p[0] + row * ROW_PITCH, p[2], true);
        }
        return;
    case WORK_MEMSET:
        for (int row = 0; row < p[4]; row++)
            visit(user, p[0] + row * ROW_PITCH, p[2] * p[3], true);
        return;
    case WORK_HOST:
        visit(user, p[1], CELL_BYTES, false);
        visit(user, p[1], CELL_BYTES, true);
        return;
    case WORK_ALLOC: /* what comes after may not be before, so it counts as a write */
        visit(user, ADDRESS(BUFFER_ALLOC + p[0], 0), BUFFER_BYTES, true);
        return;
    case WORK_FREE:
        if (BUFFER_OF(p[0]) >= BUFFER_ALLOC)
            visit(user, p[0], BUFFER_BYTES, true);
        return;
    case WORK_BATCH:
        visit(user, p[0], 8, false);
        visit(user, p[0], 8, true);
        return;
    default: return;
    }
}

/* FNV-1a */
uint32_t memory_hash(const void *bytes, size_t count)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 16777619u;
    return hash;
}
