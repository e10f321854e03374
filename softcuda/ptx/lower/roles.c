// SPDX-License-Identifier: Apache-2.0
/* What kind of instruction each one is, which registers it touches, and facts about
 * memory and uniformity for the analyses of the shape. */
#include "softcuda/ptx/lower/lower.h"
#include "softcuda/ptx/lower/matrix_form.h"

#include <string.h>

/* Every modifier of the instruction is one of the `count` in `allowed`. */
static bool only_modifiers(const ptx_insn *insn, const uint8_t *allowed, size_t count)
{
    for (uint32_t i = 0; i < insn->mod_count; i++)
        if (!memchr(allowed, insn->mods[i], count))
            return false;
    return true;
}

#define ONLY(insn, ...)                                                                  \
    only_modifiers(insn, (const uint8_t[]){__VA_ARGS__},                                 \
                   sizeof((const uint8_t[]){__VA_ARGS__}))

static bool has_type(const ptx_insn *insn, ptx_type a, ptx_type b, ptx_type c)
{
    return insn->type_count == 1 &&
           (insn->types[0] == a || insn->types[0] == b || insn->types[0] == c);
}

/* bar.warp.sync is a warp operation. A block arrives at its cluster's barrier where it waits
 * for it: the arrival by itself does nothing. */
static ptx_role barrier_role(const ptx_insn *insn)
{
    if (ptx_has(insn, PTX_MOD_CLUSTER)) {
        if (!ONLY(insn, PTX_MOD_CLUSTER, PTX_MOD_ARRIVE, PTX_MOD_WAIT, PTX_MOD_ALIGNED,
                  PTX_MOD_RELEASE, PTX_MOD_ACQUIRE, PTX_MOD_RELAXED) ||
            insn->operand_count != 0)
            return PTX_ROLE_UNSUPPORTED;
        return ptx_has(insn, PTX_MOD_ARRIVE) ? PTX_ROLE_PLAIN : PTX_ROLE_BARRIER;
    }
    if (ptx_has(insn, PTX_MOD_WARP))
        return ONLY(insn, PTX_MOD_WARP, PTX_MOD_SYNC) ? PTX_ROLE_WARP
                                                      : PTX_ROLE_UNSUPPORTED;
    const bool known = ONLY(insn, PTX_MOD_CTA, PTX_MOD_SYNC, PTX_MOD_ARRIVE, PTX_MOD_RED,
                            PTX_MOD_ALIGNED, PTX_MOD_POPC, PTX_MOD_AND, PTX_MOD_OR);
    return known ? PTX_ROLE_BARRIER : PTX_ROLE_UNSUPPORTED;
}

static bool is_warp_form(const ptx_insn *insn)
{
    switch ((ptx_opcode)insn->opcode) {
    case PTX_OP_SHFL:
        return has_type(insn, PTX_B32, PTX_B32, PTX_B32) &&
               ONLY(insn, PTX_MOD_SYNC, PTX_MOD_UP, PTX_MOD_DOWN, PTX_MOD_BFLY,
                    PTX_MOD_IDX);
    case PTX_OP_VOTE:
        return has_type(insn, PTX_PRED, PTX_B32, PTX_B32) &&
               ONLY(insn, PTX_MOD_SYNC, PTX_MOD_ALL, PTX_MOD_ANY, PTX_MOD_UNI,
                    PTX_MOD_BALLOT);
    case PTX_OP_MATCH:
        return has_type(insn, PTX_B32, PTX_B64, PTX_B64) &&
               ONLY(insn, PTX_MOD_SYNC, PTX_MOD_ALL, PTX_MOD_ANY);
    case PTX_OP_REDUX:
        return has_type(insn, PTX_U32, PTX_S32, PTX_B32) &&
               ONLY(insn, PTX_MOD_SYNC, PTX_MOD_ADD, PTX_MOD_MIN, PTX_MOD_MAX,
                    PTX_MOD_AND, PTX_MOD_OR, PTX_MOD_XOR);
    case PTX_OP_ELECT: return ONLY(insn, PTX_MOD_SYNC);
    default: return insn->mod_count == 0 && has_type(insn, PTX_B32, PTX_B32, PTX_B32);
    }
}

static bool is_matrix_form(const ptx_function *function, const ptx_insn *insn)
{
    ptx_matrix form;
    ptx_matrix_operands operands;
    return ptx_matrix_read(function, insn, &form, &operands);
}

ptx_role ptx_insn_role(const ptx_module *module, const ptx_function *function,
                       const ptx_insn *insn, const char **reason)
{
    ptx_role role;
    switch ((ptx_opcode)insn->opcode) {
    case PTX_OP_BRA:
    case PTX_OP_BRX: return PTX_ROLE_BRANCH;
    case PTX_OP_RET:
    case PTX_OP_EXIT: return PTX_ROLE_EXIT;
    case PTX_OP_CALL:
        if (ptx_intrinsic_fits(module, function, insn))
            return PTX_ROLE_CALL;
        if (reason)
            *reason = "the run time's function takes other arguments";
        return PTX_ROLE_UNSUPPORTED;
    case PTX_OP_BAR:
    case PTX_OP_BARRIER: role = barrier_role(insn); break;
    case PTX_OP_SHFL:
    case PTX_OP_VOTE:
    case PTX_OP_MATCH:
    case PTX_OP_REDUX:
    case PTX_OP_ELECT:
    case PTX_OP_ACTIVEMASK:
        role = is_warp_form(insn) ? PTX_ROLE_WARP : PTX_ROLE_UNSUPPORTED;
        break;
    case PTX_OP_MMA:
    case PTX_OP_WMMA:
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
    case PTX_OP_MOVMATRIX:
        role = is_matrix_form(function, insn) ? PTX_ROLE_WARP : PTX_ROLE_UNSUPPORTED;
        break;
    default:
        return ptx_can_lower(module, function, insn, reason) ? PTX_ROLE_PLAIN
                                                             : PTX_ROLE_UNSUPPORTED;
    }
    if (role == PTX_ROLE_UNSUPPORTED && reason)
        *reason = "this build does not have this form of the instruction";
    return role;
}

/* ---- registers -------------------------------------------------------------------- */

/* What an opcode does whatever its form. The opcodes of a module are known to the parser
 * alone: instructions that this build cannot write have entries here all the same. */
enum {
    NO_RESULT = 1, /* no operand is a destination */
    READS = 2,     /* memory, or what may be memory */
    WRITES = 4,
    OWN = 8 /* differs from thread to thread whatever its operands are */
};
/* clang-format off */
static const uint8_t facts[PTX_OP_COUNT] = {
    [PTX_OP_ST] = NO_RESULT | WRITES, [PTX_OP_RED] = NO_RESULT | READS | WRITES,
    [PTX_OP_ATOM] = READS | WRITES, [PTX_OP_CALL] = READS | WRITES,
    [PTX_OP_MBARRIER] = READS | WRITES, [PTX_OP_WMMA] = READS | WRITES | OWN,
    [PTX_OP_MULTIMEM] = READS | WRITES, [PTX_OP_SURED] = NO_RESULT | READS | WRITES,
    [PTX_OP_SUST] = NO_RESULT | WRITES, [PTX_OP_STMATRIX] = NO_RESULT | WRITES,
    [PTX_OP_CP] = NO_RESULT, [PTX_OP_LD] = READS, [PTX_OP_LDU] = READS,
    [PTX_OP_LDMATRIX] = READS | OWN, [PTX_OP_SULD] = READS, [PTX_OP_TEX] = READS,
    [PTX_OP_TLD4] = READS, [PTX_OP_PREFETCH] = NO_RESULT, [PTX_OP_PREFETCHU] = NO_RESULT,
    [PTX_OP_MEMBAR] = NO_RESULT, [PTX_OP_FENCE] = NO_RESULT,
    [PTX_OP_NANOSLEEP] = NO_RESULT, [PTX_OP_TRAP] = NO_RESULT, [PTX_OP_BRKPT] = NO_RESULT,
    [PTX_OP_PMEVENT] = NO_RESULT, [PTX_OP_BRA] = NO_RESULT, [PTX_OP_BRX] = NO_RESULT,
    [PTX_OP_RET] = NO_RESULT, [PTX_OP_EXIT] = NO_RESULT, [PTX_OP_DISCARD] = NO_RESULT,
    [PTX_OP_APPLYPRIORITY] = NO_RESULT, [PTX_OP_GRIDDEPCONTROL] = NO_RESULT,
    [PTX_OP_SETMAXNREG] = NO_RESULT, [PTX_OP_STACKRESTORE] = NO_RESULT,
    [PTX_OP_MMA] = OWN, [PTX_OP_MOVMATRIX] = OWN, [PTX_OP_ACTIVEMASK] = OWN, [PTX_OP_ELECT] = OWN, [PTX_OP_SHFL] = OWN,
    [PTX_OP_VOTE] = OWN, [PTX_OP_MATCH] = OWN, [PTX_OP_REDUX] = OWN,
    [PTX_OP_ALLOCA] = OWN, [PTX_OP_STACKSAVE] = OWN,
};
/* clang-format on */

/* How many of the operands (vectors counted as one) are destinations, a pair `p|q`
 * counted as one. */
static uint32_t destinations(const ptx_insn *insn)
{
    switch ((ptx_opcode)insn->opcode) {
    case PTX_OP_BAR:
    case PTX_OP_BARRIER: return ptx_has(insn, PTX_MOD_RED) ? 1 : 0;
    case PTX_OP_CALL: return insn->return_count;
    case PTX_OP_WMMA: return ptx_has(insn, PTX_MOD_STORE) ? 0 : 1;
    case PTX_OP_MBARRIER:
        if (ptx_has(insn, PTX_MOD_ARRIVE) || ptx_has(insn, PTX_MOD_ARRIVE_DROP))
            return 1;
        return ptx_has(insn, PTX_MOD_INIT) || ptx_has(insn, PTX_MOD_INVAL) ||
                       ptx_has(insn, PTX_MOD_EXPECT_TX) ||
                       ptx_has(insn, PTX_MOD_COMPLETE_TX)
                   ? 0
                   : 1;
    default: return facts[insn->opcode] & NO_RESULT ? 0 : 1;
    }
}

/* At most PTX_OPERANDS_MAX registers are in one instruction. */
static void add_once(uint32_t *list, uint32_t *count, uint32_t reg)
{
    for (uint32_t i = 0; i < *count; i++)
        if (list[i] == reg)
            return;
    if (*count < PTX_OPERANDS_MAX)
        list[(*count)++] = reg;
}

void ptx_insn_registers(const ptx_function *function, const ptx_insn *insn,
                        uint32_t *reads, uint32_t *read_count, uint32_t *writes,
                        uint32_t *write_count)
{
    *read_count = 0;
    *write_count = 0;
    if (insn->guarded)
        add_once(reads, read_count, insn->guard);
    uint32_t left = destinations(insn); /* destinations still to come */
    uint32_t elements = 0;              /* of the current vector, still to come */
    bool writing = left > 0;
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        const ptx_operand *operand = &function->operands[insn->operand + i];
        if (operand->kind == PTX_OPERAND_VECTOR)
            elements = operand->index;
        else if (elements > 0)
            elements--;
        if (operand->kind == PTX_OPERAND_REG) {
            add_once(writing ? writes : reads, writing ? write_count : read_count,
                     operand->index);
            if (writing && insn->guarded)
                add_once(reads, read_count, operand->index);
        } else if (operand->kind == PTX_OPERAND_ADDRESS &&
                   operand->base == PTX_OPERAND_REG) {
            add_once(reads, read_count, operand->index);
        }
        if (writing && elements == 0 && !operand->pair)
            writing = --left > 0;
    }
}

/* ---- memory ----------------------------------------------------------------------- */

/* cp.async: what commits or waits does not copy. */
bool ptx_insn_reads_memory(const ptx_insn *insn)
{
    if (insn->opcode != PTX_OP_CP)
        return (facts[insn->opcode] & READS) != 0;
    return ptx_has(insn, PTX_MOD_MBARRIER) ||
           (insn->type_count == 0 && !ptx_has(insn, PTX_MOD_COMMIT_GROUP) &&
            !ptx_has(insn, PTX_MOD_WAIT_GROUP) && !ptx_has(insn, PTX_MOD_WAIT_ALL));
}

bool ptx_insn_writes_memory(const ptx_insn *insn)
{
    return insn->opcode == PTX_OP_CP ? ptx_insn_reads_memory(insn)
                                     : (facts[insn->opcode] & WRITES) != 0;
}

bool ptx_insn_is_volatile(const ptx_insn *insn)
{
    switch ((ptx_opcode)insn->opcode) {
    case PTX_OP_ATOM:
    case PTX_OP_MBARRIER: return true;
    case PTX_OP_LD:
        return ptx_has(insn, PTX_MOD_VOLATILE) || ptx_has(insn, PTX_MOD_RELAXED) ||
               ptx_has(insn, PTX_MOD_ACQUIRE) || ptx_has(insn, PTX_MOD_MMIO) ||
               ptx_has(insn, PTX_MOD_CV);
    default: return false;
    }
}

static bool has_shared(const ptx_variable *variables, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (variables[i].space == PTX_SPACE_SHARED)
            return true;
    return false;
}

bool ptx_insn_keeps_lockstep(const ptx_module *module, const ptx_function *function,
                             const ptx_insn *insn)
{
    if (insn->opcode != PTX_OP_ST || !ptx_has(insn, PTX_MOD_VOLATILE))
        return false;
    if (insn->space != PTX_SPACE_GENERIC)
        return insn->space == PTX_SPACE_SHARED;
    return has_shared(module->variables, module->variable_count) ||
           has_shared(function->variables, function->variable_count);
}

/* ---- uniformity ------------------------------------------------------------------- */

/* By runs of ptx.h's order: sizes and indices of blocks, grids and clusters, but neither
 * what a thread is nor what time it is. */
static bool is_uniform_sreg(uint32_t sreg)
{
    return (sreg >= PTX_SREG_NTID_X && sreg <= PTX_SREG_NCTAID_Z) ||
           (sreg >= PTX_SREG_NWARPID && sreg <= PTX_SREG_GRIDID) ||
           (sreg >= PTX_SREG_TOTAL_SMEM_SIZE && sreg <= PTX_SREG_CURRENT_GRAPH_EXEC) ||
           (sreg >= PTX_SREG_ENVREG0 && sreg < PTX_SREG_COUNT);
}

/* A .param variable but a kernel's parameter lies on the thread's own stack. */
static bool is_threads_param(const ptx_function *function, uint32_t index)
{
    if (!(index & PTX_VAR_LOCAL))
        return false;
    index &= ~PTX_VAR_LOCAL;
    return function->variables[index].space == PTX_SPACE_PARAM &&
           !(function->is_entry && index < function->parameter_count);
}

bool ptx_insn_keeps_uniformity(const ptx_function *function, const ptx_insn *insn)
{
    /* A thread's local memory has its own generic address. */
    if ((insn->opcode == PTX_OP_CVTA || insn->opcode == PTX_OP_ISSPACEP) &&
        insn->space == PTX_SPACE_LOCAL)
        return false;
    if (facts[insn->opcode] & OWN)
        return false;
    if (ptx_insn_reads_memory(insn))
        return false;
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        const ptx_operand *operand = &function->operands[insn->operand + i];
        if (operand->kind == PTX_OPERAND_SREG && !is_uniform_sreg(operand->index))
            return false;
        if (operand->kind == PTX_OPERAND_VAR &&
            is_threads_param(function, operand->index))
            return false;
    }
    return true;
}
