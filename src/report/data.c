// SPDX-License-Identifier: Apache-2.0
/* What the parts of the page's data share: columns, and numbers for frames and stacks,
 * which are written once, at the end. */
#include "report/data.h"
#include "base/hash.h"

#include <inttypes.h>
#include <string.h>

/* The page's columns are columns of unsigned members: of a byte to eight. */
static int64_t member_of(const void *item, const report_column *column)
{
    const char *at = (const char *)item + column->offset;
    uint64_t value = 0; /* little endian, as all machines that this runs on */
    memcpy(&value, at, column->bytes);
    return (int64_t)value + column->more;
}

void gphi_report_put_columns(report_writing *w, const gphi_vec *items,
                             const report_column *columns, size_t count)
{
    for (size_t c = 0; c < count; c++) {
        gphi_text_add(&w->out, "%s\"%s\":[", c > 0 ? "," : "", columns[c].name);
        for (size_t i = 0; i < items->count; i++)
            gphi_text_add(&w->out, i > 0 ? ",%" PRId64 : "%" PRId64,
                          columns[c].value
                              ? columns[c].value(w, i)
                              : member_of(gphi_vec_at(items, i), &columns[c]));
        gphi_text_put(&w->out, "]");
    }
}

uint32_t gphi_report_frame(report_writing *w, const gph_place *place)
{
    uint64_t hash = gphi_hash_text(GPHI_HASH_START, place->function);
    hash = gphi_hash_word(gphi_hash_text(hash, place->file), (uint64_t)place->line);
    const uint32_t number = number_of(&w->frames, hash, &w->failed);
    while (w->places.count < w->frames.keys.count)
        if (gphi_vec_push(&w->places, &place) != GPH_OK) {
            w->failed = true;
            return 0;
        }
    return number;
}

/* A stack without frames is as none: number 0. */
uint32_t gphi_report_stack_number(report_writing *w, uint32_t stack)
{
    uint32_t count = 0;
    if (stack != 0 && !gphi_doctor_frames(w->report->doctor, stack, &count))
        stack = 0;
    return number_of(&w->stacks, count == 0 ? 0 : stack, &w->failed);
}

void gphi_report_put_frames(report_writing *w, const gph_place *frames, uint32_t count)
{
    gphi_text_put(&w->out, "[");
    for (uint32_t i = 0; i < count; i++) {
        gphi_report_comma(w, i);
        gphi_text_add(&w->out, "%u", gphi_report_frame(w, &frames[i]));
    }
    gphi_text_put(&w->out, "]");
}

void gphi_report_put_name(report_writing *w, const char *name, const char *other)
{
    gphi_text_put(&w->out, "{\"name\":");
    gphi_json_text(&w->out, name ? name : other);
}

/* Writes what the others have numbered: stacks give numbers to frames, so they go
 * first. */
void gphi_report_put_stacks(report_writing *w)
{
    gphi_text_put(&w->out, ",\"stacks\":[");
    for (size_t i = 0; i < w->stacks.keys.count; i++) {
        const uint64_t stack = *(const uint64_t *)gphi_vec_at(&w->stacks.keys, i);
        uint32_t count = 0;
        const gph_place *frames =
            stack == 0 ? NULL
                       : gphi_doctor_frames(w->report->doctor, (uint32_t)stack, &count);
        gphi_report_comma(w, i);
        gphi_report_put_frames(w, frames, !frames ? 0 : count);
    }
    gphi_text_put(&w->out, "],\"frames\":[");
    for (size_t i = 0; i < w->places.count; i++) {
        const gph_place *place = *(const gph_place *const *)gphi_vec_at(&w->places, i);
        gphi_report_comma(w, i);
        gphi_text_put(&w->out, "[");
        gphi_json_text(&w->out, place->function ? place->function : "");
        gphi_text_put(&w->out, ",");
        gphi_json_text(&w->out, place->file ? place->file : "");
        gphi_text_add(&w->out, ",%" PRId32 ",%d]", place->line, place->is_python != 0);
    }
    gphi_text_put(&w->out, "]");
}
