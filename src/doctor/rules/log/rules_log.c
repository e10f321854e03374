// SPDX-License-Identifier: Apache-2.0
/* Tier 0: what is known from the driver's log alone (failing calls, its sentence, the
 * place), without the calls that succeeded. Where calls are seen, other rules report more,
 * and these are silent.
 *
 *   "API call conflicts with a stream capture ... from another thread"   the sentence
 *   "Returning 900 (CUDA_ERROR_...) from cuMemAlloc"                     the failure */
#include "doctor/rules/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* X(code, words of the call's name, words of the sentence, rule): a failure. Words are of
 * either driver, split by |; NULL: any. The first row that agrees says which rule it is. */
#define FAILURES(X)                                                                      \
    X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, NULL,                                       \
      "another thread|from this thread either", "capture.unsafe-call-other-thread")      \
    X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "BeginCapture", NULL,                       \
      "capture.begin-on-legacy")                                                         \
    X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "GraphLaunch", NULL,                        \
      "capture.graph-launch")                                                            \
    X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "GraphInstantiate", NULL,                   \
      "instantiate.during-capture")                                                      \
    X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,                                             \
      "ExecDestroy|ModuleUnload|LibraryUnload|MemFree", NULL, "capture.destructor")      \
    X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,                                             \
      "CtxSynchronize|StreamSynchronize|StreamQuery", NULL, "capture.synchronize")       \
    X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, NULL, NULL, "capture.unsafe-call")          \
    X(CUDA_ERROR_STREAM_CAPTURE_MERGE, NULL, NULL, "capture.merge")                      \
    X(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, NULL, NULL, "capture.unmatched-end")          \
    X(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, NULL, NULL, "capture.unjoined-fork")           \
    X(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, NULL, NULL, "capture.isolation")              \
    X(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, NULL, NULL, "capture.legacy-stream")           \
    X(CUDA_ERROR_CAPTURED_EVENT, NULL, NULL, "capture.captured-event-query")             \
    X(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, NULL, NULL, "capture.wrong-thread-end")    \
    X(CUDA_ERROR_INVALID_VALUE, "GraphLaunch", "unfreed|is not freed",                   \
      "launch.unfreed-allocation")                                                       \
    X(CUDA_ERROR_INVALID_VALUE, "Graph",                                                 \
      "not a valid executable|not an executable graph|no executable graph",              \
      "launch.dead-executable")                                                          \
    X(CUDA_ERROR_INVALID_VALUE, "Event", "no longer running|recorded in a capture",      \
      "capture.event-after-capture")                                                     \
    X(CUDA_ERROR_INVALID_VALUE, "SetParams",                                             \
      "not associated to the executable|of the graph that the executable",               \
      "update.node-handle")                                                              \
    X(CUDA_ERROR_INVALID_VALUE, "GraphInstantiate", "cycle|circular",                    \
      "instantiate.cycle")                                                               \
    X(CUDA_ERROR_NOT_SUPPORTED, "GraphClone", "memory",                                  \
      "instantiate.clone-memory-nodes")                                                  \
    X(CUDA_ERROR_NOT_SUPPORTED, "Child", "ownership", "instantiate.child-memory-nodes")  \
    X(CUDA_ERROR_NOT_SUPPORTED, "DestroyNode", "memory",                                 \
      "instantiate.remove-memory-node")                                                  \
    X(CUDA_ERROR_ASSERT, NULL, NULL, "launch.assert")

static const struct {
    int32_t result;
    const char *calls, *sentences, *rule;
} failures[] = {
#define X(result, calls, sentences, rule) {result, calls, sentences, rule},
    FAILURES(X)
#undef X
};

enum { THREADS = 16, CUT = 400 };

typedef struct log_state {
    bool is_log_only;
    uint32_t next;
    struct {
        uint32_t thread;
        char sentence[CUT];
    } last[THREADS];
    gphi_draft *root; /* the finding that 901s follow from */
    uint64_t failures;
} log_state;

static bool has_one_of(const char *text, const char *words)
{
    for (const char *word = words; word && *word != '\0';) {
        char part[64];
        const size_t bytes = strcspn(word, "|");
        snprintf(part, sizeof(part), "%.*s", (int)bytes, word);
        if (strstr(text, part))
            return true;
        word += bytes + (word[bytes] == '|');
    }
    return !words;
}

static const char *rule_of(int32_t result, const char *call, const char *sentence)
{
    for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++)
        if (failures[i].result == result && has_one_of(call, failures[i].calls) &&
            has_one_of(sentence, failures[i].sentences))
            return failures[i].rule;
    return "";
}

static char *sentence_of(log_state *state, uint32_t thread)
{
    for (uint32_t i = 0; i < THREADS; i++)
        if (state->last[i].thread == thread)
            return state->last[i].sentence;
    const uint32_t at = state->next++ % THREADS;
    state->last[at].thread = thread;
    state->last[at].sentence[0] = '\0';
    return state->last[at].sentence;
}

static void tell(gphi_rule_run *run, const gphi_call *call, const char *name,
                 const char *sentence)
{
    log_state *state = run->state;
    bool is_new;
    gphi_draft *draft = gphi_finding_begin_any(run, call, call->call, &is_new);
    if (call->result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
        state->root = draft;
    if (!draft || !is_new)
        return;
    gphi_cause(draft, "%s returned %s%s%s", name, gphi_say_result(call->result),
               sentence[0] != '\0' ? "; the driver says: " : "", sentence);
    gphi_evidence(draft, "read only from the driver's log (tier 0): without --tier 0 the "
                         "other calls are seen, too");
}

static void read_failure(gphi_rule_run *run, const gphi_event *event, const char *text,
                         const char *sentence)
{
    log_state *state = run->state;
    char name[96];
    int result = 0;
    if (sscanf(text, "Returning %d (%*[^)]) from %95s", &result, name) != 2)
        return;
    const gphi_call call = {
        .number = UINT64_MAX - ++state->failures, /* beyond those of calls */
        .time_ns = event->time_ns,
        .call = gphi_call_find(name),
        .thread = event->thread,
        .stack = event->stack,
        .result = result,
    };
    if (result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
        gphi_consequence(state->root, &call);
    else if (strcmp(rule_of(result, name, sentence), run->rule->id) == 0)
        tell(run, &call, name, sentence);
    else if (result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
             result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
        state->root = NULL; /* another rule's */
}

static void on_event(gphi_rule_run *run, const gphi_event *event)
{
    log_state *state = run->state;
    if (event->kind == GPHI_EVENT_PROCESS)
        state->is_log_only = event->word_count > 2 && gphi_event_word(event, 2) == 0;
    if (event->kind != GPHI_EVENT_LOG || !state->is_log_only)
        return;
    const char *text = gphi_event_text(event, 0);
    char *sentence = sentence_of(state, event->thread);
    if (strncmp(text, "Returning ", 10) == 0) {
        read_failure(run, event, text, sentence);
        sentence[0] = '\0';
    } else
        snprintf(sentence, CUT, "%s", text);
}

const gphi_rule gphi_rules_log[] = {
#define X(result, calls, sentences, rule)                                                \
    GPHI_RULE(rule, ERROR, .state_bytes = sizeof(log_state), .event = on_event),
    FAILURES(X)
#undef X
        {.id = NULL},
};
