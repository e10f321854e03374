// SPDX-License-Identifier: Apache-2.0
/* What lies on the stack below the frames of a thread. Kernels' arguments that are structures
 * have bytes that nobody sets, and those are copied into a graph: what earlier calls left.
 *
 *   frames of Python, the caller   |   128 KiB that are filled   |   ...   lowest
 *                                  ^ here the operator that is called next has its frames */
#define _GNU_SOURCE
#include "gphpy.h"

enum { FILLED_BYTES = 128 * 1024 };

/* Where the thread's stack ends; UINTPTR_MAX: nobody knows. Asking takes a while on the main
 * thread, which reads it from a file. */
static uintptr_t lowest_of_stack(void)
{
    static _Thread_local uintptr_t lowest;
    pthread_attr_t attributes;
    if (lowest != 0)
        return lowest;
    lowest = UINTPTR_MAX;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return lowest;
    void *address = NULL;
    size_t bytes = 0;
    if (pthread_attr_getstack(&attributes, &address, &bytes) == 0 && address)
        lowest = (uintptr_t)address;
    pthread_attr_destroy(&attributes);
    return lowest;
}

__attribute__((noinline)) static void fill(int byte)
{
    unsigned char below[FILLED_BYTES];
    memset(below, byte, sizeof(below));
    /* says that they are read, so that they are stored */
    __asm__ volatile("" : : "r"(below) : "memory");
}

PyObject *gphpy_fill_stack(PyObject *module, PyObject *object)
{
    (void)module;
    const long byte = PyLong_AsLong(object);
    if (byte == -1 && PyErr_Occurred())
        return NULL;
    if (byte < 0 || byte > 255) {
        PyErr_Format(PyExc_ValueError, "byte is %ld, not 0 to 255", byte);
        return NULL;
    }
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t lowest = lowest_of_stack();
    const bool has_room = here > lowest && here - lowest > 2 * (uintptr_t)FILLED_BYTES;
    if (has_room)
        fill((int)byte);
    return PyBool_FromLong(has_room);
}
