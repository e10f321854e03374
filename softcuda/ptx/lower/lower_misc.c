// SPDX-License-Identifier: Apache-2.0
/* mov, address space conversion, and what does nothing here or calls the run time. Also
 * the functions that a kernel may call without having them. */
#include "softcuda/ptx/abi.h"
#include "softcuda/ptx/lower/lower.h"

/* ---- mov -------------------------------------------------------------------------- */

static ptx_type bits_type(uint32_t bits)
{
    switch (bits) {
    case 8: return PTX_B8;
    case 16: return PTX_B16;
    case 32: return PTX_B32;
    case 64: return PTX_B64;
    case 128: return PTX_B128;
    default: return PTX_NONE;
    }
}

/* mov.b32 d, {a, b}: the first element is the lowest. */
static bool pack(ptx_low *l, ptx_type type)
{
    const ptx_operand *vector = l->operands[1];
    const uint32_t n = vector->index, total = ptx_bits(type);
    const ptx_type part = n ? bits_type(total / n) : PTX_NONE;
    if (part == PTX_NONE || total % n != 0 || !ptx_check_out(l, 0, type) ||
        !ptx_check_vector(l, 1, n, part, false))
        return false;
    if (!l->emit)
        return true;
    ptx_value whole = ptx_name("0");
    for (uint32_t i = 0; i < n; i++) {
        ptx_value x = ptx_operand_value(l->emit, vector + 1 + i, part);
        x = ptx_resize(l, x, total / n, total, false);
        if (i > 0)
            x = ptx_op(l, "shl %s %s, %u", ptx_int_name(total), x.name, i * (total / n));
        whole = i > 0 ? ptx_op(l, "or %s %s, %s", ptx_int_name(total), whole.name, x.name)
                      : x;
    }
    ptx_out(l, 0, type, whole);
    return true;
}

static bool unpack(ptx_low *l, ptx_type type)
{
    const ptx_operand *vector = l->operands[0];
    const uint32_t n = vector->index, total = ptx_bits(type);
    const ptx_type part = n ? bits_type(total / n) : PTX_NONE;
    if (part == PTX_NONE || total % n != 0 || !ptx_check_in(l, 1, type) ||
        !ptx_check_vector(l, 0, n, part, true))
        return false;
    if (!l->emit)
        return true;
    const ptx_value whole = ptx_in(l, 1, type);
    for (uint32_t i = 0; i < n; i++) {
        ptx_value x = whole;
        if (i > 0)
            x = ptx_op(l, "lshr %s %s, %u", ptx_int_name(total), x.name, i * (total / n));
        ptx_store_operand(l->emit, vector + 1 + i, part,
                          ptx_resize(l, x, total, total / n, false));
    }
    return true;
}

/* mov.v4.u16 d, a: element by element, all read before one is written. */
static bool move_elements(ptx_low *l, ptx_type type, uint32_t elements)
{
    ptx_value values[8];
    if (!ptx_check_vector(l, 0, elements, type, true) ||
        !ptx_check_vector(l, 1, elements, type, false))
        return false;
    for (uint32_t i = 0; i < elements && l->emit; i++)
        values[i] = ptx_operand_value(l->emit, l->operands[1] + 1 + i, type);
    for (uint32_t i = 0; i < elements && l->emit; i++)
        ptx_store_operand(l->emit, l->operands[0] + 1 + i, type, values[i]);
    return true;
}

static bool move(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0);
    if (l->count != 2 || l->insn->type_count != 1)
        return false;
    const uint32_t elements = ptx_vector_length(l);
    if (elements != 0)
        return (ptx_is_float(type) || ptx_is_number(type)) &&
               move_elements(l, type, elements);
    const bool packs = l->operands[1]->kind == PTX_OPERAND_VECTOR;
    if (packs || l->operands[0]->kind == PTX_OPERAND_VECTOR) {
        if (!ptx_is_bits(type) && type != PTX_B128)
            return false;
        return packs ? pack(l, type) : unpack(l, type);
    }
    const bool known = type == PTX_PRED || ptx_is_float(type) || type == PTX_B128 ||
                       (ptx_is_number(type) && ptx_bits(type) >= 16);
    if (!known || !ptx_check_all(l, type, 1))
        return false;
    ptx_out(l, 0, type, ptx_in(l, 1, type));
    return true;
}

/* ---- address spaces --------------------------------------------------------------- */

/* Where the space begins, as a generic address; "0": it is generic itself. */
static ptx_value space_base(ptx_low *l)
{
    if (l->insn->space != PTX_SPACE_SHARED && l->insn->space != PTX_SPACE_LOCAL)
        return ptx_name("0");
    if (!l->emit)
        return (ptx_value){""};
    const ptx_value base =
        l->insn->space == PTX_SPACE_SHARED ? l->emit->shared : l->emit->local;
    return ptx_op(l, "ptrtoint ptr %s to i64", base.name);
}

static bool convert_address(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0);
    const bool to = ptx_mod(l, PTX_MOD_TO);
    (void)ptx_mod(l, PTX_MOD_SHARED_CLUSTER);
    if ((type != PTX_U64 && type != PTX_U32) || l->insn->space == PTX_SPACE_GENERIC ||
        !ptx_check_all(l, type, 1))
        return false;
    const ptx_value from = ptx_in(l, 1, PTX_U64);
    const ptx_value base = space_base(l);
    ptx_out(l, 0, PTX_U64,
            ptx_op(l, "%s i64 %s, %s", to ? "sub" : "add", from.name, base.name));
    return true;
}

#define CONSTANTS_MAX 64u   /* of a module, to ask about each */
#define FRAMES_BYTES 262144 /* of device functions on one stack */

static ptx_value in_range(ptx_low *l, ptx_value address, ptx_value base, ptx_value bytes)
{
    const ptx_value offset = ptx_op(l, "sub i64 %s, %s", address.name, base.name);
    return ptx_op(l, "icmp ult i64 %s, %s", offset.name, bytes.name);
}

/* Local memory of a block's threads lies below its scratch memory; that of a device
 * function in its frame, and in those of its callers above. */
static ptx_value in_local(ptx_low *l, ptx_value address)
{
    const char *block = l->emit->block.name;
    const ptx_value from =
        ptx_load_field(l->emit, "i64", block, offsetof(ptx_block, local));
    const ptx_value to =
        ptx_load_field(l->emit, "i64", block, offsetof(ptx_block, scratch));
    const ptx_value bytes = ptx_op(l, "sub i64 %s, %s", to.name, from.name);
    const ptx_value kernels = in_range(l, address, from, bytes);
    if (l->function->is_entry)
        return kernels;
    const ptx_value frame = ptx_op(l, "ptrtoint ptr %s to i64", l->emit->local.name);
    const ptx_value own = in_range(l, address, frame, ptx_name("%d", FRAMES_BYTES));
    return ptx_op(l, "or i1 %s, %s", kernels.name, own.name);
}

static ptx_value in_params(ptx_low *l, ptx_value address)
{
    const ptx_value grid =
        ptx_load_field(l->emit, "ptr", l->emit->block.name, offsetof(ptx_block, grid));
    const ptx_value params =
        ptx_load_field(l->emit, "i64", grid.name, offsetof(ptx_grid, params));
    const ptx_value bytes =
        ptx_load_field(l->emit, "i32", grid.name, offsetof(ptx_grid, param_bytes));
    return in_range(l, address, params, ptx_resize(l, bytes, 32, 64, false));
}

static ptx_value in_constants(ptx_low *l, ptx_value address)
{
    ptx_value any = ptx_name("false");
    for (uint32_t v = 0; v < l->module->variable_count; v++) {
        const ptx_variable *variable = &l->module->variables[v];
        if (variable->space != PTX_SPACE_CONST || variable->is_extern)
            continue;
        const ptx_value base = l->emit->variable_address(l->emit, v);
        const ptx_value in = in_range(
            l, address, base, ptx_name("%llu", (unsigned long long)variable->bytes));
        any = ptx_op(l, "or i1 %s, %s", any.name, in.name);
    }
    return any;
}

static uint32_t constant_count(const ptx_low *l)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < l->module->variable_count; v++)
        count += l->module->variables[v].space == PTX_SPACE_CONST;
    return count;
}

/* Shared memory of any block of the cluster; of one that is alone, its own. */
static ptx_value in_cluster(ptx_low *l, ptx_value address)
{
    const ptx_value alone = ptx_in_shared(l, address);
    const ptx_value own = ptx_load_field(l->emit, "i32", l->emit->block.name,
                                         offsetof(ptx_block, cluster_rank));
    const ptx_value grid =
        ptx_load_field(l->emit, "ptr", l->emit->block.name, offsetof(ptx_block, grid));
    const ptx_value size =
        ptx_load_field(l->emit, "i32", grid.name, offsetof(ptx_grid, cluster_size));
    const ptx_value base = ptx_op(l, "ptrtoint ptr %s to i64", l->emit->shared.name);
    const ptx_value way = ptx_op(l, "sub i64 %s, %s", address.name, base.name);
    const ptx_value rank = ptx_op(l, "zext i32 %s to i64", own.name);
    const ptx_value below = ptx_op(l, "mul i64 %s, %u", rank.name, PTX_CLUSTER_STRIDE);
    const ptx_value offset = ptx_op(l, "add i64 %s, %s", way.name, below.name);
    const ptx_value slots = ptx_op(l, "zext i32 %s to i64", size.name);
    const ptx_value room =
        ptx_op(l, "mul i64 %s, %u", slots.name, 2 * PTX_CLUSTER_STRIDE);
    const ptx_value in_ring = ptx_op(l, "icmp ult i64 %s, %s", offset.name, room.name);
    const ptx_value many = ptx_op(l, "icmp ugt i32 %s, 1", size.name);
    return ptx_op(l, "select i1 %s, i1 %s, i1 %s", many.name, in_ring.name, alone.name);
}

/* Memory of any other kind, parameters among it, is .global. */
static ptx_value in_global(ptx_low *l, ptx_value address)
{
    const ptx_value shared = in_cluster(l, address);
    const ptx_value local = in_local(l, address);
    const ptx_value constants = in_constants(l, address);
    const ptx_value some = ptx_op(l, "or i1 %s, %s", shared.name, local.name);
    const ptx_value any = ptx_op(l, "or i1 %s, %s", some.name, constants.name);
    return ptx_op(l, "xor i1 %s, true", any.name);
}

/* Generic addresses are host addresses: which space one is in, ranges tell. */
static bool is_in_space(ptx_low *l)
{
    const ptx_space space = (ptx_space)l->insn->space;
    const bool of_cluster = ptx_mod(l, PTX_MOD_SHARED_CLUSTER);
    if (l->count != 2 || !ptx_check_out(l, 0, PTX_PRED) || !ptx_check_in(l, 1, PTX_U64))
        return false;
    if ((space == PTX_SPACE_CONST || space == PTX_SPACE_GLOBAL) &&
        constant_count(l) > CONSTANTS_MAX)
        return ptx_refuse(l, "isspacep among more than 64 constants");
    if (space != PTX_SPACE_SHARED && space != PTX_SPACE_GLOBAL &&
        space != PTX_SPACE_LOCAL && space != PTX_SPACE_CONST && space != PTX_SPACE_PARAM)
        return false;
    if (!l->emit)
        return true;
    const ptx_value address = ptx_in(l, 1, PTX_U64);
    ptx_out(l, 0, PTX_PRED,
            of_cluster                  ? in_cluster(l, address)
            : space == PTX_SPACE_SHARED ? ptx_in_shared(l, address)
            : space == PTX_SPACE_LOCAL  ? in_local(l, address)
            : space == PTX_SPACE_PARAM  ? in_params(l, address)
            : space == PTX_SPACE_CONST  ? in_constants(l, address)
                                        : in_global(l, address));
    return true;
}

/* Where the memory of the own block begins: nowhere else for an offset in .shared::cluster. */
static ptx_value cluster_base(ptx_low *l)
{
    if (l->insn->space == PTX_SPACE_SHARED)
        return ptx_name("0");
    return ptx_op(l, "ptrtoint ptr %s to i64", l->emit->shared.name);
}

/* The same place in the block of another rank; with getctarank, the rank of a place. */
static ptx_value mapped(ptx_low *l, ptx_value address, bool asks_rank)
{
    const ptx_value own = ptx_load_field(l->emit, "i32", l->emit->block.name,
                                         offsetof(ptx_block, cluster_rank));
    const ptx_value grid =
        ptx_load_field(l->emit, "ptr", l->emit->block.name, offsetof(ptx_block, grid));
    const ptx_value size =
        ptx_load_field(l->emit, "i32", grid.name, offsetof(ptx_grid, cluster_size));
    const ptx_value base = cluster_base(l);
    const ptx_value offset = ptx_op(l, "sub i64 %s, %s", address.name, base.name);
    if (asks_rank) {
        const ptx_value far = ptx_op(l, "ashr i64 %s, 18", offset.name);
        const ptx_value way = ptx_op(l, "trunc i64 %s to i32", far.name);
        /* Half a ring at most lies below: the size makes it positive. */
        const ptx_value rank = ptx_op(l, "add i32 %s, %s", way.name, own.name);
        const ptx_value up = ptx_op(l, "add i32 %s, %s", rank.name, size.name);
        return ptx_op(l, "urem i32 %s, %s", up.name, size.name);
    }
    const ptx_value rank = ptx_in(l, 2, PTX_U32);
    const ptx_value more = ptx_op(l, "add i32 %s, %s", rank.name, size.name);
    const ptx_value way = ptx_op(l, "sub i32 %s, %s", more.name, own.name);
    const ptx_value steps = ptx_op(l, "urem i32 %s, %s", way.name, size.name);
    const ptx_value wide = ptx_op(l, "zext i32 %s to i64", steps.name);
    const ptx_value up = ptx_op(l, "mul i64 %s, %u", wide.name, PTX_CLUSTER_STRIDE);
    const ptx_value inside =
        ptx_op(l, "and i64 %s, %u", offset.name, PTX_CLUSTER_STRIDE - 1);
    const ptx_value there = ptx_op(l, "add i64 %s, %s", inside.name, up.name);
    return ptx_op(l, "add i64 %s, %s", base.name, there.name);
}

/* mapa d, a, rank; getctarank d, a. */
static bool map_cluster(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0);
    (void)ptx_mod(l, PTX_MOD_SHARED_CLUSTER);
    if ((type != PTX_U64 && type != PTX_U32) || l->count < 2)
        return false;
    const bool rank = l->insn->opcode == PTX_OP_GETCTARANK;
    const ptx_type out = rank ? PTX_U32 : type;
    if (l->count != (rank ? 2u : 3u) || !ptx_check_out(l, 0, out) ||
        !ptx_check_in(l, 1, type) || (!rank && !ptx_check_in(l, 2, PTX_U32)) ||
        (l->insn->space != PTX_SPACE_GENERIC && l->insn->space != PTX_SPACE_SHARED))
        return false;
    if (!l->emit)
        return true;
    const uint32_t bits = ptx_bits(type);
    const ptx_value address = ptx_resize(l, ptx_in(l, 1, type), bits, 64, false);
    const ptx_value value = mapped(l, address, rank);
    ptx_out(l, 0, out, rank ? value : ptx_resize(l, value, 64, bits, false));
    return true;
}

/* ---- run time, hints -------------------------------------------------------------- */

static bool trap(ptx_low *l)
{
    if (l->count != 0)
        return false;
    if (l->emit)
        ptx_do(l, "call void @ptx_rt_trap(ptr %s, i32 %s)", l->emit->block.name,
               l->emit->thread_index.name);
    return true;
}

static bool sleep_for(ptx_low *l)
{
    if (ptx_type_at(l, 0) != PTX_U32 || l->count != 1 || !ptx_check_in(l, 0, PTX_U32))
        return false;
    const ptx_value ns = ptx_in(l, 0, PTX_U32);
    if (l->emit)
        ptx_do(l, "call void @ptx_rt_nanosleep(ptr %s, i32 %s)", l->emit->block.name,
               ns.name);
    return true;
}

/* Advice to a cache or a scheduler that is not there. */
static bool ignore(ptx_low *l)
{
    for (uint32_t i = 0; i < l->insn->mod_count; i++)
        (void)ptx_mod(l, (ptx_modifier)l->insn->mods[i]);
    return true;
}

static bool make_policy(ptx_low *l)
{
    if (l->count == 0 || !ptx_check_out(l, 0, PTX_B64) || !ignore(l))
        return false;
    ptx_out(l, 0, PTX_B64, ptx_name("0"));
    return true;
}

ptx_family ptx_low_misc = {
    [PTX_OP_MOV] = move,
    [PTX_OP_CVTA] = convert_address,
    [PTX_OP_ISSPACEP] = is_in_space,
    [PTX_OP_MAPA] = map_cluster,
    [PTX_OP_GETCTARANK] = map_cluster,
    [PTX_OP_TRAP] = trap,
    [PTX_OP_BRKPT] = trap,
    [PTX_OP_NANOSLEEP] = sleep_for,
    [PTX_OP_BARRIER] = ignore, /* .cluster.arrive */
    [PTX_OP_CREATEPOLICY] = make_policy,
    [PTX_OP_PMEVENT] = ignore,
    [PTX_OP_GRIDDEPCONTROL] = ignore,
    [PTX_OP_DISCARD] = ignore,
    [PTX_OP_APPLYPRIORITY] = ignore,
    [PTX_OP_SETMAXNREG] = ignore,
};
