/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Graphs in files: JSON to keep them, DOT to draw them. Input is not trusted: sizes are
 *  limited, and an error names the place. Tier: stable. */
#ifndef GPH_FILE_H
#define GPH_FILE_H

#include <gph/base.h>
#include <gph/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Limits and settings of reader and writer. Start from GPH_FILE_OPTIONS_INIT. */
typedef struct gph_file_options {
    uint32_t size;      /**< sizeof(gph_file_options) */
    uint32_t verbose;   /**< DOT: nonzero writes all parameters into the nodes */
    uint64_t bytes_max; /**< reader: largest file; 0 means 256 MiB */
    uint64_t nodes_max; /**< reader: most nodes, children included; 0 means 1,000,000 */
    /** Copied: where the graph read takes its memory from. NULL: the C library's heap. */
    const gph_allocator *allocator;
} gph_file_options;
/** All defaults. */
#define GPH_FILE_OPTIONS_INIT GPH_SIZED(gph_file_options)

/** Writes a graph in Graphviz's language.
 *
 *  graph    borrowed for the call.
 *  options  borrowed for the call; NULL means all defaults.
 *  write    borrowed for the call; gets the text in pieces, no zero at the end.
 *  user     borrowed for the call.
 *
 *  Fails with what `write` returns, and GPH_E_INVALID (options). Thread: any. */
GPH_API GPH_CHECKED gph_status gph_dot_write(const gph_graph *graph,
                                             const gph_file_options *options,
                                             gph_write_fn *write, void *user,
                                             gph_error *error);

/** Writes a graph as JSON, in the format gph-graph(5) and in a fixed order: the same
 *  graph gives the same bytes. Arguments, failures and threads as gph_dot_write(). */
GPH_API GPH_CHECKED gph_status gph_json_write(const gph_graph *graph,
                                              const gph_file_options *options,
                                              gph_write_fn *write, void *user,
                                              gph_error *error);

/** Reads a graph from JSON.
 *
 *  text     borrowed for the call; `bytes` of it, no zero needed.
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: gph_graph_destroy(). Untouched on failure.
 *
 *  Fails with GPH_E_FORMAT (what is wrong, and where), GPH_E_UNSUPPORTED (a later version
 *  of the format, or this build has no JSON reader: jansson was missing), GPH_E_INVALID
 *  (options) and GPH_E_NO_MEMORY. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_json_read(const char *text, size_t bytes,
                                             const gph_file_options *options,
                                             gph_graph **out, gph_error *error);

/** gph_json_write() into a file, which is replaced only when all is written.
 *  path  borrowed for the call. Fails also with GPH_E_IO. */
GPH_API GPH_CHECKED gph_status gph_json_save(const gph_graph *graph,
                                             const gph_file_options *options,
                                             const char *path, gph_error *error);

/** gph_dot_write() into a file, which is replaced only when all is written.
 *  path  borrowed for the call. Fails also with GPH_E_IO. */
GPH_API GPH_CHECKED gph_status gph_dot_save(const gph_graph *graph,
                                            const gph_file_options *options,
                                            const char *path, gph_error *error);

/** gph_json_read() of a file.
 *  path  borrowed for the call. Fails also with GPH_E_IO. */
GPH_API GPH_CHECKED gph_status gph_json_load(const char *path,
                                             const gph_file_options *options,
                                             gph_graph **out, gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
