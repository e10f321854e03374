// SPDX-License-Identifier: Apache-2.0
/* What of a recording is kept: programs that have one result. Left out are those that
 * ended the driver or its context, those of which the model of today knows that they
 * race, though that of the recording did not, and those with a call that is on the list
 * of calls never to be sent by now. How much graph memory is reserved is no answer that
 * is kept: see docs/design/graphs.md. */
#include <stdio.h>
#include <stdlib.h>

#include "model.h"
#include "record.h"

static bool has_one_result(const struct transcript *t)
{
    struct model *model = model_create();
    struct answer predicted;
    bool good = true;
    for (int i = 0; i < t->program.count && good && !model->lost; i++) {
        good = t->answers[i].code != 0 || !model_races(model, &t->program.steps[i]);
        model_step(model, &t->program.steps[i], &t->answers[i], &predicted);
    }
    model_destroy(model);
    return good;
}

/* A copy with a memory type that does not exist, of graph memory: --never. */
static bool is_sent(const struct step *step)
{
    if (op_work_at(step->op) < 0)
        return true;
    const struct work work = step_work(step);
    return work.kind != WORK_MEMCPY || work.bad != BAD_SHAPE ||
           (BUFFER_OF(work.p[0]) < BUFFER_ALLOC && BUFFER_OF(work.p[1]) < BUFFER_ALLOC);
}

static bool is_all_sent(const struct transcript *t)
{
    for (int i = 0; i < t->program.count; i++)
        if (!is_sent(&t->program.steps[i]))
            return false;
    return true;
}

/* Where softcuda is not yet as the H100 was: docs/design/graphs.md says how. */
static bool is_open(const struct transcript *t)
{
    static const uint32_t seeds[] = {101306};
    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
        if (t->program.seed == seeds[i])
            return true;
    return false;
}

static void drop_attributes(struct transcript *t)
{
    int kept = 0;
    for (int i = 0; i < t->program.count; i++) {
        if (t->program.steps[i].op == OP_MEM_ATTRIBUTE && t->answers[i].code == 0)
            continue;
        t->program.steps[kept] = t->program.steps[i];
        t->answers[kept++] = t->answers[i];
    }
    t->program.count = kept;
}

int pack_file(const char *from, const char *to)
{
    static struct transcript t;
    size_t bytes = 0, used = 0;
    int kept = 0, crashed = 0, racy = 0, unsent = 0;
    unsigned char *all = file_read(from, &bytes);
    unsigned char *out = all ? malloc(bytes + RECORD_BYTES_MAX) : NULL;
    const unsigned char *at = all;
    while (out && file_next(&at, all + bytes, &t)) {
        if (is_open(&t)) {
            printf("seed %u is left out: an open difference\n", t.program.seed);
            continue;
        }
        const bool dead = t.crashed >= 0 || t.finish.code != 0;
        const bool sent = is_all_sent(&t);
        const bool good = !dead && sent && has_one_result(&t);
        crashed += dead;
        unsent += !dead && !sent;
        racy += !dead && sent && !good;
        drop_attributes(&t);
        kept += good;
        if (good)
            used += transcript_frame(&t, out + used);
    }
    const bool whole = out && at == all + bytes;
    if (whole)
        printf("%d programs kept, %d crashed, %d race, %d with a call never sent\n", kept,
               crashed, racy, unsent);
    const bool good = whole && kept > 0 && file_pack(to, out, used);
    free(out);
    free(all);
    return good ? 0 : 1;
}
