// SPDX-License-Identifier: Apache-2.0
/* Records of calls.
 *
 * What a call has taken without an error is trusted: the driver has read it, too, and it
 * is read in place. After a failure it may be what was wrong, and is read by the kernel. */
#define _GNU_SOURCE
#include "attach/record/record.h"
#include "attach/driver/find.h"
#include "attach/peek/kind.h"
#include "attach/peek/memory.h"
#include "attach/peek/python.h"
#include "attach/peek/stack.h"
#include "attach/timing/timing.h"
#include "attach/track/capture.h"
#include "attach/track/freed.h"
#include "attach/track/function.h"
#include "attach/track/host.h"
#include "attach/track/snapshot.h"
#include "attach/track/source.h"
#include "base/clock.h"
#include "base/hash.h"

enum { ARRAY_MAX = 1 << 20, TEXT_MAX = 1024, EAGER_HASH_MAX = 4096, BODIES_MAX = 1024 };

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
        if (end)
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
    if (!from)
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
static bool node_params_of(const attach_call *call, uint32_t index,
                           CUDA_KERNEL_NODE_PARAMS *out)
{
    const void *from = (const void *)(uintptr_t)call->words[index];
    const attach_argument *argument = &call->symbol->arguments[index];
    *out = (CUDA_KERNEL_NODE_PARAMS){0};
    if (!from)
        return false;
    if (argument->bytes != sizeof(CUgraphNodeParams)) {
        memcpy(out, from, argument->bytes);
        return true;
    }
    const CUgraphNodeParams *node = from;
    if (node->type != CU_GRAPH_NODE_TYPE_KERNEL)
        return false;
    out->func = node->kernel.func;
    out->kern = node->kernel.kern;
    out->kernelParams = node->kernel.kernelParams;
    out->extra = node->kernel.extra;
    return true;
}

static void add_params(attach_draft *draft, uint32_t index,
                       const CUDA_KERNEL_NODE_PARAMS *kernel)
{
    attach_add_params(draft, (uint16_t)index,
                      attach_layout_of(attach_function_of(kernel)), kernel->kernelParams,
                      kernel->extra);
}

static void add_node_params(attach_draft *draft, const attach_call *call, uint32_t index)
{
    CUDA_KERNEL_NODE_PARAMS kernel;
    if (node_params_of(call, index, &kernel))
        add_params(draft, index, &kernel);
}

/* Of a node's own setter: it may have been given what its getter returned, the node's own
 * memory, which is gone now. What the node has instead is the same. */
static void add_set_params(attach_draft *draft, const attach_call *call)
{
    CUDA_KERNEL_NODE_PARAMS kernel;
    const CUgraphNode node = (CUgraphNode)(uintptr_t)call->words[0];
    if (node_params_of(call, 1, &kernel) &&
        ATTACH_ASK(cuGraphKernelNodeGetParams_v2, node, &kernel) == CUDA_SUCCESS)
        add_params(draft, 1, &kernel);
}

/* The graphs that a conditional node was given: only here the driver says which they are. */
static void add_bodies(attach_draft *draft, const attach_call *call)
{
    const CUgraphNodeParams *node = (const void *)(uintptr_t)call->words[5];
    if (node && node->type == CU_GRAPH_NODE_TYPE_CONDITIONAL &&
        node->conditional.phGraph_out && node->conditional.size <= BODIES_MAX)
        attach_add(draft, GPHI_PART_ARRAY, 5, node->conditional.phGraph_out,
                   node->conditional.size * sizeof(CUgraph));
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
    case GPHI_CALL_cuGraphAddNode:
        add_node_params(draft, call, 5);
        add_bodies(draft, call);
        break;
    case GPHI_CALL_cuGraphKernelNodeSetParams:
    case GPHI_CALL_cuGraphNodeSetParams: add_set_params(draft, call); break;
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

/* Variables that gave a captured kernel, or a kernel node, its arguments. */
static void note_sources(const attach_call *call, uint64_t captured)
{
    const uint64_t *words = call->words;
    switch ((gphi_call_id)call->symbol->call) {
    case GPHI_CALL_cuLaunchKernel:
    case GPHI_CALL_cuLaunchCooperativeKernel:
        if (captured != 0)
            attach_source_note(captured, attach_layout_of(words[0]),
                               (void **)(uintptr_t)words[9]);
        break;
    case GPHI_CALL_cuLaunchKernelEx:
        if (captured != 0)
            attach_source_note(captured, attach_layout_of(words[1]),
                               (void **)(uintptr_t)words[2]);
        break;
    case GPHI_CALL_cuGraphAddKernelNode: {
        CUDA_KERNEL_NODE_PARAMS kernel = {0};
        if (call->symbol->arguments[4].bytes > sizeof(kernel) ||
            !attach_read(&kernel, (const void *)(uintptr_t)words[4],
                         call->symbol->arguments[4].bytes))
            return;
        attach_source_note(attach_filled(call, 0),
                           attach_layout_of(attach_function_of(&kernel)),
                           kernel.kernelParams);
        break;
    }
    default: break;
    }
}

/* ---- operations of a batch ---- */

/* What a setter of an executable is given, also where it is refused for them. */
static void add_operations(attach_draft *draft, const attach_call *call)
{
    /* Most calls have fewer words. */
    const void *from =
        call->symbol->count > 2 ? (const void *)(uintptr_t)call->words[2] : NULL;
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch;
    CUgraphNodeParams any;
    switch ((gphi_call_id)call->symbol->call) {
    case GPHI_CALL_cuGraphExecBatchMemOpNodeSetParams:
        if (!attach_read(&batch, from, sizeof(batch)))
            return;
        break;
    case GPHI_CALL_cuGraphExecNodeSetParams:
        if (!attach_read(&any, from, sizeof(any)) ||
            any.type != CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
            return;
        batch = (CUDA_BATCH_MEM_OP_NODE_PARAMS){.count = any.memOp.count,
                                                .paramArray = any.memOp.paramArray};
        break;
    default: return;
    }
    const uint32_t before = draft->piece_count;
    if (batch.paramArray && batch.count <= ARRAY_MAX / sizeof(*batch.paramArray))
        attach_add(draft, GPHI_PART_ARRAY, 2, batch.paramArray,
                   batch.count * sizeof(*batch.paramArray));
    if (draft->piece_count > before)
        draft->pieces[before].read = attach_read;
}

/* ---- what a copy reads from the host ---- */

/* Some pieces of a large one: whether the host has filled it again shows in most of it. */
static bool sample_of(uint64_t address, uint64_t bytes, uint64_t *out)
{
    enum { PIECES = 4, PIECE = 1024 };
    uint64_t hash = 0;
    for (uint64_t i = 0; i < PIECES; i++) {
        uint64_t piece;
        if (!attach_hash(address + (bytes - PIECE) / (PIECES - 1) * i, PIECE, &piece))
            return false;
        hash = gphi_hash_word(hash, piece);
    }
    *out = hash;
    return true;
}

/* Of eager copies only the small ones are hashed whole, which are many and must not wait; a
 * captured one is seldom, and its memory is read again at each launch. */
static void add_hash(attach_draft *draft, const attach_call *call, uint64_t *hash)
{
    const uint64_t *words = call->words;
    const bool is_captured = draft->head.u.call.status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    const size_t limit = is_captured ? ATTACH_HASH_MAX : EAGER_HASH_MAX;
    switch ((gphi_call_id)call->symbol->call) {
    case GPHI_CALL_cuMemcpyHtoD:
    case GPHI_CALL_cuMemcpyHtoDAsync: break;
    case GPHI_CALL_cuMemcpyAsync:
        if (is_captured && attach_is_host(words[1]))
            break;
        return;
    default: return;
    }
    if (!is_captured && words[2] > limit) {
        if (call->symbol->call == GPHI_CALL_cuMemcpyHtoDAsync &&
            sample_of(words[1], words[2], hash))
            attach_add(draft, GPHI_PART_SAMPLE, 1, hash, sizeof(*hash));
        return;
    }
    if (attach_hash(words[1], words[2] < limit ? words[2] : limit, hash))
        attach_add(draft, GPHI_PART_HASH, 1, hash, sizeof(*hash));
}

/* The host's side of a copy that was captured, and what a captured host function is given:
 * the graph keeps the address alone, so that it is watched until the program gives the
 * memory back. */
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
    case GPHI_CALL_cuLaunchHostFunc: arg = 2; break;
    default: return;
    }
    const uint64_t bytes = arg == 2 ? ATTACH_HOST_USER_BYTES : words[2];
    attach_freed_watch(words[arg]);
    *host = attach_host_now(call, words[arg], bytes, arg == 1);
    attach_add(draft, GPHI_PART_HOST, arg, host, sizeof(*host));
}

/* ---- the record of a call ---- */

/* Successful getters are most of a program's calls, and say nothing that is not known. */
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
    call->is_python = (call->symbol->flags & ATTACH_PYTHON) != 0 || call->open > 0 ||
                      is_advised || attach_python_is_cheap();
    call->stack =
        call->is_python ? attach_stack_python(call->above) : attach_stack(call->above);
}

/* Failures have Python's frames, too. */
static uint32_t stack_of(attach_call *call, CUresult result)
{
    const bool has_failed = result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY;
    if (has_failed && !call->is_python)
        return attach_stack_python(call->above);
    if (call->stack == 0)
        attach_take_stack(call);
    return call->stack;
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
    const uint64_t lasted = gphi_span_ns(call->begin_ns, call->end_ns);
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
    add_operations(&draft, call);
    if (result == CUDA_SUCCESS) {
        add_kernel(&draft, call);
        note_sources(call, status.node);
        add_hash(&draft, call, &hash);
        add_host(&draft, call, &host);
    }
    draft.head.stack = stack_of(call, result);
    attach_write(&draft);
}
