// SPDX-License-Identifier: Apache-2.0
/* Texture and surface instructions give the bytes that an H100 gives (texture.expected,
 * recorded by `GPH_DRIVER=cuda texture_test --record FILE`): every geometry, format,
 * address mode and filter, over coordinates inside, at edges and far outside. */
#include "texture_resource.h"

#include "driver.h"

#ifndef TEXTURE_EXPECTED /* built without CMake, run in the root of the repository */
#define TEXTURE_EXPECTED "tests/conformance/texture.expected"
#endif

#define NAME_BYTES 88u
#define OUT_BYTES_MAX (POINTS * RESULTS * 4u)

struct record {
    char name[NAME_BYTES];
    int32_t status;
    uint32_t bytes;
};

static FILE *recording, *recorded;
static unsigned compared, unrecorded;

/* ---- coordinates ---- */

/* In quarters around the beginning, near steps of 1/512, anywhere near, and hostile. */
static float float_near(unsigned point, unsigned letter, float size, uint64_t *state)
{
    const uint32_t word = draw(state), step = draw(state);
    if (point < 20)
        return (float)((int)point - 6) / 4.f + (letter == 'y' ? .125f : 0.f);
    float value = (float)((int)(word % 40001) - 10000) / 20000.f * size;
    if (point < 40)
        value = floorf(value) + (float)(step % 1024) / 1024.f +
                ((float)(step >> 10 & 3) - 1.f) / 2048.f;
    if (point == POINTS - 1)
        return letter == 'x' ? NAN : 1.f;
    if (point == POINTS - 2)
        return letter == 'x' ? INFINITY : 2.f;
    if (point == POINTS - 3)
        return letter == 'x' ? -INFINITY : 2.f;
    if (point == POINTS - 4)
        return letter == 'x' ? 1e30f : 3.f;
    if (point == POINTS - 5)
        return letter == 'y' ? -1e30f : 1.25f;
    return value;
}

static uint32_t place_in(const struct question *q, unsigned point, char letter)
{
    const struct box box = box_of(q, 0);
    const unsigned unit = q->form->unit;
    const size_t across = unit > 1 ? box.row / unit : box.width;
    const unsigned places = (unsigned)across, rows = (unsigned)box.height;
    const unsigned x = point % places, y = point / places % rows;
    const unsigned z = point / (places * rows) % (unsigned)box.depth;
    const unsigned outside = letter >= 'u' && point == POINTS - 1 ? 1000 : 0;
    switch (letter) {
    case 'p':
    case 'u': return (x + outside) * unit;
    case 'q':
    case 'v': return y;
    case 'o': return point == POINTS - 2 ? 1000 : point == POINTS - 3 ? (uint32_t)-1 : z;
    default: return z; /* w, r; n, where there is one row */
    }
}

static uint32_t coordinate(const struct question *q, unsigned point, unsigned nth,
                           uint64_t *state)
{
    const struct box box = box_of(q, 0);
    const char letter = q->form->coordinates[nth];
    const bool normalized = (q->texture.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    const size_t sizes[3] = {box.width, box.height, box.depth};
    const uint32_t word = draw(state);
    switch (letter) {
    case 'x':
    case 'y':
    case 'z': {
        const float size = (float)sizes[letter - 'x'];
        const float value = float_near(point, (unsigned)letter, size, state);
        return bits_of(normalized ? value / size : value);
    }
    case 'i':
    case 'j':
    case 'k':
        return (uint32_t)((int)(word % (2 * sizes[letter - 'i'])) -
                          (int)sizes[letter - 'i'] / 2);
    case 'l': return (uint32_t)((int)(word % (sizes[2] + 4)) - 2);
    case 'm': return word % (uint32_t)sizes[2];
    case 'X':
    case 'Y':
    case 'Z':
        if (point < 8 && letter != 'Z')
            return bits_of((float)((int)(point >> (letter == 'Y') & 1) * 2 - 1));
        return bits_of((float)((int)(word % 2001) - 1000) / (point < 32 ? 1000.f : 37.f));
    case 'L': return bits_of((float)((int)(word % 1537) - 256) / 256.f);
    case 'D':
        return bits_of((float)((int)(word % 4001) - 2000) / 20000.f *
                       (normalized ? 1.f : 10.f));
    default: return 0;
    }
}

static void fill_coordinates(const struct question *q)
{
    uint64_t state =
        1299709u + (uint64_t)q->resource * 77 + q->format * 7 + strlen(q->form->name);
    for (unsigned i = 0; i < 8; i++)
        (void)draw(&state);
    const size_t count = strlen(q->form->coordinates);
    for (unsigned point = 0; point < POINTS; point++) {
        for (unsigned i = 0; i < COORDINATES; i++)
            in[point][i] = draw(&state);
        for (unsigned i = 0; i < count; i++) {
            const char letter = q->form->coordinates[i];
            in[point][i] = letter >= 'n' && letter <= 'w'
                               ? place_in(q, point, letter)
                               : coordinate(q, point, i, &state);
        }
        /* what sust.p converts */
        const float value = (float)((int)(in[point][10] % 4001) - 2000) / 1500.f;
        if (strstr(q->form->name, "sust.p"))
            for (unsigned i = 8; i < 12; i++)
                in[point][i] = bits_of(value * (float)(i - 6));
    }
}

static CUresult launch(const struct question *q, unsigned long long object)
{
    char text[TEXT_BYTES];
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr from = 0, to = 0;
    write_kernel(q->form, text);
    CUresult status = cu.cuModuleLoadData(&module, text);
    if (status != CUDA_SUCCESS)
        return status;
    void *params[] = {&object, &from, &to};
    if ((status = cu.cuModuleGetFunction(&kernel, module, "k")) == CUDA_SUCCESS &&
        (status = cu.cuMemAlloc(&from, sizeof(in))) == CUDA_SUCCESS &&
        (status = cu.cuMemAlloc(&to, OUT_BYTES_MAX)) == CUDA_SUCCESS &&
        (status = cu.cuMemcpyHtoD(from, in, sizeof(in))) == CUDA_SUCCESS &&
        (status = cu.cuLaunchKernel(kernel, 1, 1, 1, q->points, 1, 1, 0, NULL, params,
                                    NULL)) == CUDA_SUCCESS)
        status = cu.cuMemcpyDtoH(out, to, q->points * RESULTS * 4);
    if (from)
        (void)cu.cuMemFree(from);
    if (to)
        (void)cu.cuMemFree(to);
    (void)cu.cuModuleUnload(module);
    return status;
}

static CUresult ask(const struct question *q, size_t *bytes)
{
    struct made m;
    memset(&m, 0, sizeof(m));
    memset(out, 0, sizeof(out));
    *bytes = q->points * RESULTS * 4;
    fill_coordinates(q);
    CUresult status = make(q, &m);
    unsigned long long object = 0;
    if (status == CUDA_SUCCESS)
        status = q->is_surface
                     ? cu.cuSurfObjectCreate(&object, &m.desc)
                     : cu.cuTexObjectCreate(&object, &m.desc, &q->texture, NULL);
    if (status == CUDA_SUCCESS) {
        status = launch(q, object);
        (void)(q->is_surface ? cu.cuSurfObjectDestroy(object)
                             : cu.cuTexObjectDestroy(object));
    }
    if (status == CUDA_SUCCESS && q->stores)
        status = read_array(q, m.array, bytes);
    destroy(&m);
    return status;
}

/* ---- comparing ---- */

static bool find_record(const char *name, struct record *found)
{
    rewind(recorded);
    while (fread(found, sizeof(*found), 1, recorded) == 1) {
        if (found->bytes > sizeof(expected) ||
            fread(expected, 1, found->bytes, recorded) != found->bytes)
            return false;
        if (strncmp(found->name, name, NAME_BYTES) == 0)
            return true;
    }
    return false;
}

/* Where it is not known how an H100 rounds: bytes of 1,024 that may differ. */
static size_t excused(const char *name)
{
    static const struct {
        const char *form;
        size_t bytes;
    } all[] = {
        {"tex.2d.f32 of 2d s8x2", 6}, /* a tie that is none in 16 bits */
        {"tex.3d.f32 of 3d f16x4", 9},
        {"tex.3d.f32 of 3d f32x1", 1},
        {"tex.level.3d of mip3d", 6},
        {"tex.2d.f32 of mip2d", 1},
        {"tex.grad.1d of mip1d", 44},
        {"tex.grad.2d of mip2d", 52}, /* a level's last bit */
        {"tex.grad.3d of mip3d", 74},
        {"tex.grad.a2d of mipa2d", 14},
    };
    for (size_t i = 0; i < COUNT(all); i++)
        if (strncmp(name, all[i].form, strlen(all[i].form)) == 0)
            return all[i].bytes;
    return 0;
}

static void compare(const char *name, CUresult status, size_t bytes)
{
    struct record found;
    if (!find_record(name, &found)) {
        unrecorded++;
        return;
    }
    compared++;
    if (!CHECK((int)status == found.status &&
               (status != CUDA_SUCCESS || bytes == found.bytes))) {
        fprintf(stderr, "  %s: status %d, not %d\n", name, (int)status,
                (int)found.status);
        return;
    }
    size_t different = 0, first = 0;
    for (size_t i = status == CUDA_SUCCESS ? bytes : 0; i-- > 0;)
        if (out[i] != expected[i]) {
            different++;
            first = i & ~(size_t)3;
        }
    if (!CHECK(different <= excused(name))) {
        uint32_t got, wanted;
        memcpy(&got, out + first, 4);
        memcpy(&wanted, expected + first, 4);
        fprintf(stderr,
                "  %s: %zu of %zu bytes differ, first of point %zu: %08x, not %08x\n",
                name, different, bytes, first / (RESULTS * 4), got, wanted);
    }
}

static void name_question(const struct question *q, char *name)
{
    const CUDA_TEXTURE_DESC *t = &q->texture;
    snprintf(name, NAME_BYTES, "%s of %s %s a%d f%d%d %x b%g", q->form->name,
             resources[q->resource].name, formats[q->format].name, (int)t->addressMode[0],
             (int)t->filterMode, (int)t->mipmapFilterMode, t->flags,
             (double)t->mipmapLevelBias);
}

static void put(const struct question *q)
{
    char name[NAME_BYTES];
    size_t bytes;
    memset(name, 0, sizeof(name));
    name_question(q, name);
    const CUresult status = ask(q, &bytes);
    if (!recording) {
        compare(name, status, bytes);
        return;
    }
    struct record record = {.status = (int32_t)status,
                            .bytes = status == CUDA_SUCCESS ? (uint32_t)bytes : 0};
    memcpy(record.name, name, NAME_BYTES);
    fwrite(&record, sizeof(record), 1, recording);
    fwrite(out, 1, record.bytes, recording);
    fflush(recording);
    printf("%s: %d\n", name, (int)status);
}

/* ---- what is asked ---- */

static CUDA_TEXTURE_DESC how(unsigned mode, bool linear, unsigned flags)
{
    CUDA_TEXTURE_DESC t = {.filterMode = linear ? CU_TR_FILTER_MODE_LINEAR
                                                : CU_TR_FILTER_MODE_POINT,
                           .flags = flags,
                           .maxMipmapLevelClamp = 8.f,
                           .borderColor = {2.5f, -1.f, 0.f, .25f}};
    for (unsigned i = 0; i < 3; i++)
        t.addressMode[i] = (CUaddress_mode)mode;
    if (flags & CU_TRSF_READ_AS_INTEGER) {
        const uint32_t border[4] = {7, 0, 3, 100000};
        memcpy(t.borderColor, border, sizeof(border));
    }
    return t;
}

#define NORMALIZED CU_TRSF_NORMALIZED_COORDINATES

static void put_texture(enum form_number form, enum resource resource, enum format format,
                        unsigned mode, bool linear, unsigned flags)
{
    const struct question q = {.form = &forms[form],
                               .resource = resource,
                               .format = format,
                               .texture = how(mode, linear, flags),
                               .points = POINTS};
    put(&q);
}

/* Wrapping and mirroring are for normalized coordinates. */
static void put_modes(enum form_number form, enum resource resource, enum format format,
                      unsigned flags)
{
    for (unsigned mode = 0; mode < 4; mode++)
        for (unsigned normalized = 0; normalized < 2; normalized++)
            for (unsigned linear = 0; linear < 2; linear++)
                if ((normalized || mode % 2 == 1) &&
                    !(linear && flags & CU_TRSF_READ_AS_INTEGER))
                    put_texture(form, resource, format, mode, linear,
                                flags | (normalized ? NORMALIZED : 0u));
}

static void formats_modes_and_filters(void)
{
    static const enum format floats[] = {U8X4, S8X2, U16X1, S16X2, F16X4, F32X1, F32X4};
    for (unsigned i = 0; i < COUNT(floats); i++)
        put_modes(TEX_2D, R_2D, floats[i], 0);
    put_modes(TEX_1D, R_1D, F32X1, 0);
    put_modes(TEX_1D, R_1D, U8X4, 0);
    put_modes(TEX_3D, R_3D, F32X1, 0);
    put_modes(TEX_3D, R_3D, F16X4, 0);
    put_modes(TEX_3D, R_3D, U8X4, 0);
    put_modes(U32_2D, R_2D, U8X4, CU_TRSF_READ_AS_INTEGER);
    put_modes(S32_2D, R_2D, S16X2, CU_TRSF_READ_AS_INTEGER);
    put_modes(U32_1D, R_1D, U32X1, CU_TRSF_READ_AS_INTEGER);
    put_modes(U32_3D, R_3D, U16X1, CU_TRSF_READ_AS_INTEGER);
    put_modes(S32_2D, R_2D, S32X4, CU_TRSF_READ_AS_INTEGER);
    put_texture(TEX_2D, R_2D, U32X1, 1, false, 0); /* 32 bits are not normalized */
    put_texture(U32_2D, R_2D, U32X1, 1, false, 0);
}

static void layers_and_cubes(void)
{
    for (unsigned mode = 0; mode < 4; mode++)
        for (unsigned linear = 0; linear < 2; linear++) {
            put_texture(TEX_A1D, R_A1D, F32X1, mode, linear, NORMALIZED);
            put_texture(TEX_A2D, R_A2D, F32X1, mode, linear, NORMALIZED);
            put_texture(TEX_A2D, R_A2D, U8X4, mode, linear, NORMALIZED);
            if (mode % 2 == 1) {
                put_texture(TEX_A1D, R_A1D, F32X1, mode, linear, 0);
                put_texture(TEX_A2D, R_A2D, F32X1, mode, linear, 0);
            }
            if (mode > 1)
                continue;
            put_texture(TEX_CUBE, R_CUBE, F32X1, mode, linear, NORMALIZED);
            put_texture(TEX_CUBE, R_CUBE, U8X4, mode, linear, NORMALIZED);
            put_texture(TEX_ACUBE, R_ACUBE, F32X1, mode, linear, NORMALIZED);
        }
}

static void integer_coordinates(void)
{
    for (unsigned mode = 1; mode < 4; mode += 2) {
        put_texture(I_1D, R_1D, F32X1, mode, false, 0);
        put_texture(I_2D, R_2D, F32X1, mode, false, 0);
        put_texture(I_2D, R_2D, U8X4, mode, false, 0);
        put_texture(I_3D, R_3D, F32X1, mode, false, 0);
        put_texture(I_A1D, R_A1D, F32X1, mode, false, 0);
        put_texture(I_A2D, R_A2D, F32X1, mode, false, 0);
        put_texture(S32_I_2D, R_2D, S16X2, mode, false, CU_TRSF_READ_AS_INTEGER);
    }
    put_texture(I_2D, R_2D, F32X1, 1, true, 0);
    put_texture(I_2D, R_2D, F32X1, 0, false, NORMALIZED);
}

/* Memory without an array: one row, or rows of a pitch. */
static void linear_memory(void)
{
    static const enum format all[] = {F32X1, U8X4, F32X4, S16X2};
    for (unsigned i = 0; i < COUNT(all); i++) {
        put_texture(I_1D, R_LINEAR, all[i], 0, false, 0);
        put_texture(I_1D, R_LINEAR, all[i], 1, false, 0);
        put_modes(TEX_2D, R_PITCH, all[i], 0);
        put_texture(I_2D, R_PITCH, all[i], 1, false, 0);
    }
    put_texture(I_1D, R_LINEAR, F32X1, 3, false, 0);
    put_texture(U32_I_1D, R_LINEAR, U32X1, 0, false, CU_TRSF_READ_AS_INTEGER);
    put_texture(TEX_1D, R_LINEAR, F32X1, 1, false, 0);
    put_texture(TEX_1D, R_LINEAR, F32X1, 1, true, NORMALIZED);
}

static void halves_and_gathers(void)
{
    put_modes(F16_2D, R_2D, F16X4, 0);
    put_modes(F16_2D, R_2D, U8X4, 0);
    put_texture(F16_2D, R_2D, F32X4, 1, true, 0);
    put_modes(F16X2_2D, R_2D, F16X4, 0);
    put_texture(F16_1D_S32, R_LINEAR, F16X1, 0, false, 0);
    put_modes(TLD4_R, R_2D, F32X1, 0);
    put_modes(TLD4_G, R_2D, U8X4, 0);
    put_modes(TLD4_B, R_2D, F16X4, 0);
    put_modes(TLD4_A, R_2D, F32X4, 0);
    put_modes(TLD4_U32, R_2D, U8X4, CU_TRSF_READ_AS_INTEGER);
    put_texture(TLD4_A2D, R_A2D, F32X4, 1, true, NORMALIZED);
    put_texture(TLD4_CUBE, R_CUBE, F32X1, 1, true, NORMALIZED);
    put_texture(TLD4_ACUBE, R_ACUBE, F32X4, 1, true, NORMALIZED);
}

static void put_level(enum form_number form, enum resource resource, enum format format,
                      unsigned mode, unsigned filters, float bias)
{
    struct question q = {.form = &forms[form],
                         .resource = resource,
                         .format = format,
                         .texture = how(mode, filters & 1, NORMALIZED),
                         .points = POINTS};
    q.texture.mipmapFilterMode =
        filters & 2 ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    q.texture.mipmapLevelBias = bias;
    if (bias != 0.f) {
        q.texture.minMipmapLevelClamp = .5f;
        q.texture.maxMipmapLevelClamp = 1.75f;
    }
    put(&q);
}

static void levels(void)
{
    for (unsigned filters = 0; filters < 4; filters++) {
        put_level(LEVEL_1D, R_MIP_1D, F32X1, 1, filters, 0);
        put_level(LEVEL_2D, R_MIP_2D, F32X1, 0, filters, 0);
        put_level(LEVEL_2D, R_MIP_2D, F32X1, 3, filters, 0);
        put_level(LEVEL_2D, R_MIP_2D, F32X1, 1, filters, .625f);
        put_level(LEVEL_2D, R_MIP_2D, U8X4, 2, filters, 0);
        put_level(LEVEL_3D, R_MIP_3D, F32X1, 1, filters, 0);
        put_level(LEVEL_A2D, R_MIP_A2D, F32X1, 1, filters, 0);
        put_level(LEVEL_CUBE, R_MIP_CUBE, F32X1, 1, filters, 0);
        put_level(TEX_2D, R_MIP_2D, F32X1, 1, filters, 0);
        put_level(TEX_2D, R_MIP_2D, F32X1, 1, filters, 1.25f);
    }
    for (unsigned filters = 0; filters < 4; filters++) {
        put_level(GRAD_1D, R_MIP_1D, F32X1, 1, filters, 0);
        put_level(GRAD_2D, R_MIP_2D, F32X1, 1, filters, 0);
        put_level(GRAD_2D, R_MIP_2D, F32X1, 0, filters, .625f);
        put_level(GRAD_3D, R_MIP_3D, F32X1, 1, filters, 0);
        put_level(GRAD_A2D, R_MIP_A2D, F32X1, 1, filters, 0);
        put_level(GRAD_CUBE, R_MIP_CUBE, F32X1, 1, filters, 0);
    }
    put_level(LEVEL_2D, R_2D, F32X1, 1, 3, 0);
    put_level(LEVEL_ACUBE, R_ACUBE, F32X1, 1, 3, 0);
    put_level(LEVEL_A1D, R_A1D, F32X1, 1, 3, 0);
    put_level(GRAD_2D, R_2D, F32X1, 1, 3, 0);
    put_level(GRAD_A1D, R_A1D, F32X1, 1, 3, 0);
    put_level(LEVEL_I_2D, R_MIP_2D, F32X1, 1, 0, 0);
}

static void queries_of_textures(void)
{
    static const enum resource of[] = {R_1D,   R_2D,     R_3D,     R_A2D,
                                       R_CUBE, R_MIP_2D, R_LINEAR, R_PITCH};
    static const enum format as[] = {U8X4, S16X2, U16X1, F16X1, F32X1, S32X4};
    for (unsigned k = 0; k < COUNT(queries); k++) {
        struct question q = {.form = &queries[k],
                             .format = F32X1,
                             .texture = how(1, false, NORMALIZED),
                             .points = 1};
        for (unsigned i = 0; i < COUNT(of); i++) {
            q.resource = of[i];
            q.texture.flags = of[i] == R_LINEAR ? 0 : NORMALIZED;
            put(&q);
        }
        q.resource = R_2D;
        for (unsigned i = 0; i < COUNT(as); i++) {
            q.format = as[i];
            q.texture = how(3, false, CU_TRSF_READ_AS_INTEGER);
            put(&q);
        }
    }
}

static void surfaces(void)
{
    for (unsigned i = 0; i < COUNT(surface_forms); i++) {
        const struct surface_form *f = &surface_forms[i];
        const struct question q = {.form = &f->form,
                                   .resource = f->resource,
                                   .format = f->format,
                                   .is_surface = true,
                                   .stores = f->form.name[2] != 'l',
                                   .points = POINTS};
        put(&q);
    }
    static const enum resource of[] = {R_1D, R_2D, R_3D, R_A2D, R_CUBE};
    static const enum format as[] = {U8X4, S16X2, F16X1, F32X1};
    for (unsigned k = 0; k < COUNT(surface_queries); k++) {
        struct question q = {
            .form = &surface_queries[k], .is_surface = true, .points = 1};
        for (unsigned i = 0; i < COUNT(of); i++) {
            q.resource = of[i];
            q.format = as[i % COUNT(as)];
            put(&q);
        }
    }
}

int main(int argc, char **argv)
{
    DEVICE_OR_SKIP();
    (void)use_primary();
    if (argc == 3 && strcmp(argv[1], "--record") == 0)
        recording = fopen(argv[2], "wb");
    else if (!(recorded = fopen(TEXTURE_EXPECTED, "rb")))
        return 1;
    RUN(formats_modes_and_filters);
    RUN(layers_and_cubes);
    RUN(integer_coordinates);
    RUN(linear_memory);
    RUN(halves_and_gathers);
    RUN(levels);
    RUN(queries_of_textures);
    RUN(surfaces);
    printf("%u questions compared, %u without a recording\n", compared, unrecorded);
    if (recorded && unrecorded > 0)
        return 1;
    return test_done();
}
