// SPDX-License-Identifier: Apache-2.0
/* cuUserObject*, and the references of graphs to user objects.
 *
 * An object lives while the program or a graph has references; counts are judged before
 * handles (R104). */
#include <limits.h>

#include "softcuda/api/cu_graph.h"
#include "softcuda/api/exports.h"

/* Counts are 1 to INT_MAX (R104). */
static CUresult check_count(const char *name, unsigned count)
{
    if (soft_rule(R104) && (count == 0 || count > INT_MAX))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s is %u, not 1 to %d", name, count,
                         INT_MAX);
    return CUDA_SUCCESS;
}

CUresult cuUserObjectCreate(CUuserObject *out, void *pointer, CUhostFn destroy,
                            unsigned int count, unsigned int flags)
{
    SOFT_TRY(soft_enter(__func__));
    if (!out || !destroy)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL",
                         !out ? "object_out" : "destroy");
    if (flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "flags are 0x%x, not CU_USER_OBJECT_NO_DESTRUCTOR_SYNC (1)",
                         flags);
    if (soft_rule(R104) && count == 0) /* more than INT_MAX is let pass, by an H100 */
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "initialRefcount is 0");
    soft_object *object;
    SOFT_TRY(soft_object_create(pointer, destroy, count, &object));
    *out = (CUuserObject)object;
    return CUDA_SUCCESS;
}

static CUresult change(const char *call, CUuserObject handle, unsigned count,
                       CUresult (*act)(soft_object *, unsigned))
{
    SOFT_TRY(soft_enter(call));
    soft_object *object;
    SOFT_TRY(check_count("count", count));
    SOFT_TRY(soft_object_find(handle, &object));
    return act(object, count);
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count)
{
    return change(__func__, object, count, soft_object_retain);
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned int count)
{
    return change(__func__, object, count, soft_object_release);
}

static CUresult find_both(CUgraph graph_handle, CUuserObject handle, soft_graph **graph,
                          soft_object **object)
{
    SOFT_TRY(soft_graph_find(graph_handle, graph));
    return soft_object_find(handle, object);
}

/* MOVE hands over the caller's references, else new ones are made (R105). */
CUresult cuGraphRetainUserObject(CUgraph graph_handle, CUuserObject handle,
                                 unsigned int count, unsigned int flags)
{
    SOFT_TRY(soft_enter(__func__));
    SOFT_TRY(check_count("count", count));
    if (soft_rule(R105) && flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "flags are 0x%x: 0 and 1 (move) are known", flags);
    soft_graph *graph;
    soft_object *object;
    soft_graph_lock();
    CUresult result = find_both(graph_handle, handle, &graph, &object);
    SOFT_THEN(result, soft_graph_retain_object(graph, object, count,
                                               flags & CU_GRAPH_USER_OBJECT_MOVE));
    soft_graph_unlock();
    return result;
}

/* More than the graph holds is refused; destructors run later, on the host thread
 * (R108). */
CUresult cuGraphReleaseUserObject(CUgraph graph_handle, CUuserObject handle,
                                  unsigned int count)
{
    SOFT_TRY(soft_enter(__func__));
    SOFT_TRY(check_count("count", count));
    soft_graph *graph;
    soft_object *object;
    soft_graph_lock();
    CUresult result = find_both(graph_handle, handle, &graph, &object);
    SOFT_THEN(result, soft_graph_release_object(graph, object, count));
    soft_graph_unlock();
    return result;
}
