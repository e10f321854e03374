// SPDX-License-Identifier: Apache-2.0
/* The fast path: one function that runs one block. Every region becomes
 *
 *   R7.enter:  reached from outside, where the region heads a loop
 *   R7.back:   reached round the loop: counts the round
 *   R7:        does any thread wait here? (masked regions)
 *   S7.*       the scalar part: uniform instructions, once
 *   T7a.*      the loop over all threads, or the first n of them
 *   T7b.*      the same for threads that a mask (or the live flags) picks
 *   T7f.*      all threads, when none turns off at a guard (shape_guard.c)
 *   T7g.*      the same for several rounds of a loop at once
 *   T7l.*      all threads, in the round that is the last of all
 *   T7e.*      all threads, when what they have in arrays is a row (shape_row.c)
 *   T7p.*      all threads, without branches (shape_flat.c)
 *   T7A.* ...  threads at an edge of the block (shape_sides.c)
 *   R7.known.a: all of that copy go to the next region (shape_settle.c)
 *   R7.again:  after it, in a loop: straight into the next round
 *   R7.after:  did the last thread end?
 *   R7.term:   after the masked regions that hang on it: where all go from here */
#include <stdio.h>

#include "softcuda/ptx/shape/fast.h"

/* A round of all threads counts as one of one thread, and one more for every 4096
 * instructions that they make in it, so that the time limit is looked at in time. */
#define WEIGHT_SHIFT 12u

static bool has_thread_code(const ptx_fast *f)
{
    const ptx_shape *s = f->s;
    const ptx_region *r = ptx_fast_region(f);
    if (r->masked || r->exits)
        return true;
    for (uint32_t k = 0; k < r->target_count; k++)
        if (s->regions[r->targets[k]].masked)
            return true;
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &s->blocks[r->blocks[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            if (!ptx_fast_is_scalar(s, i))
                return true;
    }
    return false;
}

static void write_threads(ptx_fast *f, const char *scan)
{
    char from[32];
    f->scan = scan;
    if (!has_thread_code(f)) {
        ptx_line(&f->emit, "br label %%R%u.after", f->region);
        return;
    }
    const bool copies = ptx_fast_has_copies(f);
    if (scan[0] != 0 && copies) {
        ptx_fast_write_choice(f, scan);
        return;
    }
    if (scan[0] == 0 && copies &&
        ((!ptx_fast_sets_aside(f) && ptx_fast_write_sides(f)) || ptx_fast_write_flat(f) ||
         ptx_fast_write_without_guards(f)))
        return;
    if (scan[0] == 0 && copies) {
        snprintf(from, sizeof(from), "C%u.odd", f->region);
        if (ptx_fast_write_rows(f, NULL, from))
            gphi_text_add(f->emit.out, "%s:\n", from);
    }
    const char copy = scan[0] != 0 ? 'b' : 'a';
    snprintf(from, sizeof(from), "C%u", f->region);
    gphi_text_add(f->emit.out, "  br label %%%s\n%s:\n  br label %%T%u%c.z\n", from, from,
                  f->region, copy);
    ptx_fast_write_loops(f, copy, from, ptx_fast_row(f));
}

/* Instructions of a round, so many that they cannot overflow with 1024 threads. */
static uint32_t loop_insns(const ptx_shape *s, uint32_t loop)
{
    uint32_t count = 0;
    for (uint32_t w = 0; w < s->block_words; w++)
        for (uint32_t bits = s->loops[loop].blocks[w]; bits != 0; bits &= bits - 1)
            count += s->blocks[w * 32 + (uint32_t)__builtin_ctz(bits)].count;
    return count < 0x100000 ? count : 0x100000;
}

static void write_entry(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    uint32_t loop;
    if (ptx_fast_heads_loop(f, f->region, &loop)) {
        gphi_text_add(f->emit.out, "R%u.enter:\n", f->region);
        for (uint32_t r = 0; r < s->function->register_count; r++)
            if (s->regs[r].home == SHAPE_AFFINE && s->regs[r].loop == loop)
                ptx_line(&f->emit, "store %s 0, ptr %%off.%u", ptx_fast_type(f, r), r);
        gphi_text_add(f->emit.out,
                      "  br label %%R%u\nR%u.back:\n"
                      "  %%cost.%u = mul i32 %%threads, %u\n"
                      "  %%thousands.%u = lshr i32 %%cost.%u, %u\n"
                      "  %%weight.%u = add i32 %%thousands.%u, 1\n"
                      "  call void @soft.safepoint(ptr %%block, ptr null, i32 "
                      "%%weight.%u)\n"
                      "  br label %%R%u\n",
                      f->region, f->region, f->region, loop_insns(s, loop), f->region,
                      f->region, WEIGHT_SHIFT, f->region, f->region, f->region,
                      f->region);
    }
    gphi_text_add(f->emit.out, "R%u:\n", f->region);
}

static void term_target(ptx_emit *emit, uint32_t block, uint32_t nth, char *label,
                        size_t bytes)
{
    const ptx_fast *f = emit->shape;
    const uint32_t to = f->s->blocks[block].succ[nth];
    if (to == SHAPE_EXIT)
        snprintf(label, bytes, "return");
    else
        ptx_fast_region_label(f, f->region, f->s->blocks[to].region, label, bytes);
}

static void write_after(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    const ptx_region *r = ptx_fast_region(f);
    char label[64];
    gphi_text_add(f->emit.out, "R%u.after:\n", f->region);
    if (r->exits) {
        const ptx_value scan = ptx_fast_scan(f, "live", 0);
        ptx_line(&f->emit, "store i32 %s, ptr %%live.scan", scan.name);
        const ptx_value none = ptx_let(&f->emit, "icmp eq i32 %s, 0", scan.name);
        ptx_line(&f->emit, "br i1 %s, label %%return, label %%R%u.some", none.name,
                 f->region);
        gphi_text_add(f->emit.out, "R%u.some:\n", f->region);
    }
    ptx_fast_after_label(f, f->region, false, label, sizeof(label));
    ptx_line(&f->emit, "br label %%%s", label);
    if (r->masked)
        return;
    gphi_text_add(f->emit.out, "R%u.term:\n", f->region);
    if (r->outcome == SHAPE_EXIT) {
        ptx_line(&f->emit, "br label %%return");
    } else if (r->outcome & SHAPE_DECIDED) {
        ptx_fast_set_scalar(f, true);
        ptx_write_end(&f->emit, r->outcome & ~SHAPE_DECIDED, term_target);
    } else {
        ptx_fast_region_label(f, f->region, s->blocks[r->outcome].region, label,
                              sizeof(label));
        ptx_line(&f->emit, "br label %%%s", label);
    }
}

/* How many threads a masked region has: known from the round before, or counted. */
static ptx_value write_scan(ptx_fast *f)
{
    ptx_emit *e = &f->emit;
    const uint32_t n = f->region;
    const ptx_value known = ptx_let(e, "load i32, ptr %%known");
    const ptx_value is = ptx_let(e, "icmp ne i32 %s, 0", known.name);
    ptx_line(e, "store i32 0, ptr %%known");
    ptx_line(e, "br i1 %s, label %%R%u.count, label %%R%u.ask", is.name, n, n);
    gphi_text_add(e->out, "R%u.ask:\n", n);
    const ptx_value asked = ptx_fast_scan(f, "mask", ptx_fast_region(f)->mask);
    ptx_line(e, "br label %%R%u.count", n);
    gphi_text_add(e->out, "R%u.count:\n", n);
    return ptx_let(e, "phi i32 [ %s, %%R%u ], [ %s, %%R%u.ask ]", known.name, n,
                   asked.name, n);
}

void ptx_fast_write_region(ptx_fast *f, uint32_t region)
{
    const ptx_region *r = &f->s->regions[region];
    ptx_value scan = {""};
    char label[64];
    f->region = region;
    f->stride = ptx_fast_stride(f);
    write_entry(f);
    if (r->masked) {
        scan = write_scan(f);
        const ptx_value none = ptx_let(&f->emit, "icmp eq i32 %s, 0", scan.name);
        ptx_fast_empty_label(f, label, sizeof(label));
        ptx_line(&f->emit, "br i1 %s, label %%%s, label %%R%u.any", none.name, label,
                 region);
        gphi_text_add(f->emit.out, "R%u.any:\n", region);
    } else if (r->needs_live) {
        scan = ptx_let(&f->emit, "load i32, ptr %%live.scan");
    }
    const bool apart = ptx_fast_is_apart(f);
    if (apart)
        ptx_fast_begin_part(f);
    if (r->kind != SHAPE_CODE) {
        ptx_fast_write_cut(f, scan.name);
        ptx_line(&f->emit, "br label %%R%u.after", region);
    } else {
        ptx_fast_write_snapshots(f);
        ptx_fast_write_scalar(f);
        write_threads(f, scan.name);
    }
    if (apart)
        ptx_fast_end_part(f, scan.name);
    write_after(f);
}
