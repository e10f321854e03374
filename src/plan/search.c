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
 * - Who is passed over at its offset in favour of a later one cannot lie there any more.
 * - Dominance: if some buffer fits wholly below the next one's offset, it comes first.
 * - Free buffers: who lies below all that is left and lives with it is placed at once; if
 *   it was passed over before, the plan can be pushed down, and another branch has it.
 * - Forced buffers: where a section has no byte to spare and only one buffer can lie on
 *   its floor, that one does.
 * - Parts: where no buffer left spans a border in time, both sides are solved apart; one
 *   that fails fails the whole.
 * - Restarts: orders of candidates are tried by turns, each for some steps. */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "plan/problem.h"

#define PAIRS_MAX 16000000u /* of buffers that live together: 64 MiB */
#define COUNT_MAX 5000u     /* the search is as deep as there are buffers */
#define FIRST_STEPS 4000u   /* of a restart; later ones are longer */
#define LOOK 1024u          /* steps between looks at the clock */
#define ORDERS 6u
#define NONE UINT32_MAX

/* A row a buffer or section: items[begin[i]], items[begin[i] + 1] .. items[begin[i+1]-1]
 */
struct rows {
    uint32_t *begin, *items;
    size_t row_count, item_count;
};

struct raised {
    uint64_t before;
    uint32_t buffer;
};

struct step { /* buffer list[lo] was at list[from] before it was placed */
    uint32_t lo, from, raised_count;
};

struct candidate {
    uint64_t offset;
    uint32_t buffer, rank;
};

/* The place in the order of (offset, rank) that the search is at. */
struct front {
    uint64_t offset;
    int64_t rank;
};

struct search {
    const gphi_problem *problem;
    gphi_plan_clock *clock;
    uint64_t capacity;
    struct rows overlaps, members; /* of a buffer; of a section */
    uint64_t *lowest;              /* a buffer: where it lies or may lie at the lowest */
    uint64_t *left;                /* a section: bytes not placed yet */
    uint32_t *rank, *list; /* list: placed ones are moved to the front of a part */
    bool *placed;
    struct raised *raised; /* so that it can be taken back */
    struct step *steps;
    uint32_t raised_count, step_count;
    uint32_t forced;     /* a buffer that must lie at its lowest offset, or NONE */
    gphi_vec candidates; /* a stack */
    uint64_t steps_left; /* of this restart */
    bool out_of_steps, out_of_memory;
    uint64_t random;
};

/* ---- rows ---- */

static bool make_rows(struct rows *rows, gph_allocator heap, size_t row_count,
                      size_t item_count)
{
    *rows = (struct rows){.row_count = row_count, .item_count = item_count};
    rows->begin = (uint32_t *)gphi_heap_array(heap, row_count + 1, sizeof(uint32_t));
    rows->items = (uint32_t *)gphi_heap_array(heap, item_count + 1, sizeof(uint32_t));
    return rows->begin && rows->items;
}

static void drop_rows(struct rows *rows, gph_allocator heap)
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
    if (p->pinned || p->count > COUNT_MAX)
        return false;
    count_items(p, &pairs, &memberships);
    return pairs <= PAIRS_MAX && memberships <= PAIRS_MAX;
}

static bool fill_rows(struct search *s)
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

/* Places list[from], which becomes list[lo]; false if something cannot fit any more. */
static bool place(struct search *s, uint32_t lo, uint32_t from)
{
    const gphi_problem *p = s->problem;
    const uint32_t buffer = s->list[from];
    const uint64_t top = s->lowest[buffer] + p->buffers[buffer].size;
    s->steps[s->step_count++] = (struct step){lo, from, s->raised_count};
    memmove(&s->list[lo + 1], &s->list[lo], (from - lo) * sizeof(*s->list));
    s->list[lo] = buffer;
    s->placed[buffer] = true;
    for (uint32_t i = p->first[buffer]; i <= p->last[buffer]; i++)
        s->left[i] -= p->buffers[buffer].size;
    bool fits = top <= s->capacity;
    for (uint32_t i = s->overlaps.begin[buffer]; i < s->overlaps.begin[buffer + 1]; i++) {
        const uint32_t other = s->overlaps.items[i];
        if (s->placed[other] || s->lowest[other] >= top)
            continue;
        s->raised[s->raised_count++] = (struct raised){s->lowest[other], other};
        s->lowest[other] = gphi_plan_align(&p->buffers[other], top);
        fits &= s->lowest[other] + p->buffers[other].size <= s->capacity;
    }
    return fits;
}

static void take_back(struct search *s, uint32_t step_count)
{
    const gphi_problem *p = s->problem;
    while (s->step_count > step_count) {
        const struct step step = s->steps[--s->step_count];
        const uint32_t buffer = s->list[step.lo];
        while (s->raised_count > step.raised_count) {
            const struct raised *r = &s->raised[--s->raised_count];
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

/* The lowest offset that `buffer` can still have behind the front. */
static uint64_t behind(const struct search *s, uint32_t buffer, struct front front)
{
    const uint64_t lowest = s->lowest[buffer];
    if (lowest > front.offset ||
        (lowest == front.offset && (int64_t)s->rank[buffer] > front.rank))
        return lowest;
    return front.offset + 1; /* on what will be placed from here on */
}

/* Whether what is left in a section fits above its floor. *only becomes the one buffer
 * that must lie on the floor, if there is no byte to spare and no other can. */
static bool section_fits(const struct search *s, uint32_t section, struct front front,
                         uint32_t *only)
{
    if (s->left[section] == 0)
        return true;
    uint64_t floor = UINT64_MAX;
    uint32_t one = NONE;
    const uint32_t end = s->members.begin[section + 1];
    for (uint32_t i = s->members.begin[section]; i < end; i++) {
        const uint32_t buffer = s->members.items[i];
        if (s->placed[buffer])
            continue;
        const uint64_t at = behind(s, buffer, front);
        if (at <= floor) {
            one = at < floor && at == s->lowest[buffer] ? buffer : NONE;
            floor = at;
        }
    }
    if (one != NONE && floor + s->left[section] == s->capacity)
        *only = one;
    return floor + s->left[section] <= s->capacity;
}

static bool sections_fit(const struct search *s, uint32_t first, uint32_t last,
                         struct front front, uint32_t *only)
{
    for (uint32_t i = first; i <= last; i++)
        if (!section_fits(s, i, front, only))
            return false;
    return true;
}

/* Whether the sections still fit that the last placement changed. */
static bool changed_fit(struct search *s, struct front front)
{
    const gphi_problem *p = s->problem;
    const struct step *step = &s->steps[s->step_count - 1];
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

static bool solve_part(struct search *s, uint32_t lo, uint32_t hi, struct front front);

/* Solves list[lo, hi), in order of the first section, part by part. On failure all is as
 * before. */
static bool solve(struct search *s, uint32_t lo, uint32_t hi, struct front front)
{
    const gphi_problem *p = s->problem;
    const uint32_t before = s->step_count;
    while (lo < hi) {
        uint32_t end = lo + 1, last = p->last[s->list[lo]];
        for (; end < hi && p->first[s->list[end]] <= last; end++)
            if (p->last[s->list[end]] > last)
                last = p->last[s->list[end]];
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
    const struct candidate *x = (const struct candidate *)a;
    const struct candidate *y = (const struct candidate *)b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Nothing that begins at this offset or above can be next in list[lo, hi). */
static uint64_t ceiling_of(const struct search *s, uint32_t lo, uint32_t hi,
                           struct front front)
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
        if (s->left[i] != 0 && s->capacity - s->left[i] + 1 < ceiling)
            ceiling = s->capacity - s->left[i] + 1;
    return ceiling;
}

/* Pushes those who may be next, best first; false without memory. */
static bool push_candidates(struct search *s, uint32_t lo, uint32_t hi,
                            struct front front)
{
    const uint64_t ceiling = ceiling_of(s, lo, hi, front);
    const size_t begin = s->candidates.count;
    if (gphi_vec_reserve(&s->candidates, hi - lo) != GPH_OK)
        return false;
    for (uint32_t i = lo; i < hi; i++) {
        const uint32_t buffer = s->list[i];
        const struct candidate c = {s->lowest[buffer], buffer, s->rank[buffer]};
        if (c.offset >= ceiling || behind(s, buffer, front) != c.offset)
            continue;
        memcpy(gphi_vec_add(&s->candidates, 1), &c, sizeof(c));
    }
    const size_t count = s->candidates.count - begin;
    if (count > 1)
        qsort(gphi_vec_at(&s->candidates, begin), count, sizeof(struct candidate),
              by_offset_and_rank);
    return true;
}

static bool may_go_on(struct search *s)
{
    if (s->steps_left == 0)
        s->out_of_steps = true;
    else
        s->steps_left--;
    s->clock->steps++;
    if ((s->clock->steps % LOOK == 0 || s->clock->steps == s->clock->step_limit) &&
        gphi_plan_is_over(s->clock))
        s->out_of_steps = true;
    return !s->out_of_steps;
}

/* Places list[from] and all that is left; on failure all is as before. */
static bool go_on_with(struct search *s, uint32_t lo, uint32_t hi, uint32_t from,
                       struct front front)
{
    const uint32_t before = s->step_count;
    s->forced = NONE;
    if (place(s, lo, from) && changed_fit(s, front) && solve(s, lo + 1, hi, front))
        return true;
    take_back(s, before);
    return false;
}

static uint32_t index_in(const struct search *s, uint32_t lo, uint32_t hi,
                         uint32_t buffer)
{
    while (lo < hi && s->list[lo] != buffer)
        lo++;
    return lo;
}

/* Whether all that is left and lives with a buffer lies above its lowest place; or, with
 * `forced`, whether none of it fits below. */
static bool is_undermost(const struct search *s, uint32_t buffer, struct front front,
                         bool forced)
{
    const gphi_problem *p = s->problem;
    const uint64_t floor = s->lowest[buffer], top = floor + p->buffers[buffer].size;
    const uint32_t end = s->overlaps.begin[buffer + 1];
    for (uint32_t i = s->overlaps.begin[buffer]; i < end; i++) {
        const uint32_t other = s->overlaps.items[i];
        if (s->placed[other])
            continue;
        if (forced ? behind(s, other, front) + p->buffers[other].size <= floor
                   : s->lowest[other] < top)
            return false;
    }
    return true;
}

/* The place in list[lo, hi) of a buffer that needs no choice; `hi` if there is none.
 * *dead: no plan from here is worth a look. */
static uint32_t find_settled(struct search *s, uint32_t lo, uint32_t hi,
                             struct front front, bool *dead)
{
    uint32_t found = hi;
    *dead = false;
    if (s->forced != NONE && is_undermost(s, s->forced, front, true))
        found = index_in(s, lo, hi, s->forced);
    for (uint32_t i = lo; i < hi && !*dead; i++) {
        const uint32_t buffer = s->list[i];
        if (!is_undermost(s, buffer, front, false))
            continue;
        *dead = behind(s, buffer, front) != s->lowest[buffer];
        found = found == hi ? i : found;
    }
    return found;
}

/* Buffers alike need not be tried in turn. */
static bool is_like(const struct search *s, const struct candidate *a,
                    const struct candidate *b)
{
    const gphi_problem *p = s->problem;
    const gph_plan_buffer *x = &p->buffers[a->buffer], *y = &p->buffers[b->buffer];
    return a->offset == b->offset && p->first[a->buffer] == p->first[b->buffer] &&
           p->last[a->buffer] == p->last[b->buffer] && x->size == y->size &&
           x->alignment == y->alignment;
}

/* Tries candidates by turns, those that were pushed from `begin` on. */
static bool try_candidates(struct search *s, uint32_t lo, uint32_t hi, size_t begin)
{
    const gphi_problem *p = s->problem;
    const size_t end = s->candidates.count;
    struct candidate last = {0};
    for (size_t i = begin; i < end && !s->out_of_steps; i++) {
        const struct candidate c = *(struct candidate *)gphi_vec_at(&s->candidates, i);
        const struct front front = {c.offset, c.rank};
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

static bool solve_part(struct search *s, uint32_t lo, uint32_t hi, struct front front)
{
    bool dead;
    if (!may_go_on(s))
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

/* ---- restarts ---- */

/* `disturb` about 1 */
static double key_of(const struct search *s, uint32_t buffer, uint32_t order,
                     double disturb)
{
    const gphi_problem *p = s->problem;
    const gph_plan_buffer *b = &p->buffers[buffer];
    const double duration = (double)(b->upper - b->lower), size = (double)b->size;
    uint64_t most = 0;
    for (uint32_t i = p->first[buffer]; i <= p->last[buffer]; i++)
        if (p->live[i] > most)
            most = p->live[i];
    const double bound = (double)p->bound + 1, pressure = (double)most / bound;
    const double span = (double)p->section_count + 1;
    const double length = (double)(p->last[buffer] - p->first[buffer] + 1);
    switch (order) {
    case 0: return duration * (0.85 + 0.15 * disturb);
    case 1: return duration * size * (0.85 + 0.15 * disturb);
    case 2: return pressure * 1024 + length / span;
    case 3: return pressure * 1024 + length / span * size / bound * disturb;
    case 4: return pressure * 1024 + length / span * disturb;
    default: return pressure * 1024 + size / bound * disturb;
    }
}

/* Nothing placed, and the ranks of one of the orders. */
static void begin_restart(struct search *s, gphi_keyed *keyed, uint32_t restart)
{
    const gphi_problem *p = s->problem;
    for (uint32_t i = 0; i < p->count; i++)
        keyed[i] = (gphi_keyed){-(double)p->first[i], i};
    qsort(keyed, p->count, sizeof(*keyed), gphi_plan_by_key);
    for (uint32_t i = 0; i < p->count; i++)
        s->list[i] = keyed[i].buffer;
    for (uint32_t i = 0; i < p->count; i++) {
        const double disturb =
            restart < ORDERS ? 1 : 0.4 + 1.2 * gphi_plan_random(&s->random);
        keyed[i] = (gphi_keyed){key_of(s, i, restart % ORDERS, disturb), i};
    }
    qsort(keyed, p->count, sizeof(*keyed), gphi_plan_by_key);
    for (uint32_t i = 0; i < p->count; i++)
        s->rank[keyed[i].buffer] = i;
    memset(s->lowest, 0, p->count * sizeof(*s->lowest));
    memset(s->placed, 0, p->count * sizeof(*s->placed));
    memcpy(s->left, p->live, p->section_count * sizeof(*s->left));
    s->raised_count = s->step_count = 0;
    s->candidates.count = 0;
    s->out_of_steps = false;
    s->forced = NONE;
}

/* 1 1 2 1 1 2 4 1 ..: Luby's sequence, which is never far from the best choice */
static uint64_t luby(uint64_t i)
{
    for (;;) {
        uint64_t size = 1;
        while (size - 1 < i)
            size *= 2;
        if (size - 1 == i)
            return size / 2;
        i -= size / 2 - 1;
    }
}

static bool make_search(struct search *s)
{
    const gphi_problem *p = s->problem;
    const gph_allocator heap = p->heap;
    gphi_vec_init(&s->candidates, heap, sizeof(struct candidate));
    s->lowest = (uint64_t *)gphi_heap_array(heap, p->count, sizeof(*s->lowest));
    s->left = (uint64_t *)gphi_heap_array(heap, p->section_count, sizeof(*s->left));
    s->rank = (uint32_t *)gphi_heap_array(heap, p->count, sizeof(*s->rank));
    s->list = (uint32_t *)gphi_heap_array(heap, p->count, sizeof(*s->list));
    s->placed = (bool *)gphi_heap_array(heap, p->count, sizeof(*s->placed));
    s->steps = (struct step *)gphi_heap_array(heap, p->count, sizeof(*s->steps));
    if (!s->lowest || !s->left || !s->rank || !s->list || !s->placed || !s->steps ||
        !fill_rows(s))
        return false;
    /* A buffer is raised at most once by each that lives with it. */
    s->raised = (struct raised *)gphi_heap_array(heap, s->overlaps.item_count + 1,
                                                 sizeof(*s->raised));
    return s->raised != NULL;
}

static void drop_search(struct search *s)
{
    const gphi_problem *p = s->problem;
    const gph_allocator heap = p->heap;
    gphi_heap_free(heap, s->raised, (s->overlaps.item_count + 1) * sizeof(*s->raised));
    drop_rows(&s->overlaps, heap);
    drop_rows(&s->members, heap);
    gphi_heap_free(heap, s->lowest, p->count * sizeof(*s->lowest));
    gphi_heap_free(heap, s->left, p->section_count * sizeof(*s->left));
    gphi_heap_free(heap, s->rank, p->count * sizeof(*s->rank));
    gphi_heap_free(heap, s->list, p->count * sizeof(*s->list));
    gphi_heap_free(heap, s->placed, p->count * sizeof(*s->placed));
    gphi_heap_free(heap, s->steps, p->count * sizeof(*s->steps));
    gphi_vec_fini(&s->candidates);
}

static gphi_search_end run(struct search *s, gphi_keyed *keyed)
{
    for (uint32_t restart = 0; !s->clock->over; restart++) {
        begin_restart(s, keyed, restart);
        s->steps_left = FIRST_STEPS * (restart < ORDERS ? 1 : luby(restart - ORDERS + 1));
        const struct front floor = {0, -1};
        uint32_t only;
        if (sections_fit(s, 0, s->problem->section_count - 1, floor, &only) &&
            solve(s, 0, s->problem->count, floor))
            return GPHI_SEARCH_FOUND;
        if (!s->out_of_steps)
            return GPHI_SEARCH_IMPOSSIBLE;
        if (s->out_of_memory)
            break;
    }
    return GPHI_SEARCH_UNKNOWN;
}

gph_status gphi_plan_search(const gphi_problem *p, gphi_plan_clock *clock,
                            uint64_t capacity, uint64_t *offsets, gphi_search_end *end)
{
    struct search s = {
        .problem = p, .clock = clock, .capacity = capacity, .random = GPHI_PLAN_SEED};
    gphi_keyed *keyed = (gphi_keyed *)gphi_heap_array(p->heap, p->count, sizeof(*keyed));
    gph_status status = GPH_E_NO_MEMORY;
    if (make_search(&s) && keyed != NULL) {
        *end = run(&s, keyed);
        status = s.out_of_memory ? GPH_E_NO_MEMORY : GPH_OK;
    }
    if (status == GPH_OK && *end == GPHI_SEARCH_FOUND)
        memcpy(offsets, s.lowest, p->count * sizeof(*offsets));
    gphi_heap_free(p->heap, keyed, p->count * sizeof(*keyed));
    drop_search(&s);
    return status;
}
