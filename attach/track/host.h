// SPDX-License-Identifier: Apache-2.0
/* Host memory that graphs read and write, looked at before they are launched. */
#ifndef ATTACH_HOST_H
#define ATTACH_HOST_H
#include "attach/driver/call.h"

enum { ATTACH_HOSTS_MAX = 8 };

/* An executable has been made; nothing is known of it. */
void attach_host_forget(uint64_t exec);
/* One of its nodes. */
void attach_host_copy(uint64_t exec, const CUDA_MEMCPY3D *copy);
/* What a node's host function is given: the first bytes of what it points at. */
enum { ATTACH_HOST_USER_BYTES = 1 };
void attach_host_user(uint64_t exec, const void *user);
/* It is about to be launched: writes HOST, the first times. */
void attach_host_launch(const attach_call *call);
/* Calls for what its copies write. */
void attach_host_written(uint64_t exec, void (*each)(uint64_t address, uint64_t bytes));
/* Host memory as it is. `call` lies in the frame of the wrapper that the program called.
 */
gphi_host_bytes attach_host_now(const attach_call *call, uint64_t address, uint64_t bytes,
                                bool is_read);
#endif
