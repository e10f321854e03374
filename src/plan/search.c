// SPDX-License-Identifier: Apache-2.0
/* Exact search for a plan within a capacity.
 *
 * A plan is canonical if every buffer lies on the floor or on one below it, and it is
 * built by placing buffers in order of (offset, rank): then a buffer's lowest offset is
 * known when its turn comes, which is the highest end of those placed that live with it.
 * Every plan can be pushed down to a canonical one, so only those are searched, depth
 * first.
 *
 * What cuts the search:
 * - Section bound: what is left in a section begins no lower than the lowest of its
 *   offsets, so that offset plus the bytes left must be within the capacity.
 * - Who is passed over at its offset in favor of a later one cannot lie there any more.
 * - Dominance: if some buffer fits wholly below the next one's offset, it comes first.
 * - Free buffers: who lies below all that is left and lives with it is placed at once; if
 *   it was passed over before, the plan can be pushed down, and another branch has it.
 * - Forced buffers: where a section has no byte to spare and only one buffer can lie on
 *   its floor, that one does.
 * - Parts: where no buffer left spans a border in time, both sides are solved apart; one
 *   that fails fails the whole.
 * - Walls: buffers placed for good before the search, on the floor or at the ceiling
 *   (divide.c). */
#include "plan/search.h"

#include <stdlib.h>
#include <string.h>

#define PAIRS_MAX 16000000u /* of buffers that live together: 64 MiB */
#define COUNT_MAX 5000u     /* the search is as deep as there are buffers */
#define LOOK 64u            /* steps between looks at the clock */
#define LARGE 256u          /* buffers of a part: a step there takes long, and looks */
#define NONE UINT32_MAX

/* ---- rows ---- */

static bool make_rows(struct gphi_rows *rows, gph_allocator heap, size_t row_count,
                      size_t item_count)
{
    *rows = (struct gphi_rows){.row_count = row_count, .item_count = item_count};
    rows->begin = gphi_heap_array(heap, row_count + 1, sizeof(uint32_t));
    rows->items = gphi_heap_array(heap, item_count + 1, sizeof(uint32_t));
    return rows->begin && rows->items;
}

static void drop_rows(struct gphi_rows *rows, gph_allocator heap)
{
    gphi_heap_free(heap, rows->begin, (rows->row_count + 1) * sizeof(uint32_t));
    gphi_heap_free(heap, rows->items, (rows->item_count + 1) * sizeof(uint32_t));
}

static bool lives_with(const gphi_problem *p, uint32_t a, uint32_t b)
{
    return a != b && p->first[a] <= p->last[b] && p->first[b] <= p->last[a];
}

static void count_items(const gphi_problem *p, size_t *pairs, size_t *memberships)
{
    *pairs = *memberships = 0;
    for (uint32_t a = 0; a < p->count; a++) {
        *memberships += p->last[a] - p->first[a] + 1;
        for (uint32_t b = 0; b < p->count; b++)
            *pairs += lives_with(p, a, b);
    }
}

bool gphi_search_suits(const gphi_problem *p)
{
    size_t pairs, memberships;
    if (p->pinned || p->bodies.has_choice || p->count > COUNT_MAX)
        return false;
    count_items(p, &pairs, &memberships);
    return pairs <= PAIRS_MAX && memberships <= PAIRS_MAX;
}

static bool fill_rows(gphi_search *s)
{
    const gphi_problem *p = s->problem;
    size_t pairs, memberships;
    count_items(p, &pairs, &memberships);
    if (!make_rows(&s->overlaps, p->heap, p->count, pairs) ||
        !make_rows(&s->members, p->heap, p->section_count, memberships))
        return false;
    uint32_t at = 0;
    for (uint32_t a = 0; a < p->count; a++) {
        s->overlaps.begin[a] = at;
        for (uint32_t b = 0; b < p->count; b++)
            if (lives_with(p, a, b))
                s->overlaps.items[at++] = b;
    }
    s->overlaps.begin[p->count] = at;
    at = 0;
    for (uint32_t i = 0; i < p->section_count; i++) {
        s->members.begin[i] = at;
        for (uint32_t a = 0; a < p->count; a++)
            if (p->first[a] <= i && i <= p->last[a])
                s->members.items[at++] = a;
    }
    s->members.begin[p->section_count] = at;
    return true;
}

/* ---- placing and taking back ---- */

/* list[from] becomes list[lo], is placed, and needs no room any more. */
static void settle(gphi_search *s, uint32_t lo, uint32_t from)
{
    const gphi_problem *p = s->problem;
    const uint32_t buffer = s->list[from];
    s->steps[s->step_count++] = (struct gphi_step){lo, from, s->raised_count};
    memmove(&s->list[lo + 1], &s->list[lo], (from - lo) * sizeof(*s->list));
    s->list[lo] = buffer;
    s->placed[buffer] = true;
    for (uint32_t i = p->first[buffer]; i <= p->last[buffer]; i++)
        s->left[i] -= p->buffers[buffer].size;
}

/* Places list[from], which becomes list[lo]; false if something cannot fit any more. */
static bool place(gphi_search *s, uint32_t lo, uint32_t from)
{
    const gphi_problem *p = s->problem;
    const uint32_t buffer = s->list[from];
    const uint64_t top = s->lowest[buffer] + p->buffers[buffer].size;
    settle(s, lo, from);
    bool fits = top <= s->roof[buffer];
    for (uint32_t i = s->overlaps.begin[buffer]; i < s->overlaps.begin[buffer + 1]; i++) {
        const uint32_t other = s->overlaps.items[i];
        if (s->placed[other] || s->lowest[other] >= top)
            continue;
        s->raised[s->raised_count++] = (struct gphi_raised){s->lowest[other], other};
        s->lowest[other] = gphi_plan_align(&p->buffers[other], top);
        fits &= s->lowest[other] + p->buffers[other].size <= s->roof[other];
    }
    return fits;
}

static void take_back(gphi_search *s, uint32_t step_count)
{
    const gphi_problem *p = s->problem;
    while (s->step_count > step_count) {
        const struct gphi_step step = s->steps[--s->step_count];
        const uint32_t buffer = s->list[step.lo];
        while (s->raised_count > step.raised_count) {
            const struct gphi_raised *r = &s->raised[--s->raised_count];
            s->lowest[r->buffer] = r->before;
        }
        for (uint32_t i = p->first[buffer]; i <= p->last[buffer]; i++)
            s->left[i] += p->buffers[buffer].size;
        s->placed[buffer] = false;
        memmove(&s->list[step.lo], &s->list[step.lo + 1],
                (step.from - step.lo) * sizeof(*s->list));
        s->list[step.from] = buffer;
    }
}

/* ---- bounds ---- */

/* The lowest offset that `buffer` can still have above the front. */
static uint64_t above(const gphi_search *s, uint32_t buffer, struct gphi_front front)
{
    const uint64_t lowest = s->lowest[buffer];
    if (lowest > front.offset ||
        (lowest == front.offset && (int64_t)s->rank[buffer] > front.rank))
        return lowest;
    return front.offset + 1; /* on what will be placed from here on */
}

/* Whether what is left in a section fits above its floor. *only becomes the one buffer
 * that must lie on the floor, if there is no byte to spare and no other can. Most
 * sections have room, as the member says that was looked at last: it is looked at first.
 */
static bool section_fits(gphi_search *s, uint32_t section, struct gphi_front front,
                         uint32_t *only)
{
    if (s->left[section] == 0)
        return true;
    const bool too_much = s->left[section] > s->ceiling[section];
    const uint64_t highest = too_much ? 0 : s->ceiling[section] - s->left[section];
    uint64_t floor = UINT64_MAX;
    uint32_t one = NONE, *const members = s->members.items + s->members.begin[section];
    const uint32_t count = s->members.begin[section + 1] - s->members.begin[section];
    for (uint32_t i = 0; i < count && !too_much; i++) {
        const uint32_t buffer = members[i];
        if (s->placed[buffer])
            continue;
        const uint64_t at = above(s, buffer, front);
        if (at < highest) {
            members[i] = members[0];
            members[0] = buffer;
            return true;
        }
        if (at <= floor) {
            one = at < floor && at == s->lowest[buffer] ? buffer : NONE;
            floor = at;
        }
    }
    if (one != NONE && floor == highest)
        *only = one;
    if (floor <= highest)
        return true;
    s->trouble[section] += 1;
    return false;
}

static bool sections_fit(gphi_search *s, uint32_t first, uint32_t last,
                         struct gphi_front front, uint32_t *only)
{
    for (uint32_t i = first; i <= last; i++)
        if (!section_fits(s, i, front, only))
            return false;
    return true;
}

/* Whether the sections still fit that the last placement changed. */
static bool changed_fit(gphi_search *s, struct gphi_front front)
{
    const gphi_problem *p = s->problem;
    const struct gphi_step *step = &s->steps[s->step_count - 1];
    uint32_t first = p->first[s->list[step->lo]], last = p->last[s->list[step->lo]];
    for (uint32_t i = step->raised_count; i < s->raised_count; i++) {
        const uint32_t other = s->raised[i].buffer;
        if (p->first[other] < first)
            first = p->first[other];
        if (p->last[other] > last)
            last = p->last[other];
    }
    return sections_fit(s, first, last, front, &s->forced);
}

/* ---- the search ---- */

static bool solve_part(gphi_search *s, uint32_t lo, uint32_t hi, struct gphi_front front);

uint32_t gphi_search_part_end(const gphi_search *s, uint32_t lo, uint32_t hi)
{
    const gphi_problem *p = s->problem;
    uint32_t end = lo + 1, last = p->last[s->list[lo]];
    for (; end < hi && p->first[s->list[end]] <= last; end++)
        if (p->last[s->list[end]] > last)
            last = p->last[s->list[end]];
    return end;
}

/* Solves list[lo, hi), in order of the first section, part by part. On failure all is as
 * before. */
static bool solve(gphi_search *s, uint32_t lo, uint32_t hi, struct gphi_front front)
{
    const uint32_t before = s->step_count;
    while (lo < hi) {
        const uint32_t end = gphi_search_part_end(s, lo, hi);
        if (!solve_part(s, lo, end, front)) {
            take_back(s, before);
            return false;
        }
        lo = end;
    }
    return true;
}

static int by_offset_and_rank(const void *a, const void *b)
{
    const struct gphi_candidate *x = (const struct gphi_candidate *)a;
    const struct gphi_candidate *y = (const struct gphi_candidate *)b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Nothing that begins at this offset or above can be next in list[lo, hi). */
static uint64_t ceiling_of(const gphi_search *s, uint32_t lo, uint32_t hi,
                           struct gphi_front front)
{
    const gphi_problem *p = s->problem;
    uint64_t ceiling = UINT64_MAX;
    uint32_t last = 0;
    for (uint32_t i = lo; i < hi; i++) {
        const uint32_t buffer = s->list[i];
        const gph_plan_buffer *b = &p->buffers[buffer];
        const uint64_t from =
            s->lowest[buffer] < front.offset ? front.offset : s->lowest[buffer];
        const uint64_t top = gphi_plan_align(b, from) + b->size;
        if (top < ceiling)
            ceiling = top;
        if (p->last[buffer] > last)
            last = p->last[buffer];
    }
    for (uint32_t i = p->first[s->list[lo]]; i <= last; i++)
        if (s->left[i] != 0 && s->ceiling[i] - s->left[i] + 1 < ceiling)
            ceiling = s->ceiling[i] - s->left[i] + 1;
    return ceiling;
}

/* Pushes those who may be next, best first; false without memory. */
static bool push_candidates(gphi_search *s, uint32_t lo, uint32_t hi,
                            struct gphi_front front)
{
    const uint64_t ceiling = ceiling_of(s, lo, hi, front);
    const size_t begin = s->candidates.count;
    if (gphi_vec_reserve(&s->candidates, hi - lo) != GPH_OK)
        return false;
    for (uint32_t i = lo; i < hi; i++) {
        const uint32_t buffer = s->list[i];
        const struct gphi_candidate c = {s->lowest[buffer], buffer, s->rank[buffer]};
        if (c.offset >= ceiling || above(s, buffer, front) != c.offset)
            continue;
        memcpy(gphi_vec_add(&s->candidates, 1), &c, sizeof(c));
    }
    const size_t count = s->candidates.count - begin;
    if (count > 1)
        qsort(gphi_vec_at(&s->candidates, begin), count, sizeof(struct gphi_candidate),
              by_offset_and_rank);
    return true;
}

static bool may_go_on(gphi_search *s, uint32_t count)
{
    if (s->steps_left == 0)
        s->out_of_steps = true;
    else
        s->steps_left--;
    s->clock->steps++;
    if ((count > LARGE || s->clock->steps % LOOK == 0 ||
         s->clock->steps == s->clock->step_limit) &&
        gphi_plan_is_over(s->clock))
        s->out_of_steps = true;
    return !s->out_of_steps;
}

/* Places list[from] and all that is left; on failure all is as before. */
static bool go_on_with(gphi_search *s, uint32_t lo, uint32_t hi, uint32_t from,
                       struct gphi_front front)
{
    const uint32_t before = s->step_count;
    s->forced = NONE;
    if (place(s, lo, from) && changed_fit(s, front) && solve(s, lo + 1, hi, front))
        return true;
    take_back(s, before);
    return false;
}

static uint32_t index_in(const gphi_search *s, uint32_t lo, uint32_t hi, uint32_t buffer)
{
    while (lo < hi && s->list[lo] != buffer)
        lo++;
    return lo;
}

/* Whether something that is left and lives with a buffer may fit below its lowest place.
 */
static bool is_undercut(const gphi_search *s, uint32_t buffer, struct gphi_front front)
{
    const uint64_t floor = s->lowest[buffer];
    const uint32_t end = s->overlaps.begin[buffer + 1];
    for (uint32_t i = s->overlaps.begin[buffer]; i < end; i++) {
        const uint32_t other = s->overlaps.items[i];
        if (!s->placed[other] &&
            above(s, other, front) + s->problem->buffers[other].size <= floor)
            return true;
    }
    return false;
}

/* Whether all that is left and lives with a buffer lies above its lowest place. Who does
 * not is remembered, and asked first. */
static bool is_undermost(gphi_search *s, uint32_t buffer)
{
    const uint64_t top = s->lowest[buffer] + s->problem->buffers[buffer].size;
    const uint32_t end = s->overlaps.begin[buffer + 1], known = s->lower[buffer];
    if (!s->placed[known] && s->lowest[known] < top && known != buffer)
        return false;
    for (uint32_t i = s->overlaps.begin[buffer]; i < end; i++) {
        const uint32_t other = s->overlaps.items[i];
        if (!s->placed[other] && s->lowest[other] < top) {
            s->lower[buffer] = other;
            return false;
        }
    }
    return true;
}

/* The place in list[lo, hi) of a buffer that needs no choice; `hi` if there is none.
 * *dead: no plan from here is worth a look. */
static uint32_t find_settled(gphi_search *s, uint32_t lo, uint32_t hi,
                             struct gphi_front front, bool *dead)
{
    uint32_t found = hi;
    *dead = false;
    if (s->forced != NONE && !is_undercut(s, s->forced, front))
        found = index_in(s, lo, hi, s->forced);
    for (uint32_t i = lo; i < hi && !*dead; i++) {
        const uint32_t buffer = s->list[i];
        if (!is_undermost(s, buffer))
            continue;
        *dead = above(s, buffer, front) != s->lowest[buffer];
        found = found == hi ? i : found;
    }
    return found;
}

/* Buffers alike need not be tried in turn. */
static bool is_like(const gphi_search *s, const struct gphi_candidate *a,
                    const struct gphi_candidate *b)
{
    const gphi_problem *p = s->problem;
    const gph_plan_buffer *x = &p->buffers[a->buffer], *y = &p->buffers[b->buffer];
    return a->offset == b->offset && p->first[a->buffer] == p->first[b->buffer] &&
           p->last[a->buffer] == p->last[b->buffer] && x->size == y->size &&
           x->alignment == y->alignment;
}

/* Tries candidates by turns, those that were pushed from `begin` on. */
static bool try_candidates(gphi_search *s, uint32_t lo, uint32_t hi, size_t begin)
{
    const gphi_problem *p = s->problem;
    const size_t end = s->candidates.count;
    struct gphi_candidate last = {0};
    for (size_t i = begin; i < end && !s->out_of_steps; i++) {
        const struct gphi_candidate c =
            *(struct gphi_candidate *)gphi_vec_at(&s->candidates, i);
        const struct gphi_front front = {c.offset, c.rank};
        if (i > begin && is_like(s, &c, &last))
            continue;
        last = c;
        if (go_on_with(s, lo, hi, index_in(s, lo, hi, c.buffer), front))
            return true;
        /* From here on it is passed over at this offset: do its sections bear that? */
        uint32_t only;
        if (!sections_fit(s, p->first[c.buffer], p->last[c.buffer], front, &only))
            return false;
    }
    return false;
}

static bool solve_part(gphi_search *s, uint32_t lo, uint32_t hi, struct gphi_front front)
{
    bool dead;
    if (!may_go_on(s, hi - lo))
        return false;
    const uint32_t settled = find_settled(s, lo, hi, front, &dead);
    if (dead || settled < hi)
        return !dead && go_on_with(s, lo, hi, settled, front);
    const size_t begin = s->candidates.count;
    if (!push_candidates(s, lo, hi, front)) {
        s->out_of_memory = s->out_of_steps = true;
        return false;
    }
    const bool solved = try_candidates(s, lo, hi, begin);
    s->candidates.count = begin;
    return solved;
}

/* ---- from outside ---- */

bool gphi_search_solve(gphi_search *s, uint32_t lo, uint32_t hi, uint64_t steps)
{
    const struct gphi_front floor = {0, -1};
    s->steps_left = steps;
    s->out_of_steps = s->out_of_memory || s->clock->over;
    s->forced = NONE;
    return solve(s, lo, hi, floor);
}

bool gphi_search_fits(gphi_search *s)
{
    const struct gphi_front floor = {0, -1};
    uint32_t only;
    for (uint32_t i = 0; i < s->problem->count; i++)
        if (!s->placed[i] && s->lowest[i] + s->problem->buffers[i].size > s->roof[i])
            return false;
    return sections_fit(s, 0, s->problem->section_count - 1, floor, &only);
}

/* Below the ceiling nothing is raised: the ceiling comes down. */
static bool hang(gphi_search *s, uint32_t lo, uint32_t from)
{
    const gphi_problem *p = s->problem;
    const uint32_t buffer = s->list[from];
    const gph_plan_buffer *b = &p->buffers[buffer];
    if (s->roof[buffer] < s->lowest[buffer] + b->size)
        return false;
    uint64_t at = s->roof[buffer] - b->size;
    if (b->alignment > 1)
        at -= at % b->alignment;
    if (at < s->lowest[buffer])
        return false;
    settle(s, lo, from);
    s->lowest[buffer] = at;
    for (uint32_t i = p->first[buffer]; i <= p->last[buffer]; i++)
        s->ceiling[i] = at < s->ceiling[i] ? at : s->ceiling[i];
    for (uint32_t i = s->overlaps.begin[buffer]; i < s->overlaps.begin[buffer + 1]; i++) {
        const uint32_t other = s->overlaps.items[i];
        s->roof[other] = at < s->roof[other] ? at : s->roof[other];
    }
    return true;
}

bool gphi_search_wall(gphi_search *s, uint32_t lo, uint32_t from, bool at_ceiling)
{
    return at_ceiling ? hang(s, lo, from) : place(s, lo, from);
}

/* The most of what there is in a section that a buffer lives in. */
static double most_of(const gphi_problem *p, uint32_t buffer, const uint64_t *bytes)
{
    uint64_t most = 0;
    for (uint32_t i = p->first[buffer]; i <= p->last[buffer]; i++)
        most = bytes[i] > most ? bytes[i] : most;
    return (double)most;
}

static double most_trouble(const gphi_search *s, uint32_t buffer)
{
    const gphi_problem *p = s->problem;
    double most = 0;
    for (uint32_t i = p->first[buffer]; i <= p->last[buffer]; i++)
        most = s->trouble[i] > most ? s->trouble[i] : most;
    return most;
}

/* `disturb` about 1; order < GPHI_SEARCH_ORDERS */
static double key_of(const gphi_search *s, uint32_t buffer, uint32_t order,
                     double disturb)
{
    const gphi_problem *p = s->problem;
    const gph_plan_buffer *b = &p->buffers[buffer];
    const double duration = (double)(b->upper - b->lower), size = (double)b->size;
    const double bound = (double)p->bound + 1;
    const double length = (double)(p->last[buffer] - p->first[buffer] + 1);
    const double share = length / ((double)p->section_count + 1);
    if (order == 0 || order == 1)
        return duration * (order == 0 ? 1 : size) * (0.85 + 0.15 * disturb);
    if (order <= 5) {
        const double pressure = most_of(p, buffer, p->live) / bound * 1024;
        switch (order) {
        case 2: return pressure + share;
        case 3: return pressure + share * size / bound * disturb;
        case 4: return pressure + share * disturb;
        default: return pressure + size / bound * disturb;
        }
    }
    const double trouble = most_trouble(s, buffer) / s->trouble_most * 1024;
    switch (order) {
    case GPHI_SEARCH_BY_TROUBLE: return trouble + share * disturb;
    case 7: return trouble + share * size / bound * disturb;
    default: return trouble + size / bound * disturb;
    }
}

/* What failed lately counts more. */
static void forget_some(gphi_search *s)
{
    s->trouble_most = 1e-9;
    for (uint32_t i = 0; i < s->problem->section_count; i++) {
        s->trouble[i] *= 0.9;
        if (s->trouble[i] > s->trouble_most)
            s->trouble_most = s->trouble[i];
    }
}

void gphi_search_rank(gphi_search *s, gphi_keyed *keyed, uint32_t lo, uint32_t hi,
                      uint32_t order, uint64_t *random)
{
    forget_some(s);
    for (uint32_t i = lo; i < hi; i++) {
        const double disturb = random ? 0.4 + 1.2 * gphi_plan_random(random) : 1;
        keyed[i - lo] = (gphi_keyed){key_of(s, s->list[i], order, disturb), s->list[i]};
    }
    qsort(keyed, hi - lo, sizeof(*keyed), gphi_plan_by_key);
    for (uint32_t i = 0; i < hi - lo; i++)
        s->rank[keyed[i].buffer] = i;
}

void gphi_search_clear(gphi_search *s)
{
    const gphi_problem *p = s->problem;
    memcpy(s->list, s->by_begin, p->count * sizeof(*s->list));
    for (uint32_t i = 0; i < p->count; i++)
        s->roof[i] = s->capacity;
    for (uint32_t i = 0; i < p->section_count; i++)
        s->ceiling[i] = s->capacity;
    for (uint32_t i = 0; i < p->count; i++)
        s->lower[i] = i;
    memset(s->lowest, 0, p->count * sizeof(*s->lowest));
    memset(s->placed, 0, p->count * sizeof(*s->placed));
    memcpy(s->left, p->live, p->section_count * sizeof(*s->left));
    s->raised_count = s->step_count = 0;
    s->candidates.count = 0;
    s->forced = NONE;
}

/* Buffers in order of their first section. */
static bool sort_by_begin(gphi_search *s)
{
    const gphi_problem *p = s->problem;
    gphi_keyed *keyed = gphi_heap_array(p->heap, p->count, sizeof(*keyed));
    s->by_begin = gphi_heap_array(p->heap, p->count, sizeof(*s->by_begin));
    if (keyed && s->by_begin) {
        for (uint32_t i = 0; i < p->count; i++)
            keyed[i] = (gphi_keyed){-(double)p->first[i], i};
        qsort(keyed, p->count, sizeof(*keyed), gphi_plan_by_key);
        for (uint32_t i = 0; i < p->count; i++)
            s->by_begin[i] = keyed[i].buffer;
    }
    const bool there = keyed && s->by_begin;
    gphi_heap_free(p->heap, keyed, p->count * sizeof(*keyed));
    return there;
}

gph_status gphi_search_init(gphi_search *s, const gphi_problem *p, gphi_plan_clock *clock,
                            uint64_t capacity)
{
    const gph_allocator heap = p->heap;
    *s = (gphi_search){.problem = p, .clock = clock, .capacity = capacity};
    gphi_vec_init(&s->candidates, heap, sizeof(struct gphi_candidate));
    s->lowest = gphi_heap_array(heap, p->count, sizeof(*s->lowest));
    s->left = gphi_heap_array(heap, p->section_count, sizeof(*s->left));
    s->ceiling = gphi_heap_array(heap, p->section_count, sizeof(uint64_t));
    s->trouble = gphi_heap_array(heap, p->section_count, sizeof(double));
    s->roof = gphi_heap_array(heap, p->count, sizeof(*s->roof));
    s->lower = gphi_heap_array(heap, p->count, sizeof(*s->lower));
    s->rank = gphi_heap_array(heap, p->count, sizeof(*s->rank));
    s->list = gphi_heap_array(heap, p->count, sizeof(*s->list));
    s->placed = gphi_heap_array(heap, p->count, sizeof(*s->placed));
    s->steps = gphi_heap_array(heap, p->count, sizeof(*s->steps));
    if (!s->lowest || !s->left || !s->ceiling || !s->trouble || !s->roof || !s->lower ||
        !s->rank || !s->list || !s->placed || !s->steps || !sort_by_begin(s) ||
        !fill_rows(s))
        return GPH_E_NO_MEMORY;
    /* A buffer is raised at most once by each that lives with it. */
    s->raised = gphi_heap_array(heap, s->overlaps.item_count + 1, sizeof(*s->raised));
    return s->raised ? GPH_OK : GPH_E_NO_MEMORY;
}

void gphi_search_fini(gphi_search *s)
{
    const gphi_problem *p = s->problem;
    const gph_allocator heap = p->heap;
    gphi_heap_free(heap, s->raised, (s->overlaps.item_count + 1) * sizeof(*s->raised));
    drop_rows(&s->overlaps, heap);
    drop_rows(&s->members, heap);
    gphi_heap_free(heap, s->lowest, p->count * sizeof(*s->lowest));
    gphi_heap_free(heap, s->left, p->section_count * sizeof(*s->left));
    gphi_heap_free(heap, s->ceiling, p->section_count * sizeof(*s->ceiling));
    gphi_heap_free(heap, s->trouble, p->section_count * sizeof(*s->trouble));
    gphi_heap_free(heap, s->roof, p->count * sizeof(*s->roof));
    gphi_heap_free(heap, s->by_begin, p->count * sizeof(*s->by_begin));
    gphi_heap_free(heap, s->lower, p->count * sizeof(*s->lower));
    gphi_heap_free(heap, s->rank, p->count * sizeof(*s->rank));
    gphi_heap_free(heap, s->list, p->count * sizeof(*s->list));
    gphi_heap_free(heap, s->placed, p->count * sizeof(*s->placed));
    gphi_heap_free(heap, s->steps, p->count * sizeof(*s->steps));
    gphi_vec_fini(&s->candidates);
}
