// SPDX-License-Identifier: Apache-2.0
/* The facts of tests/abi/facts.inc as our own header states them. */
#include "abi_facts.h"
#include "cuda/abi.h"

#define SIZE(type) {"sizeof(" #type ")", (long long)sizeof(type)},
#define OFFSET(type, field) {#type "." #field, (long long)offsetof(type, field)},
#define VALUE(name) {#name, (long long)(name)},

const struct abi_fact abi_ours[] = {
#include "facts.inc"
};
const size_t abi_ours_count = sizeof(abi_ours) / sizeof(abi_ours[0]);
