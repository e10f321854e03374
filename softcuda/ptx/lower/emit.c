// SPDX-License-Identifier: Apache-2.0
/* Writing lines of IR: a growing text, fresh names, register slots. */
#include "softcuda/ptx/lower/emit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/heap.h"

#define TEXT_BYTES_FIRST 4096u

static bool text_grow(ptx_text *text, size_t more)
{
    if (text->capacity - text->length > more)
        return true;
    const gph_allocator heap = gphi_heap(text->allocator);
    size_t capacity = text->capacity ? text->capacity : TEXT_BYTES_FIRST;
    while (capacity - text->length <= more)
        capacity *= 2;
    char *bytes = heap.realloc(heap.user, text->bytes, text->capacity, capacity);
    if (bytes == NULL) {
        text->failed = true;
        return false;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

static void text_add(ptx_text *text, const char *format, va_list args)
{
    va_list again;
    if (text->failed)
        return;
    va_copy(again, args);
    const size_t room = text->capacity - text->length;
    const int length =
        vsnprintf(room ? text->bytes + text->length : NULL, room, format, args);
    if (length < 0)
        text->failed = true;
    else if ((size_t)length < room)
        text->length += (size_t)length;
    else if (text_grow(text, (size_t)length + 1)) {
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void ptx_text_add(ptx_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_add(text, format, args);
    va_end(args);
}

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

void shape_line(ptx_emit *emit, const char *format, ...)
{
    va_list args;
    ptx_text_add(emit->out, "  ");
    va_start(args, format);
    text_add(emit->out, format, args);
    va_end(args);
    ptx_text_add(emit->out, "\n");
}

ptx_value shape_value(ptx_emit *emit, const char *format, ...)
{
    const ptx_value value = ptx_fresh(emit);
    va_list args;
    ptx_text_add(emit->out, "  %s = ", value.name);
    va_start(args, format);
    text_add(emit->out, format, args);
    va_end(args);
    ptx_text_add(emit->out, "\n");
    return value;
}

uint32_t shape_label(ptx_emit *emit)
{
    return emit->next++;
}

ptx_value shape_field(ptx_emit *emit, const char *type, const char *base, size_t offset)
{
    const ptx_value at =
        shape_value(emit, "getelementptr inbounds i8, ptr %s, i64 %zu", base, offset);
    return shape_value(emit, "load %s, ptr %s", type, at.name);
}

static char slot_letter(const ptx_emit *emit, uint32_t reg)
{
    return emit->is_scalar != NULL && emit->is_scalar(emit, reg) ? 'u' : 'r';
}

static const char *register_type(const ptx_emit *emit, uint32_t reg)
{
    return ptx_llvm_type((ptx_type)emit->function->registers[reg].type);
}

ptx_value ptx_load_register(ptx_emit *emit, uint32_t reg)
{
    return shape_value(emit, "load %s, ptr %%%c.%u", register_type(emit, reg),
                       slot_letter(emit, reg), reg);
}

void ptx_store_register(ptx_emit *emit, uint32_t reg, ptx_value value)
{
    shape_line(emit, "store %s %s, ptr %%%c.%u", register_type(emit, reg), value.name,
               slot_letter(emit, reg), reg);
}
