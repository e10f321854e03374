// SPDX-License-Identifier: Apache-2.0
/* A strict JSON reader for small files that may be hostile: config.json and the header of
 * a safetensors file. Limits on bytes, nesting and values; no recursion.
 *
 * A document is one array of nodes in the order of the text; node 0 is the root.
 *
 *   {"a": [1, 2]}      0 object  first 1
 *                      1 array   key "a", first 2
 *                      2 number  next 3
 *                      3 number
 */
#ifndef DECODE_JSON_H
#define DECODE_JSON_H

#include <gph/base.h>
#include <stdbool.h>

enum {
    JSON_DEPTH_MAX = 32,
    JSON_NODES_MAX = 1 << 20,
    JSON_BYTES_MAX = 64 << 20,
};

typedef enum json_kind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
} json_kind;

typedef struct json_node {
    json_kind kind;
    const char *key;  /* of a member of an object, else NULL; zero-terminated */
    const char *text; /* of a string (unescaped) or a number; zero-terminated */
    uint32_t first;   /* of a container: its first value, 0 if empty */
    uint32_t next;    /* the next value of the same container, 0 if none */
    uint32_t count;   /* of a container: how many values */
} json_node;

typedef struct json {
    gph_allocator heap;
    char *text; /* a copy; strings are unescaped in place */
    size_t text_bytes;
    json_node *node;
    uint32_t count, capacity;
} json;

/* Reads `bytes` of text into *out (the caller's; json_fini()). Untouched on failure.
 * Fails with GPH_E_FORMAT (line and column in the message) and GPH_E_NO_MEMORY. */
GPH_CHECKED gph_status json_read(const gph_allocator *heap, const char *text,
                                 size_t bytes, json *out, gph_error *error);
void json_fini(json *doc);

/* The member of an object, NULL if there is none or `object` is none. */
const json_node *json_member(const json *doc, const json_node *object, const char *key);

/* A number that is written as an integer from 0 to 2^63 - 1. False if it is not. */
bool json_u64(const json_node *node, uint64_t *out);

/* Any number. False if it is none or too great for a double. */
bool json_double(const json_node *node, double *out);

#endif
