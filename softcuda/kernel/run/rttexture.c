// SPDX-License-Identifier: Apache-2.0
/* Texture and surface instructions of a thread. Texels are read and written by functions
 * whose faults are the kernel's; in check mode each is an access like any other. */
#include <stdio.h>
#include <string.h>

#include "softcuda/kernel/run/env.h"
#include "softcuda/kernel/run/place.h"
#include "softcuda/kernel/run/rtcalls.h"
#include "softcuda/kernel/run/rtreach.h"
#include "softcuda/kernel/run/runner.h"
#include "softcuda/kernel/run/texture.h"

static void read_texel(void *user, uint64_t address, void *to, uint32_t bytes)
{
    (void)soft_text_copy(to, soft_reach_at(user, address, bytes, 0), bytes);
}

static void write_texel(void *user, uint64_t address, const void *from, uint32_t bytes)
{
    (void)soft_text_copy(soft_reach_at(user, address, bytes, PTX_CHECK_WRITE), from,
                         bytes);
}

static void raise(ptx_block *view, uint32_t thread, gph_status code, uint64_t address,
                  const char *text)
{
    soft_block *block = soft_block_from(view);
    block->runner->raised.has_thread = true;
    block->runner->raised.thread = thread;
    soft_runner_raise(block->runner, code, address, text);
}

/* An H100 reads zeros where the handle is 0, faults where there never was one. */
ptx_words4 ptx_rt_texture(ptx_block *view, uint32_t thread, uint64_t word,
                          uint64_t handle, uint32_t a, uint32_t b, uint32_t c, uint32_t d,
                          uint32_t e, uint32_t f, uint32_t g, uint32_t h, uint32_t i,
                          uint32_t j, uint32_t k, uint32_t l)
{
    const uint32_t words[PTX_TEXTURE_WORDS] = {a, b, c, d, e, f, g, h, i, j, k, l};
    const ptx_texture form = ptx_texture_unpack(word);
    uint32_t out[4] = {0};
    if (handle == 0)
        return (ptx_words4){0};
    bool alive;
    const soft_texture *texture = soft_texture_find(handle, &alive);
    soft_reach r = {view, thread,
                    soft_block_from(view)->runner->launch->env->options.check != NULL};
    if (!texture)
        raise(view, thread, SOFT_ERROR_ILLEGAL_ADDRESS, handle,
              "a texture or surface instruction with a handle that no object has");
    if (r.checks && !alive)
        raise(view, thread, SOFT_ERROR_ILLEGAL_ADDRESS, handle,
              "a texture or surface instruction with an object that was destroyed");
    const soft_texels texels = {read_texel, write_texel, soft_reach_word, &r};
    if (form.bytes > 1 && !form.by_element &&
        words[form.geometry >= PTX_GEOMETRY_A1D] % form.bytes != 0)
        raise(view, thread, SOFT_ERROR_MISALIGNED_ADDRESS,
              words[form.geometry >= PTX_GEOMETRY_A1D],
              "a surface instruction whose first coordinate is not aligned to its bytes");
    if (!soft_texture_run(texture, &form, &texels, words, out))
        raise(view, thread, SOFT_ERROR_ILLEGAL_ADDRESS, 0,
              "a surface instruction with .trap outside its surface");
    return (ptx_words4){out[0], out[1], out[2], out[3]};
}
