// SPDX-License-Identifier: Apache-2.0
/* `ld.global.v4.f32` of eight threads side by side is a load of 32 words and four shuffles
 * that take every fourth of them. LLVM makes some 28 permutations across the halves of
 * registers of that for x86; what it takes is eight loads of halves (rows 0 and 4 ... 3 and
 * 7 share a register) and two rounds of four interleavings inside the halves:
 *
 *   y0 = x0 y0 z0 w0 | x4 y4 z4 w4     t0 = x0 x1 y0 y1 | x4 x5 y4 y5     x = x0 x1 x2 x3 | x4 ...
 *   y1 = x1 y1 z1 w1 | x5 y5 z5 w5     t1 = z0 z1 w0 w1 | ...             y = y0 y1 y2 y3 | ...
 *   y2 = x2 y2 z2 w2 | x6 y6 z6 w6     t2 = x2 x3 y2 y3 | ...             z
 *   y3 = x3 y3 z3 w3 | x7 y7 z7 w7     t3 = z2 z3 w2 w3 | ...             w
 *
 * Stores are the same backwards. LLVM likes to do arithmetic on all 32 words before it
 * takes every fourth of the result; that is turned round again. Where a store's four words
 * are made alike of what loads gave (out = in * scale * weight), nothing is transposed: the
 * arithmetic is done on all 32 as they lie in memory.
 *
 * Whole registers are loaded faster than halves, and hold rows 0 and 1, 2 and 3 ...: their
 * columns are those of threads 0 2 4 6 | 1 3 5 7. Arithmetic does not mind as long as all it
 * takes is in that order, or the same for all threads; so a sum of products is made in it,
 * and turned to the threads' order once. Both ways are written, and what nobody uses is
 * taken out again.
 *
 * Eight words a thread are loads of 64, twice the same: words 0 to 3 of rows 0 and 4 ... 3
 * and 7, and words 4 to 7 of them. */
#include "softcuda/jit/interleave.h"

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define THREADS 8u
#define WORDS 32u
#define DEPTH_MAX 4u
#define KNOWN_MAX 256u /* wide values of a function whose parts are remembered */

typedef struct parts {
    LLVMValueRef wide, part[4]; /* part k: words k, k + 4 ... of the wide value */
    LLVMValueRef turned[4];     /* the same of threads 0 2 4 6 | 1 3 5 7 */
} parts;

typedef struct rewriter {
    LLVMBuilderRef builder;
    LLVMTypeRef word;
    parts known[KNOWN_MAX];
    uint32_t count;
    LLVMValueRef wide, column[THREADS]; /* the last load of 64 words, and every eighth */
} rewriter;

/* ---- pieces ------------------------------------------------------------------------ */

static LLVMTypeRef word_of(LLVMValueRef value, uint32_t count)
{
    const LLVMTypeRef type = LLVMTypeOf(value);
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind || LLVMGetVectorSize(type) != count)
        return NULL;
    const LLVMTypeRef word = LLVMGetElementType(type);
    const bool fits =
        LLVMGetTypeKind(word) == LLVMFloatTypeKind ||
        (LLVMGetTypeKind(word) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(word) == 32);
    return fits ? word : NULL;
}

static LLVMValueRef shuffle(rewriter *w, LLVMValueRef a, LLVMValueRef b,
                            const uint8_t *lanes, uint32_t count)
{
    LLVMValueRef mask[THREADS];
    const LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(w->word));
    for (uint32_t k = 0; k < count; k++)
        mask[k] = LLVMConstInt(i32, lanes[k], 0);
    return LLVMBuildShuffleVector(w->builder, a, b, LLVMConstVector(mask, count), "");
}

static const uint8_t low_words[] = {0, 8, 1, 9, 4, 12, 5, 13};
static const uint8_t high_words[] = {2, 10, 3, 11, 6, 14, 7, 15};
static const uint8_t low_pairs[] = {0, 1, 8, 9, 4, 5, 12, 13};
static const uint8_t high_pairs[] = {2, 3, 10, 11, 6, 7, 14, 15};
static const uint8_t both_halves[] = {0, 1, 2, 3, 4, 5, 6, 7};
static const uint8_t thread_order[] = {0, 4, 1, 5, 2, 6, 3, 7};

/* Rows of four become columns, in each half by itself; backwards it is the same. */
static void transpose(rewriter *w, const LLVMValueRef in[4], LLVMValueRef out[4])
{
    const LLVMValueRef t0 = shuffle(w, in[0], in[1], low_words, THREADS),
                       t1 = shuffle(w, in[0], in[1], high_words, THREADS),
                       t2 = shuffle(w, in[2], in[3], low_words, THREADS),
                       t3 = shuffle(w, in[2], in[3], high_words, THREADS);
    out[0] = shuffle(w, t0, t2, low_pairs, THREADS);
    out[1] = shuffle(w, t0, t2, high_pairs, THREADS);
    out[2] = shuffle(w, t1, t3, low_pairs, THREADS);
    out[3] = shuffle(w, t1, t3, high_pairs, THREADS);
}

static LLVMValueRef row_at(rewriter *w, LLVMValueRef pointer, uint32_t row)
{
    const LLVMContextRef context = LLVMGetTypeContext(w->word);
    LLVMValueRef offset = LLVMConstInt(LLVMInt64TypeInContext(context), 16ull * row, 0);
    return LLVMBuildGEP2(w->builder, LLVMInt8TypeInContext(context), pointer, &offset, 1,
                         "");
}

/* ---- loads ------------------------------------------------------------------------- */

static const parts *known_parts(const rewriter *w, LLVMValueRef wide)
{
    for (uint32_t n = w->count; n-- > 0;)
        if (w->known[n].wide == wide)
            return &w->known[n];
    return NULL;
}

static bool is_plain_load(LLVMValueRef value)
{
    return LLVMIsALoadInst(value) && !LLVMGetVolatile(value) &&
           LLVMGetOrdering(value) == LLVMAtomicOrderingNotAtomic;
}

/* A load, or arithmetic of such, word by word. */
static bool has_parts(const rewriter *w, LLVMValueRef wide, uint32_t depth)
{
    if (!word_of(wide, WORDS) || depth == DEPTH_MAX)
        return false;
    if (known_parts(w, wide) || is_plain_load(wide))
        return true;
    return LLVMIsABinaryOperator(wide) &&
           has_parts(w, LLVMGetOperand(wide, 0), depth + 1) &&
           has_parts(w, LLVMGetOperand(wide, 1), depth + 1);
}

static LLVMValueRef load_rows(rewriter *w, const parts *to, uint32_t row, uint32_t count)
{
    const LLVMTypeRef type = LLVMVectorType(w->word, 4 * count);
    const LLVMValueRef pointer = LLVMGetOperand(to->wide, 0);
    const LLVMValueRef load =
        LLVMBuildLoad2(w->builder, type, row_at(w, pointer, row), "");
    const unsigned align = LLVMGetAlignment(to->wide);
    LLVMSetAlignment(load, align < 16 ? align : 16);
    return load;
}

static void load_parts(rewriter *w, parts *to)
{
    LLVMValueRef rows[THREADS], pairs[4];
    for (uint32_t r = 0; r < THREADS; r++)
        rows[r] = load_rows(w, to, r, 1);
    for (uint32_t r = 0; r < 4; r++)
        pairs[r] = shuffle(w, rows[r], rows[r + 4], both_halves, THREADS);
    transpose(w, pairs, to->part);
    for (uint32_t r = 0; r < 4; r++)
        pairs[r] = load_rows(w, to, 2 * r, 2);
    transpose(w, pairs, to->turned);
}

/* NULL: no more can be remembered. */
static const parts *parts_of(rewriter *w, LLVMValueRef wide)
{
    const parts *known = known_parts(w, wide);
    if (known)
        return known;
    const parts *a = NULL, *b = NULL;
    if (!is_plain_load(wide)) {
        a = parts_of(w, LLVMGetOperand(wide, 0));
        b = parts_of(w, LLVMGetOperand(wide, 1));
        if (!a || !b)
            return NULL;
    }
    if (w->count == KNOWN_MAX)
        return NULL;
    parts *to = &w->known[w->count++];
    to->wide = wide;
    w->word = word_of(wide, WORDS);
    LLVMPositionBuilderBefore(w->builder, LLVMGetNextInstruction(wide));
    if (!a) {
        load_parts(w, to);
        return to;
    }
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(wide);
    for (uint32_t k = 0; k < 4; k++) {
        to->part[k] = LLVMBuildBinOp(w->builder, opcode, a->part[k], b->part[k], "");
        to->turned[k] =
            LLVMBuildBinOp(w->builder, opcode, a->turned[k], b->turned[k], "");
    }
    return to;
}

/* The eight columns of a load of 64 words, after it. */
static void load_columns(rewriter *w, LLVMValueRef wide)
{
    const parts from = {.wide = wide};
    w->wide = wide;
    w->word = word_of(wide, 2 * WORDS);
    LLVMPositionBuilderBefore(w->builder, LLVMGetNextInstruction(wide));
    for (uint32_t half = 0; half < 2; half++) {
        LLVMValueRef pairs[4];
        for (uint32_t r = 0; r < 4; r++) {
            const LLVMValueRef low = load_rows(w, &from, 2 * r + half, 1),
                               high = load_rows(w, &from, 2 * (r + 4) + half, 1);
            pairs[r] = shuffle(w, low, high, both_halves, THREADS);
        }
        transpose(w, pairs, w->column + 4 * half);
    }
}

/* The shuffle takes every eighth of 64 words: it gives way to a column. */
static bool rewrite_eighth(rewriter *w, LLVMValueRef value)
{
    const LLVMValueRef wide = LLVMGetOperand(value, 0);
    if (LLVMGetNumMaskElements(value) != THREADS || !word_of(wide, 2 * WORDS) ||
        !is_plain_load(wide))
        return false;
    const int first = LLVMGetMaskValue(value, 0);
    for (uint32_t k = 0; k < THREADS; k++)
        if (first < 0 || first > 7 || LLVMGetMaskValue(value, k) != first + 8 * (int)k)
            return false;
    if (w->wide != wide)
        load_columns(w, wide);
    LLVMReplaceAllUsesWith(value, w->column[first]);
    LLVMInstructionEraseFromParent(value);
    return true;
}

/* Which of the four parts of its first operand the shuffle takes; 4: none. */
static uint32_t part_taken(LLVMValueRef value)
{
    if (LLVMGetNumMaskElements(value) != THREADS ||
        !word_of(LLVMGetOperand(value, 0), WORDS))
        return 4;
    const int first = LLVMGetMaskValue(value, 0);
    for (uint32_t k = 0; k < THREADS; k++)
        if (first < 0 || first > 3 || LLVMGetMaskValue(value, k) != first + 4 * (int)k)
            return 4;
    return (uint32_t)first;
}

/* The shuffle gives way to one of the parts. */
static void rewrite_shuffle(rewriter *w, LLVMValueRef value)
{
    if (rewrite_eighth(w, value))
        return;
    const uint32_t part = part_taken(value);
    if (part == 4 || !has_parts(w, LLVMGetOperand(value, 0), 0))
        return;
    const parts *from = parts_of(w, LLVMGetOperand(value, 0));
    if (!from)
        return;
    LLVMReplaceAllUsesWith(value, from->part[part]);
    LLVMInstructionEraseFromParent(value);
}

/* ---- arithmetic -------------------------------------------------------------------- */

static bool is_fma(LLVMValueRef value)
{
    static const char name[] = "llvm.fma";
    return LLVMIsACallInst(value) && LLVMGetNumArgOperands(value) == 3 &&
           LLVMGetIntrinsicID(LLVMGetCalledValue(value)) ==
               LLVMLookupIntrinsicID(name, sizeof(name) - 1);
}

/* The arithmetic of `like` on operands of another width. */
static LLVMValueRef build_like(rewriter *w, LLVMValueRef like, LLVMValueRef *operands,
                               uint32_t count)
{
    if (count == 2)
        return LLVMBuildBinOp(w->builder, LLVMGetInstructionOpcode(like), operands[0],
                              operands[1], "");
    LLVMTypeRef type = LLVMTypeOf(operands[0]);
    const unsigned id = LLVMGetIntrinsicID(LLVMGetCalledValue(like));
    const LLVMModuleRef module =
        LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(like)));
    const LLVMValueRef fma = LLVMGetIntrinsicDeclaration(module, id, &type, 1);
    return LLVMBuildCall2(w->builder,
                          LLVMIntrinsicGetType(LLVMGetTypeContext(type), id, &type, 1),
                          fma, operands, 3, "");
}

static bool has_mask(LLVMValueRef value, const uint8_t *lanes)
{
    if (!LLVMIsAShuffleVectorInst(value) || LLVMGetNumMaskElements(value) != THREADS ||
        !word_of(LLVMGetOperand(value, 0), THREADS))
        return false;
    for (uint32_t k = 0; k < THREADS; k++)
        if (LLVMGetMaskValue(value, k) != lanes[k])
            return false;
    return true;
}

/* The same in all lanes. */
static bool is_splat(LLVMValueRef value)
{
    static const uint8_t first[THREADS];
    if (has_mask(value, first))
        return true;
    if (!LLVMIsAConstantDataVector(value))
        return false;
    for (uint32_t k = 1; k < THREADS; k++)
        if (LLVMGetAggregateElement(value, k) != LLVMGetAggregateElement(value, 0))
            return false;
    return true;
}

/* A value in the order of registers, or NULL; *weight: 1 more if it has both orders, 2 if it
 * has to be turned in any case. */
static LLVMValueRef turned_of(const rewriter *w, LLVMValueRef value, uint32_t *weight)
{
    if (has_mask(value, thread_order)) {
        *weight += 2;
        return LLVMGetOperand(value, 0);
    }
    for (uint32_t n = w->count; n-- > 0;)
        for (uint32_t k = 0; k < 4; k++)
            if (w->known[n].part[k] == value) {
                ++*weight;
                return w->known[n].turned[k];
            }
    return is_splat(value) ? value : NULL;
}

/* Done in the order of registers, and turned after it. */
static void turn_later(rewriter *w, LLVMValueRef value)
{
    LLVMValueRef operands[3];
    const uint32_t count = LLVMIsABinaryOperator(value) ? 2 : is_fma(value) ? 3 : 0;
    uint32_t weight = 0;
    if (count == 0 || w->count == 0 || !word_of(value, THREADS))
        return;
    for (uint32_t i = 0; i < count; i++) {
        operands[i] = turned_of(w, LLVMGetOperand(value, i), &weight);
        if (!operands[i])
            return;
    }
    if (weight < 2)
        return;
    w->word = word_of(value, THREADS);
    LLVMPositionBuilderBefore(w->builder, value);
    const LLVMValueRef turned = build_like(w, value, operands, count);
    const LLVMValueRef result =
        shuffle(w, turned, LLVMGetPoison(LLVMTypeOf(turned)), thread_order, THREADS);
    for (uint32_t n = 0; n < w->count; n++)
        for (uint32_t k = 0; k < 4; k++)
            if (w->known[n].part[k] == value)
                w->known[n].part[k] = result;
    LLVMReplaceAllUsesWith(value, result);
    LLVMInstructionEraseFromParent(value);
}

/* ---- stores ------------------------------------------------------------------------ */

/* Two vectors of eight, one after the other. */
static bool take_halves(LLVMValueRef value, LLVMValueRef *halves)
{
    if (!LLVMIsAShuffleVectorInst(value) ||
        LLVMGetNumMaskElements(value) != 2 * THREADS ||
        !word_of(LLVMGetOperand(value, 0), THREADS))
        return false;
    for (uint32_t k = 0; k < 2 * THREADS; k++)
        if (LLVMGetMaskValue(value, k) != (int)k)
            return false;
    halves[0] = LLVMGetOperand(value, 0);
    halves[1] = LLVMGetOperand(value, 1);
    return true;
}

/* Words of four vectors of eight in turn. */
static bool take_columns(LLVMValueRef value, LLVMValueRef *columns)
{
    if (!LLVMIsAShuffleVectorInst(value) || !word_of(value, WORDS) ||
        LLVMGetNumMaskElements(value) != WORDS)
        return false;
    for (uint32_t k = 0; k < WORDS; k++)
        if (LLVMGetMaskValue(value, k) != (int)(k % 4 * THREADS + k / 4))
            return false;
    return take_halves(LLVMGetOperand(value, 0), columns) &&
           take_halves(LLVMGetOperand(value, 1), columns + 2);
}

/* All four are column k of one wide value, in the one order or the other. */
static LLVMValueRef whole_of(const rewriter *w, const LLVMValueRef columns[4])
{
    for (uint32_t n = w->count; n-- > 0;) {
        bool all = true, turned = true;
        for (uint32_t k = 0; k < 4; k++) {
            all &= w->known[n].part[k] == columns[k];
            turned &= w->known[n].turned[k] == columns[k];
        }
        if (all || turned)
            return w->known[n].wide;
    }
    return NULL;
}

/* A value of each thread, four times side by side; where it is made, which may be outside
 * of a loop. NULL: it is not known where. */
static LLVMValueRef repeat(rewriter *w, LLVMValueRef value, bool build)
{
    if (!LLVMIsAInstruction(value) || LLVMIsATerminatorInst(value))
        return NULL;
    if (!build)
        return value;
    LLVMValueRef mask[WORDS];
    const LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(w->word));
    for (uint32_t k = 0; k < WORDS; k++)
        mask[k] = LLVMConstInt(i32, k / 4, 0);
    LLVMValueRef before = LLVMGetNextInstruction(value);
    while (LLVMIsAPHINode(before))
        before = LLVMGetNextInstruction(before);
    LLVMPositionBuilderBefore(w->builder, before);
    return LLVMBuildShuffleVector(w->builder, value, LLVMGetPoison(LLVMTypeOf(value)),
                                  LLVMConstVector(mask, WORDS), "");
}

/* How many operands the arithmetic has, of the same kind in all four columns; 0: none. */
static uint32_t same_arithmetic(const LLVMValueRef columns[4])
{
    for (uint32_t k = 0; k < 4; k++)
        if (!LLVMIsAInstruction(columns[k]) ||
            LLVMGetInstructionOpcode(columns[k]) != LLVMGetInstructionOpcode(columns[0]))
            return 0;
    if (LLVMIsABinaryOperator(columns[0]))
        return 2;
    for (uint32_t k = 0; k < 4; k++)
        if (!is_fma(columns[k]))
            return 0;
    return 3;
}

/* The 32 words as they lie in memory whose columns these are, before `at`; NULL if they
 * are not made alike, or there is more to do than to transpose. Without `build` only says
 * whether they are. *loads: how many of them came from memory so. */
static LLVMValueRef compose(rewriter *w, LLVMValueRef at, const LLVMValueRef given[4],
                            uint32_t depth, bool was_turned, bool build, uint32_t *loads)
{
    LLVMValueRef operands[3], columns[4];
    bool turned = true;
    for (uint32_t k = 0; k < 4; k++)
        turned &= has_mask(given[k], thread_order);
    was_turned |= turned;
    for (uint32_t k = 0; k < 4; k++)
        columns[k] = turned ? LLVMGetOperand(given[k], 0) : given[k];
    const LLVMValueRef whole = whole_of(w, columns);
    if (whole) {
        ++*loads;
        return whole;
    }
    if (columns[0] == columns[1] && columns[0] == columns[2] && columns[0] == columns[3])
        return was_turned && !is_splat(columns[0]) ? NULL : repeat(w, columns[0], build);
    const uint32_t count = depth < DEPTH_MAX ? same_arithmetic(columns) : 0;
    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef each[4];
        for (uint32_t k = 0; k < 4; k++)
            each[k] = LLVMGetOperand(columns[k], i);
        operands[i] = compose(w, at, each, depth + 1, was_turned, build, loads);
        if (!operands[i])
            return NULL;
    }
    if (count == 0 || !build)
        return count == 0 ? NULL : columns[0];
    LLVMPositionBuilderBefore(w->builder, at);
    return build_like(w, columns[0], operands, count);
}

static void rewrite_store(rewriter *w, LLVMValueRef store)
{
    const LLVMValueRef value = LLVMGetOperand(store, 0);
    LLVMValueRef columns[4], pairs[4];
    uint32_t loads = 0;
    if (LLVMGetVolatile(store) || LLVMGetOrdering(store) != LLVMAtomicOrderingNotAtomic ||
        !take_columns(value, columns))
        return;
    w->word = word_of(value, WORDS);
    if (compose(w, store, columns, 0, false, false, &loads) && loads > 0) {
        LLVMSetOperand(store, 0, compose(w, store, columns, 0, false, true, &loads));
        return;
    }
    LLVMPositionBuilderBefore(w->builder, store);
    transpose(w, columns, pairs);
    const uint32_t align = LLVMGetAlignment(store) < 16 ? LLVMGetAlignment(store) : 16;
    for (uint32_t r = 0; r < THREADS; r++) {
        const uint8_t half[] = {(uint8_t)(r / 4 * 4), (uint8_t)(r / 4 * 4 + 1),
                                (uint8_t)(r / 4 * 4 + 2), (uint8_t)(r / 4 * 4 + 3)};
        const LLVMValueRef row =
            shuffle(w, pairs[r % 4], LLVMGetPoison(LLVMTypeOf(pairs[0])), half, 4);
        LLVMSetAlignment(
            LLVMBuildStore(w->builder, row, row_at(w, LLVMGetOperand(store, 1), r)),
            align);
    }
    LLVMInstructionEraseFromParent(store);
    if (!LLVMGetFirstUse(value))
        LLVMInstructionEraseFromParent(value);
}

/* ---- all of it --------------------------------------------------------------------- */

static void rewrite_block(rewriter *w, LLVMBasicBlockRef block)
{
    LLVMValueRef next;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (LLVMIsAShuffleVectorInst(i))
            rewrite_shuffle(w, i);
        else if (LLVMIsABinaryOperator(i) || LLVMIsACallInst(i))
            turn_later(w, i);
        else if (LLVMIsAStoreInst(i))
            rewrite_store(w, i);
    }
}

/* Takes out what nobody uses any more, users before what they use. */
static void sweep(LLVMBasicBlockRef block)
{
    LLVMValueRef before;
    for (LLVMValueRef i = LLVMGetLastInstruction(block); i; i = before) {
        before = LLVMGetPreviousInstruction(i);
        if (!LLVMGetFirstUse(i) &&
            (LLVMIsAShuffleVectorInst(i) || LLVMIsABinaryOperator(i) || is_fma(i) ||
             LLVMIsAGetElementPtrInst(i) || is_plain_load(i)))
            LLVMInstructionEraseFromParent(i);
    }
}

void soft_jit_interleave(LLVMModuleRef module)
{
    rewriter *w = calloc(1, sizeof(*w));
    if (!w)
        return; /* slower code, and right */
    w->builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        w->count = 0;
        w->wide = NULL;
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
             b = LLVMGetNextBasicBlock(b))
            rewrite_block(w, b);
        for (LLVMBasicBlockRef b = LLVMGetLastBasicBlock(f);
             b && (w->count > 0 || w->wide); b = LLVMGetPreviousBasicBlock(b))
            sweep(b);
    }
    LLVMDisposeBuilder(w->builder);
    free(w);
}
