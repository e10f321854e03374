// SPDX-License-Identifier: Apache-2.0
/* The page's data as it is written: numbers that the parts share. The object, whose
 * members page/data.js reads by these names:
 *
 *   v        1
 *   head     program, exit, pid, driver, devices, began, span, calls, lost, dropped, gph
 *   graphs   [{title, count, bytes, child, kind[], fn[], stack[], made[], detail[],
 *              region[], regions[], edges[from, to, ...], weak[],
 *              decided[[node, kind, times, rounds, times of body 0, ...]]}]
 *   execs    [{name, graph, from, to, launches, updates, device, refused}]
 *   calls    columns, an item a call:
 *              t begin, as the difference to the one before   d duration   c name
 *              h thread   s stream   o object   k stack
 *              r [call, result, ...] of those that are not 0   x [call] that were captured
 *   kinds, names      of the numbers in calls.c
 *   counts   [[name, count, ns, longest, failed, kind]] of all calls, drawn or not
 *   functions, results, streams, threads, captures
 *   waits    [call, record, ...]
 *   elapsed  [begin, end, call, ns, ...]
 *   gpu      columns of measured times:  t  d  s stream  w what  n function
 *   device   columns of what the device decided and launched:
 *              t  d  w report_span_kind  e executable  p of the kernel  b body  r rounds
 *   memory   columns, an item a lifetime:
 *              a address  b bytes  kind  from  to  stack  call  capture  pool
 *   pools, caches, trees, advice, findings
 *   sources  [{file, text or null, marks[{kind, line, count, call, why, rule, cause, fix,
 *              vain}]}] with advice
 *   stacks   [[frame, ...]]
 *   frames   [[function, file, line, is Python]]
 *
 * Times are nanoseconds from the first call on; -1 stands for "none" in all columns.
 * Columns are shorter than objects that repeat their members' names, and quicker to read.
 */
#ifndef GPHI_REPORT_DATA_H
#define GPHI_REPORT_DATA_H
#include "base/json.h"
#include "doctor/language/language.h"
#include "report/numbers.h"
#include "report/report.h"
#include <stddef.h>

typedef struct report_writing {
    gphi_text out;
    char buffer[4096]; /* of `out` */
    gph_report *report;
    gph_program program;
    const gph_advice *advice; /* or NULL */
    report_numbers calls;     /* names of calls that occur */
    report_numbers stacks;    /* stack 0 is the empty one */
    report_numbers frames;    /* by a hash of function, file, line */
    gphi_vec places;          /* of const gph_place *: by frame number */
    gphi_vec shown; /* of uint32_t: per graph 1 + its number in the page, or 0 */
    bool failed;    /* memory was short */
} report_writing;

/* A place's number among the frames. */
uint32_t gphi_report_frame(report_writing *writing, const gph_place *place);
/* A stack's number among those written. */
uint32_t gphi_report_stack_number(report_writing *writing, uint32_t stack);

/* One number per item of a vector: as `value` returns it, or a member of the item, and
 * `more`. */
typedef int64_t gphi_report_value(report_writing *writing, size_t index);
typedef struct report_column {
    const char *name;
    gphi_report_value *value; /* NULL: the member */
    size_t offset, bytes;
    int more;
} report_column;
#define REPORT_MEMBER(type, member) offsetof(type, member), sizeof(((type *)0)->member)
#define REPORT_NO_MEMBER 0, 0, 0

/* All columns of a vector, with commas between them. */
void gphi_report_put_columns(report_writing *writing, const gphi_vec *items,
                             const report_column *columns, size_t count);
/* Numbers of the frames of a stack, as a list. */
void gphi_report_put_frames(report_writing *writing, const gph_place *frames,
                            uint32_t count);
/* "name": and a text that may be NULL, for which `other` is written. */
void gphi_report_put_name(report_writing *writing, const char *name, const char *other);
/* A comma in front of all but the first. */
static inline void gphi_report_comma(report_writing *writing, size_t index)
{
    if (index > 0)
        gphi_text_put(&writing->out, ",");
}

/* Parts of the data, each a member or some. */
void gphi_report_put_head(report_writing *writing);
void gphi_report_put_calls(report_writing *writing);
void gphi_report_put_graphs(report_writing *writing);
void gphi_report_put_memory(report_writing *writing);
void gphi_report_put_device(report_writing *writing);
void gphi_report_put_collectives(report_writing *writing);
/* Of a graph: what its conditional nodes decided. */
void gphi_report_put_decided(report_writing *writing, uint32_t graph);
void gphi_report_put_notes(report_writing *writing);
void gphi_report_put_advice(report_writing *writing);
/* Sources with what a capture would make of their lines; nothing without advice. */
void gphi_report_put_lines(report_writing *writing);
void gphi_report_put_findings(report_writing *writing);
void gphi_report_put_stacks(report_writing *writing);
#endif
