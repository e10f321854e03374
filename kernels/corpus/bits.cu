// SPDX-License-Identifier: Apache-2.0
// Integer and bit tricks, random numbers, checksums.

#define KERNEL extern "C" __global__ void
typedef unsigned int u32;
typedef unsigned long long u64;

KERNEL popcounts(const u32 *x, const u64 *y, u32 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __popc(x[i]) * 100 + __popcll(y[i]);
}

KERNEL clz_ffs_brev(const u32 *x, u32 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        u32 v = i % 7 == 0 ? 0 : x[i];
        out[3 * i] = __clz(v);
        out[3 * i + 1] = __ffs(v);
        out[3 * i + 2] = __brev(v);
    }
}

KERNEL byte_permute(const u32 *x, const u32 *y, const u32 *select, u32 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __byte_perm(x[i], y[i], select[i]) ^ __byte_perm(x[i], 0, 0x0123);
}

KERNEL funnel_rotate(const u32 *x, const u32 *by, u32 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __funnelshift_l(x[i], x[i], by[i]) + __funnelshift_rc(x[i], ~x[i], by[i]);
}

KERNEL gray_code(u32 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        u32 g = i ^ (i >> 1), b = g;
        for (u32 shift = 1; shift < 32; shift <<= 1)
            b ^= b >> shift;
        out[i] = g << 16 | (b & 0xffff);
    }
}

__device__ u32 spread3(u32 x)
{
    x &= 0x3ff;
    x = (x | x << 16) & 0x30000ff;
    x = (x | x << 8) & 0x300f00f;
    x = (x | x << 4) & 0x30c30c3;
    return (x | x << 2) & 0x9249249;
}
KERNEL morton3(const u32 *xyz, u32 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = spread3(xyz[3 * i]) | spread3(xyz[3 * i + 1]) << 1 | spread3(xyz[3 * i + 2]) << 2;
}

__constant__ u32 crc_nibble[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
    0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
    0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
KERNEL crc32_rows(const unsigned char *data, int row_bytes, u32 *out, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    u32 crc = ~0u;
    for (int i = 0; i < row_bytes; i++) {
        crc ^= data[row * row_bytes + i];
        crc = crc >> 4 ^ crc_nibble[crc & 15];
        crc = crc >> 4 ^ crc_nibble[crc & 15];
    }
    out[row] = ~crc;
}

KERNEL xorshift_fill(u32 seed, u32 *out, int per_thread)
{
    u32 t = blockIdx.x * blockDim.x + threadIdx.x;
    u32 s = seed ^ (t * 2654435761u + 1);
    for (int i = 0; i < per_thread; i++) {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        out[t * per_thread + i] = s;
    }
}

KERNEL philox_round(u32 key0, u32 key1, u32 *out, int n)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    u32 c0 = i, c1 = 0, c2 = 7, c3 = 9;
#pragma unroll
    for (int round = 0; round < 10; round++) {
        u32 h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
        u32 h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
        c0 = h1 ^ c1 ^ key0;
        c1 = l1;
        c2 = h0 ^ c3 ^ key1;
        c3 = l0;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    out[4 * i] = c0;
    out[4 * i + 1] = c1;
    out[4 * i + 2] = c2;
    out[4 * i + 3] = c3;
}

KERNEL sad_blocks(const unsigned char *a, const unsigned char *b, u32 *out, int n, int block)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    u32 sum = 0;
    for (int k = 0; k < block; k++)
        sum = __usad(a[i * block + k], b[i * block + k], sum);
    out[i] = sum;
}

KERNEL dp4a_dot(const int *a, const int *b, int *out, int rows, int words)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows)
        return;
    int sum = 0;
    for (int k = 0; k < words; k++)
        sum = __dp4a(a[i * words + k], b[k], sum);
    out[i] = sum;
}

__constant__ unsigned char hex_digits[17] = "0123456789abcdef";
KERNEL to_hex(const unsigned char *in, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[2 * i] = hex_digits[in[i] >> 4];
        out[2 * i + 1] = hex_digits[in[i] & 15];
    }
}

__constant__ u32 sha_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2};
__device__ u32 rotate_right(u32 x, int by) { return x >> by | x << (32 - by); }
KERNEL sha256_blocks(const u32 *words, u32 *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n)
        return;
    u32 w[64], s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int i = 0; i < 16; i++)
        w[i] = words[16 * t + i];
    for (int i = 16; i < 64; i++) {
        u32 a = rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ w[i - 15] >> 3;
        u32 b = rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    u32 v[8];
    for (int i = 0; i < 8; i++)
        v[i] = s[i];
    for (int i = 0; i < 64; i++) {
        u32 e = rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^ rotate_right(v[4], 25);
        u32 t1 = v[7] + e + ((v[4] & v[5]) ^ (~v[4] & v[6])) + sha_k[i] + w[i];
        u32 a = rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22);
        u32 t2 = a + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        for (int k = 7; k > 0; k--)
            v[k] = v[k - 1];
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        out[8 * t + i] = s[i] + v[i];
}

KERNEL mod_pow(const u64 *base, const u64 *exponent, u64 modulus, u64 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    u64 b = base[i] % modulus, e = exponent[i] & 0xffff, r = 1;
    while (e != 0) {
        if (e & 1)
            r = r * b % modulus;
        b = b * b % modulus;
        e >>= 1;
    }
    out[i] = r;
}

KERNEL gcd_pairs(const u32 *a, const u32 *b, u32 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    u32 x = a[i], y = b[i];
    while (y != 0) {
        u32 t = x % y;
        x = y;
        y = t;
    }
    out[i] = x;
}

KERNEL bitonic_index(const u32 *x, u32 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int v = (int)x[i];
        out[i] = (u32)(abs(v >> 3) + ((v << 5) >> 27) + (x[i] >> (i & 63)));
    }
}
