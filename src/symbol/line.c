// SPDX-License-Identifier: Apache-2.0
/* A line program is a small machine whose registers are a row of the table; it emits rows
 * in the order of addresses, in runs that each end with a row of their own. Nothing of the
 * table is kept: a program is run again for each address that is looked up. */
#include "symbol/line.h"

/* DWARF 5, 7.22 and 7.5.6. */
enum {
    LNS_COPY = 1,
    LNS_ADVANCE_PC,
    LNS_ADVANCE_LINE,
    LNS_SET_FILE,
    LNS_SET_COLUMN,
    LNS_NEGATE,
    LNS_SET_BLOCK,
    LNS_ADD_CONSTANT,
    LNS_FIXED_ADVANCE,
    LNE_END = 1,
    LNE_SET_ADDRESS = 2,
    LNCT_PATH = 1,
    LNCT_DIRECTORY = 2,
    FORM_BLOCK = 0x09,
    FORM_DATA1 = 0x0b,
    FORM_DATA2 = 0x05,
    FORM_DATA4 = 0x06,
    FORM_DATA8 = 0x07,
    FORM_STRING = 0x08,
    FORM_STRP = 0x0e,
    FORM_UDATA = 0x0f,
    FORM_DATA16 = 0x1e,
    FORM_LINE_STRP = 0x1f
};

/* The directories and files of version 5 say their own format; older ones are lists of
 * texts, each file with three numbers after it. Returns the bytes of the table, and goes
 * over it. */
static gphi_bytes skip_list(gphi_bytes *bytes, bool is_file)
{
    gphi_bytes table = *bytes;
    while (!bytes->is_short && gphi_bytes_text(bytes)[0] != '\0')
        for (int i = 0; is_file && i < 3; i++)
            (void)gphi_bytes_uleb(bytes);
    table.end = bytes->at;
    return table;
}

/* One value of an entry; texts go to *text, numbers are returned. */
static uint64_t read_value(const gphi_line_sections *in, bool is_64, uint64_t form,
                           gphi_bytes *bytes, const char **text)
{
    gphi_bytes from;
    switch (form) {
    case FORM_STRING: *text = gphi_bytes_text(bytes); return 0;
    case FORM_STRP:
    case FORM_LINE_STRP:
        from = gphi_bytes_from(form == FORM_STRP ? in->text : in->line_text,
                               gphi_bytes_number(bytes, is_64 ? 8 : 4));
        *text = gphi_bytes_text(&from);
        return 0;
    case FORM_UDATA: return gphi_bytes_uleb(bytes);
    case FORM_DATA1: return gphi_bytes_number(bytes, 1);
    case FORM_DATA2: return gphi_bytes_number(bytes, 2);
    case FORM_DATA4: return gphi_bytes_number(bytes, 4);
    case FORM_DATA8: return gphi_bytes_number(bytes, 8);
    case FORM_DATA16: (void)gphi_bytes_take(bytes, 16); return 0;
    case FORM_BLOCK: (void)gphi_bytes_take(bytes, gphi_bytes_uleb(bytes)); return 0;
    default: bytes->is_short = true; return 0; /* its length is not known */
    }
}

/* The entry `number` of a table of version 5; with a number beyond it, goes over it. */
static bool read_entry(const gphi_line_sections *in, bool is_64, gphi_bytes *bytes,
                       uint64_t number, const char **text, uint64_t *directory)
{
    enum { PAIRS_MAX = 8 };
    uint64_t kinds[PAIRS_MAX], forms[PAIRS_MAX];
    const unsigned pairs = (unsigned)gphi_bytes_number(bytes, 1);
    if (pairs > PAIRS_MAX)
        bytes->is_short = true;
    for (unsigned i = 0; i < pairs && !bytes->is_short; i++) {
        kinds[i] = gphi_bytes_uleb(bytes);
        forms[i] = gphi_bytes_uleb(bytes);
    }
    const uint64_t count = gphi_bytes_uleb(bytes);
    for (uint64_t entry = 0; entry < count && pairs > 0 && !bytes->is_short; entry++) {
        for (unsigned i = 0; i < pairs && !bytes->is_short; i++) {
            const char *here = "";
            const uint64_t value = read_value(in, is_64, forms[i], bytes, &here);
            if (kinds[i] == LNCT_PATH)
                *text = here;
            else if (kinds[i] == LNCT_DIRECTORY)
                *directory = value;
        }
        if (entry == number)
            return !bytes->is_short;
    }
    return false;
}

static bool read_tables(const gphi_line_sections *in, gphi_bytes *bytes,
                        gphi_line_head *out)
{
    const char *text;
    uint64_t directory;
    if (out->version < 5) {
        out->directories = skip_list(bytes, false);
        out->files = skip_list(bytes, true);
        return !bytes->is_short;
    }
    out->directories = *bytes;
    (void)read_entry(in, out->is_64, bytes, UINT64_MAX, &text, &directory);
    out->files = *bytes;
    return !bytes->is_short;
}

bool gphi_line_read(const gphi_line_sections *in, uint64_t offset, gphi_line_head *out,
                    uint64_t *next)
{
    gphi_bytes bytes;
    *out = (gphi_line_head){.offset = offset};
    if (!gphi_bytes_unit(in->line, offset, &bytes, &out->is_64, next))
        return false;
    out->version = (unsigned)gphi_bytes_number(&bytes, 2);
    out->address_bytes = out->version >= 5 ? (unsigned)gphi_bytes_number(&bytes, 2) & 0xff
                                           : sizeof(uint64_t);
    const uint64_t head_bytes = gphi_bytes_number(&bytes, out->is_64 ? 8 : 4);
    out->operations = gphi_bytes_from(bytes, head_bytes);
    bytes.end = out->operations.at;
    out->minimum_length = (unsigned)gphi_bytes_number(&bytes, 1);
    if (out->version >= 4)
        (void)gphi_bytes_number(&bytes, 1); /* operations an instruction: VLIW only */
    (void)gphi_bytes_number(&bytes, 1);     /* whether a row is a statement at first */
    out->line_base = (int8_t)gphi_bytes_number(&bytes, 1);
    out->line_range = (unsigned)gphi_bytes_number(&bytes, 1);
    out->opcode_base = (unsigned)gphi_bytes_number(&bytes, 1);
    if (bytes.is_short || out->version < 2 || out->version > 5 || out->line_range == 0 ||
        out->opcode_base == 0 || out->address_bytes > sizeof(uint64_t))
        return false;
    out->lengths = gphi_bytes_take(&bytes, out->opcode_base - 1);
    return out->lengths && read_tables(in, &bytes, out);
}

/* ---- the machine ---- */

struct machine {
    const gphi_line_head *head;
    gphi_bytes bytes;
    gphi_line_row row;
    bool ends; /* the row that was emitted ends its run */
};

static void begin_run(struct machine *m)
{
    m->row = (gphi_line_row){.file = 1, .line = 1};
    m->ends = false;
}

static void advance(struct machine *m, uint64_t operations)
{
    m->row.address += operations * m->head->minimum_length;
}

/* An operation from 0x00; true: it emitted a row, the end of the run. */
static bool run_extended(struct machine *m)
{
    const uint64_t length = gphi_bytes_uleb(&m->bytes);
    gphi_bytes operation = m->bytes;
    if (!gphi_bytes_take(&m->bytes, length) || length == 0)
        return false;
    operation.end = m->bytes.at;
    const uint64_t kind = gphi_bytes_number(&operation, 1);
    if (kind == LNE_SET_ADDRESS && length - 1 <= sizeof(uint64_t))
        m->row.address = gphi_bytes_number(&operation, (unsigned)length - 1);
    m->ends = kind == LNE_END;
    return m->ends;
}

/* True: it emitted a row. */
static bool run_standard(struct machine *m, unsigned code)
{
    switch (code) {
    case LNS_COPY: return true;
    case LNS_ADVANCE_PC: advance(m, gphi_bytes_uleb(&m->bytes)); return false;
    case LNS_ADVANCE_LINE: m->row.line += (int)gphi_bytes_sleb(&m->bytes); return false;
    case LNS_SET_FILE: m->row.file = gphi_bytes_uleb(&m->bytes); return false;
    case LNS_ADD_CONSTANT:
        advance(m, (255 - m->head->opcode_base) / m->head->line_range);
        return false;
    case LNS_FIXED_ADVANCE:
        m->row.address += gphi_bytes_number(&m->bytes, 2);
        return false;
    default: /* columns, blocks and what is newer than this: its operands */
        for (unsigned i = 0; i < m->head->lengths[code - 1]; i++)
            (void)gphi_bytes_uleb(&m->bytes);
        return false;
    }
}

/* The next row; false: there is none. */
static bool next_row(struct machine *m)
{
    while (gphi_bytes_left(&m->bytes) > 0) {
        const unsigned code = (unsigned)gphi_bytes_number(&m->bytes, 1);
        if (code >= m->head->opcode_base) {
            const unsigned special = code - m->head->opcode_base;
            advance(m, special / m->head->line_range);
            m->row.line += m->head->line_base + (int)(special % m->head->line_range);
            return true;
        }
        if (code == 0 ? run_extended(m) : run_standard(m, code))
            return true;
    }
    return false;
}

void gphi_line_runs(const gphi_line_head *head,
                    void (*found)(void *user, const gphi_line_run *run), void *user)
{
    struct machine m = {.head = head, .bytes = head->operations};
    gphi_line_run run = {.program = head->offset};
    bool is_first = true;
    begin_run(&m);
    while (next_row(&m)) {
        if (is_first)
            run.start = m.row.address;
        is_first = m.ends;
        if (!m.ends)
            continue;
        run.end = m.row.address;
        /* The linker sets those of functions that it dropped to 0 or to the top. */
        if (run.start != 0 && run.start < run.end)
            found(user, &run);
        begin_run(&m);
    }
}

bool gphi_line_find(const gphi_line_head *head, uint64_t at, gphi_line_row *out)
{
    struct machine m = {.head = head, .bytes = head->operations};
    gphi_line_row last = {0};
    bool has_last = false;
    begin_run(&m);
    while (next_row(&m)) {
        if (has_last && last.address <= at && at < m.row.address) {
            *out = last;
            return true;
        }
        last = m.row;
        has_last = !m.ends && last.address != 0;
        if (m.ends)
            begin_run(&m);
    }
    return false;
}

/* ---- names ---- */

/* The text `number`, from 1, of a list of an older version. */
static bool list_entry(gphi_bytes list, bool is_file, uint64_t number, const char **text,
                       uint64_t *directory)
{
    for (uint64_t i = 1; !list.is_short; i++) {
        *text = gphi_bytes_text(&list);
        if ((*text)[0] == '\0')
            return false;
        uint64_t numbers[3] = {0}; /* directory, time, bytes */
        for (int k = 0; is_file && k < 3; k++)
            numbers[k] = gphi_bytes_uleb(&list);
        *directory = numbers[0];
        if (i == number)
            return !list.is_short;
    }
    return false;
}

bool gphi_line_file(const gphi_line_sections *in, const gphi_line_head *head,
                    uint64_t number, gphi_line_name *out)
{
    uint64_t directory = 0, unused = 0;
    *out = (gphi_line_name){"", ""};
    if (head->version >= 5) {
        gphi_bytes files = head->files, directories = head->directories;
        files.end = directories.end = head->operations.at;
        return read_entry(in, head->is_64, &files, number, &out->name, &directory) &&
               read_entry(in, head->is_64, &directories, directory, &out->directory,
                          &unused);
    }
    if (!list_entry(head->files, true, number, &out->name, &directory))
        return false;
    /* Directory 0 is the one that the compiler ran in, which the unit says. */
    if (directory != 0 &&
        !list_entry(head->directories, false, directory, &out->directory, &unused))
        out->directory = "";
    return true;
}
