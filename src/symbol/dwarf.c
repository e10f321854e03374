// SPDX-License-Identifier: Apache-2.0
/* What a file says of an address:
 *
 *   address ──> run of addresses ──> line program ──> line and file
 *                                         └─ unit of that program ──> inlined functions
 *   address ──> symbol table ──> function
 *
 * Runs and units are listed once, when the first address is asked for. */
#include "symbol/dwarf.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/text.h"
#include "base/vec.h"
#include "symbol/elf.h"
#include "symbol/line.h"
#include "symbol/unit.h"

#include <stdlib.h>

enum { INLINED_MAX = 16 };

struct gphi_dwarf {
    gph_allocator heap;
    gphi_elf *elf;
    gphi_line_sections lines;
    gphi_unit_sections units;
    gphi_vec runs;      /* of gphi_line_run, by address */
    gphi_vec all_units; /* of gphi_unit, those that have a line program */
    gphi_vec texts;     /* of char *, the files' names that were put together */
    bool is_listed;
};

gphi_dwarf *gphi_dwarf_open(gph_allocator heap, const char *path, const char *build_id,
                            bool *is_same)
{
    gphi_dwarf *dwarf = gphi_heap_alloc(heap, sizeof(*dwarf));
    gphi_elf *elf = dwarf ? gphi_elf_open(heap, path, build_id, is_same) : NULL;
    if (!elf) {
        gphi_heap_free(heap, dwarf, sizeof(*dwarf));
        return NULL;
    }
    dwarf->heap = heap;
    dwarf->elf = elf;
    gphi_vec_init(&dwarf->runs, heap, sizeof(gphi_line_run));
    gphi_vec_init(&dwarf->all_units, heap, sizeof(gphi_unit));
    gphi_vec_init(&dwarf->texts, heap, sizeof(char *));
    const gphi_bytes text = gphi_elf_section(elf, ".debug_str");
    const gphi_bytes line_text = gphi_elf_section(elf, ".debug_line_str");
    dwarf->lines =
        (gphi_line_sections){gphi_elf_section(elf, ".debug_line"), text, line_text};
    dwarf->units =
        (gphi_unit_sections){.info = gphi_elf_section(elf, ".debug_info"),
                             .abbreviations = gphi_elf_section(elf, ".debug_abbrev"),
                             .text = text,
                             .line_text = line_text,
                             .text_offsets = gphi_elf_section(elf, ".debug_str_offsets"),
                             .addresses = gphi_elf_section(elf, ".debug_addr"),
                             .ranges = gphi_elf_section(elf, ".debug_ranges"),
                             .range_lists = gphi_elf_section(elf, ".debug_rnglists")};
    return dwarf;
}

void gphi_dwarf_close(gphi_dwarf *dwarf)
{
    if (!dwarf)
        return;
    for (size_t i = 0; i < dwarf->texts.count; i++)
        gphi_heap_text_free(dwarf->heap, *(char **)gphi_vec_at(&dwarf->texts, i));
    gphi_vec_fini(&dwarf->texts);
    gphi_vec_fini(&dwarf->all_units);
    gphi_vec_fini(&dwarf->runs);
    gphi_elf_close(dwarf->elf);
    gphi_heap_free(dwarf->heap, dwarf, sizeof(*dwarf));
}

/* ---- lists ---- */

static void add_run(void *user, const gphi_line_run *run)
{
    gphi_dwarf *dwarf = user;
    gphi_ignore(gphi_vec_push(&dwarf->runs, run), "those that there is memory for");
}

static void list(gphi_dwarf *dwarf)
{
    dwarf->is_listed = true;
    uint64_t next = 0;
    do {
        gphi_line_head head;
        if (gphi_line_read(&dwarf->lines, next, &head, &next))
            gphi_line_runs(&head, add_run, dwarf);
    } while (next != 0);
    if (dwarf->runs.count > 0)
        qsort(dwarf->runs.items, dwarf->runs.count, sizeof(gphi_line_run), gphi_by_first);
    do {
        gphi_unit unit;
        if (gphi_unit_read(&dwarf->units, next, &unit, &next) &&
            unit.program != UINT64_MAX)
            gphi_ignore(gphi_vec_push(&dwarf->all_units, &unit), "as runs are");
    } while (next != 0);
}

static const gphi_line_run *run_of(const gphi_dwarf *dwarf, uint64_t at)
{
    const size_t upto = gphi_vec_upto(&dwarf->runs, at);
    const gphi_line_run *run = upto > 0 ? gphi_vec_at(&dwarf->runs, upto - 1) : NULL;
    return run && at < run->end ? run : NULL;
}

static const gphi_unit *unit_of(const gphi_dwarf *dwarf, uint64_t program)
{
    GPHI_EACH (const gphi_unit, unit, &dwarf->all_units)
        if (unit->program == program)
            return unit;
    return NULL;
}

/* ---- names ---- */

/* "directory/name", remembered; NULL without memory. */
static const char *keep_path(gphi_dwarf *dwarf, const char *above, const char *directory,
                             const char *name)
{
    char path[4096];
    gphi_text text;
    const char *const parts[] = {above, directory, name};
    gphi_text_fix(&text, path, sizeof(path));
    for (int i = 0; i < 3; i++) {
        if (parts[i][0] == '/')
            gphi_text_fix(&text, path, sizeof(path)); /* what is above counts no more */
        if (parts[i][0] != '\0' && text.length > 0)
            gphi_text_put(&text, "/");
        gphi_text_put(&text, parts[i]);
    }
    for (size_t i = 0; i < dwarf->texts.count; i++) {
        const char *known = *(char **)gphi_vec_at(&dwarf->texts, i);
        if (strcmp(known, path) == 0)
            return known;
    }
    char *own = gphi_heap_text(dwarf->heap, path);
    char **place = own ? gphi_vec_add(&dwarf->texts, 1) : NULL;
    if (!place) {
        gphi_heap_text_free(dwarf->heap, own);
        return NULL;
    }
    return *place = own;
}

/* A line of a file of a program; none where the line is 0. */
static gphi_dwarf_place place_of(gphi_dwarf *dwarf, const gphi_line_head *head,
                                 const gphi_unit *unit, uint64_t file, int line)
{
    gphi_line_name name;
    const char *const above = unit ? unit->directory : "";
    gphi_dwarf_place place = {0};
    if (line > 0 && gphi_line_file(&dwarf->lines, head, file, &name))
        place.file = keep_path(dwarf, above, name.directory, name.name);
    place.line = place.file ? line : 0;
    return place;
}

uint32_t gphi_dwarf_frames(gphi_dwarf *dwarf, uint64_t at, gphi_dwarf_place *out,
                           uint32_t room)
{
    gphi_inlined inlined[INLINED_MAX];
    gphi_line_head head;
    gphi_line_row row;
    uint64_t next;
    gphi_dwarf_place place;
    if (!dwarf->is_listed)
        list(dwarf);
    const char *function = gphi_elf_function(dwarf->elf, at);
    const gphi_line_run *run = run_of(dwarf, at);
    if (!run || !gphi_line_read(&dwarf->lines, run->program, &head, &next) ||
        !gphi_line_find(&head, at, &row)) {
        out[0] = (gphi_dwarf_place){.function = function};
        return 1;
    }
    const gphi_unit *unit = unit_of(dwarf, run->program);
    place = place_of(dwarf, &head, unit, row.file, row.line);
    const char *named = NULL;
    const uint32_t depth =
        unit ? gphi_unit_inlined(&dwarf->units, unit, at, inlined, INLINED_MAX, &named)
             : 0;
    uint32_t count = 0;
    for (; count < depth && count + 1 < room; count++) {
        out[count] = (gphi_dwarf_place){inlined[count].name, place.file, place.line};
        place = place_of(dwarf, &head, unit, inlined[count].call_file,
                         inlined[count].call_line);
    }
    out[count] = (gphi_dwarf_place){function ? function : named, place.file, place.line};
    return count + 1;
}
