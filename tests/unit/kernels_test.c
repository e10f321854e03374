// SPDX-License-Identifier: Apache-2.0
/* kernels/bench.cu and math.cuh on a driver: every kernel against the same work in C, at
 * sizes that are not multiples of a block. GPH_DRIVER says on which driver. */
#include "test.h"
#include <gph/gph.h>
#include <math.h>
#include <stdbool.h>

static gph_runtime *gph;
static const gph_cuda_calls *cu;
static CUcontext context;
static CUmodule module;
static const char *missing;

enum { MOST = 1 << 16 };
static float in_a[MOST], in_b[MOST], out[MOST], expected[MOST];

static bool ok(gph_status status, const char *what)
{
    gph_error error = {0};
    return CHECK_OK(gph_cuda_check(status, what, &error), error);
}

static bool open_driver(void)
{
    static char ptx[1 << 20];
    gph_error error = {0};
    const gph_status status = gph_open(NULL, &gph, &error);
    if (status == GPH_E_UNSUPPORTED) {
        missing = "no driver here";
        return true;
    }
    FILE *file = fopen(KERNELS_DIR "/bench.ptx", "rb");
    if (!CHECK_OK(status, error) || !CHECK(file != NULL))
        return false;
    CHECK(fread(ptx, 1, sizeof(ptx) - 1, file) > 0);
    fclose(file);
    cu = gph_cuda(gph);
    return ok(cu->DevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain") &&
           ok(cu->CtxSetCurrent(context), "cuCtxSetCurrent") &&
           ok(cu->ModuleLoadData(&module, ptx), "cuModuleLoadData");
}

static CUdeviceptr upload(const float *from, size_t count)
{
    CUdeviceptr at = 0;
    ok(cu->MemAlloc(&at, count * sizeof(float)), "cuMemAlloc");
    ok(cu->MemcpyHtoD(at, from, count * sizeof(float)), "cuMemcpyHtoD");
    return at;
}

static void download(float *to, CUdeviceptr at, size_t count)
{
    ok(cu->MemcpyDtoH(to, at, count * sizeof(float)), "cuMemcpyDtoH");
    ok(cu->MemFree(at), "cuMemFree");
}

typedef struct size {
    unsigned grid_x, grid_y, block_x, block_y;
} size;

static void launch(const char *name, size s, void **arguments)
{
    CUfunction function = NULL;
    if (ok(cu->ModuleGetFunction(&function, module, name), name))
        ok(cu->LaunchKernel(function, s.grid_x, s.grid_y, 1, s.block_x, s.block_y, 1, 0,
                            NULL, arguments, NULL),
           name);
    ok(cu->CtxSynchronize(), name);
}

static float apart(size_t count)
{
    float most = 0;
    for (size_t i = 0; i < count; i++) {
        const float d = fabsf(out[i] - expected[i]);
        most = d <= most ? most : d;
    }
    return most;
}

static void saxpy_and_copy(void)
{
    unsigned n = 1003;
    float a = 2.5f;
    CUdeviceptr x = upload(in_a, n), y = upload(in_b, n), z = upload(in_b, n);
    launch("saxpy", (size){8, 1, 128, 1}, (void *[]){&y, &x, &a, &n});
    launch("copy", (size){8, 1, 128, 1}, (void *[]){&z, &x, &n});
    download(out, y, n);
    for (unsigned i = 0; i < n; i++)
        expected[i] = fmaf(a, in_a[i], in_b[i]);
    CHECK(apart(n) < 1e-6f);
    download(out, z, n);
    CHECK(memcmp(out, in_a, n * sizeof(float)) == 0);
    download(out, x, n);
}

static void transposes(void)
{
    unsigned width = 75, height = 133;
    CUdeviceptr x = upload(in_a, width * height), y = upload(in_b, width * height);
    launch("transpose", (size){3, 5, 32, 8}, (void *[]){&y, &x, &width, &height});
    download(out, y, width * height);
    for (unsigned r = 0; r < height; r++)
        for (unsigned c = 0; c < width; c++)
            expected[c * height + r] = in_a[r * width + c];
    CHECK(memcmp(out, expected, width * height * sizeof(float)) == 0);
    download(out, x, 1);
}

static void gemv_a_thread_a_row(void)
{
    unsigned rows = 300, columns = 77;
    CUdeviceptr w = upload(in_a, rows * columns), x = upload(in_b, columns);
    CUdeviceptr y = upload(in_b, rows);
    launch("gemv", (size){3, 1, 128, 1}, (void *[]){&y, &w, &x, &rows, &columns});
    download(out, y, rows);
    for (unsigned r = 0; r < rows; r++) {
        expected[r] = 0;
        for (unsigned k = 0; k < columns; k++)
            expected[r] += in_a[k * rows + r] * in_b[k];
    }
    CHECK(apart(rows) < 1e-4f);
    download(out, w, 1);
    download(out, x, 1);
}

static void reduces_by_shuffles(void)
{
    for (unsigned block = 32; block <= 1024; block *= 2) {
        unsigned n = 20001;
        double sum = 0, got = 0;
        CUdeviceptr x = upload(in_a, n), y = upload(in_b, 7);
        launch("reduce", (size){7, 1, block, 1}, (void *[]){&y, &x, &n});
        download(out, y, 7);
        download(expected, x, 1);
        for (unsigned i = 0; i < n; i++)
            sum += (double)in_a[i];
        for (unsigned i = 0; i < 7; i++)
            got += (double)out[i];
        CHECK(fabs(sum - got) < 1e-2);
    }
}

static void softmax_of_rows(void)
{
    unsigned width = 211, rows = 9;
    CUdeviceptr x = upload(in_a, width * rows), y = upload(in_b, width * rows);
    launch("softmax_rows", (size){rows, 1, 96, 1}, (void *[]){&y, &x, &width});
    download(out, y, width * rows);
    for (unsigned r = 0; r < rows; r++) {
        double sum = 0;
        for (unsigned i = 0; i < width; i++)
            sum += exp((double)in_a[r * width + i]);
        for (unsigned i = 0; i < width; i++)
            expected[r * width + i] = (float)(exp((double)in_a[r * width + i]) / sum);
    }
    CHECK(apart(width * rows) < 1e-6f);
    download(out, x, 1);
}

static void tiled_matmul(void)
{
    unsigned n = 80;
    CUdeviceptr a = upload(in_a, n * n), b = upload(in_b, n * n), c = upload(in_b, n * n);
    launch("matmul_tiled", (size){5, 5, 16, 16}, (void *[]){&c, &a, &b, &n});
    download(out, c, n * n);
    for (unsigned y = 0; y < n; y++)
        for (unsigned x = 0; x < n; x++) {
            expected[y * n + x] = 0;
            for (unsigned k = 0; k < n; k++)
                expected[y * n + x] += in_a[y * n + k] * in_b[k * n + x];
        }
    CHECK(apart(n * n) < 1e-4f);
    download(out, a, 1);
    download(out, b, 1);
}

static void an_empty_kernel_runs(void)
{
    launch("empty", (size){1, 1, 1, 1}, NULL);
    launch("empty", (size){100, 3, 1024, 1}, NULL);
}

int main(void)
{
    uint32_t state = 7;
    for (size_t i = 0; i < MOST; i++) {
        state = state * 1664525u + 1013904223u;
        in_a[i] = (float)(state >> 8) / 8388608.0f - 1;
        in_b[i] = (float)(state >> 7 & 0xffff) / 65536.0f;
    }
    if (!open_driver())
        return 1;
    if (missing != NULL) {
        printf("ok kernels # SKIP %s\n", missing);
        return 77;
    }
    RUN(saxpy_and_copy);
    RUN(transposes);
    RUN(gemv_a_thread_a_row);
    RUN(reduces_by_shuffles);
    RUN(softmax_of_rows);
    RUN(tiled_matmul);
    RUN(an_empty_kernel_runs);
    ok(cu->ModuleUnload(module), "cuModuleUnload");
    ok(cu->DevicePrimaryCtxRelease(0), "cuDevicePrimaryCtxRelease");
    gph_close(gph);
    return test_done();
}
