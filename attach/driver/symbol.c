// SPDX-License-Identifier: Apache-2.0
/* What follows from the table of symbols. */
#include "attach/driver/symbol.h"

attach_mask attach_masks[ATTACH_SYMBOL_COUNT];

void attach_masks_prepare(void)
{
    for (uint32_t i = 0; i < ATTACH_SYMBOL_COUNT; i++)
        for (uint32_t k = 0; k < attach_symbols[i].count; k++) {
            const uint16_t bit = (uint16_t)(1U << k);
            const uint8_t kind = attach_symbols[i].arguments[k].kind;
            if (kind == ATTACH_OUT)
                attach_masks[i].filled |= bit;
            else if (kind != ATTACH_WORD)
                attach_masks[i].parts |= bit;
        }
}
