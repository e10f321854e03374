// SPDX-License-Identifier: Apache-2.0
/* Rules capture.*: what they read off records themselves: call sites by their stacks,
 * contexts by thread, and the memory that a call's arguments point into. */
#include "base/hash.h"
#include "base/path.h"
#include "doctor/findings/stacks.h"
#include "doctor/rules/capture/rules_capture.h"

#include <string.h>

enum { MAX_FRAMES = 1 << 20, MAX_PARAM_WORDS = 512 };

/* ---- stacks and loaded files ---- */

static void note_stack(gphi_capture_state *state, const gphi_event *event)
{
    if (state->frames.count > MAX_FRAMES)
        return;
    const uint64_t index = state->frames.count;
    uint64_t *at = gphi_vec_add(&state->frames, (size_t)event->word_count + 1);
    if (!at) {
        state->is_short = true;
        return;
    }
    at[0] = event->word_count;
    memcpy(at + 1, gphi_event_words(event), (size_t)event->word_count * sizeof(*at));
    if (gphi_map_set(&state->stacks, event->id, index) == GPH_OK)
        return;
    state->frames.count = index;
    state->is_short = true;
}

static bool is_library_path(const char *path)
{
    return strstr(gphi_path_name(path), ".so");
}

/* The CUDA runtime and the driver make calls for the program. */
static bool is_cuda_path(const char *path)
{
    return strstr(path, "libcudart") || strstr(path, "libcuda.so") ||
           strstr(path, "libgph-attach");
}

static void note_module(gphi_capture_state *state, const gphi_event *event)
{
    const char *path = gphi_event_text(event, 0);
    gphi_loaded *at = gphi_vec_add(&state->modules, 1);
    if (!at) {
        state->is_short = true;
        return;
    }
    at->start = gphi_event_word(event, 0);
    at->end = gphi_event_word(event, 1);
    at->is_library = is_library_path(path);
    at->is_cuda = is_cuda_path(path);
    at->is_libc =
        strstr(path, "/libc.so") || strstr(path, "/libc-") || strstr(path, "/libpthread");
    at->is_nccl = strstr(path, "nccl");
    at->is_binding = strstr(path, ".cpython-") || strstr(path, ".abi3.so") ||
                     strstr(gphi_path_name(path), "libffi");
}

void gphi_capture_event(gphi_rule_run *run, const gphi_event *event)
{
    if (event->kind == GPHI_EVENT_STACK)
        note_stack(run->state, event);
    else if (event->kind == GPHI_EVENT_MODULE)
        note_module(run->state, event);
}

/* Count, then addresses; NULL: not known. */
static const uint64_t *frames_of(const gphi_capture_state *state, uint32_t stack)
{
    const uint64_t *index = stack ? gphi_map_get(&state->stacks, stack) : NULL;
    return index ? gphi_vec_at(&state->frames, *index) : NULL;
}

static const gphi_loaded *loaded_at(const gphi_capture_state *state, uint64_t address)
{
    for (size_t i = state->modules.count; i-- > 0;) {
        const gphi_loaded *at = gphi_vec_at(&state->modules, i);
        if (address > at->start && address <= at->end)
            return at;
    }
    return NULL;
}

/* The innermost frame that is not CUDA's own. */
static uint64_t calling_frame(const gphi_capture_state *state, uint32_t stack)
{
    const uint64_t *frames = frames_of(state, stack);
    for (uint64_t i = 1; frames && i <= frames[0]; i++) {
        const gphi_loaded *in = loaded_at(state, frames[i]);
        if (!in || !in->is_cuda)
            return frames[i];
    }
    return 0;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

uint32_t gphi_common_places(const gphi_rule_run *run, uint32_t a, uint32_t b)
{
    uint32_t left = 0, right = 0, common = 0;
    const gph_place *of_a = gphi_stacks_frames(run->model->stacks, a, &left);
    const gph_place *of_b = gphi_stacks_frames(run->model->stacks, b, &right);
    while (common < left && common < right) {
        const gph_place *x = &of_a[left - 1 - common], *y = &of_b[right - 1 - common];
        if (!same_text(x->function, y->function) || !same_text(x->file, y->file) ||
            x->line != y->line)
            break;
        common++;
    }
    return common;
}

bool gphi_caller_is_active(const gphi_rule_run *run, uint32_t a, uint32_t b)
{
    uint32_t left = 0, right = 0;
    const gph_place *of_a = gphi_stacks_frames(run->model->stacks, a, &left);
    const gph_place *of_b = gphi_stacks_frames(run->model->stacks, b, &right);
    return left > 0 && right >= left && gphi_common_places(run, a, b) + 1 >= left &&
           same_text(of_a[0].function, of_b[right - left].function);
}

/* The line of Python that called a binding; 0: none is known. */
static uint64_t python_line(const gphi_rule_run *run, uint32_t stack)
{
    uint32_t count = 0;
    const gph_place *frames = gphi_stacks_frames(run->model->stacks, stack, &count);
    for (uint32_t i = 0; i < count; i++)
        if (frames[i].is_python && frames[i].file)
            return gphi_hash_word(gphi_hash_text(GPHI_HASH_START, frames[i].file),
                                  (uint64_t)frames[i].line);
    return 0;
}

uint64_t gphi_call_site(const gphi_rule_run *run, const gphi_call *call)
{
    const gphi_capture_state *state = run->state;
    const uint64_t frame = calling_frame(state, call->stack);
    const gphi_loaded *in = frame ? loaded_at(state, frame) : NULL;
    const uint64_t line = in && in->is_binding ? python_line(run, call->stack) : 0;
    if (!frame || (in && in->is_binding && line == 0))
        return 0;
    return (frame ^ ((uint64_t)call->call + 1) << 48) ^ line;
}

bool gphi_call_by_library(const gphi_capture_state *state, const gphi_call *call)
{
    const uint64_t frame = calling_frame(state, call->stack);
    const gphi_loaded *in = frame ? loaded_at(state, frame) : NULL;
    return in && in->is_library && !in->is_binding;
}

bool gphi_call_by_once(const gphi_capture_state *state, const gphi_call *call)
{
    const uint64_t *frames = frames_of(state, call->stack);
    bool by_libc = false;
    /* The outermost is _start, which calls the C library, which calls main. */
    for (uint64_t i = 1; frames && i < frames[0]; i++) {
        const gphi_loaded *in = loaded_at(state, frames[i]);
        if (in && in->is_libc)
            by_libc = true;
        else if (in && !in->is_library && by_libc)
            return true; /* the program's code is on both sides */
    }
    return false;
}

bool gphi_call_by_nccl(const gphi_capture_state *state, const gphi_call *call)
{
    const uint64_t *frames = frames_of(state, call->stack);
    for (uint64_t i = 1; frames && i <= frames[0]; i++) {
        const gphi_loaded *in = loaded_at(state, frames[i]);
        if (in && in->is_nccl)
            return true;
    }
    return false;
}

/* ---- contexts ---- */

uint64_t gphi_capture_context(const gphi_capture_state *state, uint32_t thread)
{
    const uint64_t *at = gphi_map_get(&state->contexts, thread);
    return at ? *at : 0;
}

static void set_context(gphi_capture_state *state, uint32_t thread, uint64_t context)
{
    if (gphi_map_set(&state->contexts, thread, context) != GPH_OK)
        state->is_short = true;
}

static void set_owner(gphi_capture_state *state, uint64_t what, uint64_t context)
{
    if (what && context && gphi_map_set(&state->owners, what, context) != GPH_OK)
        state->is_short = true;
}

void gphi_capture_contexts(gphi_capture_state *state, const gphi_seen *seen)
{
    const uint32_t thread = seen->call.thread;
    if (seen->call.result != CUDA_SUCCESS)
        return;
    const uint64_t first = gphi_event_word(seen->event, 0);
    switch (seen->call.call) {
    case GPHI_CALL_cuCtxCreate:
    case GPHI_CALL_cuCtxSetCurrent:
    case GPHI_CALL_cuCtxPushCurrent:
    case GPHI_CALL_cuCtxGetCurrent: set_context(state, thread, first); break;
    case GPHI_CALL_cuCtxPopCurrent:
    case GPHI_CALL_cuCtxDestroy:
        set_context(state, thread, 0); /* until it is asked for, or set */
        break;
    case GPHI_CALL_cuModuleLoad:
    case GPHI_CALL_cuModuleLoadData:
    case GPHI_CALL_cuModuleLoadDataEx:
    case GPHI_CALL_cuModuleLoadFatBinary:
    case GPHI_CALL_cuMemAlloc:
    case GPHI_CALL_cuMemAllocPitch:
        set_owner(state, first, gphi_capture_context(state, thread));
        break;
    case GPHI_CALL_cuModuleGetFunction: {
        const uint64_t *of =
            gphi_map_get(&state->owners, gphi_event_word(seen->event, 1));
        set_owner(state, first, of ? *of : 0);
        break;
    }
    default: break;
    }
}

/* ---- work ---- */

bool gphi_call_is_work(uint32_t call)
{
    switch (gphi_capture_class(call)) {
    case GPHI_CLASS_WORK:
    case GPHI_CLASS_SYNC:
    case GPHI_CLASS_MEMORY:
    case GPHI_CLASS_DROPPED:
    case GPHI_CLASS_REFUSED:
        return call != GPHI_CALL_cuStreamGetFlags && call != GPHI_CALL_cuStreamGetId &&
               call != GPHI_CALL_cuStreamGetDevice;
    default: return false;
    }
}

uint64_t gphi_work_signature(const gphi_seen *seen)
{
    const uint32_t call = seen->call.call;
    if (gphi_call_is_kernel(call))
        return gphi_event_word(seen->event, call == GPHI_CALL_cuLaunchKernelEx);
    const gphi_call_class class = gphi_capture_class(call);
    if (class == GPHI_CLASS_DROPPED) {
        const uint64_t *to = gphi_bytes_of(seen->event, GPHI_PART_ARRAY, 0, sizeof(*to));
        return to ? *to : 0;
    }
    const bool moves = class == GPHI_CLASS_SYNC || class == GPHI_CLASS_REFUSED ||
                       (class == GPHI_CLASS_WORK && seen->work);
    if (seen->work && seen->work->write)
        return seen->work->write;
    const bool is_event = call == GPHI_CALL_cuEventRecord ||
                          call == GPHI_CALL_cuEventRecordWithFlags ||
                          call == GPHI_CALL_cuStreamWaitEvent;
    return moves || (class == GPHI_CLASS_WORK && !is_event)
               ? gphi_event_word(seen->event, 0)
               : 0;
}

typedef struct touch_list {
    const gphi_model *model;
    uint64_t *at;
    uint32_t count, room;
    bool unknown;
} touch_list;

static void touch(touch_list *list, uint64_t address)
{
    const gphi_allocation *memory =
        address ? gphi_model_memory(list->model, address, false) : NULL;
    if (!memory)
        return;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->at[i] == memory->address)
            return;
    if (list->count < list->room)
        list->at[list->count++] = memory->address;
    else
        list->unknown = true;
}

/* Every word of a kernel's arguments that is an address of an allocation. */
static void touch_arguments(touch_list *list, const gphi_event *event)
{
    const gphi_part *part = gphi_event_part(event, GPHI_PART_PARAMS, 0);
    if (!part) {
        list->unknown = true;
        return;
    }
    for (uint32_t i = 0; i + 8 <= part->bytes && i < MAX_PARAM_WORDS * 8; i += 8) {
        uint64_t word;
        memcpy(&word, (const char *)(part + 1) + i, sizeof(word));
        touch(list, word);
    }
}

uint32_t gphi_call_touches(const gphi_model *model, const gphi_seen *seen,
                           uint64_t *touched, uint32_t room, bool *unknown)
{
    touch_list list = {model, touched, 0, room, false};
    if (gphi_call_is_kernel(seen->call.call))
        touch_arguments(&list, seen->event);
    if (seen->work) {
        touch(&list, seen->work->write);
        touch(&list, seen->work->read);
    }
    *unknown = list.unknown;
    return list.count;
}
