// SPDX-License-Identifier: Apache-2.0
/* differential: random graph programs, held against a model or against a recorded GPU.
 *
 *   --model --seeds A..B        a driver against the reference model
 *   --record FILE --seeds A..B  what a driver answers (GPH_DRIVER=cuda: NVIDIA's)
 *   --compare FILE [--seeds A..B] [--part K/N]  a driver against a recording
 *   --model --compare FILE      the model against a recording
 *   --program SEED [--verbose]  one program, printed as it runs
 *   --program SEED --compare FILE  a recorded one, as it went
 *   --shrink SEED [--compare FILE]  the shortest program that still differs
 *   --pack FILE TO, --coverage (with one of the above), --never */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "generate.h"

struct options {
    const char *record, *compare, *pack, *to;
    uint32_t first, last, part, parts;
    double seconds;
    long program, shrink;
    bool model, coverage, verbose, never;
};

static int usage(void)
{
    fprintf(
        stderr,
        "usage: differential --model|--record FILE|--compare FILE [--seeds A..B]\n"
        "       differential --program SEED [--verbose] | --shrink SEED [--compare "
        "FILE]\n"
        "       differential --pack FILE TO | --never     [--coverage] [--seconds N]\n");
    return 2;
}

static bool parse(int count, char **words, struct options *o)
{
    for (int i = 1; i < count; i++) {
        const char *word = words[i], *next = i + 1 < count ? words[i + 1] : NULL;
        if (strcmp(word, "--model") == 0)
            o->model = true;
        else if (strcmp(word, "--coverage") == 0)
            o->coverage = true;
        else if (strcmp(word, "--verbose") == 0)
            o->verbose = true;
        else if (strcmp(word, "--never") == 0)
            o->never = true;
        else if (next == NULL)
            return false;
        else if (++i, strcmp(word, "--record") == 0)
            o->record = next;
        else if (strcmp(word, "--compare") == 0)
            o->compare = next;
        else if (strcmp(word, "--part") == 0) {
            if (sscanf(next, "%u/%u", &o->part, &o->parts) != 2 || o->parts == 0)
                return false;
        } else if (strcmp(word, "--program") == 0)
            o->program = strtol(next, NULL, 10);
        else if (strcmp(word, "--shrink") == 0)
            o->shrink = strtol(next, NULL, 10);
        else if (strcmp(word, "--seconds") == 0)
            o->seconds = strtod(next, NULL);
        else if (strcmp(word, "--pack") == 0 && i + 1 < count) {
            o->pack = next;
            o->to = words[++i];
        } else if (strcmp(word, "--seeds") != 0 ||
                   sscanf(next, "%u..%u", &o->first, &o->last) != 2)
            return false;
    }
    return true;
}

static int without_driver(const struct options *o)
{
    if (o->never) {
        never_print();
        return 0;
    }
    return pack_file(o->pack, o->to);
}

int main(int count, char **words)
{
    struct options o = {
        .last = UINT32_MAX, .parts = 1, .program = -1, .shrink = -1, .seconds = 1e9};
    const char *why = NULL;
    int result;
    if (!parse(count, words, &o))
        return usage();
    if (o.never || o.pack)
        return without_driver(&o);
    if (o.last == UINT32_MAX && !o.compare)
        o.last = 199;
    if (o.record) /* the driver is opened in children alone */
        return record_seeds(o.record, o.first, o.last, o.seconds);
    if (!o.model && !o.compare && o.program < 0 && o.shrink < 0)
        return usage();
    if (o.program >= 0 && o.compare)
        return show_transcript(o.compare, (uint32_t)o.program);
    if (o.model && o.compare) {
        result = judge_model(o.compare);
        if (o.coverage)
            coverage_print();
        return result;
    }
    if (o.shrink >= 0)
        return shrink_program(o.compare, (uint32_t)o.shrink);
    if (!run_open(&why)) {
        printf("no driver: %s\n", why);
        return 77;
    }
    if (o.program >= 0)
        result = show_program((uint32_t)o.program, o.verbose);
    else if (o.compare)
        result = compare_file(
            o.compare, &(struct choice){o.first, o.last, o.part, o.parts}, o.verbose);
    else
        result = model_seeds(o.first, o.last);
    if (o.coverage)
        coverage_print();
    return result;
}
