// SPDX-License-Identifier: Apache-2.0
/* The function that runs a block: its slots and context arrays, its regions in order, and
 * the helpers that all such functions call. */

#include "softcuda/ptx/abi.h"
#include "softcuda/ptx/matrix.h"
#include "softcuda/ptx/shape/fast.h"

/* One for each uniform load that threads read again: see save_load(). */
static void write_load_slots(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            if (!ptx_fast_is_scalar(s, i) || !s->insns[i].reads_memory ||
                !ptx_fast_is_inside(s, i))
                continue;
            for (uint32_t k = 0; k < s->insns[i].write_count; k++)
                gphi_text_add(f->emit.out, "  %%load.%u.%u = alloca %s\n", i,
                              s->insns[i].writes[k],
                              ptx_fast_type(f, s->insns[i].writes[k]));
        }
    }
}

/* Scratch memory of the block, cut up: context arrays, masks, live flags.
 *
 *   scratch  | %ctx.3: lanes * 4 | %ctx.8: lanes * 8 | ... | %mask.0 | ... | %live.0 |
 *
 * %lanes is the number of threads, rounded up to whole warps, and known only at launch:
 * offsets are kept in bytes a thread and multiplied here. Elements of one register lie
 * side by side, thread by thread, which is what a vector load wants. */
static void write_block_arrays(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    gphi_text *out = f->emit.out;
    gphi_text_put(out, "  %lanes.up = add nuw nsw i32 %threads, 31\n"
                       "  %warps = lshr i32 %lanes.up, 5\n"
                       "  %lanes32 = shl nuw nsw i32 %warps, 5\n"
                       "  %lanes = zext i32 %lanes32 to i64\n"
                       "  %rows = mul nuw nsw i32 %ntid.y, %ntid.z\n"
                       "  %one.row = icmp eq i32 %rows, 1\n"
                       "  %known = alloca i32\n  store i32 0, ptr %known\n");
    for (uint32_t r = 0; r < s->function->register_count; r++)
        if (s->regs[r].home == SHAPE_ARRAY)
            gphi_text_add(out,
                          "  %%at.%u = mul nuw nsw i64 %%lanes, %u\n"
                          "  %%ctx.%u = getelementptr i8, ptr %%scratch, i64 %%at.%u\n",
                          r, s->regs[r].offset, r, r);
    gphi_text_add(out,
                  "  %%at.m = mul nuw nsw i64 %%lanes, %u\n"
                  "  %%mask.0 = getelementptr i8, ptr %%scratch, i64 %%at.m\n",
                  s->mask_offset);
    for (uint32_t m = 0; m < s->mask_count + s->has_live; m++) {
        const bool live = m == s->mask_count;
        gphi_text_add(out, "  %%%s.%u = alloca i8\n", live ? "lv" : "mk", live ? 0 : m);
        if (live)
            gphi_text_add(out,
                          "  %%at.l = mul nuw nsw i64 %%lanes, %u\n"
                          "  %%live.0 = getelementptr i8, ptr %%scratch, i64 %%at.l\n",
                          s->mask_offset + m);
        else if (m > 0)
            gphi_text_add(out,
                          "  %%mask.%u = getelementptr i8, ptr %%mask.%u, i64 %%lanes\n",
                          m, m - 1);
    }
    if (s->has_live)
        gphi_text_put(out, "  %live.scan = alloca i32\n"
                           "  store i32 %threads, ptr %live.scan\n");
    gphi_text_add(out,
                  "  %%mask.bytes = mul nuw nsw i64 %%lanes, %u\n"
                  "  %%flag.bytes = mul nuw nsw i64 %%lanes, %u\n"
                  "  %%begun = alloca i8\n  store i8 0, ptr %%begun\n",
                  s->mask_count, s->mask_count + s->has_live);
    if (!f->late_flags && s->mask_count + s->has_live > 0)
        ptx_fast_need_flags(f);
}

/* Most blocks of a kernel without warp operations never look at their flags: they are set up
 * by what is the first to. Other functions take them as they are. */
static bool has_late_flags(const ptx_shape *s)
{
    if (s->by_warp || s->region_count > ptx_regions_max(s) || ptx_is_large(s))
        return false;
    for (uint32_t r = 0; r < s->region_count; r++)
        if (s->regions[r].kind != SHAPE_CODE &&
            ptx_cut_of(s, s->blocks[s->regions[r].head].first).kind != SHAPE_CUT_SYNC)
            return false;
    return true;
}

/* A warp's arrays are variables of its function, which LLVM keeps in vector registers:
 * every loop over them has 32 rounds, vectorized and then unrolled. */
static void write_warp_arrays(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    gphi_text *out = f->emit.out;
    gphi_text_add(out,
                  "  %%lanes = add i64 0, %u\n  %%warps = add i32 0, 1\n"
                  "  %%one.row = icmp eq i32 0, 0\n"
                  "  %%known = alloca i32\n  store i32 0, ptr %%known\n",
                  s->lanes);
    for (uint32_t r = 0; r < s->function->register_count; r++)
        if (s->regs[r].home == SHAPE_ARRAY)
            gphi_text_add(out, "  %%ctx.%u = alloca [%u x %s], align 64\n", r, s->lanes,
                          ptx_fast_memory_type(f, r));
    for (uint32_t m = 0; m < s->mask_count; m++)
        gphi_text_add(out,
                      "  %%mk.%u = alloca i8\n"
                      "  %%mask.%u = alloca [%u x i8], align 64\n",
                      m, m, s->lanes);
    if (s->has_live)
        gphi_text_add(out,
                      "  %%lv.0 = alloca i8\n"
                      "  %%live.0 = alloca [%u x i8], align 64\n"
                      "  %%live.scan = alloca i32\n",
                      s->lanes);
}

static void write_arrays(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    gphi_text *out = f->emit.out;
    if (s->has_cuts)
        gphi_text_put(out, "  %warp.a = alloca <32 x i64>\n"
                           "  %warp.b = alloca <32 x i32>\n"
                           "  %warp.c = alloca <32 x i32>\n"
                           "  %warp.m = alloca <32 x i32>\n"
                           "  %warp.one = alloca i32\n  %warp.two = alloca i32\n");
    if (ptx_has_matrix(s->function))
        gphi_text_add(out, "  %%mat.tmp = alloca [%u x [32 x i64]], align 64\n",
                      PTX_MATRIX_REGISTERS_MAX + 2);
    for (uint32_t r = 0; r < s->function->register_count; r++)
        if (s->regs[r].home == SHAPE_AFFINE)
            gphi_text_add(out, "  %%off.%u = alloca %s\n  store %s 0, ptr %%off.%u\n", r,
                          ptx_fast_type(f, r), ptx_fast_type(f, r), r);
    if (s->by_warp)
        write_warp_arrays(f);
    else
        write_block_arrays(f);
}

/* A uniform register is a scalar of the function, but where its region changes it: there
 * each thread follows the changes in a slot of its own. */
static bool is_scalar(const ptx_emit *emit, uint32_t reg)
{
    const ptx_writer *w = emit->shape;
    return !w->s->regs[reg].divergent && (w->scalar || !w->inside || !w->inside[reg]);
}

static void init_fast(ptx_fast *f, ptx_shape *s)
{
    const uint32_t registers = s->function->register_count;
    f->s = s;
    f->w.s = s;
    f->w.fast = true;
    f->rounds = 1;
    f->late_flags = has_late_flags(s);
    f->inside = ptx_alloc(s->memory, registers, 1);
    f->wanted = ptx_alloc(s->memory, registers, 1);
    /* An entry a register, and up to four next to each. */
    f->chain = ptx_alloc(s->memory, (size_t)registers * 5, sizeof(*f->chain));
    f->w.inside = f->inside;
    f->emit = (ptx_emit){.module = s->module,
                         .function = s->function,
                         .options = s->options,
                         .out = &s->program->text,
                         .shape = f,
                         .special_register = ptx_special_register,
                         .variable_address = ptx_variable_address,
                         .is_scalar = is_scalar,
                         .access = ""};
    ptx_fast_set_name(&f->emit.block, "%block");
    ptx_fast_set_name(&f->emit.zero, "%zero");
    ptx_fast_set_name(&f->emit.shared, "%shared");
    ptx_fast_set_name(&f->emit.params, "%params");
    ptx_fast_set_name(&f->emit.local, "%localbase");
    ptx_fast_set_name(&f->emit.thread_index, "0");
    ptx_fast_set_name(&f->w.thread, "null");
    for (int k = 0; k < 3; k++)
        ptx_fast_set_name(&f->w.tid[k], "0");
    ptx_fast_name_first(f);
}

static void write_start(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    gphi_text *out = f->emit.out;
    gphi_text_add(out, "define %svoid @\"%c.%s\"(ptr %%block) noinline #%c {\n",
                  s->twin || s->by_warp ? "internal " : "",
                  s->by_warp ? 'w'
                  : s->twin  ? 'n'
                             : 'b',
                  s->function->name, s->by_warp ? '0' : '3');
    ptx_write_head(&f->emit);
    if (s->long_rows)
        gphi_text_add(out,
                      "  %%more.at = getelementptr i8, ptr %%block, i64 %zu\n"
                      "  %%more = load i32, ptr %%more.at\n"
                      "  %%more.x = mul nuw nsw i32 %%more, %%ntid.x\n"
                      "  %%row.x = add nuw nsw i32 %%more.x, %%ntid.x\n",
                      offsetof(ptx_block, more_blocks));
}

void ptx_write_fast(ptx_shape *s)
{
    ptx_fast *f = ptx_alloc(s->memory, 1, sizeof(*f));
    init_fast(f, s);
    write_start(f);
    ptx_write_slots(&f->emit);
    ptx_fast_plan_narrow(f);
    write_load_slots(f);
    write_arrays(f);
    if (s->by_warp)
        ptx_fast_open_warps(f);
    uint32_t loop;
    const uint32_t first = s->blocks[s->entry].region;
    gphi_text_add(f->emit.out, "  br label %%R%u%s\n", first,
                  ptx_fast_heads_loop(f, first, &loop) ? ".enter" : "");
    for (uint32_t n = 0; n < s->region_count; n++)
        ptx_fast_write_region(f, s->linear[n]);
    if (s->by_warp)
        ptx_fast_close_warps(f);
    else
        gphi_text_put(f->emit.out, "return:\n  ret void\n}\n\n");
    ptx_fast_write_parts(f);
}

static void write_flag_helpers(gphi_text *out)
{
    gphi_text_put(
        out,
        "; the first bytes are 1, the others 0; 32 at a time\n"
        "define internal void @soft.begin(ptr %to, i64 %bytes, i32 %n) nounwind {\n"
        "entry:\n  br label %loop\n"
        "loop:\n  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]\n"
        "  %left = phi i32 [ %n, %entry ], [ %left1, %loop ]\n"
        "  %p = getelementptr i8, ptr %to, i64 %i\n"
        "  %some = call i32 @llvm.umin.i32(i32 %left, i32 32)\n"
        "  %wide = zext i32 %some to i64\n  %bit = shl i64 1, %wide\n"
        "  %ones = sub i64 %bit, 1\n  %bits = trunc i64 %ones to i32\n"
        "  %set = bitcast i32 %bits to <32 x i1>\n"
        "  %b = zext <32 x i1> %set to <32 x i8>\n  store <32 x i8> %b, ptr %p, align 1\n"
        "  %left1 = call i32 @llvm.usub.sat.i32(i32 %left, i32 32)\n"
        "  %i1 = add nuw nsw i64 %i, 32\n  %c = icmp ult i64 %i1, %bytes\n"
        "  br i1 %c, label %loop, label %done\n"
        "done:\n  ret void\n}\n\n"
        "define internal void @soft.flags(ptr %begun, ptr %masks, i64 %mask.bytes, "
        "i64 %bytes, i32 %threads) noinline nounwind {\n"
        "  %was = load i8, ptr %begun\n  %is = icmp ne i8 %was, 0\n"
        "  br i1 %is, label %done, label %begin\n"
        "begin:\n  store i8 1, ptr %begun\n  %any = icmp ne i64 %mask.bytes, 0\n"
        "  br i1 %any, label %mask, label %after\n"
        "mask:\n  call void @soft.begin(ptr %masks, i64 %mask.bytes, i32 0)\n"
        "  br label %after\n"
        "after:\n  %left = sub i64 %bytes, %mask.bytes\n"
        "  %more = icmp ne i64 %left, 0\n  br i1 %more, label %live, label %done\n"
        "live:\n  %at = getelementptr i8, ptr %masks, i64 %mask.bytes\n"
        "  call void @soft.begin(ptr %at, i64 %left, i32 %threads)\n"
        "  br label %done\n"
        "done:\n  ret void\n}\n\n"
        "define internal void @soft.fill(ptr %to, i8 %value, i64 %n) nounwind {\n"
        "entry:\n  br label %loop\n"
        "loop:\n  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]\n"
        "  %p = getelementptr i8, ptr %to, i64 %i\n  store i8 %value, ptr %p\n"
        "  %i1 = add nuw nsw i64 %i, 1\n"
        "  %c = icmp ult i64 %i1, %n\n  br i1 %c, label %loop, label %done\n"
        "done:\n  ret void\n}\n\n");
}

/* Functions that every module has. soft.scan stays a call, since it is long and each
 * masked region asks it. */
void ptx_fast_write_helpers(gphi_text *out)
{
    gphi_text_put(
        out,
        "; how many bytes are set; in the top bit, that they are not the first ones.\n"
        "; 32 at a time: those behind the last thread are there, and 0\n"
        "define internal i32 @soft.scan(ptr %mask, i32 %n) noinline nounwind {\n"
        "entry:\n  %n64 = zext i32 %n to i64\n  br label %loop\n"
        "loop:\n  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]\n"
        "  %count = phi i32 [ 0, %entry ], [ %count1, %loop ]\n"
        "  %last = phi i32 [ 0, %entry ], [ %last1, %loop ]\n"
        "  %p = getelementptr i8, ptr %mask, i64 %i\n"
        "  %b = load <32 x i8>, ptr %p, align 1\n"
        "  %set = icmp ne <32 x i8> %b, zeroinitializer\n"
        "  %bits = bitcast <32 x i1> %set to i32\n"
        "  %some = call i32 @llvm.ctpop.i32(i32 %bits)\n"
        "  %count1 = add i32 %count, %some\n  %i1 = add nuw nsw i64 %i, 32\n"
        "  %behind = call i32 @llvm.ctlz.i32(i32 %bits, i1 false)\n"
        "  %end = trunc i64 %i1 to i32\n  %here = sub i32 %end, %behind\n"
        "  %none = icmp eq i32 %bits, 0\n"
        "  %last1 = select i1 %none, i32 %last, i32 %here\n"
        "  %c = icmp ult i64 %i1, %n64\n  br i1 %c, label %loop, label %done\n"
        "done:\n  %prefix = icmp eq i32 %count1, %last1\n"
        "  %odd = or i32 %count1, -2147483648\n"
        "  %r = select i1 %prefix, i32 %count1, i32 %odd\n  ret i32 %r\n}\n\n");
    write_flag_helpers(out);
    ptx_fast_write_row_helpers(out);
}
