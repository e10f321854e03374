// SPDX-License-Identifier: Apache-2.0
/* Reading forms.txt: words in braces are multiplied out, names of types are put in. */
#include "forms.h"

#include <stdlib.h>
#include <string.h>

#define CHOICES_MAX 8
#define NAME_MAX 120

static const value_type types[] = {
    {"u8", "u32", 4, 32, KIND_INT},      {"s8", "s32", 4, 32, KIND_INT},
    {"b8", "b32", 4, 32, KIND_INT},      {"u16", "u16", 2, 16, KIND_INT},
    {"s16", "s16", 2, 16, KIND_INT},     {"b16", "b16", 2, 16, KIND_INT},
    {"u32", "u32", 4, 32, KIND_INT},     {"s32", "s32", 4, 32, KIND_INT},
    {"b32", "b32", 4, 32, KIND_INT},     {"u16x2", "b32", 4, 32, KIND_INT},
    {"s16x2", "b32", 4, 32, KIND_INT},   {"u64", "u64", 8, 64, KIND_INT},
    {"s64", "s64", 8, 64, KIND_INT},     {"b64", "b64", 8, 64, KIND_INT},
    {"f16", "b16", 2, 16, KIND_F16},     {"f16x2", "b32", 4, 32, KIND_F16X2},
    {"bf16", "b16", 2, 16, KIND_BF16},   {"bf16x2", "b32", 4, 32, KIND_BF16X2},
    {"f32", "f32", 4, 32, KIND_F32},     {"f64", "f64", 8, 64, KIND_F64},
    {"shift", "u32", 4, 32, KIND_SHIFT}, {"lane", "u32", 4, 32, KIND_LANE},
    {"small", "s32", 4, 32, KIND_SMALL}, {"flag", "u32", 4, 32, KIND_FLAG},
    {"few", "u32", 4, 32, KIND_FEW},     {"angle", "f32", 4, 32, KIND_ANGLE},
    {"edge", "f32", 4, 32, KIND_EDGE},
};

const value_type *type_find(const char *name)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

/* The fields of one template. */
typedef struct fields {
    char name[256], outputs[64], inputs[64], body[1024], remark[64];
} fields;

/* What a name expanded to. */
typedef struct names {
    char name[NAME_MAX];
    char choices[CHOICES_MAX][40];
    char first[16], last[16], wide[16], bits[16];
} names;

static uint64_t fnv(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
    return hash;
}

/* First and last type in a dotted name, and the types made of the last. */
static void find_types(names *n)
{
    char copy[NAME_MAX];
    snprintf(copy, sizeof(copy), "%s", n->name);
    n->first[0] = n->last[0] = n->wide[0] = n->bits[0] = '\0';
    char *save = NULL;
    for (char *word = strtok_r(copy, ". ,", &save); word != NULL;
         word = strtok_r(NULL, ". ,", &save)) {
        const value_type *type = type_find(word);
        if (type == NULL)
            continue;
        if (n->first[0] == '\0')
            snprintf(n->first, sizeof(n->first), "%s", word);
        snprintf(n->last, sizeof(n->last), "%s", word);
        snprintf(n->wide, sizeof(n->wide), "%c%u", word[0], type->bits * 2);
        snprintf(n->bits, sizeof(n->bits), "b%u", type->bits);
    }
}

/* Copies `from` with $, $1 ..., $T, $F, $W, $B replaced; false if it does not fit. */
static bool substitute(const names *n, const char *from, char *to, size_t bytes)
{
    size_t at = 0;
    while (*from) {
        const char *piece = NULL;
        size_t skip = 1;
        if (*from == '$') {
            skip = 2;
            switch (from[1]) {
            case 'T': piece = n->last; break;
            case 'F': piece = n->first; break;
            case 'W': piece = n->wide; break;
            case 'B': piece = n->bits; break;
            default:
                if (from[1] >= '1' && from[1] <= '8') {
                    piece = n->choices[from[1] - '1'];
                } else {
                    piece = n->name;
                    skip = 1;
                }
            }
        }
        const size_t length = piece ? strlen(piece) : 1;
        if (at + length + 1 > bytes)
            return false;
        memcpy(to + at, piece ? piece : from, length);
        at += length;
        from += skip;
    }
    to[at] = '\0';
    return true;
}

static bool read_types(const char *list, const value_type **out, uint32_t *count,
                       uint32_t max)
{
    char copy[128];
    snprintf(copy, sizeof(copy), "%s", list);
    char *save = NULL;
    *count = 0;
    for (char *word = strtok_r(copy, " ", &save); word != NULL;
         word = strtok_r(NULL, " ", &save)) {
        if (*count == max || (out[*count] = type_find(word)) == NULL)
            return false;
        (*count)++;
    }
    return true;
}

static void default_body(form *f)
{
    static const char *const inputs[] = {"a", "b", "c", "x", "y"};
    size_t at = (size_t)snprintf(f->body, sizeof(f->body), "%s d", f->name);
    for (uint32_t i = 0; i < f->input_count; i++)
        at += (size_t)snprintf(f->body + at, sizeof(f->body) - at, ", %s", inputs[i]);
    snprintf(f->body + at, sizeof(f->body) - at, ";");
}

static bool read_remark(const char *remark, form *f)
{
    char word[16] = "";
    f->tolerance = EXACT;
    if (remark[0] == '\0')
        return true;
    if (sscanf(remark, "%15s %lf", word, &f->bound) != 2)
        return false;
    if (strcmp(word, "ulp") == 0)
        f->tolerance = ULP;
    else if (strcmp(word, "abs") == 0)
        f->tolerance = ABSOLUTE;
    else if (strcmp(word, "rel") == 0)
        f->tolerance = RELATIVE;
    else if (strcmp(word, "either") == 0)
        f->tolerance = EITHER;
    return f->tolerance != EXACT;
}

static bool add_form(forms *all, const fields *t, names *n, uint32_t line)
{
    if (all->count == all->capacity) {
        all->capacity = all->capacity ? all->capacity * 2 : 256;
        all->forms = realloc(all->forms, all->capacity * sizeof(form));
        if (all->forms == NULL)
            return false;
    }
    form *f = &all->forms[all->count];
    memset(f, 0, sizeof(*f));
    f->line = line;
    find_types(n);
    char outputs[128], inputs[128];
    snprintf(f->name, sizeof(f->name), "%s", n->name);
    if (!substitute(n, t->outputs, outputs, sizeof(outputs)) ||
        !substitute(n, t->inputs, inputs, sizeof(inputs)) ||
        !read_types(outputs, f->outputs, &f->output_count, OUTPUTS_MAX) ||
        !read_types(inputs, f->inputs, &f->input_count, INPUTS_MAX) ||
        !substitute(n, t->body, f->body, sizeof(f->body)) || !read_remark(t->remark, f))
        return false;
    if (f->body[0] == '\0')
        default_body(f);
    f->threads = f->input_count < 2 ? 128 : f->input_count == 2 ? 256 : 384;
    f->hash = fnv(fnv(fnv(0xcbf29ce484222325ull, f->body), outputs), inputs);
    all->count++;
    return true;
}

/* Expands the first {a,b} of `rest` after what is in n->name already. */
static bool expand(forms *all, const fields *t, names *n, const char *rest, uint32_t nth,
                   uint32_t line)
{
    const size_t have = strlen(n->name);
    const char *open = strchr(rest, '{'), *close = open ? strchr(open, '}') : NULL;
    if (close == NULL) {
        if (have + strlen(rest) + 1 > sizeof(n->name))
            return false;
        memcpy(n->name + have, rest, strlen(rest) + 1);
        const bool added = add_form(all, t, n, line);
        n->name[have] = '\0';
        return added;
    }
    const char *word = open + 1;
    while (word <= close) {
        size_t length = strcspn(word, ",}");
        if (nth == CHOICES_MAX || length >= sizeof(n->choices[0]) ||
            have + (size_t)(open - rest) + length + 1 > sizeof(n->name))
            return false;
        memcpy(n->choices[nth], word, length);
        n->choices[nth][length] = '\0';
        memcpy(n->name + have, rest, (size_t)(open - rest));
        memcpy(n->name + have + (open - rest), n->choices[nth], length + 1);
        if (!expand(all, t, n, close + 1, nth + 1, line))
            return false;
        n->name[have] = '\0';
        word += length + 1;
    }
    return true;
}

/* name :: outputs :: inputs [:: body] [! remark] */
static bool split(const char *line, fields *t)
{
    memset(t, 0, sizeof(*t));
    char copy[2048];
    if (strlen(line) >= sizeof(copy))
        return false;
    snprintf(copy, sizeof(copy), "%s", line);
    char *remark = strstr(copy, " ! ");
    if (remark != NULL) {
        snprintf(t->remark, sizeof(t->remark), "%.63s", remark + 3);
        *remark = '\0';
    }
    char *parts[4] = {copy, NULL, NULL, NULL};
    for (size_t i = 1; i < 4; i++) {
        char *separator = strstr(parts[i - 1], " :: ");
        if (separator == NULL)
            break;
        *separator = '\0';
        parts[i] = separator + 4;
    }
    if (parts[2] == NULL)
        return false;
    snprintf(t->name, sizeof(t->name), "%.255s", parts[0]);
    snprintf(t->outputs, sizeof(t->outputs), "%.63s", parts[1]);
    snprintf(t->inputs, sizeof(t->inputs), "%.63s", parts[2]);
    snprintf(t->body, sizeof(t->body), "%.1023s", parts[3] ? parts[3] : "");
    return true;
}

bool forms_read(const char *path, forms *out)
{
    memset(out, 0, sizeof(*out));
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fprintf(stderr, "cannot read %s\n", path);
        return false;
    }
    char line[2048];
    bool good = true;
    while (good && fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        out->lines = realloc(out->lines, (out->line_count + 1) * sizeof(char *));
        if (out->lines == NULL)
            break;
        out->lines[out->line_count++] = strdup(line);
        if (line[0] == '\0' || line[0] == '#')
            continue;
        fields t;
        names n = {.name = ""};
        good =
            split(line, &t) && expand(out, &t, &n, t.name, 0, (uint32_t)out->line_count);
        if (!good)
            fprintf(stderr, "%s:%zu: not a form: %s\n", path, out->line_count, line);
    }
    fclose(file);
    return good && out->lines != NULL;
}
