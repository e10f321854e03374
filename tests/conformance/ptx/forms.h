// SPDX-License-Identifier: Apache-2.0
/* Tests of single PTX instructions: a table of forms (forms.txt) becomes one small kernel
 * a form, run by any driver over fixed inputs; the outputs are recorded (on a GPU) or
 * compared with what was recorded. Plain C and the driver API, nothing of Graphophone, so
 * that a bare GPU machine can build it. */
#ifndef FORMS_H
#define FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define INPUTS_MAX 5
#define OUTPUTS_MAX 4
#define THREADS_MAX 384
#define BLOCK_THREADS 128
#define SLOT_BYTES 8 /* of one value in the buffers */

typedef enum kind {
    KIND_INT,
    KIND_F16,
    KIND_F16X2,
    KIND_BF16,
    KIND_BF16X2,
    KIND_F32,
    KIND_F64,
    KIND_SHIFT,
    KIND_LANE,
    KIND_SMALL,
    KIND_FLAG,
    KIND_FEW,
    KIND_ANGLE,
    KIND_EDGE
} kind;

typedef struct value_type {
    const char *name;
    const char *reg; /* the PTX type of its register, and of ld and st */
    uint32_t bytes;  /* recorded */
    uint32_t bits;   /* that vary in an input */
    kind kind;
} value_type;

const value_type *type_find(const char *name);

typedef enum tolerance { EXACT, ULP, ABSOLUTE, RELATIVE, EITHER } tolerance;

typedef struct form {
    char name[120];
    char body[1400];
    const value_type *outputs[OUTPUTS_MAX], *inputs[INPUTS_MAX];
    uint32_t output_count, input_count;
    uint32_t threads;
    tolerance tolerance;
    double bound;
    uint32_t line; /* of its template in forms.txt */
    uint64_t hash; /* of all that decides the recorded bytes */
} form;

typedef struct forms {
    form *forms;
    size_t count, capacity;
    char **lines; /* of the file, for docs */
    size_t line_count;
} forms;

/* Reads and expands the table; prints what is wrong and returns false. */
bool forms_read(const char *path, forms *out);

/* Values of input `nth` for every thread, SLOT_BYTES each, at in[thread][nth]. */
void inputs_make(const form *f, unsigned char *in);
uint32_t form_output_bytes(const form *f); /* a thread */

/* PTX of a module with one kernel k0, k1 ... a form. malloc'ed. */
char *kernels_write(const form *first, size_t count);

/* ---- the driver */
typedef struct driver driver;
driver *driver_open(const char *path); /* prints and returns NULL */
void driver_close(driver *d);
const char *driver_name(const driver *d); /* device and version */

typedef enum outcome {
    RAN,
    REJECTED, /* the module does not load */
    UNSUPPORTED /* the launch is refused */,
    BROKE /* anything else; the reason is printed */
} outcome;

/* Loads `count` forms as one module; runs all. outcomes[i], and outputs of form i as
 * recorded bytes at out[i] (threads * form_output_bytes). */
void driver_run(driver *d, const form *f, size_t count, outcome *outcomes,
                unsigned char **out, bool verbose);

/* ---- comparing: number of threads that differ; says the first `show` */
uint32_t outputs_compare(const form *f, const unsigned char *expected,
                         const unsigned char *got, uint32_t show);

/* ---- the recording: form hash -> bytes */
typedef struct recording recording;
recording *recording_load(const char *path);
void recording_free(recording *r);
const char *recording_source(const recording *r);
/* NULL if the form is not in it; *rejected if the device does not take it. */
const unsigned char *recording_find(const recording *r, const form *f, bool *rejected);
bool recording_save(const char *path, const char *source, const forms *all,
                    unsigned char **outputs, const outcome *outcomes);

bool docs_write(FILE *to, const forms *all, const recording *r);

#endif
