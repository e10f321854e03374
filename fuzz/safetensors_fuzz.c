// SPDX-License-Identifier: Apache-2.0
/* The safetensors reader and, by its header, the JSON reader. The first two bytes are the
 * size of the data that is said to follow the header; the rest is the header.
 * config.json's reader gets the same text. What is accepted must add up. */
#include "examples/decode/weights.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *plain(void *user, void *ptr, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const gph_allocator heap = {plain, NULL};
    if (size < 2)
        return 0;
    const uint64_t bytes = data[0] | (uint64_t)data[1] << 8;
    const char *text = (const char *)data + 2;
    tensors file;
    config c;
    gph_error error;
    if (tensors_parse(&heap, text, size - 2, bytes, &file, &error) == GPH_OK) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < file.count; i++) {
            if (file.list[i].begin > file.list[i].end || file.list[i].end > bytes)
                abort();
            sum += file.list[i].end - file.list[i].begin;
            if (tensors_find(&file, file.list[i].name) != &file.list[i])
                abort();
        }
        if (sum != bytes)
            abort();
        tensors_close(&file);
    }
    if (config_read(&heap, text, size - 2, &c, &error) == GPH_OK &&
        (c.heads % c.kv_heads != 0 || c.head_dim % 2 != 0 || c.end >= (int)c.vocab))
        abort();
    return 0;
}
