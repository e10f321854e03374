// SPDX-License-Identifier: Apache-2.0
/* The slow path: one function that runs one thread, its control flow as written, barriers
 * and warp operations as calls of the run time. Device functions have the same form. */
#include "softcuda/ptx/shape/shape.h"

#include <stdio.h>

#include "softcuda/ptx/abi.h"

/* In reverse postorder: an edge that does not lead on leads back. */
static bool is_back_edge(const ptx_shape *s, uint32_t from, uint32_t to)
{
    return to != SHAPE_EXIT && s->blocks[to].order <= s->blocks[from].order;
}

/* A back edge leads through a block of its own that counts the rounds. */
static void slow_target(ptx_emit *emit, uint32_t block, uint32_t nth, char *label,
                        size_t bytes)
{
    const ptx_writer *w = emit->shape;
    const uint32_t to = w->s->blocks[block].succ[nth];
    if (to == SHAPE_EXIT)
        snprintf(label, bytes, "done");
    else if (is_back_edge(w->s, block, to))
        snprintf(label, bytes, "back.%u.%u", block, nth);
    else
        snprintf(label, bytes, "bb.%u", to);
}

/* Each counts down, so that a loop that waits gives way to what it waits for. */
static void write_back_edges(ptx_emit *emit, uint32_t block)
{
    const ptx_writer *w = emit->shape;
    const ptx_flow_block *b = &w->s->blocks[block];
    for (uint32_t k = 0; k < b->succ_count; k++) {
        if (!is_back_edge(w->s, block, b->succ[k]))
            continue;
        gphi_text_add(emit->out, "back.%u.%u:\n", block, k);
        ptx_line(emit, "call void @soft.safepoint(ptr %%block, ptr %s, i32 1)",
                 w->thread.name);
        ptx_line(emit, "br label %%bb.%u", b->succ[k]);
    }
}

static void write_blocks(ptx_emit *emit)
{
    const ptx_writer *w = emit->shape;
    const ptx_shape *s = w->s;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const uint32_t block = s->order[n];
        const ptx_flow_block *b = &s->blocks[block];
        gphi_text_add(emit->out, "bb.%u:\n", block);
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            ptx_write_insn(emit, i);
        ptx_write_end(emit, block, slow_target);
        write_back_edges(emit, block);
    }
}

/* ---- functions -------------------------------------------------------------------- */

static void set_values(ptx_emit *emit)
{
    static const char *const names[] = {"%block",        "%zero",  "%shared",
                                        "%thread.index", "%local", "%params"};
    ptx_value *const values[] = {&emit->block,        &emit->zero,  &emit->shared,
                                 &emit->thread_index, &emit->local, &emit->params};
    for (size_t i = 0; i < 6; i++)
        snprintf(values[i]->name, sizeof(values[i]->name), "%s", names[i]);
    emit->special_register = ptx_special_register;
    emit->variable_address = ptx_variable_address;
    emit->access = "";
}

/* The values that lowering asks for are names which the head of the function defines, the
 * same in all of them. */
static ptx_writer begin_writer(ptx_shape *s, ptx_emit *emit)
{
    ptx_writer w = {.s = s};
    *emit = (ptx_emit){.module = s->module,
                       .function = s->function,
                       .options = s->options,
                       .out = &s->program->text};
    snprintf(w.tid[0].name, sizeof(w.tid[0].name), "%%tid.x");
    snprintf(w.tid[1].name, sizeof(w.tid[1].name), "%%tid.y");
    snprintf(w.tid[2].name, sizeof(w.tid[2].name), "%%tid.z");
    snprintf(w.thread.name, sizeof(w.thread.name), "%%thread");
    set_values(emit);
    return w;
}

void ptx_write_slow(ptx_shape *s)
{
    ptx_emit emit;
    ptx_writer w = begin_writer(s, &emit);
    emit.shape = &w;
    gphi_text_add(emit.out, "define void @\"t.%s\"(ptr %%block, ptr %%thread) #0 {\n",
                  s->function->name);
    ptx_write_head(&emit);
    static const struct {
        const char *name;
        size_t offset;
    } fields[] = {{"tid.x", offsetof(ptx_thread, tid)},
                  {"tid.y", offsetof(ptx_thread, tid) + 4},
                  {"tid.z", offsetof(ptx_thread, tid) + 8},
                  {"thread.index", offsetof(ptx_thread, index)}};
    for (size_t i = 0; i < 4; i++)
        gphi_text_add(emit.out,
                      "  %%%s.at = getelementptr inbounds i8, ptr %%thread, i64 %zu\n"
                      "  %%%s = load i32, ptr %%%s.at\n",
                      fields[i].name, fields[i].offset, fields[i].name, fields[i].name);
    gphi_text_add(emit.out,
                  "  %%local.index = zext i32 %%thread.index to i64\n"
                  "  %%local.offset = mul i64 %%local.index, %u\n"
                  "  %%local = getelementptr i8, ptr %%localbase, i64 %%local.offset\n",
                  s->local_bytes);
    ptx_write_slots(&emit);
    gphi_text_add(emit.out, "  br label %%bb.%u\n", s->entry);
    write_blocks(&emit);
    gphi_text_put(emit.out, "ended:\n  br label %done\ndone:\n  ret void\n}\n\n");
}

/* Parameters that are registers come by address, like all others. */
static void copy_register_parameters(ptx_emit *emit, bool results)
{
    const ptx_function *f = emit->function;
    if (!f->parameter_registers)
        return;
    const uint32_t first = results ? f->parameter_count : 0;
    const uint32_t end =
        results ? f->parameter_count + f->return_count : f->parameter_count;
    for (uint32_t i = first; i < end; i++) {
        if (f->variables[i].space != PTX_SPACE_REG)
            continue;
        const uint32_t reg = f->parameter_registers[i];
        const char *type = ptx_llvm_type((ptx_type)f->registers[reg].type);
        if (results) {
            const ptx_value value = ptx_load_register(emit, reg);
            ptx_line(emit, "store %s %s, ptr %%p.%u", type, value.name, i);
        } else {
            ptx_store_register(emit, reg, ptx_let(emit, "load %s, ptr %%p.%u", type, i));
        }
    }
}

/* Whether it turns generic addresses into local ones. */
static bool takes_local_addresses(const ptx_function *f)
{
    for (uint32_t i = 0; i < f->insn_count; i++) {
        const ptx_insn *insn = &f->insns[i];
        if (insn->opcode == PTX_OP_CVTA && insn->space == PTX_SPACE_LOCAL &&
            ptx_has(insn, PTX_MOD_TO))
            return true;
    }
    return false;
}

/* One whose address is taken is a symbol that initializers of variables and all kernels
 * refer to; a kernel knows its code, to put it in place of calls, and does not have it. */
const char *ptx_linkage(const ptx_build *p, uint32_t function)
{
    if (!(p->used_functions[function] & FUNCTION_OPEN))
        return "internal ";
    return p->options->part == PTX_PART_KERNEL ? "available_externally " : "";
}

void ptx_write_device(ptx_shape *s)
{
    ptx_emit emit;
    ptx_writer w = begin_writer(s, &emit);
    const ptx_function *f = s->function;
    const uint32_t index = (uint32_t)(f - s->module->functions);
    const bool small = s->program->small[index];
    emit.shape = &w;
    gphi_text_add(emit.out,
                  "define %si1 @\"f.%s\"(ptr %%block, ptr %%thread, i32 %%thread.index, "
                  "i32 %%tid.x, i32 %%tid.y, i32 %%tid.z",
                  ptx_linkage(s->program, index), f->name);
    for (uint32_t i = 0; i < f->parameter_count + f->return_count; i++)
        gphi_text_add(emit.out, ", ptr %%p.%u", i);
    gphi_text_add(emit.out, ") %s {\n", small ? "#2" : "#0");
    ptx_write_head(&emit);
    gphi_text_add(emit.out,
                  "  %%local.frame = alloca [%u x i8], align %u\n"
                  "  %%exited = alloca i1\n  store i1 false, ptr %%exited\n",
                  s->local_bytes ? s->local_bytes : 1, s->local_align);
    /* A pointer that comes from the frame may touch nothing else, says LLVM: where
     * addresses of the caller are turned into local ones, it must not know. */
    gphi_text_add(emit.out,
                  takes_local_addresses(f)
                      ? "  %%local.frame.at = ptrtoint ptr %%local.frame to i64\n"
                        "  %%local = getelementptr i8, ptr %%zero, i64 "
                        "%%local.frame.at\n"
                      : "  %%local = getelementptr i8, ptr %%local.frame, i64 0\n");
    ptx_write_slots(&emit);
    copy_register_parameters(&emit, false);
    if (!small) /* trees of calls, and tail calls, may go on like loops */
        ptx_line(&emit, "call void @soft.safepoint(ptr %%block, ptr %%thread, i32 1)");
    gphi_text_add(emit.out, "  br label %%bb.%u\n", s->entry);
    write_blocks(&emit);
    gphi_text_put(emit.out, "ended:\n  ret i1 true\ndone:\n");
    copy_register_parameters(&emit, true);
    gphi_text_put(emit.out, "  %result = load i1, ptr %exited\n  ret i1 %result\n}\n\n");
}
