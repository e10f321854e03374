// SPDX-License-Identifier: Apache-2.0
/* libgph inside a program that was there before: the host application below has its own
 * allocator, its own context and stream, and its own way to report errors. graphs.c, the
 * part that it gained, uses libgph on all of these and frees everything. */
#include "graphs.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The application's allocator: counts what is in use. */
static size_t bytes_in_use, allocations;

static void *app_realloc(void *user, void *ptr, size_t old_size, size_t new_size)
{
    (void)user;
    bytes_in_use -= ptr ? old_size : 0;
    bytes_in_use += new_size;
    allocations++;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

/* The application's log. */
static void app_log(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("app: ");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
}

static int app_failed(const char *what, const gph_error *error)
{
    app_log("%s: %s", what, error->message);
    return 1;
}

int main(void)
{
    const gph_allocator allocator = {app_realloc, NULL};
    gph_options options = GPH_OPTIONS_INIT;
    options.driver = getenv("GPH_DRIVER") ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO;
    options.allocator = &allocator;
    gph_error error = {0};
    gph_runtime *gph = NULL;
    if (gph_open(&options, &gph, &error) != GPH_OK)
        return app_failed("no driver", &error);
    const gph_cuda_calls *cu = gph_cuda(gph);
    CUcontext context = NULL;
    CUstream stream = NULL;
    gph_status status = gph_cuda_check(cu->DevicePrimaryCtxRetain(&context, 0),
                                       "cuDevicePrimaryCtxRetain", &error);
    if (status == GPH_OK)
        status = gph_cuda_check(cu->CtxSetCurrent(context), "cuCtxSetCurrent", &error);
    if (status == GPH_OK)
        status = gph_cuda_check(cu->StreamCreate(&stream, 1), "cuStreamCreate", &error);
    if (status != GPH_OK)
        return app_failed("no stream", &error);

    /* A part that cannot work says so and leaves the stream as it was. */
    graphs part;
    if (graphs_open(&part, gph, stream, "no such file.ptx", &error) != GPH_OK)
        app_log("as expected: %s", error.message);

    status = graphs_open(&part, gph, stream, HELLO_PTX, &error);
    for (int i = 0; i < 3 && status == GPH_OK; i++) {
        float sum = 0;
        status = graphs_run(&part, &sum, &error);
        if (status == GPH_OK)
            app_log("replay %d gives %g", i + 1, (double)sum);
    }
    if (status == GPH_OK && graphs_misuse(&part, &error) != GPH_OK)
        app_log("a forbidden call while recording: the error names it: %s",
                strstr(error.message, "cuStreamSynchronize") ? "yes" : error.message);
    if (status == GPH_OK) {
        float sum = 0;
        status = graphs_run(&part, &sum, &error);
        app_log("the old graph still works: %g", (double)sum);
    }
    graphs_close(&part);
    (void)cu->StreamDestroy(stream);
    (void)cu->DevicePrimaryCtxRelease(0);
    gph_close(gph);
    app_log("%s; %zu bytes of the application's memory left in use",
            allocations > 0 ? "libgph used the application's allocator"
                            : "unused allocator",
            bytes_in_use);
    return status == GPH_OK && bytes_in_use == 0 ? 0 : app_failed("failed", &error);
}
