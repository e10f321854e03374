// SPDX-License-Identifier: Apache-2.0
/* What of a recording is kept: programs that have one result. Left out are those that
 * ended the driver or its context, and those of which the model of today knows that they
 * race, though that of the recording did not. */
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

int pack_file(const char *from, const char *to)
{
    static struct transcript t;
    size_t bytes = 0, used = 0;
    int kept = 0, crashed = 0, racy = 0;
    unsigned char *all = file_read(from, &bytes);
    unsigned char *out = all ? malloc(bytes + RECORD_BYTES_MAX) : NULL;
    const unsigned char *at = all;
    while (out && file_next(&at, all + bytes, &t)) {
        const bool dead = t.crashed >= 0 || t.finish.code != 0;
        const bool good = !dead && has_one_result(&t);
        crashed += dead;
        racy += !dead && !good;
        kept += good;
        if (good)
            used += transcript_frame(&t, out + used);
    }
    const bool whole = out && at == all + bytes;
    if (whole)
        printf("%d programs kept, %d crashed, %d race\n", kept, crashed, racy);
    const bool good = whole && kept > 0 && file_pack(to, out, used);
    free(out);
    free(all);
    return good ? 0 : 1;
}
