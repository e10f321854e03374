// SPDX-License-Identifier: Apache-2.0
/* Tensors as PyTorch's allocator gives them out: parts of one allocation of the driver's. */
#ifndef BLOCKS_H
#define BLOCKS_H
#include <stddef.h>
#include <stdint.h>

enum { TENSOR_BYTES = 4096 };

#ifdef __cplusplus
extern "C" {
#endif
uint64_t tensor_new(void); /* 0: there is no room */
void tensor_delete(uint64_t at);
void tensor_on_host(void);
/* libc10's: blocks taken, given back, of other devices; bytes in use. */
void c10_heard(long out[4]);
#ifdef __cplusplus
}
#endif
#endif
