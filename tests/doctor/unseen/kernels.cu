// SPDX-License-Identifier: Apache-2.0
/* The kernels of these programs; kernels.h holds them as PTX. */
extern "C" __global__ void scale(float *p, float f, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= f;
}
extern "C" __global__ void add(float *o, const float *a, const float *b, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        o[i] = a[i] + b[i];
}
extern "C" __global__ void inc(unsigned *p, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += 1;
}
extern "C" __global__ void copyk(float *d, const float *s, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        d[i] = s[i];
}
extern "C" __global__ void spin(unsigned *p, unsigned it)
{
    unsigned x = p[0];
    for (unsigned i = 0; i < it; i++) {
        x = x * 1664525u + 1013904223u;
    }
    if (threadIdx.x == 0)
        p[0] = x | 1;
}
extern "C" __global__ void trap_if(const unsigned *p, unsigned limit)
{
    if (p[0] > limit)
        asm("trap;");
}
extern "C" __global__ void philox_dropout(float *p, unsigned long long seed,
                                          unsigned long long off, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned long long h = (i + off) * 6364136223846793005ULL + seed;
        if ((h >> 33) & 1)
            p[i] = 0;
    }
}
extern "C" __global__ void philox_dropout_dev(float *p, unsigned long long *state,
                                              unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned long long h = (i + state[1]) * 6364136223846793005ULL + state[0];
        if ((h >> 33) & 1)
            p[i] = 0;
    }
    if (i == 0)
        state[1] += n;
}
extern "C" __global__ void matvec(float *y, const float *w, const float *x, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float s = 0;
        for (unsigned j = 0; j < n; j++)
            s += w[i * n + j] * x[j];
        y[i] = s;
    }
}
extern "C" __global__ void gather(float *o, const float *t, const int *idx, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        o[i] = t[idx[i]];
}
extern "C" __global__ void argmax(int *o, const float *x, unsigned n)
{
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        int b = 0;
        for (unsigned i = 1; i < n; i++)
            if (x[i] > x[b])
                b = i;
        *o = b;
    }
}
struct Args {
    unsigned n;
    float k;
    float *out;
    const float *in;
};
extern "C" __global__ void fused(Args a)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a.n)
        a.out[i] = a.in[i] * a.k;
}
extern "C" __global__ void big_smem(float *o)
{
    extern __shared__ float s[];
    s[threadIdx.x] = 1;
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x];
}
