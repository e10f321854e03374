// SPDX-License-Identifier: Apache-2.0
/* Of the page's data: the program's own source, and what a capture would make of each of
 * its lines (gph doctor --capturable --report). The page is read elsewhere and later, so
 * it holds the text; a file that is not there any more is named without one. */
#include "advice/advice.h"
#include "base/heap.h"
#include "report/data.h"
#include <gph/explain.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A program's loop is of a few files; more than this is a library that is seen through. */
enum {
    FILES_MAX = 64,
    FILE_BYTES = 1 << 20,
    MARKS_MAX = 4000,
    NEAR = 6 /* lines around a mark that are shown; page/source.js has it, too */
};

typedef struct line_mark {
    const char *file; /* the advice's, or the doctor's */
    int32_t line;
    gphi_obstacle_kind kind;
    const gphi_site *site;
    uint64_t count;
    const char *reason; /* or NULL */
} line_mark;

/* A pipe or a device may bear the name by now: only files are opened to be read. */
static bool is_there(const char *path)
{
    struct stat stat_of;
    return path && stat(path, &stat_of) == 0 && S_ISREG(stat_of.st_mode) &&
           stat_of.st_size <= FILE_BYTES && access(path, R_OK) == 0;
}

static bool is_library(const char *path)
{
    return strstr(path, "/site-packages/") || strstr(path, "/dist-packages/");
}

/* The innermost line that can be shown and is not an installed package's; if there is
 * none, the line that the list of --capturable has. */
static gph_place line_of(const gph_advice *advice, uint32_t stack)
{
    uint32_t count = 0;
    const gph_place *frames =
        stack == 0 ? NULL : advice->frames(advice->frames_user, stack, &count);
    for (uint32_t i = 0; i < count; i++)
        if (frames[i].file && frames[i].line > 0 && !is_library(frames[i].file) &&
            is_there(frames[i].file))
            return frames[i];
    return gphi_advice_place(advice, stack);
}

static void add(report_writing *w, gphi_vec *marks, const gphi_site *site,
                gphi_obstacle_kind kind, uint64_t count, const char *reason)
{
    const gph_place place = line_of(w->advice, site->stack);
    if (!place.file || place.line <= 0 || marks->count >= MARKS_MAX)
        return;
    GPHI_EACH (line_mark, known, marks)
        if (known->line == place.line && known->kind == kind &&
            known->site->call == site->call && known->reason == reason &&
            strcmp(known->file, place.file) == 0) {
            known->count += count;
            return;
        }
    const line_mark mark = {place.file, place.line, kind, site, count, reason};
    w->failed |= gphi_vec_push(marks, &mark) != GPH_OK;
}

/* Of a program that repeats nothing: each of its calls, as if all were captured. */
static gphi_obstacle_kind kind_of(const gphi_site *site)
{
    switch (site->effect) {
    case GPHI_EFFECT_CAPTURED:
    case GPHI_EFFECT_ORDER:
        return site->stream && site->stream->is_legacy ? GPHI_BREAKS : GPHI_FINE;
    case GPHI_EFFECT_LEGACY:
    case GPHI_EFFECT_DROPPED: return GPHI_ESCAPES;
    case GPHI_EFFECT_HOST: return GPHI_STAYS;
    default: return GPHI_BREAKS;
    }
}

static void collect(report_writing *w, gphi_vec *marks)
{
    const gph_advice *advice = w->advice;
    for (size_t i = 0; i < advice->repeats.count; i++)
        GPHI_EACH (const gphi_obstacle, o, &gphi_advice_repeat(advice, i)->obstacles)
            add(w, marks, gphi_advice_site(advice, o->site), o->kind, o->count, o->text);
    for (uint32_t i = 0; advice->repeats.count == 0 && i < advice->sites.count; i++) {
        const gphi_site *site = gphi_advice_site(advice, i);
        if (site->effect != GPHI_EFFECT_NONE)
            add(w, marks, site, kind_of(site), site->count,
                gphi_effect_text(site->effect));
    }
}

/* The rule that would report it, whose fix holds here, too; "": none is needed. */
static const char *rule_of(const line_mark *mark)
{
    switch (mark->kind) {
    case GPHI_STAYS:
    case GPHI_FINE: return "";
    case GPHI_ELSEWHERE: return "capture.unsafe-call-other-thread";
    case GPHI_FREEZES: return "capture.host-pointer";
    case GPHI_CHANGES: return "replay.frozen-value";
    case GPHI_MOVES: return "capture.legacy-stream";
    default: break;
    }
    switch (mark->site->effect) {
    case GPHI_EFFECT_STREAM:
    case GPHI_EFFECT_ALWAYS: return "capture.synchronize";
    case GPHI_EFFECT_EVENT: return "capture.captured-event-query";
    case GPHI_EFFECT_LEGACY: return "capture.legacy-stream";
    case GPHI_EFFECT_DROPPED: return "capture.silent-drop";
    case GPHI_EFFECT_STREAM_ONLY: return "capture.invalid-work";
    case GPHI_EFFECT_CAPTURED:
    case GPHI_EFFECT_ORDER:
        return mark->kind == GPHI_ESCAPES ? "capture.escape" : "capture.legacy-stream";
    default: return "capture.unsafe-call";
    }
}

static void put_mark(report_writing *w, const line_mark *mark, size_t index)
{
    const gph_explain_entry *entry = gph_explain_get(rule_of(mark));
    const gph_explain_text *text =
        !entry ? NULL : &entry->text[gphi_doctor_language(w->report->doctor)];
    gphi_report_comma(w, index);
    gphi_text_put(&w->out, "{\"kind\":");
    gphi_json_text(&w->out, gphi_obstacle_name(mark->kind));
    gphi_json_number(&w->out, "line", (uint64_t)mark->line);
    gphi_json_number(&w->out, "count", mark->count);
    gphi_json_member(&w->out, "call", gphi_site_text(mark->site));
    gphi_json_member(&w->out, "why", mark->reason ? gphi_language_of(mark->reason) : "");
    gphi_json_member(&w->out, "rule", rule_of(mark));
    gphi_json_member(&w->out, "cause", text ? text->cause : "");
    gphi_json_member(&w->out, "fix", text ? text->fix_text : "");
    gphi_json_member(&w->out, "vain", text ? text->in_vain_text : "");
    gphi_text_put(&w->out, "}");
}

/* Lines that are not near a mark are left empty: a page may be mailed, and holds no more of
 * a program than it shows. Gives the bytes that are left. */
static size_t keep_near(char *text, size_t bytes, const gphi_vec *marks, const char *path)
{
    size_t kept = 0, begin = 0;
    int32_t line = 1;
    for (size_t i = 0; i <= bytes; i++) {
        if (i < bytes && text[i] != '\n')
            continue;
        bool is_near = false;
        GPHI_EACH (const line_mark, mark, marks)
            is_near |= mark->line - line <= NEAR && line - mark->line <= NEAR &&
                       strcmp(mark->file, path) == 0;
        if (is_near) {
            memmove(text + kept, text + begin, i - begin);
            kept += i - begin;
        }
        if (i < bytes)
            text[kept++] = '\n';
        begin = i + 1;
        line++;
    }
    return kept;
}

/* null: it is not there, is not a file, or is too large for source. */
static void put_text(report_writing *w, const gphi_vec *marks, const char *path)
{
    const gph_allocator heap = w->report->heap;
    FILE *file = is_there(path) ? fopen(path, "rbe") : NULL;
    char *text = !file ? NULL : gphi_heap_alloc(heap, FILE_BYTES);
    w->failed |= file && !text;
    gphi_text_put(&w->out, ",\"text\":");
    if (text)
        gphi_json_bytes(&w->out, text,
                        keep_near(text, fread(text, 1, FILE_BYTES, file), marks, path));
    else
        gphi_text_put(&w->out, "null");
    gphi_heap_free(heap, text, FILE_BYTES);
    if (file)
        fclose(file);
}

void gphi_report_put_lines(report_writing *w)
{
    gphi_vec marks;
    size_t files = 0;
    if (!w->advice)
        return;
    gphi_vec_init(&marks, w->report->heap, sizeof(line_mark));
    collect(w, &marks);
    gphi_text_put(&w->out, ",\"sources\":[");
    for (size_t i = 0; i < marks.count && files < FILES_MAX; i++) {
        const line_mark *first = gphi_vec_at(&marks, i);
        size_t many = 0;
        bool is_known = false;
        for (size_t k = 0; k < i && !is_known; k++)
            is_known =
                strcmp(((line_mark *)gphi_vec_at(&marks, k))->file, first->file) == 0;
        if (is_known)
            continue;
        gphi_report_comma(w, files++);
        gphi_text_put(&w->out, "{\"file\":");
        gphi_json_text(&w->out, first->file);
        put_text(w, &marks, first->file);
        gphi_text_put(&w->out, ",\"marks\":[");
        GPHI_EACH (const line_mark, mark, &marks)
            if (strcmp(mark->file, first->file) == 0)
                put_mark(w, mark, many++);
        gphi_text_put(&w->out, "]}");
    }
    gphi_text_put(&w->out, "]");
    gphi_vec_fini(&marks);
}
