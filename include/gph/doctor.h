/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  The doctor: reads what a process did with CUDA and says what is wrong with its use of
 *  CUDA graphs. `gph doctor` is this and a program started under libgph-attach.so.
 *  Tier: experimental. */
#ifndef GPH_DOCTOR_H
#define GPH_DOCTOR_H

#include <gph/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One examination: events in, findings out. One thread at a time. */
typedef struct gph_doctor gph_doctor;

/** How bad it is. */
typedef enum gph_severity {
    GPH_SEVERITY_INFO = 0,    /**< worth knowing; nothing is wrong */
    GPH_SEVERITY_WARNING = 1, /**< works, but wastefully or probably not as intended */
    GPH_SEVERITY_ERROR = 2    /**< fails, or computes a wrong result */
} gph_severity;

/** Settings of an examination. */
typedef struct gph_doctor_options {
    uint32_t size;                  /**< sizeof(gph_doctor_options) */
    uint32_t keep_events;           /**< nonzero: keeps all events, for a report */
    const gph_allocator *allocator; /**< copied; NULL: the C library's heap */
    const char *language;           /**< language of all texts: "en" (NULL) or "zh" */
} gph_doctor_options;
/** Defaults. */
#define GPH_DOCTOR_OPTIONS_INIT GPH_SIZED(gph_doctor_options)

/** A place in the program's source. Texts are lent until gph_doctor_destroy(). Layout
 *  frozen: stacks are arrays of it. */
typedef struct gph_place {
    const char *function; /**< demangled; NULL if unknown */
    const char *file;     /**< NULL if unknown */
    int32_t line;         /**< 0 if unknown */
    uint32_t is_python;   /**< a frame of Python code */
    const char *module;   /**< the file that holds the code; NULL if unknown */
    uint64_t address;     /**< of the call; 0 for Python */
} gph_place;

/** An object that the texts of a finding name. Layout frozen: findings have arrays of
 *  it. */
typedef struct gph_object {
    const char *name;       /**< as the texts have it */
    const char *kind;       /**< "stream", "event", "graph", "executable", "context",
                                 "pool" or "memory" */
    uint64_t handle;        /**< the driver's; for memory its address */
    const gph_place *place; /**< where it was made; NULL: not known, or made by the
                                 driver */
} gph_object;

/** What a rule has found. All texts are lent until gph_doctor_destroy(); none is NULL.
 *  Lent: grows at the end. */
typedef struct gph_finding {
    const char *id;              /**< the rule's id, a slug of gph explain */
    gph_severity severity;       /**< see there */
    const char *title;           /**< one line */
    const char *cause;           /**< the first cause, with this run's values */
    const char *fix;             /**< what to do */
    const char *in_vain;         /**< what does not help, or empty */
    const char *docs;            /**< where to read on */
    const char *thread_name;     /**< of the thread at fault, or empty */
    uint64_t process;            /**< number of the process */
    uint64_t thread;             /**< the kernel's number of the thread at fault */
    uint64_t count;              /**< how often it was found; the texts are about the
                                      first time */
    uint64_t time_ns;            /**< time of the first, CLOCK_MONOTONIC */
    uint32_t frame_count;        /**< of `frames` */
    uint32_t evidence_count;     /**< of `evidence` */
    uint32_t consequence_count;  /**< of `consequences` */
    const gph_place *frames;     /**< call stack, innermost first; Python frames first */
    const char *const *evidence; /**< lines */
    const char *const *consequences; /**< later failures that follow from it, one per
                                          line */
    const char *language;            /**< language of the texts: "en" or "zh" */
    const gph_object *objects;       /**< that the texts name, each once */
    uint32_t object_count;           /**< of `objects` */
    uint32_t rank;                   /**< of the process, in a job of several */
    uint32_t rank_count;             /**< ranks of that job; 0: it is not in a job */
} gph_finding;

/** Begins an examination.
 *
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: gph_doctor_destroy(). Untouched on failure.
 *
 *  Fails with GPH_E_INVALID (an unknown language) and GPH_E_NO_MEMORY. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_doctor_create(const gph_doctor_options *options,
                                                 gph_doctor **out, gph_error *error);

/** Ends it. NULL is allowed. */
GPH_API void gph_doctor_destroy(gph_doctor *doctor);

/** Reads what processes have written since the last call to their rings in `folder`
 *  (GPH_DOCTOR_DIR of libgph-attach.so). Call it often while they run, and once with
 *  `is_over` nonzero when they have ended. Fails with GPH_E_IO, GPH_E_FORMAT and
 *  GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_doctor_poll(gph_doctor *doctor, const char *folder,
                                               int is_over, gph_error *error);

/** Reports that `signal` ended a process whose ring is read; the ring itself cannot show
 *  that. With `process` 0 it applies to all processes whose end is not known yet. After
 *  the last poll, before gph_doctor_finish(). An unknown process is not a failure. Fails
 *  with GPH_E_STATE and GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_doctor_killed(gph_doctor *doctor, uint64_t process,
                                                 int signal, gph_error *error);

/** Looks for a process that hangs: one of its threads has been in one driver call for
 *  that long, and a graph launch that the host has not waited for is under way. `process`
 *  is the caller's: filled in with its number, or 0. Each process is reported once; the
 *  caller then ends it, and gph_doctor_poll() reads which calls its threads were in.
 *  After a poll. Fails with GPH_E_INVALID, GPH_E_STATE and GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_doctor_hung(gph_doctor *doctor, double seconds,
                                               uint64_t *process, gph_error *error);

/** Reports that a process that hangs is left running: the next gph_doctor_poll() with
 *  `is_over` nonzero reads which calls its threads are in. After gph_doctor_hung(). An
 *  unknown process is not a failure. Fails with GPH_E_INVALID and GPH_E_STATE. */
GPH_API GPH_CHECKED gph_status gph_doctor_left(gph_doctor *doctor, uint64_t process,
                                               gph_error *error);

/** Reads a saved log. Fails with GPH_E_IO, GPH_E_FORMAT and GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_doctor_read(gph_doctor *doctor, const char *path,
                                               gph_error *error);

/** From now on everything that is read is also written to `path`, a log for gph_doctor_read();
 *  the log is complete after gph_doctor_finish(). A write error fails that call, not the
 *  reading. Fails with GPH_E_INVALID, GPH_E_IO, GPH_E_STATE and GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_doctor_save(gph_doctor *doctor, const char *path,
                                               gph_error *error);

/** Draws the conclusions that need all events, finds functions and lines for all stacks,
 *  and sorts the findings: errors first, then by time. Nothing is read afterwards. Fails
 *  with GPH_E_IO where the log of gph_doctor_save() could not be written (the file is
 *  then as it was before, and the findings are available all the same), and with
 *  GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_doctor_finish(gph_doctor *doctor, gph_error *error);

/** How many findings there are; complete after gph_doctor_finish(). */
GPH_API uint32_t gph_doctor_finding_count(const gph_doctor *doctor);

/** A finding; NULL if the index is too large. */
GPH_API const gph_finding *gph_doctor_finding(const gph_doctor *doctor, uint32_t index);

/** How many events were read, and in `lost` (the caller's, may be NULL) how many were
 *  lost because they came too fast. */
GPH_API uint64_t gph_doctor_event_count(const gph_doctor *doctor, uint64_t *lost);

/** Writes which ranks the processes are, how each ended, and for each communicator how many
 *  collectives each rank called, its last one, and how long after the first rank it came
 *  there. Writes nothing for a program of one rank. After gph_doctor_finish().
 *
 *  write    borrowed for the call; gets the text in pieces, no zero at the end.
 *  user     borrowed for the call.
 *
 *  Fails with what `write` returns, GPH_E_INVALID and GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_doctor_ranks_write(const gph_doctor *doctor,
                                                      gph_write_fn *write, void *user,
                                                      gph_error *error);

/** The program that was examined, as findings and reports name it. */
typedef struct gph_program {
    uint32_t size;            /**< sizeof(gph_program) */
    int32_t exit_code;        /**< as a shell reports it: 128 + n after signal n */
    const char *const *words; /**< program and arguments; borrowed for the call */
    size_t word_count;        /**< of `words`; 0: as recorded from the process */
} gph_program;

/** Writes a finding as text, many lines, for a terminal.
 *
 *  finding  borrowed for the call.
 *  write    borrowed for the call; gets the text in pieces, no zero at the end.
 *  user     borrowed for the call.
 *
 *  Fails with what `write` returns, and GPH_E_INVALID. */
GPH_API GPH_CHECKED gph_status gph_finding_text_write(const gph_finding *finding,
                                                      int with_colours,
                                                      gph_write_fn *write, void *user,
                                                      gph_error *error);

/** Writes a sentence of a program that shows the doctor's findings, such as gph doctor,
 *  in a language. `format` is as for printf(3), in English; it is written as it is if the
 *  doctor has no translation. Values of a plain %s are translated in the same way.
 *
 *  language  "en" (NULL) or "zh".
 *  write, user, format  borrowed for the call.
 *
 *  Fails with what `write` returns, and GPH_E_NO_MEMORY. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_doctor_say(const char *language, gph_write_fn *write,
                                              void *user, const char *format, ...)
    GPH_PRINTF(4, 5);

/** Writes all findings as one JSON object (docs/doctor.schema.json); after
 *  gph_doctor_finish(). `program` is borrowed for the call; NULL: it is not known.
 *  The rest, and failures, as gph_finding_text_write(). */
GPH_API GPH_CHECKED gph_status gph_doctor_json_write(const gph_doctor *doctor,
                                                     const gph_program *program,
                                                     gph_write_fn *write, void *user,
                                                     gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
