// SPDX-License-Identifier: Apache-2.0
#ifndef ABI_FACTS_H
#define ABI_FACTS_H
#include <stddef.h>

struct abi_fact {
    const char *what;
    long long value;
};
extern const struct abi_fact abi_ours[], abi_theirs[];
extern const size_t abi_ours_count, abi_theirs_count;
#endif
