// SPDX-License-Identifier: Apache-2.0
/* What the hooks do: handles that the program is given are noted, before it can use them,
 * and forgotten when it gives them back; graphs are looked at where they change hands.
 *
 *   before  what is gone afterwards: the capture that a call ends, the mode it replaces
 *   driver
 *   after   what is there now; a graph also where the driver refused it */
#include "attach/hook.h"
#include "attach/cupti/cupti.h"
#include "attach/driver/find.h"
#include "attach/interpreter/numbers.h"
#include "attach/record/device.h"
#include "attach/record/sentence.h"
#include "attach/ring/thread.h"
#include "attach/sentinel/sentinels.h"
#include "attach/track/capture.h"
#include "attach/track/code.h"
#include "attach/track/function.h"
#include "attach/track/handle.h"
#include "attach/track/look.h"

void attach_hook_before(attach_call *call)
{
    switch ((attach_hook)call->symbol->hook) {
    case ATTACH_HOOK_END: call->capture = attach_capture_before_end(call); break;
    case ATTACH_HOOK_MODE: {
        const CUstreamCaptureMode *mode = (const void *)(uintptr_t)call->words[0];
        call->kept = mode ? (uint64_t)*mode : 0;
        break;
    }
    case ATTACH_HOOK_STREAM_GONE: /* the handle may be another thread's next stream */
        call->kept = attach_set_find(&attach_streams, call->words[0]) >= 0;
        break;
    case ATTACH_HOOK_INSTANTIATE:
    case ATTACH_HOOK_UPDATE: attach_sentinels_before(call); break;
    default: break;
    }
}

/* The graphs of a conditional node belong to the driver: their handles are only given
 * here, and end with their parent. */
static void add_bodies(const attach_call *call)
{
    const CUgraphNodeParams *node = (const void *)(uintptr_t)call->words[5];
    if (!node || node->type != CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return;
    for (unsigned i = 0; i < node->conditional.size && i < 1024; i++)
        if (node->conditional.phGraph_out)
            attach_set_add(&attach_graphs,
                           (uint64_t)(uintptr_t)node->conditional.phGraph_out[i],
                           ATTACH_IS_CHILD);
}

static void add_kernels(const attach_call *call)
{
    const CUkernel *list = (const void *)(uintptr_t)call->words[0];
    for (uint64_t i = 0; list && i < call->words[1]; i++)
        attach_set_add(&attach_kernels, (uint64_t)(uintptr_t)list[i], 0);
}

static void begun(const attach_call *call)
{
    const long graph = call->symbol->call == GPHI_CALL_cuStreamBeginCaptureToGraph
                           ? attach_set_find(&attach_graphs, call->words[1])
                           : -1;
    if (graph >= 0)
        atomic_fetch_or(&attach_graphs.flags[graph], ATTACH_IS_TARGET);
    attach_capture_begun(call);
    attach_numbers_begun();
}

static void succeeded(attach_call *call)
{
    switch ((attach_hook)call->symbol->hook) {
    case ATTACH_HOOK_INIT:
        attach_keep_driver();
        attach_listen_to_logs();
        attach_cupti_start();
        break;
    /* The program calls what it is given here: ours, which call the driver's. */
    case ATTACH_HOOK_GET_PROC: {
        void **entry = (void **)(uintptr_t)call->words[1];
        if (entry && *entry)
            *entry = attach_wrap(*entry, (const char *)(uintptr_t)call->words[0],
                                 (int)call->words[2], call->words[3]);
        break;
    }
    case ATTACH_HOOK_CONTEXT: attach_tell_devices(); break;
    case ATTACH_HOOK_CONTEXT_GONE: attach_capture_context_gone(); break;
    case ATTACH_HOOK_STREAM:
        attach_set_add(&attach_streams, attach_filled(call, 0), 0);
        break;
    case ATTACH_HOOK_STREAM_GONE: attach_capture_stream_gone(call->words[0]); break;
    case ATTACH_HOOK_BEGIN: begun(call); break;
    case ATTACH_HOOK_END:
        attach_set_add(&attach_graphs, attach_filled(call, 1), 0);
        attach_graph_look(call, GPHI_SNAPSHOT_CAPTURED, 0, CUDA_SUCCESS);
        break;
    case ATTACH_HOOK_MODE: attach_me.mode = (uint8_t)(call->kept & 3); break;
    case ATTACH_HOOK_GRAPH:
        attach_set_add(&attach_graphs, attach_filled(call, 0), 0);
        break;
    case ATTACH_HOOK_CHILD:
        attach_set_add(&attach_graphs, attach_filled(call, 1), ATTACH_IS_CHILD);
        break;
    case ATTACH_HOOK_ADD_NODE: add_bodies(call); break;
    case ATTACH_HOOK_GRAPH_GONE:
        attach_set_remove(&attach_graphs, call->words[0]);
        attach_numbers_graph_gone(call->words[0]);
        break;
    case ATTACH_HOOK_KERNEL:
        attach_set_add(&attach_kernels, attach_filled(call, 0), 0);
        break;
    case ATTACH_HOOK_KERNELS: add_kernels(call); break;
    case ATTACH_HOOK_CODE: attach_code_loaded(call); break;
    case ATTACH_HOOK_CODE_GONE: attach_forget_functions(); break;
    case ATTACH_HOOK_EXEC_GONE:
        attach_sentinels_gone(call->words[0]);
        attach_numbers_gone(call->words[0]);
        break;
    case ATTACH_HOOK_INSTANTIATE:
        attach_numbers_made(attach_filled(call, 0), call->words[1]);
        break;
    case ATTACH_HOOK_UPDATE: attach_numbers_made(call->words[0], call->words[1]); break;
    case ATTACH_HOOK_WORDS:
        attach_kept((int)call->words[0], GPHI_KEPT_WORDS, call->above);
        break;
    case ATTACH_HOOK_NONE: break;
    }
}

CUresult attach_hook_after(attach_call *call, CUresult result)
{
    const bool has_graph = call->symbol->hook == ATTACH_HOOK_INSTANTIATE ||
                           call->symbol->hook == ATTACH_HOOK_UPDATE;
    if (has_graph) /* before the graph is looked at */
        result = attach_sentinels_after(call, result);
    if ((call->symbol->flags & ATTACH_EDITS) != 0)
        attach_graph_edited();
    if (call->symbol->hook == ATTACH_HOOK_END) {
        attach_capture_ended(call);
        attach_numbers_ended(call, result);
    }
    if (call->symbol->call == GPHI_CALL_cuGraphLaunch && result == CUDA_SUCCESS)
        attach_numbers_launched(call->words[0]);
    if (result == CUDA_SUCCESS)
        succeeded(call);
    if (call->symbol->hook == ATTACH_HOOK_INSTANTIATE)
        attach_graph_look(call, GPHI_SNAPSHOT_INSTANTIATED,
                          result == CUDA_SUCCESS ? attach_filled(call, 0) : 0, result);
    else if (call->symbol->hook == ATTACH_HOOK_UPDATE)
        attach_graph_look(call, GPHI_SNAPSHOT_UPDATE, call->words[0], result);
    return result;
}
