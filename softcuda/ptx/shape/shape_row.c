// SPDX-License-Identifier: Apache-2.0
/* Registers in arrays that turn out to be a row: a copy of a region for threads whose
 * indices and addresses rise by the same step from each to the next (flow/slope.c says by
 * which). Its accesses are vectors, where the region as it is gathers: LLVM knows nothing of
 * what is in an array.
 *
 *   C7.full:   are all of %ctx.12 a + 4 i, and all of %ctx.9 b + i?
 *     T7e      yes: they are computed, not loaded
 *     T7a      no: some thread has made another number of rounds
 */
#include <stdio.h>

#include "softcuda/ptx/shape/fast.h"

#define INSNS_MAX 400u
#define REGISTERS_MAX 8u

static bool is_word(const ptx_fast *f, uint32_t reg)
{
    const ptx_type type = (ptx_type)f->s->function->registers[reg].type;
    return type == PTX_U32 || type == PTX_S32 || type == PTX_B32 || type == PTX_U64 ||
           type == PTX_S64 || type == PTX_B64;
}

static bool is_wide(const ptx_fast *f, uint32_t reg)
{
    return ptx_type_bytes((ptx_type)f->s->function->registers[reg].type) == 8;
}

/* Memory at a place of each thread. */
static bool touches_memory(const ptx_fast *f)
{
    const ptx_shape *s = f->s;
    const ptx_region *r = ptx_fast_region(f);
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &s->blocks[r->blocks[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            if ((s->insns[i].reads_memory || s->insns[i].writes_memory) &&
                !ptx_fast_is_scalar(s, i))
                return true;
    }
    return false;
}

/* Marks the registers in `rows`. */
static uint32_t find_rows(ptx_fast *f, uint8_t *rows)
{
    const ptx_region *r = ptx_fast_region(f);
    uint32_t count = 0;
    if (!f->slopes)
        f->slopes = ptx_find_slopes(f->s);
    for (uint32_t reg = 0; reg < f->s->function->register_count; reg++) {
        if (!ptx_fast_is_array(f, reg) || !ptx_bit(r->live_in, reg) || !is_word(f, reg) ||
            f->slopes[reg] == SHAPE_NO_SLOPE)
            continue;
        rows[reg] = 1;
        count++;
    }
    return count;
}

/* The slope times 0, 1, ... 31. */
static void write_steps(ptx_fast *f, const char *type, int64_t slope)
{
    for (uint32_t k = 0; k < f->s->lanes; k++)
        gphi_text_add(f->emit.out, "%s%s %lld", k ? ", " : "<", type,
                      (long long)slope * (long long)k);
    gphi_text_put(f->emit.out, ">");
}

static ptx_value write_question(ptx_fast *f, uint32_t reg)
{
    ptx_emit *e = &f->emit;
    const char *type = ptx_fast_type(f, reg);
    const uint32_t lanes = f->s->lanes;
    ptx_line(e, "%%row%c.%u.%u = load %s, ptr %%ctx.%u, !alias.scope !8", f->row_copy,
             f->region, reg, type, reg);
    if (!f->s->by_warp)
        return ptx_let(e, "call i1 @soft.row.%s(ptr %%ctx.%u, i32 %%threads, %s %lld)",
                       type, reg, type, (long long)f->slopes[reg]);
    const ptx_value all = ptx_let(
        e, "load <%u x %s>, ptr %%ctx.%u, align 64, !alias.scope !8", lanes, type, reg);
    const ptx_value one =
        ptx_let(e, "insertelement <%u x %s> poison, %s %%row%c.%u.%u, i32 0", lanes, type,
                type, f->row_copy, f->region, reg);
    const ptx_value first = ptx_let(
        e, "shufflevector <%u x %s> %s, <%u x %s> poison, <%u x i32> zeroinitializer",
        lanes, type, one.name, lanes, type, lanes);
    const ptx_value steps = ptx_fresh(e);
    gphi_text_add(e->out, "  %s = add <%u x %s> %s, ", steps.name, lanes, type,
                  first.name);
    write_steps(f, type, f->slopes[reg]);
    gphi_text_put(e->out, "\n");
    const ptx_value same =
        ptx_let(e, "icmp eq <%u x %s> %s, %s", lanes, type, all.name, steps.name);
    const ptx_value bits =
        ptx_let(e, "bitcast <%u x i1> %s to i%u", lanes, same.name, lanes);
    return ptx_let(e, "icmp eq i%u %s, -1", lanes, bits.name);
}

/* Whether no index wraps, so that what it addresses is a row, too. */
static ptx_value write_wrap(ptx_fast *f, uint32_t reg)
{
    ptx_emit *e = &f->emit;
    const ptx_value first =
        ptx_let(e, "sext i32 %%row%c.%u.%u to i64", f->row_copy, f->region, reg);
    const ptx_value count =
        ptx_let(e, "zext i32 %s to i64", f->s->by_warp ? ptx_fast_lanes(f) : "%threads");
    const ptx_value way =
        ptx_let(e, "mul i64 %s, %lld", count.name, (long long)f->slopes[reg]);
    const ptx_value end = ptx_let(e, "add i64 %s, %s", first.name, way.name);
    const ptx_value small = ptx_let(e, "trunc i64 %s to i32", end.name);
    const ptx_value again = ptx_let(e, "sext i32 %s to i64", small.name);
    return ptx_let(e, "icmp eq i64 %s, %s", again.name, end.name);
}

/* Some threads are elsewhere: what those have is not asked for. */
static void ask_all(ptx_fast *f, const char *full, const char *label)
{
    ptx_line(&f->emit, "br i1 %s, label %%C%u.full, label %%%s", full, f->region, label);
    gphi_text_add(f->emit.out, "C%u.full:\n", f->region);
}

/* For the report. A region is written several times, also for warps and for blocks. */
static void note_copy(ptx_fast *f)
{
    ptx_shape *s = f->s;
    const ptx_region *r = ptx_fast_region(f);
    const uint32_t line = s->function->insns[s->blocks[r->head].first].line;
    if (!s->row_lines)
        s->row_lines = ptx_alloc(s->memory, s->region_count, sizeof(*s->row_lines));
    for (uint32_t i = 0; i < s->row_line_count; i++)
        if (s->row_lines[i] == line)
            return;
    s->row_lines[s->row_line_count++] = line;
}

bool ptx_fast_write_rows(ptx_fast *f, const char *full, const char *label)
{
    ptx_emit *e = &f->emit;
    char from[32];
    uint8_t *rows = ptx_alloc(f->s->memory, f->s->function->register_count, 1);
    if (f->s->options->check_memory || ptx_fast_insn_count(f) > INSNS_MAX ||
        f->s->blocks[ptx_fast_region(f)->head].loop == SHAPE_NONE || !touches_memory(f))
        return false; /* what runs once is not worth the question */
    const uint32_t count = find_rows(f, rows);
    if (count == 0 || count > REGISTERS_MAX)
        return false;
    note_copy(f);
    f->row_copy = f->round ? 'k' : 'e';
    ptx_fast_set_scalar(f, true);
    if (full)
        ask_all(f, full, label);
    ptx_value holds = {"true"};
    for (uint32_t reg = 0; reg < f->s->function->register_count; reg++) {
        if (!rows[reg])
            continue;
        const ptx_value one = write_question(f, reg);
        holds = ptx_let(e, "and i1 %s, %s", holds.name, one.name);
        if (is_wide(f, reg))
            continue;
        const ptx_value fits = write_wrap(f, reg);
        holds = ptx_let(e, "and i1 %s, %s", holds.name, fits.name);
    }
    const ptx_value known = ptx_let(e, "freeze i1 %s", holds.name);
    snprintf(from, sizeof(from), f->round ? "C%u.next" : "C%u.row", f->region);
    ptx_line(e, "br i1 %s, label %%%s, label %%%s", known.name, from, label);
    gphi_text_add(e->out, "%s:\n  br label %%T%u%c.z\n", from, f->region, f->row_copy);
    f->rows = rows;
    ptx_fast_write_loops(f, f->row_copy, from, ptx_fast_row(f));
    f->rows = NULL;
    return true;
}

/* Whether the first n of an array rise by `step`. */
static void write_helper(gphi_text *out, const char *type, const char *made)
{
    gphi_text_add(
        out,
        "define internal i1 @soft.row.%s(ptr %%array, i32 %%n, %s %%step) noinline "
        "nounwind {\nentry:\n  %%n64 = zext i32 %%n to i64\n"
        "  %%first = load %s, ptr %%array\n  br label %%loop\n"
        "loop:\n  %%i = phi i64 [ 0, %%entry ], [ %%i1, %%loop ]\n"
        "  %%all = phi i1 [ true, %%entry ], [ %%all1, %%loop ]\n"
        "  %%p = getelementptr %s, ptr %%array, i64 %%i\n"
        "  %%v = load %s, ptr %%p\n  %%at = %s\n"
        "  %%by = mul %s %%at, %%step\n  %%want = add %s %%first, %%by\n"
        "  %%same = icmp eq %s %%v, %%want\n"
        "  %%all1 = and i1 %%all, %%same\n  %%i1 = add nuw nsw i64 %%i, 1\n"
        "  %%c = icmp ult i64 %%i1, %%n64\n"
        "  br i1 %%c, label %%loop, label %%done\n"
        "done:\n  ret i1 %%all1\n}\n\n",
        type, type, type, type, type, made, type, type, type);
}

void ptx_fast_write_row_helpers(gphi_text *out)
{
    write_helper(out, "i32", "trunc i64 %i to i32");
    write_helper(out, "i64", "add i64 %i, 0");
}
