// SPDX-License-Identifier: Apache-2.0
/* How many registers a GPU's compiler would give a kernel: an estimate from the words
 * that are alive at one time.
 *
 * What ptxas does is not known here, so the weights below are plain ones, compared with
 * what ptxas 13.0 reports (docs/design/kernels.md has how well). Values that are the same for the whole
 * block take fewer of a thread's registers: parameters are read from constant memory
 * where they are used, and sums of them live in uniform registers. */
#include "softcuda/ptx/flow/flow.h"

#include <string.h>

#define REGISTERS_MOST 255u
#define REGISTERS_OF_MP 65536u /* shared by the threads of a block */

/* Eighths of a register: see above. */
static uint32_t weight(const ptx_shape *s, uint32_t reg)
{
    const ptx_type type = (ptx_type)s->function->registers[reg].type;
    if (type == PTX_PRED)
        return 0;
    const uint32_t words = (ptx_type_bytes(type) + 3) / 4;
    return s->regs[reg].divergent ? 8 * words : 2 * words;
}

static uint32_t live_weight(const ptx_shape *s, const uint32_t *live)
{
    uint32_t sum = 0;
    for (uint32_t w = 0; w < s->reg_words; w++) /* few of a large kernel's are alive */
        for (uint32_t bits = live[w]; bits; bits &= bits - 1)
            sum += weight(s, 32 * w + (uint32_t)__builtin_ctz(bits));
    return sum;
}

/* Backwards through a block. Returns the most that is alive at once; without liveness, of
 * what the block alone reads and writes. */
static uint32_t pressure_of(const ptx_shape *s, const ptx_flow_block *b, uint32_t *live)
{
    memset(live, 0, s->reg_words * sizeof(*live));
    for (uint32_t k = 0; k < b->succ_count && s->live_in; k++)
        for (uint32_t w = 0; w < s->reg_words && b->succ[k] != SHAPE_EXIT; w++)
            live[w] |= s->live_in[b->succ[k]][w];
    uint32_t now = live_weight(s, live), most = now;
    for (uint32_t i = b->first + b->count; i-- > b->first;) {
        const ptx_flow_insn *insn = &s->insns[i];
        for (uint32_t k = 0; k < insn->write_count; k++)
            if (ptx_bit(live, insn->writes[k])) {
                now -= weight(s, insn->writes[k]);
                ptx_clear_bit(live, insn->writes[k]);
            }
        for (uint32_t k = 0; k < insn->read_count; k++)
            if (!ptx_bit(live, insn->reads[k])) {
                now += weight(s, insn->reads[k]);
                ptx_set_bit(live, insn->reads[k]);
            }
        most = now > most ? now : most;
    }
    return most;
}

uint32_t ptx_estimate_registers(ptx_shape *s, uint32_t max_threads, bool has_room)
{
    uint32_t *live = ptx_alloc(s->memory, s->reg_words, sizeof(*live));
    uint32_t most = 0;
    if (!s->live_in && has_room)
        ptx_find_liveness(s);
    for (uint32_t n = 0; n < s->order_count; n++) {
        const uint32_t here = pressure_of(s, &s->blocks[s->order[n]], live);
        most = here > most ? here : most;
    }
    uint32_t guess = 8 + most / 8;
    const ptx_function *f = s->function;
    uint32_t limit = f->max_registers ? f->max_registers : REGISTERS_MOST;
    const uint32_t blocks = f->min_blocks ? f->min_blocks : 1;
    /* So many that a block of the largest size can run, in units of 8. */
    const uint32_t fits =
        REGISTERS_OF_MP / ((max_threads + 31) / 32 * 32 * blocks) / 8 * 8;
    if (fits < limit && fits > 0)
        limit = fits;
    return guess > limit ? limit : guess;
}
