// SPDX-License-Identifier: Apache-2.0
/* The modules that gph_module_load() loaded, of all runtimes: by image and by handle. */
#ifndef GPHI_MODULE_MODULE_H
#define GPHI_MODULE_MODULE_H
#include <gph/module.h>

/* The function of that name in a module with that image, of the runtime and the current
 * context. GPH_E_UNSUPPORTED: there is none; or what cuModuleGetFunction returns. */
gph_status gphi_module_find(gph_runtime *runtime, const gph_kernel_id *id,
                            CUfunction *out, gph_error *error);

/* The first bytes of a hash as text. */
enum { GPHI_HASH_TEXT_BYTES = 17 };
const char *gphi_image_text(const unsigned char hash[GPH_IMAGE_HASH_BYTES],
                            char text[GPHI_HASH_TEXT_BYTES]);
#endif
