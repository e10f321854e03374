// SPDX-License-Identifier: Apache-2.0
/* Entries of a unit are a tree in the order of a walk: one that has children is followed
 * by them and an entry of code 0. An entry is a code, which names a list of (attribute,
 * form) in .debug_abbrev, and the values in that order.
 *
 *   unit ── function [a, b) ── block ── inlined [c, d) ── inlined [e, f)
 *
 * The walk goes into what holds the address, and over what does not. */
#include "symbol/unit.h"

/* DWARF 5, 7.5. */
enum {
    TAG_INLINED = 0x1d,
    TAG_FUNCTION = 0x2e,
    TAG_BLOCK = 0x0b,
    AT_SIBLING = 0x01,
    AT_NAME = 0x03,
    AT_PROGRAM = 0x10,
    AT_LOW = 0x11,
    AT_HIGH = 0x12,
    AT_DIRECTORY = 0x1b,
    AT_ORIGIN = 0x31,
    AT_SPECIFICATION = 0x47,
    AT_RANGES = 0x55,
    AT_CALL_FILE = 0x58,
    AT_CALL_LINE = 0x59,
    AT_LINKAGE_NAME = 0x6e,
    AT_TEXT_BASE = 0x72,
    AT_ADDRESS_BASE = 0x73,
    AT_RANGE_BASE = 0x74,
    AT_OLD_LINKAGE_NAME = 0x2007,
    UNIT_TYPE = 2,
    UNIT_SKELETON = 4,
    UNIT_SPLIT_TYPE = 6,
    ORIGINS_MAX = 8,  /* from an inlined function to the entry that has its name */
    DEPTH_MAX = 1024, /* of entries in each other */
    CODES = 1024      /* of lists of attributes whose places are remembered */
};

/* What is read of an entry. Offsets of entries count from the section's begin; 0: none. */
struct entry {
    uint64_t tag, sibling, origin, program, low, high, ranges, call_file;
    uint64_t text_base, address_base, range_base;
    const char *name, *linkage_name, *directory;
    int call_line;
    bool has_children, has_low, has_high, high_is_size, has_ranges, ranges_is_index;
};

struct value {
    uint64_t number;
    const char *text;
    bool is_address, is_reference, is_index;
};

/* ---- values ---- */

static unsigned offset_bytes(const gphi_unit *unit)
{
    return unit->is_64 ? 8 : 4;
}

static const char *text_at(gphi_bytes section, uint64_t offset)
{
    gphi_bytes from = gphi_bytes_from(section, offset);
    return gphi_bytes_text(&from);
}

/* A text by its index, by way of the unit's part of .debug_str_offsets. */
static const char *text_of_index(const gphi_unit_sections *in, const gphi_unit *unit,
                                 uint64_t index)
{
    const unsigned size = offset_bytes(unit);
    if (index > UINT32_MAX)
        return "";
    gphi_bytes from = gphi_bytes_from(in->text_offsets, unit->text_base + index * size);
    return text_at(in->text, gphi_bytes_number(&from, size));
}

static uint64_t address_of_index(const gphi_unit_sections *in, const gphi_unit *unit,
                                 uint64_t index)
{
    if (index > UINT32_MAX)
        return 0;
    gphi_bytes from =
        gphi_bytes_from(in->addresses, unit->address_base + index * unit->address_bytes);
    return gphi_bytes_number(&from, unit->address_bytes);
}

/* Forms that are a number of fixed size, 0: another form. */
static unsigned fixed_bytes(uint64_t form, const gphi_unit *unit)
{
    switch (form) {
    case 0x01: return unit->address_bytes; /* addr */
    case 0x0b:                             /* data1 */
    case 0x0c:                             /* flag */
    case 0x11:                             /* ref1 */
    case 0x25:                             /* strx1 */
    case 0x29: return 1;                   /* addrx1 */
    case 0x05:                             /* data2 */
    case 0x12:                             /* ref2 */
    case 0x26:                             /* strx2 */
    case 0x2a: return 2;                   /* addrx2 */
    case 0x27:                             /* strx3 */
    case 0x2b: return 3;                   /* addrx3 */
    case 0x06:                             /* data4 */
    case 0x13:                             /* ref4 */
    case 0x1c:                             /* ref_sup4 */
    case 0x28:                             /* strx4 */
    case 0x2c: return 4;                   /* addrx4 */
    case 0x07:                             /* data8 */
    case 0x14:                             /* ref8 */
    case 0x20:                             /* ref_sig8 */
    case 0x24: return 8;                   /* ref_sup8 */
    case 0x10:                             /* ref_addr */
        return unit->version < 3 ? unit->address_bytes : offset_bytes(unit);
    case 0x0e:                              /* strp */
    case 0x17:                              /* sec_offset */
    case 0x1d:                              /* strp_sup */
    case 0x1f:                              /* line_strp */
    case 0x1f20:                            /* GNU_ref_alt */
    case 0x1f21: return offset_bytes(unit); /* GNU_strp_alt */
    default: return 0;
    }
}

/* What a number that was read means, by its form. */
static void give_meaning(const gphi_unit_sections *in, const gphi_unit *unit,
                         uint64_t form, struct value *value)
{
    const uint64_t number = value->number;
    value->is_address = form == 0x01 || form == 0x1b || (form >= 0x29 && form <= 0x2c);
    value->is_index = form == 0x22 || form == 0x23;
    if (form == 0x1b || (form >= 0x29 && form <= 0x2c))
        value->number = address_of_index(in, unit, number);
    else if (form == 0x1a || (form >= 0x25 && form <= 0x28))
        value->text = text_of_index(in, unit, number);
    else if (form == 0x0e)
        value->text = text_at(in->text, number);
    else if (form == 0x1f)
        value->text = text_at(in->line_text, number);
    else if ((form >= 0x11 && form <= 0x15) || form == 0x10) {
        value->is_reference = true;
        value->number = form == 0x10 ? number : unit->offset + number;
    }
}

/* Reads over a value of any form (DWARF 5, 7.5.6); one that is not known ends the entry. */
static struct value read_value(const gphi_unit_sections *in, const gphi_unit *unit,
                               uint64_t form, int64_t implicit, gphi_bytes *bytes)
{
    struct value value = {.text = NULL};
    if (form == 0x16) /* indirect: the form is before the value */
        form = gphi_bytes_uleb(bytes);
    const unsigned fixed = fixed_bytes(form, unit);
    if (fixed != 0) {
        value.number = gphi_bytes_number(bytes, fixed);
        give_meaning(in, unit, form, &value);
        return value;
    }
    switch (form) {
    case 0x08: value.text = gphi_bytes_text(bytes); break;
    case 0x0d: value.number = (uint64_t)gphi_bytes_sleb(bytes); break;
    case 0x0f: /* udata */
    case 0x15: /* ref_udata */
    case 0x1a: /* strx */
    case 0x1b: /* addrx */
    case 0x22: /* loclistx */
    case 0x23: /* rnglistx */
        value.number = gphi_bytes_uleb(bytes);
        give_meaning(in, unit, form, &value);
        break;
    case 0x19: value.number = 1; break; /* flag_present */
    case 0x21: value.number = (uint64_t)implicit; break;
    case 0x1e: (void)gphi_bytes_take(bytes, 16); break;
    case 0x0a: (void)gphi_bytes_take(bytes, gphi_bytes_number(bytes, 1)); break;
    case 0x03: (void)gphi_bytes_take(bytes, gphi_bytes_number(bytes, 2)); break;
    case 0x04: (void)gphi_bytes_take(bytes, gphi_bytes_number(bytes, 4)); break;
    case 0x09: /* block */
    case 0x18: (void)gphi_bytes_take(bytes, gphi_bytes_uleb(bytes)); break;
    default: bytes->is_short = true; break;
    }
    return value;
}

/* ---- entries ---- */

/* Goes over one list of .debug_abbrev; its code, or 0 at the end of the unit's lists. */
static uint64_t skip_list(gphi_bytes *at)
{
    const uint64_t code = gphi_bytes_uleb(at);
    uint64_t attribute, form;
    if (code == 0)
        return 0;
    (void)gphi_bytes_uleb(at);
    (void)gphi_bytes_number(at, 1);
    do {
        attribute = gphi_bytes_uleb(at);
        form = gphi_bytes_uleb(at);
        if (form == 0x21)
            (void)gphi_bytes_sleb(at);
    } while ((attribute != 0 || form != 0) && !at->is_short);
    return at->is_short ? 0 : code;
}

/* Where each code's list begins, after the code; 0: not known. Codes count from 1. */
static void list_codes(const gphi_unit_sections *in, const gphi_unit *unit,
                       uint32_t codes[CODES])
{
    gphi_bytes at = gphi_bytes_from(in->abbreviations, unit->abbreviations);
    memset(codes, 0, CODES * sizeof(codes[0]));
    while (!at.is_short) {
        gphi_bytes list = at;
        const uint64_t code = skip_list(&at);
        if (code == 0)
            return;
        (void)gphi_bytes_uleb(&list);
        const uint64_t offset = (uint64_t)(list.at - in->abbreviations.at);
        if (code < CODES && offset <= UINT32_MAX)
            codes[code] = (uint32_t)offset;
    }
}

/* The list of attributes of a code; is_short: there is none. */
static gphi_bytes abbreviation(const gphi_unit_sections *in, const gphi_unit *unit,
                               uint64_t code)
{
    if (unit->codes && code < CODES && unit->codes[code] != 0)
        return gphi_bytes_from(in->abbreviations, unit->codes[code]);
    gphi_bytes at = gphi_bytes_from(in->abbreviations, unit->abbreviations);
    while (!at.is_short) {
        gphi_bytes list = at;
        const uint64_t here = skip_list(&at);
        (void)gphi_bytes_uleb(&list);
        if (here == code)
            return list;
        if (here == 0)
            break;
    }
    at.is_short = true;
    return at;
}

static void keep(struct entry *entry, uint64_t attribute, struct value value)
{
    switch (attribute) {
    case AT_SIBLING: entry->sibling = value.number; break;
    case AT_NAME: entry->name = value.text; break;
    case AT_LINKAGE_NAME:
    case AT_OLD_LINKAGE_NAME: entry->linkage_name = value.text; break;
    case AT_DIRECTORY: entry->directory = value.text; break;
    case AT_PROGRAM: entry->program = value.number; break;
    case AT_LOW:
        entry->low = value.number;
        entry->has_low = true;
        break;
    case AT_HIGH:
        entry->high = value.number;
        entry->has_high = true;
        entry->high_is_size = !value.is_address;
        break;
    case AT_RANGES:
        entry->ranges = value.number;
        entry->has_ranges = true;
        entry->ranges_is_index = value.is_index;
        break;
    case AT_ORIGIN:
    case AT_SPECIFICATION: entry->origin = value.is_reference ? value.number : 0; break;
    case AT_CALL_FILE: entry->call_file = value.number; break;
    case AT_CALL_LINE: entry->call_line = (int)value.number; break;
    case AT_TEXT_BASE: entry->text_base = value.number; break;
    case AT_ADDRESS_BASE: entry->address_base = value.number; break;
    case AT_RANGE_BASE: entry->range_base = value.number; break;
    default: break;
    }
}

/* The next entry. False: it is the end of a list of children, or cannot be read, which
 * `bytes` says. */
static bool read_entry(const gphi_unit_sections *in, const gphi_unit *unit,
                       gphi_bytes *bytes, struct entry *out)
{
    *out = (struct entry){.program = UINT64_MAX};
    const uint64_t code = gphi_bytes_uleb(bytes);
    if (code == 0 || bytes->is_short)
        return false;
    gphi_bytes list = abbreviation(in, unit, code);
    out->tag = gphi_bytes_uleb(&list);
    out->has_children = gphi_bytes_number(&list, 1) != 0;
    while (!list.is_short && !bytes->is_short) {
        const uint64_t attribute = gphi_bytes_uleb(&list), form = gphi_bytes_uleb(&list);
        const int64_t implicit = form == 0x21 ? gphi_bytes_sleb(&list) : 0;
        if (attribute == 0 && form == 0)
            return true;
        keep(out, attribute, read_value(in, unit, form, implicit, bytes));
    }
    bytes->is_short = true;
    return false;
}

/* ---- units ---- */

bool gphi_unit_read(const gphi_unit_sections *in, uint64_t offset, gphi_unit *out,
                    uint64_t *next)
{
    gphi_bytes bytes;
    *out = (gphi_unit){.offset = offset, .program = UINT64_MAX, .directory = ""};
    if (!gphi_bytes_unit(in->info, offset, &bytes, &out->is_64, next))
        return false;
    out->end = (uint64_t)(bytes.end - in->info.at);
    out->version = (unsigned)gphi_bytes_number(&bytes, 2);
    if (out->version < 2 || out->version > 5)
        return false;
    uint64_t type = 1;
    if (out->version >= 5) {
        type = gphi_bytes_number(&bytes, 1);
        out->address_bytes = (unsigned)gphi_bytes_number(&bytes, 1);
    }
    out->abbreviations = gphi_bytes_number(&bytes, offset_bytes(out));
    if (out->version < 5)
        out->address_bytes = (unsigned)gphi_bytes_number(&bytes, 1);
    if (type == UNIT_SKELETON)
        (void)gphi_bytes_take(&bytes, 8);
    if (out->address_bytes == 0 || out->address_bytes > 8 || bytes.is_short ||
        type == UNIT_TYPE || type == UNIT_SPLIT_TYPE)
        return false;
    out->entries = (uint64_t)(bytes.at - in->info.at);

    struct entry entry;
    gphi_bytes again = bytes; /* bases are beside what counts from them: twice */
    for (int i = 0; i < 2; i++) {
        bytes = again;
        if (!read_entry(in, out, &bytes, &entry))
            return false;
        out->text_base = entry.text_base;
        out->address_base = entry.address_base;
        out->range_base = entry.range_base;
    }
    out->low = entry.has_low ? entry.low : 0;
    out->program = entry.program;
    out->directory = entry.directory ? entry.directory : "";
    return true;
}

/* ---- ranges ---- */

/* .debug_ranges of versions 2 to 4: pairs that count from the unit's base. */
static bool in_old_ranges(const gphi_unit_sections *in, const gphi_unit *unit,
                          uint64_t offset, uint64_t at)
{
    gphi_bytes bytes = gphi_bytes_from(in->ranges, offset);
    const uint64_t top = unit->address_bytes == 8
                             ? UINT64_MAX
                             : (UINT64_C(1) << 8 * unit->address_bytes) - 1;
    uint64_t base = unit->low;
    while (!bytes.is_short) {
        const uint64_t from = gphi_bytes_number(&bytes, unit->address_bytes);
        const uint64_t to = gphi_bytes_number(&bytes, unit->address_bytes);
        if (from == top)
            base = to;
        else if (from == 0 && to == 0)
            break;
        else if (base + from <= at && at < base + to)
            return true;
    }
    return false;
}

/* .debug_rnglists of version 5 (7.25). */
static bool in_range_list(const gphi_unit_sections *in, const gphi_unit *unit,
                          uint64_t offset, uint64_t at)
{
    gphi_bytes bytes = gphi_bytes_from(in->range_lists, offset);
    uint64_t base = unit->low;
    while (!bytes.is_short) {
        uint64_t from = 0, to = 0;
        switch (gphi_bytes_number(&bytes, 1)) {
        case 1: base = address_of_index(in, unit, gphi_bytes_uleb(&bytes)); continue;
        case 2:
            from = address_of_index(in, unit, gphi_bytes_uleb(&bytes));
            to = address_of_index(in, unit, gphi_bytes_uleb(&bytes));
            break;
        case 3:
            from = address_of_index(in, unit, gphi_bytes_uleb(&bytes));
            to = from + gphi_bytes_uleb(&bytes);
            break;
        case 4:
            from = base + gphi_bytes_uleb(&bytes);
            to = base + gphi_bytes_uleb(&bytes);
            break;
        case 5: base = gphi_bytes_number(&bytes, unit->address_bytes); continue;
        case 6:
            from = gphi_bytes_number(&bytes, unit->address_bytes);
            to = gphi_bytes_number(&bytes, unit->address_bytes);
            break;
        case 7:
            from = gphi_bytes_number(&bytes, unit->address_bytes);
            to = from + gphi_bytes_uleb(&bytes);
            break;
        default: return false; /* the end, or what is not known */
        }
        if (from <= at && at < to)
            return true;
    }
    return false;
}

static bool holds(const gphi_unit_sections *in, const gphi_unit *unit,
                  const struct entry *entry, uint64_t at)
{
    if (entry->has_ranges && unit->version < 5)
        return in_old_ranges(in, unit, entry->ranges, at);
    if (entry->has_ranges && !entry->ranges_is_index)
        return in_range_list(in, unit, entry->ranges, at);
    if (entry->has_ranges) {
        const unsigned size = offset_bytes(unit);
        if (entry->ranges > UINT32_MAX)
            return false;
        gphi_bytes index =
            gphi_bytes_from(in->range_lists, unit->range_base + entry->ranges * size);
        const uint64_t offset = gphi_bytes_number(&index, size);
        return !index.is_short && in_range_list(in, unit, unit->range_base + offset, at);
    }
    const uint64_t high = entry->high_is_size ? entry->low + entry->high : entry->high;
    return entry->has_low && entry->has_high && entry->low <= at && at < high;
}

/* ---- functions ---- */

/* An entry's name, or that of the one it is made of; those of other units are left out. */
static const char *name_of(const gphi_unit_sections *in, const gphi_unit *unit,
                           struct entry entry)
{
    const char *name = entry.name;
    for (int i = 0; i < ORIGINS_MAX && !entry.linkage_name; i++) {
        if (entry.origin < unit->entries || entry.origin >= unit->end)
            break;
        gphi_bytes bytes = gphi_bytes_from(in->info, entry.origin);
        if (!read_entry(in, unit, &bytes, &entry))
            break;
        name = name ? name : entry.name;
    }
    return entry.linkage_name ? entry.linkage_name : name;
}

/* Over an entry's children, where it says where they end; else they are walked over. */
static bool jump(const gphi_unit_sections *in, const gphi_unit *unit, gphi_bytes *bytes,
                 const struct entry *entry)
{
    const uint64_t here = (uint64_t)(bytes->at - in->info.at);
    if (entry->sibling <= here || entry->sibling >= unit->end)
        return false;
    bytes->at = in->info.at + entry->sibling;
    return true;
}

/* The functions found on the way down, outermost first, of which the last ones stay. */
struct way {
    struct entry inlined[64];
    uint32_t count;
    struct entry function;
    bool has_function;
    bool goes_everywhere; /* into types and other functions, too: local classes */
};

/* Takes an entry of code down: true if the walk goes into it. */
static bool go_into(struct way *way, const struct entry *entry, bool is_here)
{
    const uint32_t room = sizeof(way->inlined) / sizeof(way->inlined[0]);
    if (!is_here)
        return false;
    if (entry->tag == TAG_FUNCTION) {
        way->function = *entry;
        way->has_function = true;
        way->count = 0;
    } else if (entry->tag == TAG_INLINED && way->count < room) {
        way->inlined[way->count++] = *entry;
    }
    return true;
}

/* Types hold no code: functions that a class declares are defined beside it. */
static bool is_type(uint64_t tag)
{
    return tag == 0x01 || tag == 0x02 || tag == 0x04 || tag == 0x13 || tag == 0x15 ||
           tag == 0x17; /* array, class, enumeration, structure, subroutine, union */
}

/* Walks the unit down to the address. */
static void find_way(const gphi_unit_sections *in, const gphi_unit *unit, uint64_t at,
                     struct way *way)
{
    gphi_bytes bytes = gphi_bytes_from(in->info, unit->entries);
    bytes.end = in->info.at + unit->end;
    int depth = 0, skipped = DEPTH_MAX,
        inside = 0; /* depths: beyond `skipped` nothing counts */
    do {
        struct entry entry;
        if (!read_entry(in, unit, &bytes, &entry)) {
            depth--;
            skipped = depth <= skipped ? DEPTH_MAX : skipped;
            if (inside != 0 && depth <= inside)
                return; /* the function is over, and all in it was seen */
            continue;
        }
        bool is_over = is_type(entry.tag) && !way->goes_everywhere;
        const bool has_place = entry.has_low || entry.has_ranges;
        const bool is_code = entry.tag == TAG_FUNCTION || entry.tag == TAG_INLINED ||
                             (entry.tag == TAG_BLOCK && has_place);
        if (skipped == DEPTH_MAX && is_code) {
            const bool is_here = has_place && holds(in, unit, &entry, at);
            is_over = !go_into(way, &entry, is_here) && !way->goes_everywhere;
            if (entry.tag == TAG_FUNCTION && is_here)
                inside = depth;
        }
        if (!entry.has_children || (is_over && jump(in, unit, &bytes, &entry)))
            continue;
        if (is_over && skipped == DEPTH_MAX)
            skipped = depth;
        depth++;
    } while (depth > 0 && depth < DEPTH_MAX && !bytes.is_short);
}

uint32_t gphi_unit_inlined(const gphi_unit_sections *in, const gphi_unit *where,
                           uint64_t at, gphi_inlined *out, uint32_t room,
                           const char **outer)
{
    uint32_t codes[CODES];
    gphi_unit own = *where;
    const gphi_unit *const unit = &own;
    struct way way = {.count = 0};
    list_codes(in, unit, codes);
    own.codes = codes;
    find_way(in, unit, at, &way);
    way.goes_everywhere = !way.has_function;
    if (way.goes_everywhere)
        find_way(in, unit, at, &way);
    const char *name = way.has_function ? name_of(in, unit, way.function) : NULL;
    if (name)
        *outer = name;
    uint32_t count = 0;
    for (uint32_t i = way.count; i-- > 0 && count < room; count++)
        out[count] = (gphi_inlined){name_of(in, unit, way.inlined[i]),
                                    way.inlined[i].call_file, way.inlined[i].call_line};
    return count;
}
