/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPH_BASE_H
#define GPH_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GPH_API __attribute__((visibility("default")))
#define GPH_CHECKED __attribute__((warn_unused_result))
#define GPH_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define GPH_API
#define GPH_CHECKED
#define GPH_PRINTF(f, a)
#endif

/* clang-format off */
#define GPH_INIT(...) {__VA_ARGS__}
/* clang-format on */

/* 0 is success. A positive value is a CUresult, passed on unchanged. A negative value is
 * ours. gph_status_name() and gph_status_text() take all three kinds. */
typedef int32_t gph_status;

#define GPH_STATUS_MAP(X)                                                                \
    X(GPH_E_INVALID, -1, "an argument is out of its documented range")                   \
    X(GPH_E_NO_MEMORY, -2, "host memory is exhausted")                                   \
    X(GPH_E_UNSUPPORTED, -3, "this driver or build cannot do it")                        \
    X(GPH_E_FORMAT, -4, "the file is not a valid graph file")                            \
    X(GPH_E_STATE, -5, "the object is not in the state this call needs")

enum {
    GPH_OK = 0,
#define X(name, value, text) name = value,
    GPH_STATUS_MAP(X)
#undef X
};

/* Why a call failed. The caller's; a call fills it only when it fails, and only if one
 * was passed. {0} is a fine start. Nothing in it needs freeing. 1 KiB, layout frozen. */
typedef struct gph_error {
    gph_status code;
    uint32_t has_node; /* nonzero if `node` says which graph node is at fault */
    int64_t node;
    const char *call;  /* the driver call at fault, static storage, or NULL */
    char message[512]; /* what happened, with the values that made it happen */
    char hint[256];    /* what to try, or empty */
    uint64_t reserved[29];
} gph_error;

/* ptr == NULL: allocate new_size. new_size == 0: free. Else: resize. Returns NULL on
 * failure, leaving ptr as it was. Must be callable from any thread. */
typedef void *gph_realloc_fn(void *user, void *ptr, size_t old_size, size_t new_size);

typedef struct gph_allocator {
    gph_realloc_fn *realloc;
    void *user;
} gph_allocator;

GPH_API const char *gph_status_name(gph_status status);
GPH_API const char *gph_status_text(gph_status status);

#ifdef __cplusplus
}
#endif
#endif
