/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Kernels by names that mean the same in every process: the hash of their module's image
 *  and their name in it. Tier: stable. */
#ifndef GPH_MODULE_H
#define GPH_MODULE_H

#include <gph/base.h>
#include <gph/cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of the hash of an image: SHA-256. */
#define GPH_IMAGE_HASH_BYTES 32

/** A kernel, identified in the same way in every process. Layout frozen: a hash and a
 *  name. */
typedef struct gph_kernel_id {
    unsigned char image[GPH_IMAGE_HASH_BYTES]; /**< hash of its module's image */
    const char *name;                          /**< its name in that module */
} gph_kernel_id;

/** A module whose image is known. Any thread. */
typedef struct gph_module gph_module;

/** The hash of an image: SHA-256 of its bytes; for PTX without the zero at its end.
 *  Thread: any. */
GPH_API void gph_image_hash(const void *image, size_t bytes,
                            unsigned char out[GPH_IMAGE_HASH_BYTES]);

/** Loads a module into the current context, as cuModuleLoadData does, and remembers its
 *  image. Loading the same image in the same context again gives the same module, which
 *  is counted.
 *
 *  runtime  borrowed until gph_module_unload().
 *  image    borrowed for the call: PTX, a cubin or a fatbin; `bytes` of it.
 *  out      owned by the caller on success: gph_module_unload(). Untouched on failure.
 *
 *  Fails with GPH_E_INVALID, GPH_E_NO_MEMORY and what cuModuleLoadData returns. Thread:
 *  any. */
GPH_API GPH_CHECKED gph_status gph_module_load(gph_runtime *runtime, const void *image,
                                               size_t bytes, gph_module **out,
                                               gph_error *error);

/** One user less; after the last one the module is unloaded, as soon as no capture is open
 *  in the process. Destroy graphs that use its kernels first. NULL is allowed. Thread:
 *  any. */
GPH_API void gph_module_unload(gph_module *module);

/** A kernel of it. `out`: lent until gph_module_unload(). Fails with what
 *  cuModuleGetFunction returns. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_module_function(gph_module *module, const char *name,
                                                   CUfunction *out, gph_error *error);

/** CUDA's handle. Lent until gph_module_unload(); NULL for NULL. */
GPH_API CUmodule gph_module_handle(const gph_module *module);

/** Says what a kernel is, if its module was loaded by gph_module_load() of this runtime.
 *
 *  out  the caller's; its name is lent until the module is unloaded.
 *
 *  Fails with GPH_E_UNSUPPORTED (another module) and what the driver returns. Thread:
 *  any. */
GPH_API GPH_CHECKED gph_status gph_kernel_identify(gph_runtime *runtime,
                                                   CUfunction function,
                                                   gph_kernel_id *out, gph_error *error);

/** Identifies kernels of modules that libgph did not load. It is called if none of
 *  libgph's own modules has the kernel. Either function may be NULL; a status other than
 *  GPH_OK means that the kernel is unknown. */
typedef struct gph_resolver {
    uint32_t size; /**< sizeof(gph_resolver) */
    /** Recording: names a function. The name in `out` is lent until the library call that
     *  needed it returns. */
    gph_status (*identify)(void *user, CUfunction function, gph_kernel_id *out,
                           gph_error *error);
    /** Loading: finds a function in the current context. */
    gph_status (*find)(void *user, const gph_kernel_id *id, CUfunction *out,
                       gph_error *error);
    void *user; /**< first argument of both; borrowed as long as they may be called */
} gph_resolver;

#ifdef __cplusplus
}
#endif
#endif
