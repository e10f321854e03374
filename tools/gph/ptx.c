// SPDX-License-Identifier: Apache-2.0
/* gph inspect --ptx: softcuda's report, which its own library makes. It is found by name,
 * as its driver calls are, so the command links nothing of softcuda. */
#include "commands.h"
#include "output.h"
#include <gph/softcuda.h>

#include <stdlib.h>

/* No PTX file is larger. */
static const size_t BYTES_MAX = (size_t)64 << 20;

typedef gph_status report_fn(const char *, size_t, uint32_t, gph_write_fn *, void *,
                             gph_error *);

static int report(const gph_runtime *runtime, const char *path, unsigned int flags)
{
    gph_cuda_fn make;
    gph_error error = {0};
    if (gph_cuda_find(runtime, "gph_softcuda_report_write", &make, &error) != GPH_OK)
        return fail(&error);
    size_t bytes;
    char *ptx = read_file(path, BYTES_MAX, &bytes);
    if (!ptx)
        return EXIT_FAILED;

    int code = EXIT_OK;
    if (((report_fn *)make)(ptx, bytes, flags, gph_write_file, stdout, &error) != GPH_OK)
        code = fail_file(path, &error);
    free(ptx);
    return code;
}

int inspect_ptx(const char *path, unsigned int flags)
{
    gph_runtime *runtime = driver_open(GPH_DRIVER_SOFT);
    if (!runtime)
        return EXIT_FAILED;
    const int code = report(runtime, path, flags);
    gph_close(runtime);
    return code;
}
