// SPDX-License-Identifier: Apache-2.0
/* Bytes and bits. */
#define KERNEL extern "C" __global__ void

/* How often a byte is there: 16 bytes a load, a sum a block. */
KERNEL count_byte(unsigned *count, const uint4 *text, unsigned byte, int n)
{
    unsigned four = byte * 0x01010101u, found = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uint4 v = text[i];
        found += __popc(__vcmpeq4(v.x, four)) + __popc(__vcmpeq4(v.y, four)) +
                 __popc(__vcmpeq4(v.z, four)) + __popc(__vcmpeq4(v.w, four));
    }
    found /= 8;
    for (int step = 16; step > 0; step /= 2)
        found += __shfl_down_sync(0xffffffff, found, step);
    if (threadIdx.x % 32 == 0)
        atomicAdd(count, found);
}

/* A message of `bytes` a thread. */
KERNEL crc32_table(unsigned *out, const unsigned char *text, const unsigned *table,
                   int bytes, int messages)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= messages)
        return;
    unsigned crc = 0xffffffff;
    for (int k = 0; k < bytes; k++)
        crc = table[(crc ^ text[i * bytes + k]) & 255] ^ crc >> 8;
    out[i] = ~crc;
}

KERNEL lower_case(char *out, const char *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    char c = in[i];
    out[i] = c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

/* Bits that differ between each pair of strings of 256 bits. */
KERNEL hamming(unsigned *out, const uint4 *a, const uint4 *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned sum = 0;
    for (int k = 0; k < 2; k++) {
        uint4 x = a[i * 2 + k], y = b[i * 2 + k];
        sum += __popc(x.x ^ y.x) + __popc(x.y ^ y.y) + __popc(x.z ^ y.z) + __popc(x.w ^ y.w);
    }
    out[i] = sum;
}

/* Flags to bits, a word a warp. */
KERNEL pack_bits(unsigned *out, const unsigned char *flag, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned bits = __ballot_sync(0xffffffff, i < n && flag[i]);
    if (threadIdx.x % 32 == 0)
        out[i / 32] = bits;
}
