// SPDX-License-Identifier: Apache-2.0
/* What programs that use libgph share. */
#ifndef BROKEN_LIBGPH_H
#define BROKEN_LIBGPH_H
#include "broken.h"

#include <gph/gph.h>

static gph_error error;
static gph_runtime *gph;
static CUstream stream;

BROKEN_UNUSED static void must(gph_status status)
{
    if (status != GPH_OK)
        printf("libgph: %s\n", error.message);
    EXPECT(status == GPH_OK);
}

static void open_gph(void)
{
    stream = new_stream();
    must(gph_open(NULL, &gph, &error));
}

BROKEN_UNUSED static gph_exec *end_exec(gph_capture *capture, CUgraph *graph)
{
    gph_exec *exec = NULL;
    must(gph_capture_end(capture, graph, &error));
    must(gph_exec_create(gph, *graph, NULL, &exec, &error));
    return exec;
}

BROKEN_UNUSED static float read_back(CUdeviceptr from)
{
    float value = 0;
    CU(cuMemcpyDtoHAsync(&value, from, sizeof(value), stream));
    CU(cuStreamSynchronize(stream));
    return value;
}
#endif
