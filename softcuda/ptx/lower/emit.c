// SPDX-License-Identifier: Apache-2.0
/* Writing lines of IR: a growing text, fresh names, register slots. */
#include "softcuda/ptx/lower/emit.h"

#include <stdarg.h>
#include <stdio.h>

const char *ptx_llvm_type(ptx_type type)
{
    switch (type) {
    case PTX_PRED: return "i1";
    case PTX_U8:
    case PTX_S8:
    case PTX_B8: return "i8";
    case PTX_U16:
    case PTX_S16:
    case PTX_B16:
    case PTX_F16:
    case PTX_BF16: return "i16";
    case PTX_U32:
    case PTX_S32:
    case PTX_B32:
    case PTX_F16X2:
    case PTX_BF16X2:
    case PTX_U16X2:
    case PTX_S16X2: return "i32";
    case PTX_F32: return "float";
    case PTX_F64: return "double";
    case PTX_B128: return "i128";
    default: return "i64";
    }
}

ptx_value ptx_fresh(ptx_emit *emit)
{
    ptx_value value;
    snprintf(value.name, sizeof(value.name), "%%v%u", emit->next++);
    return value;
}

void ptx_linev(ptx_emit *emit, const char *format, va_list args)
{
    gphi_text_put(emit->out, "  ");
    gphi_text_addv(emit->out, format, args);
    gphi_text_put(emit->out, "\n");
}

void ptx_line(ptx_emit *emit, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ptx_linev(emit, format, args);
    va_end(args);
}

ptx_value ptx_letv(ptx_emit *emit, const char *format, va_list args)
{
    const ptx_value value = ptx_fresh(emit);
    gphi_text_add(emit->out, "  %s = ", value.name);
    gphi_text_addv(emit->out, format, args);
    gphi_text_put(emit->out, "\n");
    return value;
}

ptx_value ptx_let(ptx_emit *emit, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const ptx_value value = ptx_letv(emit, format, args);
    va_end(args);
    return value;
}

uint32_t ptx_new_label(ptx_emit *emit)
{
    return emit->next++;
}

ptx_value ptx_load_field(ptx_emit *emit, const char *type, const char *base,
                         size_t offset)
{
    const ptx_value at =
        ptx_let(emit, "getelementptr inbounds i8, ptr %s, i64 %zu", base, offset);
    return ptx_let(emit, "load %s, ptr %s", type, at.name);
}

/* Asked for each access: which of the two a register is changes from region to region. */
static char slot_letter(const ptx_emit *emit, uint32_t reg)
{
    return emit->is_scalar && emit->is_scalar(emit, reg) ? 'u' : 'r';
}

static const char *register_type(const ptx_emit *emit, uint32_t reg)
{
    return ptx_llvm_type((ptx_type)emit->function->registers[reg].type);
}

ptx_value ptx_load_register(ptx_emit *emit, uint32_t reg)
{
    return ptx_let(emit, "load %s, ptr %%%c.%u", register_type(emit, reg),
                   slot_letter(emit, reg), reg);
}

void ptx_store_register(ptx_emit *emit, uint32_t reg, ptx_value value)
{
    ptx_line(emit, "store %s %s, ptr %%%c.%u", register_type(emit, reg), value.name,
             slot_letter(emit, reg), reg);
}
