/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Shows what happened in an examined process: a page (one HTML file that needs no
 *  network), a trace for ui.perfetto.dev, tables for a terminal. Tier: experimental. */
#ifndef GPH_REPORT_H
#define GPH_REPORT_H

#include <gph/advice.h>
#include <gph/base.h>
#include <gph/doctor.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a doctor read, kept for display. One thread at a time. */
typedef struct gph_report gph_report;

/** Settings of a report. */
typedef struct gph_report_options {
    uint32_t size;      /**< sizeof(gph_report_options) */
    uint32_t calls_max; /**< limit of driver calls that are drawn; 0: 400,000. Beyond it,
                             those that failed or created something are kept, and the
                             first and the last ones; all are counted */
    const gph_allocator *allocator; /**< copied; NULL: the C library's heap */
} gph_report_options;
/** All defaults. */
#define GPH_REPORT_OPTIONS_INIT GPH_SIZED(gph_report_options)

/** Begins to keep what a doctor reads: call it before the first gph_doctor_read() or
 *  gph_doctor_poll().
 *
 *  doctor   borrowed until gph_report_destroy(), which is called before
 *           gph_doctor_destroy().
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: gph_report_destroy(). Untouched on failure.
 *
 *  Fails with GPH_E_INVALID and GPH_E_NO_MEMORY. Where memory runs out later, the report
 *  keeps what it has, and says how much is missing. */
GPH_API GPH_CHECKED gph_status gph_report_create(gph_doctor *doctor,
                                                 const gph_report_options *options,
                                                 gph_report **out, gph_error *error);

/** Ends it. NULL is allowed. */
GPH_API void gph_report_destroy(gph_report *report);

/** 1, or 0 where this build has no page (d3 was missing). Thread: any. */
GPH_API int gph_report_has_page(void);

/** Writes the page into a file, which is replaced only when all is written. After
 *  gph_doctor_finish().
 *
 *  program  borrowed for the call; NULL: as recorded from the process.
 *  advice   borrowed for the call, after gph_advice_finish(): the predicted times with
 *           graphs are shown, too; NULL: they are not.
 *  path     borrowed for the call.
 *
 *  Fails with GPH_E_UNSUPPORTED (this build has no page), GPH_E_IO, GPH_E_INVALID and
 *  GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_report_page_save(gph_report *report,
                                                    const gph_program *program,
                                                    const gph_advice *advice,
                                                    const char *path, gph_error *error);

/** Writes a trace in Chrome's trace event format, which ui.perfetto.dev opens. Arguments
 *  and failures as gph_report_page_save(), except that every build supports it. */
GPH_API GPH_CHECKED gph_status gph_report_trace_save(gph_report *report,
                                                     const gph_program *program,
                                                     const gph_advice *advice,
                                                     const char *path, gph_error *error);

/** Writes short tables: calls by kind, graphs and launches, memory.
 *
 *  write  borrowed for the call; gets the text in pieces, no zero at the end.
 *  user   borrowed for the call.
 *
 *  Fails with what `write` returns and GPH_E_NO_MEMORY. After gph_doctor_finish(). */
GPH_API GPH_CHECKED gph_status gph_report_text_write(gph_report *report,
                                                     gph_write_fn *write, void *user,
                                                     gph_error *error);

/** Writes what the device decided and launched as a JSON object with two lists: `nodes`, the
 *  conditional nodes that ran, and `launches`, the graphs that kernels launched and the
 *  launches that were refused. A node has its graph, index and kind, how often it ran, the
 *  rounds of its loop, how often each body was taken (of a loop: in how many runs there was
 *  a round), and how often no body, or one beyond the eighth, was taken. The lists are
 *  empty if the driver does not record this; softcuda does.
 *
 *  write  borrowed for the call; gets the text in pieces, no zero at the end.
 *  user   borrowed for the call.
 *
 *  Fails with what `write` returns and GPH_E_INVALID. After gph_doctor_finish(). */
GPH_API GPH_CHECKED gph_status gph_report_device_write(gph_report *report,
                                                       gph_write_fn *write, void *user,
                                                       gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
