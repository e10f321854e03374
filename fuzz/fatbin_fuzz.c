// SPDX-License-Identifier: Apache-2.0
/* Module images: whatever the bytes are, PTX is found within them or they are refused. */
#include <stdint.h>
#include <string.h>

#include "softcuda/kernel/load/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A wrapper holds an address, which no input can make valid. */
    static const uint8_t wrapper[4] = {0xb1, 0x43, 0x62, 0x46};
    if (size < 4 || memcmp(data, wrapper, sizeof(wrapper)) == 0)
        return 0;
    soft_ptx_text text;
    if (soft_ptx_find(data, size, NULL, &text, NULL) == GPH_OK) {
        volatile char last = 0;
        for (size_t i = 0; i < text.bytes; i++)
            last = text.text[i];
        (void)last;
        soft_ptx_text_fini(&text);
    }
    return 0;
}
