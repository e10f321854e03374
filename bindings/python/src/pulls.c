// SPDX-License-Identifier: Apache-2.0
/* A table of PULL slots, one an input, and a lock: a table is one thread's at a time, a Launcher
 * is any thread's. */
#include "pulls.h"

#include <pthread.h>
#include <stdlib.h>

struct gphpy_pulls {
    gph_slots *slots; /* NULL: not made yet */
    pthread_mutex_t mutex;
    uint32_t count;
    gph_slot inputs[]; /* as they are given to the table */
};

static int read_input(PyObject *pair, gph_slot *out)
{
    unsigned long long address = 0, bytes = 0;
    if (!PyTuple_Check(pair) ||
        !PyArg_ParseTuple(pair, "KK;pulls are pairs of address and bytes", &address,
                          &bytes)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "pulls are pairs of address and bytes");
        return -1;
    }
    *out = (gph_slot){
        .kind = GPH_SLOT_PULL, .bytes = bytes, .address = (CUdeviceptr)address};
    return 0;
}

int gphpy_pulls_read(PyObject *list, gphpy_pulls **out)
{
    *out = NULL;
    if (list == Py_None)
        return 0;
    const Py_ssize_t count = PySequence_Size(list);
    if (count <= 0)
        return count < 0 ? -1 : 0;
    gphpy_pulls *pulls =
        calloc(1, sizeof(*pulls) + (size_t)count * sizeof(*pulls->inputs));
    if (!pulls) {
        PyErr_NoMemory();
        return -1;
    }
    pthread_mutex_init(&pulls->mutex, NULL);
    pulls->count = (uint32_t)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *pair = PySequence_GetItem(list, i);
        const int read = pair ? read_input(pair, &pulls->inputs[i]) : -1;
        Py_XDECREF(pair);
        if (read < 0) {
            gphpy_pulls_free(pulls);
            return -1;
        }
    }
    *out = pulls;
    return 0;
}

void gphpy_pulls_free(gphpy_pulls *pulls)
{
    if (!pulls)
        return;
    gph_slots_destroy(pulls->slots);
    pthread_mutex_destroy(&pulls->mutex);
    free(pulls);
}

uint32_t gphpy_pulls_count(const gphpy_pulls *pulls)
{
    return pulls ? pulls->count : 0;
}

static gph_status enter(gphpy_pulls *pulls, gph_runtime *runtime, CUgraph graph)
{
    gph_error error = {0};
    gph_slots_options options = GPH_SLOTS_OPTIONS_INIT;
    options.flags = GPH_SLOTS_ONE_EXEC;
    options.depth = 256;
    options.wait_ns = UINT64_C(1) << 62; /* as for a place in the driver's queue */
    gph_status status = gph_slots_create(runtime, pulls->inputs, pulls->count, &options,
                                         &pulls->slots, &error);
    if (status == GPH_OK)
        status = gph_slots_enter(pulls->slots, graph, &error);
    return status;
}

gph_status gphpy_pulls_instantiate(gphpy_pulls **pulls, gph_runtime *runtime,
                                   CUgraph graph, const gph_exec_options *options,
                                   gph_exec **out, gph_error *error)
{
    gphpy_pulls *const it = *pulls;
    if (it && enter(it, runtime, graph) != GPH_OK) {
        /* Without: the graph is as it was, or it must not be launched. */
        const gph_status left = it->slots ? gph_slots_leave(it->slots, error) : GPH_OK;
        *pulls = NULL;
        gphpy_pulls_free(it);
        if (left != GPH_OK)
            return left;
    }
    const gph_status status = gph_exec_create(runtime, graph, options, out, error);
    const gph_status left =
        *pulls ? gph_slots_leave((*pulls)->slots, status == GPH_OK ? error : NULL)
               : GPH_OK;
    if (status == GPH_OK && left != GPH_OK) {
        gph_exec_destroy(*out);
        *out = NULL;
    }
    return status == GPH_OK ? left : status;
}

gph_status gphpy_pulls_launch(gphpy_pulls *pulls, gph_exec *exec, const CUdeviceptr *from,
                              CUstream stream, gph_error *error)
{
    gph_status status = GPH_OK;
    pthread_mutex_lock(&pulls->mutex);
    for (uint32_t i = 0; i < pulls->count && status == GPH_OK; i++)
        status = gph_slots_bind(pulls->slots, i,
                                from ? from[i] : pulls->inputs[i].address, error);
    if (status == GPH_OK)
        status = gph_slots_launch(pulls->slots, &exec, 1, stream, error);
    pthread_mutex_unlock(&pulls->mutex);
    return status;
}
