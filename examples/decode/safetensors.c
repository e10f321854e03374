// SPDX-License-Identifier: Apache-2.0
/* The safetensors reader. */
#include "safetensors.h"

#include "fail.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name;
    uint32_t bytes;
} types[] = {
#define X(name, bytes) {#name, bytes},
    TENSOR_TYPES(X)
#undef X
};
enum { TYPE_COUNT = sizeof(types) / sizeof(types[0]) };

const char *tensor_type_name(tensor_type type)
{
    return types[type].name;
}

static gph_status read_type(const json_node *node, tensor *t, gph_error *error)
{
    if (node == NULL || node->kind != JSON_STRING)
        return fail(error, GPH_E_FORMAT, "tensor %.100s has no dtype", t->name);
    for (int i = 0; i < TYPE_COUNT; i++)
        if (strcmp(node->text, types[i].name) == 0) {
            t->type = (tensor_type)i;
            return GPH_OK;
        }
    return fail(error, GPH_E_FORMAT, "tensor %.100s has the unknown dtype %.20s", t->name,
                node->text);
}

static gph_status read_shape(const json *doc, const json_node *node, tensor *t,
                             gph_error *error)
{
    if (node == NULL || node->kind != JSON_ARRAY)
        return fail(error, GPH_E_FORMAT, "tensor %.100s has no shape", t->name);
    if (node->count > TENSOR_DIMS_MAX)
        return fail(error, GPH_E_FORMAT,
                    "tensor %.100s has %u dimensions, %d is the most", t->name,
                    node->count, TENSOR_DIMS_MAX);
    t->count = 1;
    for (uint32_t i = node->first; i != 0; i = doc->node[i].next) {
        uint64_t size;
        if (!json_u64(&doc->node[i], &size))
            return fail(error, GPH_E_FORMAT,
                        "dimension %u of tensor %.100s is not a size", t->dims, t->name);
        if (size != 0 && t->count > (UINT64_MAX / 8) / size)
            return fail(error, GPH_E_FORMAT, "the shape of tensor %.100s overflows",
                        t->name);
        t->count *= size;
        t->shape[t->dims++] = size;
    }
    return GPH_OK;
}

static gph_status read_offsets(const json *doc, const json_node *node, tensor *t,
                               gph_error *error)
{
    if (node == NULL || node->kind != JSON_ARRAY || node->count != 2 ||
        !json_u64(&doc->node[node->first], &t->begin) ||
        !json_u64(&doc->node[doc->node[node->first].next], &t->end))
        return fail(error, GPH_E_FORMAT, "tensor %.100s has no data_offsets [begin, end]",
                    t->name);
    const uint64_t bytes = t->count * types[t->type].bytes;
    if (t->begin > t->end || t->end - t->begin != bytes)
        return fail(error, GPH_E_FORMAT,
                    "tensor %.100s has bytes %llu to %llu, its shape needs %llu", t->name,
                    (unsigned long long)t->begin, (unsigned long long)t->end,
                    (unsigned long long)bytes);
    return GPH_OK;
}

static gph_status check_metadata(const json *doc, const json_node *node, gph_error *error)
{
    if (node->kind != JSON_OBJECT)
        return fail(error, GPH_E_FORMAT, "__metadata__ is not an object");
    for (uint32_t i = node->first; i != 0; i = doc->node[i].next)
        if (doc->node[i].kind != JSON_STRING)
            return fail(error, GPH_E_FORMAT, "__metadata__ %.100s is not a string",
                        doc->node[i].key);
    return GPH_OK;
}

static int by_offset(const void *a, const void *b)
{
    const tensor *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const tensor *)a)->name, ((const tensor *)b)->name);
}

/* Every byte belongs to one tensor; no name occurs twice. Leaves the list by name. */
static gph_status check_whole(tensors *file, uint64_t data_bytes, gph_error *error)
{
    uint64_t at = 0;
    if (file->count > 0)
        qsort(file->list, file->count, sizeof(*file->list), by_offset);
    for (uint32_t i = 0; i < file->count; i++) {
        const tensor *t = &file->list[i];
        if (t->begin != at)
            return fail(error, GPH_E_FORMAT,
                        "tensor %.100s starts at byte %llu, the one before ends at %llu",
                        t->name, (unsigned long long)t->begin, (unsigned long long)at);
        at = t->end;
    }
    if (at != data_bytes)
        return fail(error, GPH_E_FORMAT, "the tensors have %llu bytes, the file has %llu",
                    (unsigned long long)at, (unsigned long long)data_bytes);
    if (file->count > 0)
        qsort(file->list, file->count, sizeof(*file->list), by_name);
    for (uint32_t i = 1; i < file->count; i++)
        if (strcmp(file->list[i - 1].name, file->list[i].name) == 0)
            return fail(error, GPH_E_FORMAT, "tensor %.100s occurs twice",
                        file->list[i].name);
    return GPH_OK;
}

static gph_status read_list(tensors *file, gph_error *error)
{
    const json *doc = &file->header;
    for (uint32_t i = doc->node[0].first; i != 0; i = doc->node[i].next) {
        const json_node *node = &doc->node[i];
        if (strcmp(node->key, "__metadata__") == 0) {
            TRY(check_metadata(doc, node, error));
            continue;
        }
        tensor *t = &file->list[file->count];
        *t = (tensor){.name = node->key};
        if (node->kind != JSON_OBJECT)
            return fail(error, GPH_E_FORMAT, "tensor %.100s is not an object", t->name);
        TRY(read_type(json_member(doc, node, "dtype"), t, error));
        TRY(read_shape(doc, json_member(doc, node, "shape"), t, error));
        TRY(read_offsets(doc, json_member(doc, node, "data_offsets"), t, error));
        file->count++;
    }
    return GPH_OK;
}

gph_status tensors_parse(const gph_allocator *heap, const char *header, size_t bytes,
                         uint64_t data_bytes, tensors *out, gph_error *error)
{
    tensors file = {.heap = *heap, .file = -1, .data_at = 8 + (uint64_t)bytes};
    TRY(json_read(heap, header, bytes, &file.header, error));
    gph_status status = GPH_OK;
    if (file.header.node[0].kind != JSON_OBJECT)
        status = fail(error, GPH_E_FORMAT, "the header is not a JSON object");
    if (status == GPH_OK) {
        file.capacity = file.header.node[0].count;
        file.list = heap_alloc(heap, file.capacity * sizeof(*file.list));
        if (file.list == NULL)
            status = fail(error, GPH_E_NO_MEMORY, "reading %u tensors", file.capacity);
    }
    if (status == GPH_OK)
        status = read_list(&file, error);
    if (status == GPH_OK)
        status = check_whole(&file, data_bytes, error);
    if (status != GPH_OK) {
        tensors_close(&file);
        return status;
    }
    *out = file;
    return GPH_OK;
}

static gph_status read_at(int file, void *out, size_t bytes, uint64_t at,
                          gph_error *error)
{
    char *to = out;
    while (bytes > 0) {
        const ssize_t got = pread(file, to, bytes, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fail(error, GPH_E_FORMAT, "reading %zu bytes at %llu: %s", bytes,
                        (unsigned long long)at,
                        got < 0 ? strerror(errno) : "the file ends");
        to += got;
        at += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return GPH_OK;
}

static gph_status open_checked(const gph_allocator *heap, int file, tensors *out,
                               gph_error *error)
{
    struct stat facts;
    if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode))
        return fail(error, GPH_E_FORMAT, "not a regular file");
    const uint64_t size = (uint64_t)facts.st_size;
    unsigned char raw[8];
    if (size < sizeof(raw))
        return fail(error, GPH_E_FORMAT, "%llu bytes are not a safetensors file",
                    (unsigned long long)size);
    TRY(read_at(file, raw, sizeof(raw), 0, error));
    uint64_t bytes = 0;
    for (int i = 7; i >= 0; i--)
        bytes = bytes << 8 | raw[i];
    if (bytes > JSON_BYTES_MAX || bytes > size - 8)
        return fail(error, GPH_E_FORMAT, "a header of %llu bytes in a file of %llu",
                    (unsigned long long)bytes, (unsigned long long)size);
    char *header = heap_alloc(heap, (size_t)bytes);
    if (header == NULL)
        return fail(error, GPH_E_NO_MEMORY, "a header of %llu bytes",
                    (unsigned long long)bytes);
    gph_status status = read_at(file, header, (size_t)bytes, 8, error);
    if (status == GPH_OK)
        status = tensors_parse(heap, header, (size_t)bytes, size - 8 - bytes, out, error);
    heap_free(heap, header, (size_t)bytes);
    return status;
}

gph_status tensors_open(const gph_allocator *heap, const char *path, tensors *out,
                        gph_error *error)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return fail(error, GPH_E_INVALID, "%s: %s", path, strerror(errno));
    gph_error why = {0};
    const gph_status status = open_checked(heap, file, out, &why);
    if (status != GPH_OK) {
        close(file);
        return fail(error, status, "%s: %s", path, why.message);
    }
    out->file = file;
    return GPH_OK;
}

void tensors_close(tensors *file)
{
    if (file->file >= 0)
        close(file->file);
    heap_free(&file->heap, file->list, file->capacity * sizeof(*file->list));
    if (file->header.node != NULL)
        json_fini(&file->header);
    *file = (tensors){.file = -1};
}

const tensor *tensors_find(const tensors *file, const char *name)
{
    const tensor wanted = {.name = name};
    return file->count
               ? bsearch(&wanted, file->list, file->count, sizeof(*file->list), by_name)
               : NULL;
}

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static float from_half(uint32_t half)
{
    const uint32_t sign = (half & 0x8000u) << 16, rest = half & 0x7fffu;
    if (rest >= 0x7c00u) /* infinity, NaN */
        return from_bits(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    if (rest >= 0x400u)
        return from_bits(sign | ((rest << 13) + (112u << 23)));
    const float small = (float)rest * 0x1p-24f; /* denormal, or zero */
    return sign ? -small : small;
}

gph_status tensors_read_bytes(const tensors *file, const tensor *which, void *out,
                              gph_error *error)
{
    return read_at(file->file, out, (size_t)(which->end - which->begin),
                   file->data_at + which->begin, error);
}

gph_status tensors_read(const tensors *file, const tensor *which, float *out,
                        gph_error *error)
{
    if (which->type == TENSOR_F32)
        return tensors_read_bytes(file, which, out, error);
    if (which->type != TENSOR_F16 && which->type != TENSOR_BF16)
        return fail(error, GPH_E_UNSUPPORTED,
                    "tensor %.100s is %s; F32, F16, BF16 can be read", which->name,
                    tensor_type_name(which->type));
    uint16_t chunk[8192];
    for (uint64_t done = 0; done < which->count;) {
        uint64_t some = which->count - done;
        if (some > 8192)
            some = 8192;
        TRY(read_at(file->file, chunk, (size_t)some * 2,
                    file->data_at + which->begin + done * 2, error));
        for (uint64_t i = 0; i < some; i++)
            out[done + i] = which->type == TENSOR_F16
                                ? from_half(chunk[i])
                                : from_bits((uint32_t)chunk[i] << 16);
        done += some;
    }
    return GPH_OK;
}
