// SPDX-License-Identifier: Apache-2.0
/* What a thread repeats, or several that hand over, found as its calls come in: each is
 * hashed and compared with the one a period earlier. One thread at a time touches a
 * rhythm. */
#ifndef GPHI_ATTACH_TIMING_RHYTHM_H
#define GPHI_ATTACH_TIMING_RHYTHM_H
#include "attach/timing/entries.h"

typedef enum gphi_timing_class {
    GPHI_NOISE, /* asks for something that is known: no part of the rhythm */
    GPHI_WORK,  /* queued on a stream */
    GPHI_ORDER, /* queued too, but takes no time */
    GPHI_STOP,  /* everything else: may wait for the GPU, or is not known not to */
    GPHI_CAPTURE
} gphi_timing_class;

gphi_timing_class gphi_timing_class_of(uint32_t call);

/* A call of the program, and what it is. */
typedef struct gphi_timing_call {
    uint32_t call, flags;
    const uint64_t *words;
    gphi_timing_class class;
    CUstream stream; /* of WORK and ORDER: the one that its handle means */
    uint32_t key;    /* the same for two calls: call, stream, function and grid, size */
} gphi_timing_call;

gphi_timing_call gphi_timing_call_of(uint32_t call, const uint64_t *words,
                                     uint32_t flags);

enum { GPHI_RHYTHM_KEYS = 4096, GPHI_RHYTHM_PLACES = 16 };

/* The two ways of a window; see timing.h. */
typedef enum gphi_window_kind { GPHI_WINDOW_HELD, GPHI_WINDOW_GRAPH } gphi_window_kind;

/* A place in the period where windows may begin. */
typedef struct gphi_rhythm_place {
    uint32_t at;
    uint32_t count[2]; /* of each gphi_window_kind so far */
    bool may[2];       /* whether that kind may begin here */
} gphi_rhythm_place;

/* What the doctor adds to a call, the mean of a repetition: few calls may cost most of it (the
 * backward pass of PyTorch has other stacks than the forward pass), so that calls one by one
 * would not say what a repetition costs. By halves and sixteenths of them, since what Python's
 * frames cost is a hundred times what a call from C costs. */
enum { GPHI_OWN_STEPS = 256 };

typedef struct gphi_rhythm_own {
    uint64_t ns, calls; /* since a repetition began, or the period is known */
    bool is_disturbed;  /* by a window */
    uint32_t repetitions, steps[GPHI_OWN_STEPS]; /* by the mean of their calls */
} gphi_rhythm_own;

typedef struct gphi_rhythm {
    uint64_t count;               /* calls so far */
    uint64_t period, run, locked; /* calls that agree; the call at which it was adopted */
    uint64_t next;                /* the call before which no window begins */
    bool has_waits, after_wait;
    gphi_rhythm_place places[GPHI_RHYTHM_PLACES];
    uint32_t place_count;
    gphi_rhythm_own own;
    uint32_t keys[GPHI_RHYTHM_KEYS]; /* of its last calls */
    uint32_t last[GPHI_RHYTHM_KEYS]; /* by key: the call's number + 1, low bits */
} gphi_rhythm;

void gphi_rhythm_beat(gphi_rhythm *r, const gphi_timing_call *call);

/* Whether a whole period has come again. */
bool gphi_rhythm_is_steady(const gphi_rhythm *r);

/* The next call's place, or NULL. A place is after a wait, or the first that comes where
 * the period has no waits, or where `go_on()` said so. */
gphi_rhythm_place *gphi_rhythm_place_of(gphi_rhythm *r);

/* A window of that kind has ended before its repetition did: the next goes on from the
 * next call. */
void gphi_rhythm_go_on(gphi_rhythm *r, gphi_window_kind kind);

/* A call has ended, to which the doctor has added so much; `is_disturbed`: more than it does as
 * a rule. */
void gphi_rhythm_cost(gphi_rhythm *r, uint64_t own_ns, bool is_disturbed);

/* What it added to a call in so many quarters of the repetitions at most; 0: not known. */
uint64_t gphi_rhythm_own_cost(const gphi_rhythm *r, uint32_t quarters);

/* Which kind of window is due at a place: the one that has begun there less often, if no
 * other place has fewer. Whether there is one. */
bool gphi_rhythm_due(const gphi_rhythm *r, const gphi_rhythm_place *place,
                     gphi_window_kind *kind);
#endif
