// SPDX-License-Identifier: Apache-2.0
/* The reader of recipes: bytes that begin with a 'g' are a file, others are contents, for
 * which a header is made that agrees with them. What is accepted is written and read
 * again, to the same bytes. */
#include "base/heap.h"
#include "file/bundle.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct gphi_bundle_limits limits = {.unpacked_bytes = 1 << 20,
                                                 .nodes = 10000};

/* The header of gphi_bundle_write_plain(). */
static void write_header(unsigned char head[48], uint64_t bytes)
{
    memset(head, 0, 48);
    memcpy(head, "gphr\r\n\x1a\n", 8);
    head[8] = GPHI_BUNDLE_VERSION;
    for (int i = 0; i < 8; i++)
        head[16 + i] = head[24 + i] = (unsigned char)(bytes >> (8 * i));
}

static void must(int is_right)
{
    if (!is_right)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const gph_allocator heap = gphi_heap(NULL);
    const size_t head = size > 0 && data[0] == 'g' ? 0 : 48;
    unsigned char *file = malloc(head + size + 1);
    if (file == NULL)
        return 0;
    if (head > 0)
        write_header(file, size);
    if (size > 0)
        memcpy(file + head, data, size);
    gphi_bundle bundle, again;
    gphi_bundle_init(&bundle, heap);
    gphi_bundle_init(&again, heap);
    gph_error error = {0};
    if (gphi_bundle_read(&bundle, file, head + size, &limits, &error) == GPH_OK) {
        gphi_vec first, second;
        gphi_vec_init(&first, heap, 1);
        gphi_vec_init(&second, heap, 1);
        const struct gphi_bundle_limits all = {.unpacked_bytes = UINT64_MAX,
                                               .nodes = UINT64_MAX};
        must(gphi_bundle_write_plain(&bundle, &first, &error) == GPH_OK);
        must(gphi_bundle_read(&again, first.items, first.count, &all, &error) == GPH_OK);
        must(gphi_bundle_write_plain(&again, &second, &error) == GPH_OK);
        must(first.count == second.count &&
             memcmp(first.items, second.items, first.count) == 0);
        gphi_vec_fini(&second);
        gphi_vec_fini(&first);
    } else {
        must(error.message[0] != '\0' && bundle.graphs.count == 0);
    }
    gphi_bundle_fini(&again);
    gphi_bundle_fini(&bundle);
    free(file);
    return 0;
}
