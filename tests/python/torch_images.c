// SPDX-License-Identifier: Apache-2.0
/* A library with kernels, as nvcc makes one: fat binaries in the section .nv_fatbin. Their code is PTX, so that softcuda
 * runs it. test_torch_saved.py loads them as the CUDA runtime does, each as a library of the driver's.
 *
 *   image_plus     plus(to, from, count, by)
 *   image_times    times(to, from, count, by), of two kernels
 *   image_one      twin(to, from, count, by): two images
 *   image_other    with the same names of kernels
 *   image_same     same(to, from, count, by): two images
 *   image_again    with the same code
 *
 * And a launch as PyTorch's are, with bytes of arguments that nobody sets. */
#include <stdint.h>

struct image {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
    uint16_t kind, entry_version;
    uint32_t entry_bytes;
    uint64_t payload_bytes;
    uint32_t compressed, options, minor_major, architecture, more[2];
    uint64_t flags, gap, plain_bytes;
    char payload[1024];
};

#define KERNEL(name, operation)                                                          \
    ".visible .entry " name "(.param .u64 to, .param .u64 from, .param .u32 count, "     \
    ".param .f32 by)\n{\n"                                                               \
    ".reg .pred %p<2>; .reg .f32 %f<3>; .reg .b32 %r<6>; .reg .b64 %d<6>;\n"             \
    "ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from];\n"                                \
    "ld.param.u32 %r1, [count]; ld.param.f32 %f1, [by];\n"                               \
    "mov.u32 %r5, %tid.x; setp.ge.u32 %p1, %r5, %r1; @%p1 bra DONE;\n"                   \
    "mul.wide.u32 %d3, %r5, 4; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3;\n"          \
    "ld.global.f32 %f2, [%d5]; " operation ".f32 %f2, %f2, %f1; "                        \
    "st.global.f32 [%d4], %f2;\nDONE:\nret;\n}\n"
#define IMAGE(name, number, kernels)                                                     \
    extern const struct image name;                                                      \
    __attribute__((section(".nv_fatbin,\"a\",@progbits#"), aligned(8)))                  \
    const struct image name = {                                                          \
        .magic = 0xba55ed50,                                                             \
        .version = 1,                                                                    \
        .header_bytes = 16,                                                              \
        .bytes = sizeof(struct image) - 16,                                              \
        .kind = 1,                                                                       \
        .entry_version = 0x101,                                                          \
        .entry_bytes = 64,                                                               \
        .payload_bytes = sizeof(((struct image *)0)->payload),                           \
        .options = number,                                                               \
        .architecture = 70,                                                              \
        .payload = ".version 7.0\n.target sm_70\n.address_size 64\n" kernels}

IMAGE(image_plus, 0, KERNEL("plus", "add"));
IMAGE(image_times, 0, KERNEL("times", "mul") ".visible .entry beside()\n{\nret;\n}\n");
IMAGE(image_one, 0, KERNEL("twin", "add"));
IMAGE(image_other, 0, KERNEL("twin", "sub"));
IMAGE(image_same, 1, KERNEL("same", "add"));
IMAGE(image_again, 2, KERNEL("same", "add"));

enum { LEFT_WORDS = 12 * 1024, ABOVE_BYTES = 32 * 1024 };

/* Leaves an address on the stack, 96 KiB of it. */
void leave(uint64_t address);
void leave(uint64_t address)
{
    uint64_t words[LEFT_WORDS];
    for (int i = 0; i < LEFT_WORDS; i++)
        words[i] = address;
    __asm__ volatile("" : : "r"(words) : "memory");
}

typedef int launch_fn(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, void *, void **, void **);
struct padded {
    void *function, *stream;
    uint64_t to, from;
    uint32_t count;
    float by;
};

__attribute__((noinline)) static int launch_below(launch_fn *launch, struct padded *with)
{
    uint64_t unset[3];
    void *arguments[] = {&with->to, &with->from, &with->count, &with->by, unset};
    return launch(with->function, 1, 1, 1, with->count, 1, 1, 0, with->stream, arguments,
                  0);
}

/* unset(to, from, count, by, rest): of `rest` nothing is set. What calls it, as an interpreter
 * does, uses less of the stack than lies between. */
int launch_padded(launch_fn *launch, struct padded *with);
int launch_padded(launch_fn *launch, struct padded *with)
{
    char above[ABOVE_BYTES];
    __asm__ volatile("" : : "r"(above) : "memory");
    const int result = launch_below(launch, with);
    __asm__ volatile("" : : "r"(above) : "memory");
    return result;
}
