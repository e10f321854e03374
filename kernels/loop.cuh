/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of loop.cu and loop_device.cu read and write; src/loop includes it, too. */
#ifndef KERNELS_LOOP_CUH
#define KERNELS_LOOP_CUH

/* Why a launch ended: gph_loop_end of <gph/loop.h>. */
enum { LOOP_RUNS, LOOP_DONE, LOOP_CEILING, LOOP_BUDGET, LOOP_ABORTED, LOOP_REFUSED };

/* Which body comes next: none, that of several steps, that of one; OPEN: nothing was decided
 * yet. */
enum { LOOP_NONE, LOOP_MANY, LOOP_ONE, LOOP_OPEN };

/* In mapped host memory, so that the host reads and writes it while a launch runs. The
 * host's words and the device's lie in lines of their own. */
typedef struct loop_host {
    unsigned long long aborted; /* host: launches up to this number end */
    unsigned long long ceiling; /* host: steps */
    unsigned long long budget;  /* host: ns; 0: none */
    unsigned long long pad[5];
    unsigned long long begun; /* device: number of the launch that began last, from 1 */
    unsigned long long ended; /* and that ended last; what follows is its result then */
    unsigned long long steps, rounds;
    unsigned long long ns;       /* since it began, as of the last look */
    unsigned int end;            /* LOOP_ */
    unsigned int next;           /* for a host that launches the rounds */
    unsigned int value, changed; /* the condition, and whether it was ever another */
    unsigned long long code;     /* LOOP_REFUSED: what the device said */
} loop_host;

/* In device memory: of the launch that runs. */
typedef struct loop_device {
    unsigned long long launch; /* its number */
    unsigned long long steps, rounds;
    unsigned long long ceiling, deadline; /* deadline: of %globaltimer; ~0: none */
    unsigned long long begun, looked;     /* of %globaltimer */
    unsigned int counted;                 /* the counter when it began */
    unsigned int first, changed;          /* a mark of what the condition read then */
    unsigned int live;                    /* the condition held after the last step */
} loop_device;

/* What a loop is, for its kernels. */
typedef struct loop_plan {
    loop_device *here;
    loop_host *host;
    const unsigned int *condition; /* 0 ends it; NULL: the comparison does */
    const void *left, *right;      /* of the comparison; right NULL: the constant */
    unsigned long long constant;
    unsigned int type, accepts; /* gphi_compare_type, and of its bits */
    const unsigned int *counter;   /* that the body counts its steps in, or NULL */
    unsigned long long poll;       /* ns between two looks at the host's words */
    unsigned int many, pad;        /* steps of the body of several; 1: there is none */
} loop_plan;

#endif
