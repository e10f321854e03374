// SPDX-License-Identifier: Apache-2.0
/* The patterns about what a capture can hold: branches, allocations, host calls. */
#include "common.h"

/* Captures what `work` puts into the stream; NULL, and the error says why, if it cannot.
 */
static gph_exec *capture(common *c, gph_status (*work)(common *c, void *user), void *user)
{
    gph_capture *open = NULL;
    CUgraph graph = NULL;
    gph_exec *exec = NULL;
    MUST(gph_capture_begin(c->gph, c->stream, NULL, &open, &c->error));
    const gph_status status = work(c, user);
    if (gph_capture_end(open, &graph, &c->error) != GPH_OK || status != GPH_OK)
        return NULL;
    MUST(gph_exec_create(c->gph, graph, NULL, &exec, &c->error));
    CU(GraphDestroy, graph);
    return exec;
}

static float replay(common *c, gph_exec *exec, CUdeviceptr result)
{
    c->launches++;
    MUST(gph_exec_launch(exec, c->stream, &c->error));
    return read_float(c, result);
}

/* ---- branch: y = 1 if the condition holds, else 2 ---- */

typedef struct branch {
    CUdeviceptr y;
    int holds;
} branch;

static gph_status branch_work(common *c, void *user)
{
    branch *b = user;
    float value = b->holds ? 1 : 2;
    unsigned one = 1;
    return LAUNCH(fill, 1, &b->y, &value, &one);
}

void pattern_branch(common *c)
{
    branch b = {.holds = 1};
    MUST(gph_pool_alloc(c->pool, 4, c->stream, &b.y, &c->error));
    gph_exec *yes = capture(c, branch_work, &b);
    puts("branch");
    printf("  before: captured while the condition was true: y is %g; it is false now, "
           "and y is still %g\n",
           (double)replay(c, yes, b.y), (double)replay(c, yes, b.y));
    b.holds = 0;
    gph_exec *no = capture(c, branch_work, &b);
    printf("  after:  a graph for each way, and the host chooses: y is %g, then %g\n",
           (double)replay(c, yes, b.y), (double)replay(c, no, b.y));
    gph_exec_destroy(yes);
    gph_exec_destroy(no);
    MUST(gph_pool_free(c->pool, b.y, c->stream, &c->error));
}

/* ---- preallocation: a temporary of 4,000 bytes ---- */

static gph_status allocate_inside(common *c, void *user)
{
    CUdeviceptr *temporary = user;
    return gph_cuda_check(c->cu->MemAlloc(temporary, 4000), "cuMemAlloc", &c->error);
}

typedef struct sum {
    CUdeviceptr temporary, result;
} sum;

static gph_status sum_work(common *c, void *user)
{
    sum *s = user;
    unsigned n = 1000;
    float one = 1;
    const gph_status status = LAUNCH(fill, n, &s->temporary, &one, &n);
    return status != GPH_OK ? status : LAUNCH(total, 1, &s->result, &s->temporary, &n);
}

void pattern_preallocation(common *c)
{
    CUdeviceptr inside = 0;
    sum s;
    puts("preallocation");
    if (capture(c, allocate_inside, &inside) == NULL)
        printf("  before: %s at %s\n", gph_status_name(c->error.code),
               gph_cause_last()->call);
    MUST(gph_pool_alloc(c->pool, 4000, c->stream, &s.temporary, &c->error));
    MUST(gph_pool_alloc(c->pool, 4, c->stream, &s.result, &c->error));
    gph_exec *exec = capture(c, sum_work, &s);
    printf("  after:  the memory was there before the capture: the sum is %g\n",
           (double)replay(c, exec, s.result));
    gph_exec_destroy(exec);
    MUST(gph_pool_free(c->pool, s.temporary, c->stream, &c->error));
    MUST(gph_pool_free(c->pool, s.result, c->stream, &c->error));
}

/* ---- segments: the host reads the sum, and decides by how much to scale ---- */

static gph_status read_inside(common *c, void *user)
{
    const gph_status status = sum_work(c, user);
    return status != GPH_OK ? status
                            : gph_cuda_check(c->cu->StreamSynchronize(c->stream),
                                             "cuStreamSynchronize", &c->error);
}

typedef struct segments {
    common *c;
    sum s;
    float factor;
} segments;

/* Between the segments: puts half of the sum where the next one reads it. */
static gph_status decide(void *user, const gph_break *call, gph_error *error)
{
    segments *g = user;
    const gph_cuda_calls *cu = g->c->cu;
    float read = 0;
    if (!call->has_values)
        return GPH_OK;
    gph_status status = gph_cuda_check(
        cu->MemcpyDtoHAsync(&read, g->s.result, 4, call->stream), "cuMemcpyDtoH", error);
    if (status == GPH_OK)
        status = gph_cuda_check(cu->StreamSynchronize(call->stream),
                                "cuStreamSynchronize", error);
    g->factor = read / 2;
    if (status != GPH_OK)
        return status;
    return gph_cuda_check(cu->MemcpyHtoDAsync(g->s.result, &g->factor, 4, call->stream),
                          "cuMemcpyHtoD", error);
}

static gph_status segmented(segments *g)
{
    common *c = g->c;
    gph_capture *open = NULL;
    gph_recording *recording = NULL;
    gph_replay *both = NULL;
    unsigned n = 1;
    float scale = 1;
    MUST(gph_capture_begin(c->gph, c->stream, NULL, &open, &c->error));
    MUST(sum_work(c, &g->s));
    MUST(gph_capture_break(open, decide, g, &c->error));
    MUST(LAUNCH(scale_add, 1, &g->s.temporary, &g->s.result, &scale, &n));
    MUST(gph_capture_finish(open, &recording, &c->error));
    MUST(gph_replay_create(recording, NULL, &both, &c->error));
    MUST(gph_replay_launch(both, c->stream, &c->error));
    printf(
        "  after:  %u graphs with a host call between them: it read %g, and the second "
        "graph saw %g\n",
        gph_recording_segment_count(recording), (double)g->factor * 2,
        (double)read_float(c, g->s.temporary) - 1);
    gph_replay_destroy(both);
    gph_recording_destroy(recording);
    return GPH_OK;
}

void pattern_segments(common *c)
{
    segments g = {.c = c};
    MUST(gph_pool_alloc(c->pool, 4000, c->stream, &g.s.temporary, &c->error));
    MUST(gph_pool_alloc(c->pool, 4, c->stream, &g.s.result, &c->error));
    puts("segments");
    if (capture(c, read_inside, &g.s) == NULL)
        printf("  before: %s at %s\n", gph_status_name(c->error.code),
               gph_cause_last()->call);
    MUST(segmented(&g));
    MUST(gph_pool_free(c->pool, g.s.temporary, c->stream, &c->error));
    MUST(gph_pool_free(c->pool, g.s.result, c->stream, &c->error));
}
