// SPDX-License-Identifier: Apache-2.0
/* Texture and surface references: .texref and .surfref variables of a module, which the
 * program binds to memory by calls (CUDA took them out of its headers, drivers have them).
 *
 *   soft_texref: what was set --> a texture object of its own --> its handle
 *        in the module's variable, where tex and suld find it
 *
 * Instructions read the variable while a kernel runs, so a call that changes it waits for
 * the context's work: kernels that were launched before see what was bound then. */
#ifndef SOFT_DEVICE_TEXREF_H
#define SOFT_DEVICE_TEXREF_H
#include "softcuda/device/texobject.h"

/* What a program sets. */
typedef struct soft_texref_state {
    soft_texture_desc desc; /* of type LINEAR without an address: bound to nothing */
    CUarray_format format;  /* of memory; an array brings its own */
    unsigned channels;
} soft_texref_state;

/* A CUtexref or CUsurfref points to one. One at a time, as CUDA asks of programs. */
typedef struct soft_texref {
    soft_context *context;
    uint64_t variable; /* of the module; 0: of none, cuTexRefCreate() made it */
    soft_texref_state state;
    unsigned long long object;
    bool is_surface;
    struct soft_texref *next; /* of the module */
} soft_texref;

/* Bound to nothing. */
CUresult soft_texref_create(soft_context *context, uint64_t variable, bool is_surface,
                            soft_texref **out);
/* Its handle is invalid from now on; kernels that are queued, or in graphs, go on with it. */
void soft_texref_hide(soft_texref *ref);
/* Its variable is not touched: the module goes, too. */
void soft_texref_destroy(soft_texref *ref);
/* INVALID_HANDLE for what is not one of the kind. */
CUresult soft_texref_find(const void *handle, bool is_surface, soft_texref **out);
/* Makes a state its own, or refuses it as a texture object would be, and nothing changes. */
CUresult soft_texref_set(soft_texref *ref, const soft_texref_state *state);
#endif
