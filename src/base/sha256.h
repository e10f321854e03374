// SPDX-License-Identifier: Apache-2.0
/* SHA-256 (FIPS 180-4): the identity of module images must not depend on which libraries
 * a build found, so it is here. */
#ifndef GPHI_BASE_SHA256_H
#define GPHI_BASE_SHA256_H
#include <stddef.h>
#include <stdint.h>

enum { GPHI_SHA256_BYTES = 32 };

typedef struct gphi_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
} gphi_sha256;

void gphi_sha256_begin(gphi_sha256 *hash);
void gphi_sha256_add(gphi_sha256 *hash, const void *bytes, size_t count);
void gphi_sha256_end(gphi_sha256 *hash, unsigned char out[GPHI_SHA256_BYTES]);
/* Of a text, without the zero at its end. */
void gphi_sha256_text(const char *text, unsigned char out[GPHI_SHA256_BYTES]);
#endif
