// SPDX-License-Identifier: Apache-2.0
// One thread, one element (or a few): arithmetic, casts, vector types, f16 and bf16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define KERNEL extern "C" __global__ void

KERNEL vec_add(const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] + b[i];
}

KERNEL saxpy_stride(float a, const float *x, float *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

KERNEL axpby_float4(const float4 *x, const float4 *y, float4 *out, float a, float b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 p = x[i], q = y[i];
    out[i] = make_float4(a * p.x + b * q.x, a * p.y + b * q.y, a * p.z + b * q.z,
                         a * p.w + b * q.w);
}

KERNEL relu_inplace(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] < 0.0f)
        x[i] = 0.0f;
}

KERNEL gelu_tanh(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        out[i] = 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
    }
}

KERNEL clamp_int(const int *x, int *out, int low, int high, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = min(max(x[i], low), high);
}

KERNEL polyval_double(const double *x, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double v = x[i], r = 0.25;
    r = r * v - 1.5;
    r = r * v + 3.0;
    r = r * v - 0.125;
    out[i] = r * v + 7.0;
}

KERNEL gray_uchar4(const uchar4 *in, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uchar4 p = in[i];
        out[i] = (unsigned char)((77 * p.x + 150 * p.y + 29 * p.z) >> 8);
    }
}

KERNEL rgb_to_yuv(const unsigned char *rgb, unsigned char *yuv, int pixels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels)
        return;
    int r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    yuv[3 * i] = (unsigned char)(((66 * r + 129 * g + 25 * b + 128) >> 8) + 16);
    yuv[3 * i + 1] = (unsigned char)(((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128);
    yuv[3 * i + 2] = (unsigned char)(((112 * r - 94 * g - 18 * b + 128) >> 8) + 128);
}

KERNEL deinterleave(const short2 *in, short *left, short *right, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        short2 s = in[i];
        left[i] = s.x;
        right[i] = s.y;
    }
}

KERNEL select_where(const unsigned char *mask, const int *a, const int *b, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = mask[i] & 1 ? a[i] : b[i];
}

KERNEL silu_mul(const float *gate, const float *up, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = gate[i] / (1.0f + __expf(-gate[i])) * up[i];
}

KERNEL int_divmod(const int *a, const int *b, int *q, int *r, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int d = b[i] | 1;
        q[i] = a[i] / d;
        r[i] = a[i] % d;
    }
}

KERNEL wide_multiply(const unsigned long long *a, const unsigned long long *b,
                     unsigned long long *low, unsigned long long *high, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        low[i] = a[i] * b[i];
        high[i] = __umul64hi(a[i], b[i]);
    }
}

KERNEL casts(const float *x, int *to_int, unsigned char *to_byte, short *to_short,
             double *to_double, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i] * 100.0f;
    to_int[i] = __float2int_rn(v);
    to_byte[i] = (unsigned char)(unsigned int)fminf(fmaxf(v, 0.0f), 255.0f);
    to_short[i] = (short)v;
    to_double[i] = (double)v + 0.5;
}

KERNEL half_axpy(const __half *x, __half *y, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __float2half(a * __half2float(x[i]) + __half2float(y[i]));
}

KERNEL half2_fma(const __half2 *a, const __half2 *b, __half2 *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = __hfma2(a[i], b[i], c[i]);
}

KERNEL bf16_scale(const __nv_bfloat16 *x, __nv_bfloat16 *out, float scale, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __float2bfloat16(__bfloat162float(x[i]) * scale);
}

struct vec3d {
    double x, y, z;
};
KERNEL normalize3_double(const vec3d *in, vec3d *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    vec3d v = in[i];
    double length = sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
    out[i].x = v.x / length;
    out[i].y = v.y / length;
    out[i].z = v.z / length;
}

KERNEL dequant_int4(const unsigned *packed, const float *scale, float *out, int words)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words)
        return;
    unsigned w = packed[i];
    float s = scale[i / 4];
#pragma unroll
    for (int k = 0; k < 8; k++)
        out[8 * i + k] = (float)((int)((w >> (4 * k)) & 15) - 8) * s;
}

KERNEL lerp_table(const float *x, const float *table, float *out, int n, int size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float at = x[i] * (float)(size - 1);
    int lower = (int)floorf(at);
    lower = min(max(lower, 0), size - 2);
    float t = at - (float)lower;
    out[i] = table[lower] + t * (table[lower + 1] - table[lower]);
}

KERNEL fast_math(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __sinf(x[i]) + __cosf(x[i]) * rsqrtf(1.0f + x[i] * x[i]) +
                 __logf(2.0f + x[i]) + __powf(1.5f, x[i]) + __fdividef(1.0f, 3.0f + x[i]);
}
