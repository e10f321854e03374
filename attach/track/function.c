// SPDX-License-Identifier: Apache-2.0
/* Names and argument layouts of functions, asked once each.
 *
 *   keys[i]     a function; never taken out, so that a place found stays right
 *   layouts[i]  its layout; of an older generation: code was unloaded since, and the
 *               handle may stand for another function
 *
 * Layouts are never freed: a thread that found one may still read it. A program that
 * loads more code than `room` holds has launches without their arguments. */
#define _GNU_SOURCE
#include "attach/track/function.h"
#include "attach/driver/find.h"
#include "attach/ring/place.h"
#include "attach/track/handle.h"
#include "base/hash.h"

enum { FUNCTIONS = 1 << 14, ARGUMENTS_MAX = 1024, ROOM = 8 << 20 };

/* function -> layout. What unloading code leaves behind is of an older generation. */
static _Atomic uint64_t keys[FUNCTIONS];
static attach_layout *_Atomic layouts[FUNCTIONS];
static _Atomic uint32_t generation = 1;
static _Alignas(8) char room[ROOM]; /* of layouts; never given back */
static atomic_size_t used;

static attach_layout *take_room(uint32_t count)
{
    const size_t bytes =
        sizeof(attach_layout) + (2 * count + count % 2) * sizeof(uint32_t);
    const size_t padded = (bytes + 7) & ~(size_t)7;
    const size_t at = atomic_fetch_add(&used, padded);
    return at <= ROOM - padded ? (attach_layout *)(void *)(room + at) : NULL;
}

void attach_forget_functions(void)
{
    atomic_fetch_add(&generation, 1);
}

static CUresult ask_place(uint64_t function, bool is_kernel, size_t index, size_t *offset,
                          size_t *bytes)
{
    return is_kernel ? ATTACH_ASK(cuKernelGetParamInfo, (CUkernel)(uintptr_t)function,
                                  index, offset, bytes)
                     : ATTACH_ASK(cuFuncGetParamInfo, (CUfunction)(uintptr_t)function,
                                  index, offset, bytes);
}

static const char *ask_name(uint64_t function, bool is_kernel)
{
    const char *name = NULL;
    const CUresult result =
        is_kernel ? ATTACH_ASK(cuKernelGetName, &name, (CUkernel)(uintptr_t)function)
                  : ATTACH_ASK(cuFuncGetName, &name, (CUfunction)(uintptr_t)function);
    return result == CUDA_SUCCESS && name ? name : "";
}

static const attach_layout *ask(uint64_t function, long place, uint32_t now)
{
    uint32_t places[2 * ARGUMENTS_MAX];
    uint64_t words[2 * ARGUMENTS_MAX];
    uint32_t count = 0, end = 0;
    const bool is_kernel = attach_set_find(&attach_kernels, function) >= 0;
    size_t offset, bytes;
    while (count < ARGUMENTS_MAX &&
           ask_place(function, is_kernel, count, &offset, &bytes) == CUDA_SUCCESS) {
        words[2 * count] = places[2 * count] = (uint32_t)offset;
        words[2 * count + 1] = places[2 * count + 1] = (uint32_t)bytes;
        end = (uint32_t)(offset + bytes) > end ? (uint32_t)(offset + bytes) : end;
        count++;
    }
    attach_tell(GPHI_EVENT_FUNCTION, function, 0, words, 2 * count,
                ask_name(function, is_kernel));

    attach_layout *layout = take_room(count);
    if (!layout)
        return NULL;
    layout->generation = now;
    layout->count = count;
    layout->bytes = end <= 1 << 16 ? end : 0;
    memcpy(layout->places, places, 2 * count * sizeof(uint32_t));
    atomic_store_explicit(&layouts[place], layout, memory_order_release);
    return layout;
}

const attach_layout *attach_layout_of(uint64_t function)
{
    if (function == 0)
        return NULL;
    bool is_new;
    const long place =
        attach_place(keys, FUNCTIONS, gphi_hash_mix(function), function, &is_new);
    if (place < 0)
        return NULL;
    const uint32_t now = atomic_load_explicit(&generation, memory_order_relaxed);
    const attach_layout *layout =
        atomic_load_explicit(&layouts[place], memory_order_acquire);
    return layout && layout->generation == now ? layout : ask(function, place, now);
}
