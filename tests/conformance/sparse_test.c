// SPDX-License-Identifier: Apache-2.0
/* mma.sp: half of each row of A is there, and metadata says which half. Each form multiplies
 * whole numbers that all formats hold, in places drawn for each row, and must give the
 * product of the whole matrices; of full mantissas, the sums of a GPU. `--print` shows the
 * hash of those for each form. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum element { F16, BF16, TF32, S8, U8, F32, S32 };
static const struct {
    const char *name;
    unsigned bits, mantissa, exponent;
} facts[] = {{"f16", 16, 10, 5}, {"bf16", 16, 7, 8}, {"tf32", 32, 10, 8}, {"s8", 8, 0, 0},
             {"u8", 8, 0, 0},    {"f32", 32, 23, 8}, {"s32", 32, 0, 0}};

/* `hash`: of what an H200 makes of full mantissas, see sums_are_cut_as_on_a_gpu(). */
static const struct form {
    unsigned k;
    enum element a, b, c;
    const char *more;
    uint64_t hash;
} forms[] = {
    {16, F16, F16, F32, "", 0x542550248cf11fc0},
    {32, F16, F16, F32, "", 0x32dfab4738830c6c},
    {16, F16, F16, F16, "", 0x9a3b60cf78e77ade},
    {32, F16, F16, F16, "", 0xef20f6b991d3d956},
    {16, BF16, BF16, F32, "", 0x64f9567bde283d9e},
    {32, BF16, BF16, F32, "", 0x28d5a4774041a253},
    {8, TF32, TF32, F32, "", 0xe35b649877d10ebc},
    {16, TF32, TF32, F32, "", 0x8cf33b95b0042a81},
    {32, S8, S8, S32, "", 0x5cd1fc4256d3ed93},
    {64, S8, S8, S32, "", 0x7c25458d899c49eb},
    {32, U8, S8, S32, "", 0x15653bc090069793},
    {64, S8, U8, S32, ".satfinite", 0x28d9f5b23808062d},
    {64, U8, U8, S32, "", 0xf3aa79eb23e61e35},
};
#define COUNT (sizeof(forms) / sizeof(forms[0]))
enum { M = 16, N = 8, K_MAX = 64, LANES = 32, WORDS = 16 };

/* A whole matrix, what of it is there, and the words of each lane: a, b, c, metadata. */
struct sample {
    int a[M][K_MAX], b[K_MAX][N], c[M][N];
    unsigned index[M][K_MAX / 2]; /* column in the whole A of what is there */
    unsigned full_a[M][K_MAX / 2], full_b[K_MAX][N], full_c[M][N]; /* --print: bits */
    unsigned words[LANES][WORDS];
};

static unsigned state;
static unsigned draw(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static unsigned bits_of(enum element e, int value)
{
    if (facts[e].exponent == 0)
        return (unsigned)value & (facts[e].bits == 8 ? 255u : ~0u);
    float wide = (float)value;
    unsigned word;
    memcpy(&word, &wide, 4);
    if (e == BF16)
        return word >> 16;
    if (e != F16)
        return word;
    const unsigned exponent = word >> 23 & 255;
    const unsigned sign = word >> 16 & 0x8000;
    return exponent == 0 ? 0 : sign | (exponent - 112) << 10 | (word >> 13 & 0x3ff);
}

static unsigned drawn_bits(enum element e)
{
    if (facts[e].exponent == 0)
        return draw() & (facts[e].bits == 8 ? 255u : 0xffffffu);
    const unsigned bias = (1u << (facts[e].exponent - 1)) - 1;
    const unsigned shift = e == TF32 ? 13 : 0;
    return ((draw() & 1) << (facts[e].mantissa + facts[e].exponent) |
            (bias - 2 + draw() % 4) << facts[e].mantissa |
            (draw() & ((1u << facts[e].mantissa) - 1)))
           << shift;
}

static int small_of(enum element e)
{
    return e == U8 ? (int)(draw() % 9) : (int)(draw() % 9) - 4;
}

static void draw_sample(const struct form *f, struct sample *s)
{
    const unsigned group = f->a == TF32 ? 2 : 4;
    memset(s, 0, sizeof(*s));
    for (unsigned row = 0; row < M; row++) {
        for (unsigned at = 0; at < f->k / group; at++) {
            if (group == 2) {
                s->index[row][at] = 2 * at + draw() % 2;
                continue;
            }
            const unsigned first = draw() % 3, second = first + 1 + draw() % (3 - first);
            s->index[row][2 * at] = 4 * at + first;
            s->index[row][2 * at + 1] = 4 * at + second;
        }
        for (unsigned i = 0; i < f->k / 2; i++) {
            s->a[row][s->index[row][i]] = small_of(f->a);
            s->full_a[row][i] = drawn_bits(f->a);
        }
    }
    for (unsigned j = 0; j < N; j++)
        for (unsigned i = 0; i < f->k; i++) {
            s->b[i][j] = small_of(f->b);
            s->full_b[i][j] = drawn_bits(f->b);
        }
    for (unsigned i = 0; i < M; i++)
        for (unsigned j = 0; j < N; j++) {
            s->c[i][j] = (int)(draw() % 61) - 30;
            s->full_c[i][j] = drawn_bits(f->c);
        }
}

static unsigned metadata_of(const struct form *f, const struct sample *s, unsigned row,
                            unsigned group)
{
    if (f->a == TF32)
        return s->index[row][group] % 2 ? 14 : 4;
    return s->index[row][2 * group] % 4 | s->index[row][2 * group + 1] % 4 << 2;
}

static unsigned lanes_of_four(const struct form *f)
{
    return f->k * facts[f->a].bits == 256 ? (f->a == S8 || f->a == U8 ? 2 : 1)
                                          : (f->a == S8 || f->a == U8 ? 4 : 2);
}

/* PTX's figures of mma.sp, lane = 4 g + t. */
static void fill_words(const struct form *f, struct sample *s, unsigned selector,
                       bool full)
{
    const unsigned per = 32 / facts[f->a].bits, a_count = f->k / 2 / (4 * per) * 2,
                   b_count = f->k / (4 * per), c_count = facts[f->c].bits == 16 ? 2 : 4;
    for (unsigned lane = 0; lane < LANES; lane++) {
        const unsigned g = lane / 4, t = lane % 4, mask = facts[f->a].bits;
        unsigned *w = s->words[lane];
        memset(w, 0, sizeof(s->words[lane]));
        for (unsigned r = 0; r < a_count; r++)
            for (unsigned e = 0; e < per; e++) {
                const unsigned row = g + 8 * (r % 2), i = per * (t + 4 * (r / 2)) + e;
                const unsigned value =
                    full ? s->full_a[row][i] : bits_of(f->a, s->a[row][s->index[row][i]]);
                w[r] |= value << (mask == 32 ? 0 : e * mask);
            }
        for (unsigned r = 0; r < b_count; r++)
            for (unsigned e = 0; e < per; e++) {
                const unsigned i = per * (t + 4 * r) + e;
                const unsigned value = full ? s->full_b[i][g] : bits_of(f->b, s->b[i][g]);
                w[4 + r] |= value << (mask == 32 ? 0 : e * mask);
            }
        for (unsigned i = 0; i < 4; i++) {
            const unsigned row = g + 8 * (i / 2), column = 2 * t + i % 2;
            const unsigned value =
                full ? s->full_c[row][column] : bits_of(f->c, s->c[row][column]);
            if (c_count == 4)
                w[8 + i] = value;
            else
                w[8 + i / 2] |= value << (16 * (i % 2));
        }
        const unsigned many = lanes_of_four(f), place = t - selector * many;
        w[12] = 0xeeeeeeee; /* of lanes that have none */
        if (place >= many)
            continue;
        w[12] = 0;
        const bool bytes = facts[f->a].bits == 8;
        for (unsigned i = 0; i < 8; i++) {
            const unsigned row = bytes ? g + 8 * (place % 2) : g + 8 * (i / 4);
            const unsigned group = bytes ? 8 * (place / 2) + i : 4 * place + i % 4;
            w[12] |= metadata_of(f, s, row, group) << (4 * i);
        }
    }
}

static void list(char *text, const char *stem, unsigned first, unsigned count)
{
    strcat(text, "{");
    for (unsigned i = 0; i < count; i++)
        sprintf(text + strlen(text), "%s%s%u", i ? "," : "", stem, first + i);
    strcat(text, "},");
}

static void write_text(const struct form *f, unsigned selector, bool ordered, char *text)
{
    const unsigned per = 32 / facts[f->a].bits, a_count = f->k / 2 / (4 * per) * 2,
                   b_count = f->k / (4 * per), c_count = facts[f->c].bits == 16 ? 2 : 4;
    const char *stem = f->c == F32 ? "%f" : "%w";
    const char *type = f->c == F32 ? "f32" : "b32";
    strcpy(text, ".version 8.5\n.target sm_80\n.address_size 64\n"
                 ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                 ".reg .b32 %t, %w<16>, %d<4>; .reg .f32 %f<16>, %g<4>;"
                 ".reg .b64 %i, %o, %u;\n"
                 "ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;\n"
                 "mul.wide.u32 %u, %t, 64; add.s64 %i, %i, %u;\n"
                 "mul.wide.u32 %u, %t, 16; add.s64 %o, %o, %u;\n");
    for (unsigned i = 0; i < 13; i++)
        sprintf(text + strlen(text), "ld.global.b32 %%w%u, [%%i+%u];\n", i, 4 * i);
    for (unsigned i = 8; i < 12; i++)
        sprintf(text + strlen(text), "mov.b32 %%f%u, %%w%u;\n", i, i);
    sprintf(text + strlen(text), "mma.sp%s.sync.aligned.m16n8k%u.row.col%s.%s.%s.%s.%s ",
            ordered ? "::ordered_metadata" : "", f->k, f->more, facts[f->c].name,
            facts[f->a].name, facts[f->b].name, facts[f->c].name);
    list(text, f->c == F32 ? "%g" : "%d", 0, c_count);
    list(text, "%w", 0, a_count);
    list(text, "%w", 4, b_count);
    list(text, stem, 8, c_count);
    sprintf(text + strlen(text), "%%w12,%u;\n", selector);
    for (unsigned i = 0; i < c_count; i++)
        sprintf(text + strlen(text), "st.global.%s [%%o+%u], %s%u;\n", type, 4 * i,
                f->c == F32 ? "%g" : "%d", i);
    strcat(text, "ret;\n}\n");
}

static bool run(const char *text, const struct sample *s, unsigned out[LANES][4])
{
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr from = 0, to = 0;
    const CUresult loaded = cu.cuModuleLoadData(&module, text);
    if (loaded != CUDA_SUCCESS) {
        CHECK_IS(loaded, CUDA_SUCCESS);
        return false;
    }
    OK(cu.cuModuleGetFunction(&kernel, module, "k"));
    OK(cu.cuMemAlloc(&from, sizeof(s->words)));
    OK(cu.cuMemAlloc(&to, LANES * 16));
    OK(cu.cuMemcpyHtoD(from, s->words, sizeof(s->words)));
    OK(cu.cuMemsetD8(to, 0, LANES * 16)); /* of f16 the kernel writes half */
    void *params[] = {&from, &to};
    OK(cu.cuLaunchKernel(kernel, 1, 1, 1, LANES, 1, 1, 0, NULL, params, NULL));
    memset(out, 0, LANES * 16);
    OK(cu.cuMemcpyDtoH(out, to, LANES * 16));
    OK(cu.cuMemFree(from));
    OK(cu.cuMemFree(to));
    OK(cu.cuModuleUnload(module));
    return true;
}

static void check_product(const struct form *f, const struct sample *s,
                          unsigned out[LANES][4], unsigned selector)
{
    unsigned wrong = 0;
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned i = 0; i < 4; i++) {
            const unsigned row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
            int sum = s->c[row][column];
            for (unsigned k = 0; k < f->k; k++)
                sum += s->a[row][k] * s->b[k][column];
            const unsigned got =
                f->c == F16 ? out[lane][i / 2] >> (16 * (i % 2)) & 0xffff : out[lane][i];
            wrong += got != bits_of(f->c, sum);
        }
    if (!CHECK(wrong == 0))
        fprintf(stderr, "  m16n8k%u %s %s %s, selector %u: %u of 128 are wrong\n", f->k,
                facts[f->a].name, facts[f->b].name, facts[f->c].name, selector, wrong);
}

static void metadata_says_which_half_is_there(void)
{
    static struct sample s;
    char text[4096];
    unsigned out[LANES][4];
    for (unsigned i = 0; i < COUNT; i++)
        for (unsigned selector = 0; selector < 4 / lanes_of_four(&forms[i]); selector++) {
            state = 7 * i + selector;
            draw_sample(&forms[i], &s);
            fill_words(&forms[i], &s, selector, false);
            write_text(&forms[i], selector, selector % 2 == 0, text);
            if (run(text, &s, out))
                check_product(&forms[i], &s, out, selector);
        }
}

/* Numbers of B that metadata leaves out are never seen, infinities neither. */
static void what_is_left_out_is_not_seen(void)
{
    static struct sample s;
    char text[4096];
    unsigned out[LANES][4];
    const struct form *f = &forms[1];
    state = 5;
    draw_sample(f, &s);
    memset(s.a, 0, sizeof(s.a));
    for (unsigned row = 0; row < M; row++)
        for (unsigned i = 0; i < f->k / 2; i++) {
            s.index[row][i] = i / 2 * 4 + i % 2; /* the first two of each four */
            s.a[row][s.index[row][i]] = (int)(row + i) % 5 - 2;
        }
    fill_words(f, &s, 1, false);
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned r = 0; r < 4; r++)
            if (lane % 2 == 1) /* rows 2, 3, 6, 7 ... of B */
                s.words[lane][4 + r] = 0x7c007c00;
    write_text(f, 1, true, text);
    if (run(text, &s, out))
        check_product(f, &s, out, 1);
}

static void wrong_forms_cannot_be_launched(void)
{
    static const char *const wrong[] = {
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%f0,%f1,%f2,%f3},{%w0,%w1},"
        "{%w4,%w5},{%f8,%f9,%f10,%f11},%w12,4;\n",
        "mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 "
        "{%w0,%w1,%w2,%w3},{%w0,%w1,%w2,"
        "%w3},{%w4,%w5,%w6,%w7},{%w8,%w9,%w10,%w11},%w12,1;\n",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%f0,%f1,%f2,%f3},{%w0,%w1},"
        "{%w4,%w5},{%f8,%f9,%f10,%f11};\n",
    };
    for (unsigned i = 0; i < 3; i++) {
        char text[2048];
        CUmodule module = NULL;
        CUfunction kernel;
        strcpy(text, ".version 8.5\n.target sm_80\n.address_size 64\n"
                     ".visible .entry k()\n{\n.reg .b32 %w<16>; .reg .f32 %f<16>;\n");
        strcat(strcat(text, wrong[i]), "ret;\n}\n");
        CUresult status = cu.cuModuleLoadData(&module, text);
        if (status == CUDA_SUCCESS) {
            OK(cu.cuModuleGetFunction(&kernel, module, "k"));
            status = cu.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
            OK(cu.cuModuleUnload(module));
        }
        CHECK(status != CUDA_SUCCESS);
    }
}

/* Sixteen samples with full mantissas. */
static bool hash_form(unsigned i, uint64_t *hash)
{
    static struct sample s;
    char text[4096];
    unsigned out[LANES][4];
    *hash = 14695981039346656037u;
    for (unsigned trial = 0; trial < 16; trial++) {
        state = 1000 + 100 * i + trial;
        draw_sample(&forms[i], &s);
        fill_words(&forms[i], &s, 0, true);
        write_text(&forms[i], 0, true, text);
        if (!run(text, &s, out))
            return false;
        for (unsigned w = 0; w < LANES * 4; w++)
            *hash = (*hash ^ out[w / 4][w % 4]) * 1099511628211u;
    }
    return true;
}

static void sums_are_cut_as_on_a_gpu(void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        uint64_t hash;
        if (hash_form(i, &hash) && !CHECK(hash == forms[i].hash))
            fprintf(stderr, "  m16n8k%u %s %s %s\n", forms[i].k, facts[forms[i].a].name,
                    facts[forms[i].b].name, facts[forms[i].c].name);
    }
}

static void print_all(void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        uint64_t hash;
        if (!hash_form(i, &hash))
            return;
        printf("mma.sp m16n8k%u %s.%s.%s%s %016" PRIx64 "\n", forms[i].k,
               facts[forms[i].c].name, facts[forms[i].a].name, facts[forms[i].b].name,
               forms[i].more, hash);
    }
}

int main(int count, char **arguments)
{
    DEVICE_OR_SKIP();
    use_primary();
    if (count > 1 && strcmp(arguments[1], "--print") == 0) {
        print_all();
        return test_failures != 0;
    }
    RUN(metadata_says_which_half_is_there);
    RUN(what_is_left_out_is_not_seen);
    RUN(sums_are_cut_as_on_a_gpu);
    RUN(wrong_forms_cannot_be_launched);
    return test_done();
}
