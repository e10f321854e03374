// SPDX-License-Identifier: Apache-2.0
/* The record of a call: its words, and parts of what its arguments point at. */
#define _GNU_SOURCE
#include "attach/call.h"
#include "attach/timing.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

extern void *__libc_stack_end; /* of the main thread */

enum { ARRAY_MAX = 1 << 20, TEXT_MAX = 1024, HASH_MAX = 64 << 10, EAGER_HASH_MAX = 4096 };

uintptr_t attach_stack_end(uintptr_t here)
{
    const uintptr_t end = attach_thread() == (uint32_t)attach_process()
                              ? (uintptr_t)__libc_stack_end
                              : (uintptr_t)pthread_self();
    return end - here <= ATTACH_STACK_MAX ? end : 0;
}

/* The way where a sandbox forbids the other. Opened each time: a program may close files
 * that it does not know, and have its own under their numbers. */
static bool read_own_file(void *to, const void *from, size_t bytes)
{
    const int own = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    const bool is_read =
        own >= 0 && pread(own, to, bytes, (off_t)(uintptr_t)from) == (ssize_t)bytes;
    if (own >= 0)
        close(own);
    return is_read;
}

/* Texts are read by pieces that may be longer than they are, and the program's memory as
 * it stands, whoever writes it: sanitizers would object, and the kernel reads instead. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_WATCHED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_WATCHED true
#endif
#endif
#ifndef IS_WATCHED
#define IS_WATCHED false
#endif

/* Memory that is there for sure: this thread's stack above us (the thread's own block
 * lies at its top), the program's file, and the heap below the break. Saves a system
 * call. */
typedef struct known_memory {
    uintptr_t stack, stack_end, heap_end;
} known_memory;

static known_memory look_around(void)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const known_memory out = {here, attach_stack_end(here), (uintptr_t)sbrk(0)};
    return out;
}

static bool is_in(const known_memory *known, uintptr_t from, size_t bytes)
{
    const uintptr_t to = from + bytes;
    if (to < from || IS_WATCHED)
        return false;
    return (from >= known->stack && to <= known->stack_end) ||
           (from >= attach_program.heap && to <= known->heap_end) ||
           (from >= attach_program.start && to <= attach_program.end);
}

static bool is_there(uintptr_t from, size_t bytes)
{
    const known_memory known = look_around();
    return is_in(&known, from, bytes);
}

/* By the kernel, which says EFAULT where we would die. */
static bool read_unknown(void *to, const void *from, size_t bytes)
{
    const struct iovec here = {to, bytes};
    const struct iovec there = {(void *)(uintptr_t)from, bytes};
    const ssize_t got = process_vm_readv(attach_process(), &here, 1, &there, 1, 0);
    if (got >= 0 || errno == EFAULT)
        return got == (ssize_t)bytes;
    return read_own_file(to, from, bytes);
}

bool attach_read(void *to, const void *from, size_t bytes)
{
    if (!is_there((uintptr_t)from, bytes))
        return read_unknown(to, from, bytes);
    memcpy(to, from, bytes);
    return true;
}

enum { BATCH = 64 };

/* Some of the parameters in one system call; false: not all of them are there. */
static bool read_batch(char *to, const uint32_t *places, void *const *from,
                       uint32_t count)
{
    struct iovec here[BATCH], there[BATCH];
    ssize_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        here[i] = (struct iovec){to + places[2 * i], places[2 * i + 1]};
        there[i] = (struct iovec){from[i], places[2 * i + 1]};
        bytes += (ssize_t)places[2 * i + 1];
    }
    if (process_vm_readv(attach_process(), here, count, there, count, 0) == bytes)
        return true;
    for (uint32_t i = 0; i < count; i++)
        if (!attach_read(here[i].iov_base, from[i], here[i].iov_len))
            return false;
    return true;
}

bool attach_read_params(char *to, const attach_layout *layout, void *const *params)
{
    const known_memory known = look_around();
    void *from[BATCH];
    for (uint32_t first = 0; first < layout->count; first += BATCH) {
        const uint32_t left = layout->count - first;
        const uint32_t count = left < BATCH ? left : BATCH;
        const uint32_t *places = &layout->places[2 * first];
        bool are_there = true;
        if (!attach_read(from, params + first, count * sizeof(*from)))
            return false;
        for (uint32_t i = 0; i < count && are_there; i++) {
            are_there = is_in(&known, (uintptr_t)from[i], places[2 * i + 1]);
            if (are_there)
                memcpy(to + places[2 * i], from[i], places[2 * i + 1]);
        }
        if (!are_there && !read_batch(to, places, from, count))
            return false;
    }
    return true;
}

/* The buffer of CU_LAUNCH_PARAM_BUFFER_POINTER. */
static const void *buffer_of(void **extra, size_t *bytes)
{
    const void *buffer = NULL;
    *bytes = 0;
    for (; extra != NULL && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *bytes = *(const size_t *)extra[1];
    }
    return buffer;
}

void attach_add_params(attach_draft *draft, uint16_t arg, const attach_layout *layout,
                       void **params, void **extra)
{
    if (params == NULL) {
        size_t bytes;
        const void *buffer = buffer_of(extra, &bytes);
        attach_add(draft, GPHI_PART_PARAMS, arg, buffer, bytes <= 1 << 16 ? bytes : 0);
    } else if (layout != NULL && layout->bytes > 0) {
        attach_add(draft, GPHI_PART_PARAMS, arg, params, layout->bytes);
        draft->pieces[draft->piece_count - 1].layout = layout;
    }
}

/* ---- a call's arguments ---- */

/* The length of a text of the program's, at most TEXT_MAX. */
static size_t text_bytes(const char *text, bool is_trusted)
{
    if (is_trusted)
        return strnlen(text, TEXT_MAX - 1) + 1;
    char copy[64];
    size_t bytes = 0;
    while (bytes + sizeof(copy) < TEXT_MAX) {
        const size_t to_line = sizeof(copy) - ((uintptr_t)(text + bytes) & 63);
        if (!attach_read(copy, text + bytes, to_line)) /* never across a page */
            return 0;
        const char *end = memchr(copy, '\0', to_line);
        if (end != NULL)
            return bytes + (size_t)(end - copy) + 1;
        bytes += to_line;
    }
    return bytes;
}

static size_t bytes_of(const attach_call *call, const attach_argument *argument,
                       const void *from, bool is_trusted)
{
    const uint64_t other = call->words[argument->other];
    switch ((attach_argument_kind)argument->kind) {
    case ATTACH_STRUCT:
    case ATTACH_STRUCT_V1: return argument->bytes;
    case ATTACH_ARRAY:
        return other <= ARRAY_MAX / argument->bytes ? other * argument->bytes : 0;
    case ATTACH_TEXT: return text_bytes(from, is_trusted);
    case ATTACH_ATTRIBUTE:
        return call->symbol->call == GPHI_CALL_cuMemPoolSetAttribute ||
                       call->symbol->call == GPHI_CALL_cuMemPoolGetAttribute
                   ? (other < CU_MEMPOOL_ATTR_RELEASE_THRESHOLD ? sizeof(int)
                                                                : sizeof(cuuint64_t))
                   : sizeof(cuuint64_t);
    case ATTACH_WORD:
    case ATTACH_OUT: break;
    }
    return 0;
}

static void add_argument(attach_draft *draft, const attach_call *call, uint32_t index,
                         bool is_trusted)
{
    const attach_argument *argument = &call->symbol->arguments[index];
    const void *from = (const void *)(uintptr_t)call->words[index];
    if (from == NULL)
        return;
    const size_t bytes = bytes_of(call, argument, from, is_trusted);
    const uint16_t kind = argument->kind == ATTACH_TEXT    ? GPHI_PART_TEXT
                          : argument->kind == ATTACH_ARRAY ? GPHI_PART_ARRAY
                                                           : GPHI_PART_STRUCT;
    const uint32_t before = draft->piece_count;
    attach_add(draft, kind, (uint16_t)index, from, bytes);
    if (draft->piece_count == before)
        return;
    attach_piece *piece = &draft->pieces[before];
    piece->read = is_trusted ? NULL : attach_read;
    if (argument->kind == ATTACH_STRUCT_V1)
        piece->bytes = sizeof(CUDA_KERNEL_NODE_PARAMS);
}

/* ---- kernels ---- */

/* The parameters of a kernel node: a struct that the program has filled. */
static void add_node_params(attach_draft *draft, const attach_call *call, uint32_t index)
{
    const void *from = (const void *)(uintptr_t)call->words[index];
    if (from == NULL)
        return;
    CUDA_KERNEL_NODE_PARAMS kernel = {0};
    const attach_argument *argument = &call->symbol->arguments[index];
    if (argument->bytes == sizeof(CUgraphNodeParams)) {
        const CUgraphNodeParams *node = from;
        if (node->type != CU_GRAPH_NODE_TYPE_KERNEL)
            return;
        kernel.func = node->kernel.func;
        kernel.kern = node->kernel.kern;
        kernel.kernelParams = node->kernel.kernelParams;
        kernel.extra = node->kernel.extra;
    } else
        memcpy(&kernel, from, argument->bytes);
    const uint64_t function = kernel.func != NULL ? (uint64_t)(uintptr_t)kernel.func
                                                  : (uint64_t)(uintptr_t)kernel.kern;
    attach_add_params(draft, (uint16_t)index, attach_layout_of(function),
                      kernel.kernelParams, kernel.extra);
}

/* What a launch or a kernel node passes, once the driver has accepted it. */
static void add_kernel(attach_draft *draft, const attach_call *call)
{
    const uint64_t *words = call->words;
    switch ((gphi_call_id)call->symbol->call) {
    case GPHI_CALL_cuLaunchKernel:
        attach_add_params(draft, 9, attach_layout_of(words[0]),
                          (void **)(uintptr_t)words[9], (void **)(uintptr_t)words[10]);
        break;
    case GPHI_CALL_cuLaunchCooperativeKernel:
        attach_note_attributes();
        attach_add_params(draft, 9, attach_layout_of(words[0]),
                          (void **)(uintptr_t)words[9], NULL);
        break;
    case GPHI_CALL_cuLaunchKernelEx: {
        const CUlaunchConfig *config = (const void *)(uintptr_t)words[0];
        if (config->numAttrs > 0)
            attach_note_attributes();
        attach_add(draft, GPHI_PART_ARRAY, 0, config->attrs,
                   config->numAttrs * sizeof(CUlaunchAttribute));
        attach_add_params(draft, 2, attach_layout_of(words[1]),
                          (void **)(uintptr_t)words[2], (void **)(uintptr_t)words[3]);
        break;
    }
    case GPHI_CALL_cuGraphAddKernelNode: add_node_params(draft, call, 4); break;
    case GPHI_CALL_cuGraphAddNode: add_node_params(draft, call, 5); break;
    case GPHI_CALL_cuGraphKernelNodeSetParams:
    case GPHI_CALL_cuGraphNodeSetParams: add_node_params(draft, call, 1); break;
    case GPHI_CALL_cuGraphExecKernelNodeSetParams:
    case GPHI_CALL_cuGraphExecNodeSetParams: add_node_params(draft, call, 2); break;
    case GPHI_CALL_cuStreamCreateWithPriority:
        if (words[2] != 0)
            attach_note_attributes();
        break;
    case GPHI_CALL_cuGreenCtxStreamCreate:
    case GPHI_CALL_cuStreamSetAttribute:
    case GPHI_CALL_cuStreamCopyAttributes:
    case GPHI_CALL_cuGraphKernelNodeSetAttribute:
    case GPHI_CALL_cuGraphKernelNodeCopyAttributes: attach_note_attributes(); break;
    default: break;
    }
}

/* ---- what a copy reads from the host ---- */

static uint64_t hash_more(uint64_t hash, const unsigned char *bytes, size_t count)
{
    for (; count >= 8; bytes += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, bytes, sizeof(word));
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    for (; count > 0; bytes++, count--)
        hash = (hash ^ *bytes) * UINT64_C(0x100000001b3);
    return hash;
}

static bool hash_host(uint64_t address, size_t bytes, uint64_t *out)
{
    unsigned char copy[4096];
    uint64_t hash = bytes;
    if (is_there(address, bytes)) {
        *out = hash_more(hash, (const unsigned char *)(uintptr_t)address, bytes);
        return true;
    }
    for (size_t at = 0; at < bytes; at += sizeof(copy)) {
        const size_t now = bytes - at < sizeof(copy) ? bytes - at : sizeof(copy);
        if (!attach_read(copy, (const void *)(uintptr_t)(address + at), now))
            return false;
        hash = hash_more(hash, copy, now);
    }
    *out = hash;
    return true;
}

bool attach_hash(uint64_t address, uint64_t bytes, uint64_t *out)
{
    return hash_host(address, bytes < HASH_MAX ? bytes : HASH_MAX, out);
}

bool attach_is_host(uint64_t address)
{
    CUmemorytype type = 0;
    CUresult (*get)(void *, CUpointer_attribute, CUdeviceptr) =
        ATTACH_REAL(cuPointerGetAttribute, void *, CUpointer_attribute, CUdeviceptr);
    return get == NULL || get(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != 0 ||
           type == CU_MEMORYTYPE_HOST;
}

static void add_hash(attach_draft *draft, const attach_call *call, uint64_t *hash)
{
    const uint64_t *words = call->words;
    const bool is_captured = draft->head.u.call.status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    const size_t limit = is_captured ? HASH_MAX : EAGER_HASH_MAX;
    switch ((gphi_call_id)call->symbol->call) {
    case GPHI_CALL_cuMemcpyHtoD:
    case GPHI_CALL_cuMemcpyHtoDAsync: break;
    case GPHI_CALL_cuMemcpyAsync:
        if (is_captured && attach_is_host(words[1]))
            break;
        return;
    default: return;
    }
    if (!is_captured && words[2] > limit)
        return;
    if (hash_host(words[1], words[2] < limit ? words[2] : limit, hash))
        attach_add(draft, GPHI_PART_HASH, 1, hash, sizeof(*hash));
}

/* The host's side of a copy that was captured. */
static void add_host(attach_draft *draft, const attach_call *call, gphi_host_bytes *host)
{
    const uint64_t *words = call->words;
    uint16_t arg = 1;
    if (draft->head.u.call.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return;
    switch ((gphi_call_id)call->symbol->call) {
    case GPHI_CALL_cuMemcpyHtoDAsync: break;
    case GPHI_CALL_cuMemcpyDtoHAsync: arg = 0; break;
    case GPHI_CALL_cuMemcpyAsync:
        if (attach_is_host(words[1]))
            break;
        if (!attach_is_host(words[0]))
            return;
        arg = 0;
        break;
    default: return;
    }
    *host = attach_host_now(call, words[arg], words[2], arg == 1);
    attach_add(draft, GPHI_PART_HOST, arg, host, sizeof(*host));
}

/* ---- the record of a call ---- */

static bool is_wanted(const attach_call *call, CUresult result)
{
    switch ((attach_policy)call->symbol->policy) {
    case ATTACH_ALWAYS: return true;
    case ATTACH_FAIL: return result != CUDA_SUCCESS;
    case ATTACH_POLL: return result != CUDA_ERROR_NOT_READY || call->open > 0;
    case ATTACH_NEVER: break;
    }
    return false;
}

void attach_take_stack(attach_call *call)
{
    /* of eager work for the advice alone, which lists it by line */
    const bool is_advised =
        (call->symbol->flags & ATTACH_WORK) != 0 &&
        atomic_load_explicit(&gphi_timing_is_on, memory_order_relaxed);
    call->is_python =
        (call->symbol->flags & ATTACH_PYTHON) != 0 || call->open > 0 || is_advised;
    call->stack = call->is_python ? attach_stack_python() : attach_stack();
}

/* Failures have Python's frames, too. */
static uint32_t stack_of(attach_call *call, CUresult result)
{
    const bool has_failed = result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY;
    if (has_failed && !call->is_python)
        return attach_stack_python();
    if (call->stack == 0)
        attach_take_stack(call);
    return call->stack;
}

attach_mask attach_masks[ATTACH_SYMBOL_COUNT];

void attach_masks_prepare(void)
{
    for (uint32_t i = 0; i < ATTACH_SYMBOL_COUNT; i++)
        for (uint32_t k = 0; k < attach_symbols[i].count; k++) {
            const uint16_t bit = (uint16_t)(1U << k);
            const uint8_t kind = attach_symbols[i].arguments[k].kind;
            if (kind == ATTACH_OUT)
                attach_masks[i].filled |= bit;
            else if (kind != ATTACH_WORD)
                attach_masks[i].parts |= bit;
        }
}

/* The words as the record has them: what was filled instead of where. */
static uint32_t put_words(uint64_t *out, const attach_call *call, CUresult result)
{
    const attach_symbol *symbol = call->symbol;
    uint32_t count = symbol->count;
    for (uint32_t i = 0; i < count; i++)
        out[i] = call->words[i];
    for (uint32_t bits = attach_mask_of(symbol)->filled; bits != 0; bits &= bits - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(bits);
        uint64_t filled = 0;
        if (result == CUDA_SUCCESS && out[i] != 0)
            memcpy(&filled, (const void *)(uintptr_t)out[i], symbol->arguments[i].bytes);
        out[i] = filled;
    }
    if (symbol->hook == ATTACH_HOOK_BEGIN)
        out[count++] = attach_me.mode;
    if (symbol->hook == ATTACH_HOOK_MODE)
        out[count++] = call->kept;
    return count;
}

void attach_record(attach_call *call, CUresult result)
{
    if (!is_wanted(call, result))
        return;
    attach_know_thread();
    const attach_symbol *symbol = call->symbol;
    const attach_status status = attach_ask(call, result);
    const uint64_t lasted = call->end_ns - call->begin_ns;
    uint64_t words[ATTACH_WORDS_MAX + 1], hash;
    gphi_host_bytes host;
    attach_draft draft;
    attach_draft_begin(&draft, GPHI_EVENT_CALL, status.node);
    draft.head.time_ns = call->begin_ns;
    draft.head.u.call.call = symbol->call;
    draft.head.u.call.flags =
        (uint8_t)(call->flags | (attach_me.kind == 2 ? GPHI_CALL_HOST_NODE : 0U));
    draft.head.u.call.status = status.status;
    draft.head.u.call.result = (int32_t)result;
    draft.head.u.call.duration_ns = lasted < UINT32_MAX ? (uint32_t)lasted : UINT32_MAX;
    draft.head.u.call.open = call->open;
    draft.head.u.call.capture = status.capture;
    attach_draft_words(&draft, words, put_words(words, call, result));
    for (uint32_t bits = attach_mask_of(symbol)->parts; bits != 0; bits &= bits - 1)
        add_argument(&draft, call, (uint32_t)__builtin_ctz(bits), result == CUDA_SUCCESS);
    if (result == CUDA_SUCCESS) {
        add_kernel(&draft, call);
        add_hash(&draft, call, &hash);
        add_host(&draft, call, &host);
    }
    draft.head.stack = stack_of(call, result);
    attach_write(&draft);
}
