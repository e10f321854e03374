// SPDX-License-Identifier: Apache-2.0
/* The safetensors reader of examples/decode: what it reads, and what it must refuse. */
#include "examples/decode/safetensors.h"
#include "fault.h"
#include "test.h"
#include <math.h>
#include <unistd.h>

static fault_heap heap;
static gph_allocator allocator(long fail_at)
{
    atomic_store(&heap.fail_at, fail_at);
    atomic_store(&heap.live_bytes, 0);
    return (gph_allocator){fault_realloc, &heap};
}

static gph_status parse(const char *header, uint64_t data, tensors *out, gph_error *error)
{
    const gph_allocator plain = allocator(-1);
    return tensors_parse(&plain, header, strlen(header), data, out, error);
}

static const char two[] =
    "{\"__metadata__\":{\"format\":\"pt\"},"
    "\"b\":{\"dtype\":\"F16\",\"shape\":[2,3],\"data_offsets\":[8,20]},"
    "\"a\":{\"shape\":[2],\"data_offsets\":[0,8],\"dtype\":\"F32\"}}    ";

static void reads_names_types_and_shapes(void)
{
    tensors file;
    gph_error error = {0};
    if (!CHECK_OK(parse(two, 20, &file, &error), error))
        return;
    CHECK(file.count == 2);
    const tensor *a = tensors_find(&file, "a"), *b = tensors_find(&file, "b");
    CHECK(a != NULL && a->type == TENSOR_F32 && a->dims == 1 && a->count == 2);
    CHECK(b != NULL && b->type == TENSOR_F16 && b->dims == 2 && b->shape[1] == 3);
    CHECK(b != NULL && b->begin == 8 && b->end == 20);
    CHECK(tensors_find(&file, "c") == NULL);
    tensors_close(&file);
    CHECK(atomic_load(&heap.live_bytes) == 0);
}

static void reads_scalars_and_empty_tensors(void)
{
    tensors file;
    gph_error error = {0};
    if (CHECK_OK(
            parse("{\"s\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
                  "\"e\":{\"dtype\":\"I64\",\"shape\":[0,7],\"data_offsets\":[4,4]}}",
                  4, &file, &error),
            error))
        tensors_close(&file);
    if (CHECK_OK(parse("{}", 0, &file, &error), error))
        tensors_close(&file);
}

/* A header, the data after it, and a word of the refusal. */
static const struct {
    const char *header;
    uint64_t data;
    const char *says;
} bad[] = {
    {"[]", 0, "not a JSON object"},
    {"{\"a\":1}", 0, "not an object"},
    {"{\"__metadata__\":1}", 0, "__metadata__"},
    {"{\"__metadata__\":{\"a\":1}}", 0, "not a string"},
    {"{}", 1, "the file has 1"},
    {"{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "no dtype"},
    {"{\"a\":{\"dtype\":\"F31\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "F31"},
    {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, "no shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4,
     "not a size"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}", 4,
     "not a size"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, "data_offsets"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4, "needs 4"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, "needs 8"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 3, "has 3"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 5, "has 5"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8, "starts at"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[2,6]}}",
     6, "starts at"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
     4, "starts at"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
     "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
     8, "twice"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],"
     "\"data_offsets\":[0,0]}}",
     0, "overflows"},
    {"{\"a\":{\"dtype\":\"F64\",\"shape\":[2305843009213693952],"
     "\"data_offsets\":[0,0]}}",
     0, "overflows"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]}}", 1,
     "dimensions"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}} x", 1, "follows"},
};

static void refuses_what_does_not_add_up(void)
{
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        tensors file;
        gph_error error = {0};
        if (!CHECK(parse(bad[i].header, bad[i].data, &file, &error) == GPH_E_FORMAT))
            fprintf(stderr, "  accepted: %s\n", bad[i].header);
        if (!CHECK(strstr(error.message, bad[i].says) != NULL))
            fprintf(stderr, "  says: %s\n", error.message);
        CHECK(atomic_load(&heap.live_bytes) == 0);
    }
}

static void keeps_control_characters_out_of_messages(void)
{
    tensors file;
    gph_error error = {0};
    CHECK(parse("{\"\\u001b[2J\":{}}", 0, &file, &error) == GPH_E_FORMAT);
    CHECK(strchr(error.message, 27) == NULL && strstr(error.message, "?[2J") != NULL);
}

static void put(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
}

static gph_status open_bytes(const void *bytes, size_t count, tensors *out,
                             gph_error *error)
{
    char path[64];
    snprintf(path, sizeof(path), "safetensors_%ld.tmp", (long)getpid());
    put(path, bytes, count);
    const gph_allocator plain = allocator(-1);
    const gph_status status = tensors_open(&plain, path, out, error);
    unlink(path);
    return status;
}

static void refuses_files_that_are_cut_or_lie(void)
{
    unsigned char file[64] = {16};
    memcpy(file + 8, "{}              ", 16);
    tensors out;
    gph_error error = {0};
    for (size_t count = 0; count < 24; count++)
        CHECK(open_bytes(file, count, &out, &error) == GPH_E_FORMAT);
    if (CHECK_OK(open_bytes(file, 24, &out, &error), error))
        tensors_close(&out);
    CHECK(open_bytes(file, 25, &out, &error) == GPH_E_FORMAT);
    memset(file, 0xff, 8); /* a header of 2^64 - 1 bytes */
    CHECK(open_bytes(file, 24, &out, &error) == GPH_E_FORMAT);
    const gph_allocator plain = allocator(-1);
    CHECK(tensors_open(&plain, "no such file", &out, &error) == GPH_E_INVALID);
    CHECK(tensors_open(&plain, ".", &out, &error) == GPH_E_FORMAT);
}

static void converts_halves_exactly(void)
{
    static const uint16_t half[] = {0x0000, 0x8000, 0x3c00, 0xc000, 0x7bff, 0x0001,
                                    0x03ff, 0x0400, 0x7c00, 0xfc00, 0x3555};
    static const float wide[] = {0,        -0.0f,     1,          -2,
                                 65504.0f, 0x1p-24f,  0x3ffp-24f, 0x1p-14f,
                                 INFINITY, -INFINITY, 0x1.554p-2f};
    const char header[] =
        "{\"h\":{\"dtype\":\"F16\",\"shape\":[11],\"data_offsets\":[0,22]},"
        "\"b\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[22,24]},"
        "\"i\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[24,28]}}";
    unsigned char file[512] = {sizeof(header) - 1};
    const uint16_t minus_two = 0xc000; /* bf16 */
    memcpy(file + 8, header, sizeof(header) - 1);
    memcpy(file + 8 + sizeof(header) - 1, half, sizeof(half));
    memcpy(file + 8 + sizeof(header) - 1 + 22, &minus_two, 2);
    tensors out;
    gph_error error = {0};
    char path[64];
    snprintf(path, sizeof(path), "safetensors_%ld.tmp", (long)getpid());
    put(path, file, 8 + sizeof(header) - 1 + 28);
    const gph_allocator plain = allocator(-1);
    if (CHECK_OK(tensors_open(&plain, path, &out, &error), error)) {
        float got[11];
        CHECK_OK(tensors_read(&out, tensors_find(&out, "h"), got, &error), error);
        CHECK(memcmp(got, wide, sizeof(wide)) == 0);
        CHECK_OK(tensors_read(&out, tensors_find(&out, "b"), got, &error), error);
        CHECK(got[0] == -2.0f);
        CHECK(tensors_read(&out, tensors_find(&out, "i"), got, &error) ==
              GPH_E_UNSUPPORTED);
        CHECK(truncate(path, 8 + sizeof(header)) == 0);
        CHECK(tensors_read(&out, tensors_find(&out, "h"), got, &error) == GPH_E_FORMAT);
        tensors_close(&out);
    }
    unlink(path);
}

static void survives_every_failed_allocation(void)
{
    for (long nth = 0;; nth++) {
        const gph_allocator failing = allocator(nth);
        tensors file;
        gph_error error = {0};
        const gph_status status =
            tensors_parse(&failing, two, strlen(two), 20, &file, &error);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        if (status == GPH_OK)
            tensors_close(&file);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (status == GPH_OK)
            return;
    }
}

int main(void)
{
    RUN(reads_names_types_and_shapes);
    RUN(reads_scalars_and_empty_tensors);
    RUN(refuses_what_does_not_add_up);
    RUN(keeps_control_characters_out_of_messages);
    RUN(refuses_files_that_are_cut_or_lie);
    RUN(converts_halves_exactly);
    RUN(survives_every_failed_allocation);
    return test_done();
}
