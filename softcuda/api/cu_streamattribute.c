// SPDX-License-Identifier: Apache-2.0
/* Attributes of streams: cuStreamGetAttribute, SetAttribute, CopyAttributes.
 *
 * What the attributes ask for tunes a GPU; only the priority changes anything here. */
#include "softcuda/api/exports.h"
#include "softcuda/device/stream.h"

#define WINDOW_BYTES_MAX (128u << 20)

static CUresult none(CUstreamAttrID id)
{
    return soft_fail(CUDA_ERROR_INVALID_VALUE, "attribute %d is not one of a stream",
                     (int)id);
}

/* Hints that change nothing here are kept, so that a program reads what it wrote. */
static CUresult get(const char *call, CUstream handle, bool per_thread, CUstreamAttrID id,
                    CUstreamAttrValue *out)
{
    soft_stream *stream;
    SOFT_TRY(soft_enter_stream(call, handle, per_thread, &stream));
    SOFT_TRY(soft_need(out, "value_out"));
    switch ((int)id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        out->accessPolicyWindow = stream->window;
        break;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        out->syncPolicy = (CUsynchronizationPolicy)stream->sync_policy;
        break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: out->priority = stream->priority; break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        out->memSyncDomainMap = stream->domains;
        break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: out->memSyncDomain = stream->domain; break;
    default: return none(id);
    }
    return CUDA_SUCCESS;
}

/* Ranges are checked as a GPU checks them; there is no cache to hint at. */
static CUresult set_window(soft_stream *stream, const CUaccessPolicyWindow *window)
{
    if (!(window->hitRatio >= 0 && window->hitRatio <= 1))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "hitRatio is %g, not 0 to 1",
                         (double)window->hitRatio);
    if (window->num_bytes > WINDOW_BYTES_MAX)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "a window of %zu bytes, at most %u",
                         window->num_bytes, WINDOW_BYTES_MAX);
    if (window->missProp != CU_ACCESS_PROPERTY_NORMAL &&
        window->missProp != CU_ACCESS_PROPERTY_STREAMING)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "missProp is %d: only normal and streaming are possible",
                         (int)window->missProp);
    stream->window = *window;
    return CUDA_SUCCESS;
}

/* Four domains, as an H100 has. */
static CUresult set_domains(soft_stream *stream, const CUlaunchMemSyncDomainMap *map)
{
    if (map->default_ > 3 || map->remote > 3)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "domains %u and %u, of 0 to 3",
                         map->default_, map->remote);
    stream->domains = *map;
    return CUDA_SUCCESS;
}

static CUresult set_value(soft_stream *stream, CUstreamAttrID id,
                          const CUstreamAttrValue *value)
{
    switch ((int)id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return set_window(stream, &value->accessPolicyWindow);
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        if (value->syncPolicy < CU_SYNC_POLICY_AUTO ||
            value->syncPolicy > CU_SYNC_POLICY_BLOCKING_SYNC)
            return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a policy",
                             (int)value->syncPolicy);
        stream->sync_policy = (int)value->syncPolicy;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        stream->priority = soft_stream_clamp_priority(value->priority);
        soft_queue_set_priority(stream->queue, stream->priority);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        return set_domains(stream, &value->memSyncDomainMap);
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        if (value->memSyncDomain > CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE)
            return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a domain",
                             (int)value->memSyncDomain);
        stream->domain = value->memSyncDomain;
        return CUDA_SUCCESS;
    default: return none(id);
    }
}

static CUresult set(const char *call, CUstream handle, bool per_thread, CUstreamAttrID id,
                    const CUstreamAttrValue *value)
{
    soft_stream *stream;
    SOFT_TRY(soft_enter_stream(call, handle, per_thread, &stream));
    SOFT_TRY(soft_need(value, "value"));
    return set_value(stream, id, value);
}

/* The priority goes along, and counts for work that is submitted from now on. */
static CUresult copy(const char *call, CUstream to, CUstream from, bool per_thread)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(call, &context));
    soft_stream *target, *source;
    SOFT_TRY(soft_stream_find(context, to, per_thread, &target));
    SOFT_TRY(soft_stream_find(context, from, per_thread, &source));
    target->window = source->window;
    target->domains = source->domains;
    target->domain = source->domain;
    target->sync_policy = source->sync_policy;
    target->priority = source->priority;
    soft_queue_set_priority(target->queue, target->priority);
    return CUDA_SUCCESS;
}

SOFT_TWINS(cuStreamGetAttribute, _ptsz,
           (CUstream handle, CUstreamAttrID id, CUstreamAttrValue *out),
           get(__func__, handle, per_thread, id, out))

SOFT_TWINS(cuStreamSetAttribute, _ptsz,
           (CUstream handle, CUstreamAttrID id, const CUstreamAttrValue *value),
           set(__func__, handle, per_thread, id, value))

SOFT_TWINS(cuStreamCopyAttributes, _ptsz, (CUstream to, CUstream from),
           copy(__func__, to, from, per_thread))
