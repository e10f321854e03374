// SPDX-License-Identifier: Apache-2.0
/* The control kernels. Two modules, so that a driver which cannot start rounds from the
 * device still has the way of the host. */
#include "loop/loop.h"

const gphi_kernel_text gphi_loop_text = {
    .what = "the kernels of loops",
    .ptx = gphi_loop_ptx,
    .names = {[GPHI_LOOP_HOST_BEGIN] = "gph_loop_host_begin",
              [GPHI_LOOP_HOST_ROUND] = "gph_loop_host_round",
              [GPHI_LOOP_STEP] = "gph_loop_step",
              [GPHI_LOOP_WORK] = "gph_loop_work"}};

const gphi_kernel_text gphi_loop_device_text = {
    .what = "the kernels of loops on the device",
    .ptx = gphi_loop_device_ptx,
    .names = {[GPHI_LOOP_WHILE_BEGIN] = "gph_loop_while_begin",
              [GPHI_LOOP_WHILE_ROUND] = "gph_loop_while_round",
              [GPHI_LOOP_TAIL_BEGIN] = "gph_loop_tail_begin",
              [GPHI_LOOP_TAIL_ROUND] = "gph_loop_tail_round"}};
