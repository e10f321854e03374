// SPDX-License-Identifier: Apache-2.0
/* How to run every kernel of the corpus: grid, block, arguments, what to compare. Data
 * only; tests/conformance/corpus_test.c runs it on any driver. */
#ifndef KERNELS_CORPUS_H
#define KERNELS_CORPUS_H
#include <stdint.h>

enum corpus_what { CORPUS_END, CORPUS_BUFFER, CORPUS_VALUE, CORPUS_STRUCT };
enum corpus_type { B8, B16, B32, B64, F16, BF16, F32, F64 };

/* What element i of a buffer starts with; h is a hash of i and of the argument's place.
 */
enum corpus_fill {
    ZERO,
    BITS,   /* h */
    MOD,    /* h % p */
    SMALL,  /* h % 201 - 100 */
    SKIP,   /* h % p - 3: some are negative */
    STEP,   /* i * p */
    TREE,   /* i / 2, but 7, 14, 21 ... are roots: i */
    SORTED, /* 3 * i + h % 3 */
    CONST,  /* p */
    UNIT,   /* [0, 1) */
    SIGNED, /* [-1, 1) */
    WHOLE   /* -8 ... 8 as a float: sums are exact in any order */
};

enum corpus_compare {
    NOT,      /* an input */
    EXACT,    /* byte by byte */
    NEAR,     /* |a - b| <= p * max(1, |b|) */
    ANY_ORDER /* elements as a multiset: their places depend on timing */
};

struct corpus_arg {
    uint8_t what, type, fill, compare;
    uint32_t count;    /* elements, or bytes of a struct */
    double p;          /* of the fill, or the value */
    double tolerance;  /* NEAR */
    const void *bytes; /* CORPUS_STRUCT */
};

#define CORPUS_ARGS 12
struct corpus_kernel {
    const char *file, *name;
    uint32_t grid[3], block[3], shared;
    uint32_t cooperative;
    struct corpus_arg args[CORPUS_ARGS];
};

struct corpus_spring {
    float stiffness, damping, dt;
    int steps;
};
struct corpus_config {
    int rows, columns;
    float scale[4];
    double bias;
    unsigned char flags[8];
};
static const struct corpus_spring corpus_spring = {2.0f, 0.1f, 0.01f, 50};
static const struct corpus_config corpus_config = {
    8, 12, {1.5f, -2.0f, 0.25f, 3.0f}, 0.5, {1, 2, 3, 4, 5, 6, 7, 8}};

/* clang-format off */
#define IN(type, n, fill, p) {CORPUS_BUFFER, type, fill, NOT, n, p, 0, 0}
#define OUT(type, n) {CORPUS_BUFFER, type, ZERO, EXACT, n, 0, 0, 0}
#define IO(type, n, fill, p) {CORPUS_BUFFER, type, fill, EXACT, n, p, 0, 0}
#define OUT_NEAR(type, n, tolerance) {CORPUS_BUFFER, type, ZERO, NEAR, n, 0, tolerance, 0}
#define IO_NEAR(type, n, fill, tolerance) {CORPUS_BUFFER, type, fill, NEAR, n, 0, tolerance, 0}
#define OUT_SET(type, n) {CORPUS_BUFFER, type, ZERO, ANY_ORDER, n, 0, 0, 0}
#define INT(x) {CORPUS_VALUE, B32, CONST, NOT, 1, x, 0, 0}
#define LONG(x) {CORPUS_VALUE, B64, CONST, NOT, 1, x, 0, 0}
#define FLOAT(x) {CORPUS_VALUE, F32, CONST, NOT, 1, x, 0, 0}
#define DOUBLE(x) {CORPUS_VALUE, F64, CONST, NOT, 1, x, 0, 0}
#define STRUCT(x) {CORPUS_STRUCT, B8, CONST, NOT, sizeof(x), 0, 0, &x}
#define K(file, name, gx, gy, gz, bx, by, bz, shared, ...) \
    {file, name, {gx, gy, gz}, {bx, by, bz}, shared, 0, {__VA_ARGS__}},
#define K1(file, name, g, b, ...) K(file, name, g, 1, 1, b, 1, 1, 0, __VA_ARGS__)
#define K2(file, name, gx, gy, bx, by, ...) K(file, name, gx, gy, 1, bx, by, 1, 0, __VA_ARGS__)

static const struct corpus_kernel corpus_kernels[] = {
#define E(name, g, b, ...) K1("elementwise", name, g, b, __VA_ARGS__)
    E("vec_add", 4, 256, IN(F32, 1000, SIGNED, 0), IN(F32, 1000, SIGNED, 0), OUT(F32, 1000), INT(1000))
    E("saxpy_stride", 2, 128, FLOAT(2.5), IN(F32, 1000, SIGNED, 0), IO(F32, 1000, SIGNED, 0), INT(1000))
    E("axpby_float4", 3, 128, IN(F32, 1200, SIGNED, 0), IN(F32, 1200, SIGNED, 0), OUT(F32, 1200), FLOAT(1.5), FLOAT(-0.25), INT(300))
    E("relu_inplace", 4, 128, IO(F32, 500, SIGNED, 0), INT(500))
    E("gelu_tanh", 4, 128, IN(F32, 500, SIGNED, 0), OUT_NEAR(F32, 500, 1e-5), INT(500))
    E("clamp_int", 4, 128, IN(B32, 500, SMALL, 0), OUT(B32, 500), INT(-20), INT(30), INT(500))
    E("polyval_double", 3, 128, IN(F64, 300, SIGNED, 0), OUT(F64, 300), INT(300))
    E("gray_uchar4", 3, 128, IN(B8, 1200, BITS, 0), OUT(B8, 300), INT(300))
    E("rgb_to_yuv", 3, 128, IN(B8, 900, BITS, 0), OUT(B8, 900), INT(300))
    E("deinterleave", 3, 128, IN(B16, 600, BITS, 0), OUT(B16, 300), OUT(B16, 300), INT(300))
    E("select_where", 3, 128, IN(B8, 300, BITS, 0), IN(B32, 300, SMALL, 0), IN(B32, 300, SMALL, 0), OUT(B32, 300), INT(300))
    E("silu_mul", 3, 128, IN(F32, 300, SIGNED, 0), IN(F32, 300, SIGNED, 0), OUT_NEAR(F32, 300, 1e-5), INT(300))
    E("int_divmod", 3, 128, IN(B32, 300, BITS, 0), IN(B32, 300, SMALL, 0), OUT(B32, 300), OUT(B32, 300), INT(300))
    E("wide_multiply", 2, 128, IN(B64, 200, BITS, 0), IN(B64, 200, BITS, 0), OUT(B64, 200), OUT(B64, 200), INT(200))
    E("casts", 3, 128, IN(F32, 300, SIGNED, 0), OUT(B32, 300), OUT(B8, 300), OUT(B16, 300), OUT(F64, 300), INT(300))
    E("half_axpy", 3, 128, IN(F16, 300, SIGNED, 0), IO(F16, 300, SIGNED, 0), FLOAT(1.25), INT(300))
    E("half2_fma", 3, 128, IN(F16, 600, SIGNED, 0), IN(F16, 600, SIGNED, 0), IO(F16, 600, SIGNED, 0), INT(300))
    E("bf16_scale", 3, 128, IN(BF16, 300, SIGNED, 0), OUT(BF16, 300), FLOAT(1.7), INT(300))
    E("normalize3_double", 1, 128, IN(F64, 300, SIGNED, 0), OUT(F64, 300), INT(100))
    E("dequant_int4", 1, 128, IN(B32, 100, BITS, 0), IN(F32, 25, UNIT, 0), OUT(F32, 800), INT(100))
    E("lerp_table", 3, 128, IN(F32, 300, UNIT, 0), IN(F32, 33, SIGNED, 0), OUT(F32, 300), INT(300), INT(33))
    E("fast_math", 3, 128, IN(F32, 300, UNIT, 0), OUT_NEAR(F32, 300, 1e-5), INT(300))
#undef E
#define E(name, g, b, ...) K1("bits", name, g, b, __VA_ARGS__)
    E("popcounts", 3, 128, IN(B32, 300, BITS, 0), IN(B64, 300, BITS, 0), OUT(B32, 300), INT(300))
    E("clz_ffs_brev", 2, 128, IN(B32, 200, BITS, 0), OUT(B32, 600), INT(200))
    E("byte_permute", 3, 128, IN(B32, 300, BITS, 0), IN(B32, 300, BITS, 0), IN(B32, 300, BITS, 0), OUT(B32, 300), INT(300))
    E("funnel_rotate", 3, 128, IN(B32, 300, BITS, 0), IN(B32, 300, MOD, 64), OUT(B32, 300), INT(300))
    E("gray_code", 3, 128, OUT(B32, 300), INT(300))
    E("morton3", 2, 128, IN(B32, 600, BITS, 0), OUT(B32, 200), INT(200))
    E("crc32_rows", 1, 64, IN(B8, 2560, BITS, 0), INT(64), OUT(B32, 40), INT(40))
    E("xorshift_fill", 1, 64, INT(77), OUT(B32, 640), INT(10))
    E("philox_round", 1, 128, INT(1234), INT(5678), OUT(B32, 400), INT(100))
    E("sad_blocks", 1, 128, IN(B8, 1600, BITS, 0), IN(B8, 1600, BITS, 0), OUT(B32, 100), INT(100), INT(16))
    E("dp4a_dot", 1, 128, IN(B32, 800, BITS, 0), IN(B32, 8, BITS, 0), OUT(B32, 100), INT(100), INT(8))
    E("to_hex", 3, 128, IN(B8, 300, BITS, 0), OUT(B8, 600), INT(300))
    E("sha256_blocks", 1, 64, IN(B32, 640, BITS, 0), OUT(B32, 320), INT(40))
    E("mod_pow", 1, 128, IN(B64, 100, MOD, 1000000000), IN(B64, 100, MOD, 65536), LONG(1000000007), OUT(B64, 100), INT(100))
    E("gcd_pairs", 2, 128, IN(B32, 200, MOD, 100000), IN(B32, 200, MOD, 100000), OUT(B32, 200), INT(200))
    E("bitonic_index", 3, 128, IN(B32, 300, BITS, 0), OUT(B32, 300), INT(300))
#undef E
#define E(name, g, b, ...) K1("reduce", name, g, b, __VA_ARGS__)
    E("reduce_interleaved", 4, 256, IN(B32, 1024, SMALL, 0), OUT(B32, 4))
    K("reduce", "reduce_sequential", 3, 1, 1, 128, 1, 1, 512, IN(F32, 700, SIGNED, 0), OUT(F32, 3), INT(700))
    E("reduce_unrolled", 4, 256, IN(B32, 1024, SMALL, 0), OUT(B32, 4))
    E("reduce_shuffle_block", 3, 128, IN(F32, 1000, SIGNED, 0), OUT(F32, 3), INT(1000))
    E("reduce_shuffle_xor", 2, 64, IN(B32, 128, SMALL, 0), OUT(B32, 128))
    E("sum_atomic", 4, 128, IN(B32, 500, SMALL, 0), OUT(B32, 1), INT(500))
    E("sum_block_atomic", 3, 128, IN(B32, 1000, SMALL, 0), OUT(B64, 1), INT(1000))
    E("argmax_block", 4, 128, IN(F32, 1200, SIGNED, 0), OUT(B32, 4), OUT(F32, 4), INT(300))
    E("minmax_atomic", 4, 128, IN(B32, 500, SMALL, 0), OUT(B32, 1), OUT(B32, 1), INT(500))
    E("dot_blocks", 3, 128, IN(F32, 1000, SIGNED, 0), IN(F32, 1000, SIGNED, 0), OUT(F32, 3), INT(1000))
    E("welford_rows", 4, 64, IN(F32, 800, SIGNED, 0), OUT(F32, 4), OUT(F32, 4), INT(200))
    E("norm_rows_warp", 2, 128, IN(F32, 560, SIGNED, 0), OUT(F32, 8), INT(8), INT(70))
    E("reduce_last_block", 4, 128, IN(B32, 1000, SMALL, 0), OUT(B32, 4), OUT(B32, 1), INT(1000))
    E("block_predicates", 3, 128, IN(B32, 384, SMALL, 0), OUT(B32, 9))
    E("column_sums", 1, 64, IN(F32, 3000, SIGNED, 0), OUT(F32, 60), INT(50), INT(60))
#undef E
#define E(name, g, b, ...) K1("scan", name, g, b, __VA_ARGS__)
    E("scan_hillis", 3, 256, IN(B32, 768, SMALL, 0), OUT(B32, 768))
    E("scan_blelloch", 2, 128, IN(B32, 512, SMALL, 0), OUT(B32, 512))
    E("scan_warp", 2, 64, IN(B32, 128, SMALL, 0), OUT(B32, 128))
    E("scan_block_shuffle", 3, 256, IN(B32, 768, SMALL, 0), OUT(B32, 768), OUT(B32, 3))
    E("scan_add_offsets", 3, 128, IO(B32, 384, SMALL, 0), IN(B32, 3, SMALL, 0))
    E("scan_lookback", 8, 128, IN(B32, 1024, SMALL, 0), OUT(B32, 1024), OUT(B64, 8), OUT(B32, 1))
    E("scan_segmented", 2, 128, IN(B32, 256, SMALL, 0), IN(B8, 256, BITS, 0), OUT(B32, 256))
    E("compact_atomic", 4, 128, IN(B32, 500, SMALL, 0), OUT_SET(B32, 500), OUT(B32, 1), INT(500))
    E("compact_ballot", 4, 128, IN(B32, 500, SMALL, 0), OUT_SET(B32, 500), OUT(B32, 1), INT(500))
    E("compact_block", 3, 128, IN(B32, 384, SMALL, 0), OUT(B32, 384), OUT(B32, 3))
    E("scan_serial_chunks", 1, 32, IN(B32, 320, SMALL, 0), OUT(B32, 320), INT(10))
#undef E
#define E(name, g, b, ...) K1("sort", name, g, b, __VA_ARGS__)
    E("bitonic_block", 2, 256, IO(B32, 512, BITS, 0))
    E("bitonic_global_step", 2, 128, IO(B32, 256, BITS, 0), INT(8), INT(4))
    E("odd_even_sort", 2, 128, IO(B16, 256, BITS, 0))
    E("radix_sort_block", 2, 128, IO(B32, 256, BITS, 0))
    E("radix_split_warp", 2, 64, IN(B32, 128, BITS, 0), OUT(B32, 128), INT(3))
    E("merge_by_rank", 2, 128, IN(B32, 100, SORTED, 0), IN(B32, 100, SORTED, 0), OUT(B32, 200), INT(100))
    E("rank_sort", 2, 64, IN(B32, 100, SMALL, 0), OUT(B32, 100), INT(100))
    E("insertion_sort_local", 1, 32, IN(B32, 384, SMALL, 0), OUT(B32, 384))
    E("bitonic_warp", 2, 64, IN(B32, 128, SMALL, 0), OUT(B32, 128))
    E("counting_sort_block", 2, 128, IN(B8, 256, BITS, 0), OUT(B8, 256))
    E("histogram_global", 2, 128, IN(B8, 2000, BITS, 0), OUT(B32, 256), INT(2000))
    E("histogram_shared", 2, 128, IN(B8, 2000, BITS, 0), OUT(B32, 256), INT(2000))
    E("histogram_matched", 4, 128, IN(B8, 500, BITS, 0), OUT(B32, 16), INT(500))
    E("histogram_private", 1, 32, IN(B8, 640, BITS, 0), OUT(B32, 256), INT(20))
    E("weighted_histogram", 2, 128, IN(B32, 250, BITS, 0), IN(F32, 250, WHOLE, 0), OUT(F32, 32), INT(250))
#undef E
#define E(name, g, b, ...) K1("matrix", name, g, b, __VA_ARGS__)
#define F(name, gx, gy, bx, by, ...) K2("matrix", name, gx, gy, bx, by, __VA_ARGS__)
    F("matmul_naive", 3, 3, 8, 8, IN(F32, 400, SIGNED, 0), IN(F32, 400, SIGNED, 0), OUT(F32, 400), INT(20))
    F("matmul_tiled", 2, 2, 16, 16, IN(F32, 1024, SIGNED, 0), IN(F32, 1024, SIGNED, 0), OUT(F32, 1024), INT(32))
    F("matmul_register", 1, 1, 8, 8, IN(F32, 1024, SIGNED, 0), IN(F32, 1024, SIGNED, 0), OUT(F32, 1024), INT(32))
    F("matmul_half", 1, 32, 32, 1, IN(F16, 1024, SIGNED, 0), IN(F16, 1024, SIGNED, 0), OUT(F32, 1024), INT(32))
    F("syrk_double", 2, 2, 8, 8, IN(F64, 320, SIGNED, 0), OUT(F64, 256), INT(16), INT(20))
    F("transpose_naive", 3, 2, 16, 16, IN(F32, 1200, SIGNED, 0), OUT(F32, 1200), INT(40), INT(30))
    F("transpose_tiled", 2, 1, 32, 8, IN(F32, 1200, SIGNED, 0), OUT(F32, 1200), INT(40), INT(30))
    E("gemv_row", 1, 64, IN(F32, 2000, SIGNED, 0), IN(F32, 40, SIGNED, 0), OUT(F32, 50), INT(50), INT(40))
    E("gemv_warp", 4, 128, IN(F32, 1120, SIGNED, 0), IN(F32, 70, SIGNED, 0), OUT(F32, 16), INT(70))
    E("gemv_block", 8, 64, IN(F32, 800, SIGNED, 0), IN(F32, 100, SIGNED, 0), OUT(F32, 8), INT(100))
    E("spmv_scalar", 1, 64, IN(B32, 140, MOD, 50), IN(F32, 140, SIGNED, 0), IN(F32, 50, SIGNED, 0), OUT(F32, 40), INT(40))
    E("spmv_csr_warp", 4, 128, IN(B32, 17, STEP, 7), IN(B32, 112, MOD, 50), IN(F32, 112, SIGNED, 0), IN(F32, 50, SIGNED, 0), OUT(F32, 16), INT(16))
    E("spmv_csr", 1, 32, IN(B32, 21, STEP, 5), IN(B32, 100, MOD, 50), IN(F32, 100, SIGNED, 0), IN(F32, 50, SIGNED, 0), OUT(F32, 20), INT(20))
    E("spmv_ell", 1, 32, IN(B32, 180, SKIP, 53), IN(F32, 180, SIGNED, 0), IN(F32, 50, SIGNED, 0), OUT(F32, 30), INT(30), INT(6))
    E("spmv_coo_atomic", 2, 128, IN(B32, 150, MOD, 20), IN(B32, 150, MOD, 50), IN(F32, 150, WHOLE, 0), IN(F32, 50, WHOLE, 0), OUT(F32, 20), INT(150))
    E("cholesky_block", 2, 16, IN(F32, 512, UNIT, 0), OUT_NEAR(F32, 512, 1e-4))
    E("inverse4", 1, 32, IN(F32, 512, SIGNED, 0), OUT_NEAR(F32, 512, 1e-5), INT(32))
    E("power_iteration_step", 1, 64, IN(F32, 4096, SIGNED, 0), IN(F32, 64, SIGNED, 0), OUT(F32, 64), INT(64))
#undef E
#undef F
#define E(name, g, b, ...) K1("stencil", name, g, b, __VA_ARGS__)
#define F(name, gx, gy, bx, by, ...) K2("stencil", name, gx, gy, bx, by, __VA_ARGS__)
    E("stencil1d_shared", 4, 128, IN(B32, 500, SMALL, 0), OUT(B32, 500), INT(500))
    F("jacobi2d", 3, 2, 16, 8, IN(F32, 640, SIGNED, 0), OUT(F32, 640), INT(40), INT(16))
    F("heat2d_shared", 2, 2, 32, 8, IN(F32, 1024, SIGNED, 0), OUT(F32, 1024), FLOAT(0.1), INT(64), INT(16))
    K("stencil", "stencil3d7", 2, 2, 2, 8, 4, 4, 0, IN(F32, 1024, SIGNED, 0), OUT(F32, 1024), INT(16), INT(8), INT(8))
    F("stencil3d_column", 2, 2, 8, 4, IN(F32, 768, SIGNED, 0), OUT(F32, 768), INT(16), INT(8), INT(6))
    E("conv1d_const", 2, 128, IN(F32, 250, SIGNED, 0), OUT(F32, 250), INT(250))
    K("stencil", "conv_rows_shared", 2, 3, 1, 128, 1, 1, 0, IN(F32, 600, SIGNED, 0), OUT(F32, 600), INT(200))
    F("conv2d", 3, 3, 8, 8, IN(F32, 400, SIGNED, 0), IN(F32, 9, SIGNED, 0), OUT(F32, 400), INT(20), INT(20), INT(3))
    F("sobel", 3, 3, 8, 8, IN(B8, 480, BITS, 0), OUT(B8, 480), INT(24), INT(20))
    F("median3x3", 3, 3, 8, 8, IN(B8, 480, BITS, 0), OUT(B8, 480), INT(24), INT(20))
    F("bilateral", 3, 3, 8, 8, IN(F32, 480, UNIT, 0), OUT_NEAR(F32, 480, 1e-5), INT(24), INT(20), FLOAT(2.0))
    F("game_of_life", 3, 3, 8, 8, IN(B8, 480, BITS, 0), OUT(B8, 480), INT(24), INT(20))
    F("life_generations", 2, 1, 16, 16, IN(B8, 512, BITS, 0), OUT(B8, 512), INT(6))
    E("fir_filter", 2, 128, IN(F32, 270, SIGNED, 0), IN(F32, 15, SIGNED, 0), OUT(F32, 256), INT(256), INT(15))
    E("iir_rows", 1, 32, IN(F32, 640, SIGNED, 0), OUT(F32, 640), INT(20), FLOAT(0.25), FLOAT(0.75))
    F("dilate_shared", 2, 2, 16, 16, IN(B8, 1024, BITS, 0), OUT(B8, 1024), INT(32), INT(32))
    F("resize_bilinear", 3, 3, 8, 8, IN(F32, 192, SIGNED, 0), OUT(F32, 480), INT(16), INT(12), INT(24), INT(20))
    E("integral_rows", 3, 128, IN(B8, 768, BITS, 0), OUT(B32, 768), INT(256))
#undef E
#undef F
#define E(name, g, b, ...) K1("simulate", name, g, b, __VA_ARGS__)
#define F(name, gx, gy, bx, by, ...) K2("simulate", name, gx, gy, bx, by, __VA_ARGS__)
    E("nbody_naive", 2, 64, IN(F32, 400, UNIT, 0), OUT(F32, 400), INT(100))
    E("nbody_tiled", 2, 64, IN(F32, 512, UNIT, 0), OUT_NEAR(F32, 512, 1e-4), INT(128))
    F("mandelbrot", 4, 4, 8, 8, OUT(B32, 1024), INT(32), INT(32), INT(60))
    E("julia_double", 4, 64, OUT(B32, 256), INT(16), DOUBLE(-0.4), DOUBLE(0.6))
    E("black_scholes", 1, 128, IN(F32, 100, UNIT, 0), IN(F32, 100, UNIT, 0), IN(F32, 100, UNIT, 0), OUT_NEAR(F32, 100, 1e-4), OUT_NEAR(F32, 100, 1e-4), FLOAT(0.02), FLOAT(0.3), INT(100))
    E("monte_carlo_pi", 2, 64, INT(7), INT(50), OUT(B32, 1))
    E("random_walk", 2, 64, INT(99), INT(40), OUT(B32, 256))
    E("binomial_option", 3, 64, IN(F32, 3, UNIT, 0), OUT(F32, 3), FLOAT(1.02), FLOAT(0.98), FLOAT(0.51), FLOAT(0.9995))
    E("lorenz_rk4", 1, 32, OUT_NEAR(F64, 96, 1e-9), INT(50), DOUBLE(0.01))
    E("collatz_lengths", 4, 64, OUT(B32, 250), INT(250))
    E("sieve_block", 1, 64, OUT(B32, 1024))
    E("oscillators", 1, 128, STRUCT(corpus_spring), IO(F32, 200, SIGNED, 0), INT(100))
    E("fft64_shared", 3, 32, IN(F32, 384, SIGNED, 0), OUT_NEAR(F32, 384, 1e-5))
    E("dft_naive", 1, 64, IN(F32, 64, SIGNED, 0), OUT_NEAR(F32, 128, 1e-4), INT(64))
    E("walsh_hadamard", 2, 128, IN(B32, 512, SMALL, 0), OUT(B32, 512))
    E("haar_step", 1, 128, IN(F32, 256, SIGNED, 0), OUT(F32, 128), OUT(F32, 128), INT(128))
    E("lcs_wavefront", 3, 64, IN(B8, 192, BITS, 0), IN(B8, 192, BITS, 0), OUT(B32, 3))
    E("edit_distance", 1, 32, IN(B8, 320, BITS, 0), IN(B8, 320, BITS, 0), OUT(B32, 20), INT(20))
    E("knapsack_block", 2, 128, IN(B32, 30, MOD, 1000), IN(B32, 30, MOD, 1000), OUT(B32, 256), INT(15))
    F("floyd_warshall_block", 2, 1, 16, 16, IN(B32, 512, MOD, 1000), OUT(B32, 512))
#undef E
#undef F
#define E(name, g, b, ...) K1("learn", name, g, b, __VA_ARGS__)
    E("softmax_block", 3, 128, IN(F32, 600, SIGNED, 0), OUT_NEAR(F32, 600, 1e-5), INT(200))
    E("softmax_warp", 2, 64, IN(F32, 400, SIGNED, 0), OUT_NEAR(F32, 400, 1e-5), INT(100))
    E("layernorm", 3, 128, IN(F32, 300, SIGNED, 0), IN(F32, 100, UNIT, 0), IN(F32, 100, SIGNED, 0), OUT_NEAR(F32, 300, 1e-5), INT(100))
    E("rmsnorm_half", 4, 32, IN(F16, 256, SIGNED, 0), IN(F16, 64, SIGNED, 0), OUT_NEAR(F16, 256, 2e-3), INT(64))
    E("attention_row", 2, 64, IN(F32, 128, SIGNED, 0), IN(F32, 5120, SIGNED, 0), IN(F32, 5120, SIGNED, 0), OUT_NEAR(F32, 128, 1e-5), INT(40))
    K("learn", "rope", 4, 3, 1, 16, 1, 1, 0, IO_NEAR(F32, 384, SIGNED, 1e-4), IN(B32, 3, MOD, 100), INT(4), INT(16))
    E("cross_entropy", 1, 32, IN(F32, 640, SIGNED, 0), IN(B32, 32, MOD, 20), OUT_NEAR(F32, 32, 1e-5), INT(20))
    K("learn", "embedding_gather", 10, 1, 1, 64, 1, 1, 0, IN(B32, 10, MOD, 20), IN(BF16, 1000, SIGNED, 0), OUT(F32, 500), INT(50))
    E("embedding_grad", 10, 32, IN(B32, 10, MOD, 8), IN(F32, 320, WHOLE, 0), OUT(F32, 256), INT(32))
    E("adam_step", 2, 128, IO(F32, 200, SIGNED, 0), IN(F32, 200, SIGNED, 0), IO(F32, 200, SIGNED, 0), IO(F32, 200, UNIT, 0), FLOAT(0.01), FLOAT(1.1), FLOAT(1.2), INT(200))
    E("top4_rows", 1, 32, IN(F32, 960, SIGNED, 0), OUT(B32, 128), INT(30))
    K("learn", "maxpool2x2", 1, 1, 3, 16, 16, 1, 0, IN(F32, 1440, SIGNED, 0), OUT(F32, 360), INT(24), INT(20))
    K("learn", "batchnorm", 1, 4, 1, 128, 1, 1, 0, IN(F32, 400, SIGNED, 0), IN(F32, 4, SIGNED, 0), IN(F32, 4, UNIT, 0), IN(F32, 4, SIGNED, 0), IN(F32, 4, SIGNED, 0), OUT(F32, 400), INT(4), INT(100))
    E("dropout", 3, 128, IN(F32, 300, SIGNED, 0), OUT(F32, 300), INT(12345), FLOAT(0.7), INT(300))
    E("bias_gelu_half2", 2, 128, IN(F16, 400, SIGNED, 0), IN(F16, 40, SIGNED, 0), OUT_NEAR(F16, 400, 2e-3), INT(20), INT(200))
    E("kmeans_assign", 2, 128, IN(F32, 400, SIGNED, 0), IN(F32, 16, SIGNED, 0), OUT(B32, 200), INT(200), INT(8))
    E("kmeans_accumulate", 2, 128, IN(B32, 500, SMALL, 0), IN(B32, 250, BITS, 0), OUT(B32, 16), OUT(B32, 8), INT(250))
    E("quantize_rows", 3, 64, IN(F32, 300, SIGNED, 0), OUT(B8, 300), OUT(F32, 3), INT(100))
#undef E
#define E(name, g, b, ...) K1("graph", name, g, b, __VA_ARGS__)
    E("bfs_level", 2, 128, IN(B32, 800, MOD, 200), INT(4), IO(B32, 200, MOD, 6), INT(2), OUT(B32, 1), INT(200))
    E("bfs_queue", 1, 32, IN(B32, 800, MOD, 200), INT(4), IN(B32, 30, MOD, 200), INT(30), IO(B32, 200, MOD, 2), OUT_SET(B32, 200), OUT(B32, 1))
    E("union_find", 1, 128, IN(B32, 100, MOD, 150), IN(B32, 100, MOD, 150), IN(B32, 150, STEP, 1), OUT(B32, 150), INT(100), INT(150))
    E("union_find_flatten", 2, 128, IO(B32, 200, TREE, 0), INT(200))
    E("pagerank_pull", 2, 128, IN(B32, 800, MOD, 200), INT(4), IN(F32, 200, UNIT, 0), OUT(F32, 200), INT(200))
    E("sssp_relax", 2, 128, IN(B32, 800, MOD, 200), IN(B32, 800, BITS, 0), INT(4), IN(B32, 200, MOD, 100), IO(B32, 200, CONST, 1000), INT(200))
    E("hash_insert", 2, 128, IN(B32, 200, BITS, 0), OUT_SET(B32, 512), OUT(B32, 1), INT(200), INT(512))
    E("hash_lookup", 2, 128, IN(B32, 200, MOD, 100), IN(B32, 64, MOD, 100), OUT(B32, 200), INT(200), INT(64))
    E("count_triangles", 1, 32, IN(B32, 32, BITS, 0), OUT(B64, 1), INT(32))
    E("pointer_jumping", 2, 128, IN(B32, 200, MOD, 200), OUT(B32, 200), INT(200), INT(10))
    E("locked_update", 2, 128, IN(B32, 200, BITS, 0), IN(B32, 200, SMALL, 0), OUT(B32, 16), OUT(B32, 16), INT(200))
    E("bit_flags", 2, 128, IN(B32, 200, SMALL, 0), OUT(B32, 1), IO(B32, 1, CONST, -1), OUT(B32, 1), INT(200))
    E("sum_double_cas", 2, 128, IN(B32, 200, SMALL, 0), OUT(F64, 1), INT(200))
    E("max_float_cas", 2, 128, IN(F32, 200, SIGNED, 0), OUT(F32, 1), INT(200))
    E("filter_aggregated", 3, 128, IN(B32, 300, SMALL, 0), OUT_SET(B32, 300), OUT(B32, 1), INT(300))
    E("ticket_order", 3, 128, OUT(B32, 384), OUT(B32, 1), INT(384))
#undef E
#define E(name, g, b, ...) K1("control", name, g, b, __VA_ARGS__)
    E("tiny_machine", 2, 64, IN(B8, 50, BITS, 0), INT(50), OUT(B32, 128))
    E("switch_per_thread", 3, 128, IN(B32, 300, BITS, 0), IN(F32, 300, SIGNED, 0), OUT(F32, 300), INT(300))
    E("count_words", 1, 32, IN(B8, 1920, BITS, 0), OUT(B32, 32), INT(60))
    E("call_through_table", 3, 128, IN(B32, 300, BITS, 0), IN(F32, 300, SIGNED, 0), OUT(F32, 300), INT(300))
    E("call_noinline", 3, 128, IN(B32, 300, SMALL, 0), IN(B32, 300, SMALL, 0), OUT(B32, 300), INT(300))
    E("recursive_fibonacci", 1, 64, OUT(B32, 64))
    E("local_stack", 1, 32, IN(B32, 50, MOD, 50), IN(B32, 50, MOD, 50), OUT(B32, 32), INT(50))
    E("local_matrix", 1, 32, IN(F32, 800, SIGNED, 0), OUT(F32, 32), INT(3))
    E("print_few", 1, 32, INT(32), OUT(B32, 32))
    E("assert_holds", 2, 64, IN(B32, 128, SMALL, 0), OUT(B32, 128), INT(128))
    E("clock_advances", 1, 64, OUT(B32, 64))
    {"control", "grid_sync_rounds", {4, 1, 1}, {64, 1, 1}, 0, 1, {IO(B32, 256, MOD, 1000), INT(5)}},
    E("syncwarp_exchange", 2, 128, IN(B32, 256, SMALL, 0), OUT(B32, 256))
    K("control", "dynamic_shared_reverse", 2, 1, 1, 100, 1, 1, 200, IN(B16, 200, BITS, 0), OUT(B16, 200))
    E("early_return_then_barrier", 3, 128, IN(B32, 300, SMALL, 0), OUT(B32, 300), INT(300))
    E("relax_until_stable", 2, 128, IO(B32, 256, MOD, 1000), INT(200))
    E("barrier_under_uniform_if", 3, 64, IN(F32, 192, SIGNED, 0), OUT(F32, 192), INT(0))
    E("barrier_under_uniform_if", 3, 64, IN(F32, 192, SIGNED, 0), OUT(F32, 192), INT(1))
    E("warps_with_own_barrier", 2, 128, IN(B32, 256, SMALL, 0), OUT(B32, 256))
    E("producer_consumer_named", 2, 128, IN(B32, 128, SMALL, 0), OUT(B32, 128))
    E("vote_any_all", 3, 64, IN(B32, 192, SMALL, 0), OUT(B32, 192))
    E("ballot_ranks", 2, 64, IN(B32, 128, BITS, 0), OUT(B32, 128))
    E("pack_bits", 2, 128, IN(B32, 200, SMALL, 0), OUT(B32, 8), INT(200))
    E("newton_until_all", 2, 64, IN(F32, 128, SIGNED, 0), OUT(F32, 128))
    E("match_groups", 2, 64, IN(B32, 128, SMALL, 0), OUT(B32, 128))
    E("shuffle_under_condition", 2, 64, IN(B32, 128, SMALL, 0), OUT(B32, 128))
    E("rotate_in_segments", 2, 64, IN(B32, 128, SMALL, 0), OUT(B32, 128), INT(3))
    E("heap_list", 1, 32, OUT(B32, 32))
    E("struct_parameter", 1, 128, STRUCT(corpus_config), OUT(F32, 96))
    E("bounded_triple_loop", 1, 64, OUT(B32, 64), INT(8))
    E("binary_search_many", 2, 128, IN(B32, 100, SORTED, 0), INT(100), IN(B32, 200, MOD, 400), OUT(B32, 200), INT(200))
#undef E
#define E(name, g, b, ...) K1("warp", name, g, b, __VA_ARGS__)
    E("compact_block_ballot", 3, 128, IN(B32, 384, SMALL, 0), OUT_SET(B32, 384), OUT(B32, 1), INT(370))
    E("count_by_votes", 3, 128, IN(B32, 384, SMALL, 0), OUT(B32, 6), INT(-30), INT(40))
    E("radix_sort_ballot", 2, 128, IO(B32, 256, BITS, 0))
    E("prefix_max_block", 2, 128, IN(B32, 256, SMALL, 0), OUT(B32, 256))
    E("vote_histogram", 2, 128, IN(B8, 256, BITS, 0), OUT(B32, 8))
    E("argmax_packed", 2, 128, IN(B32, 256, BITS, 0), OUT(B64, 1))
    E("softmax_online", 3, 128, IN(F32, 450, SIGNED, 0), OUT_NEAR(F32, 450, 1e-5), INT(150))
    E("queue_push", 3, 128, IN(B32, 384, SMALL, 0), OUT_SET(B32, 385), OUT(B32, 1), INT(60))
    E("variance_block", 3, 128, IN(F32, 384, SIGNED, 0), OUT(F32, 3))
    E("transpose_in_registers", 2, 64, IN(B32, 512, SMALL, 0), OUT(B32, 512))
#undef E
};
/* clang-format on */

#define CORPUS_COUNT (sizeof(corpus_kernels) / sizeof(corpus_kernels[0]))

#undef IN
#undef OUT
#undef IO
#undef OUT_NEAR
#undef IO_NEAR
#undef OUT_SET
#undef INT
#undef LONG
#undef FLOAT
#undef DOUBLE
#undef STRUCT
#undef K
#undef K1
#undef K2
#endif
