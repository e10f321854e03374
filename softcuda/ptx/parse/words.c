// SPDX-License-Identifier: Apache-2.0
/* The table of words that PTX knows: one probe says whether a word is an opcode, a
 * modifier, a type, a state space, a special register or a directive (it may be several:
 * `and` is an opcode and a modifier). */
#include <string.h>

#include "softcuda/ptx/parse/lex.h"

_Static_assert(PTX_MOD_COUNT <= 255 && PTX_OP_COUNT <= 255 && PTX_SREG_COUNT <= 255,
               "a ptx_word keeps each in a byte");

/* The word's place, made if it is new: a word with two meanings has one place. */
static ptx_word *slot(ptx_words *words, const char *text)
{
    const size_t length = strlen(text);
    const uint32_t hash = ptx_hash_word(text, length);
    uint32_t at = hash & (PTX_WORD_SLOTS - 1);
    while (words->slots[at].text && strcmp(words->slots[at].text, text) != 0)
        at = (at + 1) & (PTX_WORD_SLOTS - 1);
    words->slots[at].text = text;
    words->slots[at].hash = hash;
    return &words->slots[at];
}

const ptx_word *ptx_words_find(const ptx_words *words, const char *text, size_t length,
                               uint32_t hash)
{
    uint32_t at = hash & (PTX_WORD_SLOTS - 1);
    for (; words->slots[at].text; at = (at + 1) & (PTX_WORD_SLOTS - 1)) {
        const ptx_word *word = &words->slots[at];
        if (word->hash == hash && strncmp(word->text, text, length) == 0 &&
            word->text[length] == '\0')
            return word;
    }
    return NULL;
}

/* clang-format off */
/* Words of PTX up to 9.0 that are known to exist and mean nothing here: a kernel that
 * uses one cannot be launched. */
static const char *const other_types[] = {
    "u2", "s2", "b4", "u4", "s4",
    "e4m3x4", "e5m2x4", "e2m1", "e2m1x2", "e2m1x4", "e2m3", "e2m3x2", "e2m3x4", "e3m2",
    "e3m2x2", "e3m2x4", "ue8m0", "ue8m0x2", "ue4m3", "texref", "surfref", "samplerref",
};
static const char *const other_modifiers[] = {
    "L2::evict_unchanged", "async::generic", "fractional", "mask",
    "op_restrict::mbarrier_init",
    "range", "rs", "scaled::n2::ue8m0", "sync_restrict::shared::cluster",
    "sync_restrict::shared::cta", "tensormap::generic", "unified",
};
static const char *const other_opcodes[] = {
    "clusterlaunchcontrol", "tcgen05", "tensormap",
};
static const char *const other_sregs[] = {
    "%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%cluster_ctaid",
    "%cluster_nctaid", "%pm0", "%pm1", "%pm2", "%pm3", "%pm4", "%pm5", "%pm6", "%pm7",
    "%pm0_64", "%pm1_64", "%pm2_64", "%pm3_64", "%pm4_64", "%pm5_64", "%pm6_64",
    "%pm7_64",
};

/* %envreg0 ... %envreg31 */
static const char *const envregs[] = {
    "%envreg0", "%envreg1", "%envreg2", "%envreg3", "%envreg4", "%envreg5", "%envreg6",
    "%envreg7", "%envreg8", "%envreg9", "%envreg10", "%envreg11", "%envreg12",
    "%envreg13", "%envreg14", "%envreg15", "%envreg16", "%envreg17", "%envreg18",
    "%envreg19", "%envreg20", "%envreg21", "%envreg22", "%envreg23", "%envreg24",
    "%envreg25", "%envreg26", "%envreg27", "%envreg28", "%envreg29", "%envreg30",
    "%envreg31",
};
/* clang-format on */

static void add_spaces(ptx_words *words)
{
    slot(words, "reg")->space = PTX_SPACE_REG;
    slot(words, "const")->space = PTX_SPACE_CONST;
    slot(words, "global")->space = PTX_SPACE_GLOBAL;
    slot(words, "local")->space = PTX_SPACE_LOCAL;
    slot(words, "param")->space = PTX_SPACE_PARAM;
    slot(words, "param::entry")->space = PTX_SPACE_PARAM;
    slot(words, "param::func")->space = PTX_SPACE_PARAM;
    slot(words, "shared")->space = PTX_SPACE_SHARED;
    slot(words, "shared::cta")->space = PTX_SPACE_SHARED;
    slot(words, "shared::cluster")->space = PTX_SPACE_SHARED;
}

/* Made for each module, 530 words: a table of constants would need the hashes of a
 * generator, and takes no less time to bring into the cache. */
void ptx_words_init(ptx_words *words)
{
    memset(words, 0, sizeof(*words));
#define X(name, text) slot(words, text)->opcode = PTX_OP_##name;
    PTX_OPCODES(X)
#undef X
#define X(name, text) slot(words, text)->modifier = PTX_MOD_##name;
    PTX_MODIFIERS(X)
#undef X
#define X(name, text) slot(words, text)->sreg = PTX_SREG_##name;
    PTX_SREGS(X)
#undef X
#define X(name, text) slot(words, text)->directive = PTX_DIR_##name;
    PTX_DIRECTIVES(X)
#undef X
    for (unsigned i = 0; i < 32; i++)
        slot(words, envregs[i])->sreg = (uint8_t)(PTX_SREG_ENVREG0 + i);
    for (ptx_type type = PTX_NONE + 1; type < PTX_TYPE_COUNT; type++)
        if (type != PTX_TYPE_OTHER)
            slot(words, ptx_type_name(type))->type = (uint8_t)type;
    for (size_t i = 0; i < sizeof(other_opcodes) / sizeof(other_opcodes[0]); i++)
        slot(words, other_opcodes[i])->opcode = PTX_OP_COUNT; /* PTX_OP_UNKNOWN */
    for (size_t i = 0; i < sizeof(other_modifiers) / sizeof(other_modifiers[0]); i++)
        slot(words, other_modifiers[i])->modifier = PTX_MOD_COUNT; /* PTX_MOD_UNKNOWN */
    for (size_t i = 0; i < sizeof(other_types) / sizeof(other_types[0]); i++)
        slot(words, other_types[i])->type = PTX_TYPE_OTHER;
    for (size_t i = 0; i < sizeof(other_sregs) / sizeof(other_sregs[0]); i++)
        slot(words, other_sregs[i])->sreg = PTX_SREG_COUNT; /* PTX_SREG_UNKNOWN */
    add_spaces(words);
}
