// SPDX-License-Identifier: Apache-2.0
/* Words of CUDA's and PyTorch's graph interfaces: each leads to an entry that speaks of
 * it, and the entry says since when there is one. */
#include "cuda/calls.h"
#include "explain/names.h"
#include "test.h"

#include <ctype.h>
#include <gph/explain.h>
#include <stdbool.h>

static const struct {
    const char *name;
    unsigned version; /* 12030 is CUDA 12.3 */
} symbols[] = {
#define ROW(symbol, name, version, per_thread, arguments) {#name, version},
    GPHI_CUDA_SYMBOLS(ROW)};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static void must_name(const char *name)
{
    gph_explain_match match;
    const size_t count = gph_explain_find(name, strlen(name), &match, 1);
    const bool is_named =
        count > 0 && match.reason == GPH_EXPLAIN_BY_NAME && strcmp(match.key, name) == 0;
    if (!CHECK(is_named))
        fprintf(stderr, "%s leads to %s\n", name,
                count > 0 ? match.entry->slug : "nothing");
}

/* Errors that have nothing to do with graphs, and graphics, are left out. */
static bool is_of_graphs(const char *name)
{
    return !begins(name, "cudaError") && !begins(name, "CUDA_ERROR_") &&
           !strstr(name, "raphics") && !strstr(name, "uccess") &&
           strcmp(name, "CUDA_SUCCESS") != 0;
}

static void every_name_of_graphs_and_captures_has_an_entry(void)
{
    size_t count = 0;
    for (size_t i = 0; i < gphi_names_count; i++)
        if (is_of_graphs(gphi_names[i])) {
            must_name(gphi_names[i]);
            count++;
        }
    CHECK(count >= 350);
}

static void every_call_of_graphs_has_an_entry(void)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        const char *name = symbols[i].name;
        const bool is_ours =
            strstr(name, "Graph") || strstr(name, "Captur") || strstr(name, "UserObject");
        if (is_ours && is_of_graphs(name)) {
            must_name(name);
            count++;
        }
    }
    CHECK(count >= 100);
}

/* What is on the device, and in PyTorch: no header that is here lists these. */
static const char *const names[] = {
    "cudaStreamGraphFireAndForget",
    "cudaStreamGraphTailLaunch",
    "cudaStreamGraphFireAndForgetAsSibling",
    "cudaGetCurrentGraphExec",
    "cudaGraphSetConditional",
    "cudaGridDependencySynchronize",
    "cudaTriggerProgrammaticLaunchCompletion",
    "cudaEventRecordExternal",
    "cudaEventWaitExternal",
    "cudaDeviceGraphMemTrim",
    "cudaDeviceGetGraphMemAttribute",
    "cudaUserObjectCreate",
    "capture_begin",
    "capture_end",
    "debug_dump",
    "enable_debug_mode",
    "register_generator_state",
    "keep_graph",
    "raw_cuda_graph",
    "raw_cuda_graph_exec",
    "torch.cuda.CUDAGraph",
    "torch.cuda.graph",
    "torch.cuda.graph_pool_handle",
    "torch.cuda.MemPool",
    "torch.cuda.make_graphed_callables",
    "torch.cuda.is_current_stream_capturing",
    "graph_pool_handle",
    "make_graphed_callables",
    "num_warmup_iters",
    "allow_unused_input",
    "capture_error_mode",
    "torch.compiler.cudagraph_mark_step_begin",
    "mark_step_begin",
    "torch._inductor.config.triton.cudagraphs",
    "torch._inductor.config.triton.cudagraph_trees",
    "torch._inductor.config.triton.cudagraph_skip_dynamic_graphs",
    "torch._inductor.config.triton.cudagraph_capture_sizes",
    "torch._inductor.config.triton.cudagraph_support_input_mutation",
    "torch._inductor.config.triton.cudagraph_unexpected_rerecord_limit",
    "torch._inductor.config.triton.cudagraph_dynamic_shape_warn_limit",
    "torch._inductor.config.triton.cudagraph_or_error",
    "torch._inductor.config.triton.skip_cudagraph_warmup",
    "torch._inductor.config.triton.force_cudagraph_sync",
    "TORCHINDUCTOR_CUDAGRAPHS",
    "PYTORCH_CUDA_ALLOC_CONF",
    "expandable_segments",
    "max_split_size_mb",
    "zero_grad",
    "set_to_none",
    "capturable"};
static const struct {
    const char *text, *slug;
} said[] = {
    {"fire-and-forget", "cuda/device-launch"},
    {"fire and forget", "cuda/device-launch"},
    {"tail launch", "cuda/device-launch"},
    {"graph pool handle", "torch/graph-pool"},
    {"make graphed callables", "torch/graphed-callables"},
    {"mark step begin", "torch/mark-step-begin"},
    {"memory fragmentation", "torch/allocator-settings"},
    {"显存碎片", "torch/allocator-settings"},
    {"内存碎片", "torch/allocator-settings"},
    {"expandable segments", "torch/allocator-settings"},
    {"cudnn.benchmark", "cache.frozen-choice"},
    {"torch.backends.cudnn.benchmark", "cache.frozen-choice"},
    {"zero grad", "torch/zero-grad"},
    {"reduce-overhead", "torch/cudagraph-trees"},
    {"torch.cuda.CUDAGraph.replay", "torch/cuda-graph"},
    {"torch.cuda.CUDAGraph.reset", "torch/cuda-graph"},
    {"programmatic dependent launch", "cuda/edge-data"},
    {"conditional node", "cuda/conditional-nodes"},
};

static void every_word_of_pytorch_and_of_the_device_has_an_entry(void)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        must_name(names[i]);
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        gph_explain_match match;
        const size_t count =
            gph_explain_find(said[i].text, strlen(said[i].text), &match, 1);
        if (!CHECK(count > 0 && strcmp(match.entry->slug, said[i].slug) == 0))
            fprintf(stderr, "%s leads to %s\n", said[i].text,
                    count > 0 ? match.entry->slug : "nothing");
    }
}

/* "12.3", "545.23.06", "<=2.1" */
static bool is_version(const char *text)
{
    if (begins(text, "<="))
        text += 2;
    if (!isdigit((unsigned char)text[0]) || !strchr(text, '.'))
        return false;
    return strspn(text, "0123456789.") == strlen(text);
}

static bool is_status(const char *text)
{
    static const char *const known[] = {"current", "beta", "internal", "deprecated",
                                        "removed"};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i], text) == 0)
            return true;
    return false;
}

static void every_interface_says_since_when(void)
{
    size_t features = 0;
    for (size_t i = 0; i < gph_explain_count(); i++) {
        const gph_explain_entry *entry = gph_explain_at(i);
        const gph_explain_since *since = entry->since;
        for (int at = 0; at < GPH_EXPLAIN_PRODUCTS; at++) {
            const bool has = since[at].introduced[0] != '\0';
            bool is_right = has ? is_version(since[at].introduced) &&
                                      is_status(since[at].status) &&
                                      since[at].source[0] != '\0'
                                : since[at].deprecated[0] == '\0';
            is_right = is_right && (since[at].deprecated[0] == '\0' ||
                                    is_version(since[at].deprecated));
            if (!CHECK(is_right))
                fprintf(stderr, "%s, product %d\n", entry->slug, at);
        }
        CHECK((since[GPH_EXPLAIN_CUDA].introduced[0] != '\0') ==
              (since[GPH_EXPLAIN_DRIVER].introduced[0] != '\0'));
        if (entry->kind != GPH_EXPLAIN_FEATURE)
            continue;
        features++;
        if (!CHECK(since[GPH_EXPLAIN_CUDA].introduced[0] != '\0' ||
                   since[GPH_EXPLAIN_PYTORCH].introduced[0] != '\0'))
            fprintf(stderr, "%s does not say since when\n", entry->slug);
    }
    CHECK(features >= 40);
}

/* The oldest version of any call that the entry names; 0: none is a call. */
static unsigned oldest_call(const gph_explain_entry *entry)
{
    unsigned oldest = 0;
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
        for (const char *const *name = entry->names; *name; name++)
            if (strcmp(*name, symbols[i].name) == 0 &&
                (oldest == 0 || symbols[i].version < oldest))
                oldest = symbols[i].version;
    return oldest;
}

/* Calls that entries name only because they become nodes when captured are older. */
static void versions_are_those_of_the_headers(void)
{
    size_t checked = 0;
    for (size_t i = 0; i < gph_explain_count(); i++) {
        const gph_explain_entry *entry = gph_explain_at(i);
        const char *introduced = entry->since[GPH_EXPLAIN_CUDA].introduced;
        const unsigned oldest = oldest_call(entry);
        if (entry->kind != GPH_EXPLAIN_FEATURE || oldest == 0 || introduced[0] == '\0')
            continue;
        unsigned major = 0, minor = 0;
        CHECK(sscanf(introduced, "%u.%u", &major, &minor) == 2);
        const bool is_captured = strcmp(entry->slug, "cuda/memory-nodes") == 0 ||
                                 strcmp(entry->slug, "cuda/batch-memop-node") == 0;
        const unsigned version = major * 1000 + minor * 10;
        if (!CHECK(is_captured ? version > oldest : version == oldest))
            fprintf(stderr, "%s says %s, the headers %u\n", entry->slug, introduced,
                    oldest);
        checked++;
    }
    CHECK(checked >= 25);
}

int main(void)
{
    RUN(every_name_of_graphs_and_captures_has_an_entry);
    RUN(every_call_of_graphs_has_an_entry);
    RUN(every_word_of_pytorch_and_of_the_device_has_an_entry);
    RUN(every_interface_says_since_when);
    RUN(versions_are_those_of_the_headers);
    return test_done();
}
