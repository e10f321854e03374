// SPDX-License-Identifier: Apache-2.0
/* Libraries that a program loads by itself, the driver's entry points, its log.
 *
 * cudaGetDriverEntryPoint() is how programs of the runtime reach driver calls without
 * linking libcuda: what they get is softcuda's, or the doctor's where it watches. */
#include "softcuda/runtime/entry.h"

#include <string.h>

RT_ENTRY(cudaLibraryLoadData,
         (CUlibrary *, library, const void *, code, CUjit_option *, options, void **,
          values, unsigned, count, CUlibraryOption *, library_options, void **,
          library_values, unsigned, library_count),
         cu->cuLibraryLoadData(library, code, options, values, count, library_options,
                               library_values, library_count))
RT_ENTRY(cudaLibraryLoadFromFile,
         (CUlibrary *, library, const char *, path, CUjit_option *, options, void **,
          values, unsigned, count, CUlibraryOption *, library_options, void **,
          library_values, unsigned, library_count),
         cu->cuLibraryLoadFromFile(library, path, options, values, count, library_options,
                                   library_values, library_count))
RT_ENTRY(cudaLibraryUnload, (CUlibrary, library), cu->cuLibraryUnload(library))
RT_ENTRY(cudaLibraryGetKernel,
         (CUkernel *, kernel, CUlibrary, library, const char *, name),
         cu->cuLibraryGetKernel(kernel, library, name))
RT_ENTRY(cudaLibraryGetGlobal,
         (CUdeviceptr *, address, size_t *, bytes, CUlibrary, library, const char *,
          name),
         cu->cuLibraryGetGlobal(address, bytes, library, name))
RT_ENTRY(cudaLibraryGetManaged,
         (CUdeviceptr *, address, size_t *, bytes, CUlibrary, library, const char *,
          name),
         cu->cuLibraryGetManaged(address, bytes, library, name))
RT_ENTRY(cudaLibraryGetUnifiedFunction,
         (void **, function, CUlibrary, library, const char *, name),
         cu->cuLibraryGetUnifiedFunction(function, library, name))
RT_ENTRY(cudaLibraryGetKernelCount, (unsigned *, count, CUlibrary, library),
         cu->cuLibraryGetKernelCount(count, library))
RT_ENTRY(cudaLibraryEnumerateKernels,
         (CUkernel *, kernels, unsigned, count, CUlibrary, library),
         cu->cuLibraryEnumerateKernels(kernels, count, library))
RT_ENTRY(cudaKernelSetAttributeForDevice,
         (CUkernel, kernel, CUfunction_attribute, which, int, value, int, device),
         cu->cuKernelSetAttribute(which, value, kernel, device))

/* ---- the driver's entry points ---------------------------------------------------------------- */

/* A program that was built with 13.0 asks for calls as 13.0 has them. */
enum { BUILT_VERSION = RT_MAJOR == 12 ? 12090 : 13000 };

/* A name that is not there is not an error where the caller takes a status. */
static cudaError_t entry_point(const rt_driver *cu, const char *name, void **out,
                               int version, cuuint64_t flags,
                               CUdriverProcAddressQueryResult *status)
{
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (!name || !out)
        return cudaErrorInvalidValue;
    const CUresult result = cu->cuGetProcAddress(name, out, version, flags, &found);
    if (status)
        *status = found;
    if (status && result == CUDA_ERROR_NOT_FOUND)
        return cudaSuccess;
    return (cudaError_t)result;
}

/* Which default stream's variant is meant where the flags do not say. */
static cuuint64_t with_default(cuuint64_t flags, bool per_thread)
{
    return flags != 0   ? flags
           : per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                        : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
}

RT_EARLY(cudaGetDriverEntryPoint,
         (const char *, name, void **, out, cuuint64_t, flags,
          CUdriverProcAddressQueryResult *, status),
         entry_point(cu, name, out, BUILT_VERSION, with_default(flags, false), status))
RT_EARLY(cudaGetDriverEntryPoint_ptsz,
         (const char *, name, void **, out, cuuint64_t, flags,
          CUdriverProcAddressQueryResult *, status),
         entry_point(cu, name, out, BUILT_VERSION, with_default(flags, true), status))
RT_EARLY(cudaGetDriverEntryPointByVersion,
         (const char *, name, void **, out, unsigned, version, cuuint64_t, flags,
          CUdriverProcAddressQueryResult *, status),
         entry_point(cu, name, out, (int)version, with_default(flags, false), status))
RT_EARLY(cudaGetDriverEntryPointByVersion_ptsz,
         (const char *, name, void **, out, unsigned, version, cuuint64_t, flags,
          CUdriverProcAddressQueryResult *, status),
         entry_point(cu, name, out, (int)version, with_default(flags, true), status))

/* ---- the log ------------------------------------------------------------------------------------- */

RT_EARLY(cudaLogsRegisterCallback,
         (CUlogsCallback, callback, void *, user, CUlogsCallbackHandle *, out),
         cu->cuLogsRegisterCallback(callback, user, out))
RT_EARLY(cudaLogsUnregisterCallback, (CUlogsCallbackHandle, callback),
         cu->cuLogsUnregisterCallback(callback))
RT_EARLY(cudaLogsCurrent, (CUlogIterator *, out, unsigned, flags),
         cu->cuLogsCurrent(out, flags))
RT_EARLY(cudaLogsDumpToFile, (CUlogIterator *, from, const char *, path, unsigned, flags),
         cu->cuLogsDumpToFile(from, path, flags))
RT_EARLY(cudaLogsDumpToMemory,
         (CUlogIterator *, from, char *, out, size_t *, bytes, unsigned, flags),
         cu->cuLogsDumpToMemory(from, out, bytes, flags))
