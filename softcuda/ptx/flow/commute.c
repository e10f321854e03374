// SPDX-License-Identifier: Apache-2.0
/* Atomic operations whose order nobody sees: whole numbers are added, or the least, the
 * largest, the bits of them are kept, and what stood there before is not asked for. A loop
 * with no others may go round by round, all threads in each:
 *
 *   for (i = tid; i < n; i += threads) atomicAdd(&bins[in[i]], 1);
 *
 *   thread by thread:  in[0] in[256] in[512] ...  in[1] in[257] ...   a line a load
 *   round by round:    in[0] in[1] in[2] ...                          as memory lies
 *
 * Sums of floating-point numbers depend on the order, counters that wrap and exchanges on
 * who comes first: those loops stay as they are, and give the slow path's bytes. */
#include "softcuda/ptx/flow/flow.h"

/* By another instruction than `own`, which reads what it may leave as it is. */
static bool is_read(const ptx_shape *s, uint32_t reg, uint32_t own)
{
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        if (b->end != SHAPE_JUMP && b->reg == reg)
            return true;
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            for (uint32_t k = 0; k < s->insns[i].read_count; k++)
                if (i != own && s->insns[i].reads[k] == reg)
                    return true;
    }
    return false;
}

static bool is_whole_number(uint32_t type)
{
    return type == PTX_U32 || type == PTX_S32 || type == PTX_B32 || type == PTX_U64 ||
           type == PTX_S64 || type == PTX_B64;
}

bool ptx_commutes(const ptx_shape *s, uint32_t i)
{
    const ptx_insn *insn = &s->function->insns[i];
    static const ptx_modifier words[] = {PTX_MOD_ADD, PTX_MOD_MIN, PTX_MOD_MAX,
                                         PTX_MOD_AND, PTX_MOD_OR,  PTX_MOD_XOR};
    bool known = false;
    if ((insn->opcode != PTX_OP_ATOM && insn->opcode != PTX_OP_RED) ||
        insn->type_count != 1 || !is_whole_number(insn->types[0]))
        return false;
    for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
        known |= ptx_has(insn, words[k]);
    /* An order with other accesses is the thread's own, but says that somebody looks. */
    if (!known || ptx_has(insn, PTX_MOD_ACQUIRE) || ptx_has(insn, PTX_MOD_RELEASE) ||
        ptx_has(insn, PTX_MOD_ACQ_REL))
        return false;
    for (uint32_t k = 0; k < s->insns[i].write_count; k++)
        if (is_read(s, s->insns[i].writes[k], i))
            return false;
    return true;
}
