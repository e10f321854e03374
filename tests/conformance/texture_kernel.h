// SPDX-License-Identifier: Apache-2.0
/* The kernel that asks a form: twelve words a thread in, four words a thread out. */
#ifndef TEXTURE_KERNEL_H
#define TEXTURE_KERNEL_H
#include "texture_forms.h"

#define TEXT_BYTES 8192u

static inline uint32_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state >> 11);
}

static inline uint32_t bits_of(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof(word));
    return word;
}

static inline void write_kernel(const struct form *form, char *text)
{
    size_t at = (size_t)snprintf(
        text, TEXT_BYTES,
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 h,.param .u64 pi,.param .u64 po)\n"
        "{.reg .b32 %%t,%%c<12>,%%d<4>;.reg .b16 %%e<4>;.reg .b64 "
        "%%i,%%o,%%h,%%u,%%w<2>;\n"
        "ld.param.u64 %%h,[h];ld.param.u64 %%i,[pi];ld.param.u64 %%o,[po];\n"
        "mov.u32 %%t,%%tid.x;mul.wide.u32 %%u,%%t,48;add.u64 %%i,%%i,%%u;\n"
        "mul.wide.u32 %%u,%%t,16;add.u64 %%o,%%o,%%u;\n"
        "mov.b32 %%d0,0;mov.b32 %%d1,0;mov.b32 %%d2,0;mov.b32 %%d3,0;\n");
    for (unsigned i = 0; i < COORDINATES; i++)
        at += (size_t)snprintf(text + at, TEXT_BYTES - at,
                               "ld.global.b32 %%c%u,[%%i+%u];\n", i, 4 * i);
    for (const char *p = form->text; *p; p++) {
        if (*p == '#')
            at += (size_t)snprintf(text + at, TEXT_BYTES - at, "{%%d0,%%d1,%%d2,%%d3}");
        else if (*p == '$')
            p++, at += (size_t)snprintf(text + at, TEXT_BYTES - at, "%%c%d",
                                        *p >= 'a' ? *p - 'a' + 10 : *p - '0');
        else
            text[at++] = *p;
    }
    snprintf(text + at, TEXT_BYTES - at,
             "\nst.global.v4.b32 [%%o],{%%d0,%%d1,%%d2,%%d3};ret;}\n");
}

#endif
