// SPDX-License-Identifier: Apache-2.0
/* Periods: a call that agrees with the one a period ago goes on with it; one that does
 * not looks where its key was last, and tries that distance. */
#include "attach/timing/rhythm.h"
#include "base/hash.h"

enum {
    WINDOWS_MAX = 6,  /* of a kind, at a place */
    GRAPHS_FIRST = 3, /* the first of them is cold */
    OWN_EXACT = 16    /* steps of a factor of 2, from as many ns on */
};

/* ---- which calls are what ---- */

/* Call, class, and which argument is the stream; CONFIG: it is in a CUlaunchConfig.
 */
enum { CONFIG = 100 };
#define STREAM_CALLS(X)                                                                  \
    X(cuLaunchKernel, GPHI_WORK, 8)                                                      \
    X(cuLaunchKernelEx, GPHI_WORK, CONFIG)                                               \
    X(cuLaunchCooperativeKernel, GPHI_WORK, 8)                                           \
    X(cuMemcpyAsync, GPHI_WORK, 3)                                                       \
    X(cuMemcpyHtoDAsync, GPHI_WORK, 3)                                                   \
    X(cuMemcpyDtoHAsync, GPHI_WORK, 3)                                                   \
    X(cuMemcpyDtoDAsync, GPHI_WORK, 3)                                                   \
    X(cuMemsetD8Async, GPHI_WORK, 3)                                                     \
    X(cuMemsetD16Async, GPHI_WORK, 3)                                                    \
    X(cuMemsetD32Async, GPHI_WORK, 3)                                                    \
    X(cuMemAllocAsync, GPHI_ORDER, 2)                                                    \
    X(cuMemFreeAsync, GPHI_ORDER, 1)                                                     \
    X(cuEventRecord, GPHI_ORDER, 1)                                                      \
    X(cuStreamWaitEvent, GPHI_ORDER, 0)                                                  \
    X(cuGraphLaunch, GPHI_WORK, 1)

/* What frameworks and libraries call between their launches: it asks, or sets what only
 * later calls of this thread see, and waits for nothing. PyTorch asks for the state of the
 * primary context ahead of each kernel, cuBLAS sets the shared memory of its own. */
#define QUESTIONS(X)                                                                     \
    X(cuCtxGetApiVersion)                                                                \
    X(cuCtxGetCurrent)                                                                   \
    X(cuCtxGetDevice)                                                                    \
    X(cuCtxGetFlags)                                                                     \
    X(cuCtxGetId)                                                                        \
    X(cuCtxGetLimit)                                                                     \
    X(cuCtxGetStreamPriorityRange)                                                       \
    X(cuCtxPopCurrent)                                                                   \
    X(cuCtxPushCurrent)                                                                  \
    X(cuCtxSetCurrent)                                                                   \
    X(cuDeviceCanAccessPeer)                                                             \
    X(cuDeviceGet)                                                                       \
    X(cuDeviceGetAttribute)                                                              \
    X(cuDeviceGetCount)                                                                  \
    X(cuDeviceGetDefaultMemPool)                                                         \
    X(cuDeviceGetMemPool)                                                                \
    X(cuDeviceGetName)                                                                   \
    X(cuDeviceGetUuid)                                                                   \
    X(cuDevicePrimaryCtxGetState)                                                        \
    X(cuDriverGetVersion)                                                                \
    X(cuFuncGetAttribute)                                                                \
    X(cuFuncGetModule)                                                                   \
    X(cuFuncGetName)                                                                     \
    X(cuFuncGetParamInfo)                                                                \
    X(cuFuncIsLoaded)                                                                    \
    X(cuFuncSetAttribute)                                                                \
    X(cuFuncSetCacheConfig)                                                              \
    X(cuGetErrorName)                                                                    \
    X(cuGetErrorString)                                                                  \
    X(cuGetProcAddress)                                                                  \
    X(cuKernelGetAttribute)                                                              \
    X(cuKernelGetFunction)                                                               \
    X(cuKernelGetLibrary)                                                                \
    X(cuKernelGetName)                                                                   \
    X(cuKernelGetParamInfo)                                                              \
    X(cuKernelSetAttribute)                                                              \
    X(cuKernelSetCacheConfig)                                                            \
    X(cuMemGetAddressRange)                                                              \
    X(cuMemHostGetFlags)                                                                 \
    X(cuMemPoolGetAttribute)                                                             \
    X(cuOccupancyAvailableDynamicSMemPerBlock)                                           \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor)                                       \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)                              \
    X(cuOccupancyMaxActiveClusters)                                                      \
    X(cuOccupancyMaxPotentialBlockSize)                                                  \
    X(cuOccupancyMaxPotentialBlockSizeWithFlags)                                         \
    X(cuOccupancyMaxPotentialClusterSize)                                                \
    X(cuPointerGetAttribute)                                                             \
    X(cuPointerGetAttributes)                                                            \
    X(cuStreamGetAttribute)                                                              \
    X(cuStreamGetCaptureInfo)                                                            \
    X(cuStreamGetCtx)                                                                    \
    X(cuStreamGetDevice)                                                                 \
    X(cuStreamGetFlags)                                                                  \
    X(cuStreamGetId)                                                                     \
    X(cuStreamGetPriority)                                                               \
    X(cuStreamIsCapturing)                                                               \
    X(cuTensorMapEncodeIm2col)                                                           \
    X(cuTensorMapEncodeIm2colWide)                                                       \
    X(cuTensorMapEncodeTiled)                                                            \
    X(cuThreadExchangeStreamCaptureMode)

static gphi_timing_class class_of(uint32_t call, int *stream_word)
{
    *stream_word = -1;
    switch (call) {
#define X(name, class, word)                                                             \
    case GPHI_CALL_##name: *stream_word = word; return class;
        STREAM_CALLS(X)
#undef X
    case GPHI_CALL_cuStreamBeginCapture:
    case GPHI_CALL_cuStreamBeginCaptureToGraph: return GPHI_CAPTURE;
#define X(name) case GPHI_CALL_##name:
        QUESTIONS(X)
#undef X
        return GPHI_NOISE;
    default: return GPHI_STOP;
    }
}

static const CUlaunchConfig *config_of(const uint64_t *words)
{
    return (const CUlaunchConfig *)(uintptr_t)words[0]; // NOLINT
}

/* Of a call that is not per thread, handle 0 is the legacy stream. */
static CUstream stream_of(uint64_t handle, uint32_t flags)
{
    if (handle == 0)
        return flags & GPHI_CALL_PER_THREAD ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
    return (CUstream)(uintptr_t)handle; // NOLINT(performance-no-int-to-ptr)
}

static uint64_t handle_of(const uint64_t *words, int stream_word)
{
    return stream_word == CONFIG ? (uint64_t)(uintptr_t)config_of(words)->hStream
                                 : words[stream_word];
}

/* What makes two calls the same: the call, its stream, a kernel's function and grid, a
 * copy's size; not addresses and values. */
static uint32_t key_of(uint32_t call, const uint64_t *words, int stream_word)
{
    uint64_t hash = gphi_hash_mix(call);
    if (!words || stream_word < 0)
        return (uint32_t)hash;
    if (stream_word == CONFIG) {
        const CUlaunchConfig *config = config_of(words);
        hash = gphi_hash_word(hash, words[1]);
        hash = gphi_hash_word(hash, (uint64_t)config->gridDimX << 32 | config->gridDimY);
        hash = gphi_hash_word(hash, (uint64_t)config->gridDimZ << 32 | config->blockDimX);
    } else if (stream_word == 8) {
        for (int i = 0; i < 7; i++)
            hash = gphi_hash_word(hash, words[i]);
    } else if (stream_word == 3)
        hash = gphi_hash_word(hash, words[2]);
    return (uint32_t)gphi_hash_word(hash, handle_of(words, stream_word));
}

gphi_timing_class gphi_timing_class_of(uint32_t call)
{
    int ignored;
    return class_of(call, &ignored);
}

gphi_timing_call gphi_timing_call_of(uint32_t call, const uint64_t *words, uint32_t flags)
{
    int stream_word;
    gphi_timing_call out = {.call = call, .flags = flags, .words = words};
    out.class = class_of(call, &stream_word);
    if (out.class == GPHI_NOISE)
        return out;
    out.key = key_of(call, words, stream_word);
    if (words && stream_word >= 0)
        out.stream = stream_of(handle_of(words, stream_word), flags);
    return out;
}

/* ---- what repeats ---- */

static void adopt(gphi_rhythm *r, uint64_t period)
{
    r->run = 0;
    r->period = period;
    r->locked = r->count;
    r->place_count = 0;
    r->has_waits = false;
    r->own = (gphi_rhythm_own){0};
}

void gphi_rhythm_beat(gphi_rhythm *r, const gphi_timing_call *call)
{
    /* as many polls as it takes are one */
    const bool is_poll =
        call->call == GPHI_CALL_cuStreamQuery || call->call == GPHI_CALL_cuEventQuery;
    if (is_poll && r->count > 0 &&
        r->keys[(r->count - 1) % GPHI_RHYTHM_KEYS] == call->key)
        return;
    const uint64_t i = r->count;
    const uint32_t key = call->key, last = r->last[key % GPHI_RHYTHM_KEYS];
    const bool is_wait = call->class == GPHI_STOP;
    const bool agrees =
        r->period != 0 && r->keys[(i - r->period) % GPHI_RHYTHM_KEYS] == key;
    if (agrees) {
        r->run++;
    } else {
        const uint64_t ago = (uint32_t)i + 1 - last;
        const bool is_there = last != 0 && ago < GPHI_RHYTHM_KEYS / 2 && ago <= i &&
                              r->keys[(i - ago) % GPHI_RHYTHM_KEYS] == key;
        adopt(r, is_there ? ago : 0);
    }
    r->keys[i % GPHI_RHYTHM_KEYS] = key;
    r->last[key % GPHI_RHYTHM_KEYS] = (uint32_t)i + 1;
    r->has_waits |= is_wait;
    r->after_wait = is_wait || (r->after_wait && call->class == GPHI_ORDER);
    r->count++;
}

bool gphi_rhythm_is_steady(const gphi_rhythm *r)
{
    return r->period != 0 && r->run >= r->period && r->run >= 8;
}

/* `is_new`: made if it is not there. NULL, too, where nothing repeats any more. */
static gphi_rhythm_place *place_at(gphi_rhythm *r, bool is_new)
{
    if (r->period == 0)
        return NULL;
    const uint32_t at = (uint32_t)((r->count - r->locked) % r->period);
    for (uint32_t i = 0; i < r->place_count; i++)
        if (r->places[i].at == at)
            return &r->places[i];
    if (!is_new || r->place_count == GPHI_RHYTHM_PLACES)
        return NULL;
    r->places[r->place_count] = (gphi_rhythm_place){.at = at};
    return &r->places[r->place_count++];
}

gphi_rhythm_place *gphi_rhythm_place_of(gphi_rhythm *r)
{
    const bool begins = r->after_wait || (!r->has_waits && r->place_count == 0);
    const uint32_t before = r->place_count;
    gphi_rhythm_place *place = place_at(r, begins);
    if (r->place_count > before)
        place->may[GPHI_WINDOW_HELD] = place->may[GPHI_WINDOW_GRAPH] = true;
    return place;
}

void gphi_rhythm_go_on(gphi_rhythm *r, gphi_window_kind kind)
{
    gphi_rhythm_place *place = place_at(r, true);
    if (place)
        place->may[kind] = true;
}

static bool is_least(const gphi_rhythm *r, uint32_t count, gphi_window_kind kind)
{
    for (uint32_t i = 0; i < r->place_count; i++)
        if (r->places[i].may[kind] && r->places[i].count[kind] < count)
            return false;
    return count < WINDOWS_MAX;
}

bool gphi_rhythm_due(const gphi_rhythm *r, const gphi_rhythm_place *place,
                     gphi_window_kind *kind)
{
    const uint32_t graphs = place->count[GPHI_WINDOW_GRAPH];
    const bool is_graph = !place->may[GPHI_WINDOW_HELD] || graphs < GRAPHS_FIRST ||
                          graphs <= place->count[GPHI_WINDOW_HELD];
    const gphi_window_kind fewer =
        place->may[GPHI_WINDOW_GRAPH] && is_graph ? GPHI_WINDOW_GRAPH : GPHI_WINDOW_HELD;
    *kind = fewer;
    if (place->may[fewer] && is_least(r, place->count[fewer], fewer))
        return true;
    *kind = fewer == GPHI_WINDOW_GRAPH ? GPHI_WINDOW_HELD : GPHI_WINDOW_GRAPH;
    return place->may[*kind] && is_least(r, place->count[*kind], *kind);
}

/* ---- what the doctor adds ---- */

static uint32_t own_step(uint64_t ns)
{
    uint32_t octave = 0;
    while (ns >> octave >= 2 * OWN_EXACT)
        octave++;
    const uint64_t step = octave * OWN_EXACT + (ns >> octave);
    return step < GPHI_OWN_STEPS ? (uint32_t)step : GPHI_OWN_STEPS - 1;
}

/* The middle of a step. */
static uint64_t own_ns(uint32_t step)
{
    const uint32_t octave = step < OWN_EXACT ? 0 : step / OWN_EXACT - 1;
    return ((uint64_t)(step - octave * OWN_EXACT) << octave) + ((1ULL << octave) / 2);
}

void gphi_rhythm_cost(gphi_rhythm *r, uint64_t own_ns_now, bool is_disturbed)
{
    gphi_rhythm_own *own = &r->own;
    own->is_disturbed |= is_disturbed;
    if (!gphi_rhythm_is_steady(r)) /* places are new */
        return;
    own->ns += own_ns_now;
    own->calls++;
    if ((r->count - r->locked) % r->period != 0)
        return;
    if (!own->is_disturbed && own->calls >= r->period) {
        own->steps[own_step(own->ns / r->period)]++;
        own->repetitions++;
    }
    own->ns = own->calls = 0;
    own->is_disturbed = false;
}

uint64_t gphi_rhythm_own_cost(const gphi_rhythm *r, uint32_t quarters)
{
    const gphi_rhythm_own *own = &r->own;
    uint64_t below = 0;
    if (own->repetitions == 0) /* of what there was of one */
        return own->calls == 0 ? 0 : own->ns / own->calls;
    for (uint32_t i = 0; i < GPHI_OWN_STEPS; i++) {
        below += own->steps[i];
        if (4 * below >= (uint64_t)quarters * own->repetitions)
            return own_ns(i);
    }
    return 0;
}
