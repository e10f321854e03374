// SPDX-License-Identifier: Apache-2.0
/* From sizes to a key, and the sentence that says why there is none. */
#include "base/fail.h"
#include "cache/layout.h"

#include <stdio.h>

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
                         int64_t size, char *text, size_t bytes)
{
    if (match->reason == GPH_CACHE_BEYOND)
        snprintf(text, bytes, "eager: %s %lld is beyond the largest value, %lld",
                 axis->name, (long long)size, (long long)axis->values[axis->count - 1]);
    else if (match->reason == GPH_CACHE_NO_VALUE)
        snprintf(text, bytes, "eager: %s %lld is none of its %u values", axis->name,
                 (long long)size, axis->count);
    else
        snprintf(text, bytes, "eager: %s %lld is below 1", axis->name, (long long)size);
}

void gphi_layout_explain(const gphi_layout *layout, const gph_cache_match *match,
                         const int64_t *sizes, char *text, size_t bytes)
{
    char real[160], key[160] = "";
    if (match->reason >= GPH_CACHE_BEYOND && match->reason <= GPH_CACHE_BAD_SIZE &&
        match->axis < layout->axis_count) {
        explain_axis(&layout->axes[match->axis], match, sizes[match->axis], text, bytes);
        return;
    }
    gphi_layout_name(layout, sizes, real, sizeof(real));
    const uint32_t other = match->key < layout->key_count ? match->key : match->wanted;
    if (other < layout->key_count) {
        int64_t values[GPH_CACHE_AXES_MAX];
        gphi_layout_values(layout, other, values);
        gphi_layout_name(layout, values, key, sizeof(key));
    }
    const char *verdict = verdict_name(match->verdict);
    if (match->verdict == GPH_CACHE_EXACT)
        snprintf(text, bytes, "%s: %s", verdict, real);
    else if (match->verdict == GPH_CACHE_PADDED)
        snprintf(text, bytes, "%s: %s as %s", verdict, real, key);
    else if (match->reason == GPH_CACHE_OVERSHOOT)
        snprintf(text, bytes, "%s: %s: %s, %g", verdict, real,
                 gph_cache_reason_text(match->reason), layout->overshoot_max);
    else
        snprintf(text, bytes, "%s: %s%s%s: %s", verdict, real,
                 key[0] != '\0' ? " as " : "", key, gph_cache_reason_text(match->reason));
}
