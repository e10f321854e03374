// SPDX-License-Identifier: Apache-2.0
/* Random graphs that launch each other, against a model of R72 to R77: what each launch
 * answers, and in which order all of it runs. */
#include "rules/device_kernels.h"

enum { GRAPHS = 6, LAUNCHES = 5, PROGRAMS = 40, LEAF = 1000, LOG = 1000 };

/* step(list, count, fuel, log, answers, id): marks, then launches what the list says;
 * a launch into the tail takes fuel, and is left out without. */
static const char step_ptx[] = DEVICE_HEAD
    ".extern .func (.param .b32 r) cudaGraphLaunch(.param .b64 e, .param .b64 s);\n"
    ".visible .entry step(.param .u64 list, .param .u32 count, .param .u64 fuel, .param "
    ".u64 log, .param .u64 answers, .param .u32 id)\n"
    "{\n"
    "  .reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %d<12>;\n"
    "  ld.param.u64 %d1, [list]; ld.param.u32 %r1, [count]; ld.param.u64 %d2, [fuel];\n"
    "  ld.param.u64 %d3, [log]; ld.param.u64 %d4, [answers]; ld.param.u32 %r2, [id];\n"
    "  atom.global.add.u32 %r3, [%d3], 1;\n"
    "  mul.wide.u32 %d5, %r3, 4; add.s64 %d5, %d3, %d5; st.global.u32 [%d5+4], %r2;\n"
    "more:\n"
    "  setp.eq.u32 %p1, %r1, 0; @%p1 bra done;\n"
    "  ld.global.u64 %d6, [%d1]; ld.global.u64 %d7, [%d1+8];\n"
    "  setp.ne.u64 %p2, %d7, 0x0100000000000000; @%p2 bra launch;\n"
    "  ld.global.u32 %r4, [%d2]; setp.eq.u32 %p3, %r4, 0; @%p3 bra next;\n"
    "  sub.u32 %r4, %r4, 1; st.global.u32 [%d2], %r4;\n"
    "launch:\n"
    "  { .param .b64 e; .param .b64 s; .param .b32 r;\n"
    "    st.param.b64 [e], %d6; st.param.b64 [s], %d7;\n"
    "    call.uni (r), cudaGraphLaunch, (e, s); ld.param.b32 %r5, [r]; }\n"
    "  ld.global.u32 %r6, [%d4]; add.u32 %r7, %r6, 1; st.global.u32 [%d4], %r7;\n"
    "  mul.wide.u32 %d8, %r6, 4; add.s64 %d8, %d4, %d8; st.global.u32 [%d8+4], %r5;\n"
    "next:\n"
    "  add.s64 %d1, %d1, 16; sub.u32 %r1, %r1, 1;\n"
    "  bra.uni more;\n"
    "done:\n"
    "  ret;\n"
    "}\n";

struct entry {
    unsigned target; /* a graph for the tail, a leaf else */
    bool is_leaf;
};

struct program {
    unsigned graphs, count[GRAPHS];
    struct entry entries[GRAPHS][LAUNCHES];
    CUgraphExec execs[GRAPHS], leaves[GRAPHS][LAUNCHES];
    CUdeviceptr lists[GRAPHS];
};

/* What runs, graph by graph, and what is answered. */
struct model {
    unsigned fuel;
    unsigned runs[LOG], run_count;
    unsigned answers[LOG], answer_count;
};

static CUfunction step;
static CUdeviceptr fuel;
static uint32_t random_state;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % below;
}

/* ---- the model --------------------------------------------------------------------- */

/* Runs a graph; its tails go to `mine`. pending: in a list of tails, or runs. */
static unsigned run_one(const struct program *p, struct model *m, unsigned graph,
                        bool *pending, unsigned *mine)
{
    unsigned tails = 0;
    bool again = false;
    m->runs[m->run_count++] = graph;
    for (unsigned i = 0; i < p->count[graph]; i++) {
        const struct entry *e = &p->entries[graph][i];
        if (!e->is_leaf && m->fuel == 0)
            continue;
        m->fuel -= !e->is_leaf;
        const bool fits =
            e->is_leaf || (e->target == graph ? !again : !pending[e->target]);
        m->answers[m->answer_count++] = !fits;
        if (e->is_leaf || !fits)
            continue;
        again |= e->target == graph;
        pending[e->target] = true;
        mine[tails++] = e->target;
    }
    pending[graph] = again;
    return tails;
}

static void model_launch(const struct program *p, struct model *m)
{
    unsigned rest[GRAPHS + LAUNCHES] = {0}, count = 1;
    bool pending[GRAPHS] = {true};
    while (count > 0) {
        unsigned mine[GRAPHS + LAUNCHES];
        const unsigned graph = rest[0];
        memmove(rest, rest + 1, --count * sizeof(*rest));
        const unsigned tails = run_one(p, m, graph, pending, mine);
        memmove(rest + tails, rest, count * sizeof(*rest));
        memcpy(rest, mine, tails * sizeof(*mine));
        count += tails;
    }
}

/* ---- the driver -------------------------------------------------------------------- */

static void build(struct program *p, uint32_t seed)
{
    random_state = seed * 7919 + 1;
    *p = (struct program){.graphs = 1 + draw(GRAPHS)};
    for (unsigned g = 0; g < p->graphs; g++) {
        CUgraph graph = new_graph();
        p->count[g] = draw(LAUNCHES + 1);
        CUdeviceptr answers = answer;
        OK(cu.cuMemAlloc(&p->lists[g], sizeof(uint64_t) * 2 * LAUNCHES));
        for (unsigned i = 0; i < p->count[g]; i++) {
            struct entry *e = &p->entries[g][i];
            e->is_leaf = draw(3) == 0;
            e->target = draw(p->graphs);
            if (e->is_leaf)
                p->leaves[g][i] = marking(LEAF + g * LAUNCHES + i);
        }
        void *args[] = {&p->lists[g], &p->count[g], &fuel, &log_, &answers, &g};
        const CUDA_KERNEL_NODE_PARAMS params = one_thread(step, args);
        CUgraphNode node;
        OK(cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
        p->execs[g] = uploaded(graph);
    }
    for (unsigned g = 0; g < p->graphs; g++)
        for (unsigned i = 0; i < p->count[g]; i++) {
            const struct entry *e = &p->entries[g][i];
            const uint64_t pair[2] = {
                (uint64_t)(uintptr_t)(e->is_leaf ? p->leaves[g][i] : p->execs[e->target]),
                e->is_leaf ? FORGET : TAIL};
            OK(cu.cuMemcpyHtoD(p->lists[g] + i * sizeof(pair), pair, sizeof(pair)));
        }
}

static void drop(struct program *p)
{
    OK(cu.cuCtxSynchronize());
    for (unsigned g = 0; g < p->graphs; g++) {
        OK(cu.cuGraphExecDestroy(p->execs[g]));
        OK(cu.cuMemFree(p->lists[g]));
        for (unsigned i = 0; i < p->count[g]; i++)
            if (p->leaves[g][i])
                OK(cu.cuGraphExecDestroy(p->leaves[g][i]));
    }
}

/* Each run's mark, then those of its leaves, in any order, before the next run's. */
static bool ran_as(const struct program *p, const struct model *m)
{
    static unsigned got[LOG];
    OK(cu.cuMemcpyDtoH(got, log_, sizeof(got)));
    unsigned at = 1;
    for (unsigned k = 0; k < m->run_count; k++) {
        const unsigned g = m->runs[k];
        bool seen[LAUNCHES] = {false};
        if (got[at++] != g)
            return false;
        for (unsigned i = 0; i < p->count[g]; i++) {
            if (!p->entries[g][i].is_leaf)
                continue;
            const unsigned leaf = got[at++] - LEAF - g * LAUNCHES;
            if (leaf >= p->count[g] || !p->entries[g][leaf].is_leaf || seen[leaf])
                return false;
            seen[leaf] = true;
        }
    }
    return got[0] == at - 1;
}

static bool answered_as(const struct model *m)
{
    static unsigned got[LOG];
    OK(cu.cuMemcpyDtoH(got, answer, sizeof(got)));
    return got[0] == m->answer_count &&
           memcmp(got + 1, m->answers, m->answer_count * sizeof(*got)) == 0;
}

/* `launches` of the host that are queued at once. */
static void compare(const struct program *p, unsigned launches)
{
    static struct model m;
    m.run_count = m.answer_count = 0;
    m.fuel = 30;
    OK(cu.cuMemsetD32(log_, 0, 1024));
    OK(cu.cuMemsetD32(answer, 0, 1024));
    OK(cu.cuMemsetD32(fuel, m.fuel, 1));
    OK(cu.cuCtxSynchronize());
    for (unsigned i = 0; i < launches; i++) {
        OK(cu.cuGraphLaunch(p->execs[0], stream));
        model_launch(p, &m);
    }
    OK(cu.cuStreamSynchronize(stream));
    CHECK(answered_as(&m));
    CHECK(ran_as(p, &m));
}

static void graphs_launch_each_other_as_the_model_says(void)
{
    static struct program p;
    for (uint32_t seed = 0; seed < PROGRAMS && test_failures == 0; seed++) {
        build(&p, seed);
        for (unsigned launch = 0; launch < 6; launch++)
            compare(&p, 1 + launch % 3);
        drop(&p);
    }
}

int main(void)
{
    CUmodule module;
    DEVICE_OR_SKIP();
    use_primary();
    set_up();
    fuel = new_words();
    OK(cu.cuModuleLoadData(&module, step_ptx));
    OK(cu.cuModuleGetFunction(&step, module, "step"));
    RUN(graphs_launch_each_other_as_the_model_says);
    return test_done();
}
