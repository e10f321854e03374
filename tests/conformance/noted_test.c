// SPDX-License-Identifier: Apache-2.0
/* What softcuda notes of the device side for gph doctor's report: branches, rounds, launches by
 * kernels. This program takes the place of the attached library. */
#include "event/event.h"
#include "rules/device_kernels.h"
#include <pthread.h>

enum { NOTES = 4096, NOTE_WORDS = 24 };

typedef struct note {
    uint32_t kind, count;
    uint64_t words[NOTE_WORDS];
    char text[80];
} note;

static note notes[NOTES];
static uint32_t note_count;
static pthread_mutex_t noting = PTHREAD_MUTEX_INITIALIZER;

__attribute__((visibility("default"))) void
gph_attach_note(uint32_t kind, const uint64_t *words, uint32_t count, const char *text);

void gph_attach_note(uint32_t kind, const uint64_t *words, uint32_t count,
                     const char *text)
{
    pthread_mutex_lock(&noting);
    if (note_count < NOTES && count <= NOTE_WORDS) {
        note *n = &notes[note_count++];
        *n = (note){.kind = kind, .count = count};
        memcpy(n->words, words, count * sizeof(*words));
        snprintf(n->text, sizeof(n->text), "%s", text);
    }
    pthread_mutex_unlock(&noting);
}

/* The notes of a kind on an executable and a node, 0: any. */
static uint32_t find(uint32_t kind, const void *exec, const void *node, const note **out)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < note_count; i++) {
        const note *n = &notes[i];
        if (n->kind != kind || n->words[0] != (uint64_t)(uintptr_t)exec ||
            (node && n->words[1] != (uint64_t)(uintptr_t)node))
            continue;
        if (out && found < 64)
            out[found] = n;
        found++;
    }
    return found;
}

/* ---- conditional nodes ---- */

/* step(handle, word): counts the word down and sets what is left */
static const char step_ptx[] = DEVICE_HEAD
    ".extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);\n"
    ".visible .entry step(.param .u64 handle, .param .u64 word)\n"
    "{\n"
    "  .reg .b32 %r<3>; .reg .b64 %d<3>;\n"
    "  ld.param.u64 %d1, [handle]; ld.param.u64 %d2, [word];\n"
    "  ld.global.u32 %r1, [%d2]; add.u32 %r2, %r1, -1; st.global.u32 [%d2], %r2;\n"
    "  { .param .b64 h; .param .b32 v; st.param.b64 [h], %d1; st.param.b32 [v], %r2;\n"
    "    call.uni cudaGraphSetConditional, (h, v); }\n"
    "  ret;\n"
    "}\n";
static CUfunction step;
static CUcontext context;
static CUdeviceptr word;

typedef struct decider {
    CUgraphNode node;
    CUgraphConditionalHandle handle;
    CUgraph body[3];
} decider;

static decider conditional(CUgraph graph, CUgraphConditionalNodeType type, unsigned size,
                           unsigned value)
{
    decider made = {0};
    OK(cu.cuGraphConditionalHandleCreate(&made.handle, graph, context, value,
                                         CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = made.handle;
    params.conditional.type = type;
    params.conditional.size = size;
    params.conditional.ctx = context;
    OK(cu.cuGraphAddNode(&made.node, graph, NULL, NULL, 0, &params));
    for (unsigned i = 0; i < size; i++)
        made.body[i] = params.conditional.phGraph_out[i];
    return made;
}

static void steps(CUgraph body, CUgraphConditionalHandle handle)
{
    CUgraphNode node = NULL;
    void *args[] = {&handle, &word};
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(step, args);
    OK(cu.cuGraphAddKernelNode(&node, body, NULL, 0, &params));
}

static void set_word(CUdeviceptr at, unsigned value)
{
    OK(cu.cuMemsetD32(at, value, 1));
    OK(cu.cuCtxSynchronize()); /* the stream waits for nobody */
}

static void rounds_are_noted(void)
{
    CUgraph graph = new_graph();
    const decider loop = conditional(graph, CU_GRAPH_COND_TYPE_WHILE, 1, 1);
    steps(loop.body[0], loop.handle);
    CUgraphExec exec = instantiate(graph);
    for (unsigned rounds = 3; rounds <= 40; rounds += 37) {
        note_count = 0;
        set_word(word, rounds);
        launch_and_wait(exec);
        const note *got[64];
        const unsigned known = rounds < 16 ? rounds : 16;
        if (!CHECK(find(GPHI_NOTE_DECISION, exec, loop.node, got) == 1) ||
            !CHECK(got[0]->count == 7 + known))
            continue;
        const uint64_t *w = got[0]->words;
        CHECK(w[2] == 1 && w[3] == 0 && w[4] == rounds && w[5] <= w[6]);
        for (unsigned i = 0; i < known; i++)
            CHECK(w[7 + i] >= (i == 0 ? w[5] : w[6 + i]) && w[7 + i] <= w[6]);
        CHECK(find(GPHI_NOTE_DECISIONS, exec, loop.node, NULL) == 0);
    }
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

static void branches_are_noted(void)
{
    static const struct {
        CUgraphConditionalNodeType type;
        unsigned size, value;
        uint64_t body;
    } cases[] = {{CU_GRAPH_COND_TYPE_IF, 1, 1, 0},
                 {CU_GRAPH_COND_TYPE_IF, 1, 0, UINT64_MAX},
                 {CU_GRAPH_COND_TYPE_IF, 2, 0, 1},
                 {CU_GRAPH_COND_TYPE_SWITCH, 3, 2, 2},
                 {CU_GRAPH_COND_TYPE_SWITCH, 3, 7, UINT64_MAX}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CUgraph graph = new_graph();
        const decider branch =
            conditional(graph, cases[i].type, cases[i].size, cases[i].value);
        for (unsigned b = 0; b < cases[i].size; b++)
            marks(branch.body[b], NULL, b);
        CUgraphExec exec = instantiate(graph);
        note_count = 0;
        clear();
        launch_and_wait(exec);
        const note *got[64];
        if (CHECK(find(GPHI_NOTE_DECISION, exec, branch.node, got) == 1))
            CHECK(got[0]->words[2] == (uint64_t)cases[i].type &&
                  got[0]->words[3] == cases[i].body &&
                  got[0]->words[4] == (cases[i].body != UINT64_MAX));
        OK(cu.cuGraphExecDestroy(exec));
        OK(cu.cuGraphDestroy(graph));
    }
}

/* A branch in a loop of 200 rounds: the first 64 times one by one, the others as a sum. */
static void many_times_are_summed_up(void)
{
    CUgraph graph = new_graph();
    const decider loop = conditional(graph, CU_GRAPH_COND_TYPE_WHILE, 1, 1);
    const decider branch = conditional(loop.body[0], CU_GRAPH_COND_TYPE_IF, 1, 1);
    marks(branch.body[0], NULL, 5);
    steps(loop.body[0], loop.handle);
    CUgraphExec exec = instantiate(graph);
    for (int launch = 0; launch < 2; launch++) {
        note_count = 0;
        clear();
        set_word(word, 200);
        launch_and_wait(exec);
        const note *got[64];
        CHECK(find(GPHI_NOTE_DECISION, exec, branch.node, NULL) == 64);
        if (CHECK(find(GPHI_NOTE_DECISIONS, exec, branch.node, got) == 1))
            CHECK(got[0]->words[3] == 136 && got[0]->words[4] == 136 &&
                  got[0]->words[5] == 136);
    }
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* ---- launches by kernels ---- */

static void launches_are_noted(void)
{
    static const uint64_t streams[] = {TAIL, FORGET, SIBLING};
    for (uint32_t i = 0; i < 3; i++) {
        CUgraphExec exec = marking(7);
        CUgraph graph = new_graph();
        fires(graph, NULL, exec, streams[i], 0);
        CUgraphExec host = instantiate(graph);
        note_count = 0;
        clear();
        launch_and_wait(host);
        const note *got[64];
        if (CHECK(find(GPHI_NOTE_DEVICE_RUN, exec, host, got) == 1))
            CHECK(got[0]->words[2] == i + 1 && got[0]->words[3] == 1 &&
                  got[0]->words[4] <= got[0]->words[5]);
        OK(cu.cuGraphExecDestroy(host));
        OK(cu.cuGraphExecDestroy(exec));
        OK(cu.cuGraphDestroy(graph));
    }
}

/* A graph launches itself 5,000 times: no run is lost. */
static void runs_in_a_row_are_summed_up(void)
{
    CUgraph graph = new_graph();
    CUdeviceptr left = answer + 1024, out = answer;
    void *args[] = {&left, &out};
    node_behind(graph, NULL, "again", args);
    CUgraphExec exec = uploaded(graph);
    note_count = 0;
    set_word(left, 5000);
    launch_and_wait(exec);
    const note *got[64];
    uint64_t runs = 0;
    const uint32_t count = find(GPHI_NOTE_DEVICE_RUN, exec, exec, got);
    CHECK(count >= 65 && count <= 68);
    for (uint32_t i = 0; i < note_count; i++)
        if (notes[i].kind == GPHI_NOTE_DEVICE_RUN)
            runs += notes[i].words[3];
    CHECK(runs == 5000);
    OK(cu.cuGraphExecDestroy(exec));
}

static void refusals_are_noted(void)
{
    CUgraph graph = new_graph();
    marks(graph, NULL, 7);
    CUgraphExec exec = for_device(graph); /* not uploaded */
    OK(cu.cuGraphDestroy(graph));
    graph = new_graph();
    fires(graph, NULL, exec, TAIL, 0);
    CUgraphExec host = instantiate(graph);
    note_count = 0;
    clear();
    launch_and_wait(host);
    const note *got[64];
    if (CHECK(find(GPHI_NOTE_DEVICE_REFUSED, exec, host, got) == 1))
        CHECK(strcmp(got[0]->text, "it was not uploaded") == 0);
    CHECK(find(GPHI_NOTE_DEVICE_RUN, exec, NULL, NULL) == 0);
    OK(cu.cuGraphExecDestroy(host));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

int main(void)
{
    setenv("SOFTCUDA_WORKERS", "4", 0);
    DEVICE_OR_SKIP();
    if (!driver_is_soft) {
        printf("these notes are softcuda's\n");
        return 77;
    }
    use_primary();
    set_up();
    CUmodule module = NULL;
    OK(cu.cuModuleLoadData(&module, step_ptx));
    OK(cu.cuModuleGetFunction(&step, module, "step"));
    OK(cu.cuCtxGetCurrent(&context));
    OK(cu.cuMemAlloc(&word, 4));
    RUN(rounds_are_noted);
    RUN(branches_are_noted);
    RUN(many_times_are_summed_up);
    RUN(launches_are_noted);
    RUN(runs_in_a_row_are_summed_up);
    RUN(refusals_are_noted);
    return test_done();
}
