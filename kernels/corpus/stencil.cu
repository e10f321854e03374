// SPDX-License-Identifier: Apache-2.0
// Stencils, filters, images.

#define KERNEL extern "C" __global__ void

KERNEL stencil1d_shared(const int *in, int *out, int n)
{
    __shared__ int s[128 + 6];
    int i = blockIdx.x * 128 + threadIdx.x, at = threadIdx.x + 3;
    s[at] = i < n ? in[i] : 0;
    if (threadIdx.x < 3) {
        s[at - 3] = i >= 3 ? in[i - 3] : 0;
        s[at + 128] = i + 128 < n ? in[i + 128] : 0;
    }
    __syncthreads();
    int sum = 0;
    for (int k = -3; k <= 3; k++)
        sum += s[at + k];
    if (i < n)
        out[i] = sum;
}

KERNEL jacobi2d(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    int i = y * width + x;
    out[i] = 0.25f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

KERNEL heat2d_shared(const float *in, float *out, float alpha, int width, int height)
{
    __shared__ float s[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    s[ty][tx] = in[y * width + x];
    if (threadIdx.x == 0)
        s[ty][0] = in[y * width + max(x - 1, 0)];
    if (threadIdx.x == 31)
        s[ty][33] = in[y * width + min(x + 1, width - 1)];
    if (threadIdx.y == 0)
        s[0][tx] = in[max(y - 1, 0) * width + x];
    if (threadIdx.y == 7)
        s[9][tx] = in[min(y + 1, height - 1) * width + x];
    __syncthreads();
    float c = s[ty][tx];
    out[y * width + x] =
        c + alpha * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx] - 4.0f * c);
}

KERNEL stencil3d7(const float *in, float *out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x == 0 || y == 0 || z == 0 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1)
        return;
    int i = (z * ny + y) * nx + x;
    out[i] = in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] +
             in[i + nx * ny] - 6.0f * in[i];
}

KERNEL stencil3d_column(const float *in, float *out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny)
        return;
    int plane = nx * ny, i = y * nx + x;
    float below = in[i], here = in[i], above = in[i + plane];
    for (int z = 0; z < nz; z++) {
        out[i] = 0.5f * here + 0.25f * (below + above);
        below = here;
        here = above;
        i += plane;
        above = z + 2 < nz ? in[i + plane] : above;
    }
}

__constant__ float mask9[9] = {0.05f, 0.09f, 0.12f, 0.15f, 0.18f, 0.15f, 0.12f, 0.09f, 0.05f};
KERNEL conv1d_const(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < 9; k++) {
        int at = i + k - 4;
        if (at >= 0 && at < n)
            sum += in[at] * mask9[k];
    }
    out[i] = sum;
}

KERNEL conv_rows_shared(const float *in, float *out, int width)
{
    __shared__ float s[128 + 8];
    int x = blockIdx.x * 128 + threadIdx.x;
    const float *row = in + blockIdx.y * width;
    for (int i = threadIdx.x; i < 136; i += 128) {
        int at = blockIdx.x * 128 + i - 4;
        s[i] = at < 0 || at >= width ? 0.0f : row[at];
    }
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 9; k++)
        sum += s[threadIdx.x + k] * mask9[k];
    if (x < width)
        out[blockIdx.y * width + x] = sum;
}

KERNEL conv2d(const float *in, const float *filter, float *out, int width, int height, int size)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width - size + 1 || y >= height - size + 1)
        return;
    float sum = 0.0f;
    for (int j = 0; j < size; j++)
        for (int i = 0; i < size; i++)
            sum += in[(y + j) * width + x + i] * filter[j * size + i];
    out[y * width + x] = sum;
}

KERNEL sobel(const unsigned char *in, unsigned char *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    const unsigned char *p = in + y * width + x;
    int gx = p[-width + 1] + 2 * p[1] + p[width + 1] - p[-width - 1] - 2 * p[-1] - p[width - 1];
    int gy = p[width - 1] + 2 * p[width] + p[width + 1] - p[-width - 1] - 2 * p[-width] -
             p[-width + 1];
    out[y * width + x] = (unsigned char)min((int)sqrtf((float)(gx * gx + gy * gy)), 255);
}

KERNEL median3x3(const unsigned char *in, unsigned char *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    unsigned char v[9];
    for (int j = 0; j < 9; j++)
        v[j] = in[(y + j / 3 - 1) * width + x + j % 3 - 1];
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 9; j++)
            if (v[j] < v[i]) {
                unsigned char t = v[i];
                v[i] = v[j];
                v[j] = t;
            }
    out[y * width + x] = v[4];
}

KERNEL bilateral(const float *in, float *out, int width, int height, float range)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float center = in[y * width + x], sum = 0.0f, weights = 0.0f;
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++) {
            int u = min(max(x + i, 0), width - 1), v = min(max(y + j, 0), height - 1);
            float value = in[v * width + u], d = value - center;
            float w = expf(-(float)(i * i + j * j) * 0.125f - d * d * range);
            sum += w * value;
            weights += w;
        }
    out[y * width + x] = sum / weights;
}

KERNEL game_of_life(const unsigned char *in, unsigned char *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int left = (x + width - 1) % width, right = (x + 1) % width;
    int up = (y + height - 1) % height * width, down = (y + 1) % height * width, row = y * width;
    int n = (in[up + left] & 1) + (in[up + x] & 1) + (in[up + right] & 1) + (in[row + left] & 1) +
            (in[row + right] & 1) + (in[down + left] & 1) + (in[down + x] & 1) +
            (in[down + right] & 1);
    out[row + x] = n == 3 || (n == 2 && (in[row + x] & 1));
}

KERNEL life_generations(const unsigned char *in, unsigned char *out, int generations)
{
    __shared__ unsigned char s[2][16][16];
    int x = threadIdx.x, y = threadIdx.y, from = 0;
    s[0][y][x] = in[blockIdx.x * 256 + y * 16 + x] & 1;
    __syncthreads();
    for (int g = 0; g < generations; g++) {
        int n = -s[from][y][x];
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++)
                n += s[from][(y + j) & 15][(x + i) & 15];
        s[1 - from][y][x] = n == 3 || (n == 2 && s[from][y][x]);
        from = 1 - from;
        __syncthreads();
    }
    out[blockIdx.x * 256 + y * 16 + x] = s[from][y][x];
}

KERNEL fir_filter(const float *in, const float *taps, float *out, int n, int tap_count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < tap_count; k++)
        sum += taps[k] * in[i + tap_count - 1 - k];
    out[i] = sum;
}

KERNEL iir_rows(const float *in, float *out, int columns, float a, float b)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float state = 0.0f;
    for (int i = 0; i < columns; i++) {
        state = a * in[row * columns + i] + b * state;
        out[row * columns + i] = state;
    }
}

KERNEL dilate_shared(const unsigned char *in, unsigned char *out, int width, int height)
{
    __shared__ unsigned char s[18][18];
    int x0 = blockIdx.x * 16 - 1, y0 = blockIdx.y * 16 - 1;
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256) {
        int x = x0 + i % 18, y = y0 + i / 18;
        s[i / 18][i % 18] = x >= 0 && y >= 0 && x < width && y < height ? in[y * width + x] : 0;
    }
    __syncthreads();
    int most = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            most = max(most, (int)s[threadIdx.y + j][threadIdx.x + i]);
    out[(y0 + 1 + threadIdx.y) * width + x0 + 1 + threadIdx.x] = (unsigned char)most;
}

KERNEL resize_bilinear(const float *in, float *out, int width, int height, int to_width,
                       int to_height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= to_width || y >= to_height)
        return;
    float fx = ((float)x + 0.5f) * (float)width / (float)to_width - 0.5f;
    float fy = ((float)y + 0.5f) * (float)height / (float)to_height - 0.5f;
    int x0 = max((int)floorf(fx), 0), y0 = max((int)floorf(fy), 0);
    int x1 = min(x0 + 1, width - 1), y1 = min(y0 + 1, height - 1);
    float u = fmaxf(fx - (float)x0, 0.0f), v = fmaxf(fy - (float)y0, 0.0f);
    float top = in[y0 * width + x0] * (1.0f - u) + in[y0 * width + x1] * u;
    float bottom = in[y1 * width + x0] * (1.0f - u) + in[y1 * width + x1] * u;
    out[y * to_width + x] = top * (1.0f - v) + bottom * v;
}

KERNEL integral_rows(const unsigned char *in, int *out, int width)
{
    __shared__ int s[128];
    int t = threadIdx.x, carry = 0;
    for (int x0 = 0; x0 < width; x0 += 128) {
        s[t] = in[blockIdx.x * width + x0 + t];
        __syncthreads();
        for (int step = 1; step < 128; step *= 2) {
            int x = t >= step ? s[t - step] : 0;
            __syncthreads();
            s[t] += x;
            __syncthreads();
        }
        out[blockIdx.x * width + x0 + t] = s[t] + carry;
        carry += s[127];
        __syncthreads();
    }
}
