// SPDX-License-Identifier: Apache-2.0
/* The PTX around a form: load the thread's inputs, the body, store the outputs. */
#include "forms.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct text {
    char *bytes;
    size_t length, capacity;
} text;

static void add(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (t->length + (size_t)length + 1 > t->capacity) {
        t->capacity = (t->length + (size_t)length + 1) * 2;
        char *bytes = realloc(t->bytes, t->capacity);
        if (bytes == NULL)
            abort();
        t->bytes = bytes;
    }
    va_start(args, format);
    vsnprintf(t->bytes + t->length, (size_t)length + 1, format, args);
    va_end(args);
    t->length += (size_t)length;
}

static const char header[] =
    ".version 8.4\n.target sm_90\n.address_size 64\n"
    ".const .align 16 .b32 konst[4] = {0x80000081, 0x7fffff80, 0x3fc00000, 0xfffefdfc};\n"
    ".func (.param .b32 r) callee(.param .b32 a, .param .b32 b)\n"
    "{\n .reg .b32 x, y, z;\n ld.param.b32 x, [a];\n ld.param.b32 y, [b];\n"
    " mad.lo.s32 z, x, 3, y;\n st.param.b32 [r], z;\n ret;\n}\n"
    ".func (.param .b32 r) callee2(.param .b32 a, .param .b32 b)\n"
    "{\n .reg .b32 x, y, z;\n ld.param.b32 x, [a];\n ld.param.b32 y, [b];\n"
    " sub.s32 z, x, y;\n st.param.b32 [r], z;\n ret;\n}\n";

static const char registers[] =
    " .reg .pred p, q, r;\n .reg .b16 h<4>;\n .reg .b32 r<8>, t, l, z<4>;\n"
    " .reg .b64 w<8>, i, o, m, n, zw<2>;\n .reg .f32 s<4>;\n"
    " mov.u32 z0, %ctaid.x;\n mov.u32 z1, %ntid.x;\n mov.u32 l, %tid.x;\n"
    " mad.lo.u32 t, z0, z1, l;\n cvt.u64.u32 zw0, t;\n"
    " ld.param.u64 i, [pi];\n ld.param.u64 o, [po];\n ld.param.u64 m, [pm];\n"
    " ld.param.u64 n, [pn];\n"
    " cvta.to.global.u64 i, i;\n cvta.to.global.u64 o, o;\n cvta.to.global.u64 m, m;\n"
    " cvta.to.global.u64 n, n;\n"
    " mad.lo.u64 i, zw0, 40, i;\n mad.lo.u64 o, zw0, 32, o;\n mad.lo.u64 m, zw0, 64, "
    "m;\n";

static const char *const input_names[INPUTS_MAX] = {"a", "b", "c", "x", "y"};
static const char *const output_names[OUTPUTS_MAX] = {"d", "e", "f", "g"};

static void add_kernel(text *t, const form *f, size_t index)
{
    add(t,
        "// %s\n.visible .entry k%zu(.param .u64 pi, .param .u64 po, .param .u64 pm, "
        ".param .u64 pn)\n.maxntid 128, 1, 1\n{\n",
        f->name, index);
    for (uint32_t i = 0; i < f->input_count; i++)
        add(t, " .reg .%s %s;\n", f->inputs[i]->reg, input_names[i]);
    for (uint32_t i = 0; i < f->output_count; i++)
        add(t, " .reg .%s %s;\n", f->outputs[i]->reg, output_names[i]);
    add(t, "%s", registers);
    for (uint32_t i = 0; i < f->input_count; i++)
        add(t, " ld.global.%s %s, [i+%u];\n", f->inputs[i]->reg, input_names[i],
            i * SLOT_BYTES);
    /* One instruction a line, so that errors name it. */
    add(t, " ");
    for (const char *c = f->body; *c; c++)
        add(t, *c == ';' ? ";\n" : "%c", *c);
    add(t, "\n");
    for (uint32_t i = 0; i < f->output_count; i++)
        add(t, " st.global.%s [o+%u], %s;\n", f->outputs[i]->reg, i * SLOT_BYTES,
            output_names[i]);
    add(t, " ret;\n}\n");
}

char *kernels_write(const form *first, size_t count)
{
    text t = {NULL, 0, 0};
    add(&t, "%s", header);
    for (size_t i = 0; i < count; i++)
        add_kernel(&t, &first[i], i);
    return t.bytes;
}

uint32_t form_output_bytes(const form *f)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < f->output_count; i++)
        bytes += f->outputs[i]->bytes;
    return bytes;
}
