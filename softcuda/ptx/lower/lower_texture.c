// SPDX-License-Identifier: Apache-2.0
/* Textures and surfaces: a call of the run time a thread, with the form in one word and the
 * coordinates as 32-bit words (softcuda/ptx/textureform.h). Objects are 64-bit handles; a
 * .texref or .surfref variable holds one. */
#include "softcuda/ptx/textureform.h"

#include "softcuda/ptx/lower/lower.h"

typedef struct call {
    ptx_texture form;
    ptx_value words[PTX_TEXTURE_WORDS];
} call;

/* ---- operands ------------------------------------------------------------------------ */

/* The object of [object, coordinates]. */
static bool check_object(ptx_low *l, uint32_t nth)
{
    if (nth >= l->count || l->operands[nth]->kind != PTX_OPERAND_ADDRESS ||
        l->operands[nth]->imm != 0)
        return false;
    const ptx_operand *o = l->operands[nth];
    if (o->base == PTX_OPERAND_REG)
        return ptx_type_bytes((ptx_type)l->function->registers[o->index].type) == 8;
    return o->base == PTX_OPERAND_VAR && !(o->index & PTX_VAR_LOCAL) &&
           l->module->variables[o->index].type == PTX_TYPE_OTHER;
}

static ptx_value object_of(ptx_low *l, uint32_t nth)
{
    ptx_operand o = *l->operands[nth];
    if (!l->emit)
        return ptx_name("0");
    if (o.base == PTX_OPERAND_REG) {
        o.kind = PTX_OPERAND_REG;
        o.negate = 0;
        return ptx_operand_value(l->emit, &o, PTX_U64);
    }
    const ptx_value at = l->emit->variable_address(l->emit, o.index);
    ptx_value pointer =
        ptx_op(l, "getelementptr i8, ptr %s, i64 %s", l->emit->zero.name, at.name);
    if (l->emit->options->check_memory) /* or the host is kept out of it */
        pointer = ptx_add_check(l, pointer, ptx_name("8"));
    return ptx_op(l, "load i64, ptr %s", pointer.name);
}

static uint32_t elements_of(const ptx_low *l, uint32_t nth)
{
    return l->operands[nth]->kind == PTX_OPERAND_VECTOR ? l->operands[nth]->index : 1;
}

/* As written, but nvcc puts braces around one element, too: 0 is none. */
static uint32_t braced(const ptx_low *l, uint32_t nth, uint32_t written)
{
    const bool has = nth < l->count && l->operands[nth]->kind == PTX_OPERAND_VECTOR;
    return written == 0 && has ? 1 : written;
}

/* `count` words of operand `nth`, a vector or one number, from word `first` on; a vector
 * may have one more, which means nothing. */
static bool take_words(ptx_low *l, call *c, uint32_t nth, uint32_t count, uint32_t first)
{
    if (nth >= l->count)
        return false;
    const bool is_vector = l->operands[nth]->kind == PTX_OPERAND_VECTOR;
    const uint32_t has = elements_of(l, nth);
    if (has < count || has > count + 1 ||
        (is_vector ? !ptx_check_vector(l, nth, has, PTX_B32, false)
                   : !ptx_check_in(l, nth, PTX_B32)))
        return false;
    for (uint32_t i = 0; i < count && l->emit; i++)
        c->words[first + i] =
            ptx_operand_value(l->emit, l->operands[nth] + is_vector + i, PTX_B32);
    return true;
}

/* .1d ... .acube, in ptx_geometry's order. */
static bool take_geometry(ptx_low *l, call *c)
{
    const ptx_modifier word = ptx_one_of(l, PTX_MOD_D1, PTX_MOD_ACUBE);
    c->form.geometry = (uint8_t)(word - PTX_MOD_D1);
    return word != PTX_MOD_UNKNOWN;
}

/* Words of a place, layer and all; of a direction in it. */
static uint32_t place_words(const call *c)
{
    static const uint8_t words[] = {1, 2, 3, 2, 3, 3, 4};
    return words[c->form.geometry];
}

static uint32_t direction_words(const call *c)
{
    static const uint8_t words[] = {1, 2, 3, 1, 2, 3, 3};
    return words[c->form.geometry];
}

/* All twelve words go, whatever the form has of them: one call serves every form, and its
 * cost is the texels'. */
static ptx_value write_call(ptx_low *l, const call *c, uint32_t object)
{
    const ptx_value handle = object_of(l, object);
    if (!l->emit)
        return handle;
    const ptx_value *w = c->words;
    return ptx_op(l,
                  "call <4 x i32> @ptx_rt_texture(ptr %s, i32 %s, i64 %llu, i64 %s, "
                  "i32 %s, i32 %s, i32 %s, i32 %s, i32 %s, i32 %s, i32 %s, i32 %s, "
                  "i32 %s, i32 %s, i32 %s, i32 %s)",
                  l->emit->block.name, l->emit->thread_index.name,
                  (unsigned long long)ptx_texture_pack(&c->form), handle.name, w[0].name,
                  w[1].name, w[2].name, w[3].name, w[4].name, w[5].name, w[6].name,
                  w[7].name, w[8].name, w[9].name, w[10].name, w[11].name);
}

/* A form of which nothing is known yet but what it does. */
static call begin(ptx_texture_op op)
{
    call c = {.form = {.op = (uint8_t)op}};
    for (uint32_t i = 0; i < PTX_TEXTURE_WORDS; i++)
        c.words[i] = ptx_name("0");
    return c;
}

/* ---- results --------------------------------------------------------------------------- */

/* Results come as a vector of four words, whatever their type is. */
static ptx_value word_at(ptx_low *l, ptx_value result, uint32_t nth)
{
    return ptx_op(l, "extractelement <4 x i32> %s, i32 %u", result.name, nth);
}

/* An element of `bits` bits: parts of a word, a word or two. */
static ptx_value element_at(ptx_low *l, ptx_value result, uint32_t nth, uint32_t bits)
{
    if (bits == 64) {
        const ptx_value low = word_at(l, result, 2 * nth);
        const ptx_value high = word_at(l, result, 2 * nth + 1);
        const ptx_value wide = ptx_resize(l, high, 32, 64, false);
        const ptx_value up = ptx_op(l, "shl i64 %s, 32", wide.name);
        const ptx_value down = ptx_resize(l, low, 32, 64, false);
        return ptx_op(l, "or i64 %s, %s", down.name, up.name);
    }
    const uint32_t parts = 32 / bits;
    ptx_value word = word_at(l, result, nth / parts);
    if (nth % parts != 0)
        word = ptx_op(l, "lshr i32 %s, %u", word.name, nth % parts * bits);
    return ptx_resize(l, word, 32, bits, false);
}

static bool check_results(ptx_low *l, uint32_t elements, ptx_type type)
{
    return ptx_check_vector(l, 0, elements, type, true);
}

static void store_results(ptx_low *l, ptx_value result, uint32_t elements, ptx_type type)
{
    for (uint32_t i = 0; i < (elements ? elements : 1) && l->emit; i++)
        ptx_store_operand(l->emit, l->operands[0] + (elements != 0) + i, type,
                          element_at(l, result, i, ptx_bits(type)));
}

/* ---- tex, tld4 --------------------------------------------------------------------------- */

/* .v4 of 32 bits or f16, .v2.f16x2: as bits. */
static ptx_type result_type(ptx_low *l, uint32_t *elements)
{
    *elements = ptx_vector_length(l);
    const ptx_type type = ptx_type_at(l, 0);
    if (type == PTX_F16X2)
        return *elements == 2 ? PTX_B32 : PTX_NONE;
    if (*elements != 4)
        return PTX_NONE;
    return type == PTX_F16                                         ? PTX_B16
           : type == PTX_F32 || type == PTX_S32 || type == PTX_U32 ? PTX_B32
                                                                   : PTX_NONE;
}

/* Which channel a gather takes. */
static bool take_component(ptx_low *l, call *c)
{
    static const ptx_modifier components[] = {PTX_MOD_RIGHT, PTX_MOD_GREEN, PTX_MOD_B,
                                              PTX_MOD_A}; /* r is also a shift's */
    for (uint8_t i = 0; i < 4; i++)
        if (ptx_mod(l, components[i])) {
            c->form.component = i;
            return true;
        }
    return false;
}

/* tex data{|resident}, [texture, place]{, level or both steps}; tld4 likewise. */
static bool fetch(ptx_low *l, ptx_texture_op op)
{
    call c = begin(op);
    uint32_t elements;
    const ptx_type from = ptx_type_at(l, 1), result = result_type(l, &elements);
    const uint32_t wanted = op == PTX_TEXTURE_LEVEL ? 4 : op == PTX_TEXTURE_GRAD ? 5 : 3;
    c.form.is_half = ptx_type_at(l, 0) == PTX_F16 || ptx_type_at(l, 0) == PTX_F16X2;
    c.form.is_integer = from == PTX_S32;
    if (op == PTX_TEXTURE_GATHER && (from != PTX_F32 || !take_component(l, &c)))
        return false;
    /* {...}|p: whether all texels are resident, which they are. */
    const uint32_t object = l->count == wanted + 1 ? 2 : 1;
    if (l->insn->type_count != 2 || (from != PTX_F32 && from != PTX_S32) ||
        result == PTX_NONE || !take_geometry(l, &c) || l->count != wanted + object - 1 ||
        !check_results(l, elements, result) || !check_object(l, object) ||
        !take_words(l, &c, object + 1, place_words(&c), 0) ||
        (object == 2 && !ptx_check_out(l, 1, PTX_PRED)))
        return false;
    if (op == PTX_TEXTURE_LEVEL && !take_words(l, &c, object + 2, 1, 4))
        return false;
    if (op == PTX_TEXTURE_GRAD &&
        (!take_words(l, &c, object + 2, direction_words(&c), 4) ||
         !take_words(l, &c, object + 3, direction_words(&c), 8)))
        return false;
    store_results(l, write_call(l, &c, object), elements, result);
    if (object == 2)
        ptx_out(l, 1, PTX_PRED, ptx_name("true"));
    return true;
}

/* .base says that there is one level, and is not needed. */
static bool texture(ptx_low *l)
{
    (void)ptx_mod(l, PTX_MOD_BASE);
    if (ptx_mod(l, PTX_MOD_LEVEL))
        return fetch(l, PTX_TEXTURE_LEVEL);
    return fetch(l, ptx_mod(l, PTX_MOD_GRAD) ? PTX_TEXTURE_GRAD : PTX_TEXTURE_FETCH);
}

static bool texture_gather(ptx_low *l)
{
    return fetch(l, PTX_TEXTURE_GATHER);
}

/* ---- queries ----------------------------------------------------------------------------- */

/* Only sizes: what else PTX lists, an H100's driver refuses to link. */
static bool query(ptx_low *l)
{
    call c = begin(PTX_TEXTURE_QUERY);
    const ptx_modifier word = ptx_one_of(l, PTX_MOD_WIDTH, PTX_MOD_DEPTH);
    c.form.by_level = ptx_mod(l, PTX_MOD_LEVEL);
    c.form.query = (uint8_t)(word - PTX_MOD_WIDTH);
    if (word == PTX_MOD_UNKNOWN || ptx_type_at(l, 0) != PTX_B32 ||
        l->count != 2u + c.form.by_level || !ptx_check_out(l, 0, PTX_B32) ||
        !check_object(l, 1) || (c.form.by_level && !take_words(l, &c, 2, 1, 4)))
        return false;
    store_results(l, write_call(l, &c, 1), 0, PTX_B32);
    return true;
}

/* ---- surfaces ---------------------------------------------------------------------------- */

static bool take_mode(ptx_low *l, call *c)
{
    c->form.mode = ptx_mod(l, PTX_MOD_CLAMP)  ? PTX_SURFACE_CLAMP
                   : ptx_mod(l, PTX_MOD_ZERO) ? PTX_SURFACE_ZERO
                                              : PTX_SURFACE_TRAP;
    return ptx_mod(l, PTX_MOD_OUTSIDE_TRAP) || c->form.mode != PTX_SURFACE_TRAP;
}

/* What surfaces of one to three axes share: geometry, mode, bytes, cache hints. */
static bool take_surface(ptx_low *l, call *c, uint32_t elements, ptx_type type)
{
    const uint32_t bytes = (elements ? elements : 1) * ptx_type_bytes(type);
    ptx_skip(l, PTX_MOD_CA, PTX_MOD_WT);
    c->form.bytes = (uint8_t)(bytes <= 16 ? bytes : 0);
    return take_geometry(l, c) && c->form.geometry <= PTX_GEOMETRY_A2D &&
           take_mode(l, c) && bytes <= 16;
}

/* suld.b data, [surface, place] */
static bool load_surface(ptx_low *l)
{
    call c = begin(PTX_SURFACE_LOAD);
    const uint32_t elements = braced(l, 0, ptx_vector_length(l));
    const ptx_type type = ptx_type_at(l, 0);
    if (!ptx_mod(l, PTX_MOD_B) || !ptx_is_bits(type) || l->count != 3 ||
        !take_surface(l, &c, elements, type) || !check_results(l, elements, type) ||
        !check_object(l, 1) || !take_words(l, &c, 2, place_words(&c), 0))
        return false;
    store_results(l, write_call(l, &c, 1), elements, type);
    return true;
}

/* Elements of a store side by side in words from 4 on. */
static bool take_data(ptx_low *l, call *c, uint32_t elements, ptx_type type)
{
    const uint32_t bits = ptx_bits(type), count = elements ? elements : 1;
    if (!ptx_check_vector(l, 2, elements, type, false))
        return false;
    for (uint32_t i = 0; i < count && l->emit; i++) {
        ptx_value x =
            ptx_operand_value(l->emit, l->operands[2] + (elements != 0) + i, type);
        if (bits == 64) {
            c->words[4 + 2 * i] = ptx_resize(l, x, 64, 32, false);
            x = ptx_op(l, "lshr i64 %s, 32", x.name);
            c->words[5 + 2 * i] = ptx_resize(l, x, 64, 32, false);
            continue;
        }
        const uint32_t parts = 32 / bits;
        ptx_value *word = &c->words[4 + i / parts];
        x = ptx_resize(l, x, bits, 32, false);
        if (i % parts != 0) {
            x = ptx_op(l, "shl i32 %s, %u", x.name, i % parts * bits);
            x = ptx_op(l, "or i32 %s, %s", word->name, x.name);
        }
        *word = x;
    }
    return true;
}

/* sust.b [surface, place], data; sust.p, whose data is as wide as the format wants. */
static bool store_surface(ptx_low *l)
{
    const bool converts = ptx_mod(l, PTX_MOD_SAMPLES);
    call c = begin(converts ? PTX_SURFACE_PUT : PTX_SURFACE_STORE);
    const uint32_t elements = braced(l, 2, ptx_vector_length(l));
    const ptx_type type = ptx_type_at(l, 0);
    if ((!converts && !ptx_mod(l, PTX_MOD_B)) || l->insn->type_count != 1 ||
        !take_surface(l, &c, elements, type) || l->count != 3 || !check_object(l, 0) ||
        !take_words(l, &c, 1, place_words(&c), 0))
        return false;
    if (converts
            ? type != PTX_B32 && type != PTX_U32 && type != PTX_S32 && type != PTX_F32
            : !ptx_is_bits(type))
        return false;
    if (converts) {
        c.form.by_element = true;
        c.form.bytes = 0;
    }
    if (!take_data(l, &c, elements, converts ? PTX_B32 : type))
        return false;
    (void)write_call(l, &c, 0);
    return true;
}

/* What the run time calls it; -1: no such reduction. */
static int reduction(ptx_modifier how, ptx_type type)
{
    switch (how) {
    case PTX_MOD_ADD:
        return type == PTX_U64 || type == PTX_S64 ? PTX_REDUCE_ADD_64 : PTX_REDUCE_ADD;
    case PTX_MOD_MIN: return type == PTX_S32 ? PTX_REDUCE_MIN_S32 : PTX_REDUCE_MIN_U32;
    case PTX_MOD_MAX: return type == PTX_S32 ? PTX_REDUCE_MAX_S32 : PTX_REDUCE_MAX_U32;
    case PTX_MOD_AND: return PTX_REDUCE_AND;
    case PTX_MOD_OR: return PTX_REDUCE_OR;
    default: return -1;
    }
}

/* sured.b [surface, place], data, and sured.p, whose place counts elements. */
static bool reduce_surface(ptx_low *l)
{
    static const ptx_modifier all[] = {PTX_MOD_ADD, PTX_MOD_MIN, PTX_MOD_MAX, PTX_MOD_AND,
                                       PTX_MOD_OR};
    const bool converts = ptx_mod(l, PTX_MOD_SAMPLES);
    const ptx_type type = ptx_type_at(l, 0);
    call c = begin(PTX_SURFACE_REDUCE);
    int how = -1;
    for (uint32_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (ptx_mod(l, all[i]))
            how = reduction(all[i], type);
    if ((!converts && !ptx_mod(l, PTX_MOD_B)) || how < 0 || ptx_type_bytes(type) < 4 ||
        ptx_is_float(type) || !take_surface(l, &c, 0, type) || l->count != 3 ||
        !check_object(l, 0) || !take_words(l, &c, 1, place_words(&c), 0) ||
        !take_data(l, &c, 0, ptx_type_bytes(type) == 8 ? PTX_B64 : PTX_B32))
        return false;
    c.form.reduce = (uint8_t)how;
    c.form.by_element = converts;
    (void)write_call(l, &c, 0);
    return true;
}

ptx_family ptx_low_texture = {
    [PTX_OP_TEX] = texture,
    [PTX_OP_TLD4] = texture_gather,
    [PTX_OP_TXQ] = query,
    [PTX_OP_SUQ] = query,
    [PTX_OP_SULD] = load_surface,
    [PTX_OP_SUST] = store_surface,
    [PTX_OP_SURED] = reduce_surface,
};
