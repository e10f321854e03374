// SPDX-License-Identifier: Apache-2.0
/* Streams, captures and events: the driver's calls under the runtime's names.
 *
 * Calls that take a stream come twice: a program that is compiled with --default-stream
 * per-thread calls the ones named _ptsz, for which stream 0 is the thread's own. The
 * driver has the same two, so a twin is the same text with the other table. */
#include "softcuda/runtime/entry.h"

/* ---- streams --------------------------------------------------------------------------- */

RT_ENTRY(cudaStreamCreate, (CUstream *, stream),
         cu->cuStreamCreate(stream, CU_STREAM_DEFAULT))
RT_ENTRY(cudaStreamCreateWithFlags, (CUstream *, stream, unsigned, flags),
         cu->cuStreamCreate(stream, flags))
RT_ENTRY(cudaStreamCreateWithPriority,
         (CUstream *, stream, unsigned, flags, int, priority),
         cu->cuStreamCreateWithPriority(stream, flags, priority))
RT_ENTRY(cudaStreamDestroy, (CUstream, stream), cu->cuStreamDestroy(stream))
RT_TWINS(cudaStreamSynchronize, _ptsz, (CUstream, stream),
         cu->cuStreamSynchronize(stream))
RT_TWINS(cudaStreamQuery, _ptsz, (CUstream, stream), cu->cuStreamQuery(stream))
RT_TWINS(cudaStreamWaitEvent, _ptsz, (CUstream, stream, CUevent, event, unsigned, flags),
         cu->cuStreamWaitEvent(stream, event, flags))
RT_TWINS(cudaStreamGetPriority, _ptsz, (CUstream, stream, int *, priority),
         cu->cuStreamGetPriority(stream, priority))
RT_TWINS(cudaStreamGetFlags, _ptsz, (CUstream, stream, unsigned *, flags),
         cu->cuStreamGetFlags(stream, flags))
RT_TWINS(cudaStreamGetId, _ptsz, (CUstream, stream, unsigned long long *, id),
         cu->cuStreamGetId(stream, id))
RT_TWINS(cudaStreamGetDevice, _ptsz, (CUstream, stream, int *, device),
         cu->cuStreamGetDevice(stream, device))
RT_TWINS(cudaStreamCopyAttributes, _ptsz, (CUstream, to, CUstream, from),
         cu->cuStreamCopyAttributes(to, from))
RT_TWINS(cudaStreamGetAttribute, _ptsz,
         (CUstream, stream, CUstreamAttrID, which, CUstreamAttrValue *, value),
         cu->cuStreamGetAttribute(stream, which, value))
RT_TWINS(cudaStreamSetAttribute, _ptsz,
         (CUstream, stream, CUstreamAttrID, which, const CUstreamAttrValue *, value),
         cu->cuStreamSetAttribute(stream, which, value))
RT_TWINS(cudaStreamAttachMemAsync, _ptsz,
         (CUstream, stream, void *, pointer, size_t, bytes, unsigned, flags),
         cu->cuStreamAttachMemAsync(stream, (CUdeviceptr)(uintptr_t)pointer, bytes,
                                    flags))
RT_TWINS(cudaStreamAddCallback, _ptsz,
         (CUstream, stream, CUstreamCallback, callback, void *, user, unsigned, flags),
         cu->cuStreamAddCallback(stream, callback, user, flags))

/* ---- captures --------------------------------------------------------------------------- */

RT_TWINS(cudaStreamBeginCapture, _ptsz, (CUstream, stream, CUstreamCaptureMode, mode),
         cu->cuStreamBeginCapture(stream, mode))
RT_TWINS(cudaStreamBeginCaptureToGraph, _ptsz,
         (CUstream, stream, CUgraph, graph, const CUgraphNode *, from,
          const CUgraphEdgeData *, edges, size_t, count, CUstreamCaptureMode, mode),
         cu->cuStreamBeginCaptureToGraph(stream, graph, from, edges, count, mode))
RT_TWINS(cudaStreamEndCapture, _ptsz, (CUstream, stream, CUgraph *, graph),
         cu->cuStreamEndCapture(stream, graph))
RT_TWINS(cudaStreamIsCapturing, _ptsz,
         (CUstream, stream, CUstreamCaptureStatus *, status),
         cu->cuStreamIsCapturing(stream, status))
RT_TWINS(cudaStreamGetCaptureInfo, _ptsz,
         (CUstream, stream, CUstreamCaptureStatus *, status, cuuint64_t *, id, CUgraph *,
          graph, const CUgraphNode **, nodes, const CUgraphEdgeData **, edges, size_t *,
          count),
         cu->cuStreamGetCaptureInfo(stream, status, id, graph, nodes, edges, count))
RT_TWINS(cudaStreamUpdateCaptureDependencies, _ptsz,
         (CUstream, stream, CUgraphNode *, nodes, const CUgraphEdgeData *, edges, size_t,
          count, unsigned, flags),
         cu->cuStreamUpdateCaptureDependencies(stream, nodes, edges, count, flags))
RT_ENTRY(cudaThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *, mode),
         cu->cuThreadExchangeStreamCaptureMode(mode))

/* ---- events ----------------------------------------------------------------------------- */

RT_ENTRY(cudaEventCreate, (CUevent *, event), cu->cuEventCreate(event, CU_EVENT_DEFAULT))
RT_ENTRY(cudaEventCreateWithFlags, (CUevent *, event, unsigned, flags),
         cu->cuEventCreate(event, flags))
RT_ENTRY(cudaEventDestroy, (CUevent, event), cu->cuEventDestroy(event))
RT_ENTRY(cudaEventQuery, (CUevent, event), cu->cuEventQuery(event))
RT_ENTRY(cudaEventSynchronize, (CUevent, event), cu->cuEventSynchronize(event))
RT_ENTRY(cudaEventElapsedTime, (float *, ms, CUevent, begin, CUevent, end),
         cu->cuEventElapsedTime(ms, begin, end))
RT_TWINS(cudaEventRecord, _ptsz, (CUevent, event, CUstream, stream),
         cu->cuEventRecord(event, stream))
RT_TWINS(cudaEventRecordWithFlags, _ptsz,
         (CUevent, event, CUstream, stream, unsigned, flags),
         cu->cuEventRecordWithFlags(event, stream, flags))
