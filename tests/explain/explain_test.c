// SPDX-License-Identifier: Apache-2.0
/* The knowledge base as data: each entry is whole, in both languages, and found by its
 * slug. */
#include "explain/scan.h"
#include "test.h"

#include <gph/explain.h>
#include <stdbool.h>

static bool is_text(const char *text)
{
    return text != NULL && text[0] != '\0' && text[0] != ' ' &&
           text[strlen(text) - 1] != ' ';
}

static size_t length(const char *const *list)
{
    size_t count = 0;
    while (list[count] != NULL) {
        CHECK(is_text(list[count]));
        count++;
    }
    return count;
}

static void every_entry_is_whole(void)
{
    CHECK(gph_explain_count() >= 70);
    for (size_t i = 0; i < gph_explain_count(); i++) {
        const gph_explain_entry *entry = gph_explain_at(i);
        CHECK(gph_explain_get(entry->slug) == entry); /* so no slug occurs twice */
        CHECK(entry->rank >= 0 && entry->rank <= 9);
        CHECK(is_text(entry->shown_by));
        const gph_explain_text *english = &entry->text[GPH_EXPLAIN_ENGLISH];
        for (int at = 0; at < GPH_EXPLAIN_LANGUAGES; at++) {
            const gph_explain_text *text = &entry->text[at];
            CHECK(is_text(text->title) && is_text(text->cause));
            CHECK(length(text->fix) > 0 && is_text(text->fix_text));
            CHECK(length(text->fix) == length(english->fix));
            CHECK(length(text->in_vain) == length(english->in_vain));
            CHECK(length(text->versions) == length(english->versions));
            CHECK((length(text->in_vain) > 0) == is_text(text->in_vain_text));
        }
        CHECK(english->title[strlen(english->title) - 1] != '.');
    }
}

static void what_is_not_there_is_null(void)
{
    CHECK(gph_explain_at(gph_explain_count()) == NULL);
    CHECK(gph_explain_get("capture.no-such-rule") == NULL);
    CHECK(gph_explain_get("") == NULL);
    CHECK(gph_explain_get(NULL) == NULL);
}

/* What the text leads to first; NULL if nowhere. */
static const gph_explain_match *first(const char *text, size_t bytes)
{
    static gph_explain_match matches[4];
    return gph_explain_find(text, bytes, matches, 4) > 0 ? &matches[0] : NULL;
}

static void must_lead(const char *key, const gph_explain_entry *to,
                      gph_explain_reason reason)
{
    const gph_explain_match *match = first(key, strlen(key));
    if (!CHECK(match != NULL && match->entry == to && match->reason == reason))
        fprintf(stderr, "%s leads to %s, not to %s\n", key,
                match != NULL ? match->entry->slug : "nothing", to->slug);
}

static void every_entry_is_found_by_its_slug_and_keys(void)
{
    size_t keys = 0;
    for (size_t i = 0; i < gph_explain_count(); i++) {
        const gph_explain_entry *entry = gph_explain_at(i);
        must_lead(entry->slug, entry, GPH_EXPLAIN_BY_SLUG);
        for (size_t at = 0; entry->codes[at] != NULL; at++, keys++)
            must_lead(entry->codes[at], entry, GPH_EXPLAIN_BY_CODE);
        for (size_t at = 0; entry->names[at] != NULL; at++, keys++)
            must_lead(entry->names[at], entry, GPH_EXPLAIN_BY_NAME);
        for (size_t at = 0; entry->messages[at] != NULL; at++, keys++)
            must_lead(entry->messages[at], entry, GPH_EXPLAIN_BY_MESSAGE);
    }
    CHECK(keys + gph_explain_count() < GPHI_KEYS_MAX);
}

/* What has no room in the index would never be found. */
static void the_index_has_room(void)
{
    const gphi_index *index = gphi_explain_index();
    CHECK(gph_explain_count() <= GPHI_ENTRIES_MAX);
    CHECK(index->key_count + 1 < GPHI_KEYS_MAX);
    CHECK(index->phrase_count + 1 < GPHI_PHRASES_MAX);
    CHECK(index->spelled_count + 1 < GPHI_SPELLED_MAX);
    CHECK(index->term_count * 2 < GPHI_TERMS_MAX);
    CHECK(index->posting_count < GPHI_POSTINGS_MAX - GPHI_POSTINGS_MAX / 16);
}

/* A message begins with two characters that are not spaces: the search looks for these. */
static void every_message_can_be_searched(void)
{
    for (size_t i = 0; i < gph_explain_count(); i++)
        for (const char *const *at = gph_explain_at(i)->messages; *at != NULL; at++)
            CHECK(strlen(*at) >= 8 && !gphi_is_space((*at)[0]) &&
                  !gphi_is_space((*at)[1]) && strstr(*at, "  ") == NULL);
}

static void what_people_call_it_leads_there(void)
{
    for (size_t i = 0; i < gph_explain_count(); i++)
        for (const char *const *at = gph_explain_at(i)->words; *at != NULL; at++) {
            gph_explain_match matches[4];
            const size_t count = gph_explain_find(*at, strlen(*at), matches, 4);
            bool is_there = false;
            for (size_t m = 0; m < count; m++)
                is_there |= matches[m].entry == gph_explain_at(i);
            if (!CHECK(is_there))
                fprintf(stderr, "\"%s\" does not lead to %s\n", *at,
                        gph_explain_at(i)->slug);
        }
}

static void leads_to(const char *text, const char *slug)
{
    const gph_explain_match *match = first(text, strlen(text));
    const char *found = match != NULL ? match->entry->slug : "nothing";
    if (!CHECK(strcmp(found, slug) == 0))
        fprintf(stderr, "\"%s\" leads to %s, not to %s\n", text, found, slug);
}

static void a_number_counts_where_it_is_a_code(void)
{
    leads_to("  910\n", "cuda/graph-exec-update-failed");
    leads_to("CUDA error 900", "cuda/900-stream-capture-unsupported");
    leads_to("报错：910", "cuda/graph-exec-update-failed");
    leads_to("程序崩溃，错误码（906）", "cuda/906-stream-capture-implicit");
    leads_to("cuGraphLaunch returned 1 at main.c:7\nbye", "cuda/1-invalid-value");
    leads_to("took 700 ms", "nothing");
    leads_to("HTTP error 500\nretrying", "nothing");
    leads_to("make: exit code 1\nmake: error 2", "nothing");
    leads_to("fixed in #910", "nothing");
    leads_to("step 900 of 1000\nstep 901 of 1000\n", "nothing");
}

static void a_name_is_whole(void)
{
    leads_to("torch.cuda.Graph", "none/torch.cuda.Graph");
    leads_to("g = torch.cuda.Graph()", "none/torch.cuda.Graph");
    leads_to("torch.cuda.Graph.replay", "none/torch.cuda.Graph");
    leads_to("with torch.cuda.graph(g):", "torch/graph-context");
    leads_to("torch.cuda.CUDAGraph()", "torch/cuda-graph");
    leads_to("cuGraphExecUpdate_v2_ptsz", "cuda/exec-update");
    leads_to("GGML_CUDA_GRAPH_DEBUG=1", "nothing");
    leads_to("CUDA_GRAPH_DEBUG=1 ./program", "none/CUDA_GRAPH_DEBUG");
    leads_to("cudaerrorstreamcapturemerge", "cuda/902-stream-capture-merge");
    leads_to("\x1b[31mcudaErrorStreamCaptureMerge\x1b[0m",
             "cuda/902-stream-capture-merge");
    leads_to("(cudaErrorStreamCaptureMerge/902)", "cuda/902-stream-capture-merge");
    leads_to("notcudaErrorStreamCaptureMerge", "nothing");
}

static void a_cause_is_told_before_its_consequence(void)
{
    leads_to("error 901\n...\nerror 900\n", "cuda/900-stream-capture-unsupported");
    leads_to("error 900\nerror 905\nerror 901\n", "cuda/905-stream-capture-isolation");
    leads_to(
        "cudaErrorStreamCaptureInvalidated: operation failed due to a previous error "
        "during capture\n[E] Capture sequence contains a fork that was not joined to "
        "the primary stream",
        "capture.unjoined-fork");
}

static void lines_are_counted(void)
{
    const char *text = "\n\n  first\nsecond: cudaErrorStreamCaptureMerge here\nthird\n";
    const gph_explain_match *match = first(text, strlen(text));
    if (!CHECK(match != NULL))
        return;
    CHECK(match->line == 4);
    CHECK(match->line_begin == 10 && match->line_bytes == 40);
    /* A color that does not end before its line does. */
    match = first("\x1b[1\ncudaErrorStreamCaptureMerge", 31);
    CHECK(match != NULL && match->line == 2);
}

static void what_is_mistyped_is_near(void)
{
    const char *near[3];
    static const struct {
        const char *typed, *meant;
    } cases[] = {
        {"cudaErrorStreamCaptureUnjoind", "cudaErrorStreamCaptureUnjoined"},
        {"CUDA_ERROR_STREAM_CAPTURE_ISOLATED", "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
        {"cudaErrorGraphExecUpdateFailur", "cudaErrorGraphExecUpdateFailure"},
        {"capture.unjoind-fork", "capture.unjoined-fork"},
        {"unjoined-fork", "capture.unjoined-fork"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const size_t count =
            gph_explain_near(cases[i].typed, strlen(cases[i].typed), near, 3);
        CHECK(count > 0 && strcmp(near[0], cases[i].meant) == 0);
    }
    CHECK(gph_explain_near("the weather", 11, near, 3) == 0);
    CHECK(gph_explain_near("", 0, near, 3) == 0);
}

/* Bytes of all kinds, and large ones: an answer comes, and soon. */
static void hostile_texts_are_survived(void)
{
    enum { BYTES = 10 << 20 };
    static const char *const pieces[] = {
        "\0",       " ",
        "\n",       "error 9",
        "\x1b[",    "捕获",
        "\xff\xc0", "cudaErrorStream",
        "1 ",       "operation not permitted when stream is   ",
    };
    char *text = malloc(BYTES);
    gph_explain_match matches[4];
    if (!CHECK(text != NULL))
        return;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        const size_t bytes = strlen(pieces[i]) > 0 ? strlen(pieces[i]) : 1;
        for (size_t at = 0; at < BYTES; at++)
            text[at] = pieces[i][at % bytes];
        CHECK(gph_explain_find(text, BYTES, matches, 4) <= 4);
    }
    memset(text, 'x', BYTES);
    memcpy(text + BYTES - 41, "\ncudaErrorStreamCaptureMerge              ", 41);
    CHECK(gph_explain_find(text, BYTES, matches, 4) == 1);
    CHECK(matches[0].line == 2);
    free(text);
    CHECK(gph_explain_find(NULL, 0, matches, 4) == 0);
    CHECK(gph_explain_find("", 0, matches, 4) == 0);
    CHECK(gph_explain_find("910", 3, matches, 0) == 0);
}

/* A name that looks like one of CUDA's and is none. */
static void names_that_do_not_exist_are_told(void)
{
    static const struct {
        const char *text, *name, *nearest;
    } asked[] = {
        {"cudaErrorGraphExecUpdateFailed", "cudaErrorGraphExecUpdateFailed",
         "cudaErrorGraphExecUpdateFailure"},
        {"what is cudaGraphInstantiateFlagAutoFree?", "cudaGraphInstantiateFlagAutoFree",
         "cudaGraphInstantiateFlagAutoFreeOnLaunch"},
        {"cuGraphInstantiateWithFlag", "cuGraphInstantiateWithFlag",
         "cuGraphInstantiateWithFlags"},
        {"call torch.cuda.graph_capture.", "torch.cuda.graph_capture",
         "torch.cuda.graph"},
        {"CUDA_ERROR_XYZZY", "CUDA_ERROR_XYZZY", NULL},
    };
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        size_t begin = 0;
        const char *nearest = "none";
        const size_t bytes =
            gph_explain_missing(asked[i].text, strlen(asked[i].text), &begin, &nearest);
        CHECK(bytes == strlen(asked[i].name) &&
              memcmp(asked[i].text + begin, asked[i].name, bytes) == 0);
        if (asked[i].nearest != NULL)
            CHECK(nearest != NULL && strcmp(nearest, asked[i].nearest) == 0);
    }
}

static void what_exists_is_not_missing(void)
{
    static const char *const texts[] = {
        "cudaErrorECCUncorrectable", "cuGraphInstantiate_v2",
        "cuGraphExecUpdate_v2_ptsz", "CUDA_ERROR_ECC_UNCORRECTABLE",
        "cudaGraphExec_t",           "cudaGraphs are fast",
        "torch.cuda.CUDAGraph",      "torch.cuda.graphs.make_graphed_callables",
        "cudaStreamBeginCapture",    "CU_STREAM_CAPTURE_MODE_RELAXED",
        "cudagraph_trees",           "",
        "torch.cuda.synchronize"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        size_t begin = 7;
        const char *nearest = "untouched";
        if (!CHECK(gph_explain_missing(texts[i], strlen(texts[i]), &begin, &nearest) ==
                   0))
            fprintf(stderr, "%s\n", texts[i]);
        CHECK(begin == 7 && strcmp(nearest, "untouched") == 0);
    }
    size_t begin = 7;
    const char *nearest = NULL;
    CHECK(gph_explain_missing(NULL, 10, &begin, &nearest) == 0);
    char longest[300];
    memset(longest, 'A', sizeof(longest));
    memcpy(longest, "cudaError", 9);
    CHECK(gph_explain_missing(longest, sizeof(longest), &begin, &nearest) == 0);
}

/* A name that no entry has comes first of those that are near, without its version. */
static void names_that_exist_are_near(void)
{
    static const char *const texts[] = {"cudaStreamCaptureModeRelaxed",
                                        "cuGraphExecUpdate_v2", "torch.cuda.CUDAGraph"};
    static const char *const names[] = {"cudaStreamCaptureModeRelaxed",
                                        "cuGraphExecUpdate", "torch.cuda.CUDAGraph"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *near[4];
        CHECK(gph_explain_near(texts[i], strlen(texts[i]), near, 4) >= 1 &&
              strcmp(near[0], names[i]) == 0);
    }
}

int main(void)
{
    RUN(every_entry_is_whole);
    RUN(what_is_not_there_is_null);
    RUN(every_entry_is_found_by_its_slug_and_keys);
    RUN(the_index_has_room);
    RUN(every_message_can_be_searched);
    RUN(what_people_call_it_leads_there);
    RUN(a_number_counts_where_it_is_a_code);
    RUN(a_name_is_whole);
    RUN(a_cause_is_told_before_its_consequence);
    RUN(lines_are_counted);
    RUN(what_is_mistyped_is_near);
    RUN(hostile_texts_are_survived);
    RUN(names_that_do_not_exist_are_told);
    RUN(what_exists_is_not_missing);
    RUN(names_that_exist_are_near);
    return test_done();
}
