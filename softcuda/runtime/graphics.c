// SPDX-License-Identifier: Apache-2.0
/* Graphics interfaces: what a GPU answers in a process that has none of them current. Nothing
 * can be registered, so that no resource is there to be mapped. */
#include "softcuda/runtime/entry.h"

enum { cudaErrorOperatingSystem = 304 };
enum { BUFFER_FLAGS = 3, IMAGE_FLAGS = 15 }; /* that an H200 knows */

RT_ENTRY(cudaGraphicsMapResources,
         (int, count, CUgraphicsResource *, resources, CUstream, stream),
         cu->cuGraphicsMapResources((unsigned)count, resources, stream))
RT_ENTRY(cudaGraphicsUnmapResources,
         (int, count, CUgraphicsResource *, resources, CUstream, stream),
         cu->cuGraphicsUnmapResources((unsigned)count, resources, stream))
RT_ENTRY(cudaGraphicsUnregisterResource, (CUgraphicsResource, resource),
         cu->cuGraphicsUnregisterResource(resource))
RT_ENTRY(cudaGraphicsResourceSetMapFlags, (CUgraphicsResource, resource, unsigned, flags),
         cu->cuGraphicsResourceSetMapFlags(resource, flags))
RT_ENTRY(cudaGraphicsResourceGetMappedPointer,
         (CUdeviceptr *, out, size_t *, bytes, CUgraphicsResource, resource),
         cu->cuGraphicsResourceGetMappedPointer(out, bytes, resource))
RT_ENTRY(cudaGraphicsSubResourceGetMappedArray,
         (CUarray *, out, CUgraphicsResource, resource, unsigned, index, unsigned, level),
         cu->cuGraphicsSubResourceGetMappedArray(out, resource, index, level))
RT_ENTRY(cudaGraphicsResourceGetMappedMipmappedArray,
         (CUmipmappedArray *, out, CUgraphicsResource, resource),
         cu->cuGraphicsResourceGetMappedMipmappedArray(out, resource))
RT_EARLY(cudaDeviceGetNvSciSyncAttributes, (void *, list, int, device, int, flags),
         cu->cuDeviceGetNvSciSyncAttributes(list, device, flags))

/* ---- OpenGL ------------------------------------------------------------------------------- */

/* Without a current OpenGL context: an error of the operating system, the arguments first. */
static cudaError_t register_object(const void *out, unsigned object, unsigned flags,
                                   unsigned known)
{
    return !out || object == 0 || flags > known ? cudaErrorInvalidValue
                                                : cudaErrorOperatingSystem;
}

RT_ENTRY(cudaGraphicsGLRegisterBuffer,
         (CUgraphicsResource *, out, unsigned, buffer, unsigned, flags),
         ((void)cu, register_object(out, buffer, flags, BUFFER_FLAGS)))
RT_ENTRY(cudaGraphicsGLRegisterImage,
         (CUgraphicsResource *, out, unsigned, image, unsigned, target, unsigned, flags),
         ((void)cu, register_object(out, target == 0 ? 0 : image, flags, IMAGE_FLAGS)))
RT_ENTRY(cudaGLGetDevices, (unsigned *, count, int *, devices, unsigned, room, int, list),
         ((void)cu, (void)count, (void)devices, (void)room,
          list<1 || list> 3 ? cudaErrorInvalidValue : cudaErrorOperatingSystem))
