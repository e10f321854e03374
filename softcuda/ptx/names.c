// SPDX-License-Identifier: Apache-2.0
/* Names and sizes of what ptx.h enumerates. */
#include <stdio.h>
#include <string.h>

#include "softcuda/ptx/nestedcalls.h"
#include "softcuda/ptx/ptx.h"

struct type_facts {
    const char *name;
    uint32_t bytes;
};

/* clang-format off */
static const struct type_facts types[] = {
    [PTX_NONE] = {"", 0}, [PTX_U8] = {"u8", 1}, [PTX_U16] = {"u16", 2},
    [PTX_U32] = {"u32", 4}, [PTX_U64] = {"u64", 8}, [PTX_S8] = {"s8", 1},
    [PTX_S16] = {"s16", 2}, [PTX_S32] = {"s32", 4}, [PTX_S64] = {"s64", 8},
    [PTX_B8] = {"b8", 1}, [PTX_B16] = {"b16", 2}, [PTX_B32] = {"b32", 4},
    [PTX_B64] = {"b64", 8}, [PTX_B128] = {"b128", 16}, [PTX_F16] = {"f16", 2},
    [PTX_F16X2] = {"f16x2", 4}, [PTX_BF16] = {"bf16", 2}, [PTX_BF16X2] = {"bf16x2", 4},
    [PTX_F32] = {"f32", 4}, [PTX_F32X2] = {"f32x2", 8}, [PTX_F64] = {"f64", 8},
    [PTX_U16X2] = {"u16x2", 4}, [PTX_S16X2] = {"s16x2", 4}, [PTX_PRED] = {"pred", 1},
    [PTX_TYPE_OTHER] = {"other", 0}, [PTX_TF32] = {"tf32", 0}, [PTX_E4M3] = {"e4m3", 0},
    [PTX_E5M2] = {"e5m2", 0}, [PTX_E4M3X2] = {"e4m3x2", 0}, [PTX_E5M2X2] = {"e5m2x2", 0},
    [PTX_B1] = {"b1", 0},
};
/* clang-format on */

static const char *const opcodes[] = {[PTX_OP_UNKNOWN] = "?",
#define X(name, text) [PTX_OP_##name] = text,
                                      PTX_OPCODES(X)
#undef X
};

static const char *const modifiers[] = {[PTX_MOD_UNKNOWN] = "?",
#define X(name, text) [PTX_MOD_##name] = text,
                                        PTX_MODIFIERS(X)
#undef X
};

uint32_t ptx_type_bytes(ptx_type type)
{
    return (unsigned)type < sizeof(types) / sizeof(types[0]) ? types[type].bytes : 0;
}

const char *ptx_type_name(ptx_type type)
{
    return (unsigned)type < sizeof(types) / sizeof(types[0]) ? types[type].name : "?";
}

const char *ptx_opcode_name(ptx_opcode opcode)
{
    return (unsigned)opcode < PTX_OP_COUNT ? opcodes[opcode] : "?";
}

const char *ptx_modifier_name(ptx_modifier modifier)
{
    return (unsigned)modifier < PTX_MOD_COUNT ? modifiers[modifier] : "?";
}

bool ptx_has(const ptx_insn *insn, ptx_modifier modifier)
{
    for (unsigned i = 0; i < insn->mod_count; i++)
        if (insn->mods[i] == modifier)
            return true;
    return false;
}

void ptx_insn_text(const ptx_module *module, const ptx_insn *insn, char *buffer,
                   size_t bytes)
{
    if (bytes == 0)
        return;
    size_t at = 0;
    bool gap = false; /* line breaks and runs of blanks become one blank */
    for (uint32_t i = 0; i < insn->text_bytes && at + 1 < bytes; i++) {
        const char c = module->text[insn->text + i];
        const bool is_blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        if (is_blank && gap)
            continue;
        gap = is_blank;
        buffer[at++] = is_blank ? ' ' : c;
    }
    buffer[at] = '\0';
}

const ptx_signature *ptx_intrinsic(const char *name)
{
    static const ptx_signature all[] = {
        {"vprintf", PTX_U32, 2, {PTX_U64, PTX_U64}, {0}, 0},
        {"malloc", PTX_U64, 1, {PTX_U64}, {0}, 0},
        {"free", PTX_NONE, 1, {PTX_U64}, {0}, 0},
        {"__assertfail",
         PTX_NONE,
         5,
         {PTX_U64, PTX_U64, PTX_U32, PTX_U64, PTX_U64},
         {0},
         0},
        {"cudaGraphSetConditional", PTX_NONE, 2, {PTX_U64, PTX_U32}, {0}, 0},
        {"cudaGraphLaunch", PTX_U32, 2, {PTX_U64, PTX_U64}, {0}, 0},
        {"cudaGraphKernelNodeSetParam",
         PTX_U32,
         4,
         {PTX_U64, PTX_U64, PTX_U64, PTX_U64},
         {0},
         0},
        {"cudaGraphKernelNodeSetEnabled", PTX_U32, 2, {PTX_U64, PTX_U32}, {0}, 0},
        {"cudaGraphKernelNodeSetGridDim", PTX_U32, 2, {PTX_U64, PTX_NONE}, {0, 12}, 0},
        {"cudaGraphKernelNodeUpdatesApply", PTX_U32, 2, {PTX_U64, PTX_U64}, {0}, 0},
#define X(name, ...) {"__cudaCDP2" #name, __VA_ARGS__},
        PTX_NESTED_CALLS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(name, all[i].name) == 0)
            return &all[i];
    return NULL;
}

const char *ptx_why_missing(const char *name)
{
    return strcmp(name, "cudaLaunchDeviceV2") == 0 ||
                   strcmp(name, "cudaLaunchDevice") == 0 ||
                   strncmp(name, "cudaGetParameterBuffer", 22) == 0 ||
                   strcmp(name, "cudaDeviceSynchronize") == 0 ||
                   strncmp(name, "cnp", 3) == 0
               ? "; it is of the first dynamic parallelism, which devices of compute "
                 "capability 9.0 do not have: compile with CUDA 12 or later"
               : "";
}

bool ptx_is_device_runtime(const char *name)
{
    return strcmp(name, "cudaCGGetIntrinsicHandle") == 0 ||
           strcmp(name, "cudaCGSynchronize") == 0;
}
