// SPDX-License-Identifier: Apache-2.0
/* Names of statuses, and what a driver call returned as an error: with the sentence that
 * the driver's log had on it (CUDA 12.9), where somebody listens. */
#include "cuda/status.h"
#include "base/fail.h"
#include "cuda/abi.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *gph_status_name(gph_status status)
{
    const char *ours = gphi_status_name(status);
    if (ours)
        return ours;
    switch ((CUresult)status) {
#define X(name, value, text)                                                             \
    case name: return #name;
        GPHI_CUDA_RESULTS(X)
#undef X
    }
    return "CUDA_ERROR_?";
}

const char *gph_status_text(gph_status status)
{
    const char *ours = gphi_status_text(status);
    if (status == GPH_OK || status < 0)
        return ours ? ours : "";
    switch ((CUresult)status) {
#define X(name, value, text)                                                             \
    case name: return text;
        GPHI_CUDA_RESULTS(X)
#undef X
    }
    return "an error code newer than this build";
}

/* What the log said last on this thread. It comes before the refused call returns, so
 * that whoever makes an error of the call finds its sentence here. */
struct heard {
    int code; /* 0: the line with the call has not come */
    char call[64];
    char text[300];
};
static _Thread_local struct heard heard;

void gphi_cuda_hear_text(const char *text)
{
    heard.code = 0;
    heard.call[0] = '\0';
    snprintf(heard.text, sizeof(heard.text), "%s", text);
}

void gphi_cuda_hear_call(const char *call, int length, int code)
{
    if (heard.code != 0) /* of an earlier call: this one has no sentence */
        heard.text[0] = '\0';
    heard.code = code;
    snprintf(heard.call, sizeof(heard.call), "%.*s", length, call);
}

/* The sentence on a call that returned `result`, or NULL. Programs may leave out "cu". */
static const char *sentence_on(const char *call, gph_status result)
{
    if (heard.text[0] == '\0' || heard.code != (int)result)
        return NULL;
    return strcmp(heard.call, call) == 0 || (strncmp(heard.call, "cu", 2) == 0 &&
                                             strcmp(heard.call + 2, call) == 0)
               ? heard.text
               : NULL;
}

/* "WHAT: CALL returned NAME (text); the driver says: SENTENCE" */
static gph_status fail_with(gph_error *error, gph_status result, const char *call,
                            const char *what)
{
    const char *sentence = sentence_on(call, result);
    gphi_fail(error, result, "%s%s%s returned %s (%s)%s%s", what,
              what[0] != '\0' ? ": " : "", call, gph_status_name(result),
              gph_status_text(result), sentence ? "; the driver says: " : "",
              sentence ? sentence : "");
    if (error)
        error->call = call;
    return result;
}

static gph_status fail_about(gph_error *error, gph_status result, const char *call,
                             const char *format, va_list values)
{
    char what[256] = "";
    vsnprintf(what, sizeof(what), format, values);
    return fail_with(error, result, call, what);
}

gph_status gphi_cuda_fail(gph_error *error, gph_status result, const char *call,
                          const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fail_about(error, result, call, format, values);
    va_end(values);
    return result;
}

gph_status gphi_cuda_check(gph_error *error, CUresult result, const char *call,
                           const char *format, ...)
{
    va_list values;
    if (result == CUDA_SUCCESS)
        return GPH_OK;
    va_start(values, format);
    fail_about(error, (gph_status)result, call, format, values);
    va_end(values);
    return (gph_status)result;
}

gph_status gph_cuda_check(gph_status status, const char *call, gph_error *error)
{
    return status == GPH_OK ? GPH_OK : fail_with(error, status, call, "");
}
