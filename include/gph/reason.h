/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Why trees record and run as they do: numbers that occur in statistics, in files and in
 *  what the doctor reads, and are therefore shared by both libraries.
 *  Tier: experimental. */
#ifndef GPH_REASON_H
#define GPH_REASON_H

#ifdef __cplusplus
extern "C" {
#endif

/** Why a call of a tree was not replayed, was recorded again or ran eagerly: name, value,
 *  its name as text, meaning. */
#define GPH_TREE_REASON_MAP(X)                                                           \
    X(GPH_TREE_FIRST, 1, "first", "never called in this place")                          \
    X(GPH_TREE_SIGNATURE, 2, "signature", "other types, shapes, strides or key")         \
    X(GPH_TREE_STATIC, 3, "static", "a static input has moved")                          \
    X(GPH_TREE_MANAGED, 4, "managed", "another output of the path is the input")         \
    X(GPH_TREE_LIVENESS, 5, "liveness",                                                  \
      "an output is alive that was dead when recorded")                                  \
    X(GPH_TREE_WARM_PATH, 6, "warm path", "the calls before were warm-ups")              \
    X(GPH_TREE_MUTATION, 7, "mutation",                                                  \
      "it writes an input that is neither static nor of the path")                       \
    X(GPH_TREE_CAPTURE, 8, "capture", "it cannot be captured")                           \
    X(GPH_TREE_MEMORY, 9, "memory", "no device memory for the recording")                \
    X(GPH_TREE_LIMIT, 10, "limit", "recorded too often in this place")                   \
    X(GPH_TREE_DEPTH, 11, "depth", "the path is too long")                               \
    X(GPH_TREE_DECLARED, 12, "declared", "declared eager")                               \
    X(GPH_TREE_OVERLAP, 13, "overlap", "its replay would overwrite memory in use")

#define GPH_TREE_REASONS_MAX 32 /**< there will not be more reasons */

/** The reasons. */
typedef enum gph_tree_reason {
    GPH_TREE_NONE = 0,                           /**< no reason: it was replayed */
#define X(name, value, word, text) name = value, /**< see GPH_TREE_REASON_MAP */
    GPH_TREE_REASON_MAP(X)
#undef X
        GPH_TREE_REASON_COUNT = 14 /**< one more than the last reason */
} gph_tree_reason;

#ifdef __cplusplus
}
#endif
#endif
