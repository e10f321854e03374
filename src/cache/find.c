// SPDX-License-Identifier: Apache-2.0
/* From sizes to a key, and the sentence that says why there is none. */
#include "cache/layout.h"

const char *gph_cache_reason_text(gph_cache_reason reason)
{
    switch (reason) {
#define X(name, value, text)                                                             \
    case name: return text;
        GPH_CACHE_REASONS(X)
#undef X
    }
    return "no such reason";
}

static void say(gph_cache_match *out, gph_cache_verdict verdict, gph_cache_reason reason,
                uint32_t axis)
{
    out->verdict = verdict;
    out->reason = reason;
    out->axis = axis;
}

/* The key at or above the sizes, wanted or not; GPH_CACHE_NONE with the reason in `out`.
 */
static uint32_t round_up(const gphi_layout *layout, const int64_t *sizes,
                         gph_cache_match *out)
{
    uint32_t key = 0;
    for (uint32_t a = 0; a < layout->axis_count; a++) {
        const struct gphi_axis *axis = &layout->axes[a];
        const int64_t size = sizes[a];
        const uint32_t rung = gphi_axis_rung(axis, size);
        if (axis->is_discrete) {
            if (rung == axis->count || axis->values[rung] != size) {
                say(out, GPH_CACHE_EAGER, GPH_CACHE_NO_VALUE, a);
                return GPH_CACHE_NONE;
            }
        } else if (size < 1 || rung == axis->count) {
            say(out, GPH_CACHE_EAGER, size < 1 ? GPH_CACHE_BAD_SIZE : GPH_CACHE_BEYOND,
                a);
            return GPH_CACHE_NONE;
        }
        key += rung * axis->stride;
    }
    return key;
}

static bool is_exact(const gphi_layout *layout, uint32_t key, const int64_t *sizes)
{
    for (uint32_t a = 0; a < layout->axis_count; a++) {
        const struct gphi_axis *axis = &layout->axes[a];
        if (axis->values[key / axis->stride % axis->count] != sizes[a])
            return false;
    }
    return true;
}

void gphi_layout_find(const gphi_layout *layout, const int64_t *sizes,
                      gph_cache_match *out)
{
    *out = (gph_cache_match){.key = GPH_CACHE_NONE, .wanted = GPH_CACHE_NONE};
    const uint32_t base = round_up(layout, sizes, out);
    if (base == GPH_CACHE_NONE)
        return;
    const uint32_t home = layout->home[base];
    if (home == GPH_CACHE_NONE) {
        say(out, GPH_CACHE_EAGER, GPH_CACHE_NOT_WANTED, 0);
        return;
    }
    const double most = layout->overshoot_max > 0
                            ? layout->overshoot_max * gphi_layout_units(layout, sizes)
                            : 0;
    if (most > 0 && layout->volume[home] > most) {
        say(out, GPH_CACHE_EAGER, GPH_CACHE_OVERSHOOT, 0);
        return;
    }
    out->wanted = home;
    const uint32_t key = atomic_load_explicit(&layout->serve[base], memory_order_acquire);
    if (key == GPH_CACHE_NONE || (most > 0 && layout->volume[key] > most)) {
        const gph_cache_reason why = (gph_cache_reason)atomic_load_explicit(
            &layout->state[home], memory_order_relaxed);
        /* FITS: it came between the two loads; the next call will have it */
        say(out, GPH_CACHE_MISS, why == GPH_CACHE_FITS ? GPH_CACHE_NOT_CAPTURED : why, 0);
        return;
    }
    out->key = key;
    say(out, is_exact(layout, key, sizes) ? GPH_CACHE_EXACT : GPH_CACHE_PADDED,
        GPH_CACHE_FITS, 0);
}

static const char *verdict_name(gph_cache_verdict verdict)
{
    switch (verdict) {
    case GPH_CACHE_EXACT: return "exact";
    case GPH_CACHE_PADDED: return "padded";
    case GPH_CACHE_EAGER: return "eager";
    case GPH_CACHE_MISS: return "miss";
    }
    return "no verdict";
}

/* A sentence for the reasons that name an axis. */
static void explain_axis(const struct gphi_axis *axis, const gph_cache_match *match,
                         int64_t size, gphi_text *text)
{
    gphi_text_add(text, "eager: %s %lld is ", axis->name, (long long)size);
    if (match->reason == GPH_CACHE_BEYOND)
        gphi_text_add(text, "beyond the largest value, %lld",
                      (long long)axis->values[axis->count - 1]);
    else if (match->reason == GPH_CACHE_NO_VALUE)
        gphi_text_add(text, "not one of its %u values", axis->count);
    else
        gphi_text_put(text, "below 1");
}

void gphi_layout_explain(const gphi_layout *layout, const gph_cache_match *match,
                         const int64_t *sizes, gphi_text *text)
{
    if (match->reason >= GPH_CACHE_BEYOND && match->reason <= GPH_CACHE_BAD_SIZE &&
        match->axis < layout->axis_count) {
        explain_axis(&layout->axes[match->axis], match, sizes[match->axis], text);
        return;
    }
    gphi_text_add(text, "%s: ", verdict_name(match->verdict));
    gphi_layout_say(layout, sizes, text);
    const uint32_t other = match->key < layout->key_count ? match->key : match->wanted;
    if (other < layout->key_count && match->verdict != GPH_CACHE_EXACT &&
        match->reason != GPH_CACHE_OVERSHOOT) {
        int64_t values[GPH_CACHE_AXES_MAX];
        gphi_layout_values(layout, other, values);
        gphi_text_put(text, " as ");
        gphi_layout_say(layout, values, text);
    }
    if (match->verdict == GPH_CACHE_EXACT || match->verdict == GPH_CACHE_PADDED)
        return;
    gphi_text_add(text, ": %s", gph_cache_reason_text(match->reason));
    if (match->reason == GPH_CACHE_OVERSHOOT)
        gphi_text_add(text, ", %g", layout->overshoot_max);
}
