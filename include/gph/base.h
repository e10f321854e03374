/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Status codes, error text, the allocator seam, the log and the version: the base of
 *  every other header of Graphophone. Nothing here is about CUDA. Tier: stable.
 *
 *  Tiers. Every header states one of two, and a declaration that differs from its header
 *  says so itself. `Tier: stable`: what was compiled against it works with every later
 *  library of the same GPH_VERSION_MAJOR. `Tier: experimental`: it may change with
 *  GPH_VERSION_MINOR. Nothing is stable before 0.1.0.
 *
 *  Structs. So that they can grow, each is one of these sorts, and its comment says which
 *  unless it is the first:
 *
 *  - sized: its first member is `uint32_t size`, which the caller sets to sizeof the
 *    struct, by the _INIT macro or GPH_SIZED(). The library reads and fills in no more
 *    than that many bytes, and leaves an output whose size is 0 as it was.
 *  - `Layout frozen`: it never changes; the reason follows.
 *  - `Lent: grows at the end`: only the library makes them; callers get pointers.
 *  - `Stride: <where>`: an element of the caller's array, whose element size is given
 *    there.
 *  - `Sized by <struct>`: the last part of a sized struct.
 *
 *  Verbs. `_read` parses the caller's bytes, `_load` reads a path, `_save` writes a path,
 *  `_write` passes text or bytes to a gph_write_fn, `_get` fills in a struct. */
#ifndef GPH_BASE_H
#define GPH_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @def GPH_API
 *  Marks what the library exports.
 *  @def GPH_CHECKED
 *  Marks a result that must be checked.
 *  @def GPH_PRINTF
 *  Marks a function whose argument `f` is a format and `a` its first value. */
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
/** The braces of every _INIT macro, in C and in C++. */
#define GPH_INIT(...) {__VA_ARGS__}
/* clang-format on */

/** Declares a sized struct of the caller's, all zero but its size:
 *  `gph_pool_stats stats = GPH_SIZED(gph_pool_stats);`. */
#ifdef __cplusplus
#define GPH_SIZED(type)                                                                  \
    ([] {                                                                                \
        type gph_sized_ = type();                                                        \
        gph_sized_.size = static_cast<uint32_t>(sizeof(type));                           \
        return gph_sized_;                                                               \
    }())
#else
#define GPH_SIZED(type) GPH_INIT(.size = sizeof(type))
#endif

/** The version of these headers. gph_version() returns the version of the loaded
 *  library. */
#define GPH_VERSION_MAJOR 0 /**< incompatible changes */
#define GPH_VERSION_MINOR 1 /**< additions */
#define GPH_VERSION_PATCH 0 /**< corrections */

/** 0 is success. A positive value is a CUresult, passed on unchanged. A negative value is
 *  the library's own. gph_status_name() and gph_status_text() accept all three kinds. */
typedef int32_t gph_status;

/** The library's own statuses: name, value, meaning. */
#define GPH_STATUS_MAP(X)                                                                \
    X(GPH_E_INVALID, -1, "an argument is out of its documented range")                   \
    X(GPH_E_NO_MEMORY, -2, "host memory is exhausted")                                   \
    X(GPH_E_UNSUPPORTED, -3, "this driver or build cannot do it")                        \
    X(GPH_E_FORMAT, -4, "the file is not a valid graph file")                            \
    X(GPH_E_STATE, -5, "the object is not in the state this call needs")                 \
    X(GPH_E_IO, -6, "the operating system refused to read, write or open")

enum {
    GPH_OK = 0,
#define X(name, value, text) name = value,
    GPH_STATUS_MAP(X)
#undef X
};

/** Why a call failed. The caller owns it; a call fills it in only when it fails, and only
 *  if one was passed. Start from {0}. Nothing in it needs freeing. Layout frozen: 1 KiB
 *  on every caller's stack; later members take the place of `reserved`. */
typedef struct gph_error {
    gph_status code;       /**< what the call returned */
    uint32_t has_node;     /**< nonzero if `node` says which graph node is at fault */
    int64_t node;          /**< index of the node at fault, if has_node */
    const char *call;      /**< the driver call at fault, static storage, or NULL */
    char message[512];     /**< what happened, with the values that made it happen */
    char hint[256];        /**< what to try, or empty */
    uint64_t reserved[29]; /**< zero */
} gph_error;

/** ptr == NULL: allocate new_size. new_size == 0: free. Else: resize. Returns NULL on
 *  failure, leaving ptr as it was. Must be callable from any thread, and must return
 *  memory aligned as malloc's is. */
typedef void *gph_realloc_fn(void *user, void *ptr, size_t old_size, size_t new_size);

/** Where an object takes its host memory from. Every object that is given one copies it;
 *  `user` is borrowed until the last object made with it is destroyed. A null `realloc`
 *  means the C library's heap. Every free passes the size that was asked for. Layout
 *  frozen: a function and its argument, which many objects copy. */
typedef struct gph_allocator {
    gph_realloc_fn *realloc; /**< NULL: the C library's heap */
    void *user;              /**< first argument of `realloc` */
} gph_allocator;

/** Receives what is written, piece by piece.
 *
 *  user  as given to the writer.
 *  data  borrowed for the call; `bytes` of them.
 *
 *  Returns GPH_OK to go on; anything else stops the writer, which returns it. */
typedef gph_status gph_write_fn(void *user, const void *data, size_t bytes);

/** Text in the caller's memory: `user` of gph_write_buffer(). Layout frozen: an array and
 *  how much of it is used. */
typedef struct gph_buffer {
    char *text;    /**< the caller's, always ended by a zero; NULL with 0 bytes */
    size_t bytes;  /**< room, that of the zero included */
    size_t length; /**< in: 0; out: of the whole text, also where it was cut */
} gph_buffer;

/** A gph_write_fn that appends to a gph_buffer, its `user`, and cuts what does not fit.
 *  Never fails. Thread: one at a time per buffer. */
GPH_API gph_status gph_write_buffer(void *user, const void *data, size_t bytes);

/** A gph_write_fn that appends to a `FILE *`, its `user`. Fails with GPH_E_IO. Thread:
 *  any. */
GPH_API gph_status gph_write_file(void *user, const void *data, size_t bytes);

/** Writes these bytes to a file, as every `_save` does: the file is complete or as it was
 *  before; a symbolic link is followed; what is not a plain file, such as a pipe, is
 *  written to directly.
 *
 *  path  borrowed for the call.
 *  data  borrowed for the call; `bytes` of them.
 *
 *  GPH_E_INVALID: the path is NULL or too long. GPH_E_IO: the message has the system's
 *  reason. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_bytes_save(const char *path, const void *data,
                                              size_t bytes, gph_error *error);

/** The name of a status: "GPH_OK", "GPH_E_INVALID", or, for a CUresult, CUDA's own, such
 *  as "CUDA_ERROR_INVALID_VALUE". Static storage; never NULL. Thread: any. */
GPH_API const char *gph_status_name(gph_status status);

/** What a status means, in one phrase; empty for GPH_OK. Static storage; never NULL.
 *  Thread: any. */
GPH_API const char *gph_status_text(gph_status status);

/** The version of the loaded library: major * 10000 + minor * 100 + patch. Thread: any.
 */
GPH_API uint32_t gph_version(void);

/** The version of the loaded library as text: "0.1.0". Static storage. Thread: any. */
GPH_API const char *gph_version_text(void);

/** How much is logged; each level includes those before it. */
typedef enum gph_log_level {
    GPH_LOG_OFF = 0,   /**< nothing */
    GPH_LOG_ERROR = 1, /**< failures that no caller can be given */
    GPH_LOG_WARN = 2,  /**< what works, but not as requested */
    GPH_LOG_INFO = 3,  /**< decisions: which driver, which path */
    GPH_LOG_DEBUG = 4  /**< every step, with names and addresses */
} gph_log_level;

/** Receives one line of the log.
 *
 *  user     as given to gph_log_set().
 *  area     borrowed for the call: the part of the library, such as "cuda" or "capture".
 *  message  borrowed for the call; no line break at its end.
 *
 *  Called on the thread that logs, possibly on several at the same time. Must not call any gph_
 *  function. */
typedef void gph_log_fn(void *user, gph_log_level level, const char *area,
                        const char *message);

/** Sends the log to a function instead of standard error.
 *
 *  sink  borrowed until the next gph_log_set(); NULL means standard error again.
 *  user  borrowed as long; passed to `sink`.
 *
 *  The variable GPH_LOG, read once, says what is logged: a list of `area:level`,
 *  such as `GPH_LOG=cuda:info,exec:debug`; the area `all` means every area not named. The
 *  default is `all:warn`; what is not understood is passed over. Thread: one at a time,
 *  before other threads use the library. */
GPH_API void gph_log_set(gph_log_fn *sink, void *user);

#ifdef __cplusplus
}
#endif
#endif
