// SPDX-License-Identifier: Apache-2.0
/* Ways to bodies in tables. Bodies are few, so each step is looked for among all. */
#include "plan/bodies_csv.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"

#define BODIES_MAX 4096u /* as many as are planned */
#define DEPTH_MAX 64u

/* Of a choice or loop, in `text`, and its case; of a loop none. */
typedef struct body_name {
    size_t at, bytes;
    uint64_t number;
} body_name;

void gphi_body_names_init(gphi_body_names *names, gph_allocator heap)
{
    gphi_vec_init(&names->items, heap, sizeof(gph_plan_body));
    gphi_vec_init(&names->names, heap, sizeof(body_name));
    gphi_vec_init(&names->text, heap, 1);
}

void gphi_body_names_fini(gphi_body_names *names)
{
    gphi_vec_fini(&names->items);
    gphi_vec_fini(&names->names);
    gphi_vec_fini(&names->text);
}

/* A step of a way as it is there. */
struct step {
    gphi_span name;
    bool is_loop;
    uint64_t number, lower, upper; /* of a case; of a loop */
};

static gph_status fail_step(const gphi_csv *csv, gphi_span step)
{
    return gphi_fail(csv->error, GPH_E_FORMAT,
                     "line %zu: bodies has \"%.*s\", neither CHOICE:CASE nor "
                     "LOOP@LOWER-UPPER",
                     csv->line, step.bytes < 60 ? (int)step.bytes : 60, step.begin);
}

/* What is before the last `mark`, and after it. */
static bool part(gphi_span whole, char mark, gphi_span *before, gphi_span *after)
{
    size_t at = whole.bytes;
    while (at > 0 && whole.begin[at - 1] != mark)
        at--;
    if (at < 2)
        return false;
    *before = (gphi_span){whole.begin, at - 1};
    *after = (gphi_span){whole.begin + at, whole.bytes - at};
    return true;
}

static gph_status read_step(gphi_csv *csv, gphi_span text, uint32_t column,
                            struct step *out)
{
    gphi_span value, from, to;
    *out = (struct step){.is_loop = false};
    if (part(text, '@', &out->name, &value) && part(value, '-', &from, &to)) {
        out->is_loop = true;
        GPHI_TRY(gphi_csv_number(csv, column, from, &out->lower));
        return gphi_csv_number(csv, column, to, &out->upper);
    }
    return part(text, ':', &out->name, &value)
               ? gphi_csv_number(csv, column, value, &out->number)
               : fail_step(csv, text);
}

static bool has_name(const gphi_body_names *names, uint32_t body, gphi_span name)
{
    const body_name *other = gphi_vec_at(&names->names, body - 1);
    return other->bytes == name.bytes &&
           memcmp(gphi_vec_at(&names->text, other->at), name.begin, name.bytes) == 0;
}

/* The body of that step, or 0; and the choice that it is a case of, or 0. */
static uint32_t find(const gphi_body_names *names, uint32_t parent,
                     const struct step *step, uint32_t *choice)
{
    const gph_plan_body *items = names->items.items;
    *choice = 0;
    for (uint32_t i = 1; i <= names->items.count; i++) {
        const gph_plan_body *body = &items[i - 1];
        if (body->parent != parent || (body->choice == 0) != step->is_loop ||
            !has_name(names, i, step->name))
            continue;
        const body_name *name = gphi_vec_at(&names->names, i - 1);
        if (step->is_loop ? body->lower == step->lower && body->upper == step->upper
                          : name->number == step->number)
            return i;
        *choice = body->choice;
    }
    return 0;
}

static gph_status add(gphi_body_names *names, gphi_csv *csv, uint32_t parent,
                      uint32_t choice, const struct step *step)
{
    const size_t at = names->text.count;
    if (names->items.count >= BODIES_MAX)
        return gphi_fail(csv->error, GPH_E_FORMAT, "line %zu: more than %u bodies",
                         csv->line, BODIES_MAX);
    const gph_plan_body body = {.parent = parent,
                                .choice = step->is_loop ? 0
                                          : choice != 0
                                              ? choice
                                              : (uint32_t)names->items.count + 1,
                                .lower = step->lower,
                                .upper = step->upper};
    const body_name name = {at, step->name.bytes, step->number};
    char *text = gphi_vec_add(&names->text, step->name.bytes);
    if (text)
        memcpy(text, step->name.begin, step->name.bytes);
    return gphi_made(csv->error,
                     text && gphi_vec_reserve(&names->items, 1) == GPH_OK &&
                         gphi_vec_push(&names->names, &name) == GPH_OK &&
                         gphi_vec_push(&names->items, &body) == GPH_OK,
                     "reading line %zu", csv->line);
}

gph_status gphi_bodies_read(gphi_body_names *names, gphi_csv *csv, uint32_t column,
                            gphi_span way, uint32_t *out)
{
    uint32_t body = 0;
    for (uint32_t depth = 0; way.bytes != 0; depth++) {
        const char *end = memchr(way.begin, '/', way.bytes);
        const size_t bytes = end ? (size_t)(end - way.begin) : way.bytes;
        struct step step;
        uint32_t choice = 0;
        if (depth == DEPTH_MAX)
            return gphi_fail(csv->error, GPH_E_FORMAT,
                             "line %zu: bodies has more than %u steps", csv->line,
                             DEPTH_MAX);
        GPHI_TRY(read_step(csv, (gphi_span){way.begin, bytes}, column, &step));
        uint32_t next = find(names, body, &step, &choice);
        if (next == 0) {
            GPHI_TRY(add(names, csv, body, choice, &step));
            next = (uint32_t)names->items.count;
        }
        body = next;
        way.begin += bytes + (end != NULL);
        way.bytes -= bytes + (end != NULL);
    }
    *out = body;
    return GPH_OK;
}

void gphi_bodies_write(const gphi_body_names *names, uint32_t body, gphi_text *out)
{
    uint32_t way[DEPTH_MAX], depth = 0;
    for (; body != 0; body = ((gph_plan_body *)names->items.items)[body - 1].parent)
        way[depth++] = body;
    while (depth-- > 0) {
        const gph_plan_body *at = gphi_vec_at(&names->items, way[depth] - 1);
        const body_name *name = gphi_vec_at(&names->names, way[depth] - 1);
        gphi_text_add(out, "%.*s", (int)name->bytes,
                      (const char *)gphi_vec_at(&names->text, name->at));
        if (at->choice != 0)
            gphi_text_add(out, ":%" PRIu64, name->number);
        else
            gphi_text_add(out, "@%" PRIu64 "-%" PRIu64, at->lower, at->upper);
        if (depth != 0)
            gphi_text_put(out, "/");
    }
}
