// SPDX-License-Identifier: Apache-2.0
/* Loops that wait for time alone: `start = clock64(); while (clock64() - start < n) {}`.
 *
 * On a GPU all threads of a block wait beside each other. One thread after the other, a
 * block would wait as often as it has threads. So in a kernel with such a loop a clock is
 * read by all threads at the same moment, as the lanes of a warp do: it parts the body, as
 * a barrier does, and where all threads come together what it gave is uniform. Then the
 * loop is uniform, too, and is run once; where only some come, they go round together.
 * Whatever else the kernel does with clocks stays right: what is before a reading has been
 * done by all threads, and nothing of what is after it. */
#include "softcuda/ptx/flow/flow.h"

/* `mov`: nothing else reads one. Not under a guard of its own. */
static bool is_reading(const ptx_shape *s, uint32_t i)
{
    const ptx_insn *insn = &s->function->insns[i];
    return insn->opcode == PTX_OP_MOV && !insn->guarded && insn->operand_count == 2 &&
           ptx_is_clock(&s->function->operands[insn->operand + 1]);
}

/* The thread does nothing but go on in the text, or to another place in it. */
static bool only_computes(const ptx_shape *s, uint32_t i)
{
    const ptx_flow_insn *info = &s->insns[i];
    const ptx_space space = (ptx_space)s->function->insns[i].space;
    if (info->role == PTX_ROLE_BRANCH || info->role == PTX_ROLE_EXIT)
        return true;
    return info->role == PTX_ROLE_PLAIN && !info->writes_memory &&
           (!info->reads_memory || space == PTX_SPACE_PARAM || space == PTX_SPACE_CONST);
}

/* From where a branch leads back to, up to it, as the text has them. */
static bool waits_for_clock(const ptx_shape *s, uint32_t first, uint32_t last)
{
    bool reads = false;
    for (uint32_t i = first; i <= last; i++) {
        if (!only_computes(s, i))
            return false;
        reads |= is_reading(s, i);
    }
    return reads;
}

bool ptx_has_clock_waits(const ptx_shape *s)
{
    const ptx_function *f = s->function;
    bool any = false;
    for (uint32_t i = 0; i < f->insn_count; i++)
        any |= is_reading(s, i);
    for (uint32_t i = 0; any && i < f->insn_count; i++) {
        const ptx_operand *to = &f->operands[f->insns[i].operand];
        if (s->insns[i].role != PTX_ROLE_BRANCH || f->insns[i].operand_count != 1 ||
            to->kind != PTX_OPERAND_LABEL)
            continue;
        const uint32_t first = f->labels[to->index].insn;
        if (first <= i && waits_for_clock(s, first, i))
            return true;
    }
    return false;
}

void ptx_join_clocks(ptx_shape *s)
{
    for (uint32_t i = 0; i < s->function->insn_count; i++) {
        if (!is_reading(s, i))
            continue;
        s->insns[i].is_moment = 1;
        s->insns[i].keeps_uniformity = 1;
    }
}
