// SPDX-License-Identifier: Apache-2.0
/* What of a recording is kept: programs that have one result. Left out are those that
 * ended the driver or its context, those of which the model of today knows that they
 * race, though that of the recording did not, and those with a call that is on the list
 * of calls never to be sent by now. None is left out by hand. Single answers about graph
 * memory go where an H100 has lost some of it. */
#include <stdio.h>
#include <stdlib.h>

#include "model.h"
#include "record.h"

/* Whether it has one result. Answers about memory that an H100 has lost go (see
 * memory_wanted()); *dropped counts them. */
static bool has_one_result(struct transcript *t, int *dropped)
{
    struct model *model = model_create();
    struct answer predicted;
    bool good = true;
    int kept = 0;
    for (int i = 0; i < t->program.count; i++) {
        const struct step step = t->program.steps[i];
        const struct answer answer = t->answers[i];
        if (good && !model->lost) {
            good = answer.code != 0 || !model_races(model, &step);
            model_step(model, &step, &answer, &predicted);
        }
        if (step.op == OP_MEM_ATTRIBUTE && answer.code == 0 && model->leaked)
            continue;
        t->program.steps[kept] = step;
        t->answers[kept++] = answer;
    }
    *dropped = t->program.count - kept;
    t->program.count = kept;
    model_destroy(model);
    return good;
}

static int count_attributes(const struct transcript *t)
{
    int count = 0;
    for (int i = 0; i < t->program.count; i++)
        count += t->program.steps[i].op == OP_MEM_ATTRIBUTE && t->answers[i].code == 0;
    return count;
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

struct counts {
    int kept, crashed, racy, unsent, attributes, dropped, dropping;
};

/* Counts a program; whether it is kept. */
static bool sort_out(struct transcript *t, struct counts *counts)
{
    int dropped = 0;
    if (t->crashed >= 0 || t->finish.code != 0) {
        counts->crashed++;
        return false;
    }
    if (!is_all_sent(t)) {
        counts->unsent++;
        return false;
    }
    if (!has_one_result(t, &dropped)) {
        counts->racy++;
        return false;
    }
    counts->kept++;
    counts->dropped += dropped;
    counts->dropping += dropped > 0;
    counts->attributes += count_attributes(t);
    return true;
}

int pack_file(const char *from, const char *to)
{
    static struct transcript t;
    struct counts counts = {0};
    size_t bytes = 0, used = 0;
    unsigned char *all = file_read(from, &bytes);
    unsigned char *out = all ? malloc(bytes + RECORD_BYTES_MAX) : NULL;
    const unsigned char *at = all;
    while (out && file_next(&at, all + bytes, &t))
        if (sort_out(&t, &counts))
            used += transcript_frame(&t, out + used);
    const bool whole = out && at == all + bytes;
    if (whole)
        printf("%d programs kept, %d crashed, %d race, %d with a call never sent\n"
               "%d answers about graph memory kept, %d dropped from %d programs\n",
               counts.kept, counts.crashed, counts.racy, counts.unsent, counts.attributes,
               counts.dropped, counts.dropping);
    const bool good = whole && counts.kept > 0 && file_pack(to, out, used);
    free(out);
    free(all);
    return good ? 0 : 1;
}
