// SPDX-License-Identifier: Apache-2.0
/* Rules framework.*: what no call to the driver shows, and the program itself says on
 * standard error: an exception that nobody caught (Python's traceback, std::terminate's
 * words), and what a framework refuses or leaves out. Kept while it is written, by thread,
 * and judged at the end, when all that the calls show is known:
 *
 *   Traceback (most recent call last):       TRACE
 *     File "train.py", line 12, in step      a frame; the innermost comes last
 *   RuntimeError: CUDA error: ...            MESSAGE, and what follows it
 *
 * What gph explain makes of the words decides; an exception of no entry is left alone, unless it
 * was raised in a capture, or of a graph (framework_graph.c). */
#include "doctor/rules/framework/rules_framework.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/plain.h"
#include "doctor/findings/said.h"
#include "doctor/findings/stacks.h"

#include <gph/explain.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_MAX_BYTES = 2048,
    PREFIX_MAX = 64, /* "[rank0]: ", before each line */
    SPEAKERS_MAX = 64,
    HEARD_MAX = 100,
    MATCHES = 8,
    GAP_NS = 1000000000, /* a message is over */
};

typedef enum part { NOWHERE, TRACE, THROWN, MESSAGE, CHAINED } part;

typedef gphi_heard heard;

/* A thread's line that has no end yet, and what it is in the middle of. */
typedef struct speaker {
    uint32_t thread;
    part in;
    uint64_t time_ns; /* of the last piece */
    size_t line_bytes, prefix_bytes;
    bool is_thread;
    char line[LINE_MAX_BYTES], prefix[PREFIX_MAX];
    heard *now; /* NULL: nothing */
} speaker;

typedef struct framework {
    gphi_vec speakers;  /* of speaker */
    gphi_vec list;      /* of heard * */
    gphi_launched last; /* launch of a graph */
    bool has_graphs;    /* the process has captured, or instantiated */
    bool has_failed;    /* its exit status is not 0, or it was killed */
} framework;

static void framework_init(gphi_rule_run *run)
{
    framework *state = run->state;
    gphi_vec_init(&state->speakers, run->model->heap, sizeof(speaker));
    gphi_vec_init(&state->list, run->model->heap, sizeof(heard *));
    state->has_failed = true; /* until it says how it ended */
}

static void framework_fini(gphi_rule_run *run)
{
    framework *state = run->state;
    for (size_t i = 0; i < state->list.count; i++)
        gphi_heap_free(run->model->heap, gphi_vec_pointer(&state->list, i),
                       sizeof(heard));
    gphi_vec_fini(&state->list);
    gphi_vec_fini(&state->speakers);
}

/* ---- listening ---- */

static heard *new_heard(gphi_rule_run *run, const speaker *of, uint32_t stack)
{
    framework *state = run->state;
    heard *out = NULL;
    if (state->list.count >= HEARD_MAX)
        return NULL;
    if (gphi_vec_reserve(&state->list, 1) == GPH_OK)
        out = gphi_heap_alloc(run->model->heap, sizeof(*out));
    if (!out) {
        gphi_short(run);
        return NULL;
    }
    out->at = (gphi_call){.time_ns = of->time_ns,
                          .thread = of->thread,
                          .stack = stack,
                          .result = CUDA_ERROR_UNKNOWN}; /* lost records change nothing */
    out->last = state->last;
    *(heard **)gphi_vec_add(&state->list, 1) = out;
    return out;
}

static void put(char *text, uint32_t *used, const char *piece, const char *end)
{
    const size_t length = strlen(piece) + strlen(end);
    if (length >= GPHI_HEARD_BYTES - *used)
        return;
    snprintf(text + *used, GPHI_HEARD_BYTES - *used, "%s%s", piece, end);
    *used += (uint32_t)length;
}

/* File "train.py", line 12, in step */
static void hear_frame(heard *now, const char *line)
{
    const char *file = strstr(line, "File \"") + 6;
    const char *end = strstr(file, "\", line ");
    int number = 0, at = 0;
    char frame[LINE_MAX_BYTES + 32];
    if (!end || sscanf(end + 8, "%d, in %n", &number, &at) < 1 || at == 0)
        return;
    snprintf(frame, sizeof(frame), "%.*s:%d %s", (int)(end - file), file, number,
             end + 8 + at);
    if (strlen(frame) + 1 >= GPHI_HEARD_BYTES - now->frames_bytes) {
        now->frames_bytes = 0; /* of a deep stack the inner frames */
        now->frames[0] = '\0';
    }
    put(now->frames, &now->frames_bytes, frame, "\n");
}

static bool is_of_framework(const gph_explain_match *match)
{
    return match->entry->kind == GPH_EXPLAIN_MESSAGE && match->entry->rank >= 6 &&
           match->reason == GPH_EXPLAIN_BY_MESSAGE;
}

/* A line outside an exception. */
static void hear_alone(gphi_rule_run *run, const speaker *of, const char *line,
                       uint32_t stack)
{
    gph_explain_match match;
    if (strncmp(line, "  ", 2) == 0) /* a warning's line of source */
        return;
    if (gph_explain_find(line, strlen(line), &match, 1) == 0 || !is_of_framework(&match))
        return;
    heard *now = new_heard(run, of, stack);
    if (now)
        put(now->message, &now->message_bytes, line, "");
}

static void begin_exception(gphi_rule_run *run, speaker *of, part in, uint32_t stack)
{
    if (of->in != CHAINED || !of->now)
        of->now = new_heard(run, of, stack);
    of->in = of->now ? in : NOWHERE;
    if (of->now) {
        of->now->is_exception = true;
        of->now->is_thread = of->is_thread;
    }
}

/* A warning of a library's, or of the interpreter at its end: the message is over. */
static bool is_another(const char *line)
{
    const char *warning = strstr(line, "Warning: ");
    return strncmp(line, "Exception ignored", 17) == 0 ||
           (warning && !memchr(line, ' ', (size_t)(warning - line)));
}

static void hear_inside(speaker *of, const char *line)
{
    heard *now = of->now;
    const char *what = strstr(line, "what():");
    if (of->in == TRACE && strstr(line, "  File \"") == line) {
        if (now->message_bytes == 0) /* of a chain the first, which is the cause */
            hear_frame(now, line);
    } else if (of->in == THROWN && what) {
        put(now->message, &now->message_bytes, what + 8, "\n");
        of->in = MESSAGE;
    } else if (of->in == TRACE && line[0] != ' ' && line[0] != '\0') {
        put(now->message, &now->message_bytes, line, "\n");
        of->in = MESSAGE;
    } else if (of->in == MESSAGE &&
               (strstr(line, "During handling of the above") == line ||
                strstr(line, "The above exception was") == line))
        of->in = CHAINED;
    else if (of->in == MESSAGE)
        put(now->message, &now->message_bytes, line, "\n");
}

static void hear_line(gphi_rule_run *run, speaker *of, uint32_t stack)
{
    const char *line = of->line;
    const char *trace = strstr(line, "Traceback (most recent call last):");
    if (strncmp(line, "Exception in thread ", 20) == 0)
        of->is_thread = true;
    if (trace) {
        of->prefix_bytes =
            (size_t)(trace - line) < PREFIX_MAX ? (size_t)(trace - line) : 0;
        memcpy(of->prefix, line, of->prefix_bytes);
        begin_exception(run, of, TRACE, stack);
        of->is_thread = false;
        return;
    }
    if (strncmp(line, of->prefix, of->prefix_bytes) == 0)
        line += of->prefix_bytes;
    if (strncmp(line, "terminate called after throwing", 31) == 0) {
        of->prefix_bytes = 0;
        begin_exception(run, of, THROWN, stack);
    } else if (of->in == NOWHERE)
        hear_alone(run, of, line, stack);
    else if (of->in == MESSAGE && is_another(line)) {
        of->in = NOWHERE;
        hear_alone(run, of, line, stack);
    } else
        hear_inside(of, line);
}

/* Colors of a terminal are left out, and a line that is too long ends where it is full. */
static void hear(gphi_rule_run *run, const gphi_event *event)
{
    framework *state = run->state;
    speaker *of = gphi_vec_keyed(&state->speakers, &event->thread, sizeof(event->thread),
                                 SPEAKERS_MAX);
    if (!of)
        return;
    if (of->in == MESSAGE && event->time_ns - of->time_ns > GAP_NS)
        of->in = NOWHERE;
    of->time_ns = event->time_ns;
    for (const char *at = gphi_event_text(event, 0); *at; at++) {
        if (*at == '\033' && at[1] == '[') {
            at += 2 + strspn(at + 2, "0123456789;");
            if (!*at)
                break;
            continue;
        }
        if (*at != '\n' && *at != '\r')
            of->line[of->line_bytes++] = *at;
        if (*at != '\n' && *at != '\r' && of->line_bytes < sizeof(of->line) - 1)
            continue;
        of->line[of->line_bytes] = '\0';
        gphi_make_plain(of->line, of->line_bytes);
        of->line_bytes = 0;
        hear_line(run, of, event->stack);
    }
}

static void on_event(gphi_rule_run *run, const gphi_event *event)
{
    framework *state = run->state;
    if (event->kind == GPHI_EVENT_STDERR)
        hear(run, event);
    if (event->kind == GPHI_EVENT_EXIT)
        state->has_failed = event->id == 2 || gphi_event_word(event, 0) != 0;
}

static void on_call(gphi_rule_run *run, const gphi_seen *seen)
{
    framework *state = run->state;
    const char *name = gphi_call_name(seen->call.call);
    state->has_graphs |= strncmp(name, "cuStreamBeginCapture", 20) == 0 ||
                         strncmp(name, "cuGraphInstantiate", 18) == 0;
    gphi_framework_note(&state->last, seen);
}

/* ---- judging ---- */

/* Whether the driver's refusal is in it, of a graph or in a program that has some. */
static bool is_of_graphs(const framework *state, const heard *of,
                         const gph_explain_entry *entry)
{
    const int code = entry->codes[0] ? atoi(entry->codes[0]) : 0;
    return (gphi_said_has(of->message, "cuda") || gphi_said_has(of->message, "nccl")) &&
           (state->has_graphs || (code >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
                                  code <= CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE));
}

/* What explains it, or NULL. */
static const gph_explain_entry *entry_of(const framework *state, const heard *of)
{
    gph_explain_match found[MATCHES];
    const size_t count = gph_explain_find(of->message, of->message_bytes, found, MATCHES);
    for (size_t i = 0; i < count; i++) {
        const gph_explain_entry *entry = found[i].entry;
        const bool is_framework = entry->kind == GPH_EXPLAIN_MESSAGE ||
                                  entry->kind == GPH_EXPLAIN_NOTHING ||
                                  entry->kind == GPH_EXPLAIN_RULE;
        if (found[i].reason == GPH_EXPLAIN_BY_WORDS ||
            found[i].reason == GPH_EXPLAIN_BY_SLUG)
            continue;
        if (is_framework ? entry->rank >= 3 : is_of_graphs(state, of, entry))
            return entry;
    }
    return NULL;
}

/* Whether the exception's frames have one, "file:line function", of a captured call: the one
 * in the function that began the capture, in whose block the call was made. */
static bool has_frame(const gphi_model *model, const heard *of, const gphi_call *captured,
                      const gph_place *begun)
{
    uint32_t count = 0;
    char line[LINE_MAX_BYTES];
    const gph_place *at = gphi_stacks_frames(model->stacks, captured->stack, &count);
    for (uint32_t i = 0; at && i < count && at[i].is_python; i++) {
        if (!at[i].file || !at[i].function || strcmp(at[i].file, begun->file) != 0 ||
            strcmp(at[i].function, begun->function) != 0)
            continue;
        snprintf(line, sizeof(line), "%s:%d %s\n", at[i].file, (int)at[i].line,
                 at[i].function);
        const char *found = strstr(of->frames, line);
        if (found && (found == of->frames || found[-1] == '\n'))
            return true;
    }
    return false;
}

/* The last capture before it, if it was raised in it. */
static const gphi_capture *capture_of(const gphi_model *model, const heard *of)
{
    for (size_t i = model->captures.count; i-- > 0;) {
        const gphi_capture *capture = gphi_vec_pointer(&model->captures, i);
        uint32_t count = 0;
        const gph_place *at =
            gphi_stacks_frames(model->stacks, capture->begin.stack, &count);
        if (capture->begin.time_ns > of->at.time_ns ||
            capture->begin.thread != of->at.thread)
            continue;
        at += at ? gphi_stacks_own(model->stacks, at, count) : 0;
        if (!at || !at->is_python || !at->file || !at->function)
            return NULL;
        GPHI_EACH (const gphi_call, call, &capture->calls)
            if (has_frame(model, of, call, at))
                return capture;
        return NULL;
    }
    return NULL;
}

/* The frames, innermost first, as a stack of their own. */
static void read_frames(gphi_rule_run *run, heard *of)
{
    char text[GPHI_HEARD_BYTES];
    uint32_t used = 0;
    while (of->frames_bytes > 0) {
        of->frames[--of->frames_bytes] = '\0';
        while (of->frames_bytes > 0 && of->frames[of->frames_bytes - 1] != '\n')
            of->frames_bytes--;
        put(text, &used, of->frames + of->frames_bytes, "\n");
    }
    if (used > 0)
        of->at.stack = gphi_stacks_python(run->model->stacks, text);
}

/* Whether the thread raises an exception right after it that is reported: what a capture
 * that breaks off warns of follows from it. */
static bool is_followed(const framework *state, const heard *of)
{
    for (size_t i = 0; i < state->list.count; i++) {
        const heard *next = gphi_vec_pointer(&state->list, i);
        if (!of->is_exception && next->is_exception && next->at.thread == of->at.thread &&
            next->at.time_ns - of->at.time_ns < GAP_NS && entry_of(state, next))
            return true;
    }
    return false;
}

/* The framework goes on without a graph: results are right, and the user has read so. */
static bool is_notice(const gph_explain_entry *entry)
{
    static const char *const classes[] = {"torch/skipping-", "llama/graphs-"};
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
        if (strncmp(entry->slug, classes[i], strlen(classes[i])) == 0)
            return true;
    return false;
}

/* Nobody caught it, and no entry knows its words. */
static void report_unknown(gphi_rule_run *run, heard *of)
{
    const framework *state = run->state;
    const bool has_ended = of->is_exception && !of->is_thread && state->has_failed;
    const gphi_capture *capture = has_ended ? capture_of(run->model, of) : NULL;
    const gphi_of_graph kind =
        has_ended && !capture ? gphi_framework_of_graph(of) : GPHI_OF_NO_GRAPH;
    if (!capture && kind == GPHI_OF_NO_GRAPH)
        return;
    read_frames(run, of);
    of->message[strcspn(of->message, "\n")] = '\0';
    if (!capture) {
        gphi_framework_tell(run, of, kind);
        return;
    }
    gphi_draft *draft = gphi_finding_begin(run, &of->at, capture->begin.number);
    gphi_cause(draft,
               "the exception was raised while work was captured: %s had been captured "
               "by then, and the rest of the step is in no graph",
               gphi_say_count(capture->calls.count, "node"));
    gphi_evidence(draft, "standard error: %.600s", of->message);
    gphi_evidence_call(draft, &capture->begin, "the capture was begun by");
}

static void report_heard(gphi_rule_run *run, heard *of)
{
    const framework *state = run->state;
    const gph_explain_entry *entry = entry_of(state, of);
    if (!entry)
        report_unknown(run, of);
    if (!entry || is_followed(state, of))
        return;
    read_frames(run, of);
    of->message[strcspn(of->message, "\n")] = '\0';
    const char *place = gphi_say_place(run->model, &of->at);
    gphi_draft *known = gphi_finding_known(run, &of->at, entry);
    if (known) {
        gphi_evidence(known, "standard error: %.600s%s%.300s", of->message,
                      place[0] ? ", at " : "", place);
        return;
    }
    gphi_rule_run as = *run;
    if (!of->is_exception)
        as.rule = &gphi_rules_framework[1];
    gphi_draft *draft =
        gphi_finding_begin(&as, &of->at, gphi_hash_text(GPHI_HASH_START, entry->slug));
    gphi_finding_explain(draft, entry);
    gphi_evidence(draft, "standard error: %.600s", of->message);
    const bool went_on = of->is_exception && !of->is_thread && !state->has_failed;
    if (went_on || (!of->is_exception && is_notice(entry)))
        gphi_soften(draft);
}

static void on_end(gphi_rule_run *run)
{
    const framework *state = run->state;
    for (size_t i = 0; i < state->list.count; i++)
        report_heard(run, gphi_vec_pointer(&state->list, i));
}

const gphi_rule gphi_rules_framework[] = {
    GPHI_RULE("framework.exception", ERROR, .state_bytes = sizeof(framework),
              .init = framework_init, .call = on_call, .event = on_event, .end = on_end,
              .fini = framework_fini),
    GPHI_RULE_NAME("framework.message", WARNING),
    {.id = NULL},
};
