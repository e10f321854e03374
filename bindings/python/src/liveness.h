// SPDX-License-Identifier: Apache-2.0
/* Whether outputs of PyTorch's graph trees are dead, without its Python. For PathHit. */
#ifndef GPHPY_LIVENESS_H
#define GPHPY_LIVENESS_H
#include "gphpy.h"

int gphpy_liveness_ready(void); /* once, when the module is made */
/* What has to be dead: None, a function without arguments, or a tuple (torch._C._storage_Use_Count,
 * name, ...), where each further item is (the node's outputs_weakrefs, its cached_tensor_outputs,
 * index). -1 with an exception: it is not one of these. */
int gphpy_liveness_check(PyObject *what);
/* CUDAGraphNode._check_liveness: 1: all are dead, 0, or -1 with an exception. */
int gphpy_all_dead(PyObject *what);
#endif
