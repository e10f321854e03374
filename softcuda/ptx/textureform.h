// SPDX-License-Identifier: Apache-2.0
/* A texture or surface instruction as one word, between the code that is generated and the
 * run time that does it. Words of the call, in order (those a form lacks are 0):
 *
 *   0 ... 3   coordinates as PTX writes them: a layer first, then x, y, z
 *   4         the level                          4 ... 7   data that a surface gets
 *   4 ... 7   d/dx, 8 ... 11 d/dy of grad */
#ifndef SOFT_PTX_TEXTUREFORM_H
#define SOFT_PTX_TEXTUREFORM_H

#include <stdbool.h>
#include <stdint.h>

#define PTX_TEXTURE_WORDS 12u

typedef enum ptx_texture_op {
    PTX_TEXTURE_FETCH,
    PTX_TEXTURE_LEVEL,
    PTX_TEXTURE_GRAD,
    PTX_TEXTURE_GATHER,
    PTX_TEXTURE_QUERY,
    PTX_SURFACE_LOAD,
    PTX_SURFACE_STORE,
    PTX_SURFACE_PUT, /* sust.p: converted to the surface's format */
    PTX_SURFACE_REDUCE,
    PTX_SURFACE_QUERY
} ptx_texture_op;

typedef enum ptx_geometry {
    PTX_GEOMETRY_1D,
    PTX_GEOMETRY_2D,
    PTX_GEOMETRY_3D,
    PTX_GEOMETRY_A1D,
    PTX_GEOMETRY_A2D,
    PTX_GEOMETRY_CUBE,
    PTX_GEOMETRY_ACUBE
} ptx_geometry;

typedef enum ptx_texture_mode {
    PTX_SURFACE_TRAP,
    PTX_SURFACE_CLAMP,
    PTX_SURFACE_ZERO
} ptx_texture_mode;

typedef enum ptx_texture_query {
    PTX_QUERY_WIDTH,
    PTX_QUERY_HEIGHT,
    PTX_QUERY_DEPTH
} ptx_texture_query;

typedef struct ptx_texture {
    uint8_t op;        /* ptx_texture_op */
    uint8_t geometry;  /* ptx_geometry */
    bool is_half;      /* results are f16, two a word */
    bool is_integer;   /* coordinates are s32 */
    bool by_level;     /* QUERY: word 4 is the level */
    bool by_element;   /* surfaces: x counts elements, not bytes */
    uint8_t component; /* GATHER: 0 ... 3 */
    uint8_t mode;      /* surfaces: ptx_texture_mode */
    uint8_t bytes;     /* LOAD, STORE: all that one access takes; 1 ... 16 */
    uint8_t query;     /* ptx_texture_query */
    uint8_t reduce;    /* ptx_texture_reduce */
} ptx_texture;

typedef enum ptx_texture_reduce {
    PTX_REDUCE_ADD,
    PTX_REDUCE_MIN_S32,
    PTX_REDUCE_MAX_S32,
    PTX_REDUCE_MIN_U32,
    PTX_REDUCE_MAX_U32,
    PTX_REDUCE_AND,
    PTX_REDUCE_OR,
    PTX_REDUCE_ADD_64,
    PTX_REDUCE_COUNT
} ptx_texture_reduce;

/* All of it in 40 bits, and back. */
static inline uint64_t ptx_texture_pack(const ptx_texture *t)
{
    return (uint64_t)t->op | (uint64_t)t->geometry << 4 | (uint64_t)t->is_half << 8 |
           (uint64_t)t->is_integer << 9 | (uint64_t)t->by_level << 10 |
           (uint64_t)t->by_element << 11 | (uint64_t)t->component << 12 |
           (uint64_t)t->mode << 16 | (uint64_t)t->bytes << 20 | (uint64_t)t->query << 28 |
           (uint64_t)t->reduce << 32;
}

static inline ptx_texture ptx_texture_unpack(uint64_t word)
{
    return (ptx_texture){.op = word & 15,
                         .geometry = word >> 4 & 15,
                         .is_half = (word >> 8 & 1) != 0,
                         .is_integer = (word >> 9 & 1) != 0,
                         .by_level = (word >> 10 & 1) != 0,
                         .by_element = (word >> 11 & 1) != 0,
                         .component = word >> 12 & 15,
                         .mode = word >> 16 & 15,
                         .bytes = word >> 20 & 255,
                         .query = word >> 28 & 15,
                         .reduce = word >> 32 & 15};
}

#endif
