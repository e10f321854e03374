// SPDX-License-Identifier: Apache-2.0
/* Stands for NVRTC and nvJitLink, which come with the toolkit: machine code where a program
 * asks for it, PTX where it asks for that. Each function of nvJitLink is a jump to what does
 * the work, as the toolkit's are. Built twice, with one of the two. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef FAKE_NVRTC
#define PUBLIC __attribute__((visibility("default")))
static const char machine_code[] = "\177ELF";

PUBLIC int nvrtcGetPTXSize(const char *program, size_t *bytes);
int nvrtcGetPTXSize(const char *program, size_t *bytes)
{
    *bytes = strlen(program) + 1;
    return 0;
}

PUBLIC int nvrtcGetPTX(const char *program, char *out);
int nvrtcGetPTX(const char *program, char *out)
{
    memcpy(out, program, strlen(program) + 1);
    return 0;
}

PUBLIC int nvrtcGetCUBINSize(const char *program, size_t *bytes);
int nvrtcGetCUBINSize(const char *program, size_t *bytes)
{
    (void)program;
    *bytes = sizeof(machine_code);
    return 0;
}

PUBLIC int nvrtcGetCUBIN(const char *program, char *out);
int nvrtcGetCUBIN(const char *program, char *out)
{
    (void)program;
    memcpy(out, machine_code, sizeof(machine_code));
    return 0;
}
#else
/* A handle is the text that was added, and whether -ptx was asked for. */
typedef struct handle {
    char text[4096];
    int is_ptx;
} handle;

#define HIDDEN __attribute__((visibility("hidden"), used))
#define JUMP(name, to)                                                                   \
    __asm__(".text\n.globl " name "\n.type " name ", @function\n" name                   \
            ":\n.byte 0xe9\n.long " to " - . - 4\n.zero 11\n.size " name ", 16\n");

HIDDEN int fake_create(handle **out, uint32_t count, const char **options);
int fake_create(handle **out, uint32_t count, const char **options)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(options[i], "-arch=sm_99") == 0)
            return 1; /* ERROR_UNRECOGNIZED_OPTION */
    *out = calloc(1, sizeof(**out));
    for (uint32_t i = 0; i < count && *out; i++)
        (*out)->is_ptx |= strcmp(options[i], "-ptx") == 0;
    return !*out;
}

HIDDEN int fake_destroy(handle **gone);
int fake_destroy(handle **gone)
{
    free(*gone);
    return 0;
}

HIDDEN int fake_add(handle *to, int type, const char *data, size_t bytes,
                    const char *name);
int fake_add(handle *to, int type, const char *data, size_t bytes, const char *name)
{
    (void)name;
    if (to->is_ptx && type == 2)
        return 12; /* ERROR_INCORRECT_INPUT_TYPE: with -ptx it takes LTOIR alone */
    memcpy(to->text, data, bytes);
    return 0;
}

HIDDEN int fake_complete(handle *of);
int fake_complete(handle *of)
{
    return !of->is_ptx;
}

HIDDEN int fake_ptx_size(handle *of, size_t *bytes);
int fake_ptx_size(handle *of, size_t *bytes)
{
    *bytes = strlen(of->text) + 1;
    return !of->is_ptx;
}

HIDDEN int fake_ptx(handle *of, char *out);
int fake_ptx(handle *of, char *out)
{
    memcpy(out, of->text, strlen(of->text) + 1);
    return !of->is_ptx;
}

HIDDEN int fake_cubin(void);
int fake_cubin(void)
{
    return 77;
}

JUMP("nvJitLinkCreate", "fake_create")
JUMP("nvJitLinkDestroy", "fake_destroy")
JUMP("nvJitLinkAddData", "fake_add")
JUMP("nvJitLinkComplete", "fake_complete")
JUMP("nvJitLinkGetLinkedPtxSize", "fake_ptx_size")
JUMP("nvJitLinkGetLinkedPtx", "fake_ptx")
JUMP("nvJitLinkGetLinkedCubinSize", "fake_cubin")
JUMP("nvJitLinkGetLinkedCubin", "fake_cubin")
JUMP("__nvJitLinkGetLinkedCubin_13_0", "fake_cubin")
JUMP("nvJitLinkGetErrorLogSize", "fake_cubin")
JUMP("nvJitLinkGetErrorLog", "fake_cubin")
#endif
