// SPDX-License-Identifier: Apache-2.0
/* device_differential: random programs of the device side, held against a model or against
 * what a GPU answered.
 *
 *   --model --seeds A..B       a driver against the model
 *   --record FILE --seeds A..B [--seconds N]   what a driver answers
 *   --compare FILE [--part K/N] a driver against a recording, and both against the model
 *   --program SEED [--without I,J,...] [--calls N]
 *                              one program, printed, and where a driver differs; less
 *                              these items with all that is in them, and its first N calls
 *   --pack FILE TO             a recording without what was lost
 *   --text N                   the N-th text of its kernels, from 0, for an assembler */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../record.h"
#include "result.h"

struct options {
    const char *record, *compare, *pack, *to, *without;
    uint32_t first, last, part, parts;
    double seconds;
    long program, text, calls;
    bool model;
};

static struct device_program program;
static struct result is, should;

static bool run_program(void)
{
    model_program(&program, &should);
    drive_program(&program, &is);
    return results_equal(program.seed, &is, &should);
}

static bool run_one(uint32_t seed)
{
    draw_program(&program, seed);
    return run_program();
}

/* An item that no list has is not built. */
static void leave_out(int item)
{
    for (int l = 0; l < program.lists; l++) {
        struct list *list = &program.list[l];
        int kept = 0;
        for (int i = 0; i < list->count; i++)
            if (list->items[i] != item)
                list->items[kept++] = list->items[i];
        list->count = kept;
    }
}

static void draw_part(const struct options *o)
{
    draw_program(&program, (uint32_t)o->program);
    for (const char *at = o->without; at && *at;) {
        char *end;
        leave_out((int)strtol(at, &end, 10));
        at = end + (*end == ',');
    }
    if (o->calls >= 0 && o->calls < program.calls)
        program.calls = (int)o->calls;
    print_program(&program);
}

static int against_model(uint32_t first, uint32_t last)
{
    int differ = 0, of[QUESTIONS] = {0};
    for (uint32_t seed = first; seed <= last; seed++) {
        const bool same = run_one(seed);
        of[question_of(seed)]++;
        differ += !same;
        if (is.code != 0) /* the context may be over */
            break;
    }
    for (int i = 0; i < QUESTIONS; i++)
        printf("%d programs %s\n", of[i], question_names[i]);
    model_print_ran();
    printf("%d differ from the model\n", differ);
    return differ ? 1 : 0;
}

/* ---- recordings -------------------------------------------------------------------- */

struct tally {
    int compared, differ, from_model, lost;
};

/* Whether the line is of a program that ran to its end. */
static bool is_whole(const char *line)
{
    char word[16] = "";
    return sscanf(line, "%*u %15s", word) == 1 && strcmp(word, "0") == 0;
}

static void compare_line(const char *line, struct tally *tally)
{
    char mine[LINE_BYTES];
    const uint32_t seed = (uint32_t)strtoul(line, NULL, 10);
    if (!is_whole(line)) {
        tally->lost++;
        return;
    }
    (void)run_one(seed);
    result_line(seed, &should, mine);
    tally->from_model += strcmp(line, mine) != 0;
    result_line(seed, &is, mine);
    tally->compared++;
    if (strcmp(line, mine) == 0)
        return;
    tally->differ++;
    printf("%u (%s) differs from the recording:\n  %s\n  %s\n", seed,
           question_names[question_of(seed)], line, mine);
}

/* Each line of a text, in place. */
static char *next_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');
    if (!end)
        return NULL;
    *end = 0;
    *at = end + 1;
    return line;
}

static int compare(const struct options *o)
{
    size_t bytes = 0;
    struct tally tally = {0};
    uint32_t number = 0;
    char *text = (char *)file_read(o->compare, &bytes), *at = text, *line;
    if (!text)
        return 1;
    text[bytes] = 0;
    while ((line = next_line(&at)))
        if (number++ % o->parts == o->part)
            compare_line(line, &tally);
    free(text);
    printf(
        "%d compared, %d differ; the recording differs from the model in %d; %d lost\n",
        tally.compared, tally.differ, tally.from_model, tally.lost);
    return tally.compared == 0 || tally.differ ? 1 : 0;
}

static int pack(const char *from, const char *to)
{
    size_t bytes = 0, used = 0;
    char *text = (char *)file_read(from, &bytes), *at = text, *line;
    char *kept = text ? malloc(bytes + 1) : NULL;
    if (kept) {
        text[bytes] = 0;
        while ((line = next_line(&at)))
            if (is_whole(line))
                used += (size_t)sprintf(kept + used, "%s\n", line);
    }
    const bool good = kept && file_pack(to, (unsigned char *)kept, used);
    free(kept);
    free(text);
    return good ? 0 : 1;
}

static int print_text(int at)
{
    const char *text = drive_text(at);
    if (text)
        fputs(text, stdout);
    return text ? 0 : 1;
}

/* ---- the command ------------------------------------------------------------------- */

static bool parse(int count, char **words, struct options *o)
{
    for (int i = 1; i < count; i++) {
        const char *word = words[i], *next = i + 1 < count ? words[i + 1] : NULL;
        if (strcmp(word, "--model") == 0)
            o->model = true;
        else if (!next)
            return false;
        else if (++i, strcmp(word, "--record") == 0)
            o->record = next;
        else if (strcmp(word, "--compare") == 0)
            o->compare = next;
        else if (strcmp(word, "--program") == 0)
            o->program = strtol(next, NULL, 10);
        else if (strcmp(word, "--without") == 0)
            o->without = next;
        else if (strcmp(word, "--calls") == 0)
            o->calls = strtol(next, NULL, 10);
        else if (strcmp(word, "--text") == 0)
            o->text = strtol(next, NULL, 10);
        else if (strcmp(word, "--seconds") == 0)
            o->seconds = strtod(next, NULL);
        else if (strcmp(word, "--pack") == 0 && i + 1 < count) {
            o->pack = next;
            o->to = words[++i];
        } else if (strcmp(word, "--part") == 0) {
            if (sscanf(next, "%u/%u", &o->part, &o->parts) != 2 || o->parts == 0)
                return false;
        } else if (strcmp(word, "--seeds") != 0 ||
                   sscanf(next, "%u..%u", &o->first, &o->last) != 2)
            return false;
    }
    return o->record || o->compare || o->pack || o->model || o->program >= 0 ||
           o->text >= 0;
}

int main(int count, char **words)
{
    struct options o = {.first = 1,
                        .last = 200,
                        .parts = 1,
                        .seconds = 1e9,
                        .program = -1,
                        .text = -1,
                        .calls = -1};
    const char *why = NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!parse(count, words, &o)) {
        fprintf(stderr, "usage: device_differential --model|--record FILE|--compare FILE "
                        "[--seeds A..B] | --program SEED [--without I,J] [--calls N] | "
                        "--pack FILE TO | --text N\n");
        return 2;
    }
    if (o.text >= 0)
        return print_text((int)o.text);
    if (o.pack)
        return pack(o.pack, o.to);
    if (o.record) /* the driver is opened in children alone */
        return record_programs(o.record, o.first, o.last, o.seconds);
    if (!drive_open(&why)) {
        printf("no driver: %s\n", why);
        return 77;
    }
    if (o.program >= 0)
        draw_part(&o); /* from its first line on, the time is the program's */
    if (o.program >= 0)
        return run_program() ? 0 : 1;
    return o.compare ? compare(&o) : against_model(o.first, o.last);
}
