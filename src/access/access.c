// SPDX-License-Identifier: Apache-2.0
/* The words of a kernel's arguments are followed through its registers:
 *
 *   ld.param.u64  %rd1, [kernel_param_0]     %rd1 holds word 0
 *   add.s64       %rd3, %rd1, %rd2           so does %rd3
 *   st.global.f32 [%rd3], %f1                word 0 is written through
 *
 * A register holds what any instruction may give it, whatever their order: the body is
 * read again until nothing is added. Products, shifts and comparisons are numbers. What an
 * instruction that is not known here gets counts as out of sight. */
#include "access/access.h"
#include "access/scan.h"
#include "base/hash.h"

#include <string.h>

enum {
    REGISTERS = 1 << 14,
    PASSES_MAX = 24,
    PARAMS_MAX = 256,
    WORD = 8,
    BYTES_MAX = 1 << 16
};

typedef struct reg {
    uint64_t name;  /* hash; 0: free */
    uint64_t holds; /* a bit for each word of gphi_access */
} reg;

typedef struct param {
    gphi_span name;
    uint32_t offset, bytes;
} param;

typedef struct reading {
    gphi_access found;
    reg registers[REGISTERS];
    uint32_t register_count;
    param params[PARAMS_MAX];
    uint32_t param_count;
    bool has_changed, is_given_up;
} reading;

size_t gphi_access_room(void)
{
    return sizeof(reading);
}

/* ---- arguments ---- */

/* Of ".f32", ".b64"; 0: it is not a type. */
static uint32_t type_bytes(gphi_span type)
{
    static const struct {
        const char *end;
        uint32_t bytes;
    } types[] = {{"64", 8}, {"32", 4}, {"16x2", 4}, {"16", 2}, {"8", 1}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const size_t length = strlen(types[i].end);
        if ((size_t)(type.end - type.at) == length + 2 &&
            memcmp(type.end - length, types[i].end, length) == 0)
            return types[i].bytes;
    }
    return 0;
}

/* Decimal, as sizes and offsets are written; 0: there is none. */
static uint64_t number_of(gphi_span digits)
{
    uint64_t value = 0;
    for (; digits.at < digits.end && *digits.at >= '0' && *digits.at <= '9'; digits.at++)
        value = value * 10 + (uint64_t)(*digits.at - '0');
    return value;
}

/* ".param .align 8 .b8 name[24]", ".param .u64 .ptr .global .align 4 name". */
static bool read_param(gphi_span item, uint32_t *at, param *out)
{
    uint64_t align = 0, bytes = 0, count = 1;
    *out = (param){.offset = *at};
    while (item.at < item.end) {
        const gphi_span word = gphi_span_word(&item);
        if (word.at == word.end) {
            if (item.at < item.end && *item.at == '[') {
                item.at++;
                const gphi_span digits = gphi_span_word(&item);
                count = number_of(digits);
            }
            item.at += item.at < item.end;
            continue;
        }
        if (gphi_span_is(word, ".align")) {
            const gphi_span digits = gphi_span_word(&item);
            if (bytes == 0) /* after the type it is what the pointer points at */
                align = number_of(digits);
        } else if (*word.at == '.') {
            bytes = bytes == 0 ? type_bytes(word) : bytes;
        } else {
            out->name = word;
        }
    }
    align = align < bytes ? bytes : align;
    if (bytes == 0 || align > BYTES_MAX || (align & (align - 1)) != 0 ||
        count > BYTES_MAX || !out->name.at)
        return false;
    out->offset = (uint32_t)((*at + align - 1) & ~(align - 1));
    out->bytes = (uint32_t)(bytes * count);
    *at = out->offset + out->bytes;
    return *at <= BYTES_MAX;
}

/* In the order and with the gaps that a struct in C has. */
static bool read_params(reading *in, gphi_span list)
{
    uint32_t at = 0;
    in->param_count = 0;
    for (list = gphi_span_trim(list); list.at < list.end;) {
        const gphi_span item = gphi_span_item(&list);
        if (in->param_count == PARAMS_MAX ||
            !read_param(item, &at, &in->params[in->param_count]))
            return false;
        in->param_count++;
    }
    in->found.bytes = at;
    return true;
}

static const param *param_of(const reading *in, gphi_span name)
{
    const size_t length = (size_t)(name.end - name.at);
    for (uint32_t i = 0; i < in->param_count; i++) {
        const gphi_span one = in->params[i].name;
        if ((size_t)(one.end - one.at) == length && memcmp(one.at, name.at, length) == 0)
            return &in->params[i];
    }
    return NULL;
}

/* ---- what is known so far ---- */

/* The bit of a word of the arguments; 0: there are too many. */
static uint64_t word_bit(reading *in, uint32_t offset)
{
    gphi_access *found = &in->found;
    for (uint32_t i = 0; i < found->count; i++)
        if (found->words[i].offset == offset)
            return UINT64_C(1) << i;
    if (found->count == GPHI_ACCESS_WORDS) {
        in->is_given_up = true;
        return 0;
    }
    found->words[found->count] = (struct gphi_access_word){.offset = offset};
    in->has_changed = true;
    return UINT64_C(1) << found->count++;
}

/* What is said of a word is never taken back. */
static void flag(reading *in, uint64_t words, uint32_t flags)
{
    for (uint32_t i = 0; i < in->found.count; i++) {
        uint16_t *to = &in->found.words[i].flags;
        if ((words >> i & 1) != 0 && (*to & flags) != flags) {
            *to |= (uint16_t)flags;
            in->has_changed = true;
        }
    }
}

/* Every word of an argument, or of a part of it. */
static void flag_param(reading *in, const param *of, uint32_t flags)
{
    const uint32_t end = of->offset + of->bytes;
    for (uint32_t at = (of->offset + WORD - 1) & ~(uint32_t)(WORD - 1);
         at + WORD <= end && !in->is_given_up; at += WORD)
        flag(in, word_bit(in, at), flags);
}

/* By its name, whatever scope it was declared in: two of one name count as one. NULL: there
 * are too many. */
static uint64_t *register_at(reading *in, gphi_span name)
{
    const uint64_t hash =
        gphi_hash_fnv(GPHI_HASH_FNV_START, name.at, (size_t)(name.end - name.at)) | 1;
    for (uint32_t i = (uint32_t)(hash >> 20);; i++) {
        reg *one = &in->registers[i % REGISTERS];
        if (one->name == hash)
            return &one->holds;
        if (one->name != 0)
            continue;
        if (in->register_count >= REGISTERS / 2)
            return NULL;
        in->register_count++;
        *one = (reg){.name = hash};
        return &one->holds;
    }
}

static bool is_name(gphi_span word)
{
    return word.at < word.end && (*word.at < '0' || *word.at > '9') && *word.at != '.';
}

/* What the names in an operand hold, together. A kernel's argument by its name is its
 * address: who has that may read all of it. */
static uint64_t held_by(reading *in, gphi_span operand)
{
    uint64_t held = 0;
    while (operand.at < operand.end) {
        const gphi_span word = gphi_span_word(&operand);
        if (word.at == word.end)
            operand.at += operand.at < operand.end;
        if (!is_name(word))
            continue;
        const param *of = param_of(in, word);
        if (of) {
            flag_param(in, of, GPHI_ACCESS_LEAVES);
            continue;
        }
        const uint64_t *holds = register_at(in, word);
        if (holds)
            held |= *holds;
        else
            in->is_given_up = true;
    }
    return held;
}

/* Each name in the operand holds the words as well. */
static void give(reading *in, gphi_span operand, uint64_t words)
{
    while (words != 0 && operand.at < operand.end) {
        const gphi_span word = gphi_span_word(&operand);
        if (word.at == word.end)
            operand.at += operand.at < operand.end;
        uint64_t *holds = is_name(word) ? register_at(in, word) : NULL;
        if (!holds || (*holds & words) == words)
            continue;
        *holds |= words;
        in->has_changed = true;
    }
}

/* ---- instructions ---- */

static bool is_one(uint64_t words)
{
    return words != 0 && (words & (words - 1)) == 0;
}

/* What an instruction moves, by its last part that is a type. */
static uint32_t moved_bytes(gphi_span opcode)
{
    uint32_t bytes = 0, count = 1;
    if (gphi_opcode_has(opcode, "v2") || gphi_opcode_has(opcode, "v4"))
        count = gphi_opcode_has(opcode, "v2") ? 2 : 4;
    for (const char *at = opcode.at; at < opcode.end; at++) {
        const char *end = at + 1;
        while (end < opcode.end && *end != '.')
            end++;
        if (*at == '.' && type_bytes((gphi_span){at, end}) != 0)
            bytes = type_bytes((gphi_span){at, end});
    }
    return bytes * count;
}

/* An access through an address in global memory, or in any. */
static void through(reading *in, gphi_span opcode, gphi_span address, uint32_t flags)
{
    const uint64_t words = held_by(in, address);
    const uint32_t bytes = moved_bytes(opcode);
    for (uint32_t i = 0; i < in->found.count && flags != GPHI_ACCESS_READS; i++)
        if (is_one(words) && (words >> i & 1) != 0 &&
            in->found.words[i].store_bytes < bytes)
            in->found.words[i].store_bytes = (uint16_t)bytes;
    if (words == 0 && (flags & (GPHI_ACCESS_WRITES | GPHI_ACCESS_ADDS)) != 0)
        in->found.goes_elsewhere = true;
    /* of two, either may be the address */
    flag(in, words, is_one(words) ? flags : GPHI_ACCESS_LEAVES);
}

/* Memory of the block or thread, which no argument leads to. */
static bool is_own_space(gphi_span opcode)
{
    return gphi_opcode_has(opcode, "shared") || gphi_opcode_has(opcode, "shared::cta") ||
           gphi_opcode_has(opcode, "shared::cluster") || gphi_opcode_has(opcode, "local");
}

/* "[name]", "[name+8]": 8 bytes are a word; of less, half an address may be taken. */
static void load_param(reading *in, gphi_span opcode, gphi_span to, gphi_span from)
{
    if (from.end - from.at < 2)
        return;
    gphi_span inner = {from.at + 1, from.end - 1};
    const gphi_span name = gphi_span_word(&inner);
    const param *of = param_of(in, name);
    if (!of) { /* what a function has returned */
        (void)held_by(in, from);
        return;
    }
    inner = gphi_span_trim(inner);
    uint32_t offset = of->offset;
    if (inner.at < inner.end && *inner.at == '+') {
        inner.at++;
        inner = gphi_span_trim(inner);
        offset += (uint32_t)number_of(inner);
    } else if (inner.at < inner.end) {
        flag_param(in, of, GPHI_ACCESS_LEAVES);
        return;
    }
    const bool is_long = gphi_opcode_has(opcode, "u64") ||
                         gphi_opcode_has(opcode, "b64") || gphi_opcode_has(opcode, "s64");
    if (!is_long || offset % WORD != 0) {
        const uint32_t start = offset & ~(uint32_t)(WORD - 1);
        if (start >= of->offset && start + WORD <= of->offset + of->bytes)
            flag(in, word_bit(in, start), GPHI_ACCESS_LEAVES);
        return;
    }
    if (to.at < to.end && *to.at == '{') { /* a vector */
        gphi_span names = {to.at + 1, to.end - 1};
        for (; names.at < names.end && !in->is_given_up; offset += WORD) {
            const gphi_span one = gphi_span_item(&names);
            give(in, one, word_bit(in, offset));
        }
        return;
    }
    give(in, to, word_bit(in, offset));
}

typedef enum sort {
    SORT_MOVES,  /* the result holds what the operands do */
    SORT_NUMBER, /* nothing that is an address comes of it */
    SORT_LAST,   /* only of the last operand */
    SORT_LOAD,
    SORT_STORE,
    SORT_ATOMIC,
    SORT_COPY, /* to, from */
    SORT_CALL,
    SORT_NOTHING,
    SORT_UNKNOWN
} sort;

/* By the first part of the opcode. */
static sort sort_of(gphi_span opcode)
{
    static const struct {
        const char *name;
        sort is;
    } sorts[] = {
        {"mov", SORT_MOVES},        {"add", SORT_MOVES},
        {"sub", SORT_MOVES},        {"addc", SORT_MOVES},
        {"subc", SORT_MOVES},       {"cvta", SORT_MOVES},
        {"selp", SORT_MOVES},       {"and", SORT_MOVES},
        {"or", SORT_MOVES},         {"cvt", SORT_MOVES},
        {"mad", SORT_LAST},         {"mul", SORT_NUMBER},
        {"mul24", SORT_NUMBER},     {"shl", SORT_NUMBER},
        {"shr", SORT_NUMBER},       {"setp", SORT_NUMBER},
        {"set", SORT_NUMBER},       {"div", SORT_NUMBER},
        {"rem", SORT_NUMBER},       {"neg", SORT_NUMBER},
        {"abs", SORT_NUMBER},       {"xor", SORT_NUMBER},
        {"not", SORT_NUMBER},       {"min", SORT_NUMBER},
        {"max", SORT_NUMBER},       {"fma", SORT_NUMBER},
        {"ld", SORT_LOAD},          {"ldu", SORT_LOAD},
        {"st", SORT_STORE},         {"atom", SORT_ATOMIC},
        {"red", SORT_ATOMIC},       {"call", SORT_CALL},
        {"prefetch", SORT_NOTHING}, {"prefetchu", SORT_NOTHING},
        {"isspacep", SORT_NUMBER},  {"bra", SORT_NOTHING},
        {"ret", SORT_NOTHING},      {"exit", SORT_NOTHING},
        {"bar", SORT_NOTHING},      {"barrier", SORT_NOTHING},
        {"membar", SORT_NOTHING},   {"fence", SORT_NOTHING},
        {"trap", SORT_NOTHING},     {"nanosleep", SORT_NOTHING},
        {"testp", SORT_NUMBER},
    };
    const char *dot = memchr(opcode.at, '.', (size_t)(opcode.end - opcode.at));
    const gphi_span base = {opcode.at, dot ? dot : opcode.end};
    for (size_t i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++)
        if (gphi_span_is(base, sorts[i].name))
            return sorts[i].is;
    if (gphi_span_begins(opcode, "wmma.load"))
        return SORT_LOAD;
    if (gphi_span_begins(opcode, "wmma.store"))
        return SORT_STORE;
    if (gphi_span_begins(opcode, "cp.async.ca") ||
        gphi_span_begins(opcode, "cp.async.cg"))
        return SORT_COPY;
    return SORT_UNKNOWN;
}

static void call(reading *in, gphi_span operands)
{
    /* They take no address of the kernel's to write there. */
    static const char *const harmless[] = {"vprintf", "__assertfail",
                                           "cudaGraphSetConditional",
                                           "cudaCGGetIntrinsicHandle", NULL};
    bool is_harmless = false;
    while (operands.at < operands.end) {
        const gphi_span item = gphi_span_item(&operands);
        for (uint32_t i = 0; harmless[i] && !is_harmless; i++)
            is_harmless = gphi_span_is(item, harmless[i]);
        flag(in, held_by(in, item), GPHI_ACCESS_LEAVES);
    }
    in->found.goes_elsewhere = in->found.goes_elsewhere || !is_harmless;
}

static bool is_address(gphi_span operand)
{
    return operand.at < operand.end && *operand.at == '[';
}

static void store(reading *in, gphi_span opcode, gphi_span operands)
{
    const gphi_span to = gphi_span_item(&operands);
    if (!gphi_opcode_has(opcode, "param") && !is_own_space(opcode))
        through(in, opcode, to, GPHI_ACCESS_WRITES);
    flag(in, held_by(in, operands), GPHI_ACCESS_LEAVES);
}

/* Also red, which gives nothing back. */
static void atomic(reading *in, gphi_span opcode, gphi_span operands)
{
    while (operands.at < operands.end) {
        const gphi_span item = gphi_span_item(&operands);
        if (!is_address(item))
            flag(in, held_by(in, item), GPHI_ACCESS_LEAVES);
        else if (!is_own_space(opcode))
            through(in, opcode, item, GPHI_ACCESS_READS | GPHI_ACCESS_ADDS);
    }
}

static void load(reading *in, gphi_span opcode, gphi_span operands)
{
    const gphi_span to = gphi_span_item(&operands), from = gphi_span_item(&operands);
    if (gphi_opcode_has(opcode, "param"))
        load_param(in, opcode, to, from);
    else if (!is_own_space(opcode))
        through(in, opcode, from, GPHI_ACCESS_READS);
}

static void compute(reading *in, sort how, gphi_span operands)
{
    const gphi_span to = gphi_span_item(&operands);
    uint64_t held = 0;
    while (operands.at < operands.end) {
        const gphi_span from = gphi_span_item(&operands);
        const uint64_t words = held_by(in, from);
        held = how == SORT_LAST ? words : held | words;
    }
    if (how != SORT_NUMBER)
        give(in, to, held);
}

static void unknown(reading *in, gphi_span operands)
{
    while (operands.at < operands.end) {
        const gphi_span item = gphi_span_item(&operands);
        const uint64_t words = held_by(in, item);
        flag(in, words, GPHI_ACCESS_LEAVES);
        in->found.goes_elsewhere =
            in->found.goes_elsewhere || (is_address(item) && words == 0);
    }
}

static void follow(reading *in, const gphi_ptx_instruction *at)
{
    gphi_span operands = at->operands;
    const sort how = sort_of(at->opcode);
    switch (how) {
    case SORT_MOVES:
    case SORT_NUMBER:
    case SORT_LAST: compute(in, how, operands); break;
    case SORT_LOAD: load(in, at->opcode, operands); break;
    case SORT_STORE: store(in, at->opcode, operands); break;
    case SORT_ATOMIC: atomic(in, at->opcode, operands); break;
    case SORT_COPY:
        (void)gphi_span_item(&operands);
        through(in, at->opcode, gphi_span_item(&operands), GPHI_ACCESS_READS);
        break;
    case SORT_CALL: call(in, operands); break;
    case SORT_NOTHING: break;
    case SORT_UNKNOWN: unknown(in, operands); break;
    }
}

static bool read_kernel(reading *in, const gphi_ptx_kernel *kernel)
{
    memset(in, 0, sizeof(*in));
    in->found.name = kernel->name.at;
    in->found.name_length = (uint32_t)(kernel->name.end - kernel->name.at);
    if (!read_params(in, kernel->params))
        return false;
    in->has_changed = true;
    for (uint32_t pass = 0; in->has_changed && !in->is_given_up; pass++) {
        gphi_span rest = kernel->body;
        gphi_ptx_instruction at;
        if (pass == PASSES_MAX)
            return false;
        in->has_changed = in->found.goes_elsewhere = false;
        while (gphi_ptx_instruction_next(&rest, &at))
            follow(in, &at);
    }
    return !in->is_given_up;
}

void gphi_access_read(const char *ptx, size_t length, void *room,
                      gphi_access_fn *call_each, void *user)
{
    gphi_span rest = {ptx, ptx + length};
    gphi_ptx_kernel kernel;
    reading *in = room;
    while (gphi_ptx_next(&rest, &kernel))
        if (read_kernel(in, &kernel))
            call_each(user, &in->found);
}
