// SPDX-License-Identifier: Apache-2.0
/* Images of bytes. */
#define KERNEL extern "C" __global__ void
typedef unsigned char u8;

/* Gray, to another size. */
KERNEL resize_bilinear(u8 *out, const u8 *in, int width, int height, int to_width,
                       int to_height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= to_width || y >= to_height)
        return;
    float fx = (x + 0.5f) * width / to_width - 0.5f;
    float fy = (y + 0.5f) * height / to_height - 0.5f;
    fx = fminf(fmaxf(fx, 0.0f), width - 1.0f);
    fy = fminf(fmaxf(fy, 0.0f), height - 1.0f);
    int x0 = (int)fx, y0 = (int)fy;
    int x1 = min(x0 + 1, width - 1), y1 = min(y0 + 1, height - 1);
    float ax = fx - x0, ay = fy - y0;
    float top = in[y0 * width + x0] * (1 - ax) + in[y0 * width + x1] * ax;
    float low = in[y1 * width + x0] * (1 - ax) + in[y1 * width + x1] * ax;
    out[y * to_width + x] = (u8)(top * (1 - ay) + low * ay + 0.5f);
}

KERNEL sobel(u8 *out, const u8 *in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
        out[y * width + x] = 0;
        return;
    }
    const u8 *p = in + y * width + x;
    int dx = p[1 - width] + 2 * p[1] + p[1 + width] - p[-1 - width] - 2 * p[-1] - p[width - 1];
    int dy = p[width - 1] + 2 * p[width] + p[width + 1] - p[-width - 1] - 2 * p[-width] -
             p[1 - width];
    out[y * width + x] = (u8)min(abs(dx) + abs(dy), 255);
}

__device__ void order(int &a, int &b)
{
    int low = min(a, b);
    b = max(a, b);
    a = low;
}

KERNEL median_3x3(u8 *out, const u8 *in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int v[9];
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) {
            int sx = min(max(x + i - 1, 0), width - 1);
            int sy = min(max(y + j - 1, 0), height - 1);
            v[j * 3 + i] = in[sy * width + sx];
        }
    order(v[1], v[2]); order(v[4], v[5]); order(v[7], v[8]);
    order(v[0], v[1]); order(v[3], v[4]); order(v[6], v[7]);
    order(v[1], v[2]); order(v[4], v[5]); order(v[7], v[8]);
    order(v[0], v[3]); order(v[5], v[8]); order(v[4], v[7]);
    order(v[3], v[6]); order(v[1], v[4]); order(v[2], v[5]);
    order(v[4], v[7]); order(v[4], v[2]); order(v[6], v[4]);
    order(v[4], v[2]);
    out[y * width + x] = (u8)v[4];
}

/* Three bytes a pixel to three planes. */
KERNEL rgb_to_yuv(u8 *luma, u8 *u, u8 *v, const u8 *rgb, int pixels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels)
        return;
    int r = rgb[i * 3], g = rgb[i * 3 + 1], b = rgb[i * 3 + 2];
    luma[i] = (u8)(((66 * r + 129 * g + 25 * b + 128) >> 8) + 16);
    u[i] = (u8)(((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128);
    v[i] = (u8)(((112 * r - 94 * g - 18 * b + 128) >> 8) + 128);
}

KERNEL byte_histogram(unsigned *out, const u8 *in, int n)
{
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

/* The second half of equalizing: a table of 256 that each block makes of the sums. */
KERNEL equalize(u8 *out, const u8 *in, const unsigned *sums, unsigned least, int n)
{
    __shared__ u8 table[256];
    float scale = 255.0f / (sums[255] - least);
    unsigned s = sums[threadIdx.x];
    table[threadIdx.x] = s < least ? 0 : (u8)((s - least) * scale + 0.5f);
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = table[in[i]];
}

KERNEL alpha_blend(uchar4 *out, const uchar4 *over, const uchar4 *under, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uchar4 a = over[i], b = under[i];
    int t = a.w, k = 255 - t;
    out[i] = make_uchar4((u8)((a.x * t + b.x * k + 127) / 255),
                         (u8)((a.y * t + b.y * k + 127) / 255),
                         (u8)((a.z * t + b.z * k + 127) / 255), 255);
}
