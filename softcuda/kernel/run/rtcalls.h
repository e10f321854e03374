// SPDX-License-Identifier: Apache-2.0
/* The functions that generated code calls: PTX_RUNTIME_CALLS as C prototypes, and the
 * look-up by name that the loader uses. */
#ifndef SOFT_KERNEL_RUN_RTCALLS_H
#define SOFT_KERNEL_RUN_RTCALLS_H

#include "softcuda/ptx/abi.h"

void ptx_rt_safepoint(ptx_block *block);
void ptx_rt_trap(ptx_block *block, uint32_t thread);
void ptx_rt_assertfail(ptx_block *block, uint32_t thread, uint64_t message, uint64_t file,
                       uint32_t line, uint64_t function, uint64_t char_bytes);
uint32_t ptx_rt_vprintf(ptx_block *block, uint32_t thread, uint64_t format,
                        uint64_t arguments);
void ptx_rt_set_conditional(ptx_block *block, uint32_t thread, uint64_t handle,
                            uint32_t value);
uint32_t ptx_rt_graph_launch(ptx_block *block, uint32_t thread, uint64_t exec,
                             uint64_t stream);
uint32_t ptx_rt_node_param(ptx_block *block, uint32_t thread, uint64_t node,
                           uint64_t offset, uint64_t value, uint64_t bytes);
uint32_t ptx_rt_node_enabled(ptx_block *block, uint32_t thread, uint64_t node,
                             uint32_t enabled);
uint32_t ptx_rt_node_grid(ptx_block *block, uint32_t thread, uint64_t node, uint32_t x,
                          uint32_t y, uint32_t z);
uint32_t ptx_rt_node_updates(ptx_block *block, uint32_t thread, uint64_t updates,
                             uint64_t count);
uint64_t ptx_rt_nested(ptx_block *block, uint32_t thread, uint32_t which, uint64_t a,
                       uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
                       uint64_t g, uint64_t h);
uint64_t ptx_rt_malloc(ptx_block *block, uint64_t bytes);
void ptx_rt_free(ptx_block *block, uint64_t address);
void ptx_rt_unsupported(ptx_block *block, uint32_t thread, uint32_t line);
void ptx_rt_bad_target(ptx_block *block, uint32_t thread, uint64_t address);
void *ptx_rt_check(ptx_block *block, uint32_t thread, uint64_t address, uint32_t bytes,
                   uint32_t line);
uint64_t ptx_rt_clock(void);
uint64_t ptx_rt_globaltimer(void);
void ptx_rt_nanosleep(ptx_block *block, uint32_t ns);
uint32_t ptx_rt_barrier(ptx_thread *thread, uint32_t id, uint32_t count,
                        uint32_t operation, uint32_t predicate);
void ptx_rt_cluster_wait(ptx_block *block);
void ptx_rt_thread_cluster_wait(ptx_thread *thread);
void ptx_rt_barrier_arrive(ptx_thread *thread, uint32_t id, uint32_t count);
void ptx_rt_syncwarp(ptx_thread *thread, uint32_t mask);
uint64_t ptx_rt_shfl(ptx_thread *thread, uint32_t mask, uint32_t mode, uint32_t value,
                     uint32_t b, uint32_t c);
uint32_t ptx_rt_vote(ptx_thread *thread, uint32_t mask, uint32_t mode,
                     uint32_t predicate);
uint64_t ptx_rt_match(ptx_thread *thread, uint32_t mask, uint32_t mode, uint32_t bytes,
                      uint64_t value);
uint32_t ptx_rt_redux(ptx_thread *thread, uint32_t mask, uint32_t operation,
                      uint32_t value);
uint64_t ptx_rt_elect(ptx_thread *thread, uint32_t mask);
uint32_t ptx_rt_activemask(ptx_thread *thread, uint32_t place);
void ptx_rt_matrix(ptx_block *block, uint64_t word, uint32_t active, uint32_t first,
                   uint32_t line, uint32_t has_stride, void *slots);
void ptx_rt_thread_matrix(ptx_thread *thread, uint64_t word, uint32_t line,
                          uint32_t has_stride, uint64_t *values);
/* Returned as LLVM returns <4 x i32>: in a vector register. */
typedef uint32_t ptx_words4 __attribute__((vector_size(16)));
ptx_words4 ptx_rt_texture(ptx_block *block, uint32_t thread, uint64_t word,
                          uint64_t handle, uint32_t a, uint32_t b, uint32_t c, uint32_t d,
                          uint32_t e, uint32_t f, uint32_t g, uint32_t h, uint32_t i,
                          uint32_t j, uint32_t k, uint32_t l);
uint32_t ptx_rt_tensor(ptx_block *block, uint32_t thread, uint32_t word, uint64_t map,
                       uint64_t box, uint32_t a, uint32_t b, uint32_t c, uint32_t d,
                       uint32_t e, uint32_t first, uint32_t second, uint32_t blocks);
uint32_t ptx_rt_multicast(ptx_block *block, uint32_t thread, uint32_t mask);
void ptx_rt_thread_safepoint(ptx_thread *thread);
uint64_t ptx_rt_mbarrier(ptx_thread *thread, uint64_t address, uint32_t operation,
                         uint64_t argument);

/* Where to read a text of the kernel's: see soft_kernel_env_options.check. */
const void *soft_rtcall_reach(const ptx_block *block, uint64_t address);

/* The address of a run-time call, of a memory function or of a libm function that
 * generated code may call; 0: it is none. */
uint64_t soft_rtcall_find(const char *name);

#endif
