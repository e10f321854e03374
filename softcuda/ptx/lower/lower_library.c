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

void ptx_lower_library(gphi_text *out)
{
    if (out->status != GPH_OK)
        return;
    used u;
    memset(&u, 0, sizeof(u));
    scan(&u, out->bytes, out->length);
    while (u.waiting_count > 0) {
        const struct entry *entry = &entries[u.waiting[--u.waiting_count]];
        scan(&u, entry->ir, strlen(entry->ir));
    }
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        if (u.entry[i])
            gphi_text_put(out, entries[i].ir);
    for (uint32_t i = 0; i < u.declared_count; i++)
        declare(out, u.declared[i]);
}
