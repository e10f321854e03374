// SPDX-License-Identifier: Apache-2.0
/* Loops whose rounds differ by thread, and that gain by being run round by round all the
 * same, in strips of a row: 16 threads at a time, or 32 where they load, are lanes of vectors
 * that stay in registers; a lane that has left keeps what it has.
 *
 *   while (n < most && zr * zr + zi * zi < 4) ...      nothing but arithmetic
 *   while (low < high) { mid = ...; if (a[mid] < key) low = mid + 1; else high = mid; }
 *
 * Of one thread such a loop is a chain: each round waits for the one before it, in the second
 * case for what that has loaded, so that a processor has little to do at a time. Side by side
 * chains overlap. Where the next address is known before (`while (key[slot] != k) slot++`) a
 * processor runs ahead by itself, gathers cost more than they bring, and a strip would wait
 * for its longest thread: such loops stay as they are. */
#include "softcuda/ptx/abi.h"
#include "softcuda/ptx/flow/flow.h"

#define INSNS_MAX 120u
#define LOADS_MAX 4u

static bool has_loop_inside(const ptx_shape *s, uint32_t loop)
{
    for (uint32_t l = 0; l < s->loop_count; l++)
        if (s->loops[l].parent == loop)
            return true;
    return false;
}

static bool is_whole(uint32_t type)
{
    return type != PTX_F32 && type != PTX_F64 && type != PTX_F16 && type != PTX_F16X2;
}

/* What processors gather: words of 32 or 64 bits, of memory that needs no question. */
static bool is_gathered(const ptx_insn *insn)
{
    return insn->opcode == PTX_OP_LD && insn->mod_count == 0 && insn->type_count == 1 &&
           insn->operand_count == 2 && ptx_type_bytes((ptx_type)insn->types[0]) >= 4 &&
           (insn->space == PTX_SPACE_GLOBAL || insn->space == PTX_SPACE_SHARED);
}

/* Nothing that others see, and nothing that is done one by one. */
static bool fits_vectors(const ptx_shape *s, uint32_t i)
{
    const ptx_insn *insn = &s->function->insns[i];
    const ptx_flow_insn *flow = &s->insns[i];
    if (flow->role != PTX_ROLE_PLAIN || flow->writes_memory || flow->is_volatile)
        return false;
    if (flow->reads_memory && !ptx_is_steady_load(s, i) && !is_gathered(insn))
        return false;
    return (insn->opcode != PTX_OP_DIV && insn->opcode != PTX_OP_REM) ||
           !is_whole(insn->types[0]);
}

typedef struct chain {
    const ptx_shape *s;
    uint32_t loop;
    bool carried;     /* of the round before; else of this one, too */
    uint32_t *loaded; /* registers: made of what a load of the loop has brought */
    bool changed;
} chain;

static void add_written(chain *c, uint32_t i)
{
    for (uint32_t k = 0; k < c->s->insns[i].write_count; k++) {
        const uint32_t reg = c->s->insns[i].writes[k];
        c->changed |= !ptx_bit(c->loaded, reg);
        ptx_set_bit(c->loaded, reg);
    }
}

static bool is_load(const ptx_shape *s, uint32_t i)
{
    return s->insns[i].reads_memory && !ptx_is_steady_load(s, i);
}

/* One pass over the loop. A branch by what was loaded, inside the loop, decides on all that
 * the loop sets. */
static void spread(chain *c)
{
    const ptx_shape *s = c->s;
    bool decides = false;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        if (!ptx_in_loop(s, c->loop, s->order[n]))
            continue;
        if (b->end != SHAPE_JUMP && b->succ_count == 2 && ptx_bit(c->loaded, b->reg))
            decides |= b->succ[0] != SHAPE_EXIT && b->succ[1] != SHAPE_EXIT &&
                       ptx_in_loop(s, c->loop, b->succ[0]) &&
                       ptx_in_loop(s, c->loop, b->succ[1]);
        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            bool made = (decides || is_load(s, i)) && !c->carried;
            for (uint32_t k = 0; k < s->insns[i].read_count && !made; k++)
                made = ptx_bit(c->loaded, s->insns[i].reads[k]);
            if (made)
                add_written(c, i);
        }
    }
}

static void spread_all(chain *c)
{
    do {
        c->changed = false;
        spread(c);
    } while (c->changed);
}

/* Whether what a round loads says where the next one loads. */
static bool follows_loads(const ptx_shape *s, uint32_t loop)
{
    chain c = {.s = s,
               .loop = loop,
               .loaded = ptx_alloc(s->memory, s->reg_words, sizeof(uint32_t))};
    spread_all(&c);
    for (uint32_t w = 0; w < s->reg_words; w++) /* what comes round */
        c.loaded[w] &= s->live_in[s->loops[loop].head][w];
    c.carried = true;
    spread_all(&c);
    for (uint32_t i = 0; i < s->function->insn_count; i++) {
        if (!s->blocks[s->insns[i].block].reachable ||
            !ptx_in_loop(s, loop, s->insns[i].block) || !is_load(s, i))
            continue;
        for (uint32_t k = 0; k < s->insns[i].read_count; k++)
            if (ptx_bit(c.loaded, s->insns[i].reads[k]))
                return true;
    }
    return false;
}

bool ptx_gains_by_strips(const ptx_shape *s, uint32_t loop)
{
    const ptx_flow_loop *l = &s->loops[loop];
    uint32_t insns = 0, loads = 0;
    if (l->uniform || l->lockstep || l->spins || has_loop_inside(s, loop))
        return false;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        if (!ptx_in_loop(s, loop, s->order[n]))
            continue;
        if (b->kind != SHAPE_CODE)
            return false;
        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            if (!fits_vectors(s, i))
                return false;
            loads += is_load(s, i);
            insns++;
        }
    }
    return insns <= INSNS_MAX && loads <= LOADS_MAX &&
           (loads == 0 || follows_loads(s, loop));
}

static bool loads_in(const ptx_shape *s, uint32_t loop)
{
    for (uint32_t i = 0; i < s->function->insn_count; i++)
        if (s->blocks[s->insns[i].block].reachable &&
            ptx_in_loop(s, loop, s->insns[i].block) && is_load(s, i))
            return true;
    return false;
}

/* More chains hide what a load takes; rows of 16 are common where blocks are squares. */
uint32_t ptx_strip_lanes(const ptx_shape *s)
{
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < s->loop_count && lanes < PTX_WARP_SIZE; l++)
        if (ptx_gains_by_strips(s, l))
            lanes = loads_in(s, l) ? PTX_WARP_SIZE : SHAPE_STRIP;
    return lanes;
}
