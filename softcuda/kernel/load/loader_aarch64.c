// SPDX-License-Identifier: Apache-2.0
/* Relocations of AArch64 (ELF for the Arm 64-bit Architecture, section 5.7). */
#include "softcuda/kernel/load/loader.h"

#if defined(__aarch64__)
#include <elf.h>
#include <string.h>

const uint16_t soft_machine = EM_AARCH64;

bool soft_relocation_known(uint32_t type, soft_relocation_need *need)
{
    switch (type) {
    case R_AARCH64_NONE:
    case R_AARCH64_ABS64:
    case R_AARCH64_ABS32:
    case R_AARCH64_PREL64:
    case R_AARCH64_PREL32:
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
    case R_AARCH64_LDST16_ABS_LO12_NC:
    case R_AARCH64_LDST32_ABS_LO12_NC:
    case R_AARCH64_LDST64_ABS_LO12_NC:
    case R_AARCH64_LDST128_ABS_LO12_NC: *need = SOFT_RELOCATION_PLAIN; return true;
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26: *need = SOFT_RELOCATION_BRANCH; return true;
    case R_AARCH64_ADR_GOT_PAGE:
    case R_AARCH64_LD64_GOT_LO12_NC: *need = SOFT_RELOCATION_GOT; return true;
    default: return false;
    }
}

static bool put(const soft_patch *patch, uint64_t value, size_t bytes)
{
    if (patch->room < bytes)
        return false;
    memcpy(patch->where, &value, bytes);
    return true;
}

/* Sets `count` bits of the instruction from bit `at`. */
static bool put_bits(const soft_patch *patch, uint64_t value, unsigned at, unsigned count)
{
    uint32_t insn;
    if (patch->room < sizeof(insn))
        return false;
    memcpy(&insn, patch->where, sizeof(insn));
    const uint32_t mask = ((1u << count) - 1) << at;
    insn = (insn & ~mask) | (((uint32_t)value << at) & mask);
    memcpy(patch->where, &insn, sizeof(insn));
    return true;
}

static bool put_page(const soft_patch *patch, uint64_t sum)
{
    const int64_t pages = (int64_t)((sum & ~0xfffull) - (patch->place & ~0xfffull)) >> 12;
    if (pages < -(1 << 20) || pages >= 1 << 20)
        return false;
    return put_bits(patch, (uint64_t)pages & 3, 29, 2) &&
           put_bits(patch, ((uint64_t)pages >> 2) & 0x7ffff, 5, 19);
}

static bool put_low(const soft_patch *patch, uint64_t sum, unsigned shift)
{
    return (sum & ((1u << shift) - 1)) == 0 &&
           put_bits(patch, (sum & 0xfff) >> shift, 10, 12);
}

static bool put_branch(const soft_patch *patch, int64_t away)
{
    return away % 4 == 0 && away >= -(1 << 27) && away < 1 << 27 &&
           put_bits(patch, (uint64_t)(away >> 2) & 0x3ffffff, 0, 26);
}

bool soft_relocation_apply(const soft_patch *patch)
{
    const uint64_t sum = patch->value + (uint64_t)patch->addend;
    const int64_t away = (int64_t)(sum - patch->place);
    switch (patch->type) {
    case R_AARCH64_NONE: return true;
    case R_AARCH64_ABS64: return put(patch, sum, 8);
    case R_AARCH64_ABS32: return sum <= UINT32_MAX && put(patch, sum, 4);
    case R_AARCH64_PREL64: return put(patch, (uint64_t)away, 8);
    case R_AARCH64_PREL32: return away == (int32_t)away && put(patch, (uint64_t)away, 4);
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADR_GOT_PAGE: return put_page(patch, sum);
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC: return put_low(patch, sum, 0);
    case R_AARCH64_LDST16_ABS_LO12_NC: return put_low(patch, sum, 1);
    case R_AARCH64_LDST32_ABS_LO12_NC: return put_low(patch, sum, 2);
    case R_AARCH64_LDST64_ABS_LO12_NC:
    case R_AARCH64_LD64_GOT_LO12_NC: return put_low(patch, sum, 3);
    case R_AARCH64_LDST128_ABS_LO12_NC: return put_low(patch, sum, 4);
    default: return put_branch(patch, away);
    }
}

void soft_stub_write(unsigned char *where, uint64_t target)
{
    static const uint32_t jump[2] = {0x58000050, 0xd61f0200}; /* ldr x16, .+8; br x16 */
    memcpy(where, jump, sizeof(jump));
    memcpy(where + sizeof(jump), &target, sizeof(target));
}
#endif
