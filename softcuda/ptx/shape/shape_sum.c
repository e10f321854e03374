// SPDX-License-Identifier: Apache-2.0
/* Sums of floats in global memory by the lanes of a warp (flow/join.c): where each adds and
 * what, for a function of the library that makes them. */
#include "softcuda/ptx/abi.h"
#include "softcuda/ptx/shape/warp.h"

/* Whether no other thread runs code of the device, so that a load and a store are an
 * atomic operation; 0 for the system's scope. */
static ptx_value alone(ptx_warp *w)
{
    if (w->cut.mode != 0)
        return (ptx_value){"0"};
    return ptx_load_field(w->e, "i32", "%block", offsetof(ptx_block, is_alone));
}

static bool is_wide(const ptx_warp *w, uint32_t reg)
{
    return ptx_type_bytes((ptx_type)w->e->function->registers[reg].type) == 8;
}

/* Where the lanes of the array lie: it is not copied, since a processor waits for stores
 * that it loads in other pieces. */
static ptx_value lanes_at(ptx_warp *w, const char *type, uint32_t reg)
{
    return ptx_let(w->e, "getelementptr %s, ptr %%ctx.%u, i64 %s", type, reg, w->base);
}

static ptx_value addresses_at(ptx_warp *w)
{
    const ptx_operand *o = w->cut.b;
    if (o->base == PTX_OPERAND_REG && o->imm == 0 && is_wide(w, o->index) &&
        w->f->s->regs[o->index].divergent)
        return lanes_at(w, "i64", o->index);
    ptx_line(w->e, "store <32 x i64> %s, ptr %%warp.a, align 64",
             ptx_warp_addresses(w, o).name);
    return (ptx_value){"%warp.a"};
}

static ptx_value values_at(ptx_warp *w)
{
    const ptx_operand *o = w->cut.value;
    if (ptx_warp_is_array(w, o))
        return lanes_at(w, "float", o->index);
    const ptx_value one = ptx_operand_value(w->e, o, PTX_F32);
    ptx_line(w->e, "store <32 x float> %s, ptr %%warp.b, align 64",
             ptx_warp_splat(w, "float", one.name).name);
    return (ptx_value){"%warp.b"};
}

void ptx_warp_write_sum(ptx_warp *w)
{
    const ptx_value at = addresses_at(w), values = values_at(w);
    ptx_line(w->e, "call void @x_sum_lanes_f32(ptr %s, ptr %s, i32 %s, i32 %s)", at.name,
             values.name, w->bits.name, alone(w).name);
}
