// SPDX-License-Identifier: Apache-2.0
/* The recording: a file with the outputs of every form that a device ran.
 *
 *   "PTXFORMS" | version | source text (128 bytes) | entry ...
 *   entry: hash (8) | bytes (4), 0 if the device rejects the form | bytes
 */
#include "forms.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC "PTXFORMS"
#define VERSION 1u
#define SOURCE_BYTES 128

struct recording {
    unsigned char *bytes;
    size_t size;
    char source[SOURCE_BYTES];
};

static size_t body_offset(void)
{
    return 8 + 4 + SOURCE_BYTES;
}

recording *recording_load(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    recording *r = calloc(1, sizeof(*r));
    long size = -1;
    if (r != NULL && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= (long)body_offset() && (r->bytes = malloc((size_t)size)) != NULL) {
        rewind(file);
        r->size = fread(r->bytes, 1, (size_t)size, file);
    }
    fclose(file);
    uint32_t version = 0;
    if (r != NULL && r->size >= body_offset()) {
        memcpy(&version, r->bytes + 8, 4);
        memcpy(r->source, r->bytes + 12, SOURCE_BYTES - 1);
        if (memcmp(r->bytes, MAGIC, 8) == 0 && version == VERSION)
            return r;
    }
    fprintf(stderr, "%s is not a recording\n", path);
    recording_free(r);
    return NULL;
}

void recording_free(recording *r)
{
    if (r == NULL)
        return;
    free(r->bytes);
    free(r);
}

const char *recording_source(const recording *r)
{
    return r->source;
}

const unsigned char *recording_find(const recording *r, const form *f, bool *rejected)
{
    *rejected = false;
    for (size_t at = body_offset(); at + 12 <= r->size;) {
        uint64_t hash;
        uint32_t bytes;
        memcpy(&hash, r->bytes + at, 8);
        memcpy(&bytes, r->bytes + at + 8, 4);
        if (bytes > r->size - at - 12)
            return NULL;
        if (hash == f->hash) {
            *rejected = bytes == 0;
            return bytes == f->threads * form_output_bytes(f) ? r->bytes + at + 12 : NULL;
        }
        at += 12 + (size_t)bytes;
    }
    return NULL;
}

bool recording_save(const char *path, const char *source, const forms *all,
                    unsigned char **outputs, const outcome *outcomes)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        fprintf(stderr, "cannot write %s\n", path);
        return false;
    }
    char text[SOURCE_BYTES] = "";
    snprintf(text, sizeof(text), "%s", source);
    const uint32_t version = VERSION;
    bool good = fwrite(MAGIC, 8, 1, file) == 1 && fwrite(&version, 4, 1, file) == 1 &&
                fwrite(text, sizeof(text), 1, file) == 1;
    for (size_t i = 0; good && i < all->count; i++) {
        const form *f = &all->forms[i];
        if (outcomes[i] != RAN && outcomes[i] != REJECTED)
            continue;
        const uint32_t bytes = outcomes[i] == RAN ? f->threads * form_output_bytes(f) : 0;
        good = fwrite(&f->hash, 8, 1, file) == 1 && fwrite(&bytes, 4, 1, file) == 1 &&
               fwrite(outputs[i], 1, bytes, file) == bytes;
    }
    return fclose(file) == 0 && good;
}
