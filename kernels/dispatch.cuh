/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of dispatch.cu read and write; src/dispatch includes it, too. */
#ifndef KERNELS_DISPATCH_CUH
#define KERNELS_DISPATCH_CUH

enum {
    DISPATCH_WORDS = 6,   /* of 8 bytes: arguments of a request */
    DISPATCH_ENTRIES = 64 /* graphs at most: a bit each */
};

/* A place of the queue, a line of pinned memory. */
typedef struct dispatch_request {
    unsigned int kind;                        /* host */
    unsigned int code;                        /* device: what its launch said */
    unsigned long long words[DISPATCH_WORDS]; /* host */
    unsigned long long pad;
} dispatch_request;

/* In mapped host memory. The host's words and the device's lie in lines of their own. */
typedef struct dispatch_host {
    unsigned long long sent; /* host: requests in the queue so far; `stop` follows it */
    unsigned long long stop; /* host: end as soon as the queue is empty */
    unsigned long long pad[6];
    unsigned long long done;   /* device: requests that have ended */
    unsigned long long sleeps; /* how often it ended, or was about to */
    unsigned long long rounds;
    unsigned long long broken; /* the code of a relaunch that was refused; 0: none */
    unsigned long long pad2[4];
} dispatch_host;

/* In device memory. */
typedef struct dispatch_device {
    unsigned long long taken, done; /* requests */
    unsigned long long sleeps, rounds;
    unsigned long long worked; /* of %globaltimer: when there was work last */
} dispatch_device;

/* A graph, its kind and where it finds the arguments of its request. */
typedef struct dispatch_entry {
    unsigned long long exec;
    unsigned long long *block;
    unsigned int kind, pad;
} dispatch_entry;

typedef struct dispatch_plan {
    dispatch_device *here;
    dispatch_host *host;
    dispatch_request *queue;
    const dispatch_entry *entries;
    unsigned long long idle, spin; /* ns */
    unsigned long long where;      /* the stream that graphs are launched into */
    unsigned int mask, count;      /* of the queue; of entries */
} dispatch_plan;

#endif
