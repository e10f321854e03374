// SPDX-License-Identifier: Apache-2.0
/* Relocations of x86-64 (System V ABI, AMD64 supplement, table 4.9). */
#include "softcuda/kernel/load/loader.h"

#if defined(__x86_64__)
#include <elf.h>
#include <string.h>

const uint16_t soft_machine = EM_X86_64;

bool soft_relocation_known(uint32_t type, soft_relocation_need *need)
{
    switch (type) {
    case R_X86_64_NONE:
    case R_X86_64_64:
    case R_X86_64_PC32:
    case R_X86_64_PC64:
    case R_X86_64_32:
    case R_X86_64_32S: *need = SOFT_RELOCATION_PLAIN; return true;
    case R_X86_64_PLT32: *need = SOFT_RELOCATION_BRANCH; return true;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX: *need = SOFT_RELOCATION_GOT; return true;
    default: return false;
    }
}

static bool put(const soft_patch *patch, uint64_t value, size_t bytes)
{
    if (patch->room < bytes)
        return false;
    memcpy(patch->where, &value, bytes); /* little-endian, as the machine is */
    return true;
}

bool soft_relocation_apply(const soft_patch *patch)
{
    const uint64_t sum = patch->value + (uint64_t)patch->addend;
    const int64_t away = (int64_t)(sum - patch->place);
    switch (patch->type) {
    case R_X86_64_NONE: return true;
    case R_X86_64_64: return put(patch, sum, 8);
    case R_X86_64_PC64: return put(patch, (uint64_t)away, 8);
    case R_X86_64_32: return sum <= UINT32_MAX && put(patch, sum, 4);
    case R_X86_64_32S: return (int64_t)sum == (int32_t)sum && put(patch, sum, 4);
    default: return away == (int32_t)away && put(patch, (uint64_t)away, 4);
    }
}

void soft_stub_write(unsigned char *where, uint64_t target)
{
    static const unsigned char jump[8] = {0xff, 0x25, 2, 0, 0, 0, 0xcc, 0xcc};
    memcpy(where, jump, sizeof(jump)); /* jmp *[rip + 2]: the word after it */
    memcpy(where + sizeof(jump), &target, sizeof(target));
}
#endif
