// SPDX-License-Identifier: Apache-2.0
/* The instruction library as text, and how a program gets what it uses of it. */
#include "softcuda/ptx/lower/lower.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions of more than the 4095 bytes that ISO C promises a literal. */
#pragma GCC diagnostic ignored "-Woverlength-strings"

static const struct entry {
    const char *name, *ir;
} entries[] = {
#include "softcuda/ptx/library/library_ir.inc"
};

#define ENTRY_COUNT (sizeof(entries) / sizeof(entries[0]))
#define NAME_MAX 64

/* LLVM's intrinsics by stem; T is the type of the suffix, R and A the two of .R.A. */
/* clang-format off */
static const struct intrinsic {
    const char *stem, *result, *arguments;
} intrinsics[] = {
    {"abs", "T", "T, i1"}, {"bitreverse", "T", "T"}, {"bswap", "T", "T"},
    {"ceil", "T", "T"}, {"copysign", "T", "T, T"}, {"ctlz", "T", "T, i1"},
    {"ctpop", "T", "T"}, {"cttz", "T", "T, i1"}, {"fabs", "T", "T"}, {"floor", "T", "T"},
    {"fma", "T", "T, T, T"}, {"fptosi.sat", "R", "A"}, {"fptoui.sat", "R", "A"},
    {"fshl", "T", "T, T, T"}, {"fshr", "T", "T, T, T"}, {"maximum", "T", "T, T"},
    {"maxnum", "T", "T, T"}, {"minimum", "T", "T, T"}, {"minnum", "T", "T, T"},
    {"rint", "T", "T"}, {"roundeven", "T", "T"}, {"sadd.sat", "T", "T, T"},
    {"smax", "T", "T, T"}, {"smin", "T", "T, T"}, {"sqrt", "T", "T"},
    {"ssub.sat", "T", "T, T"}, {"trunc", "T", "T"}, {"uadd.sat", "T", "T, T"},
    {"umax", "T", "T, T"}, {"umin", "T", "T, T"}, {"usub.sat", "T", "T, T"},
    {"assume", "void", "i1"}, {"trap", "void", ""},
    {"memcpy.p0.p0.i64", "void", "ptr, ptr, i64, i1"},
    {"memset.p0.i64", "void", "ptr, i8, i64, i1"},
};
/* clang-format on */

static int by_name(const void *key, const void *at)
{
    return strcmp(key, ((const struct entry *)at)->name);
}

static const struct entry *find(const char *name)
{
    return bsearch(name, entries, ENTRY_COUNT, sizeof(entries[0]), by_name);
}

/* Functions of the library as a processor has them that knows f16: the same results, which
 * tests/unit/kernel_half_test.c compares for all numbers. `level`: PTX_HALF_...
 *
 * Written as IR, since C has no f16 on every host that compiles the library. Values go in
 * and out as their 16 bits, as in library/half.c, so that nothing else of lowering asks
 * which of the two it calls: LLVM takes the bit casts away, and of a pair of halves the
 * shifts from one instruction to the next. A loop over threads becomes vectors of f16.
 *
 * What arithmetic gives for a NaN differs by processor; the device gives 0x7fff, which a
 * comparison and a selection put in its place. */
#define UNARY_HALF(name, from, to, body)                                                 \
    "define internal " to " @x_" name "(" from " %0) alwaysinline nounwind {\n" body "}" \
    "\n"
#define BINARY_HALF(name, operation)                                                     \
    "define internal i16 @x_" name "(i16 %0, i16 %1) alwaysinline nounwind {\n"          \
    "%3 = bitcast i16 %0 to half\n%4 = bitcast i16 %1 to half\n"                         \
    "%5 = " operation " half %3, %4\n%6 = fcmp uno half %5, 0xH0000\n"                   \
    "%7 = bitcast half %5 to i16\n%8 = select i1 %6, i16 32767, i16 %7\nret i16 %8\n}\n"
/* Where the processor only converts: a comparison of halves would convert once more, and
 * of a vector of them each by itself. So NaN are looked for in f32, or as bits. */
#define FLOAT_HALF(name, operation)                                                      \
    "define internal i16 @x_" name "(i16 %0, i16 %1) alwaysinline nounwind {\n"          \
    "%3 = bitcast i16 %0 to half\n%4 = bitcast i16 %1 to half\n"                         \
    "%5 = fpext half %3 to float\n%6 = fpext half %4 to float\n"                         \
    "%7 = " operation " float %5, %6\n"                                                  \
    "%8 = call i16 @x_cvt_rn_f16_f32(float %7)\nret i16 %8\n}\n"
static const struct native {
    uint32_t level;
    const char *name, *ir;
} natives[] = {
    /* The processor makes signaling NaNs quiet; the device keeps all bits. */
    {PTX_HALF_CONVERTS, "x_cvt_f32_f16",
     UNARY_HALF("cvt_f32_f16", "i16", "float",
                "%2 = bitcast i16 %0 to half\n%3 = fpext half %2 to float\n"
                "%a = and i16 %0, 32767\n%4 = icmp ugt i16 %a, 31744\n"
                "%5 = sext i16 %0 to i32\n"
                "%6 = and i32 %5, -2147450881\n%7 = and i32 %6, -2147483648\n"
                "%8 = and i32 %6, 1023\n%9 = shl i32 %8, 13\n"
                "%10 = or i32 %7, 2139095040\n%11 = or i32 %10, %9\n"
                "%12 = bitcast i32 %11 to float\n"
                "%13 = select i1 %4, float %12, float %3\nret float %13\n")},
    {PTX_HALF_CONVERTS, "x_cvt_rn_f16_f32",
     UNARY_HALF("cvt_rn_f16_f32", "float", "i16",
                "%2 = fptrunc float %0 to half\n%3 = bitcast half %2 to i16\n"
                "%4 = fcmp uno float %0, 0.0\n"
                "%5 = select i1 %4, i16 32767, i16 %3\nret i16 %5\n")},
    {PTX_HALF_COMPUTES, "x_add_f16", BINARY_HALF("add_f16", "fadd")},
    {PTX_HALF_COMPUTES, "x_sub_f16", BINARY_HALF("sub_f16", "fsub")},
    {PTX_HALF_COMPUTES, "x_mul_f16", BINARY_HALF("mul_f16", "fmul")},
    {PTX_HALF_CONVERTS, "x_add_f16", FLOAT_HALF("add_f16", "fadd")},
    {PTX_HALF_CONVERTS, "x_sub_f16", FLOAT_HALF("sub_f16", "fsub")},
    {PTX_HALF_CONVERTS, "x_mul_f16", FLOAT_HALF("mul_f16", "fmul")},
    /* fma where it rounds once; through f32 it would round twice, but for sums that are
     * rounded to odd. NaN need not keep their bits on the way. */
    {PTX_HALF_COMPUTES, "x_fma_f16",
     "define internal i16 @x_fma_f16(i16 %0, i16 %1, i16 %2) alwaysinline nounwind {\n"
     "%4 = bitcast i16 %0 to half\n%5 = bitcast i16 %1 to half\n"
     "%6 = bitcast i16 %2 to half\n"
     "%7 = call half @llvm.fma.f16(half %4, half %5, half %6)\n"
     "%8 = fcmp uno half %7, 0xH0000\n%9 = bitcast half %7 to i16\n"
     "%10 = select i1 %8, i16 32767, i16 %9\nret i16 %10\n}\n"},
    {PTX_HALF_CONVERTS, "x_fma_f16",
     "define internal i16 @x_fma_f16(i16 %0, i16 %1, i16 %2) alwaysinline nounwind {\n"
     "%4 = bitcast i16 %0 to half\n%5 = bitcast i16 %1 to half\n"
     "%6 = bitcast i16 %2 to half\n%7 = fpext half %4 to float\n"
     "%8 = fpext half %5 to float\n%9 = fpext half %6 to float\n"
     "%10 = fmul float %7, %8\n"
     "%11 = call float @x_half_odd_sum(float %10, float %9)\n"
     "%12 = call i16 @x_cvt_rn_f16_f32(float %11)\nret i16 %12\n}\n"},
};

/* The text of a function for that processor: the first native one that it can run, else
 * the library's own. Natives are few, and asked for once for each function that a module
 * uses; a module compiled for one processor is never run on another, since the cache's key
 * holds what the processor knows. */
static const char *text_of(const struct entry *entry, uint32_t level)
{
    for (size_t i = 0; i < sizeof(natives) / sizeof(natives[0]); i++)
        if (natives[i].level <= level && strcmp(natives[i].name, entry->name) == 0)
            return natives[i].ir;
    return entry->ir;
}

bool ptx_has_library(const char *name)
{
    char full[NAME_MAX];
    if (strlen(name) + 3 > sizeof(full))
        return false;
    snprintf(full, sizeof(full), "x_%s", name);
    return find(full);
}

/* ---- declarations of intrinsics --------------------------------------------------- */

static const char *llvm_name(const char *suffix)
{
    if (strcmp(suffix, "f32") == 0)
        return "float";
    if (strcmp(suffix, "f16") == 0)
        return "half";
    return strcmp(suffix, "f64") == 0 ? "double" : suffix;
}

/* Writes `pattern` with T, R, A replaced. */
static void add_types(gphi_text *out, const char *pattern, const char *first,
                      const char *second)
{
    for (; *pattern; pattern++) {
        if (*pattern == 'T' || *pattern == 'R')
            gphi_text_put(out, llvm_name(first));
        else if (*pattern == 'A')
            gphi_text_put(out, llvm_name(second));
        else
            gphi_text_add(out, "%c", *pattern);
    }
}

/* `name` is without "llvm.". */
static void declare(gphi_text *out, const char *name)
{
    for (size_t i = 0; i < sizeof(intrinsics) / sizeof(intrinsics[0]); i++) {
        const struct intrinsic *intrinsic = &intrinsics[i];
        const size_t length = strlen(intrinsic->stem);
        if (strncmp(name, intrinsic->stem, length) != 0 ||
            (name[length] != '.' && name[length] != '\0'))
            continue;
        char first[NAME_MAX];
        snprintf(first, sizeof(first), "%s", name[length] ? name + length + 1 : "");
        char *second = strchr(first, '.');
        if (second)
            *second++ = '\0';
        gphi_text_put(out, "declare ");
        add_types(out, intrinsic->result, first, second ? second : "");
        gphi_text_add(out, " @llvm.%s(", name);
        add_types(out, intrinsic->arguments, first, second ? second : "");
        gphi_text_put(out, ")\n");
        return;
    }
}

/* ---- what a program uses ---------------------------------------------------------- */

#define DECLARED_MAX 128

typedef struct used {
    bool entry[ENTRY_COUNT];
    char declared[DECLARED_MAX][NAME_MAX]; /* without "llvm." */
    uint32_t declared_count;
    /* Entries whose own text is still to be read. */
    uint32_t waiting[ENTRY_COUNT];
    uint32_t waiting_count;
} used;

static void note_intrinsic(used *u, const char *name)
{
    for (uint32_t i = 0; i < u->declared_count; i++)
        if (strcmp(u->declared[i], name) == 0)
            return;
    if (u->declared_count < DECLARED_MAX)
        snprintf(u->declared[u->declared_count++], NAME_MAX, "%s", name);
}

static void note(used *u, const char *name)
{
    if (strncmp(name, "llvm.", 5) == 0) {
        note_intrinsic(u, name + 5);
        return;
    }
    const struct entry *entry = find(name);
    if (!entry || u->entry[entry - entries])
        return;
    u->entry[entry - entries] = true;
    u->waiting[u->waiting_count++] = (uint32_t)(entry - entries);
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '.';
}

/* Notes every @x_... and @llvm... of the text. */
static void scan(used *u, const char *text, size_t bytes)
{
    const char *end = text + bytes;
    while ((text = memchr(text, '@', (size_t)(end - text)))) {
        char name[NAME_MAX];
        size_t length = 0;
        for (text++; text < end && is_name_char(*text); text++)
            if (length < sizeof(name) - 1)
                name[length++] = *text;
        name[length] = '\0';
        if (strncmp(name, "x_", 2) == 0 || strncmp(name, "llvm.", 5) == 0)
            note(u, name);
    }
}

void ptx_lower_library(gphi_text *out, uint32_t half)
{
    if (out->status != GPH_OK)
        return;
    used u;
    memset(&u, 0, sizeof(u));
    scan(&u, out->bytes, out->length);
    while (u.waiting_count > 0) {
        const struct entry *entry = &entries[u.waiting[--u.waiting_count]];
        const char *ir = text_of(entry, half);
        scan(&u, ir, strlen(ir));
    }
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        if (u.entry[i])
            gphi_text_put(out, text_of(&entries[i], half));
    for (uint32_t i = 0; i < u.declared_count; i++)
        declare(out, u.declared[i]);
}
