// SPDX-License-Identifier: Apache-2.0
/* The warps of a block in a warp's form, and what barriers make of them: phases.
 *
 *   phase 0:   warp 0 ----> warp 1 ----> ...     each from the kernel's start to a barrier
 *   phase 3:   warp 0 ----> warp 1 ----> ...     each from barrier 3 to the next one
 *
 *   wp.phase:  once a phase
 *   wp.warp:   once a warp: goes to where the phase begins
 *     R7.phase:  after the barrier that is region 7, loads what the warp left there
 *     R9:        the barrier that is region 9, stores it: the phase of this warp is over
 *   wp.step:   the next warp, or the next phase
 *
 * All threads of a block reach a barrier together, so all warps that have not ended stop
 * at the same one. What a warp keeps over a barrier is in the block's scratch memory, a
 * record a warp: 32 values a register with an array, and one of a register that a warp
 * shares. What the block shares and nothing changes again stays where it is. */
#include <stdio.h>

#include "softcuda/ptx/shape/fast.h"

#define CONTEXT ", !alias.scope !8"
#define KEPT_SCALAR_BYTES 16u
#define KEPT_LIVE_AT 32u /* the flags of its threads; at 0, whether it has ended */
#define KEPT_FIRST 64u

/* ---- what is kept ------------------------------------------------------------------ */

static bool is_barrier(const ptx_shape *s, uint32_t block)
{
    return s->blocks[block].kind == SHAPE_BARRIER;
}

static bool in_loop_of_barrier(const ptx_shape *s, uint32_t block)
{
    for (uint32_t l = s->blocks[block].loop; l != SHAPE_NONE; l = s->loops[l].parent)
        for (uint32_t n = 0; n < s->order_count; n++)
            if (is_barrier(s, s->order[n]) && ptx_in_loop(s, l, s->order[n]))
                return true;
    return false;
}

/* The same in all warps, whenever they compute it: set once, from nothing that memory or
 * the warp has a say in. */
static void find_steady(const ptx_shape *s, const ptx_shape *block_form, uint8_t *steady)
{
    const uint32_t count = s->function->register_count;
    for (uint32_t r = 0; r < count; r++) {
        const ptx_flow_reg *reg = &s->regs[r];
        const uint32_t i = reg->def;
        steady[r] = reg->strict && !reg->divergent && !block_form->regs[r].divergent &&
                    (!s->insns[i].reads_memory || ptx_is_steady_load(s, i)) &&
                    !in_loop_of_barrier(s, s->insns[i].block);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t r = 0; r < count; r++)
            for (uint32_t k = 0; steady[r] && k < s->insns[s->regs[r].def].read_count;
                 k++)
                if (!steady[s->insns[s->regs[r].def].reads[k]]) {
                    steady[r] = 0;
                    changed = true;
                }
    }
}

/* Whether the register is wanted after the barrier. One that is set once may be wanted to
 * compute others again, though it is not alive. */
static bool is_kept_at(const ptx_shape *s, uint32_t block, uint32_t r)
{
    const ptx_flow_reg *reg = &s->regs[r];
    if (!ptx_bit(s->maybe[block], r) || s->steady[r] || reg->home == SHAPE_REMAT ||
        reg->home == SHAPE_LOCAL)
        return false;
    return ptx_bit(s->live_in[block], r) || (reg->home == SHAPE_SCALAR && reg->strict);
}

static uint32_t kept_bytes(const ptx_shape *s, uint32_t r)
{
    if (s->regs[r].home != SHAPE_ARRAY)
        return KEPT_SCALAR_BYTES;
    const uint32_t bytes = ptx_type_bytes((ptx_type)s->function->registers[r].type);
    return 32 * (bytes ? bytes : 1);
}

static void place(ptx_shape *s, uint32_t r)
{
    /* An array over two lines costs twice the loads and stores of vectors of 512 bits. */
    if (s->regs[r].home == SHAPE_ARRAY)
        s->kept_bytes = (s->kept_bytes + 63u) & ~63u;
    s->kept[r] = s->kept_bytes;
    s->kept_bytes += kept_bytes(s, r);
}

void ptx_plan_phases(ptx_shape *s, const ptx_shape *block_form)
{
    const uint32_t count = s->function->register_count;
    s->steady = ptx_alloc(s->memory, count, 1);
    s->kept = ptx_alloc(s->memory, count, sizeof(*s->kept));
    find_steady(s, block_form, s->steady);
    s->kept_bytes = KEPT_FIRST;
    for (int arrays = 0; arrays < 2; arrays++)
        for (uint32_t n = 0; n < s->order_count; n++) {
            if (!is_barrier(s, s->order[n]))
                continue;
            s->has_phases = 1;
            for (uint32_t r = 0; r < count; r++)
                if (s->kept[r] == 0 && arrays == (s->regs[r].home == SHAPE_ARRAY) &&
                    is_kept_at(s, s->order[n], r))
                    place(s, r);
        }
    s->kept_bytes = s->has_phases ? (s->kept_bytes + 63u) & ~63u : 0;
}

/* ---- the loops over phases and warps ------------------------------------------------ */

/* A warp begins with nothing, lest it seem to go on with what the warp before it had. */
static void forget(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    for (uint32_t r = 0; r < s->function->register_count; r++) {
        const char *type = ptx_fast_type(f, r);
        if (s->regs[r].home == SHAPE_ARRAY)
            ptx_line(&f->emit, "store <%u x %s> undef, ptr %%ctx.%u", s->lanes,
                     ptx_fast_memory_type(f, r), r);
        else if (s->regs[r].home == SHAPE_AFFINE)
            ptx_line(&f->emit, "store %s 0, ptr %%off.%u", type, r);
        else if (!s->regs[r].divergent && !s->steady[r])
            ptx_line(&f->emit, "store %s undef, ptr %%u.%u", type, r);
    }
    for (uint32_t m = 0; m < s->mask_count; m++)
        ptx_line(&f->emit, "store <%u x i8> zeroinitializer, ptr %%mask.%u", s->lanes, m);
}

static void write_switch(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    gphi_text *out = f->emit.out;
    gphi_text_put(out, "  switch i32 %wp.at, label %wp.first [");
    for (uint32_t n = 0; n < s->region_count; n++)
        if (s->regions[n].kind == SHAPE_BARRIER)
            gphi_text_add(out, " i32 %u, label %%R%u.phase", n, n);
    gphi_text_put(out, " ]\n");
}

void ptx_fast_open_warps(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    gphi_text *out = f->emit.out;
    gphi_text_add(out,
                  "  %%wp.phase.at = alloca i32\n  store i32 -1, ptr %%wp.phase.at\n"
                  "  %%wp.next.at = alloca i32\n"
                  "  %%wp.row = udiv i32 %s, %u\n"
                  "  %%wp.rows = mul nuw nsw i32 %%ntid.y, %%ntid.z\n"
                  "  %%wp.count = mul nuw nsw i32 %%wp.row, %%wp.rows\n"
                  "  br label %%wp.phase\n",
                  ptx_fast_row(f), s->lanes);
    gphi_text_put(out,
                  "wp.phase:\n  %wp.at = load i32, ptr %wp.phase.at\n"
                  "  store i32 -1, ptr %wp.next.at\n  br label %wp.warp\n"
                  "wp.warp:\n  %wp.n = phi i32 [ 0, %wp.phase ], [ %wp.n1, %wp.step ]\n"
                  "  %wp.x = phi i32 [ 0, %wp.phase ], [ %wp.x2, %wp.step ]\n"
                  "  %warp.y = phi i32 [ 0, %wp.phase ], [ %wp.y2, %wp.step ]\n"
                  "  %warp.z = phi i32 [ 0, %wp.phase ], [ %wp.z1, %wp.step ]\n");
    gphi_text_add(out,
                  "  %%warp.x = mul nuw nsw i32 %%wp.x, %u\n"
                  "  %%warp.first = mul nuw nsw i32 %%wp.n, %u\n",
                  s->lanes, s->lanes);
    if (s->has_phases)
        gphi_text_add(out,
                      "  %%wp.own = mul nuw nsw i32 %%wp.n, %u\n"
                      "  %%wp.kept = getelementptr i8, ptr %%scratch, i32 %%wp.own\n",
                      s->kept_bytes);
    ptx_fast_set_scalar(f, true);
    forget(f);
    if (s->has_phases)
        write_switch(f);
    else
        gphi_text_put(out, "  br label %wp.first\n");
    gphi_text_put(out, "wp.first:\n");
    if (!s->has_live)
        return;
    gphi_text_add(out, "  store <%u x i8> <", s->lanes);
    for (uint32_t lane = 0; lane < s->lanes; lane++)
        gphi_text_add(out, "%si8 1", lane ? ", " : "");
    gphi_text_add(out, ">, ptr %%live.0\n  store i32 %u, ptr %%live.scan\n", s->lanes);
}

/* After all regions: the end of a warp, and the next one. */
void ptx_fast_close_warps(ptx_fast *f)
{
    gphi_text *out = f->emit.out;
    gphi_text_put(out, "return:\n");
    if (f->s->has_live && f->s->has_phases)
        gphi_text_put(out, "  store i8 1, ptr %wp.kept" CONTEXT "\n");
    gphi_text_put(out, "  br label %wp.step\n"
                       "wp.step:\n  %wp.n1 = add nuw nsw i32 %wp.n, 1\n"
                       "  %wp.x1 = add nuw nsw i32 %wp.x, 1\n"
                       "  %wp.xe = icmp eq i32 %wp.x1, %wp.row\n"
                       "  %wp.x2 = select i1 %wp.xe, i32 0, i32 %wp.x1\n"
                       "  %wp.xs = zext i1 %wp.xe to i32\n"
                       "  %wp.y1 = add nuw nsw i32 %warp.y, %wp.xs\n"
                       "  %wp.ye = icmp eq i32 %wp.y1, %ntid.y\n"
                       "  %wp.y2 = select i1 %wp.ye, i32 0, i32 %wp.y1\n"
                       "  %wp.ys = zext i1 %wp.ye to i32\n"
                       "  %wp.z1 = add nuw nsw i32 %warp.z, %wp.ys\n"
                       "  %wp.more = icmp ult i32 %wp.n1, %wp.count\n"
                       "  br i1 %wp.more, label %wp.warp, label %wp.over\n"
                       "wp.over:\n  %wp.next = load i32, ptr %wp.next.at\n"
                       "  store i32 %wp.next, ptr %wp.phase.at\n"
                       "  %wp.end = icmp slt i32 %wp.next, 0\n"
                       "  br i1 %wp.end, label %wp.done, label %wp.phase\n"
                       "wp.done:\n  ret void\n}\n\n");
}

/* ---- a barrier ---------------------------------------------------------------------- */

/* Between a register's own place and the warp's record. */
static void move(ptx_fast *f, uint32_t r, bool store)
{
    const ptx_flow_reg *reg = &f->s->regs[r];
    const bool array = reg->home == SHAPE_ARRAY;
    const char *element = array ? ptx_fast_memory_type(f, r) : ptx_fast_type(f, r);
    const char *own = array ? "ctx" : reg->home == SHAPE_AFFINE ? "off" : "u";
    const ptx_value at =
        ptx_let(&f->emit, "getelementptr i8, ptr %%wp.kept, i32 %u", f->s->kept[r]);
    char type[32];
    snprintf(type, sizeof(type), array ? "<32 x %s>" : "%s", element); /* NOLINT: own */
    if (store) {
        const ptx_value value = ptx_let(&f->emit, "load %s, ptr %%%s.%u", type, own, r);
        ptx_line(&f->emit, "store %s %s, ptr %s, align 16" CONTEXT, type, value.name,
                 at.name);
    } else {
        const ptx_value value =
            ptx_let(&f->emit, "load %s, ptr %s, align 16" CONTEXT, type, at.name);
        ptx_line(&f->emit, "store %s %s, ptr %%%s.%u", type, value.name, own, r);
    }
}

static void move_all(ptx_fast *f, bool store)
{
    const ptx_shape *s = f->s;
    for (uint32_t r = 0; r < s->function->register_count; r++)
        if (s->kept[r] != 0 && is_kept_at(s, ptx_fast_region(f)->head, r))
            move(f, r, store);
    if (!s->has_live)
        return;
    const ptx_value at =
        ptx_let(&f->emit, "getelementptr i8, ptr %%wp.kept, i32 %u", KEPT_LIVE_AT);
    const char *from = store ? "%live.0" : at.name, *to = store ? at.name : "%live.0";
    const ptx_value flags = ptx_let(&f->emit, "load <32 x i8>, ptr %s, align 16", from);
    ptx_line(&f->emit, "store <32 x i8> %s, ptr %s, align 16", flags.name, to);
}

void ptx_fast_write_phase(ptx_fast *f)
{
    ptx_emit *e = &f->emit;
    const uint32_t n = f->region;
    ptx_fast_set_scalar(f, true);
    move_all(f, true);
    if (f->s->has_live)
        ptx_line(e, "store i8 0, ptr %%wp.kept" CONTEXT);
    ptx_line(e, "store i32 %u, ptr %%wp.next.at", n);
    ptx_line(e, "br label %%wp.step");
    gphi_text_add(e->out, "R%u.phase:\n", n);
    if (f->s->has_live) {
        const ptx_value ended = ptx_let(e, "load i8, ptr %%wp.kept" CONTEXT);
        const ptx_value is = ptx_let(e, "icmp ne i8 %s, 0", ended.name);
        ptx_line(e, "br i1 %s, label %%wp.step, label %%R%u.go", is.name, n);
        gphi_text_add(e->out, "R%u.go:\n", n);
    }
    move_all(f, false);
    if (f->s->has_live) {
        const ptx_value scan = ptx_fast_scan(f, "live", 0);
        ptx_line(e, "store i32 %s, ptr %%live.scan", scan.name);
    }
}
