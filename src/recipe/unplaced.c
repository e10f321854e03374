// SPDX-License-Identifier: Apache-2.0
/* What a load says to the attached library: a range that was forgotten looks like one that
 * is meant to stay; the doctor sees what else the program has filled. */
#include "event/note.h"
#include "recipe/build.h"

#include <string.h>

void gphi_tell_unplaced(const gphi_build *build, const gph_loaded_options *options,
                        const void *loaded)
{
    const gphi_bundle *bundle = build->bundle;
    for (size_t i = 0; gphi_note_is_on() && i < bundle->ranges.count; i++) {
        const struct gphi_bundle_range *range = gphi_recipe_range(bundle, i);
        const char *name = gphi_bundle_text(bundle, range->name);
        const uint64_t words[] = {(uint64_t)(uintptr_t)loaded, range->address,
                                  range->bytes};
        uint32_t at = 0;
        while (at < options->place_count && strcmp(options->places[at].range, name) != 0)
            at++;
        if (options->place_count > 0 && at == options->place_count &&
            build->shift[i] == 0)
            gphi_note(GPHI_NOTE_UNPLACED, name, words, 3);
    }
}
